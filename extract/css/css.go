package css

import (
	"fmt"

	"golang.org/x/net/html"

	"github.com/seine-go/seine/internal/htmltree"
)

// Selector is a compiled list of selectors. It is safe for concurrent use.
type Selector struct {
	text string
	list []*chain
}

// Error says what is wrong with a selector.
type Error struct {
	Selector string
	Offset   int // in bytes
	Reason   string
}

// Error quotes the beginning of the selector.
func (e *Error) Error() string {
	return fmt.Sprintf("seine: css %q at byte %d: %s", cut(e.Selector), e.Offset, e.Reason)
}

func cut(s string) string {
	if len(s) > maxQuoted {
		return s[:maxQuoted] + "…"
	}
	return s
}

// Bounds of selectors.
const (
	MaxSelector = 16 << 10 // bytes
	MaxNesting  = 32       // of pseudo-classes in pseudo-classes
	maxQuoted   = 64       // bytes of one in an error
)

// Compile reads a list of selectors. The error is an *Error. A pseudo-element is one: it is no element.
func Compile(selector string) (*Selector, error) {
	if len(selector) > MaxSelector {
		return nil, &Error{cut(selector), MaxSelector, "longer than the bound"}
	}
	p := parser{s: selector}
	list, err := p.selectors(0)
	if err == nil && p.i < len(p.s) {
		err = p.fail("not part of a selector")
	}
	if err != nil {
		return nil, err
	}
	return &Selector{selector, list}, nil
}

// MustCompile is Compile for selectors that are known to be right; it panics when they are not.
func MustCompile(selector string) *Selector {
	s, err := Compile(selector)
	if err != nil {
		panic(err)
	}
	return s
}

// String returns the selector as it was given.
func (s *Selector) String() string { return s.text }

// Match reports whether a node is an element that is selected. :scope is the root element.
func (s *Selector) Match(n *html.Node) bool {
	m := matcher{}
	return m.any(s.list, n)
}

// MatchAll returns the elements that are selected among n and what is below it, in document order. :scope is the root
// element.
func (s *Selector) MatchAll(n *html.Node) []*html.Node {
	m := matcher{}
	return m.collect(s.list, n, n, nil)
}

// Filter returns those of the nodes that are selected, in their order. :scope is the root element.
func (s *Selector) Filter(nodes []*html.Node) (selected []*html.Node) {
	m := matcher{}
	for _, n := range nodes {
		if m.any(s.list, n) {
			selected = append(selected, n)
		}
	}
	return selected
}

// Select returns the elements below scope that are selected, in document order; :scope is scope. It is querySelectorAll.
func (s *Selector) Select(scope *html.Node) []*html.Node { return s.AppendSelect(nil, scope) }

// AppendSelect is Select that appends to a slice.
func (s *Selector) AppendSelect(selected []*html.Node, scope *html.Node) []*html.Node {
	m := matcher{scope: scope}
	for n := htmltree.Next(scope, scope); n != nil; n = htmltree.Next(n, scope) {
		if m.any(s.list, n) {
			selected = append(selected, n)
		}
	}
	return selected
}

// AppendSelectWithin is AppendSelect that takes a step for each node that it looks at from those that there are. When there are
// not enough, steps is negative and elements are missing.
func (s *Selector) AppendSelectWithin(selected []*html.Node, scope *html.Node, steps *int) []*html.Node {
	m := matcher{scope: scope}
	for n := htmltree.Next(scope, scope); n != nil; n = htmltree.Next(n, scope) {
		if *steps--; *steps < 0 {
			break
		}
		if m.any(s.list, n) {
			selected = append(selected, n)
		}
	}
	return selected
}

// First returns the first element that Select would return, or nil.
func (s *Selector) First(scope *html.Node) *html.Node {
	m := matcher{scope: scope}
	for n := htmltree.Next(scope, scope); n != nil; n = htmltree.Next(n, scope) {
		if m.any(s.list, n) {
			return n
		}
	}
	return nil
}

func (m *matcher) collect(list []*chain, from, root *html.Node, selected []*html.Node) []*html.Node {
	for n := from; n != nil; n = htmltree.Next(n, root) {
		if m.any(list, n) {
			selected = append(selected, n)
		}
	}
	return selected
}
