package crawler_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seine-go/seine/crawler"
)

// Failures that other crawlers have shown; the ids are those of docs/faults.md.

func TestSlowLastPageIsWaitedFor_K004(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		w.serve(t, "films.example", func(rw http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/slow" {
				time.Sleep(5 * time.Second)
			}
			pages(map[string]string{"/slow": links("/a", "/b"), "/a": "", "/b": ""})(rw, r)
		})
		stats, err := run(t, w, crawler.Config{IgnoreRobots: true, PerHost: 4}, "http://films.example/slow")
		if err != nil || stats.Pages != 3 {
			t.Errorf("%v, %v", stats, err)
		}
	})
	bubble(t, func(t *testing.T, w *web) { // a site of one page
		w.serve(t, "films.example", pages(map[string]string{"/": ""}))
		stats, err := run(t, w, crawler.Config{IgnoreRobots: true}, "http://films.example/")
		if last := w.visits[0].end; err != nil || stats.Pages != 1 || time.Since(last) > 100*time.Millisecond {
			t.Errorf("%v, %v, %v after its page", stats, err, time.Since(last))
		}
	})
}

func TestServerThatNeverAnswers_K005(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		w.serve(t, "films.example", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		var f failures
		start := time.Now()
		stats, err := run(t, w, crawler.Config{IgnoreRobots: true, Hooks: f.hook()}, "http://films.example/")
		if err != nil || !stats.Finished || stats.Failed != 1 || f.errs["http://films.example/"] == nil || time.Since(start) > 10*time.Minute {
			t.Errorf("%v, %v, %v after %v", stats, err, f.errs, time.Since(start))
		}
	})
}

func TestScopeComparesLabels_K011(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		evil := []string{"notexample.com", "example.com.evil.test", "xexample.com", "example.co", "wwwexample.com"}
		refs := []string{"http://www.example.com/", "http://a.b.example.com/"}
		for _, host := range evil {
			w.serve(t, host, pages(map[string]string{"/": ""}))
			refs = append(refs, "http://"+host+"/")
		}
		for _, host := range []string{"example.com", "www.example.com", "a.b.example.com"} {
			w.serve(t, host, pages(map[string]string{"/": links(refs...)}))
		}
		for _, scope := range []crawler.Scope{{Domains: []string{"example.com"}}, {}} {
			frontier := crawler.NewMemory(crawler.MemoryOptions{})
			stats, err := run(t, w, crawler.Config{IgnoreRobots: true, Scope: scope, Frontier: frontier}, "http://example.com/")
			if want := int64(1 + 2*len(scope.Domains)); err != nil || stats.Pages != want {
				t.Errorf("%+v: %v, %v, want %d pages", scope, stats, err, want)
			}
		}
		for _, host := range evil {
			if w.count("http://"+host+"/") > 0 {
				t.Errorf("%s was fetched", host)
			}
		}
	})
}

func TestFailedIsNotSeen_K014(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		n := 0
		w.serve(t, "films.example", func(rw http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/flaky" {
				if n++; n == 1 {
					rw.WriteHeader(503)
					return
				}
			}
			pages(map[string]string{"/": links("/flaky", "/later"), "/later": links("/flaky"), "/flaky": ""})(rw, r)
		})
		stats, err := run(t, w, crawler.Config{IgnoreRobots: true}, "http://films.example/")
		if err != nil || stats.Pages != 3 || stats.Failed != 0 || n != 2 {
			t.Errorf("%v, %v, fetched %d times", stats, err, n)
		}
	})
}

