package crawler_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/seine-go/seine/crawler"
	"github.com/seine-go/seine/ratelimit"
)

// A page of a crawl as the frontier sees it: one link is new, one request is leased and settled, 30 links were seen.
func BenchmarkFrontierCycle(b *testing.B) {
	for _, hosts := range []int{1, 10_000} {
		b.Run("hosts="+strconv.Itoa(hosts), func(b *testing.B) {
			b.ReportAllocs()
			ctx := b.Context()
			f := crawler.NewMemory(crawler.MemoryOptions{})
			if err := f.SetHost(ctx, "", crawler.HostPolicy{Spacing: -1, MaxInFlight: 16}); err != nil {
				b.Fatal(err)
			}
			url := func(i int) string {
				return "https://films-" + strconv.Itoa(i%hosts) + ".example.org/catalogue/film/" + strconv.Itoa(i) + "/overview"
			}
			for i := range 10_000 {
				if _, err := f.Add(ctx, &crawler.Request{URL: url(i), Depth: 1}); err != nil {
					b.Fatal(err)
				}
			}
			links := make([]*crawler.Request, 31)
			for i := range links {
				links[i] = &crawler.Request{URL: url(i), Depth: 2}
			}
			want := crawler.LeaseRequest{Owner: "bench", Max: 1}
			for i := 10_000; b.Loop(); i++ {
				batch, err := f.Lease(ctx, want)
				if err != nil || len(batch.Leases) != 1 {
					b.Fatal(len(batch.Leases), err)
				}
				links[30].URL = url(i)
				if err := f.Settle(ctx, crawler.Settlement{Lease: batch.Leases[0], Outcome: crawler.Done, Links: links}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// The same without links, each page with what its host answered.
func BenchmarkFrontierReport(b *testing.B) {
	b.ReportAllocs()
	ctx := b.Context()
	f := crawler.NewMemory(crawler.MemoryOptions{})
	if err := f.SetHost(ctx, "", crawler.HostPolicy{Spacing: -1, MaxInFlight: 16}); err != nil {
		b.Fatal(err)
	}
	url := func(i int) string {
		return "https://films-" + strconv.Itoa(i%1000) + ".example.org/catalogue/film/" + strconv.Itoa(i) + "/overview"
	}
	link := []*crawler.Request{{URL: url(0)}}
	for i := range 10_000 {
		if _, err := f.Add(ctx, &crawler.Request{URL: url(i), Depth: 1}); err != nil {
			b.Fatal(err)
		}
	}
	report := crawler.HostReport{Class: ratelimit.OK, Status: 200, Latency: 50 * time.Millisecond, Elapsed: 60 * time.Millisecond, Exchanges: 1}
	for i := 10_000; b.Loop(); i++ {
		batch, err := f.Lease(ctx, crawler.LeaseRequest{Owner: "bench", Max: 1})
		if err != nil || len(batch.Leases) != 1 {
			b.Fatal(len(batch.Leases), err)
		}
		link[0].URL = url(i)
		if err := f.Settle(ctx, crawler.Settlement{Lease: batch.Leases[0], Outcome: crawler.Done, Links: link, Report: report}); err != nil {
			b.Fatal(err)
		}
	}
}
