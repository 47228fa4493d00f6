package crawler_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seine-go/seine/crawler"
	"github.com/seine-go/seine/fetch"
	"github.com/seine-go/seine/ratelimit"
)

// many are so many requests of a page's own host.
func many(n int) (reqs []*crawler.Request) {
	for i := range n {
		reqs = append(reqs, &crawler.Request{URL: fmt.Sprint("/", i)})
	}
	return reqs
}

// However links are staged, a page has no more than MaxLinks different ones; what was left out is counted and logged.
func TestMaxLinksHoldsForAllWays(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		links  int
		handle func(p *crawler.Page) error
		staged int64
		left   int64
		fails  bool
	}{
		{name: "FollowLinks at the bound", links: 5, handle: func(p *crawler.Page) error { p.FollowLinks(); return nil }, staged: 5},
		{name: "FollowLinks past it", links: 7, handle: func(p *crawler.Page) error { p.FollowLinks(); return nil }, staged: 5, left: 2},
		{name: "a selector at the bound", links: 5, handle: func(p *crawler.Page) error { p.Follow("a"); return nil }, staged: 5},
		{name: "a selector past it", links: 7, handle: func(p *crawler.Page) error {
			if n := p.Follow("body a"); n != 5 {
				return fmt.Errorf("%d staged", n)
			}
			return nil
		}, staged: 5, left: 2},
		{name: "the same links in three ways", links: 5, handle: func(p *crawler.Page) error {
			if n := p.Follow("a") + p.FollowLinks() + p.Follow("a[href]"); n != 15 {
				return fmt.Errorf("%d staged", n)
			}
			return p.Add(many(5)...)
		}, staged: 5},
		{name: "others after as many as fit", links: 4, handle: func(p *crawler.Page) error {
			p.Follow("a")
			p.Follow("a")
			return p.Add(&crawler.Request{URL: "/another"})
		}, staged: 5},
		{name: "Add at the bound", links: 0, handle: func(p *crawler.Page) error { return p.Add(many(5)...) }, staged: 5},
		{name: "Add past it", links: 0, handle: func(p *crawler.Page) error { return p.Add(many(6)...) }, fails: true},
		{name: "Add past it stages none", links: 3, handle: func(p *crawler.Page) error {
			p.Follow("a")
			if err := p.Add(many(6)...); err == nil || !strings.Contains(err.Error(), "MaxLinks") {
				return fmt.Errorf("not refused: %w", err)
			}
			return nil
		}, staged: 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T, w *web) {
				var refs []string
				for i := range c.links {
					refs = append(refs, fmt.Sprint("/", i))
				}
				w.serve(t, "films.example", pages(map[string]string{"/": "<body>" + links(refs...)}))
				var log bytes.Buffer
				stats, err := run(t, w, crawler.Config{
					IgnoreRobots: true, MaxLinks: 5, AllStatuses: true, MaxAttempts: 1, Logger: slog.New(slog.NewTextHandler(&log, nil)),
					Handler: crawler.HandlerFunc(func(_ context.Context, p *crawler.Page) error {
						if p.Depth > 0 {
							return nil
						}
						return c.handle(p)
					}),
				}, "http://films.example/")
				if err != nil || (stats.Failed > 0) != c.fails || stats.Links != c.staged || stats.LinksCut != c.left || stats.Cut != min(c.left, 1) {
					t.Errorf("%v, %d links, %d left out, %v\n%s", stats, stats.Links, stats.LinksCut, err, &log)
				}
				if strings.Contains(log.String(), "links cut") != (c.left > 0) {
					t.Error(log.String())
				}
			})
		})
	}
}

// site is a Site that is put together by fields.
type site struct {
	crawler.Handler
	hosts []string
	scope crawler.Scope
	seeds []string
}

func (s site) Name() string         { return "site" }
func (s site) Hosts() []string      { return s.hosts }
func (s site) Scope() crawler.Scope { return s.scope }

