package demosite_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seine-go/seine/crawler/crawltest/demosite"
	"github.com/seine-go/seine/internal/memhttp"
)

// ask sends a request straight to the handler.
func ask(site *demosite.Site, method, u string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, u, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	site.Handler().ServeHTTP(w, r)
	return w
}

func TestOptionsAreCheckedAtTheirBounds(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		opts demosite.Options
		bad  string // the option that is named
	}{
		{name: "zero"},
		{name: "one film", opts: demosite.Options{Films: 1}},
		{name: "most films a page", opts: demosite.Options{PerPage: demosite.MaxPerPage}},
		{name: "longest delay", opts: demosite.Options{Slow: demosite.MaxDelay, CrawlDelay: demosite.MaxDelay, RetryAfter: demosite.MaxDelay}},
		{name: "no delays", opts: demosite.Options{Slow: -1, CrawlDelay: -1, RetryAfter: -1, Latency: -1}},
		{name: "names", opts: demosite.Options{Names: map[demosite.Host]string{demosite.Mirror: "mirror.example:8080"}}},
		{name: "fewer than no films", opts: demosite.Options{Films: -1}, bad: "Films"},
		{name: "a film too many", opts: demosite.Options{Films: demosite.MaxFilms + 1}, bad: "Films"},
		{name: "a film a page too many", opts: demosite.Options{PerPage: demosite.MaxPerPage + 1}, bad: "PerPage"},
		{name: "negative page", opts: demosite.Options{PerPage: -1}, bad: "PerPage"},
		{name: "too slow", opts: demosite.Options{Slow: demosite.MaxDelay + 1}, bad: "Slow"},
		{name: "too late", opts: demosite.Options{Latency: demosite.MaxDelay + 1}, bad: "Latency"},
		{name: "crawl-delay too long", opts: demosite.Options{CrawlDelay: demosite.MaxDelay + 1}, bad: "CrawlDelay"},
		{name: "retry too late", opts: demosite.Options{RetryAfter: demosite.MaxDelay + 1}, bad: "RetryAfter"},
		{name: "unknown host", opts: demosite.Options{Names: map[demosite.Host]string{"shop": "shop.example"}}, bad: "Names"},
		{name: "empty name", opts: demosite.Options{Names: map[demosite.Host]string{demosite.API: ""}}, bad: "Names"},
		{name: "name with a path", opts: demosite.Options{Names: map[demosite.Host]string{demosite.API: "a.example/x"}}, bad: "Names"},
		{name: "name in capitals", opts: demosite.Options{Names: map[demosite.Host]string{demosite.API: "API.example"}}, bad: "Names"},
		{name: "name with no port after the colon", opts: demosite.Options{Names: map[demosite.Host]string{demosite.API: "a.example:"}}, bad: "Names"},
		{name: "name with a port in letters", opts: demosite.Options{Names: map[demosite.Host]string{demosite.API: "a.example:http"}}, bad: "Names"},
		{name: "one name for two", opts: demosite.Options{Names: map[demosite.Host]string{demosite.API: "films.test"}}, bad: "Names"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			site := demosite.New(tt.opts)
			defer site.Close()
			err := site.Start()
			if tt.bad == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			var bad *demosite.OptionError
			if !errors.As(err, &bad) || bad.Option != tt.bad || !strings.HasPrefix(err.Error(), "seine: ") {
				t.Fatalf("got %v, want an OptionError of %s", err, tt.bad)
			}
			if w := ask(site, "GET", site.URL()); w.Code != http.StatusInternalServerError || !strings.Contains(w.Body.String(), tt.bad) {
				t.Errorf("handler answers %d %q", w.Code, w.Body)
			}
			ln, err := net.Listen("tcp4", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			if err := site.Serve(ln); !errors.As(err, &bad) {
				t.Errorf("Serve: %v", err)
			}
		})
	}
}

