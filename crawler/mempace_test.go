package crawler_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seine-go/seine/crawler"
	"github.com/seine-go/seine/ratelimit"
)

// paced is a frontier in virtual time with many pages of some hosts.
type paced struct {
	*crawler.Memory
	t *testing.T
}

func newPaced(t *testing.T, all crawler.HostPolicy, hosts ...string) *paced {
	t.Helper()
	f := &paced{crawler.NewMemory(crawler.MemoryOptions{}), t}
	f.set("", all)
	for _, h := range hosts {
		for i := range 200 {
			f.add(fmt.Sprintf("https://%s/%d", h, i))
		}
	}
	return f
}

func (f *paced) add(url string) {
	f.t.Helper()
	if _, err := f.Add(f.t.Context(), &crawler.Request{URL: url}); err != nil {
		f.t.Fatal(err)
	}
}

func (f *paced) set(host string, p crawler.HostPolicy) {
	f.t.Helper()
	if err := f.SetHost(f.t.Context(), host, p); err != nil {
		f.t.Fatal(err)
	}
}

// lease leases all that may be had.
func (f *paced) lease() []crawler.Lease {
	f.t.Helper()
	b, err := f.Lease(f.t.Context(), crawler.LeaseRequest{Owner: "A", Boot: 1, Max: 1000})
	if err != nil {
		f.t.Fatal(err)
	}
	return b.Leases
}

// visit leases what may be had and reports each after a while.
func (f *paced) visit(after time.Duration, r crawler.HostReport) int {
	f.t.Helper()
	leases := f.lease()
	time.Sleep(after)
	r.Elapsed, r.Latency, r.Sent, r.Exchanges = after, after, after, 1
	for _, l := range leases {
		if err := f.Settle(f.t.Context(), crawler.Settlement{Lease: l, Outcome: crawler.Done, Report: r}); err != nil {
			f.t.Fatal(err)
		}
	}
	return len(leases)
}

func (f *paced) pace(host string) crawler.Inspection {
	f.t.Helper()
	p, err := f.Inspect(f.t.Context(), "", host)
	if err != nil {
		f.t.Fatal(err)
	}
	return p
}

var (
	well      = crawler.HostReport{Class: ratelimit.OK, Status: http.StatusOK}
	throttled = crawler.HostReport{Class: ratelimit.Throttle, Status: http.StatusTooManyRequests}
	broken    = crawler.HostReport{Class: ratelimit.NetError}
)

func TestPaceOfAHostNobodyConfigured(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &paced{crawler.NewMemory(crawler.MemoryOptions{}), t}
		if p := f.pace("new.example"); p.Places != crawler.DefaultPerHost || p.Pause != crawler.DefaultSpacing || p.Rest != 0 {
			t.Errorf("%+v", p)
		}
		for i := range 200 {
			f.add(fmt.Sprintf("https://films.example/%d", i))
		}
		for range 60 { // a host that takes 2 s by nature has more than one place, but never a start in less than 500 ms
			if n := f.visit(2*time.Second, well); n > 1 {
				t.Fatalf("%d were leased at a time", n)
			}
		}
		if p := f.pace("films.example"); p.Pause != crawler.DefaultSpacing || p.Places < 1 || p.Places > crawler.DefaultMaxPerHost {
			t.Errorf("%+v", p)
		}
	})
}

// The places of a slow host are found one after the other up to the bound, never beyond.
func TestPlacesAreFound(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		w.serve(t, "films.example", func(http.ResponseWriter, *http.Request) { time.Sleep(2 * time.Second) })
		stats, err := run(t, w, crawler.Config{IgnoreRobots: true}, numbered("films.example", 120)...)
		if err != nil || stats.Pages != 120 || w.most["films.example"] != crawler.DefaultMaxPerHost {
			t.Fatalf("%v, %v, %d at a time", stats, err, w.most["films.example"])
		}
		for i, v := range w.visits[1:] {
			if gap := v.start.Sub(w.visits[i].start); gap < crawler.DefaultSpacing {
				t.Errorf("a gap of %v", gap)
			}
		}
	})
}

