package crawler_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seine-go/seine/crawler"
	"github.com/seine-go/seine/fetch"
)

// A hop to another host takes a place there and keeps its pace; with none free it becomes a request of its own.
func TestRedirectsAcrossHostsArePolite(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		hosts := []string{"a.example", "b.example"}
		for i, host := range hosts {
			other := hosts[1-i]
			w.serve(t, host, func(rw http.ResponseWriter, r *http.Request) {
				time.Sleep(30 * time.Millisecond)
				if strings.HasPrefix(r.URL.Path, "/go") {
					http.Redirect(rw, r, "http://"+other+strings.Replace(r.URL.Path, "go", "end", 1), http.StatusFound)
					return
				}
				pages(map[string]string{})(rw, r)
			})
		}
		var seeds []string
		for i := range 20 {
			seeds = append(seeds, fmt.Sprintf("http://a.example/go%d", i), fmt.Sprintf("http://b.example/go%d", i))
		}
		var f failures
		stats, err := run(t, w, crawler.Config{AllStatuses: true, Delay: 200 * time.Millisecond, Hooks: f.hook()}, seeds...)
		if err != nil || stats.Pages != 40 || len(f.errs) > 0 {
			t.Fatalf("%v, %v, %v", stats, err, f.errs)
		}
		if n := len(w.urls()); n != 80 {
			t.Errorf("%d requests, want 80", n)
		}
		for _, host := range hosts {
			if w.most[host] != 1 {
				t.Errorf("%s had %d in flight", host, w.most[host])
			}
			var last time.Time
			for _, v := range w.visits {
				if !strings.HasPrefix(v.url, "http://"+host) {
					continue
				}
				if gap := v.start.Sub(last); gap < 200*time.Millisecond {
					t.Errorf("%s was asked %v after the end of another exchange", v.url, gap)
				}
				last = v.end
			}
		}
		if stats.Moved == 0 {
			t.Error("no redirect became a request of its own, so the hard half was not tried")
		}
	})
}

// What redirects went through is seen; the target of one is not fetched again.
func TestRedirectedKeysAreSeen_K012(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		w.serve(t, "films.example", func(rw http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/old":
				http.Redirect(rw, r, "/new#part", http.StatusMovedPermanently)
			default:
				pages(map[string]string{"/": links("/old", "/new"), "/new": links("/old")})(rw, r)
			}
		})
		var got []string
		_, err := run(t, w, crawler.Config{Handler: crawler.HandlerFunc(func(_ context.Context, p *crawler.Page) error {
			p.FollowLinks()
			got = append(got, p.Request.URL+" "+p.URL)
			return nil
		})}, "http://films.example/")
		want := []string{"http://films.example/ http://films.example/", "http://films.example/old http://films.example/new#part"}
		if err != nil || !slices.Equal(got, want) || w.count("http://films.example/new") != 1 {
			t.Errorf("%q, %v", got, err)
		}
	})
}

func TestRedirectBounds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		maxHops  int
		hops     int // that lead to a page; 0 for ever
		fetches  int
		pageSeen bool
	}{
		{name: "at the bound", maxHops: 3, hops: 3, fetches: 4, pageSeen: true},
		{name: "one past it", maxHops: 3, hops: 4, fetches: 4},
		{name: "by default for ever", fetches: 11},
		{name: "none", maxHops: -1, hops: 1, fetches: 1, pageSeen: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T, w *web) {
				w.serve(t, "films.example", func(rw http.ResponseWriter, r *http.Request) {
					var n int
					fmt.Sscanf(r.URL.Path, "/%d", &n)
					if n != c.hops || c.hops == 0 {
						http.Redirect(rw, r, fmt.Sprintf("/%d", n+1), http.StatusFound)
					}
				})
				stats, err := run(t, w, crawler.Config{IgnoreRobots: true, MaxHops: c.maxHops, AllStatuses: true, Handler: crawler.HandlerFunc(func(context.Context, *crawler.Page) error { return nil })}, "http://films.example/0")
				if err != nil || (stats.Pages == 1) != c.pageSeen || len(w.urls()) != c.fetches {
					t.Errorf("%v, %v, %d fetches", stats, err, len(w.urls()))
				}
			})
		})
	}
}

