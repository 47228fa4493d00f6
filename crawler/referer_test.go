package crawler_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/seine-go/seine/crawler"
	"github.com/seine-go/seine/fetch"
)

// told notes the Referer and the cookies of each request, by host and path.
type told struct {
	mu      sync.Mutex
	referer map[string]string
	cookie  map[string]string
}

func (n *told) note(r *http.Request) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.referer == nil {
		n.referer, n.cookie = map[string]string{}, map[string]string{}
	}
	at := r.Host + r.URL.Path
	n.referer[at], n.cookie[at] = r.Referer(), r.Header.Get("Cookie")
}

// TestRequestsTellTheirPage has links, requests of a handler, forms and redirects, on the host and to another, with each policy and
// without the middleware.
func TestRequestsTellTheirPage(t *testing.T) {
	t.Parallel()
	const page, other = "http://a.example/list?q=1", "http://a.example/"
	for _, c := range []struct {
		name       string
		middleware []fetch.Middleware
		here       string // told to the host of the page
		there      string // and to another
	}{
		{"none", nil, "", ""},
		{"default", []fetch.Middleware{fetch.Referer(fetch.RefererOptions{})}, page, other},
		{"full", []fetch.Middleware{fetch.Referer(fetch.RefererOptions{Policy: fetch.FullURL})}, page, page},
		{"same origin", []fetch.Middleware{nothing, fetch.Referer(fetch.RefererOptions{Policy: fetch.SameOrigin})}, page, ""},
		{"nobody", []fetch.Middleware{fetch.Referer(fetch.RefererOptions{Policy: fetch.NoReferer}), nothing}, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T, w *web) {
				n := new(told)
				w.serve(t, "a.example", func(rw http.ResponseWriter, r *http.Request) {
					n.note(r)
					if r.URL.Path == "/go" {
						http.Redirect(rw, r, "http://b.example/gone", http.StatusFound)
						return
					}
					pages(map[string]string{
						"/": links(), "/list?q=1": links("/link", "/go", "http://b.example/link") + `<form action="/search"><input name=q></form>`,
						"/link": links(), "/search?q=": links(), "/added": links(),
					})(rw, r)
				})
				w.serve(t, "b.example", func(rw http.ResponseWriter, r *http.Request) {
					n.note(r)
					rw.Header().Add("Set-Cookie", "strict=1; SameSite=Strict; Path=/")
					rw.Header().Add("Set-Cookie", "lax=1; SameSite=Lax; Path=/")
					pages(map[string]string{"/": links(), "/gone": links(), "/link": links()})(rw, r)
				})
				_, err := run(t, w, crawler.Config{
					PerHost: 1, Middleware: c.middleware, Scope: crawler.Scope{Hosts: []string{"a.example", "b.example"}},
					Handler: crawler.HandlerFunc(func(_ context.Context, p *crawler.Page) error {
						switch p.URL {
						case "http://a.example/":
							return p.Add(&crawler.Request{URL: "http://b.example/", Session: "ann"})
						case "http://b.example/":
							return p.Add(&crawler.Request{URL: page + "#part", Session: "ann", Header: http.Header{"referer": {}}})
						case page:
							form, err := p.Form("form")
							if err != nil {
								return err
							}
							p.FollowLinks()
							return first(p.Submit(form, ""), p.Add(&crawler.Request{URL: "/added", Header: http.Header{"X-A": {"1"}}}))
						}
						return nil
					}),
				}, "http://a.example/")
				want := map[string]string{
					"a.example/": "", "a.example/list": "", "a.example/link": c.here, "a.example/search": c.here, "a.example/added": c.here, "a.example/go": c.here,
					"b.example/link": c.there, "b.example/gone": c.there,
				}
				for _, name := range []string{"b.example/", "a.example/robots.txt", "b.example/robots.txt"} {
					delete(n.referer, name)
				}
				if err != nil || !maps.Equal(n.referer, want) {
					t.Errorf("%v, got %v\nwant %v", err, n.referer, want)
				}
				cookies := "strict=1; lax=1"
				if c.middleware != nil { // the page of another site is known to have led there
					cookies = "lax=1"
				}
				if got := n.cookie["b.example/link"]; got != cookies {
					t.Errorf("cookies by SameSite: %q, want %q", got, cookies)
				}
			})
		})
	}
}

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func nothing(next fetch.Fetcher) fetch.Fetcher { return next }

// TestLongReferers: at the bound, and one past it.
func TestLongReferers(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		n := new(told)
		w.serve(t, "a.example", func(rw http.ResponseWriter, r *http.Request) {
			n.note(r)
			fmt.Fprint(rw, links(fmt.Sprintf("/from%d", len("http://a.example")+len(r.URL.RequestURI()))))
		})
		path := "/?" + strings.Repeat("a", 4096-len("http://a.example/?"))
		_, err := run(t, w, crawler.Config{Middleware: []fetch.Middleware{fetch.Referer(fetch.RefererOptions{})}, MaxDepth: 1}, "http://a.example"+path, "http://a.example"+path+"a")
		if err != nil || n.referer["a.example/from4096"] != "http://a.example"+path || n.referer["a.example/from4097"] != "http://a.example/" {
			t.Errorf("%v, %v", err, n.referer)
		}
	})
}

// Hosts are told which page led to a request, as browsers tell it.
func ExampleConfig_referer() {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path == "/film/7" {
			fmt.Println(r.URL.Path, "from", strings.TrimPrefix(r.Referer(), "http://"+r.Host))
		}
		fmt.Fprint(w, `<a href="/film/7">Film</a>`)
	}))
	defer site.Close()
	eng, err := crawler.New(crawler.Config{
		AllowPrivate: true, Spacing: -1, Middleware: []fetch.Middleware{fetch.Referer(fetch.RefererOptions{})},
		Handler: crawler.HandlerFunc(func(_ context.Context, p *crawler.Page) error {
			p.FollowLinks()
			return nil
		}),
	})
	if err != nil {
		panic(err)
	}
	defer eng.Close()
	if _, err := eng.Run(context.Background(), site.URL+"/list?page=2"); err != nil {
		panic(err)
	}
	// Output: /film/7 from /list?page=2
}
