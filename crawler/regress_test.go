package crawler_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime"
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

// A robots.txt that cannot be had costs the pages no try: they wait for a while, and are fetched or fail. The log says
// when that begins and ends.
func TestRobotsOutageIsWaitedOut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		outage    time.Duration
		patience  time.Duration
		asks      int // for robots.txt
		took      time.Duration
		begin     string
		endOfThat string
	}{
		{"short", time.Minute, 0, 5, 75 * time.Second, "cannot be had", "is there again"},
		{"all the time", 110 * time.Second, 0, 6, 155 * time.Second, "cannot be had", "is there again"},
		{"long", 1000 * time.Hour, 0, 6, 155 * time.Second, "cannot be had", "given up"},
		{"long, and awaited", 15 * time.Minute, time.Hour, 9, 21*time.Minute + 15*time.Second, "cannot be had", "is there again"},
		{"for ever", 10 * time.Hour, -1, 19, 10 * time.Hour, "cannot be had", "is there again"},
	} {
		bubble(t, func(t *testing.T, w *web) {
			start, asks := time.Now(), 0
			w.serve(t, "films.example", func(rw http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/robots.txt" {
					return
				}
				if asks++; time.Since(start) < c.outage {
					rw.WriteHeader(http.StatusInternalServerError)
				}
			})
			var f failures
			var log strings.Builder
			cfg := crawler.Config{Hooks: f.hook(), RobotsPatience: c.patience, Logger: slog.New(slog.NewTextHandler(&log, nil))}
			stats, err := run(t, w, cfg, numbered("films.example", 3)...)
			good := c.patience == 0 && c.outage < time.Hour || c.patience != 0
			if err != nil || (stats.Pages == 3) != good || stats.Pages+stats.Failed != 3 || !stats.Finished || stats.Requests != int64(asks)+stats.Pages {
				t.Errorf("%s: %v, %v", c.name, stats, err)
			}
			if took := time.Since(start); took < c.took || took > c.took+c.took/10+10*time.Second || asks > c.asks+1 || asks < c.asks-10 {
				t.Errorf("%s: %v, robots.txt asked for %d times", c.name, took, asks)
			}
			for _, want := range []string{c.begin, c.endOfThat} {
				if strings.Count(log.String(), "msg=\"robots.txt "+want) != 1 {
					t.Errorf("%s: %q is not there once:\n%s", c.name, want, log.String())
				}
			}
			for url, err := range f.errs {
				var why *crawler.RobotsError
				if !errors.As(err, &why) || !errors.Is(err, crawler.ErrRobotsUnavailable) || errors.Is(err, crawler.ErrRobotsDisallowed) || why.Host != "films.example" || !strings.Contains(err.Error(), "500") {
					t.Errorf("%s: %s: %v", c.name, url, err)
				}
			}
		})
	}
}

// A crawl-delay that is longer than robots.txt stays fresh is kept, and pages are fetched.
func TestLongCrawlDelay(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		w.serve(t, "films.example", func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("Cache-Control", "max-age=60")
			pages(map[string]string{"/robots.txt": "User-agent: *\nCrawl-delay: 300"})(rw, r)
		})
		stats, err := run(t, w, crawler.Config{AllStatuses: true}, "http://films.example/1", "http://films.example/2")
		if err != nil || stats.Pages != 2 {
			t.Errorf("%v, %v", stats, err)
		}
		for i, v := range w.visits[1:] {
			if gap := v.start.Sub(w.visits[i].end); gap < 5*time.Minute {
				t.Errorf("%s came %v after %s", v.url, gap, w.visits[i].url)
			}
		}
	})
}

// More seeds than the frontier holds are offered as it has room.
func TestMoreSeedsThanRoom(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		w.serve(t, "films.example", pages(nil))
		var seeds []string
		for i := range 50 {
			seeds = append(seeds, fmt.Sprint("http://films.example/", i))
		}
		stats, err := run(t, w, crawler.Config{Frontier: crawler.NewMemory(crawler.MemoryOptions{MaxPending: 10}), IgnoreRobots: true, AllStatuses: true}, seeds...)
		if err != nil || stats.Pages != 50 || !stats.Finished {
			t.Errorf("%v, %v", stats, err)
		}
	})
}

// A page whose links have no room waits for it; where there will never be enough the crawl ends with ErrFull, after
// everything else is done.
func TestMoreLinksThanRoom(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		links int
		pages int64
		full  bool
	}{{links: 8, pages: 18}, {links: 50, pages: 9, full: true}} {
		bubble(t, func(t *testing.T, w *web) {
			var refs []string
			for i := range c.links {
				refs = append(refs, fmt.Sprint("/link", i))
			}
			w.serve(t, "films.example", func(rw http.ResponseWriter, r *http.Request) {
				rw.Header().Set("Content-Type", "text/html")
				if r.URL.Path == "/seed0" {
					fmt.Fprint(rw, links(refs...))
				}
			})
			seeds := []string{}
			for i := range 10 {
				seeds = append(seeds, fmt.Sprint("http://films.example/seed", i))
			}
			stats, err := run(t, w, crawler.Config{Frontier: crawler.NewMemory(crawler.MemoryOptions{MaxPending: 10}), IgnoreRobots: true}, seeds...)
			if errors.Is(err, crawler.ErrFull) != c.full || stats.Pages != c.pages {
				t.Errorf("%d links: %v, %v", c.links, stats, err)
			}
		})
	}
}

