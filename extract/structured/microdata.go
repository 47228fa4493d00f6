package structured

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/seine-go/seine/internal/htmltree"
)

// Item is an item of Microdata; marshalled it has the JSON form of the HTML standard (5.2.5). Items that several others
// refer to are one and the same; none is within itself.
type Item struct {
	Type       []string         `json:"type,omitempty"`
	ID         string           `json:"id,omitempty"`
	Properties map[string][]any `json:"properties"` // string or *Item

	size int // items and values in it, those that are shared counted as often as they stand there
}

// cyclic is the value of a property that would hold its own item (HTML standard, 5.2.5).
const cyclic = "ERROR"

type microdata struct {
	*page
	made  map[*html.Node]*Item
	open  map[*html.Node]bool
	depth int
}

// microdata returns the items that are no property of others (HTML standard, 5.2.4), or, in an element, of none in it.
func (p *page) microdata() (top []*Item) {
	m := microdata{page: p, made: map[*html.Node]*Item{}, open: map[*html.Node]bool{}}
	for _, n := range p.items {
		if _, part := attr(n, "itemprop"); part && (p.root.Parent == nil || p.inItem(n)) {
			continue
		}
		if item := m.item(n); item != nil {
			top = append(top, item)
		}
	}
	return top
}

// inItem reports whether an element lies in an item that the page has.
func (p *page) inItem(n *html.Node) bool {
	for n != p.root {
		n = n.Parent
		if _, ok := attr(n, "itemscope"); ok {
			return true
		}
	}
	return false
}

// item makes the item of an element, once; nil when it is open or beyond a bound.
func (m *microdata) item(n *html.Node) *Item {
	if item := m.made[n]; item != nil {
		return item
	}
	if m.open[n] {
		return nil
	}
	if m.depth >= m.limits.Depth {
		m.errs = append(m.errs, &LimitError{What: "depth", Limit: m.limits.Depth})
		return nil
	}
	m.depth++
	m.open[n] = true
	item := &Item{Properties: map[string][]any{}, size: 1}
	if kind, _ := attr(n, "itemtype"); kind != "" {
		item.Type = unique(strings.Fields(kind))
		if id, ok := attr(n, "itemid"); ok {
			item.ID = m.resolve(id)
		}
	}
	for _, e := range m.properties(n) {
		names, _ := attr(e, "itemprop")
		value, size := m.value(e)
		for _, name := range unique(strings.Fields(names)) {
			if item.size += size; m.limits.Nodes >= 0 && item.size > m.limits.Nodes {
				m.errs = append(m.errs, &LimitError{What: "nodes", Limit: m.limits.Nodes})
				break
			}
			item.Properties[name] = append(item.Properties[name], value)
		}
	}
	m.depth--
	delete(m.open, n)
	m.made[n] = item
	return item
}

// unique leaves out what a list has had.
func unique(list []string) []string {
	seen := make(map[string]bool, len(list))
	return slices.DeleteFunc(list, func(s string) bool {
		had := seen[s]
		seen[s] = true
		return had
	})
}

// properties finds the elements that are properties of an item, in tree order.
func (m *microdata) properties(item *html.Node) (found []*html.Node) {
	roots := []*html.Node{item}
	refs, _ := attr(item, "itemref")
	for id := range strings.FieldsSeq(refs) {
		if n := m.ids[id]; n != nil {
			roots = append(roots, n)
		}
	}
	seen := map[*html.Node]bool{}
	for i, root := range roots {
		for n := root; n != nil && m.visit(); {
			if n.Type != html.ElementNode || i == 0 && n == root {
				n = htmltree.Next(n, root)
				continue
			}
			if seen[n] {
				n = htmltree.After(n, root)
				continue
			}
			if len(roots) > 1 {
				seen[n] = true
			}
			if _, ok := attr(n, "itemprop"); ok {
				found = append(found, n)
			}
			if _, nested := attr(n, "itemscope"); nested {
				n = htmltree.After(n, root)
			} else {
				n = htmltree.Next(n, root)
			}
		}
	}
	if len(roots) > 1 {
		slices.SortFunc(found, func(a, b *html.Node) int { return m.order[a] - m.order[b] })
	}
	return found
}

// value is the value of a property (HTML standard, 5.2.4), and its size.
func (m *microdata) value(n *html.Node) (any, int) {
	if _, ok := attr(n, "itemscope"); ok {
		if item := m.item(n); item != nil {
			return item, item.size
		}
		return cyclic, 1
	}
	if content, ok := attr(n, "content"); ok {
		return content, 1
	}
	name, isURL := "", false
	switch n.DataAtom {
	case atom.Audio, atom.Embed, atom.Iframe, atom.Img, atom.Source, atom.Track, atom.Video:
		name, isURL = "src", true
	case atom.A, atom.Area, atom.Link:
		name, isURL = "href", true
	case atom.Object:
		name, isURL = "data", true
	case atom.Data, atom.Meter:
		name = "value"
	case atom.Time:
		name = "datetime"
	}
	value, ok := attr(n, name)
	switch {
	case ok && isURL:
		return m.resolve(value), 1
	case ok:
		return value, 1
	case isURL, n.DataAtom == atom.Meta:
		return "", 1
	}
	text := shownText(n)
	m.show(text)
	return text, 1
}
