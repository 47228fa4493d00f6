package crawler_test

import (
	"fmt"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/seine-go/seine/crawler"
	"github.com/seine-go/seine/ratelimit"
)

func liveHeap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// fill adds URLs of 61 bytes on average, and answers what each costs.
func fill(t testing.TB, m *crawler.Memory, from, to, hosts int) float64 {
	t.Helper()
	before := liveHeap()
	reqs, ptrs := make([]crawler.Request, 256), make([]*crawler.Request, 0, 256)
	for i := from; i < to; {
		for ptrs = ptrs[:0]; len(ptrs) < len(reqs) && i < to; i++ {
			r := &reqs[len(ptrs)]
			r.URL = "https://films-" + strconv.Itoa(i%hosts) + ".example.org/catalogue/film/" + strconv.Itoa(i) + "/overview"
			ptrs = append(ptrs, r)
		}
		if _, err := m.Add(t.Context(), ptrs...); err != nil {
			t.Fatal(err)
		}
	}
	return float64(liveHeap()-before) / float64(to-from)
}

// What a queued URL costs, seen set and hosts included. It measures the heap, so no other test runs beside it.
func TestQueuedURLCost(t *testing.T) {
	const n, hosts = 300_000, 3_000
	m := crawler.NewMemory(crawler.MemoryOptions{})
	cost := fill(t, m, 0, n, hosts)
	runtime.KeepAlive(m)
	spilling := crawler.NewMemory(crawler.MemoryOptions{SpillDir: t.TempDir(), SpillBytes: 1 << 20})
	defer spilling.Close()
	spilled := fill(t, spilling, 0, n, hosts)
	roomy := crawler.NewMemory(crawler.MemoryOptions{SpillDir: t.TempDir(), SpillBytes: hosts << 11}) // two KiB a host
	defer roomy.Close()
	fill(t, roomy, 0, n, hosts)
	beyond := fill(t, roomy, n, 4*n, hosts)
	if cost > 90 || spilled > 40 || beyond > 16 {
		t.Fatalf("a queued URL costs %.1f bytes in memory, %.1f where they are spilled, %.1f beyond the spill mark", cost, spilled, beyond)
	}
	fmt.Printf("shown engine.1: a queued URL of 61 bytes costs %.1f bytes in memory, %.1f where most are spilled\n", cost, spilled)
	fmt.Printf("shown durable.5: beyond the spill mark a queued URL costs %.1f bytes of memory, the seen set included (bar 16)\n", beyond)
}

// 100,000 hosts with one page each: what was visited is forgotten, but for ten bytes of the seen set.
func TestHostsAreForgotten_K020(t *testing.T) {
	const hosts, batch = 100_000, 500
	ctx := t.Context()
	m := crawler.NewMemory(crawler.MemoryOptions{})
	if err := m.SetHost(ctx, "", crawler.HostPolicy{Spacing: time.Nanosecond}); err != nil {
		t.Fatal(err)
	}
	report := crawler.HostReport{Class: ratelimit.OK, Status: 200, Latency: time.Millisecond, Elapsed: time.Millisecond, Exchanges: 1}
	before := liveHeap()
	most := 0
	for i := 0; i < hosts; i += batch {
		for j := range batch {
			if _, err := m.Add(ctx, &crawler.Request{URL: fmt.Sprintf("https://host-%d.example/", i+j)}); err != nil {
				t.Fatal(err)
			}
		}
		s, err := m.Stats(ctx)
		if err != nil {
			t.Fatal(err)
		}
		most = max(most, s.Hosts)
		for left := batch; left > 0; {
			b, err := m.Lease(ctx, crawler.LeaseRequest{Owner: "A", Boot: 1, Max: left})
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range b.Leases {
				if err := m.Settle(ctx, crawler.Settlement{Lease: l, Outcome: crawler.Done, Report: report}); err != nil {
					t.Fatal(err)
				}
			}
			left -= len(b.Leases)
		}
	}
	for range hosts/64 + 1 { // a call forgets a few
		if _, err := m.Lease(ctx, crawler.LeaseRequest{Owner: "A", Boot: 1}); err != nil {
			t.Fatal(err)
		}
	}
	s, err := m.Stats(ctx)
	if err != nil || s.Hosts != 0 || s.Done != hosts {
		t.Fatalf("%d hosts are left, %d pages are done, %v", s.Hosts, s.Done, err)
	}
	cost := float64(liveHeap()-before) / hosts
	if cost > 40 || most > 10*batch {
		t.Fatalf("a host that was visited costs %.1f bytes; %d were remembered at a time", cost, most)
	}
	fmt.Printf("shown engine.5: of %d hosts with a page each none is remembered, %.1f bytes a host are left, most at a time %d\n", hosts, cost, most)
	runtime.KeepAlive(m)
}

// What a host costs that has work, before its first answer and after it.
func TestHostCost(t *testing.T) {
	const hosts = 100_000
	ctx := t.Context()
	m := crawler.NewMemory(crawler.MemoryOptions{})
	if err := m.SetHost(ctx, "", crawler.HostPolicy{Spacing: -1, MaxInFlight: 1}); err != nil {
		t.Fatal(err)
	}
	cost := [2]float64{fill(t, m, 0, 2*hosts, hosts) * 2}
	before := liveHeap()
	for range hosts {
		b, err := m.Lease(ctx, crawler.LeaseRequest{Owner: "A", Boot: 1, Max: 1})
		if err != nil || len(b.Leases) != 1 {
			t.Fatal(len(b.Leases), err)
		}
		report := crawler.HostReport{Class: ratelimit.OK, Status: 200, Exchanges: 1}
		if err := m.Settle(ctx, crawler.Settlement{Lease: b.Leases[0], Outcome: crawler.Done, Report: report}); err != nil {
			t.Fatal(err)
		}
	}
	cost[1] = float64(liveHeap()-before) / hosts
	if s, err := m.Stats(ctx); err != nil || s.Hosts != hosts || cost[0] > 800 || cost[1] > 256 {
		t.Fatalf("%+v, %v; a host with two pages costs %.0f bytes, %.0f more after its first answer", s, err, cost[0], cost[1])
	}
	fmt.Printf("shown engine.5: %d hosts with two pages each: %.0f bytes a host, pages included; %.0f more after the first answer, less the page that is done\n", hosts, cost[0], cost[1])
	runtime.KeepAlive(m)
}
