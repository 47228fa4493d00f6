package extract

import (
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/seine-go/seine/internal/weburl"
)

// scanned scans a page at https://h/d/p and gives its links as "kind path" with "!" for nofollow.
func scanned(t *testing.T, page string, o ScanOptions) (*Hints, string) {
	t.Helper()
	if o.URL == "" {
		o.URL = "https://h/d/p"
	}
	h, err := Scan([]byte(page), o)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, l := range h.Links {
		s := l.Kind.String() + " " + strings.TrimPrefix(l.URL, "https://h")
		if l.NoFollow {
			s += "!"
		}
		out = append(out, s)
	}
	return h, strings.Join(out, ", ")
}

func TestScanLinks(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, page, want string }{
		{"kinds", `<a href=1><area href=2><iframe src=3></iframe><link rel=next href=4><meta http-equiv=refresh content="1;url=5">`, "anchor /d/1, area /d/2, frame /d/3, link /d/4, refresh /d/5"},
		{"twice", `<a href=1><a href=1>`, "anchor /d/1, anchor /d/1"},
		{"nofollow", `<a rel=nofollow href=1><area rel="x NOFOLLOW" href=2><a rel=nofollowed href=3>`, "anchor /d/1!, area /d/2!, anchor /d/3"},
		{"fragment and empty", `<a href="#x"><a href=""><a href><a name=x>`, "anchor /d/p, anchor /d/p, anchor /d/p"},
		{"first of two attributes", `<a href=1 HREF=2>`, "anchor /d/1"},
		{"quotes", `<a href='a"b'><a href="a'b"><a href=a"b>`, "anchor /d/a%22b, anchor /d/a'b, anchor /d/a%22b"},
		{"tag in a value", `<p title="<a href=1>"><a href=2 title='>'>`, "anchor /d/2"},
		{"cut tag", `<a href=1><a href=2`, "anchor /d/1"},
		{"cut value", `<a href=1><a href="2>`, "anchor /d/1"},
		{"references", `<a href="?a&amp;b&lt;&copy=1&copy;&notit;&#x41;&#66&AMPc">`, "anchor /d/p?a&b%3C&copy=1%C2%A9&notit;AB&AMPc"},
		{"upper case", `<A HREF=1><IFRAME SRC=2></IFRAME><A REL=NoFollow HREF=3>`, "anchor /d/1, frame /d/2, anchor /d/3!"},
		{"raw text", `<script>"<a href=1>"</script><style><a href=2></style><textarea><a href=3></textarea><title><a href=4></title><xmp><a href=5></xmp><noembed><a href=6></noembed><noframes><a href=7></noframes><iframe><a href=8></iframe><a href=9>`, "anchor /d/9"},
		{"noscript is markup", `<head><noscript><link rel=next href=1></noscript></head><noscript><a href=2></noscript>`, "link /d/1, anchor /d/2"},
		{"template", `<template><a href=1></template><a href=2>`, "anchor /d/1, anchor /d/2"},
		{"columns in a template", `<template><col><a href=1></template><a href=2>`, "anchor /d/2"},
		{"plaintext", `<a href=1><plaintext></plaintext><a href=2>`, "anchor /d/1"},
		{"comments", `<!--<a href=1>--><!--><a href=2><!---><a href=3><!--x--!><a href=4><!x><a href=5><?x <a href=6>><a href=7></ <a href=8>><a href=9>`, "anchor /d/2, anchor /d/3, anchor /d/4, anchor /d/5, anchor /d/7, anchor /d/9"},
		{"script escapes", `<script><!-- <script> </script> <a href=1> --></script><a href=2><script><!--</script><a href=3>`, "anchor /d/2, anchor /d/3"},
		{"script escape by the standard", `<script><!-- 1 < 2 <script></script> <a href=1> --></script><a href=2>`, "anchor /d/2"},
		{"svg", `<svg><a href=1 /><a xlink:href=2 /><title>x</title><style><a href=3></a></style><link rel=next href=4 /></svg><a xlink:href=5><a href=6>`, "anchor /d/1, anchor /d/2, anchor /d/3, anchor /d/6"},
		{"html in the title of svg", `<svg><title><b></title><style><a href=1></a></style><iframe src=2>`, "frame /d/2"},
		{"cdata", `<![CDATA[<a href=1>]]><svg><![CDATA[<a href=2>]]></svg><a href=3>`, "anchor /d/3"},
		{"math", `<math><a href=1></a><mi>x</mi><iframe src=2></iframe></math><iframe src=3>`, "frame /d/3"},
		{"html in svg", `<svg><foreignObject><p><iframe src=1></iframe></foreignObject><a href=2></p></foreignObject><iframe src=3></iframe></svg>`, "frame /d/1, anchor /d/2"},
		{"svg left open", `<div><svg><path></div><iframe src=1></iframe>`, "frame /d/1"},
		{"svg left by a paragraph", `<svg></p><iframe src=1></iframe>`, "frame /d/1"},
		{"frames", `<frameset><frame src=1><noframes><a href=2></noframes></frameset>`, "frame /d/1"},
		{"frame elsewhere", `<p><frame src=1>`, ""},
		{"iframe without src", `<iframe src=""></iframe><iframe></iframe>`, ""},
		{"link rels", `<link rel=stylesheet href=1><link rel="icon" href=2><link rel=preload href=3><link rel="alternate stylesheet" href=4><link rel=alternate href=5><link rel=alternate type=application/json href=6><link rel=help href=7><link rel=prev href=8><link href=9><link rel=next href="">`, "link /d/5, link /d/7, link /d/8"},
		{"other hosts", `<a href=//o/x><a href=http://o><a href=ftp://o/>`, "anchor https://o/x, anchor http://o/"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if _, got := scanned(t, test.page, ScanOptions{}); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestScanHints(t *testing.T) {
	t.Parallel()
	header := func(fields ...string) http.Header {
		h := http.Header{}
		for i := 0; i < len(fields); i += 2 {
			h.Add(fields[i], fields[i+1])
		}
		return h
	}
	tests := []struct {
		name   string
		page   string
		header http.Header
		got    func(*Hints) any
		want   any
	}{
		{"canonical of header first", `<link rel=canonical href=/b>`, header("Link", `</a>; rel=canonical`), func(h *Hints) any { return h.Canonical }, "https://h/a"},
		{"first canonical", `<link rel=canonical href=/a><link rel=canonical href=/b>`, nil, func(h *Hints) any { return h.Canonical }, "https://h/a"},
		{"canonical that is no URL", `<link rel=canonical href="http://[x"><link rel=canonical href=/b>`, nil, func(h *Hints) any { return h.Canonical }, "https://h/b"},
		{"next and prev of anchors", `<a rel=next href=2><a rel=prev href=0>`, nil, func(h *Hints) any { return h.Next + " " + h.Prev }, "https://h/d/2 https://h/d/0"},
		{"link header", "", header("Link", `<a>; rel="x\"y\ next", , <b>;rel=prev;rel=next, <c>; title="a, <b>; rel=next"; rel=up , <d>; anchor="/x"; rel=next`, "Link", "junk"), func(h *Hints) any { return fmt.Sprint(h.Next, " ", h.Prev, len(h.Links)) }, "https://h/d/a https://h/d/b3"},
		{"header knows no base", `<base href=/b/>`, header("Link", "<x>; rel=next"), func(h *Hints) any { return h.Next }, "https://h/d/x"},
		{"refresh", `<meta http-equiv=refresh content=" 007 ; URL = &quot;/n&quot;x">`, nil, func(h *Hints) any { return *h.Refresh }, RefreshHint{7, "https://h/n"}},
		{"refresh without url=", `<meta http-equiv=refresh content="0 /n">`, nil, func(h *Hints) any { return *h.Refresh }, RefreshHint{0, "https://h/n"}},
		{"refresh of a url named so", `<meta http-equiv=refresh content="0;urlx">`, nil, func(h *Hints) any { return *h.Refresh }, RefreshHint{0, "https://h/d/urlx"}},
		{"refresh beyond count", `<meta http-equiv=refresh content="99999999999999999999;x">`, nil, func(h *Hints) any { return *h.Refresh }, RefreshHint{maxSeconds, "https://h/d/x"}},
		{"refresh, bad", `<meta http-equiv=refresh content="x;y"><meta http-equiv=refresh content="1x"><meta http-equiv=refresh content="">`, nil, func(h *Hints) any { return h.Refresh }, (*RefreshHint)(nil)},
		{"first refresh", `<meta http-equiv=refresh content="1;a"><meta http-equiv=refresh content="2;b">`, nil, func(h *Hints) any { return h.Refresh.Seconds }, 1},
		{"refresh of header", `<meta http-equiv=refresh content="1;a">`, header("Refresh", "3; /h"), func(h *Hints) any { return *h.Refresh }, RefreshHint{3, "https://h/h"}},
		{"refresh to a script", `<meta http-equiv=refresh content="1;javascript:x">`, nil, func(h *Hints) any { return h.Refresh }, (*RefreshHint)(nil)},
		{"robots of all and of us", `<meta name=robots content="noindex, INDEX"><meta name=SEINE content="nofollow noarchive"><meta name=otherbot content=none>`, nil, func(h *Hints) any { return fmt.Sprint(h.Robots, h.NoIndex, h.NoFollow) }, "[noindex nofollow noarchive] true true"},
		{"none", `<meta name=robots content=none>`, nil, func(h *Hints) any { return fmt.Sprint(h.Robots, h.NoIndex, h.NoFollow) }, "[none] true true"},
		{"robots header", "", header("X-Robots-Tag", "noimageindex", "X-Robots-Tag", "otherbot: noindex, nofollow", "X-Robots-Tag", "Seine: noarchive, max-snippet: 20, otherbot: none"), func(h *Hints) any { return fmt.Sprintf("%q %v %v", h.Robots, h.NoIndex, h.NoFollow) }, `["noimageindex" "noarchive" "max-snippet: 20"] false false`},
		{"robots header with dates", "", header("X-Robots-Tag", "unavailable_after: Wed, 03 Dec 2025 13:09:53 GMT, nofollow", "X-Robots-Tag", "unavailable_after: 25 Jun 2010 15:00:00 PST; noindex"), func(h *Hints) any { return fmt.Sprintf("%q", h.Robots) }, `["unavailable_after: wed, 03 dec 2025 13:09:53 gmt" "nofollow" "unavailable_after: 25 jun 2010 15:00:00 pst" "noindex"]`},
		{"usage", `<meta name=TDM-Policy content=" https://h/p ">`, header("TDM-Reservation", "1", "Content-Usage", "train-ai=n"), func(h *Hints) any { return h.Usage }, []string{"tdm-reservation: 1", "content-usage: train-ai=n", "tdm-policy: https://h/p"}},
		{"images", `<img src=a srcset="b 1x, c,d 2x,, e 1w(,)h, a"><picture><source srcset=f></picture><image src=g><img data-srcset="h 2x" data-original=i data-lazy-src=j src=data:x><source src=k><svg><image src=l></svg>`, nil, func(h *Hints) any { return strings.ReplaceAll(strings.Join(h.Images, ""), "https://h/d/", "") }, "abc,defghij"},
		{"feeds", `<link rel=alternate type="application/ATOM+xml; x" href=a><link rel=alternate type=application/rss+xml href=a><link rel=feed href=b>`, nil, func(h *Hints) any { return fmt.Sprint(h.Feeds, len(h.Links)) }, "[https://h/d/a https://h/d/b] 0"},
		{"alternates", `<link rel=alternate hreflang=de href=de><link rel=alternate hreflang=de href=x>`, header("Link", `<fr>; rel=alternate; hreflang="fr"`), func(h *Hints) any { return h.Alternates }, map[string]string{"de": "https://h/d/de", "fr": "https://h/d/fr"}},
		{"magnets", "<a href=' MagNet:?xt=a\tb&amp;dn=c '><area href=magnet:y><link rel=next href=magnet:z>", nil, func(h *Hints) any { return h.Magnets }, []string{"MagNet:?xt=ab&dn=c", "magnet:y"}},
		{"base", `<a href=x><base href=/b/>`, nil, func(h *Hints) any { return h.Base + " " + h.Links[0].URL }, "https://h/b/ https://h/b/x"},
		{"base of another scheme", `<base href=data:x><a href=x>`, nil, func(h *Hints) any { return h.Base + h.Links[0].URL }, "https://h/d/x"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			h, _ := scanned(t, test.page, ScanOptions{Header: test.header, Want: WantAll})
			if got := test.got(h); !reflect.DeepEqual(got, test.want) {
				t.Errorf("got  %#v\nwant %#v", got, test.want)
			}
		})
	}
}

func TestScanWantsNothingByItself(t *testing.T) {
	t.Parallel()
	h, _ := scanned(t, `<img src=a><link rel=alternate type=application/rss+xml href=a><link rel=alternate hreflang=de href=b>`, ScanOptions{})
	if h.Images != nil || h.Feeds != nil || h.Alternates != nil || len(h.Links) != 1 {
		t.Errorf("%+v", h)
	}
}

func TestScanEncodesQueries(t *testing.T) {
	t.Parallel()
	h, _ := scanned(t, `<a href="?q=片">`, ScanOptions{Encoding: "gbk"})
	if want := "https://h/d/p?q=%C6%AC"; h.Links[0].URL != want {
		t.Errorf("got %s, want %s", h.Links[0].URL, want)
	}
}

func TestScanNeedsAURL(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"", "/x", "http://user:secret@[/"} {
		_, err := Scan(nil, ScanOptions{URL: url})
		var e *weburl.Error
		if !errors.Is(err, ErrURL) || !errors.As(err, &e) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", url, err)
		}
		if _, err = ScanReader(strings.NewReader(""), ScanOptions{URL: url}, func(Link) bool { return true }); !errors.Is(err, ErrURL) {
			t.Errorf("%q: %v", url, err)
		}
	}
}

