package css_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"

	"github.com/seine-go/seine/extract/css"
)

func parse(t testing.TB, s string) *html.Node {
	t.Helper()
	n, err := html.Parse(strings.NewReader(s))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func Example() {
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(
		`<ul><li class=film>Tampopo <b class=sold>sold out</b></li><li class=film>Ran</li><li class=ad>Ran away</li></ul>`))
	if err != nil {
		panic(err)
	}
	free := css.MustCompile("li.film:not(:has(> .sold))")
	fmt.Println(doc.FindMatcher(free).Text())
	_, err = css.Compile("li::text")
	fmt.Println(err)
	// Output:
	// Ran
	// seine: css "li::text" at byte 3: a pseudo-element is no element
}

func ExampleSelector_Select() {
	root, err := html.Parse(strings.NewReader(`<div id=a><p>one</p><div><p>two</p></div></div>`))
	if err != nil {
		panic(err)
	}
	box := css.MustCompile("#a").First(root)
	for _, n := range css.MustCompile(":scope > p").Select(box) {
		fmt.Println(n.FirstChild.Data)
	}
	// Output: one
}

const page = `<!DOCTYPE html><html lang="en-GB"><body>
<div id="a" class="x Y"><h1>One</h1><p id=p1 class=x>t</p><p id=p2>u <i id=i1>v</i></p><span id=s1></span><p id=p3 lang="de-Latn-CH">w</p></div>
<div id="b"><section id=sec><p id=p4 data-k="A b-c"></p><!-- c --></section></div>
<form><fieldset disabled id=f><legend><input id=n1></legend><input id=n2><select id=se required><optgroup disabled><option id=o1><option id=o2 selected></select></fieldset>
<input id=n3 type=RADIO checked><button id=bu disabled></button><a id=l1 href="">x</a><a id=l2>y</a></form>
<svg id=v viewBox="0 0"><linearGradient id=g></linearGradient><a id=sa xlink:href="#"></a></svg>
<p id="1st"> </p><p id="ü.x">z</p></body></html>`

func TestSelectors(t *testing.T) {
	t.Parallel()
	doc := parse(t, page)
	tests := []struct{ selector, want string }{
		{"#p1", "p1"},
		{"P#p1, #p2", "p1 p2"},
		{"div#a.x.Y p", "p1 p2 p3"},
		{"#a > p + p", "p2"},
		{"#p1 ~ p", "p2 p3"},
		{"#p1 ~ p ~ p", "p3"},
		{"#p1~span+p", "p3"},
		{"#a /* c */ >/**/p:first-of-type", "p1"},
		{"#\\31 st", "1st"},
		{"#\\000031st", "1st"},
		{"#ü\\.x", "ü.x"},
		{"[data-k]", "p4"},
		{"[ data-k = 'A b-c' ]", "p4"},
		{"[data-k=\"a B-C\"i]", "p4"},
		{"[data-k='a b-c' s]", ""},
		{"[data-k~=b-c]", "p4"},
		{"[data-k^=A][data-k$=c][data-k*=' b']", "p4"},
		{"[data-k^='']", ""},
		{"[lang|=de]", "p3"},
		{"[viewBox]", "v"},
		{"[viewbox]", ""},
		{"linearGradient", "g"},
		{"lineargradient", ""},
		{"[xlink\\:href]", "sa"},
		{"[*|href]", "l1 sa"},
		{"*|p:nth-child(2)", "p1"},
		{"|p", ""},
		{"#a > :nth-child(odd)", "p2 p3"},
		{"#a > :nth-child( 2N + 1 )", "p2 p3"},
		{"#a > :nth-child(-n+2)", "p1"},
		{"#a > :nth-child(n+3):nth-last-child(n+2)", "p2 s1"},
		{"#a > :nth-child(2 of p)", "p2"},
		{"#a > :nth-child(even of p, span)", "p2 p3"},
		{"#a > :nth-last-child(1 of .x)", "p1"},
		{"#a > :nth-of-type(2), #a > :nth-last-of-type(1):is(span)", "p2 s1"},
		{"#a > :only-of-type", "s1"},
		{"section:only-child", "sec"},
		{"#b :empty", "p4"},
		{"span:empty", "s1"},
		{"p:has(i)", "p2"},
		{"div:has(> section > p)", "b"},
		{"p:has(+ span)", "p2"},
		{"p:has(~ span)", "p1 p2"},
		{"div:has(h1 ~ p > i)", "a"},
		{"div:has(+ div p[data-k])", "a"},
		{"p:not(:has(i)):not(#p1, [lang])[id^=p]", "p4"},
		{":is(h1, p):where(:not(#p1)) + span", "s1"},
		{":is(::before, #p1, :nope(1, [a=')']), x!)", "p1"},
		{":scope > body > #b, :root > body > #a", "a b"},
		{":lang(en) > #p1", "p1"},
		{"p:lang('*-CH')", "p3"},
		{"p:lang(de-CH)", "p3"},
		{"p:lang(de-AT), p:lang(d)", ""},
		{":disabled", "f n2 se o1 o2 bu"},
		{"input:enabled", "n1 n3"},
		{":checked", "o2 n3"},
		{":required", "se"},
		{"input:optional", "n1 n2 n3"},
		{":any-link", "l1"},
		{":hover, :visited", ""},
		{"p:contains('U V'), p:containsOwn(w)", "p2 p3"},
		{"section:haschild(p)", "sec"},
		{"p:not(p)", ""},
	}
	for _, tt := range tests {
		s, err := css.Compile(tt.selector)
		if err != nil {
			t.Errorf("%s: %v", tt.selector, err)
			continue
		}
		var ids []string
		for _, n := range s.MatchAll(doc) {
			for _, a := range n.Attr {
				if a.Key == "id" {
					ids = append(ids, a.Val)
				}
			}
			if !s.Match(n) || len(s.Filter([]*html.Node{n, doc})) != 1 {
				t.Errorf("%s: Match or Filter differs", tt.selector)
			}
		}
		if got := strings.Join(ids, " "); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.selector, got, tt.want)
		}
	}
}