func (s site) Seeds(context.Context) iter.Seq2[*crawler.Request, error] {
	return func(yield func(*crawler.Request, error) bool) {
		for _, url := range s.seeds {
			if !yield(&crawler.Request{URL: url}, nil) {
				return
			}
		}
	}
}

// The hosts and the scope of a Site are checked like those of the Config, before anything is fetched.
func TestSiteIsChecked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		field string
		site  site
	}{
		{"Site.Hosts", site{hosts: []string{"https://films.example/"}}},
		{"Site.Hosts", site{hosts: []string{"Films.example"}}},
		{"Site.Hosts", site{hosts: []string{"films.example", "films.example/title"}}},
		{"Site.Hosts", site{hosts: []string{""}}},
		{"Site.Scope.Hosts", site{hosts: []string{"films.example"}, scope: crawler.Scope{Hosts: []string{"films example"}}}},
		{"Site.Scope.Domains", site{hosts: []string{"films.example"}, scope: crawler.Scope{Domains: []string{"com"}}}},
		{"Site.Scope.Exclude", site{hosts: []string{"films.example"}, scope: crawler.Scope{Exclude: []string{"login"}}}},
	} {
		c.site.Handler, c.site.seeds = done, []string{"http://films.example/"}
		e, err := crawler.New(crawler.Config{Handler: c.site, Fetcher: fetch.FetcherFunc(func(context.Context, *fetch.Request) (*fetch.Response, error) {
			t.Error("something was fetched")
			return nil, errors.New("no")
		})})
		if err != nil {
			t.Fatal(err)
		}
		var bad *crawler.ConfigError
		if _, err := e.Run(t.Context()); !errors.As(err, &bad) || bad.Field != c.field {
			t.Errorf("%+v: %v, want the field %s named", c.site, err, c.field)
		}
	}
}

// What the Config leaves out stays left out where a Site has a scope of its own.
func TestConfigsExclusionsHoldForASite(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		w.serve(t, "films.example", pages(map[string]string{"/": links("/a", "/b", "/c", "/d"), "/a": "", "/b": "", "/c": "", "/d": ""}))
		not := func(path string) func(string) bool {
			return func(url string) bool { return !strings.HasSuffix(url, path) }
		}
		s := site{seeds: []string{"http://films.example/"}, scope: crawler.Scope{Domains: []string{"films.example"}, Exclude: []string{"/b"}, Func: not("/d")}}
		s.Handler = crawler.HandlerFunc(func(_ context.Context, p *crawler.Page) error {
			p.FollowLinks()
			return nil
		})
		_, err := run(t, w, crawler.Config{IgnoreRobots: true, Handler: s, Scope: crawler.Scope{Exclude: []string{"/a"}, Func: not("/")}})
		if want := []string{"http://films.example/", "http://films.example/c"}; err != nil || !slices.Equal(sorted(w.urls()), want) {
			t.Errorf("%q, %v", w.urls(), err)
		}
	})
}