func TestPageOfTagsStaysLinear(t *testing.T) {
	t.Parallel()
	for name, page := range map[string]string{
		"open svg":       strings.Repeat("<svg>", 200_000),
		"formatting":     strings.Repeat("<b><p>", 100_000),
		"svg formatting": "<svg></p>" + strings.Repeat("<b x=1><i><p>", 50_000),
		"many fonts":     "<svg></p>" + manyFonts(500) + strings.Repeat("<p>x", 50_000),
		"open templates": "<svg></p>" + strings.Repeat("<template>", 100_000),
		"open objects":   "<svg></p>" + strings.Repeat("<object>", 100_000),
		"end tags":       strings.Repeat("<svg></x>", 100_000),
		"references":     "<a href='" + strings.Repeat("&#x41;&", 100_000) + "'>",
		"attributes":     "<svg></p><b " + strings.Repeat("a ", 200_000) + ">",
		"left angles":    strings.Repeat("<", 1_000_000),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if h, _ := scanned(t, page, ScanOptions{}); h == nil {
				t.Error("no hints")
			}
		})
	}
}

func manyFonts(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "<font x=%d>", i)
	}
	return b.String()
}

func TestScanIsForManyGoroutines(t *testing.T) {
	t.Parallel()
	page := catalogPage()
	want, _ := Scan(page, ScanOptions{URL: testPage, Want: WantAll})
	done := make(chan *Hints)
	for range 8 {
		go func() {
			var h *Hints
			for range 20 {
				h, _ = Scan(page, ScanOptions{URL: testPage, Want: WantAll})
			}
			done <- h
		}()
	}
	for range 8 {
		if h := <-done; !reflect.DeepEqual(h, want) {
			t.Errorf("got %+v", h)
		}
	}
}

