package extract

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"github.com/seine-go/seine/internal/htmltree"
)

// Suggestion is a source that finds a value on a page.
type Suggestion struct {
	Source  string // "css=h1.title", "css=img#poster@src"
	Matched int    // how many elements the selector finds; the first has the value
}

const (
	maxSuggestions = 10
	// maxCarriers is how many elements that have a value are looked at.
	maxCarriers = 20
	// suggestSteps is how many nodes and values are looked at to see what sources find.
	suggestSteps = 1 << 22
)

// Suggest returns sources that find a text on a page, the best first: of a site that has changed it is the new page, and
// the text is what a page that was kept has given (FieldReport.Raw; see Schema.Suggest). They are selectors and expressions for
// elements whose text it is, or an attribute; names of meta elements and OpenGraph; paths of structured data, of states and of a
// body of JSON. What is an identifier counts for more than a class, that for more than a place, and short for more than long;
// classes and identifiers that look generated are passed over. At most ten are returned; none when nothing has the text, or only
// with other text. Of large pages not all are tried. The error is that of Document.Tree.
func Suggest(d *Document, text string) ([]Suggestion, error) {
	want := oneLine(text)
	if want == "" {
		return nil, nil
	}
	return (&target{want: want}).suggest(context.Background(), d, &Options{})
}

// suggest returns the sources that find what is wanted on a page.
func (t *target) suggest(ctx context.Context, d *Document, o *Options) ([]Suggestion, error) {
	root, err := d.Tree()
	if err != nil {
		return nil, err
	}
	t.x = newRun(ctx, d, &Options{MaxSteps: suggestSteps, MaxItems: o.MaxItems}, 0)
	t.left = suggestValues
	var found []Suggestion
	costs := map[string]int{}
	for source := range t.candidates(root) {
		if t.x.over() {
			break
		}
		if _, tried := costs[source]; tried {
			continue
		}
		n, cost := t.found(source)
		costs[source] = cost
		if n > 0 {
			found = append(found, Suggestion{source, n})
			costs[source] += t.costOf(found[len(found)-1])
		}
	}
	slices.SortStableFunc(found, func(a, b Suggestion) int { return cmp.Compare(costs[a.Source], costs[b.Source]) })
	return found[:min(len(found), maxSuggestions)], ctx.Err()
}

// Suggest tells what became of the fields of a page of which a good one was kept: for each that the kept page has, and that the
// page as it is now has not, or of another source or value, sources that find on the new page what the kept one has; see the
// function Suggest. They find it with the options of the field: what counts is the value, so that 8.50 stands for 8.5, a URL for a
// reference to it, and a text for what a pattern takes of it. Of a list it is all values in their order. The keys are paths of
// fields, "Title" or "Common.Title" of a struct that looks where it stands itself; maps, and structs with sources of their own
// and lists of them, are left out. The error is that of the trees, or of ctx.
func (s *Schema[T]) Suggest(ctx context.Context, kept, now *Document) (map[string][]Suggestion, error) {
	good, was := s.values(ctx, kept)
	bad, is := s.values(ctx, now)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	found := map[string][]Suggestion{}
	for path, v := range good {
		t, ok := targetOf(v, was[path], kept)
		if r := is[path]; !ok || r.SourceIndex == was[path].SourceIndex && (r.Status == OK || r.Status == Ambiguous) && t.equal(now, bad[path].value, r.Raw) {
			continue
		}
		list, err := t.suggest(ctx, now, &s.o)
		if err != nil {
			return nil, err
		}
		if len(list) > 0 {
			found[path] = list
		}
	}
	return found, nil
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// candidates are sources that may find what is wanted.
func (t *target) candidates(root *html.Node) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, source := range t.dataSources() {
			if !yield(source) {
				return
			}
		}
		carriers := 0
		for n := root; n != nil && carriers < maxCarriers; n = htmltree.Next(n, root) {
			if n.Type != html.ElementNode || n.Data == "script" || n.Data == "style" {
				continue
			}
			taking, ok := t.carries(n)
			if !ok {
				continue
			}
			carriers++
			for _, source := range sourcesOf(n, taking) {
				if t.isList() && strings.Contains(source, ":nth-") { // of a list it is no answer
					continue
				}
				if !yield(source) {
					return
				}
			}
		}
	}
}

// sourcesOf are sources for what is taken of an element.
func sourcesOf(n *html.Node, taking string) (list []string) {
	if n.Data == "meta" && taking == "@content" {
		for _, a := range n.Attr {
			if rest, ok := strings.CutPrefix(a.Val, "og:"); ok && (a.Key == "property" || a.Key == "name") {
				list = append(list, "og="+rest)
			} else if a.Key == "property" || a.Key == "name" || a.Key == "itemprop" {
				list = append(list, "meta="+a.Val)
			}
		}
	}
	for _, selector := range selectorsOf(n) {
		list = append(list, "css="+selector+taking)
	}
	if label, ok := labelOf(n); ok && (taking == "@own" || taking == "") {
		list = append(list, "xpath=//"+label.Data+"[normalize-space()='"+oneLine(htmltree.Text(label))+"']/following-sibling::"+n.Data+"[1]")
	}
	return list
}