func TestThrottledHostIsSlowed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newPaced(t, crawler.HostPolicy{Spacing: 100 * time.Millisecond, MaxInFlight: 1}, "a.example", "b.example")
		for range 40 {
			f.visit(100*time.Millisecond, well)
		}
		before := f.pace("a.example")
		leases := f.lease()
		for _, l := range leases {
			r := well
			if l.Request.Host() == "a.example" {
				r = throttled
				r.RetryAfter = 5 * time.Second
			}
			r.Exchanges = 1
			if err := f.Settle(t.Context(), crawler.Settlement{Lease: l, Outcome: crawler.Done, Report: r}); err != nil {
				t.Fatal(err)
			}
		}
		a, b := f.pace("a.example"), f.pace("b.example")
		if a.Cuts != 1 || a.Rate == 0 || a.Pause <= before.Pause || a.Opens != 5*time.Second {
			t.Errorf("after a 429: %+v", a)
		}
		if b.Cuts != 0 || b.Rate != 0 || b.Pause != before.Pause {
			t.Errorf("another host after a 429 of the first: %+v", b)
		}
		time.Sleep(5*time.Second - 1)
		for _, l := range f.lease() {
			if l.Request.Host() == "a.example" {
				t.Error("leased before Retry-After was over")
			}
		}
	})
}

// What a host was found to bear outlasts a time without work, within bounds.
func TestCeilingIsRemembered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newPaced(t, crawler.HostPolicy{Spacing: -1, MaxInFlight: 1})
		for _, c := range []struct {
			host   string
			report crawler.HostReport
			kept   bool
		}{{"well.example", well, false}, {"throttled.example", throttled, true}, {"dead.example", broken, true}} {
			f.add("https://" + c.host + "/1")
			time.Sleep(time.Second)
			if n := f.visit(time.Second, c.report); n != 1 {
				t.Fatal(n)
			}
			time.Sleep(time.Minute)
			f.lease()
			s, err := f.Stats(t.Context())
			if err != nil || (s.Hosts == 1) != c.kept {
				t.Errorf("%s: %d hosts are remembered after a minute, %v", c.host, s.Hosts, err)
			}
			if p := f.pace(c.host); (p.Rate > 0) != (c.report == throttled) {
				t.Errorf("%s: %+v", c.host, p)
			}
			time.Sleep(10 * time.Minute)
			f.lease()
			if s, err := f.Stats(t.Context()); err != nil || s.Hosts != 0 {
				t.Errorf("%s: %d hosts are remembered after eleven minutes, %v", c.host, s.Hosts, err)
			}
		}
	})
}

func TestPaceThatDoesNotAdapt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newPaced(t, crawler.HostPolicy{Spacing: -1, MaxInFlight: 4, Adapt: crawler.SwitchOff}, "a.example", "own.example")
		f.set("own.example", crawler.HostPolicy{Adapt: crawler.SwitchOn})
		for range 3 {
			f.visit(time.Second, throttled)
		}
		if p := f.pace("a.example"); p.Cuts != 0 || p.Places != 4 || p.Pause != 0 {
			t.Errorf("%+v", p)
		}
		if p := f.pace("own.example"); p.Cuts == 0 {
			t.Errorf("%+v", p)
		}
		f.set("own.example", crawler.HostPolicy{Adapt: crawler.SwitchOff})
		if p := f.pace("own.example"); p.Cuts != 0 || p.Places != 4 || p.Pause != 0 {
			t.Errorf("after it was turned off: %+v", p)
		}
		r := throttled
		r.RetryAfter = time.Minute
		f.visit(time.Second, r)
		if p := f.pace("a.example"); p.Opens != time.Minute {
			t.Errorf("Retry-After is to be obeyed all the same: %+v", p)
		}
	})
}

// A host that gives no proper answer for a quarter of an hour has stalled.
func TestStalledHost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newPaced(t, crawler.HostPolicy{Spacing: 10 * time.Second}, "dead.example")
		start := time.Now()
		for f.pace("dead.example").Stalled == nil {
			f.visit(10*time.Second, broken)
			if time.Since(start) > time.Hour {
				t.Fatal("not within an hour")
			}
		}
		var stall *ratelimit.StallError
		if !errors.As(f.pace("dead.example").Stalled, &stall) || time.Since(start) < ratelimit.StallAfter {
			t.Errorf("%v after %v", f.pace("dead.example").Stalled, time.Since(start))
		}
		f.visit(time.Second, well)
		if err := f.pace("dead.example").Stalled; err != nil {
			t.Error(err)
		}
	})
}

