package crawler_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seine-go/seine/crawler"
	"github.com/seine-go/seine/extract"
	"github.com/seine-go/seine/fetch"
)

// A panic in a handler, a link extractor or a middleware costs that page alone.
func TestPanicCostsOnePage_K008(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		w.serve(t, "films.example", pages(map[string]string{"/": links("/handler", "/links", "/middleware", "/fine"), "/handler": "", "/links": links("/x"), "/middleware": "", "/fine": links("/after"), "/after": ""}))
		var f failures
		boom := func(next fetch.Fetcher) fetch.Fetcher {
			return fetch.FetcherFunc(func(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
				if strings.HasSuffix(req.URL, "/middleware") {
					panic(errors.New("middleware"))
				}
				return next.Fetch(ctx, req)
			})
		}
		extractor := func(p *crawler.Page) []extract.Link {
			var none []extract.Link
			return none[:len(p.Links())] // out of range
		}
		stats, err := run(t, w, crawler.Config{Hooks: f.hook(), Middleware: []fetch.Middleware{boom}, Handler: crawler.HandlerFunc(func(_ context.Context, p *crawler.Page) error {
			switch {
			case strings.HasSuffix(p.URL, "/handler"):
				panic("handler")
			case strings.HasSuffix(p.URL, "/links"):
				extractor(p)
			}
			p.FollowLinks()
			return nil
		})}, "http://films.example/")
		if err != nil || stats.Pages != 3 || stats.Failed != 3 || stats.Panics != 3 || !stats.Finished {
			t.Errorf("%v, %v", stats, err)
		}
		for _, path := range []string{"/handler", "/links", "/middleware"} {
			var p *crawler.PanicError
			if err := f.errs["http://films.example"+path]; !errors.As(err, &p) || len(p.Stack) == 0 {
				t.Errorf("%s: %v", path, err)
			}
		}
		if stats.Pages == 3 && stats.Failed == 3 {
			fmt.Println("shown first-crawl.6: 3 panics (handler, link extractor, middleware) cost 3 of 6 pages, the others were done")
		}
	})
}

// When ctx ends, Run is back within 100 ms of virtual time, whatever its requests wait for, and nothing is left: the
// bubble would not end.
func TestCancelReturnsAtOnce_K001(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		handler http.HandlerFunc
		cfg     crawler.Config
	}{
		{name: "waiting for a delay", handler: pages(map[string]string{"/robots.txt": ""}), cfg: crawler.Config{Delay: time.Hour}},
		{name: "waiting for an answer", handler: func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }},
		{name: "waiting for robots.txt", handler: func(_ http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/robots.txt" {
				<-r.Context().Done()
			}
		}},
		{name: "in the middle of a body", handler: func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("Content-Length", "1000")
			io.WriteString(rw, "some")
			rw.(http.Flusher).Flush()
			<-r.Context().Done()
		}},
		{name: "waiting for a retry", handler: func(rw http.ResponseWriter, r *http.Request) { rw.WriteHeader(503) }, cfg: crawler.Config{MaxAttempts: 1 << 30}},
		{name: "in a handler", handler: pages(map[string]string{"/0": ""}), cfg: crawler.Config{Handler: crawler.HandlerFunc(func(ctx context.Context, _ *crawler.Page) error {
			<-ctx.Done()
			return ctx.Err()
		})}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T, w *web) {
				w.serve(t, "films.example", c.handler)
				if c.cfg.Handler == nil {
					c.cfg.Handler = crawler.HandlerFunc(func(context.Context, *crawler.Page) error { return nil })
				}
				c.cfg.Spacing, c.cfg.PerHost, c.cfg.AllStatuses = -1, 10, c.cfg.MaxAttempts == 0
				tr := w.transport()
				defer tr.Close()
				c.cfg.Fetcher = tr
				frontier := crawler.NewMemory(crawler.MemoryOptions{})
				c.cfg.Frontier = frontier
				e, err := crawler.New(c.cfg)
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithCancelCause(t.Context())
				enough := errors.New("enough")
				var stopped time.Time
				time.AfterFunc(5*time.Second, func() {
					stopped = time.Now()
					cancel(enough)
				})
				var seeds []string
				for i := range 10 {
					seeds = append(seeds, fmt.Sprint("http://films.example/", i))
				}
				stats, err := e.Run(ctx, seeds...)
				took := time.Since(stopped)
				if !errors.Is(err, enough) || took > 100*time.Millisecond || stats.Finished {
					t.Errorf("back after %v with %v", took, err)
				}
				// What was in flight was handed back: nothing is lost.
				s, err := frontier.Stats(t.Context())
				if err != nil || s.Leased != 0 || s.Ready+s.Delayed+s.Done != 10 {
					t.Errorf("%+v, %v", s, err)
				}
			})
		})
	}
}

