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
	"testing"

	"github.com/seine-go/seine/crawler"
	"github.com/seine-go/seine/fetch"
	"github.com/seine-go/seine/fetch/cookie"
)

// members logs sessions in by /login/NAME, where a redirect sets the cookie, and notes who comes to which page.
type members struct {
	mu   sync.Mutex
	seen []string
}

func (m *members) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/robots.txt" {
		http.NotFound(w, r)
		return
	}
	m.mu.Lock()
	m.seen = append(m.seen, strings.TrimSpace(r.Host+r.URL.Path+" "+r.Header.Get("Cookie")))
	m.mu.Unlock()
	name := strings.TrimPrefix(r.URL.Path, "/login/")
	if name != r.URL.Path {
		http.SetCookie(w, &http.Cookie{Name: "user", Value: name, Path: "/"})
		http.Redirect(w, r, "/home/"+name, http.StatusFound)
		return
	}
	if r.URL.Path == "/" {
		w.Header().Set("Set-Cookie", "visitor=1")
	}
	pages(map[string]string{
		"/": links("/public"), "/home/one": links("/notes/one"), "/home/two": links("/notes/two"),
		"/public": links(), "/notes/one": links(), "/notes/two": links(),
	})(w, r)
}

func (m *members) sorted() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	slices.Sort(m.seen)
	return m.seen
}

// TestSessionNamesTheJar has two sessions and none, on the engine's jars and on those of others.
func TestSessionNamesTheJar(t *testing.T) {
	t.Parallel()
	alone := []string{
		"a.example/", "a.example/home/one user=one", "a.example/home/two user=two", "a.example/login/one", "a.example/login/two",
		"a.example/notes/one user=one", "a.example/notes/two user=two", "a.example/public",
	}
	for _, c := range []struct {
		name string
		cfg  crawler.Config
		tr   func(*fetch.Transport)
		want string // what /public is sent
	}{
		{name: "jars of the engine", want: ""},
		{name: "jars of the Config", cfg: crawler.Config{Cookies: new(cookie.Jars).Open}, want: " visitor=1"},
		{name: "jars of the Transport", tr: func(tr *fetch.Transport) { tr.Cookies = new(cookie.Jars).Open }, want: " visitor=1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T, w *web) {
				m := new(members)
				w.serve(t, "a.example", m.ServeHTTP)
				tr := w.transport()
				defer tr.Close()
				if c.tr != nil {
					c.tr(tr)
				}
				c.cfg.Fetcher = tr
				c.cfg.Handler = crawler.HandlerFunc(func(_ context.Context, p *crawler.Page) error {
					p.FollowLinks()
					if p.Request.URL != "http://a.example/" {
						return nil
					}
					return p.Add(&crawler.Request{URL: "/login/one", Session: "one"}, &crawler.Request{URL: "/login/two", Session: "two"})
				})
				e, err := crawler.New(c.cfg)
				if err != nil {
					t.Fatal(err)
				}
				defer e.Close()
				if _, err := e.Run(t.Context(), "http://a.example/"); err != nil {
					t.Fatal(err)
				}
				want := slices.Clone(alone)
				want[len(want)-1] += c.want
				if got := m.sorted(); !slices.Equal(got, want) {
					t.Errorf("got %q\nwant %q", got, want)
				}
			})
		})
	}
}

func TestHandlersRequestsKeepTheSession(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		m := new(members)
		w.serve(t, "a.example", m.ServeHTTP)
		steps := map[string][]*crawler.Request{
			"http://a.example/":         {{URL: "/login/one", Session: "one"}},
			"http://a.example/home/one": {{URL: "/notes/one"}, {URL: "/notes/two", Session: "two"}},
		}
		_, err := run(t, w, crawler.Config{Handler: crawler.HandlerFunc(func(_ context.Context, p *crawler.Page) error {
			return p.Add(steps[p.URL]...)
		})}, "http://a.example/")
		want := []string{"a.example/", "a.example/home/one user=one", "a.example/login/one", "a.example/notes/one user=one", "a.example/notes/two"}
		if got := m.sorted(); err != nil || !slices.Equal(got, want) {
			t.Errorf("%v, got %q", err, got)
		}
	})
}

func TestCookiesConfig(t *testing.T) {
	t.Parallel()
	open := new(cookie.Jars).Open
	handler := crawler.HandlerFunc(func(context.Context, *crawler.Page) error { return nil })
	for name, fetcher := range map[string]fetch.Fetcher{
		"two of them":   &fetch.Transport{Cookies: open},
		"other Fetcher": fetch.FetcherFunc(func(context.Context, *fetch.Request) (*fetch.Response, error) { return nil, errors.New("no") }),
	} {
		_, err := crawler.New(crawler.Config{Handler: handler, Cookies: open, Fetcher: fetcher})
		var bad *crawler.ConfigError
		if !errors.As(err, &bad) || bad.Field != "Cookies" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Sessions log in by themselves and have cookies of their own. The jars are in memory here; with a Store they outlive the
// process.
func ExampleConfig_cookies() {
	site := httptest.NewServer(new(members))
	defer site.Close()
	jars := &cookie.Jars{}
	eng, err := crawler.New(crawler.Config{
		AllowPrivate: true, Spacing: -1, Cookies: jars.Open,
		Handler: crawler.HandlerFunc(func(_ context.Context, p *crawler.Page) error {
			if p.Depth == 0 {
				return p.Add(&crawler.Request{URL: "/login/one", Session: "one"})
			}
			p.FollowLinks() // in the session of the page
			return nil
		}),
	})
	if err != nil {
		panic(err)
	}
	defer eng.Close()
	if _, err := eng.Run(context.Background(), site.URL+"/"); err != nil {
		panic(err)
	}
	jar, err := jars.Open(context.Background(), "one")
	if err != nil {
		panic(err)
	}
	fmt.Println(jars.Sessions()[1], jar.Header(cookie.Exchange{URL: site.URL}))
	// Output: one user=one
}
