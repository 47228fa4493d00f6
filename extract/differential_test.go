package extract

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seine-go/seine/internal/weburl"
	"golang.org/x/net/html"
)

const testPage = "http://page.test/dir/doc?q=1"

// treeLinks finds the links of a tree by itself: nothing of the link pass is used. They come sorted and each once, since
// the tree orders and repeats elements in its own way.
func treeLinks(root *html.Node) []string {
	page, _ := weburl.Parse(testPage)
	base := page
	haveBase := false
	var refs [][3]string // reference, kind, nofollow
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		attrs := map[string]string{}
		for _, a := range n.Attr {
			attrs[strings.TrimPrefix(a.Namespace+":"+a.Key, ":")] = a.Val
		}
		href, hasHref := attrs["href"]
		noFollow := "follow"
		if slices.Contains(strings.FieldsFunc(strings.ToLower(attrs["rel"]), isBlankRune), "nofollow") {
			noFollow = "nofollow"
		}
		switch n.Namespace + ":" + n.Data {
		case ":a", ":area":
			if hasHref {
				refs = append(refs, [3]string{href, map[string]string{"a": "anchor", "area": "area"}[n.Data], noFollow})
			}
		case "svg:a":
			if !hasHref {
				href, hasHref = attrs["xlink:href"]
			}
			if hasHref {
				refs = append(refs, [3]string{href, "anchor", noFollow})
			}
		case ":iframe", ":frame":
			if src := attrs["src"]; src != "" {
				refs = append(refs, [3]string{src, "frame", "follow"})
			}
		case ":link":
			// What a rel means is a matter of its value, not of the markup: that is tested elsewhere.
			r := parseRels([]byte(attrs["rel"]))
			leads := r.roles()&roleLink != 0 || r&relAlternate != 0 && r&relStylesheet == 0 && kindOfType([]byte(attrs["type"])) == typePage
			if leads && href != "" {
				refs = append(refs, [3]string{href, "link", noFollow})
			}
		case ":meta":
			if _, url, ok := parseRefresh([]byte(attrs["content"])); ok && url != nil && strings.EqualFold(attrs["http-equiv"], "refresh") {
				refs = append(refs, [3]string{string(url), "refresh", "follow"})
			}
		case ":base":
			if hasHref && !haveBase {
				haveBase = true
				if u, err := page.Resolve(href); err == nil && u.Scheme() != "data" && u.Scheme() != "javascript" {
					base = u
				}
			}
		}
	}
	var links []string
	for _, r := range refs {
		if u, err := base.Resolve(r[0]); err == nil && u.IsHTTP() {
			links = append(links, r[1]+" "+u.WithoutFragment().Href()+" "+r[2])
		}
	}
	slices.Sort(links)
	return slices.Compact(links)
}

func isBlankRune(c rune) bool { return strings.ContainsRune(" \t\n\r\f", c) }

// scanLinks gives the links of the link pass in the same form.
func scanLinks(t testing.TB, page []byte) []string {
	h, err := Scan(page, ScanOptions{URL: testPage, MaxLinks: -1})
	if err != nil {
		t.Fatal(err)
	}
	var links []string
	for _, l := range h.Links {
		noFollow := "follow"
		if l.NoFollow {
			noFollow = "nofollow"
		}
		links = append(links, l.Kind.String()+" "+l.URL+" "+noFollow)
	}
	slices.Sort(links)
	return slices.Compact(links)
}