// The same on sockets: no goroutine and no connection is left.
func TestCancelLeavesNothingBehind(t *testing.T) {
	before := runtime.NumGoroutine()
	var open atomic.Int64
	started := make(chan struct{}, 100)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		started <- struct{}{}
		<-r.Context().Done()
	}))
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		switch s {
		case http.StateNew:
			open.Add(1)
		case http.StateClosed, http.StateHijacked:
			open.Add(-1)
		}
	}
	server.Start()
	e, err := crawler.New(crawler.Config{AllowPrivate: true, IgnoreRobots: true, Spacing: -1, PerHost: 20, FixedPace: true, Handler: crawler.HandlerFunc(func(context.Context, *crawler.Page) error { return nil })})
	if err != nil {
		t.Fatal(err)
	}
	crawler.Calm(e)
	ctx, cancel := context.WithCancel(t.Context())
	var seeds []string
	for i := range 20 {
		seeds = append(seeds, fmt.Sprint(server.URL, "/", i))
	}
	var stopped time.Time
	go func() {
		for range 20 {
			<-started
		}
		stopped = time.Now()
		cancel()
	}()
	_, err = e.Run(ctx, seeds...)
	took := time.Since(stopped)
	if !errors.Is(err, context.Canceled) || took > time.Second { // a liveness bound; 100 ms holds in virtual time
		t.Errorf("back after %v with %v", took, err)
	}
	e.Close()
	server.Close() // waits for its handlers
	deadline := time.Now().Add(10 * time.Second)
	for open.Load() > 0 || runtime.NumGoroutine() > before {
		if time.Now().After(deadline) {
			buf := make([]byte, 1<<16)
			t.Fatalf("%d connections, %d goroutines of %d before\n%s", open.Load(), runtime.NumGoroutine(), before, buf[:runtime.Stack(buf, true)])
		}
		runtime.Gosched()
	}
	fmt.Printf("shown first-crawl.6: cancel with 20 requests in flight: back after %v, no goroutine and no connection left\n", took.Round(time.Microsecond))
}

// A handler that ignores its context is left behind after Grace, and counted in the error.
func TestGrace(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		w.serve(t, "films.example", pages(map[string]string{"/": ""}))
		release := make(chan struct{})
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		tr := w.transport()
		defer tr.Close()
		e, err := crawler.New(crawler.Config{Fetcher: tr, Grace: 3 * time.Second, Handler: crawler.HandlerFunc(func(context.Context, *crawler.Page) error {
			<-release
			return nil
		})})
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		_, err = e.Run(ctx, "http://films.example/")
		var left *crawler.AbandonedError
		if took := time.Since(start); !errors.Is(err, context.DeadlineExceeded) || !errors.As(err, &left) || len(left.Pages) != 1 || len(left.Calls) != 0 || took < 13*time.Second || took > 13200*time.Millisecond {
			t.Errorf("after %v: %v", took, err)
		}
		close(release)
	})
}

func TestRunTwiceAtATime_K002(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		w.serve(t, "films.example", pages(map[string]string{"/": ""}))
		tr := w.transport()
		defer tr.Close()
		var e *crawler.Engine
		e, err := crawler.New(crawler.Config{Fetcher: tr, Handler: crawler.HandlerFunc(func(ctx context.Context, _ *crawler.Page) error {
			if _, err := e.Run(ctx, "http://films.example/"); !errors.Is(err, crawler.ErrRunning) {
				t.Errorf("the second Run: %v", err)
			}
			return nil
		})})
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []error{nil, crawler.ErrFinished} {
			if _, err := e.Run(t.Context(), "http://films.example/"); !errors.Is(err, want) {
				t.Error(err)
			}
		}
	})
}

// The library leaves signals, environment and output to the program that it is in. Sources are held to it by the tests
// of internal/deptest; here a whole crawl runs with both outputs caught.
func TestCrawlWritesNothing_K009(t *testing.T) {
	r, pipe, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, stderr := os.Stdout, os.Stderr
	os.Stdout, os.Stderr = pipe, pipe
	var once sync.Once
	restore := func() {
		once.Do(func() {
			os.Stdout, os.Stderr = stdout, stderr
			pipe.Close()
		})
	}
	defer restore()
	server := httptest.NewServer(pages(map[string]string{"/": links("/a", "/b", "http://[bad"), "/a": "<p>", "/b": links("/c")}))
	defer server.Close()
	for range 2 {
		e, err := crawler.New(crawler.Config{AllowPrivate: true, Spacing: -1})
		if err != nil {
			t.Fatal(err)
		}
		for p, err := range e.Pages(t.Context(), server.URL) {
			if err == nil {
				p.Follow("a")
			}
		}
		e.Close()
	}
	restore()
	if got, _ := io.ReadAll(r); len(got) > 0 {
		t.Errorf("a crawl wrote %q", got)
	}
}
