package crawler_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seine-go/seine/crawler"
	"github.com/seine-go/seine/fetch"
)

// Every page once, however it is linked; what is no page is neither fetched nor reported.
func TestCrawlFollowsEachPageOnce_K016(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		w.serve(t, "films.example", pages(map[string]string{
			"/":        links("/a", "a", "./a#x", "http://films.example/a", "http://FILMS.example:80/b", "mailto:x@films.example", "javascript:void(0)", "tel:123", "data:text/html,<a href=/no>", "//other.example/no", "/%61"),
			"/a":       links("/", "/b?q=1", "../c/"),
			"/b":       links("/a"),
			"/b?q=1":   links("/b?"),
			"/b?":      "",
			"/c/":      links("d"),
			"/c/d":     "",
			"/hidden/": "",
		}))
		var f failures
		stats, err := run(t, w, crawler.Config{Hooks: f.hook()}, "http://films.example")
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"/", "/a", "/b", "/b?", "/b?q=1", "/c/", "/c/d"}
		for i := range want {
			want[i] = "http://films.example" + want[i]
		}
		if got := sorted(w.urls()); !slices.Equal(got, want) {
			t.Errorf("fetched %q\nwant %q", got, want)
		}
		if len(f.errs) != 0 || stats.Pages != int64(len(want)) || !stats.Finished {
			t.Errorf("%v, failures %v", stats, f.errs)
		}
	})
}

func TestSpacingAndDelay(t *testing.T) {
	t.Parallel()
	site := map[string]string{"/": links("/1", "/2", "/3")}
	for i := range 4 {
		site[fmt.Sprint("/", i)] = ""
	}
	for _, c := range []struct {
		name    string
		cfg     crawler.Config
		robots  string
		latency time.Duration
		took    time.Duration // to the last answer: robots.txt, /, /1, /2, /3
	}{
		{name: "by default 500 ms from start to start", latency: 100 * time.Millisecond, took: 4*500*time.Millisecond + 100*time.Millisecond},
		{name: "a delay from end to start", cfg: crawler.Config{Delay: time.Second}, latency: 100 * time.Millisecond, took: 4*time.Second + 5*100*time.Millisecond},
		{name: "no spacing", cfg: crawler.Config{Spacing: -1}, latency: 100 * time.Millisecond, took: 500 * time.Millisecond},
		{name: "a crawl-delay", robots: "User-agent: *\nCrawl-delay: 2", latency: 100 * time.Millisecond, took: 4*2*time.Second + 500*time.Millisecond},
		{name: "the greater of delay and crawl-delay", cfg: crawler.Config{Delay: 3 * time.Second}, robots: "User-agent: seine\nCrawl-delay: 2", latency: 0, took: 12 * time.Second},
		{name: "in flight", cfg: crawler.Config{Spacing: -1, PerHost: 3}, latency: time.Second, took: 3 * time.Second},
		{name: "robots.txt ignored", cfg: crawler.Config{IgnoreRobots: true}, robots: "User-agent: *\nCrawl-delay: 2", took: 1500 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T, w *web) {
				w.serve(t, "films.example", func(rw http.ResponseWriter, r *http.Request) {
					time.Sleep(c.latency)
					if r.URL.Path == "/robots.txt" && c.robots != "" {
						fmt.Fprint(rw, c.robots)
						return
					}
					pages(site)(rw, r)
				})
				start := time.Now()
				if _, err := run(t, w, c.cfg, "http://films.example/"); err != nil {
					t.Fatal(err)
				}
				if n := len(w.urls()); n != 4 {
					t.Fatalf("%d pages", n)
				}
				if took := w.visits[len(w.visits)-1].end.Sub(start); took != c.took {
					t.Errorf("took %v, want %v", took, c.took)
				}
				if most := w.most["films.example"]; most > max(c.cfg.PerHost, 1) {
					t.Errorf("%d in flight", most)
				}
			})
		})
	}
}

