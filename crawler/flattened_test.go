package crawler_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/seine-go/seine/crawler"
	"github.com/seine-go/seine/fetch"
)

// A page whose tree lacks elements says so, where somebody has looked at its tree.
func TestFlattenedPagesAreCounted(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("<div>", 520) + "<a class=film href=/x>x</a>"
	for _, c := range []struct {
		body string
		tree bool
		want int64
	}{{deep, true, 1}, {deep, false, 0}, {"<p>x", true, 0}} {
		e, err := crawler.New(crawler.Config{
			IgnoreRobots: true,
			Fetcher: fetch.FetcherFunc(func(_ context.Context, q *fetch.Request) (*fetch.Response, error) {
				return &fetch.Response{Request: q, URL: q.URL, Status: 200, Header: http.Header{"Content-Type": {"text/html"}}, Body: []byte(c.body)}, nil
			}),
			Handler: crawler.HandlerFunc(func(_ context.Context, p *crawler.Page) error {
				if c.tree {
					p.Follow("a.film")
				}
				return nil
			}),
		})
		if err != nil {
			t.Fatal(err)
		}
		stats, err := e.Run(t.Context(), "http://a.example/")
		if err != nil || stats.Flattened != c.want || strings.Contains(stats.String(), ", 1 flattened") != (c.want > 0) {
			t.Errorf("%.10s %v: %v, %v", c.body, c.tree, stats, err)
		}
	}
}
