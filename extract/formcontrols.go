package extract

import (
	"math"
	"strconv"
	"strings"

	"golang.org/x/net/html"

	"github.com/seine-go/seine/internal/htmltree"
)

// formCollector finds the controls of a form.
type formCollector struct {
	form   *Form
	node   *html.Node
	owners map[*html.Node]*html.Node // see Document.formOwners
	id     string                    // by which controls elsewhere name the form; "": by none
	groups int

	directions map[*html.Node]string // of elements whose text decides
}

// formID is the id of a form, "" where an element before it has the same.
func formID(form, root *html.Node) string {
	id := attrText(form, "id")
	for n := root; n != nil && id != ""; n = htmltree.Next(n, root) {
		if n.Type == html.ElementNode && attrText(n, "id") == id {
			if n != form {
				return ""
			}
			break
		}
	}
	return id
}

// walk goes through the tree. around is the form that a node is in, off says that a fieldset around it is disabled.
func (c *formCollector) walk(n, around *html.Node, off bool) {
	if len(c.form.fields) > MaxFormFields {
		return
	}
	within := off
	if isHTML(n) {
		switch n.Data {
		case "template", "datalist":
			return
		case "fieldset":
			within = off || hasAttr(n, "disabled")
		case "input", "button", "select", "textarea":
			if c.owns(n, around) {
				c.control(n, off || hasAttr(n, "disabled"))
			}
			return
		case "form":
			around = n
		}
	}
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		if within != off && isHTML(child) && child.Data == "legend" {
			c.walk(child, around, off) // the first legend of a fieldset is not disabled with it
			off = within
			continue
		}
		c.walk(child, around, within)
	}
}

func isHTML(n *html.Node) bool { return n.Type == html.ElementNode && n.Namespace == "" }

// owns says whether a control inside a form, or none, belongs to the one that is collected (HTML 4.10.18.3).
func (c *formCollector) owns(n, around *html.Node) bool {
	if id, given := formAttr(n, "form"); given {
		return id == c.id && id != ""
	}
	if owner := c.owners[n]; owner != nil {
		return owner == c.node
	}
	return around == c.node
}

// control adds a control.
func (c *formCollector) control(n *html.Node, off bool) {
	c.groups++
	f := formField{name: attrText(n, "name"), value: attrText(n, "value"), kind: n.Data, group: c.groups, off: off, on: true}
	switch n.Data {
	case "select":
		c.options(n, f)
		return
	case "textarea":
		f.value = textBelow(n)
	case "button":
		f.kind = buttonKind(n)
	default:
		f.kind = inputKind(n)
	}
	switch f.kind {
	case "reset", "button":
		return
	case "checkbox", "radio":
		f.on = hasAttr(n, "checked")
		if !hasAttr(n, "value") {
			f.value = "on"
		}
	case "submit", "image":
		f.on = false
		f.says = buttonSays(n)
	case "file", "email":
		f.many = hasAttr(n, "multiple")
	case "range":
		scale := scaleOf(n)
		f.scale = &scale
	}
	switch f.kind {
	case "text", "search", "tel", "url", "email", "password", "hidden", "submit", "textarea":
		if f.dirName = attrText(n, "dirname"); f.dirName != "" {
			f.dir = direction(n, f.kind, c.directions)
		}
	case "file":
		f.value = ""
	}
	f.value = f.sanitize(f.value)
	c.form.fields = append(c.form.fields, f)
}

// buttonKind is the type of a button element: one of another name submits, unless it is there to command another element.
func buttonKind(n *html.Node) string {
	switch kind := strings.ToLower(attrText(n, "type")); {
	case kind == "submit", kind == "reset", kind == "button":
		return kind
	case hasAttr(n, "command"), hasAttr(n, "commandfor"):
		return "button"
	}
	return "submit"
}