// carries tells how an element has what is wanted: as its own text, in an attribute, or in all text in it, if no element in it has
// all of it.
func (t *target) carries(n *html.Node) (taking string, ok bool) {
	if t.is(ownText(n)) {
		return "@own", true
	}
	for _, a := range n.Attr {
		name := a.Key
		if a.Namespace != "" {
			name = a.Namespace + ":" + a.Key
		}
		if name != "class" && name != "id" && isAttrName(name) && t.is(a.Val) {
			return "@" + name, true
		}
	}
	return "", isText(n, t.want)
}

// isText reports whether the text in an element is the one that is wanted, and that of no element in it is. It reads no more of
// the text than it must.
func isText(n *html.Node, want string) bool {
	rest := strings.ReplaceAll(want, " ", "")
	for c := htmltree.Next(n, n); c != nil; c = htmltree.Next(c, n) {
		if c.Type != html.TextNode {
			continue
		}
		for word := range strings.FieldsSeq(c.Data) {
			var ok bool
			if rest, ok = strings.CutPrefix(rest, word); !ok {
				return false
			}
		}
	}
	for c := n.FirstChild; c != nil && rest == ""; c = c.NextSibling {
		if c.Type == html.ElementNode && oneLine(elementText(c)) == want {
			return false
		}
	}
	return rest == "" && oneLine(elementText(n)) == want
}

// selectorsOf are ways to select an element: by itself, within its parents that have a name or a label, and by its place.
func selectorsOf(n *html.Node) (selectors []string) {
	own := simple(n)
	selectors = append(selectors, own...)
	depth := 0
	for p := n.Parent; p != nil && p.Type == html.ElementNode && depth < 4; p = p.Parent {
		depth++
		for _, outer := range simple(p) {
			if outer != p.Data {
				for _, inner := range own {
					selectors = append(selectors, outer+" "+inner)
				}
			}
		}
		if label, ok := labelOf(p); ok {
			selectors = append(selectors, besideLabel(label, p)+" "+n.Data)
		}
	}
	if label, ok := labelOf(n); ok {
		selectors = append(selectors, besideLabel(label, n))
	}
	if p := n.Parent; p != nil && p.Type == html.ElementNode {
		for _, outer := range simple(p) {
			selectors = append(selectors, fmt.Sprintf("%s > %s:nth-of-type(%d)", outer, n.Data, placeOfType(n)))
		}
	}
	return selectors
}

// labelOf is the element before one that says what it is: the term of a definition, the head of a cell.
func labelOf(n *html.Node) (*html.Node, bool) {
	label := previousElement(n)
	if label == nil || n.Data+label.Data != "dddt" && n.Data+label.Data != "tdth" && n.Data+label.Data != "tdtd" {
		return nil, false
	}
	text := oneLine(htmltree.Text(label))
	return label, text != "" && len(text) <= 64 && !strings.ContainsAny(text, "\"'\\")
}

func besideLabel(label, n *html.Node) string {
	return label.Data + `:contains("` + oneLine(htmltree.Text(label)) + `") + ` + n.Data
}

// placeOfType is the place of an element among those of its name, from 1.
func placeOfType(n *html.Node) int {
	place := 1
	for s := previousElement(n); s != nil; s = previousElement(s) {
		if s.Data == n.Data {
			place++
		}
	}
	return place
}

func previousElement(n *html.Node) *html.Node {
	for p := n.PrevSibling; p != nil; p = p.PrevSibling {
		if p.Type == html.ElementNode {
			return p
		}
	}
	return nil
}

// simple are the compound selectors of an element: its name, with its identifier, each class, itemprop.
func simple(n *html.Node) []string {
	list := []string{n.Data}
	for _, a := range n.Attr {
		switch a.Key {
		case "id":
			if isStable(a.Val) {
				list = append(list, "#"+a.Val)
			}
		case "class":
			for class := range strings.FieldsSeq(a.Val) {
				if isStable(class) {
					list = append(list, n.Data+"."+class)
				}
			}
		case "itemprop", "data-testid", "rel":
			if isStable(a.Val) {
				list = append(list, n.Data+"["+a.Key+"="+a.Val+"]")
			}
		}
	}
	return list
}

// isStable reports whether a name may be written without escapes and does not look as if a program had drawn it.
func isStable(name string) bool {
	digits := 0
	for i := range len(name) {
		c := name[i]
		switch {
		case '0' <= c && c <= '9':
			digits++
		case c != '-' && c != '_' && (c|0x20 < 'a' || c|0x20 > 'z'):
			return false
		}
	}
	return name != "" && len(name) <= 32 && digits <= 2 && (name[0]|0x20 >= 'a' || name[0] == '_')
}

// costOf orders suggestions: those that find one element where one is wanted, by what is likely to stay.
func (t *target) costOf(s Suggestion) int {
	cost := len(s.Source) + 40*strings.Count(s.Source, " ") + 40*strings.Count(s.Source, ":nth-")
	if s.Matched > 1 && !t.isList() {
		cost += 500
	}
	if strings.HasPrefix(s.Source, "css=") && !strings.ContainsAny(s.Source, "#.[") {
		cost += 100
	}
	return cost
}
