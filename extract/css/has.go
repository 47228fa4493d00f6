package css

import (
	"maps"

	"golang.org/x/net/html"

	"github.com/seine-go/seine/internal/htmltree"
)

// nodes is a set of nodes.
type nodes map[*html.Node]bool

// relatives is what is known of a relative selector, the argument of a :has: in which parts of the tree it has been looked for,
// and which elements of these it can be relative to.
type relatives struct {
	areas   nodes
	rounds  int
	anchors nodes
}

// fewAreas is for how many elements one by one is looked what they have; then it is done for all at once.
const fewAreas = 8

// has reports whether a relative selector selects anything from n.
func (m *matcher) has(list []*chain, n *html.Node) bool {
	for _, c := range list {
		if m.hasOne(c, n) {
			return true
		}
	}
	return false
}

// hasOne finds out for all elements of a part of the tree at once whether the selector is relative to them, since one by one
// those in each other, and those side by side, would be looked through again and again.
func (m *matcher) hasOne(c *chain, n *html.Node) bool {
	area := n
	if first := c.parts[0].before; first == adjacent || first == sibling {
		if area = n.Parent; area == nil {
			return false
		}
	}
	r := m.relatives[c]
	if r == nil {
		r = &relatives{areas: nodes{}, anchors: nodes{}}
		if m.relatives == nil {
			m.relatives = map[*chain]*relatives{}
		}
		m.relatives[c] = r
	}
	if !r.areas.hold(area) {
		if r.rounds++; r.rounds > fewAreas {
			area = m.around(area)
		}
		r.areas[area] = true
		maps.Copy(r.anchors, m.anchors(c, area))
	}
	return r.anchors[n]
}

// hold reports whether n is one of the set, or in one. If so it becomes one.
func (s nodes) hold(n *html.Node) bool {
	for p := n; p != nil; p = p.Parent {
		if s[p] {
			s[n] = true
			return true
		}
	}
	return false
}

// around is what is looked through at once for an element: the scope it is in, or the tree.
func (m *matcher) around(n *html.Node) *html.Node {
	for n.Parent != nil && n != m.scope {
		n = n.Parent
	}
	return n
}

// anchors goes through the parts of a relative selector from right to left: of the elements that match a part those to the left
// are taken that stand to them as its combinator says, of these count those that match the part before, and so on.
func (m *matcher) anchors(c *chain, area *html.Node) nodes {
	last := len(c.parts) - 1
	found := nodes{}
	for e := htmltree.Next(area, area); e != nil; e = htmltree.Next(e, area) {
		if e.Type == html.ElementNode && m.passes(c.parts[last].tests, e) {
			found[e] = true
		}
	}
	for i := last; i > 0; i-- {
		found = found.left(c.parts[i].before, area)
		delete(found, area)
		for e := range found {
			if !m.passes(c.parts[i-1].tests, e) {
				delete(found, e)
			}
		}
	}
	return found.left(c.parts[0].before, area)
}

// left returns the nodes of an area, itself included, that have one of the set to their right, behind a combinator. Where a
// node is taken already, so are those beyond it.
func (s nodes) left(c combinator, area *html.Node) nodes {
	left := nodes{}
	for e := range s {
		switch c {
		case child:
			left[e.Parent] = true
		case descendant:
			for p := e; p != area && !left[p.Parent]; p = p.Parent {
				left[p.Parent] = true
			}
		case adjacent:
			if p := previous(e); p != nil {
				left[p] = true
			}
		case sibling:
			for p := previous(e); p != nil && !left[p]; p = previous(p) {
				left[p] = true
			}
		}
	}
	return left
}
