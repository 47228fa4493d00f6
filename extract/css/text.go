package css

import (
	"slices"
	"strings"

	"golang.org/x/net/html"

	"github.com/seine-go/seine/internal/htmltree"
)

// contains tests the text of an element, without regard to ASCII case, as cascadia does.
func contains(text string, own bool) test {
	if own {
		return func(_ *matcher, n *html.Node) bool { return strings.Contains(ownText(n), text) }
	}
	return func(m *matcher, n *html.Node) bool { return m.contains(n, text) }
}

func ownText(n *html.Node) string {
	var b strings.Builder
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type == html.TextNode {
			b.WriteString(c.Data)
		}
	}
	return lowerASCII(b.String())
}

// fewNodes is of how many nodes the text is looked at element by element. Beyond that all text is looked at once, since that of
// elements in each other is the same again and again.
const fewNodes = 4096

func (m *matcher) contains(n *html.Node, text string) bool {
	if m.textNodes < fewNodes {
		var b strings.Builder
		c := htmltree.Next(n, n)
		for ; c != nil && m.textNodes < fewNodes; c = htmltree.Next(c, n) {
			m.textNodes++
			if c.Type == html.TextNode {
				b.WriteString(c.Data)
			}
		}
		if c == nil {
			return strings.Contains(lowerASCII(b.String()), text)
		}
	}
	t := m.textAround(n)
	at := t.spans[n]
	places := t.find(text)
	i, _ := slices.BinarySearch(places, at.start)
	return text == "" || i < len(places) && places[i]+len(text) <= at.end
}

// texts is the text of a part of the tree in lower case, with where in it that of each element stands.
type texts struct {
	text  string
	spans map[*html.Node]span
	found map[string][]int // where texts stand that were asked for
}

type span struct{ start, end int }

// textAround returns the text of the scope that n is in, or of the tree.
func (m *matcher) textAround(n *html.Node) *texts {
	area := m.around(n)
	if t := m.texts[area]; t != nil {
		return t
	}
	t := &texts{spans: map[*html.Node]span{}, found: map[string][]int{}}
	var b strings.Builder
	for c, entered := area, true; ; {
		if entered {
			if c.Type == html.TextNode {
				b.WriteString(lowerASCII(c.Data))
			}
			t.spans[c] = span{start: b.Len()}
			if c.FirstChild != nil {
				c = c.FirstChild
				continue
			}
		}
		t.spans[c] = span{t.spans[c].start, b.Len()}
		if c == area {
			break
		}
		if entered = c.NextSibling != nil; entered {
			c = c.NextSibling
		} else {
			c = c.Parent
		}
	}
	t.text = b.String()
	if m.texts == nil {
		m.texts = map[*html.Node]*texts{}
	}
	m.texts[area] = t
	return t
}

// find returns all places where a text stands.
func (t *texts) find(text string) (places []int) {
	if places, known := t.found[text]; known {
		return places
	}
	for i := 0; i+len(text) <= len(t.text) && text != ""; i++ {
		n := strings.Index(t.text[i:], text)
		if n < 0 {
			break
		}
		i += n
		places = append(places, i)
	}
	t.found[text] = places
	return places
}