type panicStore struct{ crawler.MemoryStore }

func (s *panicStore) Put(ctx context.Context, key string, value []byte) error {
	if strings.HasPrefix(key, "seine/") {
		return s.MemoryStore.Put(ctx, key, value)
	}
	panic("the store")
}

// The application's own code may panic or end its goroutine anywhere: the process lives, and no lease is kept.
func TestFaultsOfTheApplication(t *testing.T) {
	t.Parallel()
	follow := func(_ context.Context, p *crawler.Page) error { return p.Save("k", 1) }
	for name, c := range map[string]struct {
		cfg   crawler.Config
		pages int64
		fails bool // the run
	}{
		"a handler ends its goroutine": {cfg: crawler.Config{Concurrency: 1, Handler: crawler.HandlerFunc(func(_ context.Context, p *crawler.Page) error {
			if strings.HasSuffix(p.URL, "/0") {
				runtime.Goexit()
			}
			return nil
		})}, pages: 4},
		"a hook panics":  {cfg: crawler.Config{Handler: crawler.HandlerFunc(func(context.Context, *crawler.Page) error { return crawler.Permanent(nil) }), Hooks: crawler.Hooks{Failed: func(context.Context, *crawler.PageError) { panic("the hook") }}}, fails: true},
		"a store panics": {cfg: crawler.Config{Handler: crawler.HandlerFunc(follow), Store: &panicStore{}}},
		"a middleware returns nothing": {cfg: crawler.Config{Handler: crawler.HandlerFunc(follow), Middleware: []fetch.Middleware{func(fetch.Fetcher) fetch.Fetcher {
			return fetch.FetcherFunc(func(context.Context, *fetch.Request) (*fetch.Response, error) { return nil, nil })
		}}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T, w *web) {
				w.serve(t, "films.example", pages(map[string]string{"/0": "", "/1": "", "/2": "", "/3": "", "/4": ""}))
				c.cfg.IgnoreRobots = true
				frontier := crawler.NewMemory(crawler.MemoryOptions{})
				c.cfg.Frontier = frontier
				stats, err := run(t, w, c.cfg, "http://films.example/0", "http://films.example/1", "http://films.example/2", "http://films.example/3", "http://films.example/4")
				if (err != nil) != c.fails || stats.Pages != c.pages {
					t.Errorf("%v, %v", stats, err)
				}
				if s, err := frontier.Stats(t.Context()); err != nil || s.Leased != 0 {
					t.Errorf("%+v, %v", s, err)
				}
			})
		})
	}
}

// A body that was cut is fetched again, and at last delivered and counted as what it is.
func TestCutBodiesAreToldOf(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		w.serve(t, "films.example", func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Content-Length", "5000")
			fmt.Fprint(rw, "eleven byte")
			rw.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		})
		var got *crawler.Page
		stats, err := run(t, w, crawler.Config{IgnoreRobots: true, Handler: crawler.HandlerFunc(func(_ context.Context, p *crawler.Page) error {
			got = p
			return nil
		})}, "http://films.example/")
		if err != nil || stats.Pages != 1 || stats.Cut != 1 || stats.Retried != 2 || got.Attempt != 3 || !got.Response.Truncated {
			t.Errorf("%v, %d cut, %d retried, %v", stats, stats.Cut, stats.Retried, err)
		}
	})
}

// A Fetcher that is no Transport sends what the Config says too; what it cannot be told is refused.
func TestConfigReachesAnyFetcher(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		w.serve(t, "films.example", func(rw http.ResponseWriter, _ *http.Request) { fmt.Fprint(rw, strings.Repeat("x", 100)) })
		rt := &http.Transport{DialContext: w.network.DialContext}
		defer rt.CloseIdleConnections()
		var got *crawler.Page
		e, err := crawler.New(crawler.Config{Fetcher: fetch.FromRoundTripper(rt), Agent: "mybot", MaxBody: 10, Handler: crawler.HandlerFunc(func(_ context.Context, p *crawler.Page) error {
			got = p
			return nil
		})})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Run(t.Context(), "http://films.example/"); err != nil || len(got.Response.Body) > 10 || !got.Response.Truncated {
			t.Errorf("%v, %d bytes", err, len(got.Response.Body))
		}
		for _, v := range w.visits {
			if !strings.HasPrefix(v.agent, "mybot ") {
				t.Errorf("%s was asked for by %q", v.url, v.agent)
			}
		}
	})
	h := crawler.HandlerFunc(func(context.Context, *crawler.Page) error { return nil })
	for field, cfg := range map[string]crawler.Config{
		"AllowPrivate": {Handler: h, Fetcher: fetch.FetcherFunc(func(context.Context, *fetch.Request) (*fetch.Response, error) { return nil, nil }), AllowPrivate: true},
		"UserAgent":    {Handler: h, Fetcher: &fetch.Transport{UserAgent: "y/1"}, Agent: "x", UserAgent: "x/1"},
	} {
		var bad *crawler.ConfigError
		if _, err := crawler.New(cfg); !errors.As(err, &bad) || bad.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}