func TestManyFilmsHaveManyTitles(t *testing.T) {
	t.Parallel()
	site := demosite.New(demosite.Options{Films: demosite.MaxFilms, Seed: 11})
	titles, names, hashes := map[string]int{}, map[string]int{}, map[string]int{}
	for _, f := range site.Films() {
		titles[f.Title]++
		if len(f.Cast) != 4 || f.Director.Name == "" || len(f.Genres) < 1 || len(f.Genres) > 3 || f.Rating < 1 || f.Rating > 10 || len(f.Torrents) == 0 {
			t.Fatalf("odd film %+v", f)
		}
		for _, torrent := range f.Torrents {
			hashes[torrent.InfoHash]++
		}
	}
	for _, p := range site.People() {
		names[p.Name]++
	}
	for _, counts := range []map[string]int{titles, names, hashes} {
		for what, n := range counts {
			if n > 1 {
				t.Errorf("%q stands for %d", what, n)
			}
		}
	}
}

func TestTheSameSeedGivesTheSameSite(t *testing.T) {
	t.Parallel()
	a, b := demosite.New(demosite.Options{Seed: 5, Films: 12}), demosite.New(demosite.Options{Seed: 5, Films: 12})
	other := demosite.New(demosite.Options{Seed: 6, Films: 12})
	differ := 0
	for _, p := range a.Pages(demosite.Hosts()...) {
		first, second := ask(a, "GET", p.URL), ask(b, "GET", p.URL)
		if first.Code != second.Code || first.Body.String() != second.Body.String() || !reflect.DeepEqual(first.Header(), second.Header()) {
			t.Errorf("%s differs", p.URL)
		}
		if p.Expect == demosite.Once && ask(other, "GET", p.URL).Body.String() != first.Body.String() {
			differ++
		}
	}
	if differ < 100 {
		t.Errorf("another seed changes %d pages only", differ)
	}
	if small := demosite.New(demosite.Options{Seed: 5, Films: 7}).Films(); !reflect.DeepEqual(small, a.Films()[:7]) {
		t.Error("the first films of a seed depend on how many there are")
	}
}

func TestStartServeAndCloseInEveryOrder(t *testing.T) {
	t.Parallel()
	site := demosite.New(demosite.Options{})
	if err := site.Start(); err != nil {
		t.Fatal(err)
	}
	if err := site.Start(); !errors.Is(err, demosite.ErrStarted) {
		t.Errorf("second Start: %v", err)
	}
	for _, h := range demosite.Hosts() {
		if u := site.HostURL(h); !strings.HasPrefix(u, "http://127.0.0.1:") {
			t.Errorf("%s is at %s", h, u)
		}
	}
	if u := site.HostURL("shop"); u != "" {
		t.Errorf("no such host, but at %q", u)
	}
	for range 2 {
		if err := site.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := site.Start(); !errors.Is(err, http.ErrServerClosed) {
		t.Errorf("Start after Close: %v", err)
	}
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := site.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		t.Errorf("Serve after Close: %v", err)
	}
	if _, err := ln.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("the listener is still open: %v", err)
	}
	if err := demosite.New(demosite.Options{}).Close(); err != nil {
		t.Errorf("Close of a site that was never started: %v", err)
	}
}

// TestCloseLeavesNoGoroutine closes in the midst of slow answers, a hijacked one among them. Not parallel: it looks at all goroutines.
func TestCloseLeavesNoGoroutine(t *testing.T) {
	site := demosite.New(demosite.Options{Slow: demosite.MaxDelay})
	if err := site.Start(); err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{}}
	var clients sync.WaitGroup
	for _, path := range []string{"slow/answer", "slow/header", "slow/body"} {
		clients.Go(func() {
			if resp, err := client.Get(site.URL() + path); err == nil {
				_, _ = io.Copy(io.Discard, resp.Body) // it is cut
				_ = resp.Body.Close()
			}
		})
	}
	eventually(t, "three answers are being slow", func() bool {
		return strings.Count(stacks(), "demosite.(*Site).wait(") == 3 && site.Stats().Hosts[demosite.Catalogue].MaxInFlight == 3
	})
	begin := time.Now()
	if err := site.Close(); err != nil {
		t.Error(err)
	}
	clients.Wait()
	client.CloseIdleConnections()
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("Close took %v", took)
	}
	eventually(t, "no goroutine of the site is left", func() bool {
		all := stacks()
		return !strings.Contains(all, "demosite.(*Site)") && !strings.Contains(all, "net/http.(*conn).serve")
	})
	if n := site.Stats().Hosts[demosite.Catalogue].Statuses[0]; n != 3 {
		t.Errorf("%d answers given up, want 3", n)
	}
}

