package crawler_test

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seine-go/seine/crawler"
	"github.com/seine-go/seine/ratelimit"
)

func bucket(t *testing.T, rules ...ratelimit.Rule) *ratelimit.TokenBucket {
	t.Helper()
	b, err := ratelimit.NewTokenBucket(ratelimit.BucketConfig{Rules: rules})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// starts lists the visits whose URL has a part, in order of their start.
func (w *web) starts(part string) (all []visit) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, v := range w.visits {
		if strings.Contains(v.url, part) {
			all = append(all, v)
		}
	}
	slices.SortFunc(all, func(a, b visit) int { return a.start.Compare(b.start) })
	return all
}

// gaps checks that visits are at least so far apart.
func gaps(t *testing.T, what string, visits []visit, least time.Duration) {
	t.Helper()
	for i, v := range visits[1:] {
		if gap := v.start.Sub(visits[i].start); gap < least {
			t.Errorf("%s: %s came %v after %s, want %v", what, v.url, gap, visits[i].url, least)
		}
	}
}

func seedsOf(t *testing.T, w *web, h http.HandlerFunc, each int, hosts ...string) (seeds []string) {
	t.Helper()
	for _, host := range hosts {
		w.serve(t, host, h)
		seeds = append(seeds, numbered(host, each)...)
	}
	return seeds
}

func slowly(http.ResponseWriter, *http.Request) { time.Sleep(20 * time.Millisecond) }

func TestLimitOfTheWholeCrawl(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		seeds := seedsOf(t, w, slowly, 10, "a.example", "b.example", "c.example", "d.example", "e.example")
		limit := bucket(t, ratelimit.Rule{Match: "*", Rate: ratelimit.PerSecond(10)})
		start := time.Now()
		stats, err := run(t, w, crawler.Config{Spacing: -1, Limiter: limit, MaxAttempts: 1, AllStatuses: true, Handler: done}, seeds...)
		took := time.Since(start)
		if err != nil || stats.Pages != 50 || stats.Failed != 0 || took > 6*time.Second {
			t.Errorf("%v, %v in %v", stats, err, took)
		}
		all := w.starts("/")
		if len(all) != 55 { // robots.txt too
			t.Errorf("%d exchanges", len(all))
		}
		gaps(t, "all", all, 100*time.Millisecond)
	})
}

// A limit by a pattern of hosts slows these, fails nothing, and keeps nobody from other hosts.
func TestLimitOfHosts(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		seeds := seedsOf(t, w, slowly, 20, "a.slow.example", "b.slow.example", "fast.example")
		limit := bucket(t, ratelimit.Rule{Match: "*.slow.example", Rate: ratelimit.Every(10 * time.Second)})
		start := time.Now()
		stats, err := run(t, w, crawler.Config{
			IgnoreRobots: true, Spacing: -1, PerHost: -1, Concurrency: 8, HostLimiter: limit, MaxAttempts: 1, Handler: done,
		}, seeds...)
		if took := time.Since(start); err != nil || stats.Pages != 60 || stats.Retried != 0 || took > 200*time.Second {
			t.Errorf("%v, %v in %v", stats, err, took)
		}
		gaps(t, "a", w.starts("/a.slow"), 10*time.Second)
		gaps(t, "b", w.starts("/b.slow"), 10*time.Second)
		fast := w.starts("/fast")
		if took := fast[len(fast)-1].end.Sub(start); took > 5*time.Second {
			t.Errorf("the last page of the host without a limit came after %v", took)
		}
	})
}

func TestLimitOfBytes(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		body := strings.Repeat("x", 10_000)
		seeds := seedsOf(t, w, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) }, 11, "a.example", "b.example")
		perHost := ratelimit.Traffic{Bytes: bucket(t, ratelimit.Rule{Match: "*", Rate: ratelimit.PerSecond(20_000), Burst: 1000})}
		start := time.Now()
		stats, err := run(t, w, crawler.Config{IgnoreRobots: true, Spacing: -1, HostLimiter: perHost, MaxAttempts: 1, Handler: done}, seeds...)
		took := time.Since(start)
		if err != nil || stats.Pages != 22 || took < 4900*time.Millisecond || took > 6*time.Second {
			t.Errorf("%v, %v in %v", stats, err, took)
		}
	})
}

