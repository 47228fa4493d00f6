package crawler_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seine-go/seine/crawler"
	"github.com/seine-go/seine/fetch"
)

// TestOnlyRedirectsToThePageCount has a middleware that asks again where redirects lead somewhere else. What they led to is fetched
// all the same when a link leads there, and they use up no hops.
func TestOnlyRedirectsToThePageCount(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		asked := 0
		w.serve(t, "a.example", func(rw http.ResponseWriter, r *http.Request) {
			switch {
			case r.URL.Path == "/moving":
				if asked++; asked <= 5 {
					http.Redirect(rw, r, fmt.Sprintf("/busy%d", asked%2), http.StatusFound)
				} else {
					http.Redirect(rw, r, "/moved", http.StatusFound)
				}
			default:
				pages(map[string]string{
					"/": links("/moving"), "/busy0": links(), "/busy1": links("/deep"), "/deep": links(), "/moved": links("/moved", "/busy1", "/busy0"),
				})(rw, r)
			}
		})
		var got []string
		stats, err := run(t, w, crawler.Config{
			MaxHops: 2, PerHost: 1, Spacing: time.Millisecond, Middleware: []fetch.Middleware{untilMoved},
			Handler: crawler.HandlerFunc(func(_ context.Context, p *crawler.Page) error {
				got = append(got, strings.TrimPrefix(p.URL, "http://a.example"))
				p.FollowLinks()
				return nil
			}),
		}, "http://a.example/")
		if want := []string{"/", "/busy0", "/busy1", "/deep", "/moved"}; err != nil || !slices.Equal(sorted(got), want) || stats.Failed+stats.Refused != 0 {
			t.Errorf("%v, %v, %q", err, stats, got)
		}
	})
}

// untilMoved asks for a page again as long as it is led to one that is busy.
func untilMoved(next fetch.Fetcher) fetch.Fetcher {
	return fetch.FetcherFunc(func(ctx context.Context, req *fetch.Request) (resp *fetch.Response, err error) {
		for range 10 {
			resp, err = next.Fetch(ctx, req)
			if err != nil || len(resp.Redirects) == 0 || !strings.Contains(resp.URL, "/busy") {
				break
			}
		}
		return resp, err
	})
}

// TestExpiredSessionLedToAPage has a session that is out be led to a page of the crawl.
func TestExpiredSessionLedToAPage(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		site := &portal{pages: 20, uses: 5, login: "/home"}
		w.serve(t, "a.example", func(rw http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/home" {
				fmt.Fprint(rw, "<!doctype html><title>home</title><a href=/only-here>x</a>")
				return
			}
			site.ServeHTTP(rw, r)
		})
		got := map[string][]string{}
		policy := site.policy("http://a.example/login")
		policy.Out = func(r *fetch.Response) bool { return len(r.Redirects) > 0 && strings.HasSuffix(r.URL, "/home") }
		stats, err := run(t, w, crawler.Config{
			PerHost: 1, Spacing: time.Millisecond, Handler: inSession(got, "/", "/home#last"), Middleware: []fetch.Middleware{fetch.Login(policy)},
		}, "http://a.example/start")
		if err != nil || len(got["home"]) != 1 || len(got["secret"]) != 22 || !slices.Contains(got["secret"], "http://a.example/only-here") {
			t.Errorf("%v, %v, %v", err, stats, got)
		}
	})
}
