package crawler_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
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

// A page that the loop's body did not come to the end of is not done: it goes back, and what it staged has no effect.
// One that the loop was left at by break is done.
func TestPagesUnwoundInTheLoop(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"panic", "Goexit", "break", "return"} {
		bubble(t, func(t *testing.T, w *web) {
			w.serve(t, "films.example", pages(map[string]string{"/": links("/a"), "/a": ""}))
			frontier, store := crawler.NewMemory(crawler.MemoryOptions{}), &crawler.MemoryStore{}
			e := pagesOf(t, w, crawler.Config{Frontier: frontier, Store: store})
			joined := make(chan any)
			go func() {
				defer func() { joined <- recover() }()
				for p := range e.Pages(t.Context(), "http://films.example/") {
					p.FollowLinks()
					if err := p.Save("k", 1); err != nil {
						t.Error(err)
					}
					switch how {
					case "panic":
						panic("in the loop")
					case "Goexit":
						runtime.Goexit()
					case "return":
						return
					}
					break
				}
			}()
			if value := <-joined; (value != nil) != (how == "panic") {
				t.Errorf("%s: it came through as %v", how, value)
			}
			done := how == "break" || how == "return"
			s, err := frontier.Stats(t.Context())
			if err != nil || (s.Done == 1) != done || s.Ready != 1 || s.Leased != 0 {
				t.Errorf("%s: %+v, %v", how, s, err)
			}
			if _, err := store.Get(t.Context(), "k"); (err == nil) != done {
				t.Errorf("%s: what it saved: %v", how, err)
			}
			var attempts []int
			for p := range e.Pages(t.Context()) { // the engine goes on
				attempts = append(attempts, p.Attempt)
				p.FollowLinks()
			}
			if want := map[bool]int{true: 1, false: 2}[done]; len(attempts) != want || slices.Max(attempts) != 1 {
				t.Errorf("%s: then pages at attempts %v", how, attempts)
			}
		})
	}
}

// Whoever keeps a page may read it, whatever the engine does meanwhile; what it stages is refused.
func TestKeptPages(t *testing.T) {
	t.Parallel()
	for _, looped := range []bool{true, false} {
		bubble(t, func(t *testing.T, w *web) {
			site := map[string]string{}
			for i := range 200 {
				site[fmt.Sprint("/", i)] = links(fmt.Sprint("/x", i), "/y") + "<h1>a</h1>"
			}
			w.serve(t, "films.example", pages(site))
			frontier := crawler.NewMemory(crawler.MemoryOptions{})
			read := func(p *crawler.Page) {
				if h := p.Hints(); len(h.Links) != 2 || len(p.Links()) != 2 || p.Text("h1") != "a" || p.Attr("a", "href") == "" || !p.IsHTML() || p.Document() == nil || p.PathValue("x") != "" {
					t.Errorf("%s: %v", p.URL, h)
				}
			}
			refused := func(p *crawler.Page) {
				if n := p.FollowLinks() + p.Follow("a") + p.Follow("a[href]"); n != 0 || p.Add(&crawler.Request{URL: "/z"}) == nil || p.Save("k", 1) == nil {
					t.Errorf("%s stages %d links", p.URL, n)
				}
				_ = p.Text("h1[") // a fault of nobody's
			}
			cfg := crawler.Config{IgnoreRobots: true, Spacing: -1, PerHost: -1, Frontier: frontier, Store: &crawler.MemoryStore{}}
			if looped {
				var before *crawler.Page
				for p, err := range pagesOf(t, w, cfg).Pages(t.Context(), numbered("films.example", 200)...) {
					if err != nil {
						t.Fatal(err)
					}
					if before != nil {
						read(before)
						refused(before)
					}
					before = p
				}
			} else {
				kept := make(chan *crawler.Page, 200)
				cfg.Handler = crawler.HandlerFunc(func(_ context.Context, p *crawler.Page) error {
					kept <- p
					return nil
				})
				joined := make(chan struct{})
				go func() {
					defer close(joined)
					var all []*crawler.Page
					for p := range kept {
						read(p)
						all = append(all, p)
					}
					for _, p := range all {
						refused(p)
					}
				}()
				if _, err := pagesOf(t, w, cfg).Run(t.Context(), numbered("films.example", 200)...); err != nil {
					t.Error(err)
				}
				close(kept)
				<-joined
			}
			if s, err := frontier.Stats(t.Context()); err != nil || s.Done != 200 || s.Failed != 0 || !s.Finished {
				t.Errorf("%+v, %v", s, err)
			}
		})
	}
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
