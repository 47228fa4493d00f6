package frontiertest

import (
	"fmt"
	"testing"

	"github.com/seine-go/seine/crawler"
)

// Benchmark measures what a crawl asks of a frontier: adding, a page's whole cycle, leasing among many hosts, the counts.
// Its harness is used without virtual time.
func Benchmark(b *testing.B, harness func(b *testing.B) Harness) {
	open := func(b *testing.B) crawler.Frontier { return harness(b).Open(b, Options{Pace: free}) }
	b.Run("add", func(b *testing.B) { benchmarkAdd(b, open(b)) })
	for _, hosts := range []int{1, 1000} {
		b.Run(fmt.Sprint("cycle of a page with 30 links, hosts=", hosts), func(b *testing.B) { benchmarkCycle(b, open(b), hosts) })
	}
	b.Run("lease and settle 64 of 100,000 hosts", func(b *testing.B) { benchmarkHosts(b, open(b)) })
	b.Run("stats", func(b *testing.B) {
		f := open(b)
		fill(b, f, 10_000, 100)
		b.ReportAllocs()
		for b.Loop() {
			if _, err := f.Stats(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func film(i, hosts int) string {
	return fmt.Sprintf("https://films-%d.example.org/catalogue/film/%d/overview", i%hosts, i)
}

// fill adds requests in batches.
func fill(b *testing.B, f crawler.Frontier, n, hosts int) {
	b.Helper()
	var batch []*crawler.Request
	for i := range n {
		if batch = append(batch, request(film(i, hosts))); len(batch) == 256 || i == n-1 {
			if _, err := f.Add(b.Context(), batch...); err != nil {
				b.Fatal(err)
			}
			batch = batch[:0]
		}
	}
}

func benchmarkAdd(b *testing.B, f crawler.Frontier) {
	b.ReportAllocs()
	r := &crawler.Request{}
	for i := 0; b.Loop(); i++ {
		r.URL = film(i, 1000)
		if _, err := f.Add(b.Context(), r); err != nil {
			b.Fatal(err)
		}
	}
}

// benchmarkCycle leases a page and settles it with 30 links, of which one is new.
func benchmarkCycle(b *testing.B, f crawler.Frontier, hosts int) {
	const start = 5000
	fill(b, f, start, hosts)
	var links []*crawler.Request
	for i := range 30 {
		links = append(links, request(film(i, hosts)))
	}
	b.ReportAllocs()
	for i := start; b.Loop(); i++ {
		batch, err := f.Lease(b.Context(), crawler.LeaseRequest{Owner: "A", Boot: 1, Max: 1})
		if err != nil || len(batch.Leases) != 1 {
			b.Fatal(len(batch.Leases), err)
		}
		links[0].URL = film(i, hosts)
		if err := f.Settle(b.Context(), crawler.Settlement{Lease: batch.Leases[0], Outcome: crawler.Done, Links: links}); err != nil {
			b.Fatal(err)
		}
	}
}

// benchmarkHosts leases batches and gives them back.
func benchmarkHosts(b *testing.B, f crawler.Frontier) {
	fill(b, f, 100_000, 100_000)
	b.ReportAllocs()
	for b.Loop() {
		batch, err := f.Lease(b.Context(), crawler.LeaseRequest{Owner: "A", Boot: 1, Max: 64})
		if err != nil || len(batch.Leases) != 64 {
			b.Fatal(len(batch.Leases), err)
		}
		s := make([]crawler.Settlement, len(batch.Leases))
		for i, l := range batch.Leases {
			s[i] = crawler.Settlement{Lease: l, Outcome: crawler.Released}
		}
		if err := f.Settle(b.Context(), s...); err != nil {
			b.Fatal(err)
		}
	}
}
