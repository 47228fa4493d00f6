package sqlitebackend

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/seine-go/seine/crawler"
	"github.com/seine-go/seine/crawler/frontiertest"
)

func BenchmarkFrontier(b *testing.B) {
	frontiertest.Benchmark(b, func(b *testing.B) frontiertest.Harness {
		h := harness(b)
		h.Advance, h.Reopen, h.CutTail, h.Dump = nil, nil, nil, nil
		return h
	})
}

// heap is what is in use after a collection.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func film(i int) string {
	return fmt.Sprintf("https://films-%d.example.org/catalogue/film/%d/overview", i%1000, i)
}

// fill adds URLs that are new.
func fill(t testing.TB, f crawler.Frontier, from, to int) {
	t.Helper()
	reqs := make([]*crawler.Request, 0, 1000)
	for i := from; i < to; i++ {
		if reqs = append(reqs, &crawler.Request{URL: film(i)}); len(reqs) < cap(reqs) && i < to-1 {
			continue
		}
		statuses, err := f.Add(context.Background(), reqs...)
		if err != nil {
			t.Fatal(err)
		}
		for j, s := range statuses {
			if s != crawler.Added {
				t.Fatalf("%s is %v", reqs[j].URL, s)
			}
		}
		reqs = reqs[:0]
	}
}

// A crawl with a million URLs pending is there at once.
func TestOpensAtOnceWithManyPending_K024(t *testing.T) {
	n := 50_000
	if long() {
		n = 1_000_000
	}
	path := filepath.Join(t.TempDir(), "crawl.db")
	db, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	fill(t, db.Frontier(), 0, n)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	before, start := heap(), time.Now()
	if db, err = Open(t.Context(), path, Options{}); err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	b, err := db.Frontier().Lease(t.Context(), crawler.LeaseRequest{Owner: "A", Boot: 1, Max: 1})
	took := time.Since(start)
	if err != nil || len(b.Leases) != 1 {
		t.Fatal(b, err)
	}
	if s, err := db.Frontier().Stats(t.Context()); err != nil || s.Ready != int64(n-1) {
		t.Fatalf("%+v, %v", s, err)
	}
	if took > 2*time.Second {
		t.Errorf("the first lease came %v after opening", took)
	}
	each := float64(heap()-before) / float64(n)
	if !t.Failed() {
		fmt.Printf("shown durable.5: with %d URLs pending the first lease came %v after opening; %.1f bytes of memory for each, the seen set included\n", n, took.Round(time.Millisecond), each)
	}
	if n >= 1_000_000 && each > 16 {
		t.Errorf("a pending URL takes %.1f bytes", each)
	}
}

// Memory does not grow with the number of URLs once the seen set has its share of it.
func TestMemoryIsFlat(t *testing.T) {
	if !long() {
		t.Skip("five million URLs: SEINE_LONG=1")
	}
	db, err := Open(t.Context(), filepath.Join(t.TempDir(), "crawl.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	const step, looks = 500_000, 10
	low, high := int64(math.MaxInt64), int64(0)
	var sizes []int64 // the greatest of each step, as memory goes up and down between two saved states
	for n := 0; n < 5_000_000; n += step {
		most := int64(0)
		for i := range looks {
			fill(t, db.Frontier(), n+i*step/looks, n+(i+1)*step/looks)
			most = max(most, heap())
		}
		if sizes = append(sizes, most>>20); n+step >= 1_500_000 {
			low, high = min(low, most), max(high, most)
		}
	}
	if float64(high) > 1.2*float64(low) { // ±10 %
		t.Errorf("from 2 to 5 million URLs the heap is from %d to %d bytes: %v MiB", low, high, sizes)
	}
	if statuses, err := db.Frontier().Add(t.Context(), &crawler.Request{URL: film(1)}, &crawler.Request{URL: film(4_999_999)}, &crawler.Request{URL: film(2_500_000)}); err != nil || statuses[0] != crawler.Duplicate || statuses[1] != crawler.Duplicate || statuses[2] != crawler.Duplicate {
		t.Errorf("%v, %v", statuses, err)
	}
	fmt.Printf("shown durable.5: greatest heap in each half million of 5 million URLs: %v MiB\n", sizes)
}

// Requests that wait for their time are in the file too: what is in memory of them does not grow with their number, and a
// crawl that has many is there at once.
func TestDelayedMemoryIsFlat(t *testing.T) {
	n := 20_000
	if long() {
		n = 250_000
	}
	path := filepath.Join(t.TempDir(), "crawl.db")
	o := Options{Frontier: crawler.MemoryOptions{SpillBytes: 1 << 20, SeenBytes: 1 << 20}}
	db, err := Open(t.Context(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Frontier().SetHost(t.Context(), "", crawler.HostPolicy{Spacing: -1, MaxInFlight: -1, Adapt: crawler.SwitchOff}); err != nil {
		t.Fatal(err)
	}
	var sizes [4]int64
	for i := range sizes {
		for from := i * n; from < (i+1)*n; from += 1000 {
			fill(t, db.Frontier(), from, from+1000)
			b, err := db.Frontier().Lease(t.Context(), crawler.LeaseRequest{Owner: "A", Boot: 1, Max: 1000})
			if err != nil || len(b.Leases) != 1000 {
				t.Fatal(len(b.Leases), err)
			}
			s := make([]crawler.Settlement, len(b.Leases))
			for j, l := range b.Leases {
				s[j] = crawler.Settlement{Lease: l, Outcome: crawler.Retry, Delay: time.Hour + time.Duration((j*7919)%1000)*time.Minute}
			}
			if err := db.Frontier().Settle(t.Context(), s...); err != nil {
				t.Fatal(err)
			}
			sizes[i] = max(sizes[i], heap())
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if db, err = Open(t.Context(), path, o); err != nil {
		t.Fatal(err)
	}
	took := time.Since(start)
	defer db.Close()
	if s, err := db.Frontier().Stats(t.Context()); err != nil || s.Delayed != int64(4*n) {
		t.Errorf("%+v, %v", s, err)
	}
	const noise = 1 << 20
	if each := float64(sizes[3]-sizes[0]-noise) / float64(3*n); each > 2 || long() && took > 2*time.Second {
		t.Errorf("the greatest heap of each quarter: %d bytes; opening took %v", sizes, took)
	}
	if !t.Failed() {
		fmt.Printf("shown durable.5: with %d delayed requests the greatest heap of each quarter is %d KiB; the file was open after %v\n",
			4*n, []int64{sizes[0] >> 10, sizes[1] >> 10, sizes[2] >> 10, sizes[3] >> 10}, took.Round(time.Millisecond))
	}
}
