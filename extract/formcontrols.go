package extract

import (
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
	if n.Type == html.ElementNode {
		switch n.Data {
		case "template", "datalist":
			return
		case "fieldset":
			off = off || hasAttr(n, "disabled")
		case "input", "button", "select", "textarea":
			if c.owns(n, around) {
				c.control(n, off || hasAttr(n, "disabled"))
			}
			return
		case "form":
			around = n
		}
	}
	legend := false // the first legend of a disabled fieldset is not disabled with it
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		first := !legend && child.Type == html.ElementNode && child.Data == "legend" && n.Data == "fieldset" && n.Type == html.ElementNode
		legend = legend || first
		c.walk(child, around, off && !first)
	}
}

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
	f := formField{name: attrText(n, "name"), value: attrText(n, "value"), group: c.groups, off: off, on: true}
	switch n.Data {
	case "select":
		c.options(n, f)
		return
	case "textarea":
		f.kind, f.value = "textarea", textBelow(n)
	default:
		f.kind = strings.ToLower(attrText(n, "type"))
		if f.kind == "" && n.Data == "button" {
			f.kind = "submit"
		}
		f.action, f.method, f.enctype = attrText(n, "formaction"), attrText(n, "formmethod"), attrText(n, "formenctype")
	}
	switch f.kind {
	case "checkbox", "radio":
		f.on = hasAttr(n, "checked")
		if !hasAttr(n, "value") {
			f.value = "on"
		}
	case "reset", "button":
		return
	case "submit", "image":
		f.on = false
	case "file":
		f.value = ""
	}
	if n.Data == "button" && f.kind != "submit" {
		return
	}
	c.form.fields = append(c.form.fields, f)
}

// options adds the options of a select.
func (c *formCollector) options(n *html.Node, f formField) {
	f.kind, f.many = "select", hasAttr(n, "multiple")
	from := len(c.form.fields)
	last, first := -1, -1
	var walk func(n *html.Node, off bool)
	walk = func(n *html.Node, off bool) {
		for child := n.FirstChild; child != nil && len(c.form.fields) <= MaxFormFields; child = child.NextSibling {
			switch {
			case child.Type != html.ElementNode:
			case child.Data == "option":
				o := f
				o.off = f.off || off || hasAttr(child, "disabled")
				if o.value = attrText(child, "value"); !hasAttr(child, "value") {
					o.value = strings.Join(strings.Fields(textBelow(child)), " ")
				}
				if o.on = hasAttr(child, "selected"); o.on {
					last = len(c.form.fields)
				}
				if first < 0 && !o.off {
					first = len(c.form.fields)
				}
				c.form.fields = append(c.form.fields, o)
			default:
				walk(child, off || hasAttr(child, "disabled"))
			}
		}
	}
	walk(n, false)
	if f.many {
		return
	}
	if last < 0 && (attrText(n, "size") == "" || attrText(n, "size") == "1") {
		last = first
	}
	for i := from; i < len(c.form.fields); i++ {
		c.form.fields[i].on = i == last
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
