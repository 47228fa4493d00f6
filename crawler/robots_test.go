package crawler_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/seine-go/seine/crawler"
	"github.com/seine-go/seine/fetch"
)

func TestRobotsIsObeyedByDefault_K073(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		w.serve(t, "films.example", pages(map[string]string{"/robots.txt": "User-agent: *\nDisallow: /", "/": links("/a")}))
		var f failures
		stats, err := run(t, w, crawler.Config{Hooks: f.hook()}, "http://films.example/", "http://films.example/a")
		if err != nil || stats.Refused != 2 || stats.Pages != 0 || len(w.urls()) != 0 || !stats.Finished {
			t.Errorf("%v, %v, fetched %q", stats, err, w.urls())
		}
		for url, err := range f.errs {
			if !errors.Is(err, crawler.ErrRobotsDisallowed) || !strings.Contains(err.Error(), "Disallow: /") {
				t.Errorf("%s: %v", url, err)
			}
		}
		if w.count("http://films.example/robots.txt") != 1 {
			t.Error("robots.txt was not asked for once")
		}
	})
}

// While robots.txt cannot be had nothing is fetched; it is asked for again, and then the pages are.
func TestRobotsUnreachableIsAskedAgain_K074(t *testing.T) {
	t.Parallel()
	for _, status := range []int{500, 503} {
		bubble(t, func(t *testing.T, w *web) {
			n := 0
			w.serve(t, "films.example", func(rw http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/robots.txt" {
					if n++; n == 1 {
						rw.WriteHeader(status)
						return
					}
				}
				pages(map[string]string{"/robots.txt": "User-agent: *\nDisallow: /private", "/": ""})(rw, r)
			})
			stats, err := run(t, w, crawler.Config{}, "http://films.example/", "http://films.example/private")
			if err != nil || stats.Pages != 1 || stats.Refused != 1 || n != 2 {
				t.Errorf("%d: %v, %v, robots.txt asked %d times", status, stats, err, n)
			}
		})
	}
	bubble(t, func(t *testing.T, w *web) { // nobody listens: it ends, and every URL is listed
		var f failures
		tr := w.transport()
		defer tr.Close()
		e, err := crawler.New(crawler.Config{Fetcher: tr, Hooks: f.hook(), Handler: crawler.HandlerFunc(func(context.Context, *crawler.Page) error { return nil })})
		if err != nil {
			t.Fatal(err)
		}
		w.network.Listen("films.example:81") // the name exists
		stats, err := e.Run(t.Context(), "http://films.example/", "http://films.example/b")
		if err != nil || !stats.Finished || stats.Failed != 2 || len(f.errs) != 2 {
			t.Errorf("%v, %v, %v", stats, err, f.errs)
		}
	})
}

func TestRedirectTargetsAskRobots_K075(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		h := func(rw http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/go":
				http.Redirect(rw, r, "/private/x", http.StatusFound)
			case "/away":
				http.Redirect(rw, r, "http://other.example/private/y", http.StatusFound)
			case "/robots.txt":
				fmt.Fprint(rw, "User-agent: *\nDisallow: /private")
			}
		}
		w.serve(t, "films.example", h)
		w.serve(t, "other.example", h)
		var f failures
		stats, err := run(t, w, crawler.Config{Hooks: f.hook(), Scope: crawler.Scope{Hosts: []string{"*"}}}, "http://films.example/go", "http://films.example/away")
		if err != nil || stats.Refused != 2 || !errors.Is(f.errs["http://films.example/go"], crawler.ErrRobotsDisallowed) || !errors.Is(f.errs["http://films.example/away"], crawler.ErrRobotsDisallowed) {
			t.Errorf("%v, %v, %v", stats, err, f.errs)
		}
		for _, u := range w.urls() {
			if strings.Contains(u, "private") {
				t.Errorf("%s was fetched", u)
			}
		}
	})
}

// However many pages of a host begin at the same time, robots.txt is asked for once.
func TestRobotsIsAskedOnce_K076(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		w.serve(t, "films.example", func(rw http.ResponseWriter, r *http.Request) {
			time.Sleep(100 * time.Millisecond)
			pages(map[string]string{"/robots.txt": ""})(rw, r)
		})
		var seeds []string
		for i := range 50 {
			seeds = append(seeds, fmt.Sprint("http://films.example/", i))
		}
		stats, err := run(t, w, crawler.Config{Spacing: -1, PerHost: 50, AllStatuses: true}, seeds...)
		if err != nil || stats.Pages != 50 || w.count("http://films.example/robots.txt") != 1 {
			t.Errorf("%v, %v, robots.txt asked %d times", stats, err, w.count("http://films.example/robots.txt"))
		}
	})
}

func TestRobotsIsAskedForTheProductToken_K077(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		w.serve(t, "films.example", pages(map[string]string{"/robots.txt": "User-agent: *\nDisallow: /\n\nUser-agent: mybot\nDisallow: /private\n", "/": links("/private")}))
		stats, err := run(t, w, crawler.Config{Agent: "mybot", UserAgent: "Mozilla/5.0 (compatible; mybot/1.2; +https://films.example/bot)"}, "http://films.example/")
		if err != nil || stats.Pages != 1 || stats.Refused != 1 {
			t.Errorf("%v, %v", stats, err)
		}
	})
}

func TestEachOriginHasItsOwnRobots_K078(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		w.serve(t, "films.example", pages(map[string]string{"/robots.txt": "User-agent: *\nDisallow: /a", "/a": "", "/b": ""}))
		w.serve(t, "www.films.example", pages(map[string]string{"/robots.txt": "User-agent: *\nDisallow: /b", "/a": "", "/b": ""}))
		stats, err := run(t, w, crawler.Config{}, "http://films.example/a", "http://films.example/b", "http://www.films.example/a", "http://www.films.example/b")
		if err != nil || stats.Pages != 2 || w.count("http://films.example/b") != 1 || w.count("http://www.films.example/a") != 1 {
			t.Errorf("%v, %v, %q", stats, err, w.urls())
		}
	})
}

// A server that refuses Go's own agent sees ours, for robots.txt as for pages; limits hold for it too.
func TestRobotsIsAskedWithTheCrawlersAgent_K079(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		w.serve(t, "films.example", func(rw http.ResponseWriter, r *http.Request) {
			if !strings.HasPrefix(r.UserAgent(), "seine/") {
				rw.WriteHeader(http.StatusForbidden)
				return
			}
			pages(map[string]string{"/robots.txt": "User-agent: *\nDisallow: /private", "/": links("/private")})(rw, r)
		})
		stats, err := run(t, w, crawler.Config{}, "http://films.example/")
		if err != nil || stats.Pages != 1 || stats.Refused != 1 {
			t.Errorf("%v, %v", stats, err)
		}
		if gap := w.visits[1].start.Sub(w.visits[0].end); gap < 400*time.Millisecond {
			t.Errorf("the page came %v after robots.txt", gap)
		}
	})
	bubble(t, func(t *testing.T, w *web) { // and through the caller's own middlewares
		w.serve(t, "films.example", pages(map[string]string{"/robots.txt": "", "/": ""}))
		seen := 0
		mark := func(next fetch.Fetcher) fetch.Fetcher {
			return fetch.FetcherFunc(func(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
				seen++
				return next.Fetch(ctx, req)
			})
		}
		if _, err := run(t, w, crawler.Config{Middleware: []fetch.Middleware{mark}}, "http://films.example/"); err != nil || seen != 2 {
			t.Errorf("%d fetches through the middleware, %v", seen, err)
		}
	})
}