// explain says why the link pass may differ from the tree of a page; empty when it may not.
func explain(page []byte) string {
	switch {
	case frameset.Match(page):
		// A frameset that comes early takes the place of the body: the tree then has nothing but frames, of which a page
		// without frames has none. The link pass keeps what else it finds.
		return "frameset"
	case slashInValue.Match(page):
		// <path a=1 a=z/>: the tokenizer of x/net/html takes the slash for that of a self-closing tag, because the
		// attribute it belongs to is a duplicate that it has dropped. In the standard it is part of a value.
		return "slash in value"
	case movedBase.Match(page):
		// A second base that stands in a table is moved before it, and may come before the first.
		return "two bases and a table"
	case templateInForeign.Match(page):
		// x/net/html throws away what follows a template in HTML in foreign content ("just ignore the rest of the HTML").
		// The standard and browsers do not.
		return "template in svg or math"
	case scriptEscape.Match(page):
		// In an escaped script, the tokenizer of x/net/html falls out of the escape at a "<" before what is neither a
		// letter nor a slash, and then does not see that "<script" escapes doubly. The standard has it go on (13.2.5.23).
		return "script escape"
	}
	return ""
}

var (
	frameset          = regexp.MustCompile(`(?i)<frameset`)
	slashInValue      = regexp.MustCompile(`(?is)<[^>]*=[^>"']*=[^\s>"']*/>`)
	movedBase         = regexp.MustCompile(`(?is)<table.*<base[^>]*href.*<base[^>]*href`)
	templateInForeign = regexp.MustCompile(`(?is)<(svg|math).*<template`)
	scriptEscape      = regexp.MustCompile(`(?is)<script.*<!--.*<[^a-z/].*<script`)
)

// compareWithTree reports an error where the links of a page are not those of its tree and nothing explains it. It
// returns the explanation where there is one, and how many links were compared.
func compareWithTree(t testing.TB, page []byte) (why string, links int) {
	t.Helper()
	got := scanLinks(t, page)
	root, err := parseTree(page)
	if err != nil {
		return "refused: nested deeper than 512", 0
	}
	want := treeLinks(root)
	if slices.Equal(got, want) {
		return "", len(got)
	}
	if why = explain(page); why == "" {
		t.Errorf("page %q\n link pass %q\n      tree %q", page, got, want)
	}
	return why, 0
}

