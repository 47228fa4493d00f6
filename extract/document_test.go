package extract

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"golang.org/x/net/html"

	"github.com/seine-go/seine/extract/css"
)

func TestDocumentText(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, body, encoding, want string }{
		{"utf-8", "é", "", "é"},
		{"label in any case", "é", " UTF-8 ", "é"},
		{"bad utf-8", "a\xffb", "utf-8", "a\uFFFDb"},
		{"undeclared", "a\xffb", "", "aÿb"},
		{"declared in the page", "<meta charset=koi8-r>\xc6", "", "<meta charset=koi8-r>ф"},
		{"byte order mark", "\xEF\xBB\xBFé", "", "é"},
		{"the mark wins", "\xEF\xBB\xBFé", "windows-1252", "é"},
		{"utf-16", "\xFF\xFEa\x00", "", "a"},
		{"utf-16, other order", "\xFE\xFF\x00a", "utf-8", "a"},
		{"utf-16 by label", "a\x00", "utf-16", "a"},
		{"windows-1252", "\x80", "iso-8859-1", "€"},
		{"gbk", "\xC6\xAC", "gb2312", "片"},
		{"shift_jis", "\x83\x5C", "shift_jis", "ソ"},
		{"empty", "", "", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			d := NewDocument([]byte(test.body), DocumentOptions{Encoding: test.encoding})
			if got, err := d.Text(); got != test.want || err != nil {
				t.Errorf("got %q, %v, want %q", got, err, test.want)
			}
			if string(d.Bytes()) != test.body {
				t.Errorf("the bytes are %q", d.Bytes())
			}
		})
	}
}

func TestDocumentOfUnknownEncoding(t *testing.T) {
	t.Parallel()
	d := NewDocument([]byte("<a href=x>"), DocumentOptions{URL: testPage, Encoding: "klingon"})
	_, err := d.Text()
	_, treeErr := d.Tree()
	_, hintsErr := d.Hints(0)
	_, findErr := d.Find("a")
	for _, err := range []error{err, treeErr, hintsErr, findErr} {
		var e *EncodingError
		if !errors.As(err, &e) || e.Label != "klingon" || !strings.Contains(err.Error(), "klingon") {
			t.Errorf("%v", err)
		}
	}
	if d.Selection().Length() != 0 || d.Selection().Find("a").Length() != 0 || d.Flattened() {
		t.Error("it has a tree")
	}
}

func TestDocumentFind(t *testing.T) {
	t.Parallel()
	d := NewDocument([]byte(`<noscript><p class=x>a</p></noscript><p>b`), DocumentOptions{URL: testPage})
	if s, err := d.Find("p.x"); err != nil || s.Text() != "a" {
		t.Errorf("%v, %v", s, err)
	}
	if s, err := d.Find("p, .x"); err != nil || s.Length() != 2 {
		t.Errorf("%v, %v", s, err)
	}
	if s, err := d.Find("q"); err != nil || s.Length() != 0 {
		t.Errorf("%v, %v", s, err)
	}
	if got := d.Selection().Find("p").Length(); got != 2 {
		t.Errorf("%d paragraphs", got)
	}
}

func TestBadSelectorIsNamed(t *testing.T) {
	t.Parallel()
	d := NewDocument([]byte(`<p>`), DocumentOptions{})
	for _, selector := range []string{
		"", " ", "p[", ":nope", "p >", ">", "a:nth-child(x)", "::before", "p:not(", `a[b="`,
		"a,,b", "\x00", "\xff[", strings.Repeat(":not(", 800), strings.Repeat("p", css.MaxSelector+1),
	} {
		s, err := d.Find(selector)
		var e *css.Error
		if s != nil || !errors.As(err, &e) || !strings.HasPrefix(selector, strings.TrimSuffix(e.Selector, "…")) || e.Reason == "" || len(err.Error()) > 400 {
			t.Errorf("%.40q: %v, %v", selector, s, err)
		}
	}
	if _, err := d.Find(strings.Repeat("p", css.MaxSelector)); err != nil {
		t.Error(err)
	}
}

