package crawler_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/seine-go/seine/crawler"
	"github.com/seine-go/seine/dedupe"
)

// follow stages all links.
var follow = crawler.HandlerFunc(func(_ context.Context, p *crawler.Page) error {
	p.FollowLinks()
	return nil
})

// A finished crawl that is started again: what is new is taken, all is crawled anew, or nothing is done; never is it
// called a success when there was nothing to do.
func TestResumeModes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		mode  crawler.Resume
		seeds []string
		pages int64
		err   error
	}{
		{"continue with nothing new", crawler.ResumeContinue, []string{"/"}, 0, crawler.ErrFinished},
		{"continue without seeds", crawler.ResumeContinue, nil, 0, crawler.ErrFinished},
		{"continue with a new seed", crawler.ResumeContinue, []string{"/", "/new"}, 2, nil},
		{"again", crawler.ResumeAgain, []string{"/"}, 3, nil},
		{"again with another seed", crawler.ResumeAgain, []string{"/a"}, 1, nil},
		{"again without seeds", crawler.ResumeAgain, nil, 0, crawler.ErrNoSeeds},
		{"refuse", crawler.ResumeRefuse, []string{"/new"}, 0, crawler.ErrFinished},
	} {
		for _, another := range []bool{false, true} { // engine on the same frontier and store, or the same engine
			t.Run(fmt.Sprintf("%s, another engine %v", c.name, another), func(t *testing.T) {
				t.Parallel()
				bubble(t, func(t *testing.T, w *web) {
					w.serve(t, "films.example", pages(map[string]string{"/": links("/a", "/b", "/gone"), "/a": "", "/b": links("/a"), "/new": links("/newer", "/a"), "/newer": ""}))
					cfg := crawler.Config{IgnoreRobots: true, Handler: follow, Resume: c.mode, Frontier: crawler.NewMemory(crawler.MemoryOptions{}), Store: &crawler.MemoryStore{}}
					e := pagesOf(t, w, cfg)
					if stats, err := e.Run(t.Context(), "http://films.example/"); err != nil || stats.Pages != 3 || stats.Failed != 1 {
						t.Fatalf("%v, %v", stats, err)
					}
					if another {
						e = pagesOf(t, w, cfg)
					}
					var seeds []string
					for _, path := range c.seeds {
						seeds = append(seeds, "http://films.example"+path)
					}
					before := len(w.urls())
					stats, err := e.Run(t.Context(), seeds...)
					if !errors.Is(err, c.err) || stats.Pages != c.pages || c.pages == 0 && len(w.urls()) != before {
						t.Errorf("%v, %v", stats, err)
					}
				})
			})
		}
	}
}

// A crawl that is not finished goes on in every mode, also in another engine without seeds, in the scope that it had.
func TestUnfinishedCrawlGoesOn(t *testing.T) {
	t.Parallel()
	for _, mode := range []crawler.Resume{crawler.ResumeContinue, crawler.ResumeAgain, crawler.ResumeRefuse} {
		bubble(t, func(t *testing.T, w *web) {
			w.serve(t, "films.example", pages(map[string]string{"/": links("/1", "/2"), "/1": links("/3", "http://other.example/"), "/2": "", "/3": ""}))
			w.serve(t, "other.example", pages(nil))
			cfg := crawler.Config{IgnoreRobots: true, Handler: follow, Resume: mode, MaxPages: 1, Frontier: crawler.NewMemory(crawler.MemoryOptions{}), Store: &crawler.MemoryStore{}}
			if stats, err := pagesOf(t, w, cfg).Run(t.Context(), "http://films.example/"); err != nil || stats.Spent == "" {
				t.Fatalf("%v, %v", stats, err)
			}
			cfg.MaxPages = 0
			if stats, err := pagesOf(t, w, cfg).Run(t.Context()); err != nil || stats.Pages != 3 || !stats.Finished || w.count("http://other.example/") > 0 {
				t.Errorf("mode %d: %v, %v", mode, stats, err)
			}
		})
	}
}

