package crawler_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/seine-go/seine/crawler"
	"github.com/seine-go/seine/fetch"
)

// crawledLinks crawls one page, which comes with the type, and returns whether it is HTML and how many links it has.
func crawledLinks(t *testing.T, contentType, body string) (html bool, links int) {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Type"] = nil // net/http would guess one
		if contentType != "" {
			w.Header().Set("Content-Type", contentType)
		}
		_, _ = w.Write([]byte(body))
	}))
	defer srv.Close()
	eng, err := crawler.New(crawler.Config{AllowPrivate: true, IgnoreRobots: true, Spacing: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close()
	for page, err := range eng.Pages(t.Context(), srv.URL) {
		if err != nil {
			t.Fatal(err)
		}
		return page.IsHTML(), len(page.Links())
	}
	t.Fatal("no page")
	return false, 0
}

// TestPagesWithoutTypeAreRecognised_K127 is about pages that come without a type, and types that only sound like markup.
func TestPagesWithoutTypeAreRecognised_K127(t *testing.T) {
	t.Parallel()
	const link = "<a href=/x>x</a>"
	for _, c := range []struct {
		name, contentType, body string
		html                    bool
	}{
		{"comment", "", "<!-- saved -->" + link, true},
		{"comment without blanks", "", "<!--x--><html>" + link, true},
		{"conditional comment", "", "\r\n<!--[if IE]><p><![endif]-->\n<!doctype html>" + link, true},
		{"long comment", "", "<!--" + strings.Repeat("x", 4000) + "-->" + link, true},
		{"several, and a mark", "", "\ufeff <!--a--><!--b--> <META charset=utf-8>" + link, true},
		{"XHTML", "", `<?xml version="1.0"?><!DOCTYPE HTML PUBLIC "x">` + link, true},
		{"a fragment", "", link, true},
		{"blank type", " ; charset=utf-8", "<!--x-->" + link, true},
		{"comment before XML", "", "<!-- feed --><rss>" + link + "</rss>", false},
		{"XML", "", `<?xml version="1.0"?><urlset>` + link + "</urlset>", false},
		{"text", "", "a < b, see " + link, false},
		{"bytes", "", "\x89PNG\r\n\x1a\n" + link, false},
		{"a spreadsheet", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "<!-- x -->" + link, false},
		{"another one", "application/vnd.ms-excel.sheet.macroEnabled.12; charset=utf-8", "<html>" + link, false},
		{"XML by type", "application/xml", "<!-- x --><html>" + link, false},
	} {
		links := 0
		if c.html {
			links = 1
		}
		if html, n := crawledLinks(t, c.contentType, c.body); html != c.html || n != links {
			t.Errorf("%s: HTML %v with %d links", c.name, html, n)
		}
	}
	// A type that holds "xml" somewhere is not decoded as XML either.
	const declared = `<?xml version="1.0" encoding="gbk"?>`
	sheet := &fetch.Response{Header: http.Header{"Content-Type": {"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"}}, Body: []byte("PK\x03\x04")}
	if got := sheet.Charset(); got.Source != "default" || got.Name != "windows-1252" {
		t.Errorf("a spreadsheet: %+v", got)
	}
	if got := (&fetch.Response{Body: []byte(declared)}).Charset(); got.Source != "xml" {
		t.Errorf("XML without a type: %+v", got)
	}
}

func TestSniffingIsBounded(t *testing.T) {
	t.Parallel()
	const bound = 16 << 10
	for _, c := range []struct {
		filler int
		want   bool
	}{{bound - len("<p>"), true}, {bound, false}} {
		p := &crawler.Page{Response: &fetch.Response{Body: fmt.Appendf(nil, "%*s<p>", c.filler, "")}}
		if got := p.IsHTML(); got != c.want {
			t.Errorf("behind %d blanks: %v", c.filler, got)
		}
	}
}
