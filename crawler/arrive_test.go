package crawler_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seine-go/seine/crawler"
	"github.com/seine-go/seine/fetch"
)

// A page is handled once, whether its own URL or a redirect to it comes first, and however many redirects lead there.
func TestPageIsDeliveredOnce_K012(t *testing.T) {
	t.Parallel()
	for _, first := range []string{links("/new", "/old", "/older"), links("/old", "/new", "/older"), links("/old", "/older")} {
		for _, perHost := range []int{1, 8} {
			bubble(t, func(t *testing.T, w *web) {
				w.serve(t, "films.example", func(rw http.ResponseWriter, r *http.Request) {
					time.Sleep(10 * time.Millisecond)
					if strings.HasPrefix(r.URL.Path, "/old") {
						http.Redirect(rw, r, "/new#part", http.StatusMovedPermanently)
						return
					}
					pages(map[string]string{"/": first, "/new": "one page"})(rw, r)
				})
				var mu sync.Mutex
				var got []string
				stats, err := run(t, w, crawler.Config{IgnoreRobots: true, Spacing: -1, FixedPace: true, PerHost: perHost, Handler: crawler.HandlerFunc(func(_ context.Context, p *crawler.Page) error {
					p.FollowLinks()
					time.Sleep(time.Second)
					mu.Lock()
					defer mu.Unlock()
					got = append(got, strings.TrimSuffix(p.URL, "#part"))
					return nil
				})}, "http://films.example/")
				want := []string{"http://films.example/", "http://films.example/new"}
				if err != nil || !slices.Equal(got, want) || stats.Pages != 2 || stats.Failed != 0 {
					t.Errorf("%d in flight, %q: %q, %v, %v", perHost, first, got, stats, err)
				}
			})
		}
	}
}

// What must not be taken for a page that was there: a request that names its own Key, one that comes back to its own URL with
// a cookie, and one whose earlier way there failed.
func TestRedirectsThatAreDeliveredAgain(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		tries := 0
		w.serve(t, "films.example", func(rw http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/keyed":
				http.Redirect(rw, r, "/page", http.StatusFound)
			case "/c1", "/c2":
				if tries++; tries%2 == 1 {
					rw.Header().Set("Set-Cookie", "a=1")
					http.Redirect(rw, r, "/consent?to="+r.URL.Path, http.StatusFound)
				}
			case "/consent":
				rw.Header().Set("Set-Cookie", "b=1")
				http.Redirect(rw, r, r.URL.Query().Get("to"), http.StatusFound)
			case "/gone":
				rw.WriteHeader(http.StatusNotFound)
				if tries++; tries > 100 {
					t.Error("endless")
				}
			}
		})
		var got []string
		frontier := crawler.NewMemory(crawler.MemoryOptions{})
		if _, err := frontier.Add(t.Context(), &crawler.Request{URL: "http://films.example/page"}, &crawler.Request{URL: "http://films.example/c1"},
			&crawler.Request{URL: "http://films.example/c2"}, &crawler.Request{URL: "http://films.example/keyed", Key: "second look"}); err != nil {
			t.Fatal(err)
		}
		stats, err := run(t, w, crawler.Config{
			Frontier: frontier, IgnoreRobots: true, PerHost: 1, Scope: crawler.Scope{Hosts: []string{"*"}},
			Handler: crawler.HandlerFunc(func(_ context.Context, p *crawler.Page) error { got = append(got, p.URL); return nil }),
		})
		want := []string{"http://films.example/c1", "http://films.example/c2", "http://films.example/page", "http://films.example/page"}
		if err != nil || !slices.Equal(sorted(got), want) {
			t.Errorf("%q, %v, %v", got, stats, err)
		}
	})
}

// foreignWeb is a Fetcher that is no Transport: it answers by path with a status and a Location, and notes what it was asked.
type foreignWeb struct {
	mu    sync.Mutex
	asked []string
	byURL map[string]string // "302 /to"
}

