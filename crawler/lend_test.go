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

// chained are pages with a link to the next one each, beginning at /.
func chained(n int) map[string]string {
	m := map[string]string{"/": links("/0")}
	for i := range n {
		m[fmt.Sprintf("/%d", i)] = links(fmt.Sprintf("/%d", i+1))
	}
	m[fmt.Sprintf("/%d", n)] = links()
	return m
}

// TestMiddlewareWaitsForABusyHost has sessions be logged in at hosts whose only place pages of the same crawl have: those that go on, that
// wait for the same login, or for one at the host of the page that waits for theirs. All pages come, and no host has more than one
// request in flight.
func TestMiddlewareWaitsForABusyHost(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		cfg   crawler.Config
		at    map[string]string   // where sessions are logged in
		seeds map[string][]string // of sessions
	}{
		{name: "others' pages", at: map[string]string{"ann": "b"}, seeds: map[string][]string{"": {"b"}, "ann": {"a"}}},
		{name: "with a delay", cfg: crawler.Config{Delay: 100 * time.Millisecond}, at: map[string]string{"ann": "b"}, seeds: map[string][]string{"": {"b"}, "ann": {"a"}}},
		{name: "pages of the session", at: map[string]string{"ann": "b"}, seeds: map[string][]string{"ann": {"a", "b", "c"}}},
		{name: "a circle", at: map[string]string{"ann": "b", "bob": "c", "cid": "a"}, seeds: map[string][]string{"ann": {"a"}, "bob": {"b"}, "cid": {"c"}}},
		{name: "one worker", cfg: crawler.Config{Concurrency: 1}, at: map[string]string{"ann": "b", "bob": "a"}, seeds: map[string][]string{"ann": {"a"}, "bob": {"b"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T, w *web) {
				for _, name := range []string{"a", "b", "c"} {
					w.serve(t, name+".example", func(rw http.ResponseWriter, r *http.Request) {
						time.Sleep(300 * time.Millisecond)
						if r.URL.Path == "/login" {
							return
						}
						pages(chained(30))(rw, r)
					})
				}
				var seeds []*crawler.Request
				want := 0
				for session, hosts := range c.seeds {
					for _, host := range hosts {
						seeds = append(seeds, &crawler.Request{URL: "http://" + host + ".example/", Session: session})
						want += 32
					}
				}
				c.cfg.PerHost, c.cfg.Spacing, c.cfg.MaxAttempts = 1, 100*time.Millisecond, 1
				c.cfg.Scope.Hosts = []string{"a.example", "b.example", "c.example", "s.example"}
				w.serve(t, "s.example", pages(map[string]string{"/": links()}))
				c.cfg.Middleware = []fetch.Middleware{fetch.Login(fetch.LoginPolicy{Login: func(ctx context.Context, f fetch.Fetcher, s string) error {
					_, err := f.Fetch(ctx, &fetch.Request{URL: "http://" + c.at[s] + ".example/login", Method: http.MethodPost})
					return err
				}})}
				c.cfg.Handler = crawler.HandlerFunc(func(_ context.Context, p *crawler.Page) error {
					if strings.Contains(p.URL, "s.example") {
						return p.Add(seeds...)
					}
					p.FollowLinks()
					return nil
				})
				var f failures
				c.cfg.Hooks = f.hook()
				stats, err := run(t, w, c.cfg, "http://s.example/")
				if err != nil || stats.Pages != int64(want+1) || len(f.errs) > 0 {
					t.Errorf("%v, %v of %d, %v", err, stats, want+1, f.errs)
				}
				last := map[string]time.Time{}
				for _, v := range w.visits {
					host := strings.SplitN(v.url, "/", 4)[2]
					if gap := v.start.Sub(last[host]); gap < 90*time.Millisecond && host != "s.example" {
						t.Errorf("%s was asked %v after the one before began", v.url, gap)
					}
					if last[host] = v.start; w.most[host] > 1 {
						t.Fatalf("%s had %d in flight", host, w.most[host])
					}
				}
				if stats.Elapsed > 2*time.Minute {
					t.Errorf("it took %v", stats.Elapsed)
				}
			})
		})
	}
}

// TestWaitForABusyHostIsBounded has the only place of a host be somebody else's for good.
func TestWaitForABusyHostIsBounded(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		w.serve(t, "a.example", pages(map[string]string{"/": links()}))
		w.serve(t, "b.example", pages(nil))
		frontier := crawler.NewMemory(crawler.MemoryOptions{})
		var f failures
		began := time.Now()
		_, err := run(t, w, crawler.Config{
			Frontier: frontier, PerHost: 1, Hooks: f.hook(),
			Middleware: []fetch.Middleware{fetch.Login(fetch.LoginPolicy{
				Needs: func(*fetch.Request) bool { return true }, Late: true, Tries: 1,
				Out: func(r *fetch.Response) bool { return r.Status == 200 },
				Login: func(ctx context.Context, f fetch.Fetcher, _ string) error {
					if _, err := frontier.ReserveHost(ctx, crawler.ReserveRequest{Host: "b.example", TTL: 10 * time.Hour}); err != nil {
						return err
					}
					_, err := f.Fetch(ctx, &fetch.Request{URL: "http://b.example/login"})
					return err
				},
			})},
		}, "http://a.example/")
		failed := f.errs["http://a.example/"]
		if took := time.Since(began); err != nil || !errors.Is(failed, crawler.ErrBusy) || !errors.Is(failed, fetch.ErrTimeout) || took < time.Minute || took > 10*time.Minute {
			t.Errorf("%v, %v after %v", err, failed, time.Since(began))
		}
	})
}
