// Command killcrawl crawls a site from one page on, for drivers that kill it: it writes one line of JSON for each page that
// is settled, and ends with status 0 when the crawl is finished. Started again on the same file it goes on.
//
//	killcrawl -db crawl.db -url http://127.0.0.1:8080/
//
// It does not ask for robots.txt, does not wait between requests, and may visit private addresses. Each page leaves an item
// in the store, in the transaction that ends it: "page/URL", or with -life L "visit/L/N", another one for each delivery.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"sync/atomic"

	"github.com/seine-go/seine/crawler"
	"github.com/seine-go/seine/crawler/sqlitebackend"
)

// options are what the flags say.
type options struct {
	path, url   string
	hosts, life string
	c, perHost  int
	spill       int64
	power       bool
	fixed       bool
}

func main() {
	var o options
	flag.StringVar(&o.path, "db", "", "file of the crawl")
	flag.StringVar(&o.url, "url", "", "first page")
	flag.StringVar(&o.hosts, "hosts", "", "hosts to stay on, with commas between them; that of the first page if there are none")
	flag.StringVar(&o.life, "life", "", "name of this run, which no other of the crawl has: deliveries are told apart")
	flag.IntVar(&o.c, "c", 16, "requests in flight")
	flag.IntVar(&o.perHost, "perhost", -1, "requests of a host in flight")
	flag.BoolVar(&o.fixed, "fixed", false, "hosts keep their pace whatever they answer, but for Retry-After")
	flag.Int64Var(&o.spill, "spill", 0, "bytes of the queues that stay in memory")
	flag.BoolVar(&o.power, "power", false, "commits withstand the loss of power too")
	flag.Parse()
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "killcrawl:", err)
		os.Exit(1)
	}
}

// line is what is written of a page.
type line struct {
	URL string `json:"url"`
}

func run(o options) (err error) {
	if o.path == "" || o.url == "" {
		return errors.New("-db and -url are needed")
	}
	ctx := context.Background()
	kept := sqlitebackend.Options{Frontier: crawler.MemoryOptions{SpillBytes: o.spill}}
	if o.power {
		kept.Durability = sqlitebackend.Power
	}
	db, err := sqlitebackend.Open(ctx, o.path, kept)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if r := db.Recovery(); r.Snapshot != "" || r.LogMissing {
		fmt.Fprintln(os.Stderr, "killcrawl:", r)
	}
	c := crawler.Config{
		Name: "killcrawl", Frontier: db.Frontier(), Store: db.Store(),
		IgnoreRobots: true, AllowPrivate: true, Spacing: -1, PerHost: o.perHost, FixedPace: o.fixed, Concurrency: o.c,
		Handler: deliver(o.life), Hooks: crawler.Hooks{Settle: told},
	}
	if o.hosts != "" {
		c.Scope.Hosts = strings.Split(o.hosts, ",")
	}
	eng, err := crawler.New(c)
	if err != nil {
		return err
	}
	defer eng.Close()
	_, err = eng.Run(ctx, o.url)
	if errors.Is(err, crawler.ErrFinished) {
		err = nil // nothing was left to do
	}
	return err
}

// deliver follows the links of pages and leaves an item of each.
func deliver(life string) crawler.Handler {
	var n atomic.Int64
	return crawler.HandlerFunc(func(_ context.Context, p *crawler.Page) error {
		p.FollowLinks()
		key := "page/" + p.URL
		if life != "" {
			key = fmt.Sprintf("visit/%s/%d", life, n.Add(1))
		}
		return p.Save(key, line{URL: p.URL})
	})
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
