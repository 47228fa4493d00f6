package crawler_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/seine-go/seine/crawler"
	"github.com/seine-go/seine/fetch"
)

// keeping is a middleware that keeps the status of each answer.
func keeping(s crawler.Store, check func(ctx context.Context, key string) error) fetch.Middleware {
	return func(next fetch.Fetcher) fetch.Fetcher {
		return fetch.FetcherFunc(func(ctx context.Context, r *fetch.Request) (*fetch.Response, error) {
			resp, err := next.Fetch(ctx, r)
			if err != nil {
				return resp, err
			}
			key := "kept/" + r.URL
			if err := s.Put(ctx, key, []byte("draft")); err != nil {
				return nil, err
			}
			if err := s.Put(ctx, key, fmt.Append(nil, resp.Status)); err != nil {
				return nil, err
			}
			return resp, check(ctx, key)
		})
	}
}

// settlesAll is a frontier that has the items of any store settled with it.
type settlesAll struct {
	*crawler.Memory
	items map[string]string
}

func (*settlesAll) SettlesItemsOf(crawler.Store) bool { return true }

func (f *settlesAll) Settle(ctx context.Context, all ...crawler.Settlement) error {
	for i := range all {
		for _, item := range all[i].Items {
			f.items[item.Key] = string(item.Value)
		}
		all[i].Items = nil
	}
	return f.Memory.Settle(ctx, all...)
}

// What a middleware keeps is stored with the page, and of a page that failed nothing is.
func TestStagedStoreGoesWithThePage(t *testing.T) {
	t.Parallel()
	for _, settles := range []bool{false, true} {
		bubble(t, func(t *testing.T, w *web) {
			w.serve(t, "films.example", pages(map[string]string{"/": links("/good", "/bad", "/gone"), "/good": links(), "/bad": links(), "/gone": links()}))
			store := new(crawler.MemoryStore)
			staged := crawler.StagedStore(store)
			check := func(ctx context.Context, key string) error {
				_, missing := store.Get(ctx, key)
				value, err := staged.Get(ctx, key)
				if !errors.Is(missing, fs.ErrNotExist) || string(value) != "200" {
					t.Errorf("%s: %v in the store, %q, %v in the page", key, missing, value, err)
				}
				if key == "kept/http://films.example/gone" {
					return staged.Delete(ctx, key)
				}
				return nil
			}
			late := make(chan context.Context, 1)
			frontier := &settlesAll{crawler.NewMemory(crawler.MemoryOptions{}), map[string]string{}}
			cfg := crawler.Config{
				IgnoreRobots: true, Spacing: -1, Concurrency: 1, Store: store, Middleware: []fetch.Middleware{keeping(staged, check)},
				Handler: crawler.HandlerFunc(func(ctx context.Context, p *crawler.Page) error {
					p.FollowLinks()
					if p.Depth == 0 {
						late <- ctx
					}
					if p.URL == "http://films.example/bad" {
						return crawler.Permanent(errors.New("bad"))
					}
					return p.Save("page/"+p.URL, 1)
				}),
			}
			if settles {
				cfg.Frontier = frontier
			}
			if _, err := run(t, w, cfg, "http://films.example/"); err != nil {
				t.Error(err)
			}
			var got []string
			for e, err := range store.Scan(t.Context(), "") {
				if got = append(got, e.Key+" "+string(e.Value)); err != nil {
					t.Error(err)
				}
			}
			for key, value := range frontier.items {
				got = append(got, key+" "+value)
			}
			want := []string{
				"kept/http://films.example/ 200", "kept/http://films.example/good 200",
				"page/http://films.example/ 1", "page/http://films.example/gone 1", "page/http://films.example/good 1",
			}
			if fmt.Sprint(sorted(without(got, "seine/"))) != fmt.Sprint(want) {
				t.Errorf("settles %v: %q", settles, got)
			}
			if err := staged.Put(context.WithoutCancel(<-late), "late", nil); err == nil {
				t.Error("it was put after the page was settled")
			}
		})
	}
}

func without(all []string, prefix string) (some []string) {
	for _, s := range all {
		if len(s) < len(prefix) || s[:len(prefix)] != prefix {
			some = append(some, s)
		}
	}
	return some
}

// Outside of pages, and for another store than the engine's, a StagedStore is the store itself.
func TestStagedStoreOutsideOfPages(t *testing.T) {
	t.Parallel()
	store := new(crawler.MemoryStore)
	if err := crawler.StagedStore(store).Put(t.Context(), "k", []byte("v")); err != nil {
		t.Fatal(err)
	}
	if v, err := store.Get(t.Context(), "k"); err != nil || string(v) != "v" {
		t.Errorf("%q, %v", v, err)
	}
	bubble(t, func(t *testing.T, w *web) {
		w.serve(t, "films.example", pages(map[string]string{"/": links()}))
		check := func(ctx context.Context, key string) error {
			_, err := store.Get(ctx, key)
			return err
		}
		_, err := run(t, w, crawler.Config{IgnoreRobots: true, Middleware: []fetch.Middleware{keeping(crawler.StagedStore(store), check)}}, "http://films.example/")
		if _, missing := store.Get(t.Context(), "kept/http://films.example/"); err != nil || missing != nil {
			t.Errorf("%v, %v", err, missing)
		}
	})
}

// A middleware keeps the time of each answer, with the page.
func ExampleStagedStore() {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "films") }))
	defer site.Close()
	store := new(crawler.MemoryStore)
	staged := crawler.StagedStore(store)
	eng, err := crawler.New(crawler.Config{
		Store: store, IgnoreRobots: true, AllowPrivate: true,
		Middleware: []fetch.Middleware{keeping(staged, func(context.Context, string) error { return nil })},
		Handler:    crawler.HandlerFunc(func(context.Context, *crawler.Page) error { return crawler.Permanent(errors.New("no film")) }),
	})
	if err != nil {
		panic(err)
	}
	defer eng.Close()
	if _, err := eng.Run(context.Background(), site.URL+"/"); err != nil {
		panic(err)
	}
	_, err = store.Get(context.Background(), "kept/"+site.URL+"/")
	fmt.Println(errors.Is(err, fs.ErrNotExist))
	// Output: true
}
