package crawler_test

import (
	"context"
	"net/http"
	"slices"
	"testing"

	"github.com/seine-go/seine/crawler"
)

// What may be followed is told by what a page is, however it is asked.
func TestFollowByMediaType(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		media                    string
		anchors, selected, links int
	}{
		{"text/html", 1, 1, 2},
		{"text/html; charset=utf-8", 1, 1, 2},
		{"application/xhtml+xml", 1, 1, 2},
		{"text/plain", 0, 0, 1},
		{"application/json", 0, 0, 1},
		{"application/xml", 0, 0, 1},
	} {
		bubble(t, func(t *testing.T, w *web) {
			w.serve(t, "films.example", func(rw http.ResponseWriter, _ *http.Request) {
				rw.Header().Set("Content-Type", c.media)
				rw.Header().Set("Link", "</next>; rel=next")
				rw.Write([]byte(`<!doctype html><a href="/x">x</a>`))
			})
			var got []int
			text := ""
			_, err := run(t, w, crawler.Config{IgnoreRobots: true, MaxDepth: 1, Handler: crawler.HandlerFunc(func(_ context.Context, p *crawler.Page) error {
				if p.Depth == 0 {
					got = []int{p.Follow("a[href]"), p.Follow("a"), p.FollowLinks()}
					text = p.Text("a")
				}
				return nil
			})}, "http://films.example/")
			if want := []int{c.anchors, c.selected, c.links}; err != nil || !slices.Equal(got, want) || text != "x" {
				t.Errorf("%s: %v, want %v; %q, %v", c.media, got, want, text, err)
			}
		})
	}
}