func TestLimits_K007(t *testing.T) {
	t.Parallel()
	chain := map[string]string{}
	for i := range 30 {
		chain[fmt.Sprint("/", i)] = links(fmt.Sprint("/", i+1))
	}
	for _, c := range []struct {
		name string
		cfg  crawler.Config
		want int
		done bool
	}{
		{"depth 2", crawler.Config{MaxDepth: 2}, 3, true},
		{"depth 1", crawler.Config{MaxDepth: 1}, 2, true},
		{"pages 10", crawler.Config{MaxPages: 10}, 10, false},
		{"bytes", crawler.Config{MaxBytes: 120}, 3, false},
		{"no limit", crawler.Config{MaxDepth: -1, MaxPages: -1, MaxBytes: -1}, 30, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T, w *web) {
				w.serve(t, "films.example", pages(chain))
				c.cfg.Spacing = -1
				stats, err := run(t, w, c.cfg, "http://films.example/0")
				if err != nil || stats.Finished != c.done {
					t.Errorf("%v, finished %v, %v", stats, stats.Finished, err)
				}
				if n := len(w.urls()) - w.count("http://films.example/30"); n != c.want {
					t.Errorf("%d pages fetched, want %d", n, c.want)
				}
			})
		})
	}
}

// 64 workers and a limit of 10 pages: the server sees 10.
func TestPageBudgetIsExact_K006(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		var refs []string
		for i := range 200 {
			refs = append(refs, fmt.Sprint("/p", i))
		}
		w.serve(t, "films.example", func(rw http.ResponseWriter, r *http.Request) {
			time.Sleep(10 * time.Millisecond)
			rw.Header().Set("Content-Type", "text/html")
			fmt.Fprint(rw, links(refs...))
		})
		stats, err := run(t, w, crawler.Config{MaxPages: 10, PerHost: -1, Spacing: -1, Concurrency: 64, IgnoreRobots: true}, "http://films.example/")
		if err != nil || stats.Pages != 10 || len(w.urls()) != 10 {
			t.Errorf("%v, %v, %d fetched", stats, err, len(w.urls()))
		}
	})
}

func TestScope(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		scope crawler.Scope
		want  []string
	}{
		{"the seeds' hosts", crawler.Scope{}, []string{"films.example/", "films.example/a/1"}},
		{"domain", crawler.Scope{Domains: []string{"films.example"}}, []string{"films.example/", "films.example/a/1", "www.films.example/"}},
		{"hosts", crawler.Scope{Hosts: []string{"myfilms.example"}}, []string{"films.example/", "myfilms.example/"}},
		{"any", crawler.Scope{Hosts: []string{"*"}, Exclude: []string{"/a/"}}, []string{"films.example/", "myfilms.example/", "www.films.example/"}},
		{"prefix", crawler.Scope{Prefixes: []string{"http://films.example/a/"}}, []string{"films.example/", "films.example/a/1"}},
		{"exclude and func", crawler.Scope{Hosts: []string{"*"}, Exclude: []string{"http://www."}, Func: func(u string) bool { return !strings.Contains(u, "my") }}, []string{"films.example/", "films.example/a/1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T, w *web) {
				page := pages(map[string]string{"/": links("/a/1", "http://www.films.example/", "http://myfilms.example/"), "/a/1": ""})
				for _, host := range []string{"films.example", "www.films.example", "myfilms.example"} {
					w.serve(t, host, page)
				}
				if _, err := run(t, w, crawler.Config{Scope: c.scope, MaxDepth: 1}, "http://films.example/"); err != nil {
					t.Fatal(err)
				}
				got := sorted(w.urls())
				for i := range got {
					got[i] = strings.TrimPrefix(got[i], "http://")
				}
				if !slices.Equal(got, c.want) {
					t.Errorf("%q, want %q", got, c.want)
				}
			})
		})
	}
}

