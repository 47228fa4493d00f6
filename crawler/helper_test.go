package crawler_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seine-go/seine/crawler"
	"github.com/seine-go/seine/dedupe"
	"github.com/seine-go/seine/fetch"
	"github.com/seine-go/seine/internal/memhttp"
)

// web is a few hosts in memory that note who asked them for what and when.
type web struct {
	network memhttp.Network
	mu      sync.Mutex
	visits  []visit
	flight  map[string]int
	most    map[string]int
}

type visit struct {
	url        string
	agent      string
	start, end time.Time
}

// serve adds a host. Its handler is called with the host name as it was asked for.
func (w *web) serve(t *testing.T, host string, h http.HandlerFunc) {
	t.Helper()
	w.network.Serve(t, host+":80", http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		v := visit{url: "http://" + r.Host + r.URL.RequestURI(), agent: r.UserAgent(), start: time.Now()}
		w.mu.Lock()
		if w.flight == nil {
			w.flight, w.most = map[string]int{}, map[string]int{}
		}
		w.flight[host]++
		w.most[host] = max(w.most[host], w.flight[host])
		w.mu.Unlock()
		h(rw, r)
		w.mu.Lock()
		defer w.mu.Unlock()
		w.flight[host]--
		v.end = time.Now()
		w.visits = append(w.visits, v)
	}))
}

// urls lists what was asked for, in order, robots.txt left out.
func (w *web) urls() (urls []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, v := range w.visits {
		if !hasSuffix(v.url, "/robots.txt") {
			urls = append(urls, v.url)
		}
	}
	return urls
}

func (w *web) count(url string) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, v := range w.visits {
		if v.url == url {
			n++
		}
	}
	return n
}

func hasSuffix(s, suffix string) bool {
	return len(s) >= len(suffix) && s[len(s)-len(suffix):] == suffix
}

// transport fetches from the web in memory.
func (w *web) transport() *fetch.Transport {
	return &fetch.Transport{Dial: w.network.DialContext, Resolver: &w.network, AllowPrivate: true}
}

// pages is a handler that serves HTML by path; robots.txt is missing unless it is listed.
func pages(byPath map[string]string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, ok := byPath[r.URL.RequestURI()]
		if !ok {
			http.NotFound(w, r)
			return
		}
		if r.URL.Path == "/robots.txt" {
			w.Header().Set("Content-Type", "text/plain")
		} else {
			w.Header().Set("Content-Type", "text/html")
		}
		fmt.Fprint(w, body)
	}
}

// links is a page of links.
func links(refs ...string) string {
	s := "<!doctype html><title>t</title>"
	for _, r := range refs {
		s += `<a href="` + r + `">x</a>`
	}
	return s
}

// bubble runs f in a synctest bubble with an empty web.
func bubble(t *testing.T, f func(t *testing.T, w *web)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(t, new(web)) })
}

// run crawls with the web's transport and a handler that follows all links.
func run(t *testing.T, w *web, cfg crawler.Config, seeds ...string) (*crawler.Stats, error) {
	t.Helper()
	tr := w.transport()
	defer tr.Close()
	cfg.Fetcher = tr
	if cfg.Handler == nil {
		cfg.Handler = crawler.HandlerFunc(func(_ context.Context, p *crawler.Page) error {
			p.FollowLinks()
			return nil
		})
	}
	e, err := crawler.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return e.Run(t.Context(), seeds...)
}

// failures collects what Hooks.Failed is told.
type failures struct {
	mu   sync.Mutex
	errs map[string]error
}

func (f *failures) hook() crawler.Hooks {
	f.errs = map[string]error{}
	return crawler.Hooks{Failed: func(_ context.Context, err *crawler.PageError) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.errs[err.Request.URL] = err
	}}
}

func sorted(s []string) []string {
	slices.Sort(s)
	return s
}

func w3lib(t *testing.T) *dedupe.Canonicalizer {
	t.Helper()
	c, err := dedupe.New(dedupe.W3lib, dedupe.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}