// needsBuilder says whether more than the bytes is needed for the links of a page.
func needsBuilder(t testing.TB, page []byte) bool {
	s, err := newScanner(ScanOptions{URL: testPage}, Window, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.release()
	s.windows(page)
	return s.state == inDoubt
}

// pieces are what documents are made of. "#" becomes a number, so that links differ.
var pieces = strings.FieldsFunc(`<a href=#>|<a href="#" rel=nofollow>|<a href='/x/#'>|<A HREF=# href=dup#>|</a>|<a name=x href = "#">|<a/href=#/>|
<a href="a&amp;b=#">|<a href="a&copy=#">|<a href="a&copy;b&notit;#&#38;x&#x41;&#0;&#xD800;&#x80;">|<a href="q?a&lt=#&ltx&lt">|<a =href=# href=#>|<a href=#"x'>|<a "href"=# href>|<a href='mailto:#'>|<a href="JavaScript:#">|<a href="http://[#">|<a href=//h/#>|<a title=">" href=#>|<a title='<a href=#>'>|
<area href=#>|<link rel=next href=#>|<link rel=stylesheet href=#>|<base href=/base#/>|<base target=x>|<iframe src=#></iframe>|<iframe src=#>|</iframe>|<meta http-equiv=refresh content="0;url=#">|
<svg>|</svg>|<SVG/>|<svg a=b/>|<math>|</math>|<svg><a href=#>|<svg><a xlink:href=#>|<g>|</g>|<path/>|<path d=z/>|<path d=z d=y/>|<foreignObject>|</foreignobject>|<desc>|</desc>|<mi>|</mi>|<mtext>|</mtext>|
<annotation-xml>|<annotation-xml encoding=text/html>|</annotation-xml>|<mglyph>|<font color=x>|<font>|</font>|<title>|</title>|<style>|</style>|<![CDATA[<a href=#>]]>|<![CDATA[|]]>|<image src=x>|
<script>|</script>|<script>"<a href=#>"</script>|<!--|-->|--!>|<!-->|<!--->|<!-- <a href=#> -->|<?x <a href=#>|<!x>|<!DOCTYPE html>|<!doctype x PUBLIC "a>b">|</ x>|</>|<|<3|</|<!|
<textarea>|</textarea>|<xmp>|</xmp>|<noembed>|</noembed>|<noframes>|</noframes>|<noscript>|</noscript>|<plaintext>|<template>|</template>|<select>|</select>|<option>|<optgroup>|<input>|
<table>|</table>|<tr>|<td>|</td>|</tr>|<tbody>|<caption>|</caption>|<colgroup>|<col>|</colgroup>|<frameset>|<frame src=#>|</frameset>|<head>|</head>|<body>|</body>|<html>|</html>|
<div>|</div>|<p>|</p>|<b>|</b>|<i>|</i>|<nobr>|<span>|</span>|<ul>|<li>|</li>|</ul>|<h1>|</h1>|<br>|</br>|<hr>|<form>|</form>|<button>|</button>|<object>|</object>|<ruby>|<rt>|<dl>|<dt>|<img src=x>|<x-y>|</x-y>|
text| |`+"\x00|\r\n|<a\x00 href=#>|<a href=#\x00>|é|\xff|<a href=\"\r#\">|<a href=\" #\r x\ty \">|\f", func(c rune) bool { return c == '|' })

func newRand() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

// generate makes a document of n pieces.
func generate(r *rand.Rand, n int, all []string) []byte {
	var b bytes.Buffer
	for i := range n {
		b.WriteString(strings.ReplaceAll(strings.TrimPrefix(all[r.IntN(len(all))], "\n"), "#", fmt.Sprint(i)))
	}
	return b.Bytes()
}

// piecesWithout leaves pieces out that would end a document early or that are the subject of another list.
func piecesWithout(words ...string) []string {
	var out []string
	for _, p := range pieces {
		if !slices.ContainsFunc(words, func(w string) bool { return strings.Contains(strings.ToLower(p), w) }) {
			out = append(out, p)
		}
	}
	return out
}

func TestLinksEqualTree(t *testing.T) {
	t.Parallel()
	lists := [][]string{
		piecesWithout("<plaintext", "<frameset", "=y/>", "<base href", "<template"),
		piecesWithout("<plaintext", "<frameset", "=y/>", "<base href", "<!", "<template", "svg", "math", "<script", "<title", "<style", "<textarea", "<xmp", "<no"),
		piecesWithout("<plaintext", "<frameset", "=y/>", "<!--", "<template", "<table", "<t", "<ca", "<script", "<style", "<xmp", "<no", "<iframe"),
		piecesWithout("<frameset", "=y/>", "<base href", "svg", "math"),
		pieces,
	}
	starts := []string{"", "", "<!DOCTYPE html>", "<svg>", "<math><mi>", "<svg><foreignObject><p>", "<table><svg><desc>", "<p><b><svg><title>"}
	n := 40_000
	if testing.Short() || raceEnabled {
		n = 4_000
	}
	r := newRand()
	explained, compared, alone, links := map[string]int{}, 0, 0, 0
	for i := range n {
		page := slices.Concat([]byte(starts[r.IntN(len(starts))]), generate(r, 1+r.IntN(60), lists[i%len(lists)]))
		why, n := compareWithTree(t, page)
		if why != "" {
			explained[why]++
			continue
		}
		links += n
		if compared++; !needsBuilder(t, page) {
			alone++
		}
		if t.Failed() {
			return
		}
	}
	if compared < n*9/10 || alone < n/4 || links < n {
		t.Fatalf("compared %d of %d documents with %d links, %d without a builder: too few", compared, n, links, alone)
	}
	differ := 0
	for _, count := range explained {
		differ += count
	}
	fmt.Printf("shown first-crawl.5: link pass equals the tree on %d generated documents (%d explained differences)\n", n, differ)
	t.Logf("%d decided by the bytes alone, %d links; differences: %v", alone, links, explained)
}
