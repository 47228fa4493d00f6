package extract

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
)

func TestMailScriptAndDataGiveNoLink_K016(t *testing.T) {
	t.Parallel()
	page := `<a href=mailto:a@b><a href="JAVASCRIPT:void(0)"><a href=" tel:1"><a href=data:,x><a href="java
	script:x"><a href=sms:1><a href=blob:x><a href=about:blank><a href=view-source:http://x/><iframe src=javascript:x></iframe>
	<area href=mailto:x><meta http-equiv=refresh content="0;mailto:x"><link rel=next href=data:x><svg><a xlink:href=mailto:x></svg><a href=x>`
	h, got := scanned(t, page, ScanOptions{})
	if got != "anchor /d/x" || len(h.Skipped) > 0 {
		t.Errorf("links %s, skipped %v", got, h.Skipped)
	}
}

func TestOddReferencesAreParsedAsBrowsersDo_K129(t *testing.T) {
	t.Parallel()
	_, got := scanned(t, "<a href=' /s\tp?q=тест'><a href='/a%=u'><a href='/%fG'><a href='/%u002e'><a href='/a b\n\r'><a href='/%25'><a href='a:b'><a href='./a:b'>", ScanOptions{})
	want := "anchor /sp?q=%D1%82%D0%B5%D1%81%D1%82, anchor /a%=u, anchor /%fG, anchor /%u002e, anchor /a%20b, anchor /%25, anchor /d/a:b"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestFirstBaseCountsAndIsNoLink_K130(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ page, want string }{
		{`<base href="../base/"><base href="/other/"><a href=x>`, "anchor /base/x"},
		{`<base target=_top><base href="b/"><a href=x>`, "anchor /d/b/x"},
		{`<base href="http://[x"><base href=/b/><a href=x>`, "anchor /d/x"},
		{`<a href=x><base href=/b/>`, "anchor /b/x"},
		{`<body><div><base href=/b/></div><a href=x>`, "anchor /b/x"},
		{`<base href=""><a href=x>`, "anchor /d/x"},
		{`<base href="?q"><a href=x>`, "anchor /d/x"},
		{`<base href="//o"><a href=x>`, "anchor https://o/x"},
	} {
		if _, got := scanned(t, test.page, ScanOptions{}); got != test.want {
			t.Errorf("%s: got %s, want %s", test.page, got, test.want)
		}
	}
}

func TestBadReferencesDoNotLoseTheOthers_K131(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 64<<10)
	page := "<a href=1><a href=http://a_b/><a href=//><a href=http:///x><a href=http://bücher.example/><a href='/" + long + "'><a href='/\x00'><a href='http://a\x00b/'><a href=http://h:99999/><a href=http://u:p@[x/><a href=2>"
	h, got := scanned(t, page, ScanOptions{})
	want := "anchor /d/1, anchor http://a_b/, anchor http://x/, anchor http://xn--bcher-kva.example/, anchor /%EF%BF%BD, anchor /d/2"
	if got != want {
		t.Errorf("got  %.400s\nwant %s", got, want)
	}
	if len(h.Skipped) != 5 {
		t.Errorf("skipped %v", h.Skipped)
	}
	for _, s := range h.Skipped {
		if s.Reason == "" || len(s.Ref) > maxSkipRef+3 || strings.Contains(s.Ref, "u:p") {
			t.Errorf("skip %q", s)
		}
	}
	if _, got = scanned(t, "<a href='"+long[len("https://h/"):]+"'>", ScanOptions{URL: "https://h/"}); len(got) != len("anchor /")+64<<10-len("https://h/") {
		t.Errorf("a URL of 64 KiB gave %.40s (%d)", got, len(got))
	}
}

// hugePage is a page of a number of links, 200 bytes each, that exists in no memory.
type hugePage struct {
	links, next int
	rest        []byte
}

func (p *hugePage) Read(b []byte) (int, error) {
	n := 0
	for n < len(b) {
		if len(p.rest) == 0 {
			if p.next == p.links {
				break
			}
			p.rest = fmt.Appendf(p.rest[:0], "<p>%0153d<a class=x href=\"/film/%09d\">a film</a>\n", 0, p.next)
			p.next++
		}
		m := copy(b[n:], p.rest)
		p.rest = p.rest[m:]
		n += m
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

func TestHugePageIsReadAsAStream_K132(t *testing.T) {
	links := 1_000_000
	if testing.Short() || raceEnabled {
		links = 50_000
	}
	o := ScanOptions{URL: "https://h/"}
	var before, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	n, peak := 0, uint64(0)
	o.MaxLinks = -1
	h, err := ScanReader(&hugePage{links: links}, o, func(l Link) bool {
		if n%10_000 == 0 {
			runtime.ReadMemStats(&now)
			peak = max(peak, now.HeapAlloc)
		}
		if want := fmt.Sprintf("https://h/film/%09d", n); l.URL != want {
			t.Fatalf("link %d is %s", n, l.URL)
		}
		n++
		return true
	})
	if err != nil || n != links || h.LinksCut != 0 {
		t.Fatalf("%d links, %d cut, %v", n, h.LinksCut, err)
	}
	if used := int64(peak) - int64(before.HeapAlloc); used > 24<<20 {
		t.Errorf("%d bytes are in use for a page of %d", used, links*200)
	}
	n, o.MaxLinks = 0, 0
	h, err = ScanReader(&hugePage{links: links}, o, func(Link) bool { n++; return true })
	if err != nil || n != DefaultMaxLinks || h.LinksCut != links-DefaultMaxLinks {
		t.Errorf("%d links, %d cut, %v", n, h.LinksCut, err)
	}
}
