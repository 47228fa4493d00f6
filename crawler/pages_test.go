package crawler_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seine-go/seine/crawler"
	"github.com/seine-go/seine/fetch"
)

func pagesOf(t *testing.T, w *web, cfg crawler.Config) *crawler.Engine {
	t.Helper()
	tr := w.transport()
	t.Cleanup(func() { tr.Close() })
	cfg.Fetcher = tr
	e, err := crawler.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestPages(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		w.serve(t, "films.example", pages(map[string]string{"/": links("/a", "/b", "/missing"), "/a": "<h1> A </h1>" + links("/c"), "/b": "", "/c": ""}))
		var got []string
		for p, err := range pagesOf(t, w, crawler.Config{}).Pages(t.Context(), "http://films.example/") {
			if (p == nil) == (err == nil) {
				t.Fatalf("page %v with error %v", p, err)
			}
			if err != nil {
				var failed *crawler.PageError
				var status *fetch.StatusError
				if !errors.As(err, &failed) || !errors.As(err, &status) || status.Status != 404 {
					t.Errorf("%v", err)
				}
				continue
			}
			got = append(got, p.URL+p.Text("h1"))
			p.Follow("a[href]")
		}
		want := []string{"http://films.example/", "http://films.example/aA", "http://films.example/b", "http://films.example/c"}
		if !slices.Equal(sorted(got), want) {
			t.Errorf("%q, want %q", got, want)
		}
	})
}

// Leaving the loop stops the crawl and joins everything; the page in hand is done, the others are kept for later.
func TestPagesBreak(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		site := map[string]string{"/": links("/1", "/2", "/3", "/4")}
		for i := range 5 {
			site[fmt.Sprint("/", i)] = ""
		}
		w.serve(t, "films.example", pages(site))
		frontier := crawler.NewMemory(crawler.MemoryOptions{})
		e := pagesOf(t, w, crawler.Config{Frontier: frontier})
		start, n := time.Now(), 0
		for p := range e.Pages(t.Context(), "http://films.example/") {
			p.Follow("a")
			if n++; n == 2 {
				break
			}
		}
		if took := time.Since(start); took != time.Second { // robots.txt, /, and the next
			t.Errorf("left after %v", took)
		}
		s, err := frontier.Stats(t.Context())
		if err != nil || s.Done != 2 || s.Ready != 3 || s.Leased != 0 {
			t.Errorf("%+v, %v", s, err)
		}
		for range e.Pages(t.Context(), "http://films.example/") { // the same engine goes on
			n++
		}
		if n != 5 {
			t.Errorf("%d pages", n)
		}
	})
}

func TestPagesPanicInTheLoop(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		w.serve(t, "films.example", pages(map[string]string{"/": links("/a")}))
		e := pagesOf(t, w, crawler.Config{})
		defer func() {
			if recover() == nil {
				t.Error("the panic did not come through")
			}
			if _, err := e.Run(t.Context()); errors.Is(err, crawler.ErrRunning) {
				t.Error("the crawl still runs")
			}
		}()
		for range e.Pages(t.Context(), "http://films.example/") {
			panic("in the loop")
		}
	})
}

func TestPagesEndsWithTheContext(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		w.serve(t, "films.example", pages(map[string]string{"/": links("/a")}))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var last error
		for _, err := range pagesOf(t, w, crawler.Config{Delay: time.Hour}).Pages(ctx, "http://films.example/") {
			last = err
		}
		if !errors.Is(last, context.DeadlineExceeded) {
			t.Errorf("%v", last)
		}
	})
	for _, err := range crawler.Crawl(t.Context(), "no url") {
		var bad *crawler.RequestError
		if !errors.As(err, &bad) {
			t.Errorf("%v", err)
		}
	}
}

// What the methods of a page do with links, selectors and requests.
func TestPageStaging(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		w.serve(t, "films.example", pages(map[string]string{
			"/":       `<base href="/sub/"><a href="x">x</a><a rel="nofollow" href="nf">n</a><img src="p.png"><b data-href="d">d</b><a href="http://other.example/">o</a>`,
			"/sub/x":  "",
			"/quiet":  `<meta name="robots" content="nofollow"><a href="/never">n</a>`,
			"/bad":    "",
			"/header": "",
		}))
		var kept *crawler.Page
		var f failures
		_, err := run(t, w, crawler.Config{Hooks: f.hook(), Handler: crawler.HandlerFunc(func(_ context.Context, p *crawler.Page) error {
			switch p.URL {
			case "http://films.example/":
				kept = p
				if n := p.Follow("a"); n != 1 {
					t.Errorf("Follow(a) staged %d", n)
				}
				if n := p.Follow("a[href]"); n != 1 {
					t.Errorf("Follow(a[href]) staged %d", n)
				}
				if n := p.Follow("b, img"); n != 2 {
					t.Errorf("Follow(b, img) staged %d", n)
				}
				if err := p.Add(&crawler.Request{URL: "/quiet"}, &crawler.Request{URL: "http://other.example/"}); !errors.Is(err, crawler.ErrOutOfScope) {
					t.Errorf("Add out of scope: %v", err)
				}
				if err := p.Add(&crawler.Request{URL: "/quiet", Label: strings.Repeat("l", crawler.MaxLabelBytes+1)}); err == nil {
					t.Error("a label beyond the bound was taken")
				}
				if err := p.Add(&crawler.Request{URL: "/quiet", Header: map[string][]string{"Cookie": {"a=b"}}}); err == nil {
					t.Error("a credential was taken")
				}
				return p.Add(&crawler.Request{URL: "/quiet", Label: strings.Repeat("l", crawler.MaxLabelBytes)}, &crawler.Request{URL: "../bad", Method: "POST", Body: []byte("x=1")})
			case "http://films.example/quiet":
				if n := p.FollowLinks() + p.Follow("a"); n != 0 {
					t.Errorf("%d links of a nofollow page were followed", n)
				}
			case "http://films.example/bad":
				if p.Text("h1[") != "" {
					t.Error("a bad selector matched")
				}
			}
			return nil
		})}, "http://films.example/")
		if err != nil {
			t.Fatal(err)
		}
		if err := f.errs["http://films.example/bad"]; err == nil || !strings.Contains(err.Error(), "h1[") {
			t.Errorf("the bad selector is not named: %v", err)
		}
		want := []string{"/", "/bad", "/quiet", "/sub/d", "/sub/p.png", "/sub/x"}
		for i := range want {
			want[i] = "http://films.example" + want[i]
		}
		if got := sorted(w.urls()); !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
		if kept.Text("a") != "x" || len(kept.Links()) != 3 {
			t.Errorf("a kept page has %q and %v", kept.Text("a"), kept.Links())
		}
		if err := kept.Save("k", 1); err == nil {
			t.Error("a page that is over takes items")
		}
		if err := kept.Add(&crawler.Request{URL: "/late"}); err == nil {
			t.Error("a page that is over takes requests")
		}
	})
}
