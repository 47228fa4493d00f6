package crawler_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/seine-go/seine/crawler"
)

// The scope can be replaced while a crawl runs: what is queued is held to the new one, seeds are not.
func TestScopeIsReplaced(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		for _, host := range []string{"a.example", "b.example"} {
			w.serve(t, host, pages(map[string]string{"/": links("/in", "/out/1", "/out/2", "http://b.example/"), "/in": links("http://b.example/", "/deep"), "/out/1": "", "/out/2": "", "/deep": ""}))
		}
		var e *crawler.Engine
		var f failures
		hooks, changes := f.hook(), 0
		hooks.Changed = func(_ context.Context, c crawler.Change) {
			if changes++; c.Scope == nil || len(c.Scope.Hosts) != 2 {
				t.Errorf("%+v", c)
			}
		}
		e = pagesOf(t, w, crawler.Config{IgnoreRobots: true, Hooks: hooks, Handler: crawler.HandlerFunc(func(_ context.Context, p *crawler.Page) error {
			p.FollowLinks()
			if p.URL == "http://a.example/" {
				for _, bad := range []crawler.Scope{{}, {Exclude: []string{"/out"}}, {Hosts: []string{"No Host"}}} {
					var refused *crawler.ConfigError
					if err := e.SetScope(t.Context(), bad); !errors.As(err, &refused) {
						t.Errorf("%+v: %v", bad, err)
					}
				}
				return e.SetScope(t.Context(), crawler.Scope{Hosts: []string{"a.example", "b.example"}, Exclude: []string{"/out"}})
			}
			return nil
		})})
		stats, err := e.Run(t.Context(), "http://a.example/")
		want := []string{"http://a.example/", "http://a.example/deep", "http://a.example/in", "http://b.example/", "http://b.example/deep", "http://b.example/in"}
		if got := sorted(w.urls()); err != nil || !slices.Equal(got, want) || stats.Refused != 2 || changes != 1 {
			t.Errorf("%v, %v, fetched %q", stats, err, got)
		}
		for url, err := range f.errs {
			if !errors.Is(err, crawler.ErrOutOfScope) || !strings.Contains(err.Error(), "Scope.Exclude") {
				t.Errorf("%s: %v", url, err)
			}
		}
		if x, err := e.Explain(t.Context(), "http://b.example/out/3"); err != nil || len(x.Refusals) != 1 {
			t.Errorf("%v, %v", x, err)
		}
		stats, err = e.Run(t.Context(), "http://b.example/out/1") // a seed; the scope stays
		if err != nil || stats.Pages != 1 {
			t.Errorf("%v, %v", stats, err)
		}
	})
}

// Links that wait for room are counted once against the budget.
func TestPagesPutOffCountOnce(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		w.serve(t, "films.example", pages(map[string]string{"/0": links("/a", "/b", "/c", "/d"), "/1": "", "/2": "", "/3": "", "/4": "", "/a": "", "/b": "", "/c": "", "/d": ""}))
		cfg := crawler.Config{IgnoreRobots: true, Handler: follow, MaxPages: 9, Frontier: crawler.NewMemory(crawler.MemoryOptions{MaxPending: 5})}
		stats, err := run(t, w, cfg, numbered("films.example", 5)...)
		if err != nil || stats.Pages != 9 || stats.Spent != "" || w.count("http://films.example/0") < 2 {
			t.Errorf("%v, %v, %d times", stats, err, w.count("http://films.example/0"))
		}
	})
}