// A bad seed, option or scope is named before anything is fetched.
func TestBadInputIsNamed(t *testing.T) {
	t.Parallel()
	follow := crawler.HandlerFunc(func(context.Context, *crawler.Page) error { return nil })
	for _, c := range []struct {
		field string
		cfg   crawler.Config
	}{
		{"Agent", crawler.Config{UserAgent: "x/1"}},
		{"Agent", crawler.Config{Agent: "my bot"}},
		{"UserAgent", crawler.Config{Agent: "x", UserAgent: "x\r\nEvil: 1"}},
		{"Concurrency", crawler.Config{Concurrency: -1}},
		{"Delay", crawler.Config{Delay: -1}},
		{"UserAgent", crawler.Config{Agent: "x", UserAgent: "a\x01b"}},
		{"UserAgent", crawler.Config{Agent: "x", UserAgent: "  "}},
		{"Retry.Rules", crawler.Config{Retry: crawler.RetryPolicy{Rules: map[crawler.RetryClass]crawler.RetryRule{99: {}}}}},
		{"Scope.Hosts", crawler.Config{Scope: crawler.Scope{Hosts: []string{"films example"}}}},
		{"Scope.Hosts", crawler.Config{Scope: crawler.Scope{Hosts: []string{"https://films.example"}}}},
		{"Scope.Hosts", crawler.Config{Scope: crawler.Scope{Hosts: []string{"Films.example"}}}},
		{"Scope.Domains", crawler.Config{Scope: crawler.Scope{Domains: []string{"co.uk"}}}},
		{"Scope.Domains", crawler.Config{Scope: crawler.Scope{Domains: []string{".films.example"}}}},
		{"Scope.Prefixes", crawler.Config{Scope: crawler.Scope{Prefixes: []string{"/title/"}}}},
		{"Scope.Exclude", crawler.Config{Scope: crawler.Scope{Exclude: []string{"login"}}}},
		{"Fetcher", crawler.Config{Fetcher: &fetch.Transport{CheckHop: func(context.Context, *fetch.Request, []fetch.Hop) error { return nil }}}},
		{"Fetcher", crawler.Config{Fetcher: &fetch.Transport{}, AllowPrivate: true}},
	} {
		c.cfg.Handler = follow
		_, err := crawler.New(c.cfg)
		var bad *crawler.ConfigError
		if !errors.As(err, &bad) || bad.Field != c.field {
			t.Errorf("%+v: %v, want the field %s named", c.cfg, err, c.field)
		}
	}
	e, err := crawler.New(crawler.Config{Handler: follow, Fetcher: fetch.FetcherFunc(func(context.Context, *fetch.Request) (*fetch.Response, error) {
		t.Error("something was fetched")
		return nil, errors.New("no")
	})})
	if err != nil {
		t.Fatal(err)
	}
	for _, seed := range []string{"films.example", "ftp://films.example/", "http://", "https://films.example:99999/", "https://user:secret@films.example/", ""} {
		_, err := e.Run(t.Context(), "https://films.example/", seed)
		var bad *crawler.RequestError
		if !errors.As(err, &bad) || strings.Contains(err.Error(), "secret") {
			t.Errorf("seed %q: %v", seed, err)
		}
	}
	if _, err := e.Run(t.Context()); !errors.Is(err, crawler.ErrNoSeeds) {
		t.Errorf("no seeds: %v", err)
	}
	none, err := crawler.New(crawler.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := none.Run(t.Context(), "https://films.example/"); err == nil {
		t.Error("Run without a handler")
	}
}

// Errors of handlers and hosts: what is tried again, how often and when.
func TestRetries(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		handler func(attempt int) error
		status  func(n int) int
		fetches int
		fails   bool
	}{
		{name: "a handler's error twice", handler: func(n int) error {
			if n < 3 {
				return errors.New("not yet")
			}
			return nil
		}, fetches: 3},
		{name: "a handler's error for ever", handler: func(int) error { return errors.New("no") }, fetches: 3, fails: true},
		{name: "permanent", handler: func(int) error { return crawler.Permanent(errors.New("no")) }, fetches: 1, fails: true},
		{name: "retry after", handler: func(n int) error {
			if n == 1 {
				return crawler.RetryAfter(time.Hour, errors.New("later"))
			}
			return nil
		}, fetches: 2},
		{name: "503 once", status: func(n int) int {
			if n == 1 {
				return 503
			}
			return 200
		}, fetches: 2},
		{name: "500 for ever", status: func(int) int { return 500 }, fetches: 3, fails: true},
		{name: "404", status: func(int) int { return 404 }, fetches: 1, fails: true},
		{name: "203", status: func(int) int { return 203 }, fetches: 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T, w *web) {
				n := 0
				w.serve(t, "films.example", func(rw http.ResponseWriter, r *http.Request) {
					if n++; c.status != nil {
						rw.WriteHeader(c.status(n))
					}
				})
				var f failures
				stats, err := run(t, w, crawler.Config{IgnoreRobots: true, Hooks: f.hook(), Handler: crawler.HandlerFunc(func(_ context.Context, p *crawler.Page) error {
					if c.handler == nil {
						return nil
					}
					return c.handler(p.Attempt)
				})}, "http://films.example/")
				if err != nil || !stats.Finished || n != c.fetches || (stats.Failed == 1) != c.fails || len(f.errs) != int(stats.Failed) {
					t.Errorf("%v, %v, %d fetches, failures %v", stats, err, n, f.errs)
				}
			})
		})
	}
}

