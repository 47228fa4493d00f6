package crawler_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/simplifiedchinese"

	"github.com/seine-go/seine/crawler"
)

// What a page says of its encoding counts as far as its bytes do not tell otherwise, for its text and for its links.
func TestPagesAreDecoded_K123_K124_K125_K126(t *testing.T) {
	t.Parallel()
	gbk := func(s string) string {
		out, err := simplifiedchinese.GBK.NewEncoder().String(s)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	russian, err := charmap.Windows1251.NewEncoder().String("Человек с киноаппаратом, фильм о городе и людях")
	if err != nil {
		t.Fatal(err)
	}
	const title, text = "让子弹飞的电影介绍", "<title>让子弹飞的电影介绍</title><a href='/电影?q=电'>x</a>"
	const inUTF8, inGBK = "/%E7%94%B5%E5%BD%B1?q=%E7%94%B5", "/%E7%94%B5%E5%BD%B1?q=%B5%E7"
	for name, c := range map[string]struct{ contentType, body, title, link string }{
		"meta":                 {"text/html", gbk("<meta charset=gb2312>" + text), title, inGBK},
		"meta that is wrong":   {"text/html", "<meta charset=gb2312>" + text, title, inUTF8},
		"header":               {"text/html; charset=gbk", gbk(text), title, inGBK},
		"header that is wrong": {"text/html; charset=utf-8", gbk("<meta charset=gbk>" + text), title, inGBK},
		"nothing":              {"text/html", "<title>" + russian + "</title>", "Человек с киноаппаратом, фильм о городе и людях", ""},
		"utf-8":                {"text/html; charset=utf-8", text, title, inUTF8},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", c.contentType)
				w.(http.Flusher).Flush() // chunked
				w.Write([]byte(c.body))
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
				if got := page.Text("title"); got != c.title {
					t.Errorf("title %q, %+v", got, page.Document().Encoding())
				}
				if c.link != "" && (len(page.Links()) != 1 || page.Links()[0].URL != srv.URL+c.link) {
					t.Errorf("links %+v", page.Links())
				}
			}
		})
	}
}
