package extract

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// everySelector has selectors of all simple kinds.
type everySelector struct {
	A []string `extract:"css=a ; raw"`
	B []string `extract:"css=div > p ; raw"`
	C []string `extract:"css=ul li ; raw"`
	D []string `extract:"css=.x ; raw"`
	E []string `extract:"css=#i ; raw"`
	F []string `extract:"css=div .x>b ; raw"`
	G []string `extract:"css=td ; raw"`
	H []string `extract:"css=a@href ; raw"`
	I []string `extract:"css=p.x em ; raw"`
	J []string `extract:"css=title ; raw"`
	K []string `extract:"css=table ; raw"`
	L []string `extract:"css=div div ; raw"`
	M []string `extract:"css=h1@id ; raw"`
	N []string `extract:"css=SPAN ; raw"`
	O []string `extract:"css=meta@content ; raw"`
	P []string `extract:"css=form > input@value ; raw"`
	Q []string `extract:"css=div > div.x.y > span ; raw"`
	R []string `extract:"css=textarea ; raw"`
	S string   `extract:"css=h2 || css=svg@class ; last"`
	T string   `extract:"css=b ; one ; default=none"`
	U *string  `extract:"css=i ; join=|"`
}

var everySchema = MustCompile[everySelector](Options{})

// needsNoTree reports whether the page is well nested.
func needsNoTree(page []byte) bool {
	x := newRun(context.Background(), NewDocument(page, DocumentOptions{Encoding: "utf-8"}), &everySchema.o, 0)
	x.pass(everySchema.plan)
	return x.passed != nil
}

// passes compares what is found without a tree with what is found in it, reports included, and says whether there was no tree.
func passes(t testing.TB, page []byte) bool {
	t.Helper()
	if !needsNoTree(page) {
		return false
	}
	o := DocumentOptions{URL: testPage, Encoding: "utf-8"}
	a, ra, aerr := everySchema.Extract(context.Background(), NewDocument(page, o))
	parsed := NewDocument(page, o)
	if _, err := parsed.Tree(); err != nil {
		t.Fatal(err)
	}
	b, rb, berr := everySchema.Extract(context.Background(), parsed)
	if !reflect.DeepEqual(a, b) || fmt.Sprint(ra.Fields) != fmt.Sprint(rb.Fields) || fmt.Sprint(aerr) != fmt.Sprint(berr) {
		t.Fatalf("%q\npass %+v\ntree %+v\n%+v\n%+v", page, a, b, ra.Fields, rb.Fields)
	}
	return true
}

// passNames are elements of all kinds; the first are written more often.
var passNames = strings.Fields("div p span a b ul em ol table tbody tr td th h1 h2 form input br hr img section dl dt dd pre textarea script style title meta button nav article i u small font x-y code label option select main svg path g noscript iframe menu object")

// writePage writes elements, well nested but for one end tag in wild that is missing; most of such pages are plain.
func writePage(r *rand.Rand, b *strings.Builder, depth, wild int) {
	for range 1 + r.IntN(4) {
		if r.IntN(5) == 0 {
			b.WriteString([]string{"text ", "a&amp;b", "\n", " ", "&lt", "&notit;", "<!-- c -->", "ä&nbsp;", "\r\n", "\f", "x<3"}[r.IntN(11)])
			continue
		}
		name := passNames[r.IntN(len(passNames))]
		if r.IntN(2) == 0 {
			name = passNames[r.IntN(6)]
		}
		b.WriteString("<" + name)
		for range r.IntN(3) {
			b.WriteString([]string{` class=x`, ` class="y x"`, ` id=i`, ` href="/u?a=1&amp;b&copy=2"`, ` content=c`, ` value='v&copy'`, ` CLASS="X"`, ` id="j"`, ` class=""`, " href='\r\n'", " /"}[r.IntN(11)])
		}
		b.WriteString(">")
		switch {
		case depth == 0:
		case name == "ul" || name == "ol":
			for range r.IntN(3) {
				b.WriteString("<li>")
				writePage(r, b, depth-1, wild)
				b.WriteString("</li>")
			}
		case name == "table" && r.IntN(2) == 0:
			b.WriteString("<tbody><tr><td>")
			writePage(r, b, depth-1, wild)
			b.WriteString("</td></tr></tbody>")
		default:
			writePage(r, b, depth-1, wild)
		}
		if r.IntN(wild) > 0 && !voidElement[name] {
			b.WriteString("</" + name + ">")
		}
	}
}

var voidElement = map[string]bool{"br": true, "hr": true, "img": true, "input": true, "meta": true}

