package crawler_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/seine-go/seine/crawler"
	"github.com/seine-go/seine/crawler/crawltest"
	"github.com/seine-go/seine/extract"
	"github.com/seine-go/seine/fetch"
)

type listed struct {
	Title string `extract:"css=a ; required"`
	URL   string `extract:"css=a@href ; url ; required"`
}

type filmOn struct {
	Title string `extract:"css=h1 ; required"`
	Year  int    `extract:"css=.year"`
}

func offline(pages map[string]string) fetch.Fetcher {
	files := fstest.MapFS{}
	for name, page := range pages {
		files[name] = &fstest.MapFile{Data: []byte(page)}
	}
	return fetch.FromRoundTripper(crawltest.Offline(files))
}

// What the tags find comes to the function; a page that is not as declared fails for good, and says which field it was.
func TestOnAndItems(t *testing.T) {
	t.Parallel()
	var m crawler.Mux
	var mu sync.Mutex
	var got []string
	var failed []error
	m.HandleFunc("/list", func(ctx context.Context, p *crawler.Page) error {
		for item, err := range crawler.Items[listed](ctx, p, "css=li") {
			if err != nil {
				failed = append(failed, err)
				continue
			}
			if err := p.Add(&crawler.Request{URL: item.URL}); err != nil {
				return err
			}
		}
		if found, ok := p.Reports()[0].Field(extract.ScopePath); len(p.Reports()) != 4 || !ok || found.Matched != 3 {
			t.Errorf("%d reports", len(p.Reports()))
		}
		return nil
	})
	crawler.On(&m, "/film/{id}", func(_ context.Context, p *crawler.Page, f filmOn) error {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, fmt.Sprint(p.PathValue("id"), " ", f.Title, " ", f.Year))
		return nil
	})
	attempts := 0
	eng, err := crawler.New(crawler.Config{
		Handler: &m, Spacing: -1,
		Fetcher: offline(map[string]string{
			"films.example/list.html":   `<ul><li><a href="/film/1">A</a><li>nothing<li><a href="/film/2">B</a></ul>`,
			"films.example/film/1.html": `<h1>A</h1><p class=year>1999`,
			"films.example/film/2.html": `<h1>B</h1><p class=year>soon`,
		}),
		Hooks: crawler.Hooks{Failed: func(_ context.Context, e *crawler.PageError) {
			mu.Lock()
			defer mu.Unlock()
			attempts++
			failed = append(failed, e)
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := eng.Run(t.Context(), "http://films.example/list"); err != nil {
		t.Fatal(err)
	}
	var item, field *extract.FieldError
	if len(got) != 1 || got[0] != "1 A 1999" || len(failed) != 2 || attempts != 1 || !errors.As(failed[0], &item) || item.Path != "Title" || !errors.As(failed[1], &field) || field.Path != "Year" {
		t.Errorf("%v, %v, %d", got, failed, attempts)
	}
}

// A declaration that is wrong keeps the crawl from starting.
func TestOnWithABadDeclaration(t *testing.T) {
	t.Parallel()
	type bad struct {
		Title string `extract:"css=h1["`
	}
	var m crawler.Mux
	crawler.On(&m, "/film/{id}", func(context.Context, *crawler.Page, bad) error { return nil })
	crawler.On[filmOn](&m, "/nil", nil)
	crawler.OnSchema[filmOn](&m, "/none", nil, nil)
	_, err := crawler.New(crawler.Config{Handler: &m})
	var tag *extract.TagError
	if err == nil || !errors.As(m.Check(), &tag) || tag.Field != "Title" || strings.Count(err.Error(), "nil") < 2 {
		t.Errorf("%v", err)
	}
}

func ExampleOn() {
	type Film struct {
		Title string `extract:"css=h1 ; required"`
		Year  int    `extract:"css=.year"`
	}
	var mux crawler.Mux
	crawler.On(&mux, "films.example/film/{id}", func(_ context.Context, p *crawler.Page, film Film) error {
		fmt.Println(p.PathValue("id"), film.Title, film.Year)
		return nil
	})
	eng, err := crawler.New(crawler.Config{
		Handler: &mux, Spacing: -1,
		Fetcher: offline(map[string]string{"films.example/film/7.html": `<h1>Alien</h1> <p class="year">1979</p>`}),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := eng.Run(context.Background(), "http://films.example/film/7"); err != nil {
		fmt.Println(err)
	}
	// Output: 7 Alien 1979
}

// A list that has changed is told: in the reports always, as an error where the scope is required.
func TestItemsOfAChangedList(t *testing.T) {
	t.Parallel()
	var m crawler.Mux
	schema := extract.MustCompile[listed](extract.Options{})
	m.HandleFunc("/list", func(ctx context.Context, p *crawler.Page) error {
		var drift extract.Drift
		for item := range crawler.Items[listed](ctx, p, "css=div.film") {
			t.Errorf("an item: %v", item)
		}
		for item, err := range crawler.ItemsSchema(ctx, p, schema, "css=div.film || css=li") {
			if item.URL == "" || err != nil {
				t.Errorf("%v, %v", item, err)
			}
		}
		missing := 0
		for item, err := range crawler.ItemsSchema(ctx, p, schema, "css=div.film ; required") {
			if missing++; item.URL != "" || err == nil {
				t.Errorf("%v, %v", item, err)
			}
		}
		without := 0
		for _, err := range crawler.ItemsSchema[listed](ctx, p, nil, "css=li") {
			if without++; err == nil || without > 1 {
				t.Errorf("no schema: %v", err)
			}
		}
		for _, r := range p.Reports() {
			drift.Add(r)
		}
		counts := drift.Counts()
		if missing != 1 || counts[extract.DriftKey{Field: extract.ScopePath, SourceIndex: -1, Status: extract.Missing}] != 2 ||
			counts[extract.DriftKey{Field: extract.ScopePath, SourceIndex: 1}] != 1 {
			t.Errorf("%d errors, %v", missing, counts)
		}
		return nil
	})
	eng, err := crawler.New(crawler.Config{
		Handler: &m, Spacing: -1,
		Fetcher: offline(map[string]string{"films.example/list.html": `<ul><li><a href="/film/1">A</a></ul>`}),
	})
	if err != nil {
		t.Fatal(err)
	}
	if stats, err := eng.Run(t.Context(), "https://films.example/list"); err != nil || stats.Failed != 0 {
		t.Fatal(stats, err)
	}
}
