package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/seine-go/seine/crawler"
	"github.com/seine-go/seine/dedupe"
	"github.com/seine-go/seine/extract"
	"github.com/seine-go/seine/fetch"
)

func emit(row map[string]any) error { return json.NewEncoder(os.Stdout).Encode(row) }

// frontier queues URLs of films on many hosts in the memory frontier and says what they cost.
func frontier(o options) error {
	ctx := context.Background()
	f := crawler.NewMemory(crawler.MemoryOptions{})
	runtime.GC()
	before, start, total := resident(), time.Now(), 0
	reqs, ptrs := make([]crawler.Request, 256), make([]*crawler.Request, 256)
	for i := 0; i < o.n; {
		batch := ptrs[:0]
		for ; len(batch) < cap(ptrs) && i < o.n; i++ {
			r := &reqs[len(batch)]
			r.URL = "https://films-" + strconv.Itoa(i%o.hosts) + ".example.org/catalogue/film/" + strconv.Itoa(i) + "/overview"
			total += len(r.URL)
			batch = append(batch, r)
		}
		if _, err := f.Add(ctx, batch...); err != nil {
			return err
		}
	}
	took := time.Since(start)
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	n := int64(o.n)
	err := emit(map[string]any{
		"scenario": "S4", "kind": "seine", "urls": o.n, "hosts": o.hosts, "rss_b_per_url": (resident() - before) / n,
		"live_b_per_url": (m.HeapAlloc + m.StackInuse) / uint64(n), "ns_per_url": took.Nanoseconds() / n, "url_bytes": float64(total) / float64(n),
	})
	runtime.KeepAlive(f)
	return err
}

// seen adds URLs of films on many hosts to the seen set, as many at a time as a page has links, looks each up again, and
// says what they cost.
func seen(o options) error {
	const hosts, links = 997, 32
	set := dedupe.NewSeenSet(dedupe.SeenOptions{})
	var bufs [links][96]byte
	url := func(i int) string {
		b := append(bufs[i%links][:0], "https://films-"...)
		b = strconv.AppendInt(b, int64(i%hosts), 10)
		b = append(b, ".example.org/catalogue/film/"...)
		b = strconv.AppendInt(b, int64(i), 10)
		b = append(b, "/overview"...)
		return unsafe.String(&b[0], len(b)) // until another one takes its place
	}
	runtime.GC()
	base := resident()
	peak, fresh, start := base, 0, time.Now()
	var page [links]string
	for i := 0; i < o.n; i += links {
		n := min(links, o.n-i)
		for j := range n {
			page[j] = url(i + j)
		}
		fresh += set.AddAll(page[:n], nil)
		if i%(1<<16) == 0 {
			peak = max(peak, resident())
		}
	}
	added := time.Since(start)
	peak = max(peak, resident())
	start = time.Now()
	for i := range o.n {
		if !set.Has(url(i)) {
			return fmt.Errorf("URL %d was added and is not there", i)
		}
	}
	hit := time.Since(start)
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	n := float64(o.n)
	err := emit(map[string]any{
		"scenario": "S5", "kind": "seine", "n": o.n, "goroutines": 1, "add_ns": float64(added.Nanoseconds()) / n, "hit_ns": float64(hit.Nanoseconds()) / n,
		"heap_b_per_url": float64(m.HeapAlloc) / n, "peak_rss_b_per_url": float64(peak-base) / n, "lost": o.n - fresh,
	})
	runtime.KeepAlive(set)
	return err
}

// resident is the resident memory of the process in bytes.
func resident() int64 {
	b, _ := os.ReadFile("/proc/self/statm")
	fields := strings.Fields(string(b))
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(fields[1], 10, 64)
	return pages * int64(os.Getpagesize())
}

// links times the link pass on one page.
func links(o options) error {
	t := &fetch.Transport{AllowPrivate: true}
	defer t.Close()
	resp, err := t.Fetch(context.Background(), &fetch.Request{URL: o.url})
	if err != nil {
		return err
	}
	if resp.Status != 200 {
		return fmt.Errorf("status %d", resp.Status)
	}
	found := 0
	r := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			h, err := extract.Scan(resp.Body, extract.ScanOptions{URL: resp.URL})
			if err != nil {
				b.Fatal(err)
			}
			found = len(h.Links)
		}
	})
	return emit(map[string]any{
		"scenario": "S6b", "case": "seine links", "page_bytes": len(resp.Body), "links": found, "us_per_page": float64(r.NsPerOp()) / 1000,
		"mb_per_s": float64(len(resp.Body)) / float64(r.NsPerOp()) * 1000, "b_per_page": r.AllocedBytesPerOp(), "allocs": r.AllocsPerOp(),
	})
}