// A start that differs from the one before is refused, and the field is named; a new frontier is a new crawl.
func TestManifest(t *testing.T) {
	t.Parallel()
	removed, err := dedupe.New(dedupe.CrawlerCommons, dedupe.Options{QueryParamsToRemove: []string{"sid"}})
	if err != nil {
		t.Fatal(err)
	}
	commons, err := dedupe.New(dedupe.CrawlerCommons, dedupe.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		first  *dedupe.Canonicalizer
		change func(t *testing.T, cfg *crawler.Config)
		field  string // "" goes on, "-" cannot be read
	}{
		{name: "nothing", change: func(*testing.T, *crawler.Config) {}},
		{name: "the strict profile by name", change: func(_ *testing.T, cfg *crawler.Config) { cfg.Canonical = &dedupe.Canonicalizer{} }},
		{name: "another profile", change: func(t *testing.T, cfg *crawler.Config) { cfg.Canonical = w3lib(t) }, field: "Canonical"},
		{name: "another option", first: commons, change: func(_ *testing.T, cfg *crawler.Config) { cfg.Canonical = removed }, field: "Canonical"},
		{name: "another crawl", change: func(t *testing.T, cfg *crawler.Config) { cfg.Name, cfg.Canonical = "other", w3lib(t) }, field: "Name"},
		{name: "another crawl, in a store that has none", change: func(_ *testing.T, cfg *crawler.Config) {
			cfg.Name, cfg.Store = "other", &crawler.MemoryStore{}
		}, field: "Name"},
		{name: "another profile, in a store that has none", change: func(t *testing.T, cfg *crawler.Config) {
			cfg.Canonical, cfg.Store = w3lib(t), &crawler.MemoryStore{}
		}, field: "Canonical"},
		{name: "another crawl, on a frontier of its own", change: func(_ *testing.T, cfg *crawler.Config) {
			cfg.Name, cfg.Frontier = "other", crawler.NewMemory(crawler.MemoryOptions{})
		}},
		{name: "a new frontier", change: func(t *testing.T, cfg *crawler.Config) {
			cfg.Frontier, cfg.Canonical = crawler.NewMemory(crawler.MemoryOptions{}), w3lib(t)
		}},
		{name: "a store that has none", change: func(_ *testing.T, cfg *crawler.Config) { cfg.Store = &crawler.MemoryStore{} }},
		{name: "what another release wrote", change: func(t *testing.T, cfg *crawler.Config) {
			rewrite(t, cfg.Store, `"schema":1`, `"schema":99`)
		}, field: "schema"},
		{name: "another name", change: func(t *testing.T, cfg *crawler.Config) {
			rewrite(t, cfg.Store, `"name":"films"`, `"name":"books"`)
		}, field: "Name"},
		{name: "what is damaged", change: func(t *testing.T, cfg *crawler.Config) {
			rewrite(t, cfg.Store, `{`, `[`)
		}, field: "-"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T, w *web) {
				w.serve(t, "films.example", func(http.ResponseWriter, *http.Request) {})
				cfg := crawler.Config{Name: "films", IgnoreRobots: true, Handler: done, Canonical: c.first, MaxPages: 2, Frontier: crawler.NewMemory(crawler.MemoryOptions{}), Store: &crawler.MemoryStore{}}
				seeds := numbered("films.example", 5)
				if stats, err := pagesOf(t, w, cfg).Run(t.Context(), seeds...); err != nil || stats.Spent != "MaxPages" {
					t.Fatalf("%v, %v", stats, err)
				}
				c.change(t, &cfg)
				stats, err := pagesOf(t, w, cfg).Run(t.Context(), seeds...)
				var bad *crawler.ManifestError
				switch {
				case c.field == "" && (err != nil || stats.Pages != 2):
					t.Errorf("%v, %v", stats, err)
				case c.field == "-" && (!errors.As(err, &bad) || bad.Err == nil):
					t.Errorf("%v", err)
				case c.field != "" && (!errors.As(err, &bad) || c.field != "-" && (bad.Field != c.field || !strings.Contains(err.Error(), c.field)) || len(w.urls()) != 2):
					t.Errorf("%v, want the field %s named", err, c.field)
				}
			})
		})
	}
}

