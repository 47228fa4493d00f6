package crawler_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/seine-go/seine/crawler"
)

// done is a handler that wants nothing of its pages.
var done = crawler.HandlerFunc(func(context.Context, *crawler.Page) error { return nil })

// numbered are n seeds on a host.
func numbered(host string, n int) (seeds []string) {
	for i := range n {
		seeds = append(seeds, fmt.Sprintf("http://%s/%d", host, i))
	}
	return seeds
}

// A page counts once against the budget: however often it is tried, and wherever redirects lead it.
func TestPageBudgetCountsPages(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		seeds   int
		budget  int64
		pages   int64
		fetches int
		spent   string
		finish  bool
	}{
		{name: "at the bound", seeds: 3, budget: 3, pages: 3, fetches: 6, finish: true},
		{name: "one past it", seeds: 4, budget: 3, pages: 3, fetches: 6, spent: "MaxPages"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T, w *web) {
				tried := map[string]int{}
				w.serve(t, "films.example", func(rw http.ResponseWriter, r *http.Request) {
					if tried[r.URL.Path]++; tried[r.URL.Path] == 1 {
						rw.WriteHeader(http.StatusServiceUnavailable)
					}
				})
				// The retries are due before the page that is one too many may be asked for.
				cfg := crawler.Config{IgnoreRobots: true, MaxPages: c.budget, Handler: done, Spacing: 20 * time.Second}
				stats, err := run(t, w, cfg, numbered("films.example", c.seeds)...)
				if err != nil || stats.Pages+stats.Retried < c.pages || stats.Spent != c.spent || stats.Finished != c.finish {
					t.Errorf("%v, finished %v, %v", stats, stats.Finished, err)
				}
				if c.finish && (stats.Pages != c.pages || len(w.urls()) != c.fetches) {
					t.Errorf("%v, %d fetches, want %d", stats, len(w.urls()), c.fetches)
				}
				if strings.Contains(stats.String(), "spent") != (c.spent != "") {
					t.Error(stats)
				}
			})
		})
	}
	bubble(t, func(t *testing.T, w *web) { // a redirect that becomes a request of its own goes on with its page
		w.serve(t, "a.example", func(rw http.ResponseWriter, r *http.Request) {
			http.Redirect(rw, r, "http://b.example"+r.URL.Path, http.StatusFound)
		})
		w.serve(t, "b.example", func(http.ResponseWriter, *http.Request) { time.Sleep(10 * time.Second) })
		stats, err := run(t, w, crawler.Config{IgnoreRobots: true, MaxPages: 8, Handler: done}, append(numbered("a.example", 5), "http://b.example/x", "http://b.example/y", "http://b.example/z")...)
		if err != nil || stats.Pages != 8 || stats.Moved == 0 || stats.Spent != "" || !stats.Finished {
			t.Errorf("%v, %d moved, %v", stats, stats.Moved, err)
		}
	})
}

// The budget is that of a run: the next goes on with what is left, until nothing is.
func TestBudgetIsOfARun(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		w.serve(t, "films.example", func(http.ResponseWriter, *http.Request) {})
		e := pagesOf(t, w, crawler.Config{IgnoreRobots: true, MaxPages: 4, Handler: done})
		seeds := numbered("films.example", 10)
		for i, want := range []int64{4, 4, 2} {
			stats, err := e.Run(t.Context(), seeds...)
			if err != nil || stats.Pages != want || (stats.Spent == "MaxPages") == stats.Finished || stats.Finished != (i == 2) {
				t.Errorf("run %d: %v, %v", i, stats, err)
			}
			seeds = nil
		}
		if s := e.Stats(); s.Pages != 10 || len(w.urls()) != 10 {
			t.Errorf("%v, %d fetches", s, len(w.urls()))
		}
	})
}

// When its time is over a run asks for nothing more, and what was asked for is waited for.
func TestTimeBudget(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		w.serve(t, "films.example", func(http.ResponseWriter, *http.Request) { time.Sleep(7 * time.Second) })
		start := time.Now()
		stats, err := run(t, w, crawler.Config{IgnoreRobots: true, MaxTime: 10 * time.Second, Handler: done}, numbered("films.example", 10)...)
		if took := time.Since(start); err != nil || stats.Pages != 2 || stats.Spent != "MaxTime" || stats.Finished || took != 14*time.Second {
			t.Errorf("%v after %v, %v", stats, took, err)
		}
	})
	bubble(t, func(t *testing.T, w *web) { // also while nothing can be asked for
		w.serve(t, "films.example", func(http.ResponseWriter, *http.Request) {})
		start := time.Now()
		stats, err := run(t, w, crawler.Config{IgnoreRobots: true, MaxTime: 10 * time.Second, Delay: time.Hour, Handler: done}, numbered("films.example", 10)...)
		if took := time.Since(start); err != nil || stats.Pages != 1 || stats.Spent != "MaxTime" || took != 10*time.Second {
			t.Errorf("%v after %v, %v", stats, took, err)
		}
	})
}

// Seeds that still have no room when the budget is spent do not hold the run open.
func TestBudgetEndsWithSeedsLeft(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		w.serve(t, "films.example", func(http.ResponseWriter, *http.Request) {})
		cfg := crawler.Config{IgnoreRobots: true, MaxPages: 3, Handler: done, Frontier: crawler.NewMemory(crawler.MemoryOptions{MaxPending: 5})}
		stats, err := run(t, w, cfg, numbered("films.example", 50)...)
		if err != nil || stats.Pages != 3 || stats.Spent != "MaxPages" {
			t.Errorf("%v, %v", stats, err)
		}
	})
}

// Each host has a budget of its own; what is beyond it is refused, named, and can be driven again.
func TestHostBudget(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		budget crawler.Budget
		pages  int // of each host
		field  string
	}{
		{"pages", crawler.Budget{Pages: 3}, 3, "HostBudget.Pages"},
		{"bytes", crawler.Budget{Bytes: 35}, 4, "HostBudget.Bytes"},
		{"time", crawler.Budget{Time: 1200 * time.Millisecond}, 3, "HostBudget.Time"},
		{"no limit", crawler.Budget{Pages: -1, Bytes: -1, Time: -1}, 6, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T, w *web) {
				var seeds []string
				for _, host := range []string{"a.example", "b.example"} {
					w.serve(t, host, func(rw http.ResponseWriter, _ *http.Request) { fmt.Fprint(rw, "ten bytes.") })
					seeds = append(seeds, numbered(host, 6)...)
				}
				var f failures
				frontier := crawler.NewMemory(crawler.MemoryOptions{})
				stats, err := run(t, w, crawler.Config{IgnoreRobots: true, HostBudget: c.budget, Handler: done, Hooks: f.hook(), Frontier: frontier}, seeds...)
				if err != nil || stats.Pages != int64(2*c.pages) || stats.Refused != int64(12-2*c.pages) || stats.Failed != 0 || !stats.Finished || len(w.urls()) != 2*c.pages {
					t.Fatalf("%v, %v, %d fetches", stats, err, len(w.urls()))
				}
				for url, err := range f.errs {
					var spent *crawler.BudgetError
					if !errors.Is(err, crawler.ErrBudget) || !errors.As(err, &spent) || spent.Field != c.field || !strings.Contains(url, spent.Host) {
						t.Errorf("%s: %v", url, err)
					}
				}
				var keys []string
				for d := range frontier.Dead(t.Context()) {
					keys = append(keys, d.Key)
				}
				if n, err := frontier.Redrive(t.Context(), keys...); err != nil || n != 12-2*c.pages {
					t.Errorf("%d driven again, %v", n, err)
				}
			})
		})
	}
}