// A pass finds what the tree has, on pages that are well nested and on pages that are nearly.
func TestPassEqualsTree(t *testing.T) {
	t.Parallel()
	r, n, plain := newRand(), 10_000, 0
	if raceEnabled {
		n = 1_000
	}
	for k := range n {
		var b strings.Builder
		if k%3 == 0 {
			b.WriteString("<!doctype html>\n<html>\n<head><title>T</title>\n<meta content=q></head>\n" + []string{"<body>", "<body class=x>", "<body id=j class='y z'>"}[r.IntN(3)])
		}
		writePage(r, &b, r.IntN(4), 10<<(k%4))
		if k%3 == 0 {
			b.WriteString("</body></html>\n")
		}
		if passes(t, []byte(b.String())) {
			plain++
		}
		if passes(t, generate(r, 1+r.IntN(10), pieces)) {
			plain++
		}
	}
	if plain < n/20 {
		t.Errorf("%d of %d pages were plain", plain, 2*n)
	}
}

func FuzzPassEqualsTree(f *testing.F) {
	addPages(f, func(page []byte) { f.Add(page) })
	r := newRand()
	for range 100 {
		var b strings.Builder
		writePage(r, &b, 2, 20)
		f.Add([]byte(b.String()))
	}
	f.Fuzz(func(t *testing.T, page []byte) { passes(t, page) })
}

// Pages of which the tree is not what the tags say, and those that are beyond a bound, are left to the tree.
func TestPassDoubts(t *testing.T) {
	t.Parallel()
	deep := func(n int) string { return strings.Repeat("<div>", n) + strings.Repeat("</div>", n) }
	for page, want := range map[string]bool{
		"<p>a</p>": true, "<p>a": false, "<p><div></div></p>": false, "<b><p>a</b></p>": false, "<a><a></a></a>": false, "<ul><li>a<li>b</ul>": false, "<ul><li>a</li><li><ul><li>b</li></ul></li></ul>": true,
		"<table><tr><td>a</td></tr></table>": false, "<table><tbody><tr><td>a</td></tr></tbody></table>": true, "<table>a</table>": false, "<table> <a></a></table>": false, "<form><form></form></form>": false,
		"<h1><h2></h2></h1>": false, "<select><option>a</select>": false, "<svg><path d=1 /><g></g></svg>": true, "<svg><p></p></svg>": false, "<svg><title>a</title></svg>": false, "<pre>\na</pre>": false,
		"<html class=x><p></p></html>": false, "<html lang=en class=y><body id=j></body></html>": true, "<body id=i></body>": false, "<head><div></div></head>": false, "<noscript></noscript>": false, "<body><noscript></noscript></body>": true, "<body></body><p></p>": false, "a\x00": false, "<!-- --!> -->": false,
		"<script><!-- <script> </script>": false, "<script>1</script>": true, "<textarea>\n</textarea>": false, "a<b": false, "<frameset></frameset>": false,
		"<body>" + deep(maxPassDepth) + "</body>": true, "<body>" + deep(maxPassDepth+1) + "</body>": false,
	} {
		if got := passes(t, []byte(page)); got != want {
			t.Errorf("%.60q: a pass is enough: %v", page, got)
		}
	}
	for n, want := range map[int]bool{maxPassHits: true, maxPassHits + 1: false} {
		if got := needsNoTree([]byte(strings.Repeat("<b></b>", n))); got != want {
			t.Errorf("%d hits: a pass is enough: %v", n, got)
		}
	}
}

// A pass builds no tree, unless something is missing, of which the report shows where it was looked for.
func TestSimpleDeclarationsBuildNoTree(t *testing.T) {
	t.Parallel()
	page := page20K()
	for name, tt := range map[string]struct {
		page []byte
		want bool
	}{"whole": {page, false}, "title missing": {bytes.ReplaceAll(page, []byte("h1"), []byte("h3")), true}, "broken": {append([]byte("<p><div></div>"), page...), true}} {
		d := NewDocument(tt.page, DocumentOptions{})
		_, _ = From[tenFields](d)
		if _, built := d.builtTree(); built != tt.want {
			t.Errorf("%s: a tree is built: %v", name, built)
		}
	}
}

// What is not simple is asked of the tree.
func TestSimplePlans(t *testing.T) {
	t.Parallel()
	for from, want := range map[string]bool{
		"css=a": true, "css=a.x#i > b .y@href": true, "css=a || json=$.b || state=c$.d": true, "css=a, b": false, "css=a:first-child": false, "css=a[href]": false, "css=a + b": false, "css=*": false, "css=body": false, "css=x-y": false,
		"css=a@html": false, "css=a::text": false, "css=.ä": false, `css=.a\:b`: false, "css=#a#b": false, "xpath=//a": false, "json=$.a": false, "css=a || meta=b": false,
	} {
		s, err := Compile[map[string]any](Options{Rules: Rules{"a": {Tag: from}}})
		if err != nil {
			t.Fatal(err)
		}
		if got := s.plan.simple != nil; got != want {
			t.Errorf("%s: simple %v", from, got)
		}
	}
}

// The tree's parser takes what the pass takes at the greatest depth.
func TestPassDepthIsBelowTheParsers(t *testing.T) {
	t.Parallel()
	page := strings.Repeat("<div>", maxPassDepth) + strings.Repeat("</div>", maxPassDepth)
	if _, err := html.Parse(strings.NewReader(page)); err != nil {
		t.Error(err)
	}
}