func (f *foreignWeb) Fetch(_ context.Context, q *fetch.Request) (*fetch.Response, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, strings.TrimSpace(fmt.Sprintf("%s %s %s %s%s", q.Method, q.URL, q.Body, q.Header.Get("Content-Type"), q.Header.Get("Authorization-Key"))))
	r := &fetch.Response{Request: q, URL: q.URL, Status: 200, Header: http.Header{}}
	if to, ok := f.byURL[q.URL]; ok {
		var location string
		fmt.Sscan(to, &r.Status, &location)
		r.Header.Set("Location", location)
	}
	return r, nil
}

// The redirects of a foreign Fetcher follow the rules of those that a Transport follows.
func TestForeignRedirectsKeepTheRules(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		method, body, status string
		want                 string // what the target is asked with
	}{
		{"", "", "302", " http://b.example/to"},
		{"HEAD", "", "301", "HEAD http://b.example/to"},
		{"HEAD", "", "303", "HEAD http://b.example/to"},
		{"POST", "q=1", "301", "GET http://b.example/to"},
		{"POST", "q=1", "302", "GET http://b.example/to"},
		{"POST", "q=1", "303", "GET http://b.example/to"},
		{"POST", "q=1", "307", "POST http://b.example/to q=1 text/x"},
		{"POST", "q=1", "308", "POST http://b.example/to q=1 text/x"},
		{"PUT", "q=1", "302", "PUT http://b.example/to q=1 text/x"},
		{"PUT", "q=1", "303", "GET http://b.example/to"},
	} {
		bubble(t, func(t *testing.T, _ *web) {
			f := &foreignWeb{byURL: map[string]string{"http://a.example/from": c.status + " http://b.example/to"}}
			frontier := crawler.NewMemory(crawler.MemoryOptions{})
			first := &crawler.Request{URL: "http://a.example/from", Method: c.method, Key: "first"}
			if c.body != "" {
				first.Body, first.Header = []byte(c.body), http.Header{"Content-Type": {"text/x"}}
			}
			if _, err := frontier.Add(t.Context(), first); err != nil {
				t.Fatal(err)
			}
			e, err := crawler.New(crawler.Config{
				Fetcher: f, Frontier: frontier, IgnoreRobots: true, Scope: crawler.Scope{Hosts: []string{"*"}},
				Handler: crawler.HandlerFunc(func(context.Context, *crawler.Page) error { return nil }),
			})
			if err != nil {
				t.Fatal(err)
			}
			stats, err := e.Run(t.Context())
			if err != nil || len(f.asked) != 2 || strings.TrimSpace(c.want) != f.asked[1] || stats.Pages != 1 || stats.Moved != 1 {
				t.Errorf("%s of %s: %q, %v, %v", c.status, c.method, f.asked, stats, err)
			}
		})
	}
}

// Traps, scope and the bound of hops hold for them too, and for what a foreign Fetcher has followed by itself.
func TestForeignRedirectsAreChecked(t *testing.T) {
	t.Parallel()
	trap := "http://a.example/" + strings.Repeat("x/", 60)
	var trapped *crawler.TrapError
	for _, c := range []struct {
		name  string
		fetch fetch.Fetcher
		is    func(error) bool
	}{
		{"trap", &foreignWeb{byURL: map[string]string{"http://a.example/": "302 " + trap}}, func(err error) bool { return errors.As(err, &trapped) }},
		{"scope", &foreignWeb{byURL: map[string]string{"http://a.example/": "302 http://b.example/"}}, func(err error) bool { return errors.Is(err, crawler.ErrOutOfScope) }},
		{"loop", &foreignWeb{byURL: map[string]string{"http://a.example/": "302 /b", "http://a.example/b": "302 /"}}, func(err error) bool { return errors.Is(err, crawler.ErrTooManyHops) }},
		{"followed out of scope", fetch.FetcherFunc(func(_ context.Context, q *fetch.Request) (*fetch.Response, error) {
			return &fetch.Response{Request: q, URL: "http://b.example/", Status: 200}, nil
		}), func(err error) bool { return errors.Is(err, crawler.ErrOutOfScope) }},
		{"followed into a trap", fetch.FetcherFunc(func(_ context.Context, q *fetch.Request) (*fetch.Response, error) {
			return &fetch.Response{Request: q, URL: trap, Status: 200}, nil
		}), func(err error) bool { return errors.As(err, &trapped) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T, _ *web) {
				var f failures
				e, err := crawler.New(crawler.Config{
					Fetcher: c.fetch, IgnoreRobots: true, Hooks: f.hook(),
					Handler: crawler.HandlerFunc(func(context.Context, *crawler.Page) error { return nil }),
				})
				if err != nil {
					t.Fatal(err)
				}
				stats, err := e.Run(t.Context(), "http://a.example/")
				if err != nil || stats.Pages != 0 || stats.Retried != 0 || len(f.errs) != 1 {
					t.Fatalf("%v, %v, %v", stats, err, f.errs)
				}
				for _, err := range f.errs {
					if !c.is(err) {
						t.Errorf("%v", err)
					}
				}
			})
		})
	}
}