func TestFailedTryLeavesNothingBehind_K017(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		w.serve(t, "films.example", pages(map[string]string{"/1": "", "/2": "", "/once": ""}))
		store := &crawler.MemoryStore{}
		stats, err := run(t, w, crawler.Config{IgnoreRobots: true, Store: store, AllStatuses: true, Handler: crawler.HandlerFunc(func(_ context.Context, p *crawler.Page) error {
			if p.Depth > 0 {
				return nil
			}
			for i := range 3 {
				if err := p.Save(fmt.Sprintf("item/%d/%d", p.Attempt, i), i); err != nil {
					return err
				}
			}
			refs := []*crawler.Request{{URL: "/1"}, {URL: "/2"}}
			if p.Attempt == 1 {
				refs = append(refs, &crawler.Request{URL: "/only-in-the-first-try"})
			}
			if err := p.Add(refs...); err != nil {
				return err
			}
			if p.Attempt == 1 {
				return errors.New("not this time")
			}
			return nil
		})}, "http://films.example/")
		var keys []string
		for e := range store.Scan(t.Context(), "item/") {
			keys = append(keys, e.Key)
		}
		if want := []string{"item/2/0", "item/2/1", "item/2/2"}; err != nil || !slices.Equal(keys, want) {
			t.Errorf("%q, %v, %v", keys, stats, err)
		}
		if want := []string{"http://films.example/", "http://films.example/", "http://films.example/1", "http://films.example/2"}; !slices.Equal(sorted(w.urls()), want) {
			t.Errorf("%q", w.urls())
		}
	})
}

// Queries that grow, URLs that are put into their own links, and paths that repeat: each ends, and the rest is crawled.
func TestTrapsEnd_K018(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		w.serve(t, "films.example", func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("Content-Type", "text/html")
			switch {
			case r.URL.Path == "/":
				fmt.Fprint(rw, links("/q", "/self", "/deep/", "/good"))
			case r.URL.Path == "/q":
				fmt.Fprint(rw, links("/q?"+r.URL.RawQuery+"&q="))
			case strings.HasPrefix(r.URL.Path, "/self"):
				fmt.Fprint(rw, links("/self?u=http://films.example"+r.URL.RequestURI()+"/xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"))
			case strings.HasPrefix(r.URL.Path, "/deep/"):
				fmt.Fprint(rw, links("a/", "b/"))
			case r.URL.Path == "/good":
				fmt.Fprint(rw, links("/good/1", "/good/2"))
			}
		})
		stats, err := run(t, w, crawler.Config{IgnoreRobots: true, Spacing: -1, Traps: crawler.Traps{MaxSegments: 7}}, "http://films.example/")
		if err != nil || !stats.Finished || stats.Trapped < 3 || stats.Pages > 400 || w.count("http://films.example/good/2") != 1 {
			t.Errorf("%v, %d trapped, %v", stats, stats.Trapped, err)
		}
	})
}

// 20,000 requests wait, two at a time: a goroutine each would show.
func TestPendingRequestsCostNoGoroutine_K019(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		w.serve(t, "films.example", pages(nil))
		most := 0
		tr := w.transport()
		defer tr.Close()
		e, err := crawler.New(crawler.Config{Fetcher: tr, IgnoreRobots: true, AllStatuses: true, Concurrency: 2, PerHost: 2, MaxPages: 50, Handler: crawler.HandlerFunc(func(_ context.Context, p *crawler.Page) error {
			most = max(most, runtime.NumGoroutine())
			return nil
		})})
		if err != nil {
			t.Fatal(err)
		}
		seeds := make([]string, 20_000)
		for i := range seeds {
			seeds[i] = fmt.Sprint("http://films.example/", i)
		}
		before := runtime.NumGoroutine()
		if _, err := e.Run(t.Context(), seeds...); err != nil {
			t.Fatal(err)
		}
		if most > before+1000 { // other tests run beside this one
			t.Errorf("%d goroutines, %d before", most, before)
		}
	})
}

