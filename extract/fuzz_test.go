package extract

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/net/html"
)

func addPages(f *testing.F, add func(page []byte)) {
	f.Helper()
	r := newRand()
	for range 50 {
		add(generate(r, 1+r.IntN(30), pieces))
	}
	for _, p := range pieces {
		add([]byte(p))
	}
	add(catalogPage())
}

// FuzzScan holds that a page is scanned without a panic, and to the same result however it is cut into pieces.
func FuzzScan(f *testing.F) {
	addPages(f, func(page []byte) { f.Add(page, uint8(60)) })
	f.Fuzz(func(t *testing.T, page []byte, window uint8) {
		compareStream(t, page, 16+int(window))
		for _, l := range inWindows(t, page, Window).Links {
			if !utf8.ValidString(l.URL) || !strings.HasPrefix(l.URL, "http") || strings.Contains(l.URL, "#") {
				t.Errorf("link %q", l.URL)
			}
		}
	})
}

// FuzzLinksEqualTree holds that the links of a page are those of its tree.
func FuzzLinksEqualTree(f *testing.F) {
	addPages(f, func(page []byte) { f.Add(page) })
	f.Fuzz(func(t *testing.T, page []byte) { compareWithTree(t, page) })
}

// FuzzDocument holds that any page has a tree, that no selector panics, and that what is flattened fits the parser.
func FuzzDocument(f *testing.F) {
	addPages(f, func(page []byte) { f.Add(page, "a[href]", uint8(0)) })
	f.Add([]byte("<div><b>"), ":not(p) > a:nth-child(2n+1)", uint8(200))
	f.Fuzz(func(t *testing.T, page []byte, selector string, times uint8) {
		page = slices.Concat(slices.Repeat(page[:min(len(page), 40)], 4*int(times)), page)
		d := NewDocument(page, DocumentOptions{URL: testPage})
		if _, err := d.Tree(); err != nil {
			t.Errorf("no tree: %v", err)
		}
		if s, err := d.Find(selector); (s == nil) == (err == nil) {
			t.Errorf("selector %q: %v, %v", selector, s, err)
		}
		if _, err := d.Hints(WantAll); err != nil {
			t.Error(err)
		}
		if _, err := parseTree(flatten(page, len(page))); err != nil {
			t.Errorf("flattened: %v", err)
		}
	})
}

// FuzzDecodeAttribute holds that attribute values are decoded as x/net/html decodes them.
func FuzzDecodeAttribute(f *testing.F) {
	for _, s := range []string{"a&amp;b", "&copy=1&copy", "&notit;&not;&semi;&#x41;&#0;&#xD800;&#999999999999;&#x;&#;&", "&NotEqualTilde;&CounterClockwiseContourIntegral;", "\x00\xff", "&lt=", "&lta", "&ampamp;"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, value string) {
		value = strings.NewReplacer(`"`, "", "\r", "").Replace(value)
		z := html.NewTokenizer(strings.NewReader(`<a href="` + value + `">`))
		if z.Next() != html.StartTagToken {
			t.Fatalf("%q is no value", value)
		}
		want := ""
		if attrs := z.Token().Attr; len(attrs) > 0 {
			want = attrs[0].Val
		}
		if got := string(appendDecoded(nil, []byte(value))); got != want {
			t.Errorf("%q: got %q, want %q", value, got, want)
		}
	})
}

// FuzzHeader holds that no header panics and that the links of one are links.
func FuzzHeader(f *testing.F) {
	f.Add(`</a>; rel="next"; title="x\"", <b>; rel=prev`, "seine: noindex, max-snippet: 3", "5; url='x'")
	f.Add(`<a>;rel`, "unavailable_after: Wed, 1 Jan 2025 00:00:00 GMT", ".")
	f.Fuzz(func(t *testing.T, link, robots, refresh string) {
		h, err := Scan(nil, ScanOptions{URL: testPage, Want: WantAll, Header: map[string][]string{
			"Link": {link}, "X-Robots-Tag": {robots}, "Refresh": {refresh},
		}})
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range h.Links {
			if l.Kind != Header && l.Kind != Refresh || !strings.HasPrefix(l.URL, "http") {
				t.Errorf("link %+v", l)
			}
		}
	})
}