// stacks has those of all goroutines.
func stacks() string {
	b := make([]byte, 1<<20)
	return string(b[:runtime.Stack(b, true)])
}

// eventually asks until the answer is yes.
func eventually(t *testing.T, what string, yes func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(20 * time.Second); !yes(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatalf("not so: %s", what)
		}
	}
}

// inMemory runs a site on listeners in memory, for synctest, and returns a client of it.
func inMemory(t *testing.T, opts demosite.Options) (*demosite.Site, *http.Client) {
	t.Helper()
	site := demosite.New(opts)
	var network memhttp.Network
	var serving sync.WaitGroup
	for _, h := range demosite.Hosts() {
		ln, err := network.Listen(site.Name(h) + ":80")
		if err != nil {
			t.Fatal(err)
		}
		serving.Go(func() {
			if err := site.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
				t.Errorf("serve: %v", err)
			}
		})
	}
	transport := &http.Transport{DialContext: network.DialContext}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		if err := site.Close(); err != nil {
			t.Error(err)
		}
		serving.Wait()
	})
	return site, &http.Client{Transport: transport}
}

func TestSlowPagesTakeTheirTimeInMemory(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		site, client := inMemory(t, demosite.Options{Slow: 20 * time.Second})
		for _, tt := range []struct {
			path         string
			header, body time.Duration // when they have come
		}{
			{"slow/answer", 20 * time.Second, 20 * time.Second},
			{"slow/header", 20 * time.Second, 20 * time.Second},
			{"slow/body", 0, 20 * time.Second},
			{"about", 0, 0},
		} {
			begin := time.Now()
			resp, err := client.Get(site.URL() + tt.path)
			if err != nil {
				t.Fatalf("%s: %v", tt.path, err)
			}
			header := time.Since(begin)
			if body := readAll(t, resp); !strings.Contains(body, "</html>") {
				t.Errorf("%s: body %q", tt.path, body)
			}
			if d := time.Since(begin); d != tt.body || header != tt.header {
				t.Errorf("%s: header after %v, body after %v; want %v, %v", tt.path, header, d, tt.header, tt.body)
			}
		}
	})
}

func TestSlowPagesEndWithTheClient(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		site, client := inMemory(t, demosite.Options{Slow: time.Hour, Latency: time.Second})
		for _, path := range []string{"slow/answer", "slow/body", "about"} {
			ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, site.URL()+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := client.Do(req); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: %v", path, err)
			}
			cancel()
		}
		synctest.Wait()
		if host := site.Stats().Hosts[demosite.Catalogue]; host.Statuses[0] != 3 || len(host.Statuses) != 1 {
			t.Errorf("statuses %v, want three answers given up", host.Statuses)
		}
	})
}

func FuzzHandler(f *testing.F) {
	site := demosite.New(demosite.Options{Films: 3, Slow: -1})
	for _, p := range site.Pages(demosite.Hosts()...) {
		f.Add("GET", site.Name(p.Host), strings.TrimPrefix(p.URL, "http://"+site.Name(p.Host)), "gzip")
	}
	f.Add("POST", "films.test", "/login", "")
	f.Add("HEAD", "mirror.test", "/film/1;x/%2F?page=-1", "*;q=0")
	f.Add("PUT", "api.films.test", "//api/film/01", "gzip;q=2")
	f.Fuzz(func(t *testing.T, method, host, target, accept string) {
		r, err := http.NewRequest(method, "http://host.invalid"+target, strings.NewReader(""))
		if err != nil || !strings.HasPrefix(target, "/") {
			t.Skip("no request that a server would hand on")
		}
		r.Host = host
		r.Header.Set("Accept-Encoding", accept)
		w := httptest.NewRecorder()
		site.Handler().ServeHTTP(w, r)
		if w.Code >= 500 && !strings.HasPrefix(r.URL.Path, "/errors/") {
			t.Errorf("%s %s%s: %d", method, host, target, w.Code)
		}
	})
}

func BenchmarkFilmPage(b *testing.B) {
	site := demosite.New(demosite.Options{})
	handler, r := site.Handler(), httptest.NewRequest("GET", site.URL()+"film/1", nil)
	b.ReportAllocs()
	for b.Loop() {
		handler.ServeHTTP(discard{http.Header{}}, r)
	}
}
