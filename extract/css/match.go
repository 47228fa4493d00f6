package css

import (
	"golang.org/x/net/html"

	"github.com/seine-go/seine/internal/htmltree"
)

// test is a simple selector.
type test func(m *matcher, n *html.Node) bool

func never(*matcher, *html.Node) bool { return false }

// matcher is one call of a Selector: what is selected in, and what is worth remembering of it.
type matcher struct {
	scope  *html.Node // what :scope is; nil: the root element
	anchor *html.Node // what the selectors of a :has are relative to

	places map[*nth]map[*html.Node]int // of the children of parents that have many
	firsts map[firstKey]int            // where the first child of a parent is that the left part of a ~ selects
}

type firstKey struct {
	c      *chain
	part   int
	parent *html.Node
}

// outcome is how far a selector that does not match has come (as in browsers): a chain that has found no ancestor need not be
// tried from an ancestor again, so that the work grows with the depth and not with a power of it.
type outcome uint8

const (
	matches         outcome = iota
	fails                   // here
	failsSiblings           // and for all siblings before
	failsCompletely         // and for all ancestors
)

func (m *matcher) any(list []*chain, n *html.Node) bool {
	if n.Type != html.ElementNode {
		return false
	}
	for _, c := range list {
		if m.match(c, len(c.parts)-1, n) == matches {
			return true
		}
	}
	return false
}

// match tries the parts of a selector up to i, from right to left.
func (m *matcher) match(c *chain, i int, n *html.Node) outcome {
	for _, t := range c.parts[i].tests {
		if !t(m, n) {
			return fails
		}
	}
	before := c.parts[i].before
	if i == 0 {
		if before == none || m.related(before, n) {
			return matches
		}
		return fails
	}
	switch before {
	case child:
		if p := parent(n); p != nil {
			return m.match(c, i-1, p)
		}
	case descendant:
		for p := parent(n); p != nil; p = parent(p) {
			if o := m.match(c, i-1, p); o == matches || o == failsCompletely {
				return o
			}
		}
	case adjacent:
		if s := previous(n); s != nil {
			return m.match(c, i-1, s)
		}
		return failsSiblings
	case sibling:
		return m.matchSibling(c, i-1, n)
	}
	return failsCompletely
}

// few is up to how many siblings are looked at again and again; of more the places are remembered.
const few = 64

func (m *matcher) matchSibling(c *chain, i int, n *html.Node) outcome {
	steps := 0
	for s := previous(n); s != nil; s = previous(s) {
		if steps++; steps > few && n.Parent != nil {
			return m.matchFirst(c, i, n)
		}
		if o := m.match(c, i, s); o != fails {
			return o
		}
	}
	return failsSiblings
}

// matchFirst is matchSibling by the place of the first sibling that matches.
func (m *matcher) matchFirst(c *chain, i int, n *html.Node) outcome {
	key := firstKey{c, i, n.Parent}
	first, known := m.firsts[key]
	if !known {
		for s := n.Parent.FirstChild; s != nil && first == 0; s = s.NextSibling {
			if s.Type == html.ElementNode && m.match(c, i, s) == matches {
				first = m.place(&anyChild, s)
			}
		}
		if m.firsts == nil {
			m.firsts = map[firstKey]int{}
		}
		m.firsts[key] = first
	}
	if first > 0 && first < m.place(&anyChild, n) {
		return matches
	}
	return failsSiblings
}

// related reports whether n stands to the anchor as the first combinator of a relative selector says.
func (m *matcher) related(c combinator, n *html.Node) bool {
	switch c {
	case child:
		return n.Parent == m.anchor
	case descendant:
		for p := n.Parent; p != nil; p = p.Parent {
			if p == m.anchor {
				return true
			}
		}
	case adjacent:
		return previous(n) == m.anchor
	case sibling:
		for s := previous(n); s != nil; s = previous(s) {
			if s == m.anchor {
				return true
			}
		}
	}
	return false
}

// has reports whether a relative selector selects anything from n.
func (m *matcher) has(list []*chain, n *html.Node) bool {
	outer := m.anchor
	m.anchor = n
	defer func() { m.anchor = outer }()
	for _, c := range list {
		if m.hasOne(c, n) {
			return true
		}
	}
	return false
}

func (m *matcher) hasOne(c *chain, n *html.Node) bool {
	last := len(c.parts) - 1
	switch first := c.parts[0].before; {
	case first == child && last == 0:
		for e := n.FirstChild; e != nil; e = e.NextSibling {
			if e.Type == html.ElementNode && m.match(c, last, e) == matches {
				return true
			}
		}
	case first == child || first == descendant:
		return m.below(c, n)
	default:
		for s := following(n); s != nil; s = following(s) {
			if m.match(c, last, s) == matches || last > 0 && m.below(c, s) {
				return true
			}
			if first == adjacent && last == 0 {
				return false
			}
		}
	}
	return false
}

func (m *matcher) below(c *chain, n *html.Node) bool {
	for e := htmltree.Next(n, n); e != nil; e = htmltree.Next(e, n) {
		if e.Type == html.ElementNode && m.match(c, len(c.parts)-1, e) == matches {
			return true
		}
	}
	return false
}

// parent is the element that n is in.
func parent(n *html.Node) *html.Node {
	if p := n.Parent; p != nil && p.Type == html.ElementNode {
		return p
	}
	return nil
}

func previous(n *html.Node) *html.Node {
	for n = n.PrevSibling; n != nil && n.Type != html.ElementNode; n = n.PrevSibling {
	}
	return n
}

func following(n *html.Node) *html.Node {
	for n = n.NextSibling; n != nil && n.Type != html.ElementNode; n = n.NextSibling {
	}
	return n
}
