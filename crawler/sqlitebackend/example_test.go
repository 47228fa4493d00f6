package sqlitebackend_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"

	"github.com/seine-go/seine/crawler"
	"github.com/seine-go/seine/crawler/sqlitebackend"
)

// What a crawl has left to do is exported while another process may go on with it.
func ExampleOptions_readOnly() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "films")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "films.db")
	db, err := sqlitebackend.Open(ctx, path, sqlitebackend.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Frontier().Add(ctx, &crawler.Request{URL: "https://films.example/film/7"}); err != nil {
		fmt.Println(err)
	}

	view, err := sqlitebackend.Open(ctx, path, sqlitebackend.Options{ReadOnly: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer view.Close()
	if err := crawler.ExportFrontier(ctx, os.Stdout, view.Frontier()); err != nil {
		fmt.Println(err)
	}
	for host, err := range view.Frontier().Hosts(ctx) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(host.Host, host.Queued)
	}
	_, err = view.Frontier().Add(ctx, &crawler.Request{URL: "https://films.example/film/8"})
	fmt.Println(err)
	// Output:
	// {"state":"ready","url":"https://films.example/film/7"}
	// films.example 1
	// seine: opened for reading alone
}

// Of a crawl that is damaged, and has no snapshot, the items are exported.
func ExampleOpenStore() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "films")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "films.db")
	db, err := sqlitebackend.Open(ctx, path, sqlitebackend.Options{})
	if err != nil {
		log.Fatal(err)
	}
	if err := errors.Join(db.Store().Put(ctx, "film/7", []byte(`"Alien"`)), db.Close()); err != nil {
		log.Fatal(err)
	}

	store, err := sqlitebackend.OpenStore(ctx, path)
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	if err := crawler.ExportStore(ctx, os.Stdout, store, "film/"); err != nil {
		fmt.Println(err) // the values that are left out
	}
	// Output:
	// {"key":"film/7","value":"Alien"}
}

// A crawl that is ended after two pages goes on where it stood.
func ExampleOpen() {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<a href="/1">one</a> <a href="/2">two</a> <a href="/3">three</a>`)
	}))
	defer site.Close()
	dir, err := os.MkdirTemp("", "films")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	crawl := func(most int64, seeds ...string) error {
		db, err := sqlitebackend.Open(context.Background(), filepath.Join(dir, "films.db"), sqlitebackend.Options{})
		if err != nil {
			return err
		}
		defer db.Close()
		eng, err := crawler.New(crawler.Config{
			Name: "films", Frontier: db.Frontier(), Store: db.Store(), MaxPages: most, Concurrency: 1,
			IgnoreRobots: true, AllowPrivate: true, Spacing: -1,
			Handler: crawler.HandlerFunc(func(_ context.Context, p *crawler.Page) error {
				p.FollowLinks()
				return p.Save("page"+p.URL[len(site.URL):], "seen")
			}),
		})
		if err != nil {
			return err
		}
		defer eng.Close()
		stats, err := eng.Run(context.Background(), seeds...)
		fmt.Println(stats.Pages, "pages")
		for e, err := range db.Store().Scan(context.Background(), "page/") {
			if err != nil {
				return err
			}
			fmt.Println(" ", e.Key)
		}
		return err
	}
	if err := crawl(2, site.URL+"/"); err != nil {
		fmt.Println(err)
	}
	if err := crawl(0); err != nil { // no seeds: go on
		fmt.Println(err)
	}
	// Output:
	// 2 pages
	//   page/
	//   page/1
	// 2 pages
	//   page/
	//   page/1
	//   page/2
	//   page/3
}
