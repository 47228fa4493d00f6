package extract

import (
	"cmp"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"github.com/seine-go/seine/extract/css"
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
)

// Suggest returns sources that find a text on a page, the best first: of a site that has changed it is the new page, and
// the text is what a page that was kept has given (FieldReport.Raw). What is an identifier counts for more than a class,
// that for more than a place, and short for more than long; classes and identifiers that look generated are passed over. At
// most ten are returned; none when no element has the text, or only with other text. The error is that of Document.Tree.
func Suggest(d *Document, text string) ([]Suggestion, error) {
	root, err := d.Tree()
	if err != nil {
		return nil, err
	}
	want := strings.Join(strings.Fields(text), " ")
	if want == "" {
		return nil, nil
	}
	var found []Suggestion
	seen := map[string]bool{}
	carriers := 0
	for n := root; n != nil && carriers < maxCarriers; n = htmltree.Next(n, root) {
		if n.Type != html.ElementNode || n.Data == "script" || n.Data == "style" {
			continue
		}
		taking, ok := carries(n, want)
		if !ok {
			continue
		}
		carriers++
		for _, selector := range selectorsOf(n) {
			source := "css=" + selector + taking
			if seen[source] {
				continue
			}
			seen[source] = true
			if s, err := css.Compile(selector); err == nil && s.First(root) == n {
				found = append(found, Suggestion{source, len(s.Select(root))})
			}
		}
	}
	slices.SortStableFunc(found, func(a, b Suggestion) int { return cmp.Compare(costOf(a), costOf(b)) })
	return found[:min(len(found), maxSuggestions)], nil
}

// carries tells how an element has a text: as its own, or in an attribute.
func carries(n *html.Node, want string) (taking string, ok bool) {
	if strings.Join(strings.Fields(ownText(n)), " ") == want {
		return "@own", true
	}
	for _, a := range n.Attr {
		if a.Namespace == "" && a.Key != "class" && a.Key != "id" && strings.TrimSpace(a.Val) == want && isAttrName(a.Key) {
			return "@" + a.Key, true
		}
	}
	return "", false
}

// selectorsOf are ways to select an element: by itself, within its parents that have a name, and by its place.
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
	}
	if dt := previousElement(n); n.Data == "dd" && dt != nil && dt.Data == "dt" {
		if label := strings.TrimSpace(ownText(dt)); label != "" && !strings.ContainsAny(label, "\"\\\n") {
			selectors = append(selectors, `dt:contains("`+label+`") + dd`)
		}
	}
	return selectors
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

// costOf orders suggestions: those that find one element, by what is likely to stay.
func costOf(s Suggestion) int {
	cost := len(s.Source) + 40*strings.Count(s.Source, " ")
	if s.Matched > 1 {
		cost += 500
	}
	if !strings.ContainsAny(s.Source, "#.[") {
		cost += 100
	}
	return cost
}
