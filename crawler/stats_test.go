package crawler_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/seine-go/seine/crawler"
)

// Each figure of the stats, in a crawl that has something of everything.
func TestStatsAreComplete(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		w.serve(t, "films.example", func(rw http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/moved" {
				http.Redirect(rw, r, "/target", http.StatusFound)
				return
			}
			pages(map[string]string{
				"/robots.txt": "User-agent: *\nDisallow: /no", "/": links("/moved", "/no", "/gone", "/panic", "/later", "/a/a/a/a", "/x1", "/x2"),
				"/target": "12345", "/panic": "", "/later": "", "/x1": "",
			})(rw, r)
		})
		cfg := crawler.Config{MaxLinks: 6, Handler: crawler.HandlerFunc(func(_ context.Context, p *crawler.Page) error {
			p.Follow("a")
			switch {
			case strings.HasSuffix(p.URL, "/panic"):
				panic("here")
			case strings.HasSuffix(p.URL, "/later") && p.Attempt == 1:
				return errors.New("later")
			}
			return p.Save(p.URL, 1)
		})}
		got, err := run(t, w, cfg, "http://films.example/")
		if err != nil {
			t.Fatal(err)
		}
		bytes := int64(len("User-agent: *\nDisallow: /no") + len(links("/moved", "/no", "/gone", "/panic", "/later", "/a/a/a/a", "/x1", "/x2")) + len(`<a href="/target">Found</a>.`+"\n\n") + len("12345") + len("404 page not found\n"))
		want := crawler.Stats{
			Pages: 4, Failed: 2, Retried: 1, Refused: 1, Trapped: 1, Links: 6, LinksCut: 1, Cut: 1, Items: 4, Requests: 9, Bytes: got.Bytes, Panics: 1,
			Elapsed: got.Elapsed, Finished: true,
		}
		if *got != want || got.Bytes < bytes || got.Bytes > bytes+200 { // the head of a hop may be counted
			t.Errorf("%+v\nwant\n%+v with %d bytes", *got, want, bytes)
		}
	})
}