// A nil pointer behind an interface, and a middleware without a Fetcher, are named by New.
func TestNilsAreNamed(t *testing.T) {
	t.Parallel()
	through := func(f fetch.Fetcher) fetch.Fetcher { return f }
	for _, c := range []struct {
		field string
		cfg   crawler.Config
	}{
		{"Handler", crawler.Config{Handler: (*crawler.Mux)(nil)}},
		{"Handler", crawler.Config{Handler: crawler.HandlerFunc(nil)}},
		{"Frontier", crawler.Config{Frontier: (*crawler.Memory)(nil)}},
		{"Store", crawler.Config{Store: (*crawler.MemoryStore)(nil)}},
		{"Fetcher", crawler.Config{Fetcher: (*fetch.Transport)(nil)}},
		{"Fetcher", crawler.Config{Fetcher: fetch.FetcherFunc(nil)}},
		{"Limiter", crawler.Config{Limiter: (*ratelimit.TokenBucket)(nil)}},
		{"HostLimiter", crawler.Config{HostLimiter: (*ratelimit.TokenBucket)(nil)}},
		{"Address", crawler.Config{Address: crawler.HostPolicy{Block: time.Second}}},
		{"Address", crawler.Config{Address: crawler.HostPolicy{Adapt: crawler.SwitchOn}}},
		{"Middleware[1]", crawler.Config{Middleware: []fetch.Middleware{through, nil}}},
		{"Middleware[0]", crawler.Config{Middleware: []fetch.Middleware{func(fetch.Fetcher) fetch.Fetcher { return nil }, through}}},
		{"Middleware[0]", crawler.Config{Middleware: []fetch.Middleware{func(fetch.Fetcher) fetch.Fetcher { return (*fetch.Transport)(nil) }}}},
	} {
		var bad *crawler.ConfigError
		if _, err := crawler.New(c.cfg); !errors.As(err, &bad) || bad.Field != c.field {
			t.Errorf("%v, want the field %s named", err, c.field)
		}
	}
	var m crawler.Mux
	m.Handle("films.example/", (*crawler.Mux)(nil))
	m.HandleLabel("film", crawler.HandlerFunc(nil))
	if err := m.Check(); err == nil || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("a mux with nil handlers: %v", err)
	}
}

// A panic while robots.txt is fetched costs the pages that wait for it, is counted once, and the host is asked again
// for the next.
func TestPanicWhileRobotsIsFetched(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		w.serve(t, "films.example", func(http.ResponseWriter, *http.Request) {})
		panicked := 0
		boom := func(next fetch.Fetcher) fetch.Fetcher {
			return fetch.FetcherFunc(func(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
				if strings.HasSuffix(req.URL, "/robots.txt") && panicked == 0 {
					panicked++
					time.Sleep(10 * time.Second) // others come to wait for it
					panic("robots")
				}
				return next.Fetch(ctx, req)
			})
		}
		var f failures
		stats, err := run(t, w, crawler.Config{Middleware: []fetch.Middleware{boom}, Handler: done, Hooks: f.hook(), PerHost: 3}, numbered("films.example", 10)...)
		if err != nil || stats.Panics != 1 || stats.Failed == 0 || stats.Failed > 3 || stats.Pages+stats.Failed != 10 || !stats.Finished {
			t.Errorf("%v, %d panics, %v", stats, stats.Panics, err)
		}
		for url, err := range f.errs {
			var p *crawler.PanicError
			if !errors.As(err, &p) || p.Value != "robots" || !bytes.Contains(p.Stack, []byte("mend_test.go")) {
				t.Errorf("%s: %v", url, err)
			}
		}
	})
}

// A URL that is out of scope is refused with what to set.
func TestScopeSaysWhatToSet(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		w.serve(t, "films.example", func(rw http.ResponseWriter, r *http.Request) {
			http.Redirect(rw, r, strings.TrimPrefix(r.URL.Path, "/"), http.StatusFound)
		})
		cfg := crawler.Config{IgnoreRobots: true, Handler: done, Scope: crawler.Scope{
			Domains: []string{"films.example"}, Exclude: []string{"http://films.example/no"}, Func: func(url string) bool { return !strings.Contains(url, "func") },
		}}
		var f failures
		cfg.Hooks = f.hook()
		hints := map[string]string{
			"http://other.example:81/":     `Scope.Hosts as "other.example:81"`,
			"http://u:pass@other.example/": `Scope.Hosts as "other.example", or its domain in Scope.Domains`,
			"http://films.example/no/1":    `Scope.Exclude has "http://films.example/no"`,
			"http://films.example/func":    "Scope.Func",
		}
		var seeds []string
		for url := range hints {
			seeds = append(seeds, "http://films.example/"+url)
		}
		if stats, err := run(t, w, cfg, seeds...); err != nil || len(f.errs) != len(hints) {
			t.Fatalf("%v, %v", stats, err)
		}
		for url, hint := range hints {
			err := f.errs["http://films.example/"+url]
			if err == nil || !strings.Contains(err.Error(), hint) || strings.Contains(strings.ReplaceAll(err.Error(), "films.example/http://u:pass", ""), "pass") {
				t.Errorf("%s: %v", url, err)
			}
		}
	})
}

