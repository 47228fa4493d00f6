package readable

import (
	"errors"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/seine-go/seine/internal/htmltree"
	"github.com/seine-go/seine/internal/weburl"
)

// Options says how a page is read.
type Options struct {
	// URL is that of the page, which links and images are resolved against. Empty leaves them as they are.
	URL string
	// MaxBytes bounds each of Text and Markdown. Zero means 4 MiB, negative no limit.
	MaxBytes int
}

const defaultBytes = 4 << 20

// Article is the main text of a page.
type Article struct {
	Title    string
	Text     string // paragraphs parted by empty lines
	Markdown string // CommonMark with tables, without HTML; what the page has of Markdown's signs is escaped
	Cut      bool   // Text or Markdown ends at MaxBytes

	Node *html.Node // where it was found
}

// ErrNoText says that a page has no text that is not of links or navigation.
var ErrNoText = errors.New("seine: readable: no main text")

// Read reads a page, of which it changes nothing.
func Read(root *html.Node, o Options) (*Article, error) {
	if o.MaxBytes == 0 {
		o.MaxBytes = defaultBytes
	}
	aside := asides{form: pageForm(root), remarks: true}
	main := find(root, aside)
	if main == nil { // comments are what there is
		aside.remarks = false
		main = find(root, aside)
	}
	if main == nil {
		return nil, ErrNoText
	}
	a := &Article{Title: title(root, main), Node: main}
	base, _ := weburl.Parse(o.URL)
	base = rebased(root, base)
	text := writer{most: o.MaxBytes, base: base, aside: aside}
	markdown := writer{most: o.MaxBytes, base: base, aside: aside, markdown: true}
	a.Text, a.Markdown = text.write(main), markdown.write(main)
	a.Cut = text.cut || markdown.cut
	if a.Text == "" {
		return nil, ErrNoText
	}
	return a, nil
}

// rebased takes the first base element into account.
func rebased(root *html.Node, base weburl.URL) weburl.URL {
	for n := root; n != nil; n = htmltree.Next(n, root) {
		if n.DataAtom == atom.Base {
			if u, err := base.Resolve(attr(n, "href")); err == nil && base.Href() != "" {
				return u
			}
			return base
		}
	}
	return base
}

// title is the first h1 of the text or before it, what OpenGraph says, or the title of the page.
func title(root, main *html.Node) string {
	og, page, before := "", "", ""
	for n := root; n != nil; n = htmltree.Next(n, root) {
		switch n.DataAtom {
		case atom.H1:
			if s := plain(n); s != "" {
				if within(n, main) {
					return s
				}
				before = first(before, s)
			}
		case atom.Title:
			if n.Namespace == "" {
				page = first(page, plain(n))
			}
		case atom.Meta:
			if attr(n, "property") == "og:title" {
				og = first(og, strings.TrimSpace(attr(n, "content")))
			}
		}
	}
	return first(first(before, og), page)
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func within(n, outer *html.Node) bool {
	for ; n != nil; n = n.Parent {
		if n == outer {
			return true
		}
	}
	return false
}

// tally is what counts for an element.
type tally struct {
	score       float64
	text, links int // runes, those in links
}

// find returns the element with the main text, or nil.
func find(root *html.Node, aside asides) *html.Node {
	tallies := map[*html.Node]*tally{}
	var order []*html.Node
	at := func(n *html.Node) *tally {
		t := tallies[n]
		if t == nil {
			t = &tally{}
			tallies[n] = t
			order = append(order, n)
		}
		return t
	}
	for n := root; n != nil; {
		if n.Type == html.ElementNode && aside.has(n) {
			n = htmltree.After(n, root)
			continue
		}
		if n.Type == html.ElementNode {
			text, links, commas := paragraph(n)
			if text >= minParagraph && links*2 < text {
				score := 1 + float64(commas) + min(float64(text)/100, 3)
				from := n.Parent
				if n.DataAtom != atom.P {
					if parts := paragraphs(n); parts > 1 {
						from, score = n, float64(parts+commas)+min(float64(text)/100, 3*float64(parts))
					}
				}
				share := score
				for p, level := from, 0; p != nil && p.Type == html.ElementNode && level < 3; p, level = p.Parent, level+1 {
					t := at(p)
					t.score += share
					t.text += text
					t.links += links
					share = score / float64(2+2*level)
				}
			}
		}
		n = htmltree.Next(n, root)
	}
	var best *html.Node
	bestScore := 0.0
	for _, n := range order {
		t := tallies[n]
		score := t.score * (1 - float64(t.links)/float64(max(t.text, 1))) * weight(n)
		if score > bestScore {
			best, bestScore = n, score
		}
	}
	return best
}

// minParagraph is how many runes a paragraph has that counts.
const minParagraph = 25

// paragraph counts the runes of an element that holds text itself, blanks let aside, those in links, and its commas. Of what
// may be nested without end only the text counts that is in no element below.
func paragraph(n *html.Node) (text, links, commas int) {
	switch n.DataAtom {
	case atom.P:
		return measure(n)
	case atom.Div, atom.Section, atom.Article, atom.Li, atom.Main, atom.Pre, atom.Blockquote, atom.Td:
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			if c.Type == html.TextNode {
				text += length(c.Data)
				commas += countCommas(c.Data)
			}
		}
	}
	return text, 0, commas
}

// paragraphs counts the paragraphs that an element has without elements for them: texts long enough, parted by two line breaks.
func paragraphs(n *html.Node) (count int) {
	text, breaks := 0, 0
	for c := n.FirstChild; ; c = c.NextSibling {
		switch {
		case c != nil && c.DataAtom == atom.Br:
			breaks++
			continue
		case c != nil && c.Type == html.TextNode && strings.TrimSpace(c.Data) == "":
			continue
		}
		if c == nil || breaks > 1 {
			if text >= minParagraph {
				count++
			}
			text = 0
		}
		if c == nil {
			return count
		}
		breaks = 0
		if c.Type == html.TextNode {
			text += length(c.Data)
		}
	}
}

func weight(n *html.Node) float64 {
	w := 1.0
	switch n.DataAtom {
	case atom.Article, atom.Main:
		w = 1.5
	case atom.Body, atom.Html:
		w = 0.5
	case atom.Ul, atom.Ol, atom.Table, atom.Tr, atom.Tbody:
		w = 0.7
	}
	if attr(n, "itemprop") == "articleBody" || attr(n, "role") == "main" {
		w *= 1.5
	}
	return w
}

func measure(n *html.Node) (text, links, commas int) {
	inLink := (*html.Node)(nil)
	for c := htmltree.Next(n, n); c != nil; c = htmltree.Next(c, n) {
		switch {
		case c.DataAtom == atom.A:
			inLink = c
		case c.Type == html.TextNode:
			runes := length(c.Data)
			text += runes
			commas += countCommas(c.Data)
			if inLink != nil && within(c, inLink) {
				links += runes
			}
		}
	}
	return text, links, commas
}

func length(s string) int { return utf8.RuneCountInString(strings.Join(strings.Fields(s), " ")) }

func countCommas(s string) int {
	return strings.Count(s, ",") + strings.Count(s, "，") + strings.Count(s, "、")
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name && a.Namespace == "" {
			return a.Val
		}
	}
	return ""
}

func plain(n *html.Node) string {
	var b strings.Builder
	for c := htmltree.Next(n, n); c != nil; c = htmltree.Next(c, n) {
		if c.Type == html.TextNode {
			b.WriteString(c.Data)
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}
