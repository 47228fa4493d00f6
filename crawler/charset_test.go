package crawler_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/simplifiedchinese"

	"github.com/seine-go/seine/crawler"
	"github.com/seine-go/seine/extract"
	"github.com/seine-go/seine/fetch"
)

const (
	chineseTitle = "让子弹飞的电影介绍"
	chinesePage  = "<title>" + chineseTitle + "</title><a href='/电影?q=电'>x</a>"
	linkOfUTF8   = "/%E7%94%B5%E5%BD%B1?q=%E7%94%B5"
	linkOfGBK    = "/%E7%94%B5%E5%BD%B1?q=%B5%E7"
)

func inGBK(t *testing.T, s string) string {
	t.Helper()
	out, err := simplifiedchinese.GBK.NewEncoder().String(s)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// decoded crawls a page, which comes in chunks, and compares its title and its one link.
func decoded(t *testing.T, contentType, body, title, link string) {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.(http.Flusher).Flush()
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
		if got := page.Text("title"); got != title {
			t.Errorf("%s: title %q, %+v", contentType, got, page.Document().Encoding())
		}
		if link != "" && (len(page.Links()) != 1 || page.Links()[0].URL != srv.URL+link) {
			t.Errorf("%s: links %+v", contentType, page.Links())
		}
	}
}

func TestMetaSaysTheEncoding_K123(t *testing.T) {
	t.Parallel()
	decoded(t, "text/html", inGBK(t, "<meta charset=gb2312>"+chinesePage), chineseTitle, linkOfGBK)
}

func TestBytesDecideBetweenDeclarations_K124(t *testing.T) {
	t.Parallel()
	decoded(t, "text/html", "<meta charset=gb2312>"+chinesePage, chineseTitle, linkOfUTF8)
	decoded(t, "text/html; charset=utf-8", inGBK(t, "<meta charset=gbk>"+chinesePage), chineseTitle, linkOfGBK)
	decoded(t, "text/html; charset=utf-8", chinesePage, chineseTitle, linkOfUTF8)
}

func TestUndeclaredEncodingIsDetected_K125(t *testing.T) {
	t.Parallel()
	const title = "Человек с киноаппаратом, фильм о городе и людях"
	body, err := charmap.Windows1251.NewEncoder().String("<title>" + title + "</title>")
	if err != nil {
		t.Fatal(err)
	}
	decoded(t, "text/html", body, title, "")
}

func TestHeaderOfTheResponseSaysTheEncoding_K126(t *testing.T) {
	t.Parallel()
	decoded(t, "text/html; charset=gbk", inGBK(t, chinesePage), chineseTitle, linkOfGBK)
}

// TestCharsetOfTheRequestCounts has a middleware that knows better than the hosts, which lie about what they send.
func TestCharsetOfTheRequestCounts(t *testing.T) {
	t.Parallel()
	body := inGBK(t, "<title>短</title><a href='/电影?q=电'>x</a>")
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(body))
	}))
	defer srv.Close()
	eng, err := crawler.New(crawler.Config{AllowPrivate: true, IgnoreRobots: true, Spacing: -1, Middleware: []fetch.Middleware{
		func(next fetch.Fetcher) fetch.Fetcher {
			return fetch.FetcherFunc(func(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
				req = req.Clone()
				req.Charset = "gb2312"
				return next.Fetch(ctx, req)
			})
		},
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close()
	for page, err := range eng.Pages(t.Context(), srv.URL) {
		if err != nil {
			t.Fatal(err)
		}
		links := page.Links()
		if page.Text("title") != "短" || len(links) != 1 || !strings.HasSuffix(links[0].URL, linkOfGBK) {
			t.Errorf("%q %v", page.Text("title"), links)
		}
		if doc, resp := page.Document().Encoding(), page.Response.Charset(); doc != extract.Encoding(resp) || resp.Source != "caller" {
			t.Errorf("%+v, %+v", doc, resp)
		}
	}
}