func TestKindNames(t *testing.T) {
	t.Parallel()
	if got := fmt.Sprint(Anchor, Area, LinkElement, Frame, Refresh, Header, LinkKind(99)); got != "anchor area link frame refresh header LinkKind(99)" {
		t.Error(got)
	}
}

// A label that nobody knows is an error of the page's scan too, in whatever way it is scanned.
func TestScanRefusesUnknownEncodings(t *testing.T) {
	t.Parallel()
	for _, label := range []string{"nope", "replacement", "utf-9", " ", strings.Repeat("x", 1000), "iso-2022-kr"} {
		var e *EncodingError
		o := ScanOptions{URL: "http://h/", Encoding: label}
		if h, err := Scan([]byte("<a href=x>"), o); !errors.As(err, &e) || h != nil {
			t.Errorf("%.20q: %v", label, err)
		}
		if h, err := ScanReader(strings.NewReader("<a href=x>"), o, func(Link) bool { return true }); !errors.As(err, &e) || h != nil {
			t.Errorf("%.20q: %v", label, err)
		}
		if _, err := ScanReader(nil, o, nil); err == nil {
			t.Error("a nil reader is read")
		}
		if _, err := NewDocument([]byte("x"), DocumentOptions{URL: "http://h/", Encoding: label}).Hints(0); !errors.As(err, &e) {
			t.Errorf("%.20q: %v", label, err)
		}
	}
	for _, label := range []string{"UTF-8", " Windows-1252 ", "GB2312", "latin1"} {
		if h, err := Scan([]byte("<a href=x?é>"), ScanOptions{URL: "http://h/", Encoding: label}); err != nil || len(h.Links) != 1 {
			t.Errorf("%q: %v", label, err)
		}
	}
}
