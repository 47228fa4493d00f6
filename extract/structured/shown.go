package structured

import "encoding/json"

// Shown reports whether a number that properties have is written as it is in the text of an element, for people to read, who
// may write 1.299 for what programs write 1299. What stands in JSON or in an attribute has the form that programs read.
func (d *Data) Shown(number string) bool { return d.shown[number] }

// IsNumber reports whether a text is a number as JSON writes it.
func IsNumber(s string) bool {
	return s != "" && (s[0] == '-' || '0' <= s[0] && s[0] <= '9') && json.Valid([]byte(s))
}

// show keeps a number that the text of an element has.
func (p *page) show(text string) {
	if !IsNumber(text) {
		return
	}
	if p.shown == nil {
		p.shown = map[string]bool{}
	}
	p.shown[text] = true
}
