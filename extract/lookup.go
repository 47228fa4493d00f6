package extract

import (
	"strings"

	"github.com/seine-go/seine/extract/jsonpath"
	"github.com/seine-go/seine/extract/structured"
	"github.com/seine-go/seine/internal/weburl"
)

// lookupBody finds what a path leads to in a body of JSON; a body that does not begin like JSON has nothing.
func (d *Document) lookupBody(p *jsonpath.Path) ([]any, error) {
	text, err := d.text()
	if err != nil {
		return nil, err
	}
	if !looksJSON(text) {
		return nil, nil
	}
	return lookupJSON(text, d.value, p)
}

func looksJSON(text []byte) bool {
	for _, c := range text {
		if !strings.ContainsRune(" \t\r\n", rune(c)) {
			return c == '{' || c == '['
		}
	}
	return false
}

// dataFor returns the structured data in which a path of it is looked up: without building the tree when JSON-LD has it.
func (d *Document) dataFor(path string) (*structured.Data, error) {
	p := d.data()
	if len(p.blocks) > 0 {
		if data := p.objects(); data != nil {
			if _, ok := data.Find(path); ok {
				return data, nil
			}
		}
	}
	return d.Structured()
}

// findBase finds what references of the page are resolved against; nil when the page has no URL and names none.
func (d *Document) findBase() *weburl.URL {
	if h, err := d.Hints(0); err == nil && h.Base != "" {
		if u, err := weburl.Parse(h.Base); err == nil {
			return &u
		}
	}
	if u, err := weburl.Parse(d.o.URL); err == nil {
		return &u
	}
	return nil
}

// resolveRef makes a URL of a reference of the page.
func (d *Document) resolveRef(ref string) (string, bool) {
	if base := d.base(); base != nil {
		u, err := base.Resolve(ref)
		return u.Href(), err == nil
	}
	u, err := weburl.Parse(ref)
	return u.Href(), err == nil
}