func TestRedirectOutOfScopeIsRefused(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		w.serve(t, "other.example", pages(nil))
		for _, target := range []string{"http://other.example/", "file:///etc/passwd", "http://films.example.evil.example/"} {
			var f failures
			host := fmt.Sprintf("films%d.example", len(target))
			w.serve(t, host, func(rw http.ResponseWriter, r *http.Request) {
				rw.Header().Set("Location", target)
				rw.WriteHeader(302)
			})
			stats, err := run(t, w, crawler.Config{IgnoreRobots: true, Hooks: f.hook()}, "http://"+host+"/")
			if err != nil || stats.Pages != 0 || len(f.errs) != 1 || w.count("http://other.example/") != 0 {
				t.Errorf("%s: %v, %v, %v", target, stats, err, f.errs)
			}
		}
	})
}

// A Fetcher that is no Transport is gated as a whole, and its redirects become requests.
func TestForeignFetcher(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		w.serve(t, "films.example", func(rw http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/old" {
				http.Redirect(rw, r, "/new", http.StatusFound)
				return
			}
			pages(map[string]string{"/robots.txt": "User-agent: *\nDisallow: /no", "/": links("/old", "/no", "/away"), "/new": ""})(rw, r)
		})
		rt := &http.Transport{DialContext: w.network.DialContext}
		defer rt.CloseIdleConnections()
		var got []string
		e, err := crawler.New(crawler.Config{Fetcher: fetch.FromRoundTripper(rt), Handler: crawler.HandlerFunc(func(_ context.Context, p *crawler.Page) error {
			p.FollowLinks()
			got = append(got, p.URL)
			return nil
		})})
		if err != nil {
			t.Fatal(err)
		}
		stats, err := e.Run(t.Context(), "http://films.example/")
		want := []string{"http://films.example/", "http://films.example/new"}
		if err != nil || !slices.Equal(sorted(got), want) || stats.Moved != 1 || stats.Refused != 1 {
			t.Errorf("%q, %v, %v", got, stats, err)
		}
		var last time.Time
		for _, v := range w.visits {
			if gap := v.start.Sub(last); gap < 500*time.Millisecond {
				t.Errorf("%s came %v after the start of another", v.url, gap)
			}
			last = v.start
		}
	})
}

// A private address is refused before a byte is sent, as a seed and as a hop.
func TestPrivateAddressesAreRefused(t *testing.T) {
	t.Parallel()
	e, err := crawler.New(crawler.Config{IgnoreRobots: true, Handler: crawler.HandlerFunc(func(context.Context, *crawler.Page) error { return nil }), Hooks: crawler.Hooks{Failed: func(_ context.Context, err *crawler.PageError) {
		if !errors.Is(err, fetch.ErrRefused) {
			t.Errorf("%v", err)
		}
	}}})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	stats, err := e.Run(t.Context(), "http://127.0.0.1:1/", "http://169.254.169.254/latest/meta-data/", "http://[::ffff:10.0.0.1]/")
	if err != nil || stats.Failed != 3 {
		t.Errorf("%v, %v", stats, err)
	}
}

// A redirect that becomes a request of its own, since its host is busy, keeps no secret for another origin.
func TestMovedRedirectKeepsNoSecret(t *testing.T) {
	t.Parallel()
	got := make(chan http.Header, 4)
	hold := make(chan struct{})
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/busy" {
			<-hold
			return
		}
		got <- r.Header
	}))
	defer other.Close()
	first := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL+"/target", http.StatusFound)
		time.AfterFunc(50*time.Millisecond, func() { close(hold) })
	}))
	defer first.Close()
	frontier := crawler.NewMemory(crawler.MemoryOptions{})
	secret := http.Header{"X-Api-Key": {"key"}, "X-Open": {"1"}}
	if _, err := frontier.Add(t.Context(), &crawler.Request{URL: other.URL + "/busy"}, &crawler.Request{URL: first.URL + "/", Header: secret}); err != nil {
		t.Fatal(err)
	}
	eng, err := crawler.New(crawler.Config{
		Frontier: frontier, IgnoreRobots: true, Spacing: -1, PerHost: 1, Scope: crawler.Scope{Hosts: []string{"*"}},
		Fetcher: &fetch.Transport{AllowPrivate: true, SecretHeaders: []string{"X-Api-Key"}},
		Handler: crawler.HandlerFunc(func(context.Context, *crawler.Page) error { return nil }),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close()
	stats, err := eng.Run(t.Context())
	if err != nil || stats.Moved != 1 {
		t.Fatalf("%v, %+v", err, stats)
	}
	if h := <-got; h.Get("X-Api-Key") != "" || h.Get("X-Open") != "1" {
		t.Errorf("the other origin got %v", h)
	}
}