// rewrite changes the manifest in a store.
func rewrite(t *testing.T, s crawler.Store, old, now string) {
	t.Helper()
	const key = "seine/crawl/films"
	value, err := s.Get(t.Context(), key)
	if err != nil || !bytes.Contains(value, []byte(old)) {
		t.Fatalf("%q, %v", value, err)
	}
	if err := s.Put(t.Context(), key, bytes.Replace(value, []byte(old), []byte(now), 1)); err != nil {
		t.Fatal(err)
	}
}

// brokenStore fails to answer.
type brokenStore struct{ crawler.MemoryStore }

func (*brokenStore) Get(context.Context, string) ([]byte, error) { return nil, errors.New("no disk") }

// What goes wrong at the start is told, with nothing fetched; a page cannot write over what the engine keeps.
func TestManifestFaults(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		w.serve(t, "films.example", pages(map[string]string{"/": ""}))
		var bad *crawler.ManifestError
		if _, err := run(t, w, crawler.Config{IgnoreRobots: true, Store: &brokenStore{}}, "http://films.example/"); !errors.As(err, &bad) || len(w.urls()) > 0 {
			t.Errorf("%v", err)
		}
		stats, err := run(t, w, crawler.Config{IgnoreRobots: true, MaxAttempts: -1, Handler: crawler.HandlerFunc(func(_ context.Context, p *crawler.Page) error {
			return p.Save("seine/crawl/seine", 1)
		})}, "http://films.example/")
		if err != nil || stats.Failed != 1 {
			t.Errorf("%v, %v", stats, err)
		}
	})
	for field, cfg := range map[string]crawler.Config{
		"Name":   {Name: strings.Repeat("x", 257)},
		"Owner":  {Owner: strings.Repeat("x", 257)},
		"Resume": {Resume: 3},
	} {
		var bad *crawler.ConfigError
		if _, err := crawler.New(cfg); !errors.As(err, &bad) || bad.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	var bad *crawler.ConfigError
	if _, err := crawler.New(crawler.Config{Resume: crawler.ResumeAgain, Frontier: shy{crawler.NewMemory(crawler.MemoryOptions{})}}); !errors.As(err, &bad) || bad.Field != "Resume" {
		t.Error(err)
	}
	if _, err := crawler.New(crawler.Config{Name: strings.Repeat("x", 256)}); err != nil {
		t.Error(err)
	}
}

// A crawl of thousands of hosts finds its scope at once.
func TestScopeOfManyHosts(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		const hosts = 12_000 // more than the manifest keeps
		var seeds []string
		for i := range hosts {
			seeds = append(seeds, fmt.Sprintf("http://h%d.example/", i))
		}
		w.serve(t, "h0.example", pages(map[string]string{"/": links("http://h1.example/x", "http://h11999.example/x", "http://h12000.example/x")}))
		store := &crawler.MemoryStore{}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		staged := 0
		e := pagesOf(t, w, crawler.Config{IgnoreRobots: true, Store: store, Concurrency: 1, Handler: crawler.HandlerFunc(func(ctx context.Context, p *crawler.Page) error {
			staged += p.FollowLinks()
			<-ctx.Done()
			return nil
		})})
		if _, err := e.Run(ctx, seeds...); !errors.Is(err, context.DeadlineExceeded) || staged != 2 {
			t.Errorf("%d links staged, %v", staged, err)
		}
		if value, err := store.Get(t.Context(), "seine/crawl/seine"); err != nil || bytes.Contains(value, []byte("h0.example")) {
			t.Errorf("%.100s, %v", value, err)
		}
	})
}
