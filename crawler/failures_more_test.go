package crawler_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seine-go/seine/crawler"
	"github.com/seine-go/seine/fetch"
)

// A page that sends a browser to itself once, to set a cookie, is delivered: that it was seen does not stop it, and the
// loop of a page that never stops is bounded, and named as what it is.
func TestRedirectToItself_K013(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		path    string // that it redirects to
		times   int    // that it does
		foreign bool   // a Fetcher that follows nothing
		pages   int64
		fetches int
	}{
		{name: "once", path: "/a", times: 1, pages: 1, fetches: 2},
		{name: "with a fragment", path: "/a#again", times: 1, pages: 1, fetches: 2},
		{name: "three times", path: "/a", times: 3, pages: 1, fetches: 4},
		{name: "over another page", path: "/b", times: 1, pages: 1, fetches: 3},
		{name: "for ever", path: "/a", times: 1 << 30, fetches: 11},
		{name: "over another page for ever", path: "/b", times: 1 << 30, fetches: 11},
		{name: "once, another fetcher", path: "/a", times: 1, foreign: true, pages: 1, fetches: 2},
		{name: "over another page, another fetcher", path: "/b", times: 1, foreign: true, pages: 1, fetches: 3},
		{name: "over another page for ever, another fetcher", path: "/b", times: 1 << 30, foreign: true, fetches: 11},
		{name: "for ever, another fetcher", path: "/a", times: 1 << 30, foreign: true, fetches: 11},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T, w *web) {
				n := 0
				w.serve(t, "films.example", func(rw http.ResponseWriter, r *http.Request) {
					switch {
					case r.URL.Path == "/b":
						http.Redirect(rw, r, "/a", http.StatusFound)
					case n < c.times:
						n++
						http.SetCookie(rw, &http.Cookie{Name: "seen", Value: "1"})
						rw.Header().Set("Location", c.path)
						rw.WriteHeader(http.StatusFound)
					default:
						pages(map[string]string{"/a": links("/a")})(rw, r)
					}
				})
				var f failures
				cfg := crawler.Config{IgnoreRobots: true, Handler: follow, Hooks: f.hook()}
				var err error
				var stats *crawler.Stats
				if c.foreign {
					rt := &http.Transport{DialContext: w.network.DialContext}
					defer rt.CloseIdleConnections()
					cfg.Fetcher = fetch.FromRoundTripper(rt)
					e, bad := crawler.New(cfg)
					if bad != nil {
						t.Fatal(bad)
					}
					stats, err = e.Run(t.Context(), "http://films.example/a")
				} else {
					stats, err = run(t, w, cfg, "http://films.example/a")
				}
				if err != nil || stats.Pages != c.pages || !stats.Finished || len(w.urls()) != c.fetches {
					t.Errorf("%v, %v, %d fetches, %v", stats, err, len(w.urls()), f.errs)
				}
				if c.pages == 0 {
					if stats.Failed != 1 || stats.Retried != 0 {
						t.Errorf("%v, %d retried", stats, stats.Retried)
					}
					for url, err := range f.errs {
						if !errors.Is(err, crawler.ErrTooManyHops) && !errors.Is(err, fetch.ErrRedirect) {
							t.Errorf("%s: %v", url, err)
						}
					}
				}
			})
		})
	}
}

// lateFrontier takes two milliseconds for each call, before and after.
type lateFrontier struct{ *crawler.Memory }

func (f lateFrontier) Add(ctx context.Context, reqs ...*crawler.Request) ([]crawler.AddStatus, error) {
	time.Sleep(2 * time.Millisecond)
	defer time.Sleep(2 * time.Millisecond)
	return f.Memory.Add(ctx, reqs...)
}

func (f lateFrontier) Settle(ctx context.Context, s ...crawler.Settlement) error {
	time.Sleep(2 * time.Millisecond)
	defer time.Sleep(2 * time.Millisecond)
	return f.Memory.Settle(ctx, s...)
}

// Sixteen that add one URL at a time to a slow frontier: one fetch.
func TestAddedByManyFetchedOnce_K015(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) { // by sixteen pages, each in three spellings
		site := map[string]string{"/one": ""}
		for i := range 16 {
			site[fmt.Sprint("/", i)] = links("/one", "/%6Fne", "/./one#x")
		}
		w.serve(t, "films.example", pages(site))
		cfg := crawler.Config{IgnoreRobots: true, Spacing: -1, PerHost: -1, Concurrency: 16, Handler: follow, Frontier: lateFrontier{crawler.NewMemory(crawler.MemoryOptions{})}}
		stats, err := run(t, w, cfg, numbered("films.example", 16)...)
		if err != nil || stats.Pages != 17 || w.count("http://films.example/one")+w.count("http://films.example/%6Fne") != 1 {
			t.Errorf("%v, %v", stats, err)
		}
	})
	bubble(t, func(t *testing.T, _ *web) { // by sixteen goroutines
		f := lateFrontier{crawler.NewMemory(crawler.MemoryOptions{})}
		var group sync.WaitGroup
		statuses := make([]crawler.AddStatus, 16)
		for i := range statuses {
			group.Go(func() {
				s, err := f.Add(t.Context(), &crawler.Request{URL: "http://films.example/one"})
				if err != nil {
					t.Error(err)
					return
				}
				statuses[i] = s[0]
			})
		}
		group.Wait()
		if slices.Sort(statuses); statuses[0] != crawler.Added || statuses[1] != crawler.Duplicate || statuses[15] != crawler.Duplicate {
			t.Error(statuses)
		}
	})
}