// Rules that are replaced while the crawl runs hold for those who wait already.
func TestLimitsAreReplacedWhileRunning(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		seeds := seedsOf(t, w, slowly, 20, "a.example")
		limit := bucket(t, ratelimit.Rule{Match: "a.example", Rate: ratelimit.Every(30 * time.Second)})
		start := time.Now()
		timer := time.AfterFunc(50*time.Second, func() {
			if err := limit.SetRules(ratelimit.Rule{Match: "*.example", Rate: ratelimit.PerSecond(5)}); err != nil {
				t.Error(err)
			}
		})
		defer timer.Stop()
		stats, err := run(t, w, crawler.Config{IgnoreRobots: true, Spacing: -1, PerHost: 3, HostLimiter: limit, MaxAttempts: 1, Handler: done}, seeds...)
		took := time.Since(start)
		if n := len(w.starts("/a")); err != nil || stats.Pages != 20 || n != 20 || took < 53*time.Second || took > 90*time.Second {
			t.Errorf("%v, %v in %v", stats, err, took)
		}
	})
}

// shared is a web of hosts that have one address.
func shared(t *testing.T, w *web, h http.HandlerFunc) resolver2 {
	t.Helper()
	w.serve(t, "shared.example", h)
	addrs, err := w.network.LookupNetIP(t.Context(), "ip", "shared.example")
	if err != nil {
		t.Fatal(err)
	}
	return func(host string) ([]netip.Addr, error) {
		if strings.HasPrefix(host, "h") {
			return addrs, nil
		}
		return w.network.LookupNetIP(context.Background(), "ip", host)
	}
}

type resolver2 func(host string) ([]netip.Addr, error)

func (r resolver2) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	return r(host)
}

// crawlShared crawls hosts, those whose name begins with h at one address.
func crawlShared(t *testing.T, w *web, r resolver2, cfg crawler.Config, seeds ...string) *crawler.Stats {
	t.Helper()
	tr := w.transport()
	defer tr.Close()
	tr.Resolver, cfg.Fetcher, cfg.Handler, cfg.MaxAttempts = r, tr, done, 1
	e, err := crawler.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	stats, err := e.Run(t.Context(), seeds...)
	if err != nil || stats.Failed != 0 {
		t.Errorf("%v, %v", stats, err)
	}
	return stats
}

// Ten host names on one address: each host has its pace, and the address too.
func TestHostsThatShareAnAddress_K173(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cfg           crawler.Config
		host, address time.Duration // least gaps
		most          int
	}{
		"one at a time": {crawler.Config{Spacing: 500 * time.Millisecond, Address: crawler.HostPolicy{MaxInFlight: 1}}, 500 * time.Millisecond, 20 * time.Millisecond, 1},
		"spacing":       {crawler.Config{Spacing: time.Second, PerHost: 2, Address: crawler.HostPolicy{Spacing: 150 * time.Millisecond, MaxInFlight: 2}}, time.Second, 150 * time.Millisecond, 2},
		"delay":         {crawler.Config{Delay: time.Second, Address: crawler.HostPolicy{Delay: 150 * time.Millisecond}}, time.Second, 170 * time.Millisecond, 1},
		"the host's":    {crawler.Config{Spacing: time.Second, Address: crawler.HostPolicy{Spacing: time.Millisecond}}, time.Second, time.Millisecond, 10},
		"none":          {crawler.Config{Spacing: time.Second}, time.Second, 0, 10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T, w *web) {
				r := shared(t, w, slowly)
				var seeds []string
				for i := range 10 {
					seeds = append(seeds, numbered(fmt.Sprintf("h%d.example", i), 8)...)
				}
				c.cfg.IgnoreRobots = true
				start := time.Now()
				stats := crawlShared(t, w, r, c.cfg, seeds...)
				took := time.Since(start)
				gaps(t, "address", w.starts("/"), c.address)
				for i := range 10 {
					gaps(t, "host", w.starts(fmt.Sprintf("/h%d.example", i)), c.host)
				}
				if most := w.most["shared.example"]; most > c.most {
					t.Errorf("%d at a time, want %d", most, c.most)
				}
				if bound := max(80*c.address, 8*(c.host+20*time.Millisecond)); stats.Pages != 80 || took > bound*5/4+2*time.Second {
					t.Errorf("%v in %v, want about %v", stats, took, bound)
				}
			})
		})
	}
}