// The host's Retry-After is waited for, by every request of the host.
func TestRetryAfterHoldsTheHost(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		n := 0
		w.serve(t, "films.example", func(rw http.ResponseWriter, r *http.Request) {
			if n++; n == 1 {
				rw.Header().Set("Retry-After", "60")
				rw.WriteHeader(429)
			}
		})
		start := time.Now()
		if _, err := run(t, w, crawler.Config{IgnoreRobots: true}, "http://films.example/a", "http://films.example/b"); err != nil {
			t.Fatal(err)
		}
		if second := w.visits[1].start.Sub(start); n != 3 || second < time.Minute {
			t.Errorf("%d requests, the second after %v", n, second)
		}
	})
}

func TestItemsAreStoredWhenThePageIsDone(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		w.serve(t, "films.example", pages(map[string]string{"/": links("/bad"), "/bad": ""}))
		store := &crawler.MemoryStore{}
		_, err := run(t, w, crawler.Config{Store: store, Handler: crawler.HandlerFunc(func(_ context.Context, p *crawler.Page) error {
			p.FollowLinks()
			if err := p.Save("page/"+p.URL, map[string]int{"links": len(p.Links())}); err != nil {
				return err
			}
			if strings.HasSuffix(p.URL, "bad") {
				return crawler.Permanent(errors.New("bad"))
			}
			return p.Save("raw", []byte("x"))
		})}, "http://films.example/")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for e, err := range store.Scan(t.Context(), "") {
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(e.Key, "seine/") { // the engine's own
				got = append(got, e.Key+"="+string(e.Value))
			}
		}
		if want := []string{`page/http://films.example/={"links":1}`, "raw=x"}; !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	})
}

// Without a number the engine finds how much may be in flight: hosts that answer in a second are not asked in turn.
func TestConcurrencyIsFound(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		var seeds []string
		for i := range 100 {
			host := fmt.Sprintf("h%d.example", i)
			w.serve(t, host, func(rw http.ResponseWriter, _ *http.Request) { time.Sleep(time.Second) })
			for j := range 8 {
				seeds = append(seeds, fmt.Sprintf("http://%s/%d", host, j))
			}
		}
		tr := w.transport()
		defer tr.Close()
		e, err := crawler.New(crawler.Config{Fetcher: tr, IgnoreRobots: true, Spacing: -1, Handler: crawler.HandlerFunc(func(context.Context, *crawler.Page) error { return nil })})
		if err != nil {
			t.Fatal(err)
		}
		crawler.Calm(e)
		start := time.Now()
		stats, err := e.Run(t.Context(), seeds...)
		took := time.Since(start)
		if err != nil || stats.Pages != 800 {
			t.Fatalf("%v, %v", stats, err)
		}
		// 16 at a time would take 50 s, 100 at a time 8 s.
		if took > 12*time.Second {
			t.Errorf("took %v", took)
		}
	})
}