// The robots.txt of ten thousand hosts are asked for under the same bound as pages, each once and before its page, and
// the page keeps its distance from it.
func TestRobotsPassTheSameLimits_K082(t *testing.T) {
	t.Parallel()
	const hosts, places = 10_000, 40
	bubble(t, func(t *testing.T, _ *web) {
		var mu sync.Mutex
		flight, most := 0, 0
		robots, early := map[string]time.Time{}, 0
		fetcher := fetch.FetcherFunc(func(_ context.Context, req *fetch.Request) (*fetch.Response, error) {
			host := strings.SplitN(req.URL, "/", 4)[2]
			mu.Lock()
			if flight++; flight > most {
				most = flight
			}
			if at, asked := robots[host]; strings.HasSuffix(req.URL, "/robots.txt") {
				if asked {
					t.Errorf("%s was asked for twice", req.URL)
				}
				robots[host] = time.Now()
			} else if !asked || time.Since(at) < crawler.DefaultSpacing {
				early++
			}
			mu.Unlock()
			time.Sleep(100 * time.Millisecond)
			mu.Lock()
			defer mu.Unlock()
			flight--
			return &fetch.Response{URL: req.URL, Status: 404}, nil
		})
		var seeds []string
		for i := range hosts {
			seeds = append(seeds, fmt.Sprintf("http://h%d.example/", i))
		}
		e, err := crawler.New(crawler.Config{Fetcher: fetcher, Handler: done, AllStatuses: true, Concurrency: places})
		if err != nil {
			t.Fatal(err)
		}
		stats, err := e.Run(t.Context(), seeds...)
		if err != nil || stats.Pages != hosts || stats.Requests != 2*hosts || len(robots) != hosts {
			t.Errorf("%v, %d requests, %v", stats, stats.Requests, err)
		}
		if most > places || early > 0 {
			t.Errorf("%d in flight at a time of %d, %d pages too early", most, places, early)
		}
	})
}

// Names of hosts in a scope are compared with those of URLs, port included; an entry that was meant for a seed on
// another port, and would hold nothing of it, is an error before anything is fetched.
func TestUselessScopeIsAnError_K168(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		scope crawler.Scope
		bad   bool
	}{
		{"the host without its port", crawler.Scope{Hosts: []string{"films.example"}}, true},
		{"among others", crawler.Scope{Hosts: []string{"other.example", "films.example", "films.example:81"}}, true},
		{"an address without its port", crawler.Scope{Hosts: []string{"127.0.0.1"}}, true},
		{"the host with its port", crawler.Scope{Hosts: []string{"films.example:8080", "127.0.0.1:8080"}}, false},
		{"both", crawler.Scope{Hosts: []string{"films.example", "films.example:8080", "127.0.0.1:8080"}}, false},
		{"the domain, on any port", crawler.Scope{Hosts: []string{"films.example"}, Domains: []string{"films.example", "127.0.0.1"}}, false},
		{"any host", crawler.Scope{Hosts: []string{"*"}}, false},
		{"a prefix", crawler.Scope{Hosts: []string{"films.example"}, Prefixes: []string{"http://films.example:8080/", "http://127.0.0.1:8080/"}}, false},
		{"none", crawler.Scope{}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var asked []string
			e, err := crawler.New(crawler.Config{Scope: c.scope, IgnoreRobots: true, Spacing: -1, Concurrency: 1, Handler: follow, Fetcher: fetch.FetcherFunc(func(_ context.Context, req *fetch.Request) (*fetch.Response, error) {
				asked = append(asked, req.URL)
				return &fetch.Response{URL: req.URL, Status: 200, Header: http.Header{"Content-Type": {"text/html"}}, Body: []byte(links("/linked"))}, nil
			})})
			if err != nil {
				t.Fatal(err)
			}
			stats, err := e.Run(t.Context(), "http://films.example:8080/", "http://127.0.0.1:8080/")
			var bad *crawler.ConfigError
			if c.bad {
				if !errors.As(err, &bad) || bad.Field != "Scope.Hosts" || !strings.Contains(bad.Reason, ":8080") || len(asked) > 0 {
					t.Errorf("%v, %d fetched", err, len(asked))
				}
				return
			}
			if err != nil || stats.Pages != 4 {
				t.Errorf("%v, %v, fetched %q", stats, err, asked)
			}
		})
	}
}