// Many hosts of one slow address leave room for others.
func TestSharedAddressKeepsNobodyWaiting(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		r := shared(t, w, func(http.ResponseWriter, *http.Request) { time.Sleep(5 * time.Second) })
		var seeds []string
		for i := range 50 {
			seeds = append(seeds, numbered(fmt.Sprintf("h%d.example", i), 2)...)
		}
		w.serve(t, "alone.example", slowly)
		seeds = append(seeds, numbered("alone.example", 20)...)
		start := time.Now()
		stats := crawlShared(t, w, r, crawler.Config{Concurrency: 4, Address: crawler.HostPolicy{MaxInFlight: 1}}, seeds...)
		alone := w.starts("/alone")
		if took := alone[len(alone)-1].end.Sub(start); stats.Pages != 120 || took > 20*time.Second {
			t.Errorf("%v; the host with an address of its own took %v", stats, took)
		}
		gaps(t, "address", w.starts("/h"), 5*time.Second)
		if took, bound := time.Since(start), 150*5*time.Second; took > bound*21/20 { // robots.txt of each host too
			t.Errorf("took %v, want about %v", took, bound)
		}
	})
}

func TestSetPaceWhileRunning(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		seeds := seedsOf(t, w, slowly, 60, "a.example")
		tr := w.transport()
		defer tr.Close()
		var mu sync.Mutex
		var told []crawler.Change
		e, err := crawler.New(crawler.Config{
			Fetcher: tr, IgnoreRobots: true, Handler: done, Spacing: 10 * time.Second, PerHost: 1,
			Hooks: crawler.Hooks{Changed: func(_ context.Context, c crawler.Change) {
				mu.Lock()
				defer mu.Unlock()
				told = append(told, c)
			}},
		})
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		defer time.AfterFunc(95*time.Second, func() {
			if err := e.SetPace(t.Context(), "a.example", crawler.HostPolicy{Spacing: 100 * time.Millisecond}); err != nil {
				t.Error(err)
			}
			e.SetAddressPace(t.Context(), crawler.HostPolicy{Spacing: time.Second})
		}).Stop()
		stats, err := e.Run(t.Context(), seeds...)
		all := w.starts("/a")
		if took := time.Since(start); err != nil || stats.Pages != 60 || took < 140*time.Second || took > 160*time.Second {
			t.Errorf("%v, %v in %v", stats, err, took)
		}
		gaps(t, "before", all[:10], 10*time.Second)
		gaps(t, "after", all[11:], time.Second)
		mu.Lock()
		defer mu.Unlock()
		if len(told) != 2 || told[0].Host != "a.example" || told[0].Pace.Spacing != 100*time.Millisecond || !told[1].Address {
			t.Errorf("told %+v", told)
		}
	})
}

// Several pages of a host wait for its robots.txt while the host is limited: none fails, and the limit holds.
func TestLimitWhileSeveralWaitForRobots(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		seeds := seedsOf(t, w, slowly, 6, "a.example", "b.example")
		limit := bucket(t, ratelimit.Rule{Match: "*", Rate: ratelimit.Every(3 * time.Second), Shared: true})
		var f failures
		stats, err := run(t, w, crawler.Config{Spacing: -1, PerHost: 4, Limiter: limit, MaxAttempts: 1, Handler: done, Hooks: f.hook()}, seeds...)
		if err != nil || stats.Pages != 12 || stats.Failed != 0 {
			t.Errorf("%v, %v, %v", stats, err, f.errs)
		}
		gaps(t, "all", w.starts("/"), 3*time.Second)
	})
}