// fullFrontier has room for the paces of so many hosts.
type fullFrontier struct {
	*crawler.Memory
	room int
	mu   sync.Mutex
	kept map[string]bool
}

func (f *fullFrontier) SetHost(ctx context.Context, host string, p crawler.HostPolicy) error {
	if host != "" && p != (crawler.HostPolicy{Block: p.Block}) {
		f.mu.Lock()
		defer f.mu.Unlock()
		if !f.kept[host] && len(f.kept) >= f.room {
			return fmt.Errorf("%w: %d hosts have a policy", crawler.ErrFull, f.room)
		}
		f.kept[host] = true
	}
	return f.Memory.SetHost(ctx, host, p)
}

// Where the frontier has no room for one more crawl-delay, or keeps none at all, the delay is kept all the same and no
// page fails.
func TestCrawlDelayThatTheFrontierCannotKeep(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		hosts   int
		perHost int
		shy     bool // a frontier of five methods
	}{
		{"at the bound", 2, 1, false},
		{"one past it", 3, 1, false},
		{"at the bound, several in flight", 2, 4, false},
		{"one past it, several in flight", 3, 4, false},
		{"no pace at all", 3, 1, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T, w *web) {
				var seeds []string
				for i := range c.hosts {
					host := fmt.Sprintf("h%d.example", i)
					w.serve(t, host, func(rw http.ResponseWriter, r *http.Request) {
						time.Sleep(700 * time.Millisecond)
						pages(map[string]string{"/robots.txt": "User-agent: *\nCrawl-delay: 3", "/0": "", "/1": "", "/2": "", "/3": "", "/4": ""})(rw, r)
					})
					seeds = append(seeds, numbered(host, 5)...)
				}
				var frontier crawler.Frontier = &fullFrontier{Memory: crawler.NewMemory(crawler.MemoryOptions{}), room: 2, kept: map[string]bool{}}
				if c.shy {
					frontier = shy{crawler.NewMemory(crawler.MemoryOptions{})}
				}
				stats, err := run(t, w, crawler.Config{Frontier: frontier, Handler: done, PerHost: c.perHost}, seeds...)
				if err != nil || stats.Pages != int64(5*c.hosts) || stats.Failed+stats.Retried != 0 {
					t.Errorf("%v, %v", stats, err)
				}
				last := map[string]time.Time{}
				slices.SortFunc(w.visits, func(a, b visit) int { return a.start.Compare(b.start) })
				for _, v := range w.visits {
					host := strings.SplitN(v.url, "/", 4)[2]
					if gap := v.start.Sub(last[host]); gap < 3*time.Second {
						t.Errorf("%s came %v after the end of the exchange before", v.url, gap)
					}
					last[host] = v.end
				}
			})
		})
	}
}

// seedless is a Site but for its name.
type seedless struct{ crawler.HandlerFunc }

func (seedless) Hosts() []string { return []string{"films.example"} }

func (seedless) Seeds(context.Context) iter.Seq2[*crawler.Request, error] {
	return func(func(*crawler.Request, error) bool) {}
}

// A handler with seeds that is no Site is refused: it would crawl nothing.
func TestAlmostASiteIsRefused(t *testing.T) {
	t.Parallel()
	_, err := crawler.New(crawler.Config{Handler: seedless{}})
	var bad *crawler.ConfigError
	if !errors.As(err, &bad) || bad.Field != "Handler" || !strings.Contains(bad.Reason, "Name") {
		t.Fatal(err)
	}
}
