package crawler_test

import (
	"context"
	"errors"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/seine-go/seine/crawler"
	"github.com/seine-go/seine/fetch"
)

// following is a RoundTripper that follows redirects.
type following struct{ client *http.Client }

func (f following) RoundTrip(r *http.Request) (*http.Response, error) { return f.client.Do(r) }

// What a RoundTripper has followed by itself is refused, or delivered under its own URL, as what the Transport follows.
func TestFollowedRedirectsAreChecked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, from string
		want       string // URL of the page
		is         error
	}{
		{"allowed", "/good", "http://films.example/dir/b", nil},
		{"forbidden by robots.txt", "/bad", "", crawler.ErrRobotsDisallowed},
		{"over a forbidden one", "/over", "", crawler.ErrRobotsDisallowed},
		{"out of scope", "/out", "", crawler.ErrOutOfScope},
		{"another host", "/other", "http://other.example/x", nil},
		{"another host that forbids it", "/otherbad", "", crawler.ErrRobotsDisallowed},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T, w *web) {
				to := map[string]string{
					"/good": "/dir/b", "/bad": "/no/b", "/over": "/no/over", "/no/over": "/dir/b", "/out": "http://outside.example/",
					"/other": "http://other.example/x", "/otherbad": "http://other.example/no",
				}
				for _, host := range []string{"films.example", "other.example", "outside.example"} {
					w.serve(t, host, func(rw http.ResponseWriter, r *http.Request) {
						if to[r.URL.Path] != "" {
							http.Redirect(rw, r, to[r.URL.Path], http.StatusFound)
							return
						}
						pages(map[string]string{"/robots.txt": "User-agent: *\nDisallow: /no", "/dir/b": links("c"), "/dir/c": "", "/no/b": "", "/x": "", "/no": "", "/": ""})(rw, r)
					})
				}
				rt := &http.Transport{DialContext: w.network.DialContext}
				defer rt.CloseIdleConnections()
				var got []string
				var f failures
				e, err := crawler.New(crawler.Config{
					Fetcher: fetch.FromRoundTripper(following{&http.Client{Transport: rt}}), Hooks: f.hook(),
					Scope: crawler.Scope{Hosts: []string{"films.example", "other.example"}},
					Handler: crawler.HandlerFunc(func(_ context.Context, p *crawler.Page) error {
						p.FollowLinks()
						got = append(got, p.URL)
						return nil
					}),
				})
				if err != nil {
					t.Fatal(err)
				}
				stats, err := e.Run(t.Context(), "http://films.example"+c.from)
				if err != nil {
					t.Fatal(err)
				}
				if c.is != nil {
					if stats.Pages != 0 || stats.Refused != 1 || len(f.errs) != 1 {
						t.Errorf("%q, %v, %v", got, stats, f.errs)
					}
					for _, err := range f.errs {
						if !errors.Is(err, c.is) {
							t.Errorf("%v", err)
						}
					}
					return
				}
				if len(got) == 0 || got[0] != c.want || c.from == "/good" && !slices.Contains(got, "http://films.example/dir/c") {
					t.Errorf("%q, %v, %v", got, stats, f.errs)
				}
			})
		})
	}
}

// What a Fetcher does wrong is told of the Fetcher.
func TestFetchersFaultsAreTheirs(t *testing.T) {
	t.Parallel()
	nothing := fetch.FetcherFunc(func(context.Context, *fetch.Request) (*fetch.Response, error) { return nil, nil })
	goexit := fetch.FetcherFunc(func(context.Context, *fetch.Request) (*fetch.Response, error) { runtime.Goexit(); return nil, nil })
	same := func(f fetch.Fetcher) fetch.Fetcher { return f }
	for _, c := range []struct {
		fetcher fetch.Fetcher
		chain   []fetch.Middleware
		want    string
	}{
		{nothing, nil, "the Fetcher returned neither a response nor an error"},
		{nothing, []fetch.Middleware{same}, "the Fetcher or a middleware returned neither a response nor an error"},
		{goexit, nil, "the Fetcher ended its goroutine"},
		{goexit, []fetch.Middleware{same}, "the Fetcher or a middleware ended its goroutine"},
		{fetch.FetcherFunc(func(_ context.Context, q *fetch.Request) (*fetch.Response, error) {
			return &fetch.Response{Request: q, URL: q.URL, Status: 200}, nil
		}), nil, "the handler ended its goroutine"},
	} {
		var f failures
		e, err := crawler.New(crawler.Config{
			Fetcher: c.fetcher, Middleware: c.chain, IgnoreRobots: true, Hooks: f.hook(),
			Handler: crawler.HandlerFunc(func(context.Context, *crawler.Page) error { runtime.Goexit(); return nil }),
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Run(t.Context(), "http://a.example/"); err != nil || len(f.errs) != 1 {
			t.Fatalf("%v, %v", err, f.errs)
		}
		for _, err := range f.errs {
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
		}
	}
}
