package css

import (
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// pseudoClasses are those without an argument. What depends on a user (hover, focus, visited links) never holds.
var pseudoClasses = map[string]test{
	"root":          func(_ *matcher, n *html.Node) bool { return isRoot(n) },
	"scope":         isScope,
	"empty":         isEmpty,
	"first-child":   func(_ *matcher, n *html.Node) bool { return previous(n) == nil },
	"last-child":    func(_ *matcher, n *html.Node) bool { return following(n) == nil },
	"first-of-type": (&nth{b: 1, ofType: true}).test(),
	"last-of-type":  (&nth{b: 1, ofType: true, last: true}).test(),
	"only-child":    func(_ *matcher, n *html.Node) bool { return previous(n) == nil && following(n) == nil },
	"only-of-type":  both((&nth{b: 1, ofType: true}).test(), (&nth{b: 1, ofType: true, last: true}).test()),
	"link":          isLink,
	"any-link":      isLink,
	"checked":       isChecked,
	"disabled":      func(m *matcher, n *html.Node) bool { return canDisable(n) && m.isDisabled(n) },
	"enabled":       func(m *matcher, n *html.Node) bool { return canDisable(n) && !m.isDisabled(n) },
	"required":      func(_ *matcher, n *html.Node) bool { return canRequire(n) && has(n, "required") },
	"optional":      func(_ *matcher, n *html.Node) bool { return canRequire(n) && !has(n, "required") },
	"input":         isInput,
	"visited":       never, "hover": never, "active": never, "focus": never, "focus-within": never, "focus-visible": never,
	"target": never, "target-within": never,
}

func both(a, b test) test {
	return func(m *matcher, n *html.Node) bool { return a(m, n) && b(m, n) }
}

func isRoot(n *html.Node) bool { return n.Parent == nil || n.Parent.Type == html.DocumentNode }

func isScope(m *matcher, n *html.Node) bool {
	if m.scope == nil || m.scope.Type == html.DocumentNode {
		return isRoot(n)
	}
	return n == m.scope
}

func isEmpty(_ *matcher, n *html.Node) bool {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type == html.ElementNode || c.Type == html.TextNode && c.Data != "" {
			return false
		}
	}
	return true
}

func has(n *html.Node, key string) bool {
	for _, a := range n.Attr {
		if a.Key == key && a.Namespace == "" {
			return true
		}
	}
	return false
}

func isLink(_ *matcher, n *html.Node) bool {
	return n.Namespace == "" && (n.DataAtom == atom.A || n.DataAtom == atom.Area) && has(n, "href")
}

func isInput(_ *matcher, n *html.Node) bool {
	if n.Namespace != "" {
		return false
	}
	switch n.DataAtom {
	case atom.Input, atom.Select, atom.Textarea, atom.Button:
		return true
	}
	return false
}

func isChecked(_ *matcher, n *html.Node) bool {
	if n.Namespace != "" {
		return false
	}
	switch n.DataAtom {
	case atom.Option:
		return has(n, "selected")
	case atom.Input:
		kind, _ := attr(n, "type", "type", false)
		return (equalFold(kind, "checkbox") || equalFold(kind, "radio")) && has(n, "checked")
	}
	return false
}

func canRequire(n *html.Node) bool {
	return n.Namespace == "" && (n.DataAtom == atom.Input || n.DataAtom == atom.Select || n.DataAtom == atom.Textarea)
}

func canDisable(n *html.Node) bool {
	if n.Namespace != "" {
		return false
	}
	switch n.DataAtom {
	case atom.Button, atom.Input, atom.Select, atom.Textarea, atom.Optgroup, atom.Option, atom.Fieldset:
		return true
	}
	return false
}

// isDisabled is by the element itself, by the optgroup of an option, or by a fieldset, whose first legend it spares (WHATWG
// HTML 4.16.3 and 4.10.18.5).
func (m *matcher) isDisabled(n *html.Node) bool {
	if has(n, "disabled") {
		return true
	}
	if n.DataAtom == atom.Option {
		return n.Parent != nil && n.Parent.DataAtom == atom.Optgroup && has(n.Parent, "disabled")
	}
	if n.DataAtom == atom.Optgroup {
		return false
	}
	for c, p := n, n.Parent; p != nil; c, p = p, p.Parent {
		if p.DataAtom == atom.Fieldset && has(p, "disabled") && c != m.firstLegend(p) {
			return true
		}
	}
	return false
}

// firstLegend remembers what it finds: a fieldset may have many fields.
func (m *matcher) firstLegend(fieldset *html.Node) *html.Node {
	legend, known := m.legends[fieldset]
	if known {
		return legend
	}
	for c := fieldset.FirstChild; c != nil && legend == nil; c = c.NextSibling {
		if c.DataAtom == atom.Legend {
			legend = c
		}
	}
	if m.legends == nil {
		m.legends = map[*html.Node]*html.Node{}
	}
	m.legends[fieldset] = legend
	return legend
}
