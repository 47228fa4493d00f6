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
	"github.com/seine-go/seine/fetch/cookie"
)

// portal is a host whose pages want a session that is logged in, which lasts for some pages. / has links to so many.
type portal struct {
	pages, uses int
	robots      string
	login       string    // where one that is out is led; "" for 401
	down        time.Time // until then the login answers 503, once the first has worked
	forbidden   string    // paths that begin so answer 401 to everybody

	mu            sync.Mutex
	left          map[string]int // uses of a cookie
	logins, tries int
	outage        time.Duration // how long the login is down from when the first session has expired
}

func (p *portal) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w.Header().Set("Content-Type", "text/html")
	switch {
	case r.URL.Path == "/robots.txt":
		fmt.Fprint(w, p.robots)
	case r.URL.Path == "/start":
	case r.URL.Path == "/login" && r.Method == http.MethodPost:
		p.logIn(w)
	case r.URL.Path == "/login":
		fmt.Fprint(w, "<title>log in</title>")
	case p.forbidden != "" && strings.HasPrefix(r.URL.Path, p.forbidden):
		w.WriteHeader(http.StatusUnauthorized)
	case p.isIn(r):
		fmt.Fprint(w, "<title>secret</title>")
		for i := range p.pages {
			if r.URL.Path == "/" {
				fmt.Fprintf(w, "<a href=/p%d>x</a>", i)
			}
		}
	case p.login == "":
		w.WriteHeader(http.StatusUnauthorized)
	default:
		http.Redirect(w, r, p.login, http.StatusFound)
	}
}

func (p *portal) logIn(w http.ResponseWriter) {
	p.tries++
	if time.Now().Before(p.down) {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	p.logins++
	sid := fmt.Sprint(p.logins)
	if p.left == nil {
		p.left = map[string]int{}
	}
	p.left[sid] = p.uses
	http.SetCookie(w, &http.Cookie{Name: "sid", Value: sid, Path: "/"})
}

func (p *portal) isIn(r *http.Request) bool {
	sid, _ := r.Cookie("sid")
	if sid == nil {
		return false
	}
	if p.left[sid.Value] > 0 {
		p.left[sid.Value]--
		return true
	}
	if p.outage > 0 && p.down.IsZero() {
		p.down = time.Now().Add(p.outage)
	}
	return false
}

// policy logs in at a URL.
func (p *portal) policy(url string) fetch.LoginPolicy {
	return fetch.LoginPolicy{
		Login: func(ctx context.Context, f fetch.Fetcher, _ string) error {
			resp, err := f.Fetch(ctx, &fetch.Request{URL: url, Method: http.MethodPost, Body: []byte("user=ann")})
			if err != nil {
				return err
			}
			return resp.StatusErr()
		},
		Out: func(r *fetch.Response) bool { return strings.HasSuffix(r.URL, "/login") || r.Status == 401 },
	}
}

// inSession is a handler that has /start followed by others in a session, those that end so as the last of all, and notes the pages of the session by their title.
func inSession(got map[string][]string, then ...string) crawler.HandlerFunc {
	var mu sync.Mutex
	return func(_ context.Context, p *crawler.Page) error {
		if p.Request.Session != "" {
			mu.Lock()
			defer mu.Unlock()
			title := p.Text("title")
			got[title] = append(got[title], p.URL)
		} else if strings.HasSuffix(p.URL, "/start") {
			for _, url := range then {
				url, last := strings.CutSuffix(url, "#last")
				r := &crawler.Request{URL: url, Session: "ann"}
				if last {
					r.Priority = -1
				}
				if err := p.Add(r); err != nil {
					return err
				}
			}
		}
		p.FollowLinks()
		return nil
	}
}

// distinct is how many different ones there are.
func distinct(s []string) int { return len(slices.Compact(sorted(slices.Clone(s)))) }

// TestLoginSeesRedirectsThatAreNotFollowed has sessions expire where the redirect to the login is followed, refused, or made into a
// request of its own: all pages come.
func TestLoginSeesRedirectsThatAreNotFollowed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		at    string // of the login
		cfg   crawler.Config
		rules string
		busy  bool // the host of the login has pages of its own under way
		alien bool // the Fetcher follows no redirects
	}{
		{name: "followed", at: "http://a.example/login"},
		{name: "robots.txt", at: "http://a.example/login", rules: "User-agent: *\nDisallow: /login"},
		{name: "scope", at: "http://sso.example/login", cfg: crawler.Config{Scope: crawler.Scope{Hosts: []string{"a.example"}}}},
		{name: "busy host", at: "http://sso.example/login", busy: true},
		{name: "no hops", at: "http://a.example/login", cfg: crawler.Config{MaxHops: -1}},
		{name: "other Fetcher", at: "http://a.example/login", alien: true},
		{name: "no such host", at: "http://none.example/login"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T, w *web) {
				site := &portal{pages: 40, uses: 9, robots: c.rules, login: c.at}
				w.serve(t, "a.example", site.ServeHTTP)
				busy := map[string]string{}
				for i := range 100 {
					busy["/"] = links("/0") + busy["/"]
					busy[fmt.Sprintf("/%d", i)] = links(fmt.Sprintf("/%d", i+1))
				}
				w.serve(t, "sso.example", func(rw http.ResponseWriter, r *http.Request) {
					time.Sleep(time.Second)
					pages(busy)(rw, r)
				})
				tr := w.transport()
				defer tr.Close()
				got := map[string][]string{}
				cfg := c.cfg
				cfg.Fetcher, cfg.PerHost, cfg.Spacing = tr, 1, 10*time.Millisecond
				cfg.Middleware = []fetch.Middleware{fetch.Login(site.policy("http://a.example/login"))}
				cfg.Handler = inSession(got, "/")
				if cfg.Scope.Hosts == nil {
					cfg.Scope.Hosts = []string{"a.example", "sso.example", "none.example"}
				}
				if c.alien {
					tr.Cookies, tr.MaxRedirects = new(cookie.Jars).Open, -1
					cfg.Fetcher = fetch.FetcherFunc(tr.Fetch)
				}
				e, err := crawler.New(cfg)
				if err != nil {
					t.Fatal(err)
				}
				seeds := []string{"http://a.example/start"}
				if c.busy {
					seeds = append(seeds, "http://sso.example/")
				}
				stats, err := e.Run(t.Context(), seeds...)
				if err != nil || len(got["secret"]) != 41 || distinct(got["secret"]) != 41 || len(got) != 1 {
					t.Errorf("%v, %v, %d of 41 pages, %v", err, stats, len(got["secret"]), got["log in"])
				}
				if site.logins != 5 {
					t.Errorf("%d logins", site.logins)
				}
			})
		})
	}
}