// inputKind is the type of an input: one of another name holds text.
func inputKind(n *html.Node) string {
	switch kind := strings.ToLower(attrText(n, "type")); kind {
	case "hidden", "search", "tel", "url", "email", "password", "date", "month", "week", "time", "datetime-local", "number",
		"range", "color", "checkbox", "radio", "file", "submit", "image", "reset", "button":
		return kind
	}
	return "text"
}

// buttonSays is what a button says in place of its form. An attribute without a value counts, as one that is wrong.
func buttonSays(n *html.Node) (says formSays) {
	if ref, ok := formAttr(n, "formaction"); ok {
		ref = strings.TrimSpace(ref)
		says.action = &ref
	}
	if method, ok := formAttr(n, "formmethod"); ok {
		says.method = formMethod(method)
	}
	if enctype, ok := formAttr(n, "formenctype"); ok {
		says.enctype = formEnctype(enctype)
	}
	return says
}

// options adds the options of a select.
func (c *formCollector) options(n *html.Node, f formField) {
	f.many = hasAttr(n, "multiple")
	from := len(c.form.fields)
	last, first := -1, -1
	var walk func(n *html.Node, off bool)
	walk = func(n *html.Node, off bool) {
		for child := n.FirstChild; child != nil && len(c.form.fields) <= MaxFormFields; child = child.NextSibling {
			switch {
			case !isHTML(child):
			case child.Data == "option":
				o := f
				o.off = f.off || off || hasAttr(child, "disabled")
				if o.value = attrText(child, "value"); !hasAttr(child, "value") {
					o.value = optionText(child)
				}
				if o.on = hasAttr(child, "selected"); o.on {
					last = len(c.form.fields)
				}
				if first < 0 && !o.off {
					first = len(c.form.fields)
				}
				c.form.fields = append(c.form.fields, o)
			default:
				walk(child, off || child.Data == "optgroup" && hasAttr(child, "disabled"))
			}
		}
	}
	walk(n, false)
	if f.many {
		return
	}
	if last < 0 && displaySize(n) <= 1 {
		last = first
	}
	for i := from; i < len(c.form.fields); i++ {
		c.form.fields[i].on = i == last
	}
}

// optionText is the text of an option without the blanks of HTML that are too many; others stay.
func optionText(n *html.Node) string {
	blank := func(r rune) bool { return strings.ContainsRune(htmlBlanks, r) }
	return strings.Join(strings.FieldsFunc(textBelow(n), blank), " ")
}

// displaySize is how many options of a select are shown; 0 where it does not say, or nothing that is a number.
func displaySize(n *html.Node) int {
	size := strings.TrimPrefix(strings.TrimLeft(attrText(n, "size"), htmlBlanks), "+")
	for i := range len(size) {
		if size[i] < '0' || size[i] > '9' {
			size = size[:i]
			break
		}
	}
	if strings.TrimLeft(size, "0") == "" {
		return 0
	}
	shown, err := strconv.Atoi(size)
	if err != nil {
		return math.MaxInt // too large for an int
	}
	return shown
}

// radios leaves of the checked radio buttons of a group the last one checked.
func (c *formCollector) radios() {
	checked := map[string]bool{}
	for i := len(c.form.fields) - 1; i >= 0; i-- {
		if f := &c.form.fields[i]; f.kind == "radio" && f.on {
			f.on = !checked[f.name] // those without a name are in no group, and are not sent
			checked[f.name] = true
		}
	}
}

// attrText returns an attribute of an element, "" without one.
func attrText(n *html.Node, name string) string {
	value, _ := formAttr(n, name)
	return value
}

func formAttr(n *html.Node, name string) (string, bool) {
	for i := range n.Attr {
		if n.Attr[i].Key == name && n.Attr[i].Namespace == "" {
			return n.Attr[i].Val, true
		}
	}
	return "", false
}

func hasAttr(n *html.Node, name string) bool {
	_, ok := formAttr(n, name)
	return ok
}

func textBelow(n *html.Node) string {
	var b strings.Builder
	for child := range n.Descendants() {
		if child.Type == html.TextNode {
			b.WriteString(child.Data)
		}
	}
	return b.String()
}