// Slots that open while others are under way are used: with a second of latency and ten places, ten a second.
func TestSlotsAreUsedWhileOthersAreUnderWay(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		w.serve(t, "films.example", func(http.ResponseWriter, *http.Request) { time.Sleep(time.Second) })
		start := time.Now()
		stats, err := run(t, w, crawler.Config{IgnoreRobots: true, Spacing: 100 * time.Millisecond, PerHost: 10}, numbered("films.example", 50)...)
		if took := time.Since(start); err != nil || stats.Pages != 50 || took > 5950*time.Millisecond {
			t.Errorf("%v, %v in %v", stats, err, took)
		}
	})
}

// One slow host among a hundred leaves the others as they are.
func TestSlowHostAmongMany(t *testing.T) {
	t.Parallel()
	const hosts, each = 100, 10
	took := map[bool]time.Duration{}
	for _, withSlow := range []bool{false, true} {
		bubble(t, func(t *testing.T, w *web) {
			var seeds []string
			for i := range hosts {
				name := fmt.Sprintf("h%d.example", i)
				latency := 50 * time.Millisecond
				if withSlow && i == 0 {
					latency = 20 * time.Second
				}
				w.serve(t, name, func(http.ResponseWriter, *http.Request) { time.Sleep(latency) })
				seeds = append(seeds, numbered(name, each)...)
			}
			start := time.Now()
			var last time.Time
			cfg := crawler.Config{IgnoreRobots: true, Concurrency: 16, Handler: crawler.HandlerFunc(func(_ context.Context, p *crawler.Page) error {
				w.mu.Lock()
				defer w.mu.Unlock()
				if p.Request.Host() != "h0.example" && time.Now().After(last) {
					last = time.Now()
				}
				return nil
			})}
			stats, err := run(t, w, cfg, seeds...)
			if err != nil || stats.Pages != hosts*each {
				t.Fatalf("%v, %v", stats, err)
			}
			took[withSlow] = last.Sub(start)
		})
	}
	if took[true] > took[false]*21/20 {
		t.Fatalf("the others took %v, %v with a slow one among them", took[false], took[true])
	}
	fmt.Printf("shown engine.5: 99 hosts of %d pages take %v, beside one that takes 20 s a page %v; 16 in flight in all\n", each, took[false], took[true])
}

// An exchange that begins long after its lease takes its slot along, unless somebody has one after it.
func TestLateExchangeMovesItsSlot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newPaced(t, crawler.HostPolicy{Spacing: time.Second, MaxInFlight: 3}, "a.example")
		late := func(l crawler.Lease, want time.Duration) {
			t.Helper()
			r, err := f.ReserveHost(t.Context(), crawler.ReserveRequest{Host: "a.example", Under: l, Late: true, Since: time.Hour})
			if err != nil || r.ID != 0 || r.Wait != want {
				t.Errorf("%+v, %v; want a wait of %v", r, err, want)
			}
		}
		l := f.lease()[0]
		time.Sleep(700 * time.Millisecond)
		late(l, 0)
		time.Sleep(900 * time.Millisecond)
		if n := len(f.lease()); n != 0 {
			t.Fatalf("%d leases within a second of the late start", n)
		}
		time.Sleep(100 * time.Millisecond)
		second := f.lease()[0]
		late(l, time.Second) // the slot after the second
		late(second, 2*time.Second)
	})
}

// Pages of a host that has stalled are not tried again.
func TestStalledHostIsGivenUp(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		w.serve(t, "dead.example", func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusInternalServerError) })
		var f failures
		stats, err := run(t, w, crawler.Config{IgnoreRobots: true, Spacing: 30 * time.Second, Hooks: f.hook(), Handler: done}, numbered("dead.example", 60)...)
		if err != nil || stats.Failed != 60 {
			t.Fatalf("%v, %v", stats, err)
		}
		stalled := 0
		for _, err := range f.errs {
			var stall *ratelimit.StallError
			if errors.As(err, &stall) {
				stalled++
			}
		}
		if asked := len(w.visits); stalled < 20 || asked > 120 {
			t.Errorf("%d of 60 pages were given up for a stall, %d requests", stalled, asked)
		}
	})
}
