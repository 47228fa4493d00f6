package css

import "golang.org/x/net/html"

// test is a simple selector.
type test func(m *matcher, n *html.Node) bool

func never(*matcher, *html.Node) bool { return false }

// matcher is one call of a Selector: what is selected in, and what is worth remembering of it.
type matcher struct {
	scope *html.Node // what :scope is; nil: the root element

	places    map[*nth]map[*html.Node]int // of the children of parents that have many
	firsts    map[firstKey]int            // where the first child of a parent is that the left part of a ~ selects
	relatives map[*chain]*relatives       // what :has has found
	texts     map[*html.Node]*texts       // of what :contains has looked at
	textNodes int                         // that :contains has looked at one by one
	legends   map[*html.Node]*html.Node   // of fieldsets
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

func (m *matcher) passes(tests []test, n *html.Node) bool {
	for _, t := range tests {
		if !t(m, n) {
			return false
		}
	}
	return true
}

// match tries the parts of a selector up to i, from right to left.
func (m *matcher) match(c *chain, i int, n *html.Node) outcome {
	if !m.passes(c.parts[i].tests, n) {
		return fails
	}
	if i == 0 {
		return matches
	}
	switch c.parts[i].before {
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