// A Fetcher that says nothing of the URL has answered the one that was asked for.
func TestFetcherWithoutURL(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, _ *web) {
		url := ""
		e, err := crawler.New(crawler.Config{
			IgnoreRobots: true,
			Fetcher: fetch.FetcherFunc(func(context.Context, *fetch.Request) (*fetch.Response, error) {
				return &fetch.Response{Status: 200}, nil
			}),
			Handler: crawler.HandlerFunc(func(_ context.Context, p *crawler.Page) error { url = p.URL; p.FollowLinks(); return nil }),
		})
		if err != nil {
			t.Fatal(err)
		}
		if stats, err := e.Run(t.Context(), "http://films.example/a"); err != nil || stats.Pages != 1 || url != "http://films.example/a" {
			t.Errorf("%q, %v, %v", url, stats, err)
		}
	})
}

// A redirect of a request with a body that leads to a busy host goes on there as the Transport would have had it.
func TestMovedRedirectKeepsMethodAndBody(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		want   string
	}{{http.StatusSeeOther, "GET  "}, {http.StatusTemporaryRedirect, "POST q=1 text/x"}} {
		bubble(t, func(t *testing.T, w *web) {
			got := make(chan string, 1)
			w.serve(t, "b.example", func(_ http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/busy" {
					time.Sleep(5 * time.Second)
					return
				}
				body := make([]byte, 10)
				n, _ := r.Body.Read(body)
				got <- fmt.Sprintf("%s %s %s", r.Method, body[:n], r.Header.Get("Content-Type"))
			})
			w.serve(t, "a.example", func(rw http.ResponseWriter, r *http.Request) {
				http.Redirect(rw, r, "http://b.example/to", c.status)
			})
			frontier := crawler.NewMemory(crawler.MemoryOptions{})
			if _, err := frontier.Add(t.Context(), &crawler.Request{URL: "http://b.example/busy"}, &crawler.Request{
				URL: "http://a.example/", Method: "POST", Body: []byte("q=1"), Key: "post", Header: http.Header{"Content-Type": {"text/x"}},
			}); err != nil {
				t.Fatal(err)
			}
			stats, err := run(t, w, crawler.Config{
				Frontier: frontier, IgnoreRobots: true, PerHost: 1, Scope: crawler.Scope{Hosts: []string{"*"}},
				Handler: crawler.HandlerFunc(func(context.Context, *crawler.Page) error { return nil }),
			})
			if err != nil || stats.Moved != 1 || stats.Pages != 2 || stats.Retried != 0 {
				t.Fatalf("%v, %v", stats, err)
			}
			if g := <-got; g != c.want {
				t.Errorf("%d: %q, want %q", c.status, g, c.want)
			}
		})
	}
}