func TestBadSelectors(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"", " ", ",", "a,", ",a", "a,,b", "> a", "a >", "a > > b", "a ~", "#", "#1st", ".", ".1", "[", "[]", "[a", "[a=", "[a=]", "[a='", "[a='x", "[a=b c]", "[a!=b]", "[a b]", "[1=a]",
		":", "::", "a:", ":nope", ":nope(a)", ":not", ":not()", ":not(", ":not(a", ":has()", ":has(:has(a))", ":nth-child()", ":nth-child(x)", ":nth-child(2n + + 1)", ":nth-child(1 of)", ":nth-of-type(1 of a)",
		":is(", ":is(a", "a)", "a{}", "ns|a", "[ns|a]", "a || b", "a\\", "\"a\"", "a'b", "5", "-", "--", "a\x00b", ":contains()", ":contains('x)", ":lang()", "a/*", "*a", "a*", "a#b c|",
		strings.Repeat(":not(", css.MaxNesting+1) + "a" + strings.Repeat(")", css.MaxNesting+1), strings.Repeat("a", css.MaxSelector+1),
	} {
		_, err := css.Compile(s)
		var fault *css.Error
		if !errors.As(err, &fault) && s != "a/*" && s != "--" {
			t.Errorf("%.40q: %v", s, err)
		}
	}
	for _, s := range []string{strings.Repeat(":not(", css.MaxNesting) + "a" + strings.Repeat(")", css.MaxNesting), strings.Repeat("a", css.MaxSelector)} {
		if _, err := css.Compile(s); err != nil {
			t.Errorf("at the bound: %v", err)
		}
	}
}

// What cascadia knows, it selects alike, but for :empty, which there holds of an element of blanks too, and :lang, which
// there holds of texts.
func TestEqualsCascadia(t *testing.T) {
	t.Parallel()
	doc := parse(t, page)
	for _, s := range []string{
		"*", "p", "div p", "div > p", "h1 + p", "h1 ~ p", ".x", "#a p:not(.x)", "p:nth-child(2n)", "p:nth-last-child(2)", "p:nth-of-type(2n+1)", "p:only-child", "p:first-child, p:last-child",
		"[id^=p]", "[id$='1']", "[data-k~='b-c']", "p:contains('t')", "p:containsOwn('v')", "div:has(i)", "p:haschild(i)", ":root", "input:checked", "option:checked", "body :not(div) > p",
	} {
		want := cascadia.MustCompile(s).MatchAll(doc)
		got := css.MustCompile(s).MatchAll(doc)
		if len(got) != len(want) {
			t.Errorf("%s: %d, cascadia %d", s, len(got), len(want))
			continue
		}
		for i := range got {
			if got[i] != want[i] {
				t.Errorf("%s: element %d differs", s, i)
			}
		}
	}
}

// Time grows with the page, not with the square of it.
func TestLargePages(t *testing.T) {
	t.Parallel()
	const n = 60_000
	flat := parse(t, "<ul>"+strings.Repeat("<li>", n)+"</ul>")
	deep := parse(t, strings.Repeat("<div><a>", 200)+strings.Repeat("<b>", 50))
	start := time.Now()
	for selector, want := range map[string]int{
		"li:nth-child(2n)": n / 2, "li:nth-last-child(2n+1)": n / 2, "li:nth-of-type(3n)": n / 3, "li:nth-child(2n of li:not(x))": n / 2, "x ~ li": 0, "li ~ li": n - 1, "li:last-child": 1, "li + li ~ li": n - 2,
	} {
		if got := len(css.MustCompile(selector).MatchAll(flat)); got != want {
			t.Errorf("%s: %d, want %d", selector, got, want)
		}
	}
	chain := strings.Repeat("div a ", 50) + "> x b"
	if got := css.MustCompile(chain).MatchAll(deep); len(got) != 0 {
		t.Errorf("%d", len(got))
	}
	if took := time.Since(start); took > time.Minute {
		t.Errorf("took %v", took)
	}
}

// FuzzSelector holds that no selector panics, at compiling or at matching, and that what is compiled selects the same one
// by one and at once.
func FuzzSelector(f *testing.F) {
	for _, s := range []string{"a > b ~ c + d e", ":is(a, :b)", "[a|='b' i]", "p:nth-child(2n+1 of .x)", ":has(> a, + b)", "\\31 x", ":lang(de, '*-CH')", ":not(:contains(x))"} {
		f.Add(s)
	}
	doc := parse(f, page)
	f.Fuzz(func(t *testing.T, s string) {
		selector, err := css.Compile(s)
		if err != nil {
			return
		}
		all := selector.MatchAll(doc)
		for _, n := range all {
			if !selector.Match(n) {
				t.Fatalf("%q: MatchAll and Match differ", s)
			}
		}
	})
}

func BenchmarkMatchAll(b *testing.B) {
	doc := parse(b, strings.Repeat(page, 20))
	const selector = "div#a > p.x, section p[data-k^=A], ul.list li:first-child"
	ours, theirs := css.MustCompile(selector), cascadia.MustCompile(selector)
	b.Run("css", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			ours.MatchAll(doc)
		}
	})
	b.Run("cascadia", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			theirs.MatchAll(doc)
		}
	})
}
