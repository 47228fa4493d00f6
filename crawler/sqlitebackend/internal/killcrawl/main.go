// Command killcrawl crawls a site from one page on, for drivers that kill it: it writes one line of JSON for each page that
// is settled, and ends with status 0 when the crawl is finished. Started again on the same file it goes on.
//
//	killcrawl -db crawl.db -url http://127.0.0.1:8080/
//
// It does not ask for robots.txt, does not wait between requests, and may visit private addresses. Each page leaves an item
// "page/URL" in the store, in the transaction that ends it.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"

	"github.com/seine-go/seine/crawler"
	"github.com/seine-go/seine/crawler/sqlitebackend"
)

func main() {
	path := flag.String("db", "", "file of the crawl")
	url := flag.String("url", "", "first page")
	c := flag.Int("c", 16, "requests in flight")
	power := flag.Bool("power", false, "commits withstand the loss of power too")
	flag.Parse()
	if err := run(*path, *url, *c, *power); err != nil {
		fmt.Fprintln(os.Stderr, "killcrawl:", err)
		os.Exit(1)
	}
}

// line is what is written of a page.
type line struct {
	URL string `json:"url"`
}

func run(path, url string, c int, power bool) (err error) {
	if path == "" || url == "" {
		return errors.New("-db and -url are needed")
	}
	ctx := context.Background()
	o := sqlitebackend.Options{}
	if power {
		o.Durability = sqlitebackend.Power
	}
	db, err := sqlitebackend.Open(ctx, path, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if r := db.Recovery(); r.Snapshot != "" || r.LogMissing {
		fmt.Fprintln(os.Stderr, "killcrawl:", r)
	}
	eng, err := crawler.New(crawler.Config{
		Name: "killcrawl", Frontier: db.Frontier(), Store: db.Store(),
		IgnoreRobots: true, AllowPrivate: true, Spacing: -1, PerHost: -1, Concurrency: c,
		Handler: crawler.HandlerFunc(func(_ context.Context, p *crawler.Page) error {
			p.FollowLinks()
			return p.Save("page/"+p.URL, line{URL: p.URL})
		}),
		Hooks: crawler.Hooks{Settle: told},
	})
	if err != nil {
		return err
	}
	defer eng.Close()
	_, err = eng.Run(ctx, url)
	if errors.Is(err, crawler.ErrFinished) {
		err = nil // nothing was left to do
	}
	return err
}

// told writes a line for each page whose end is in the file.
func told(ctx context.Context, s crawler.Stage) (context.Context, func(crawler.StageEnd)) {
	return ctx, func(end crawler.StageEnd) {
		if end.Err != nil || end.Outcome != crawler.Done {
			return
		}
		if p, err := json.Marshal(line{URL: s.Request.URL}); err == nil {
			_, _ = os.Stdout.Write(append(p, '\n')) // a driver that does not read has its reasons
		}
	}
}