// New changes nothing of the Transport that it is given, whether it succeeds or not, and whatever the Transport did before.
func TestNewLeavesTheTransportAlone(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var agents []string
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		agents = append(agents, r.UserAgent())
	}))
	defer srv.Close()
	tr := &fetch.Transport{AllowPrivate: true}
	defer tr.Close()
	cfg := crawler.Config{
		Spacing: -1, IgnoreRobots: true, Fetcher: tr, Agent: "mybot", UserAgent: "mybot/1.0",
		Handler: crawler.HandlerFunc(func(context.Context, *crawler.Page) error { return nil }),
	}
	bad := cfg
	bad.Middleware = []fetch.Middleware{nil}
	if _, err := crawler.New(bad); err == nil {
		t.Error("a nil middleware is taken")
	}
	plain := func() {
		if _, err := tr.Fetch(t.Context(), &fetch.Request{URL: srv.URL}); err != nil {
			t.Errorf("%v", err)
		}
	}
	plain()
	for range 2 { // two engines share it
		e, err := crawler.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if stats, err := e.Run(t.Context(), srv.URL); err != nil || stats.Pages != 1 {
			t.Errorf("%v, %v", stats, err)
		}
		e.Close()
	}
	plain()
	want := []string{fetch.DefaultUserAgent, "mybot/1.0", "mybot/1.0", fetch.DefaultUserAgent}
	if !slices.Equal(agents, want) || tr.Gate != nil || tr.CheckHop != nil || tr.UserAgent != "" {
		t.Errorf("%q, %+v", agents, tr.Stats())
	}
}

// Requests that could not be sent are refused when they are made.
func TestAddRefusesWhatCannotBeSent(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		w.serve(t, "films.example", pages(map[string]string{"/": ""}))
		asked := 0
		_, err := run(t, w, crawler.Config{IgnoreRobots: true, Handler: crawler.HandlerFunc(func(_ context.Context, p *crawler.Page) error {
			for _, c := range []struct {
				field string
				req   crawler.Request
			}{
				{"Method", crawler.Request{Method: "CONNECT"}},
				{"Method", crawler.Request{Method: "BAD METHOD", Key: "k"}},
				{"Method", crawler.Request{Method: "GET\r\nX: y", Key: "k"}},
				{"Header", crawler.Request{Header: http.Header{"Content-Length": {"99"}}}},
				{"Header", crawler.Request{Header: http.Header{"content-length": {"0", "0"}}}},
				{"Header", crawler.Request{Header: http.Header{"Transfer-Encoding": {"chunked"}}}},
				{"Header", crawler.Request{Header: http.Header{"Host": {"a b"}}}},
				{"Header", crawler.Request{Header: http.Header{"A B": {"x"}}}},
				{"Header", crawler.Request{Header: http.Header{"A": {"x\x00"}}}},
				{"Header", crawler.Request{Header: http.Header{"Cookie": {"a=1"}}}},
				{"Kind", crawler.Request{Kind: 99}},
			} {
				c.req.URL = "/x"
				var e *crawler.RequestError
				if err := p.Add(&c.req); !errors.As(err, &e) || e.Field != c.field || e.URL == "" {
					t.Errorf("%+v: %v", c.req, err)
				}
				asked++
			}
			return nil
		})}, "http://films.example/")
		if err != nil || asked != 11 || len(w.urls()) != 1 {
			t.Errorf("%v, %d, %q", err, asked, w.urls())
		}
	})
}

// A page that redirects led to, and whose handler was left behind, is tried again like any other.
func TestRedirectedPageIsTriedAgainAfterItsHandlerHung(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		w.serve(t, "films.example", func(rw http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/old" {
				http.Redirect(rw, r, "/new", http.StatusFound)
			}
		})
		release := make(chan struct{})
		defer close(release)
		var tries atomic.Int64
		stats, err := run(t, w, crawler.Config{
			IgnoreRobots: true, HandlerTimeout: time.Minute, Grace: time.Second,
			Handler: crawler.HandlerFunc(func(context.Context, *crawler.Page) error {
				if tries.Add(1) == 1 {
					<-release
				}
				return nil
			}),
		}, "http://films.example/old")
		if err != nil || tries.Load() != 2 || stats.Pages != 1 || stats.Abandoned != 1 || stats.Moved != 0 {
			t.Errorf("%d tries, %v, %v", tries.Load(), stats, err)
		}
	})
}