func TestTreesAreBounded(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, page string
		max        int
		ok         bool
	}{
		{"bytes at the bound", strings.Repeat("x", 1000), 1000, true},
		{"bytes", strings.Repeat("x", 1001), 1000, false},
		{"tags at the bound", strings.Repeat("<p>", 62) + "xxxxxx", 1000, true},
		{"tags", strings.Repeat("<p>", 63), 1000, false},
		{"default", strings.Repeat("x", defaultTree+1), 0, false},
		{"no limit", strings.Repeat("<p>", 63), -1, true},
	} {
		d := NewDocument([]byte(test.page), DocumentOptions{MaxTree: test.max, Encoding: "utf-8"})
		_, err := d.Tree()
		var large *TreeError
		if (err == nil) != test.ok || err != nil && (!errors.As(err, &large) || large.Bytes != len(test.page)) {
			t.Errorf("%s: %v", test.name, err)
		}
		if _, err := d.Hints(WantAll); !errors.Is(err, ErrURL) { // a scan has no such bound
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

func TestDocumentHints(t *testing.T) {
	t.Parallel()
	d := NewDocument([]byte("<meta name=our content=noindex><a href='?\xC6\xAC'><a href=2><img src=i>"), DocumentOptions{
		URL: "https://h/", Encoding: "gbk", Agent: "our", MaxLinks: 1, Header: http.Header{"Link": {"</n>; rel=next"}},
	})
	h, err := d.Hints(0)
	if err != nil || h.Next != "https://h/n" || !h.NoIndex || h.LinksCut != 2 || h.Images != nil {
		t.Errorf("%+v, %v", h, err)
	}
	again, _ := d.Hints(0)
	all, _ := d.Hints(WantAll)
	if again != h || all == h || len(all.Images) != 1 {
		t.Errorf("%+v", all)
	}
	if _, err := NewDocument(nil, DocumentOptions{}).Hints(0); !errors.Is(err, ErrURL) {
		t.Error(err)
	}
}

func TestDocumentIsForManyGoroutines(t *testing.T) {
	t.Parallel()
	d := NewDocument(catalogPage(), DocumentOptions{URL: testPage})
	roots := make([]*html.Node, 8)
	var wg sync.WaitGroup
	for i := range roots {
		wg.Go(func() {
			roots[i], _ = d.Tree()
			if h, err := d.Hints(WantImages); err != nil || len(h.Images) != 1 {
				t.Errorf("%+v, %v", h, err)
			}
			if s, err := d.Find("td.role"); err != nil || s.Length() != 12 {
				t.Errorf("%v, %v", s, err)
			}
		})
	}
	wg.Wait()
	for _, r := range roots {
		if r == nil || r != roots[0] {
			t.Error("it was parsed twice")
		}
	}
}

// depthOf measures a tree without recursion.
func depthOf(root *html.Node) (deepest, nodes int) {
	depth := 0
	for n := root; ; {
		nodes++
		if n.FirstChild != nil {
			n = n.FirstChild
			depth++
			deepest = max(deepest, depth)
			continue
		}
		for n != root && n.NextSibling == nil {
			n = n.Parent
			depth--
		}
		if n == root {
			return deepest, nodes
		}
		n = n.NextSibling
	}
}

func TestDeepDocumentIsFlattened(t *testing.T) {
	t.Parallel()
	repeat := strings.Repeat
	numbered := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	million := 1_000_000
	if testing.Short() || raceEnabled {
		million = 50_000
	}
	tests := []struct {
		name, page string
		flattened  bool
		footer     string // selector of the footer; empty: its start tag is too deep
	}{
		{"shallow", repeat("<div>", 100) + repeat("</div>", 100), false, "body > p#end"},
		{"as deep as the parser goes", repeat("<div>", maxOpen-2) + repeat("</div>", maxOpen-2), false, "body > p#end"},
		{"one deeper", repeat("<div>", maxOpen-1) + repeat("</div>", maxOpen-1), true, "body > p#end"},
		{"a million", repeat("<div>", million) + repeat("</div>", million), true, "body > p#end"},
		{"a million spans", repeat("<span>", million), true, ""},
		{"a million paragraphs", repeat("<p>", million/10), false, "body > p#end"},
		{"tables", repeat("<table><tr><td>", 600) + repeat("</table>", 600), true, "body > p#end"},
		{"mixed", repeat("<div><ul><li><b>", 600) + repeat("</b></li></ul></div>", 600), true, "body > p#end"},
		{"svg", "<div><svg>" + repeat("<g>", 600) + repeat("</g>", 600) + "</svg></div>", true, "body > p#end"},
		{"svg styles", "<div><svg>" + repeat("<style>", 600) + "</svg></div>", true, "body > p#end"},
		{"svg titles", "<svg>" + repeat("<title><svg>", 600), true, ""},
		{"formatting that stays open", numbered(2000, "<p><b x=%d>"), true, "p#end"},
		{"adopted formatting", numbered(2000, "<b x=%d>"+repeat("<div>", 9)+"</b>"+repeat("</div>", 9)), true, "p#end"},
		{"formatting out of scope", numbered(2000, "<b x=%d><object></b></object>"), true, "p#end"},
		{"hidden formatting", "<svg><title><div>" + numbered(390, "<b x=%d>") + "</div></title></svg>" + repeat("<p>x", 10_000), true, "p#end"},
		{"templates", repeat("<template>", 2000), true, ""},
		{"selects and options", repeat("<select><option><optgroup>", 2000), true, ""},
		{"noscript", "<noscript>" + repeat("<div>", 2000) + "</noscript>", true, ""},
		{"many formatting elements, all closed", repeat("<p><b>x</b><i>y</i>", 20_000), false, "p#end"},
		{"a tree that would be too large", "<div>" + numbered(300, "<font x=%d>") + "</div>" + repeat("<p>x", 50_000), true, "p#end"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			d := NewDocument([]byte("<!DOCTYPE html><body>"+test.page+"<p id=end>end"), DocumentOptions{URL: testPage})
			root, err := d.Tree()
			if err != nil || d.Flattened() != test.flattened {
				t.Fatalf("flattened %v, %v", d.Flattened(), err)
			}
			depth, nodes := depthOf(root)
			if depth > maxOpen+3 || nodes > maxClones+4*len(test.page) {
				t.Errorf("%d deep, %d nodes", depth, nodes)
			}
			if !strings.HasSuffix(d.Selection().Text(), "end") {
				t.Error("text is lost")
			}
			if test.footer == "" {
				return
			}
			if s, err := d.Find(test.footer); err != nil || s.Text() != "end" {
				t.Errorf("the end is %q in %.300s, %v", s.Text(), pathOf(d.Selection().Find("#end")), err)
			}
		})
	}
}

func pathOf(s *goquery.Selection) string {
	var names []string
	for p := s; p.Length() > 0; p = p.Parent() {
		names = append(names, goquery.NodeName(p))
	}
	return strings.Join(names, " < ")
}

func TestFlattenedTreeKeepsTextAndLinks(t *testing.T) {
	t.Parallel()
	page := strings.Repeat("<div>", 1000) + "deep <a href=x>link</a><img src=i><script>'<div>'</script>" + strings.Repeat("</div>", 600) + "middle" + strings.Repeat("</div>", 400) + "<p>end"
	d := NewDocument([]byte(page), DocumentOptions{URL: testPage})
	if got := d.Selection().Find("body").Text(); got != "deep link'<div>'middleend" {
		t.Errorf("text %q", got)
	}
	if d.Selection().Find("img").Length() != 1 {
		t.Error("the image is lost")
	}
	if h, err := d.Hints(0); err != nil || len(h.Links) != 1 {
		t.Errorf("%+v, %v", h, err)
	}
}
