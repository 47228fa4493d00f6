package crawler_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seine-go/seine/crawler"
	"github.com/seine-go/seine/fetch"
)

// slowFrontier takes its time to lease, as one on a disk does.
type slowFrontier struct{ *crawler.Memory }

func (f slowFrontier) Lease(ctx context.Context, want crawler.LeaseRequest) (crawler.LeaseBatch, error) {
	b, err := f.Memory.Lease(ctx, want)
	time.Sleep(2 * time.Millisecond)
	return b, err
}

// What is settled while another worker asks the frontier is not overlooked until the next poll.
func TestNoWakeUpIsLost(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		site := map[string]string{}
		for i := range 31 {
			site[fmt.Sprint("/", i)] = links(fmt.Sprint("/", 2*i+1), fmt.Sprint("/", 2*i+2))
		}
		w.serve(t, "films.example", pages(site))
		for _, c := range []int{0, 8} {
			start := time.Now()
			stats, err := run(t, w, crawler.Config{Frontier: slowFrontier{crawler.NewMemory(crawler.MemoryOptions{})}, IgnoreRobots: true, AllStatuses: true, Spacing: -1, PerHost: -1, Concurrency: c}, "http://films.example/0")
			if took := time.Since(start); err != nil || stats.Pages != 63 || took > 400*time.Millisecond {
				t.Errorf("%d at a time: %v, %v in %v", c, stats, err, took)
			}
		}
	})
}

// A handler that hands on the error of Add has failed; the request was sent and is no refusal.
func TestHandlersErrorIsNoRefusal(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		w.serve(t, "films.example", pages(map[string]string{"/": ""}))
		var f failures
		stats, err := run(t, w, crawler.Config{IgnoreRobots: true, Hooks: f.hook(), Handler: crawler.HandlerFunc(func(_ context.Context, p *crawler.Page) error {
			return p.Add(&crawler.Request{URL: "http://other.example/"})
		})}, "http://films.example/")
		if err != nil || stats.Failed != 1 || stats.Refused != 0 || len(w.urls()) != 3 {
			t.Errorf("%v, %v, %d fetches", stats, err, len(w.urls()))
		}
	})
}

// User info in a link is a credential: it is neither kept nor sent.
func TestUserInfoOfLinksIsDropped(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		w.serve(t, "films.example", pages(map[string]string{"/": links("http://u:secret@films.example/in"), "/in": ""}))
		var got []string
		_, err := run(t, w, crawler.Config{IgnoreRobots: true, Handler: crawler.HandlerFunc(func(_ context.Context, p *crawler.Page) error {
			p.FollowLinks()
			got = append(got, p.Request.URL, p.URL)
			return nil
		})}, "http://films.example/")
		if err != nil || len(got) != 4 || strings.Contains(strings.Join(got, " "), "secret") {
			t.Errorf("%q, %v", got, err)
		}
	})
}

// A run without seeds goes on with what the last one left, in the same scope.
func TestRunWithoutSeedsGoesOn(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		w.serve(t, "films.example", pages(map[string]string{"/": links("/1", "/2", "/3"), "/1": links("/4"), "/2": "", "/3": "", "/4": ""}))
		e := pagesOf(t, w, crawler.Config{IgnoreRobots: true, Handler: crawler.HandlerFunc(func(_ context.Context, p *crawler.Page) error {
			p.FollowLinks()
			return nil
		})})
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		if stats, err := e.Run(ctx, "http://films.example/"); err == nil || stats.Pages != 1 {
			t.Fatalf("%v, %v", stats, err)
		}
		if stats, err := e.Run(t.Context()); err != nil || stats.Pages != 4 || !stats.Finished {
			t.Errorf("%v, %v", stats, err)
		}
	})
}

// The spacing is kept where the host sees it: connections that take their time, and middlewares that wait, move a start
// but never bring two together.
func TestSpacingHoldsOnTheWire(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		perHost  int
		connects []time.Duration
		jitter   bool
	}{
		{name: "slow connects", connects: []time.Duration{0, 200 * time.Millisecond, 400 * time.Millisecond}},
		{name: "a middleware that waits", jitter: true},
		{name: "several in flight behind a middleware that waits", perHost: 3, jitter: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T, w *web) {
				w.serve(t, "films.example", func(rw http.ResponseWriter, _ *http.Request) {
					rw.Header().Set("Connection", "close")
					time.Sleep(50 * time.Millisecond)
				})
				tr := w.transport()
				defer tr.Close()
				dials := 0
				tr.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
					if len(c.connects) > 0 {
						time.Sleep(c.connects[dials%len(c.connects)])
					}
					dials++
					return w.network.DialContext(ctx, network, addr)
				}
				cfg := crawler.Config{Fetcher: tr, IgnoreRobots: true, PerHost: c.perHost, Handler: crawler.HandlerFunc(func(context.Context, *crawler.Page) error { return nil })}
				if c.jitter {
					var n atomic.Int64
					cfg.Middleware = []fetch.Middleware{func(next fetch.Fetcher) fetch.Fetcher {
						return fetch.FetcherFunc(func(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
							time.Sleep(time.Duration(n.Add(1)%4) * 170 * time.Millisecond)
							return next.Fetch(ctx, req)
						})
					}}
				}
				e, err := crawler.New(cfg)
				if err != nil {
					t.Fatal(err)
				}
				var seeds []string
				for i := range 20 {
					seeds = append(seeds, fmt.Sprint("http://films.example/", i))
				}
				if stats, err := e.Run(t.Context(), seeds...); err != nil || stats.Pages != 20 {
					t.Fatalf("%v, %v", stats, err)
				}
				slices.SortFunc(w.visits, func(a, b visit) int { return a.start.Compare(b.start) })
				for i, v := range w.visits[1:] {
					if gap := v.start.Sub(w.visits[i].start); gap < crawler.DefaultSpacing {
						t.Errorf("%s came %v after %s", v.url, gap, w.visits[i].url)
					}
				}
			})
		})
	}
}
