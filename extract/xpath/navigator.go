package xpath

import (
	"strings"

	"github.com/antchfx/xpath"
	"golang.org/x/net/html"
)

// navigator shows a tree of HTML to the engine. Doctypes are no nodes of XPath.
type navigator struct {
	root  *html.Node
	steps *int // that are left, of all navigators of an evaluation
	place
}

func navigate(n *html.Node, steps *int) *navigator {
	return &navigator{top(n), steps, place{node: n}}
}

// spend takes steps. Nothing but a panic ends what the engine is at.
func (v *navigator) spend(n int) {
	if *v.steps -= n; *v.steps < 0 {
		panic(ErrSteps)
	}
}

const (
	// textStep is how many bytes of text count as a step.
	textStep = 64
	// copySteps is what a copy of a navigator counts for: it allocates.
	copySteps = 4
)

func top(n *html.Node) *html.Node {
	for n.Parent != nil {
		n = n.Parent
	}
	return n
}

// NodeType tells what kind of node this is.
func (v *navigator) NodeType() xpath.NodeType {
	switch {
	case v.attr > 0:
		return xpath.AttributeNode
	case v.node.Type == html.DocumentNode:
		return xpath.RootNode
	case v.node.Type == html.TextNode:
		return xpath.TextNode
	case v.node.Type == html.CommentNode:
		return xpath.CommentNode
	}
	return xpath.ElementNode
}

// LocalName is the name without its prefix.
func (v *navigator) LocalName() string {
	switch {
	case v.attr > 0:
		return v.node.Attr[v.attr-1].Key
	case v.node.Type == html.ElementNode:
		return v.node.Data
	}
	return ""
}

// Prefix is that of an attribute such as xlink:href.
func (v *navigator) Prefix() string {
	if v.attr > 0 {
		return v.node.Attr[v.attr-1].Namespace
	}
	return ""
}

// Value is the string value.
func (v *navigator) Value() string {
	if v.attr > 0 {
		return v.node.Attr[v.attr-1].Val
	}
	s, nodes := textAndNodes(v.node)
	v.spend(nodes + len(s)/textStep)
	return s
}

func text(n *html.Node) string {
	s, _ := textAndNodes(n)
	return s
}

// textAndNodes is the string value of a node, with the number of nodes in it.
func textAndNodes(n *html.Node) (string, int) {
	if n.Type == html.TextNode || n.Type == html.CommentNode {
		return n.Data, 0
	}
	var b strings.Builder
	nodes := 0
	for c := next(n, n); c != nil; c = next(c, n) {
		nodes++
		if c.Type == html.TextNode {
			b.WriteString(c.Data)
		}
	}
	return b.String(), nodes
}

// Copy returns another navigator at the same place.
func (v *navigator) Copy() xpath.NodeNavigator {
	v.spend(copySteps)
	c := *v
	return &c
}

// MoveToRoot goes to the document.
func (v *navigator) MoveToRoot() { v.place = place{node: v.root} }

// MoveToParent goes up.
func (v *navigator) MoveToParent() bool {
	v.spend(1)
	if v.attr > 0 {
		v.attr = 0
		return true
	}
	return v.move(v.node.Parent)
}

// MoveToNextAttribute goes to the first attribute, or to the next one.
func (v *navigator) MoveToNextAttribute() bool {
	v.spend(1)
	if v.node.Type != html.ElementNode || v.attr >= len(v.node.Attr) {
		return false
	}
	v.attr++
	return true
}

// MoveToChild goes to the first child.
func (v *navigator) MoveToChild() bool {
	v.spend(1)
	return v.attr == 0 && v.move(skip(v.node.FirstChild, true))
}

// MoveToFirst goes to the first sibling.
func (v *navigator) MoveToFirst() bool {
	if v.attr > 0 || v.node.Parent == nil {
		return false
	}
	first := skip(v.node.Parent.FirstChild, true)
	return first != v.node && v.move(first)
}

// MoveToNext goes to the next sibling.
func (v *navigator) MoveToNext() bool {
	v.spend(1)
	return v.attr == 0 && v.move(skip(v.node.NextSibling, true))
}

// MoveToPrevious goes to the sibling before.
func (v *navigator) MoveToPrevious() bool {
	v.spend(1)
	return v.attr == 0 && v.move(skip(v.node.PrevSibling, false))
}

// MoveTo goes where another navigator of the same tree is.
func (v *navigator) MoveTo(other xpath.NodeNavigator) bool {
	o, ok := other.(*navigator)
	if !ok || o.root != v.root {
		return false
	}
	v.place = o.place
	return true
}

func (v *navigator) move(to *html.Node) bool {
	if to == nil {
		return false
	}
	v.place = place{node: to}
	return true
}

// skip passes over doctypes.
func skip(n *html.Node, forward bool) *html.Node {
	for n != nil && n.Type == html.DoctypeNode {
		if forward {
			n = n.NextSibling
		} else {
			n = n.PrevSibling
		}
	}
	return n
}