// TestLoginOutageCostsNoTry has the login be down when the session expires: the pages wait for it, and fail only where the session is
// given up.
func TestLoginOutageCostsNoTry(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		outage time.Duration
		tries  int
		all    bool
	}{
		{"short", 15 * time.Second, 0, true},
		{"a minute", time.Minute, 0, true},
		{"given up", 10 * time.Hour, 5, false},
		{"given up by the default", 10 * time.Hour, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T, w *web) {
				site := &portal{pages: 200, uses: 50, outage: c.outage}
				w.serve(t, "a.example", site.ServeHTTP)
				got := map[string][]string{}
				policy := site.policy("http://a.example/login")
				policy.Tries = c.tries
				var f failures
				began := time.Now()
				stats, err := run(t, w, crawler.Config{
					Handler: inSession(got, "/"), Hooks: f.hook(), MaxAttempts: 1, Spacing: 100 * time.Millisecond,
					Middleware: []fetch.Middleware{fetch.Login(policy)},
				}, "http://a.example/start")
				if err != nil || !stats.Finished {
					t.Fatal(err, stats)
				}
				if c.all {
					if site.uses = 1000; len(got["secret"]) != 201 || len(f.errs) > 0 {
						t.Errorf("%d of 201 pages, %v", len(got["secret"]), f.errs)
					}
					return
				}
				want := c.tries
				if want == 0 {
					want = 10
				}
				if len(got["secret"])+len(f.errs) != 201 || site.tries != want+1 || time.Since(began) > time.Hour {
					t.Errorf("%d pages and %d failures of 201, %d logins, %v", len(got["secret"]), len(f.errs), site.tries, time.Since(began))
				}
				for _, err := range f.errs {
					var login *fetch.LoginError
					if !errors.As(err, &login) || login.Fails != want || login.RetryIn != 0 || login.Session != "ann" {
						t.Fatal(err)
					}
				}
			})
		})
	}
}

// TestForbiddenPagesKeepTheSession has pages that the session may never see among others: each costs one login, and what expires
// afterwards is logged in again.
func TestForbiddenPagesKeepTheSession(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		site := &portal{pages: 30, uses: 7, forbidden: "/p1"} // and /p10 to /p19
		w.serve(t, "a.example", site.ServeHTTP)
		got := map[string][]string{}
		policy := site.policy("http://a.example/login")
		policy.Tries = 3
		var f failures
		stats, err := run(t, w, crawler.Config{
			Handler: inSession(got, "/"), Hooks: f.hook(), PerHost: 1, Middleware: []fetch.Middleware{fetch.Login(policy)},
		}, "http://a.example/start")
		if err != nil || len(got["secret"]) != 20 || len(f.errs) != 11 {
			t.Errorf("%v, %v, %d of 20 pages, %v", err, stats, len(got["secret"]), f.errs)
		}
		if site.logins > 16 {
			t.Errorf("%d logins", site.logins)
		}
	})
}
