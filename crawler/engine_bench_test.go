package crawler_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/seine-go/seine/crawler"
	"github.com/seine-go/seine/fetch"
)

// BenchmarkEngine is what a page costs beside its exchange: queue, lease, robots.txt from memory, links, settlement. Each
// page of 2 KB has ten links, one of them new.
func BenchmarkEngine(b *testing.B) {
	var body []byte
	for i := range 9 {
		body = fmt.Appendf(body, `<a href="/%d">a link of the page</a><p>%0150d</p>`, i, i)
	}
	header := http.Header{"Content-Type": {"text/html"}}
	fetcher := fetch.FetcherFunc(func(_ context.Context, req *fetch.Request) (*fetch.Response, error) {
		n := 0
		if _, err := fmt.Sscanf(req.URL, "http://films.example/%d", &n); err != nil {
			return &fetch.Response{URL: req.URL, Status: 404}, nil
		}
		return &fetch.Response{URL: req.URL, Status: 200, Header: header, Body: fmt.Appendf(body[:len(body):len(body)], `<a href="/%d">next</a>`, n+16)}, nil
	})
	var seeds []string
	for i := range 16 {
		seeds = append(seeds, fmt.Sprint("http://films.example/", i))
	}
	e, err := crawler.New(crawler.Config{Fetcher: fetcher, Spacing: -1, PerHost: -1, Concurrency: 16, MaxPages: int64(b.N), Handler: crawler.HandlerFunc(func(_ context.Context, p *crawler.Page) error {
		p.FollowLinks()
		return nil
	})})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.ResetTimer()
	if stats, err := e.Run(b.Context(), seeds...); err != nil || stats.Pages != int64(b.N) && b.N > 16 {
		b.Fatalf("%v, %v", stats, err)
	}
}