// A slow host with much to do does not slow the others.
func TestSlowHostHoldsUpNobody_K021(t *testing.T) {
	t.Parallel()
	took := map[bool]time.Duration{}
	for _, withSlow := range []bool{false, true} {
		bubble(t, func(t *testing.T, w *web) {
			var seeds []string
			for i := range 100 {
				host := fmt.Sprintf("fast%d.example", i)
				w.serve(t, host, func(http.ResponseWriter, *http.Request) { time.Sleep(50 * time.Millisecond) })
				for j := range 5 {
					seeds = append(seeds, fmt.Sprintf("http://%s/%d", host, j))
				}
			}
			w.serve(t, "slow.example", func(http.ResponseWriter, *http.Request) { time.Sleep(2 * time.Second) })
			if withSlow {
				slow := make([]string, 2000)
				for j := range slow {
					slow[j] = fmt.Sprintf("http://slow.example/%d", j)
				}
				seeds = append(slow, seeds...)
			}
			start := time.Now()
			if _, err := run(t, w, crawler.Config{IgnoreRobots: true, Concurrency: 64, MaxPages: 600, Spacing: 100 * time.Millisecond}, seeds...); err != nil {
				t.Fatal(err)
			}
			fast := 0
			for _, v := range w.visits {
				if strings.Contains(v.url, "fast") {
					fast++
					took[withSlow] = max(took[withSlow], v.end.Sub(start))
				}
			}
			if fast != 500 {
				t.Errorf("%d pages of the fast hosts", fast)
			}
		})
	}
	if took[true] > took[false]*11/10 {
		t.Errorf("%v beside the slow host, %v without", took[true], took[false])
	}
}

// What a resolver can answer.
func TestResolverAnswers_K065(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err  error
		none bool
		asks int
	}{
		"no such host": {err: &net.DNSError{Err: "no such host", IsNotFound: true}, asks: 1},
		"server fault": {err: &net.DNSError{Err: "server misbehaving", IsTemporary: true}, asks: 3},
		"empty":        {none: true, asks: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T, w *web) {
				tr := w.transport()
				asks := 0
				tr.Resolver = resolver(func() ([]netip.Addr, error) {
					asks++
					return nil, c.err
				})
				defer tr.Close()
				var f failures
				e, err := crawler.New(crawler.Config{Fetcher: tr, IgnoreRobots: true, Hooks: f.hook(), Handler: crawler.HandlerFunc(func(context.Context, *crawler.Page) error { return nil })})
				if err != nil {
					t.Fatal(err)
				}
				start := time.Now()
				stats, err := e.Run(t.Context(), "http://films.example/")
				if err != nil || stats.Failed != 1 || len(f.errs) != 1 || asks < 1 || asks > 3 || c.asks == 3 && asks != 3 || time.Since(start) > time.Minute {
					t.Errorf("%v, %v, %v, asked %d times in %v", stats, err, f.errs, asks, time.Since(start))
				}
			})
		})
	}
}

type resolver func() ([]netip.Addr, error)

func (r resolver) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) { return r() }

// One pace for all hosts is each host's own: two hosts take as long as one.
func TestPaceIsPerHost_K167(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		var seeds []string
		for _, host := range []string{"a.example", "b.example"} {
			w.serve(t, host, func(http.ResponseWriter, *http.Request) { time.Sleep(20 * time.Millisecond) })
			for i := range 5 {
				seeds = append(seeds, fmt.Sprintf("http://%s/%d", host, i))
			}
		}
		start := time.Now()
		stats, err := run(t, w, crawler.Config{IgnoreRobots: true, Delay: 100 * time.Millisecond}, seeds...)
		if took, want := time.Since(start), 4*100*time.Millisecond+5*20*time.Millisecond; err != nil || stats.Pages != 10 || took != want {
			t.Errorf("%v, %v: %v, want %v", stats, err, took, want)
		}
	})
}

// A crawl-delay holds for the host that asks for it and no other.
func TestCrawlDelayIsThatHosts_K170(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		w.serve(t, "slow.example", pages(map[string]string{"/robots.txt": "User-agent: *\nCrawl-delay: 1"}))
		w.serve(t, "fast.example", pages(nil))
		var seeds []string
		for i := range 3 {
			seeds = append(seeds, fmt.Sprint("http://slow.example/", i), fmt.Sprint("http://fast.example/", i))
		}
		start := time.Now()
		if _, err := run(t, w, crawler.Config{Spacing: 10 * time.Millisecond, AllStatuses: true}, seeds...); err != nil {
			t.Fatal(err)
		}
		var slow, fast time.Duration
		for _, v := range w.visits {
			if strings.Contains(v.url, "slow") {
				slow = v.start.Sub(start)
			} else {
				fast = v.start.Sub(start)
			}
		}
		if slow < 3*time.Second || fast > 100*time.Millisecond { // robots.txt, then three pages
			t.Errorf("the last page of the slow host came after %v, of the fast one after %v", slow, fast)
		}
	})
}
