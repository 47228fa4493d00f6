// Command resume crawls a film catalogue that is laid out like the demo site, and keeps the crawl in a file, so that it goes
// on after whatever ended it:
//
//	go -C examples/full run ./resume                                       the demo site; the crawl is killed again and again
//	go -C examples/full run ./resume -db films.db https://films.example/   a site: kill -9 it, and start it again
//
// Run the second command until it says that it has finished: each page is done once, however often it was killed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/signal"
	"sync"

	"github.com/seine-go/seine/crawler"
	"github.com/seine-go/seine/crawler/sqlitebackend"
	"github.com/seine-go/seine/examples/adapter"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "resume:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("resume", flag.ContinueOnError)
	flags.SetOutput(stderr)
	file := flags.String("db", "films.db", "file of the crawl")
	private := flags.Bool("private", false, "the site is our own: allow its private address, and do not wait between requests")
	after := flags.Int("after", 15, "pages after which the demo is killed")
	if err := flags.Parse(args); err != nil {
		return err
	}
	switch {
	case *after < 1 || flags.NArg() > 1:
		return errors.New("one URL at most, and -after must be 1 at least")
	case flags.NArg() == 0:
		return demo(ctx, *after, stdout, stderr)
	}
	u, err := url.Parse(flags.Arg(0))
	if err != nil || u.Host == "" {
		return fmt.Errorf("%q is no URL of a site", flags.Arg(0))
	}
	return crawl(ctx, *file, u.Host, *private, stdout)
}

// crawl begins the crawl of a host, or goes on with it, and writes a line for each page that is done for good.
func crawl(ctx context.Context, file, host string, private bool, out io.Writer) (err error) {
	db, err := sqlitebackend.Open(ctx, file, sqlitebackend.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	fmt.Fprintln(out, "opened", file+":", db.Recovery())
	cfg := crawler.Config{
		Name: "films", Handler: adapter.New(host),
		Frontier: db.Frontier(), Store: db.Store(),
		Hooks: crawler.Hooks{Settle: told(out)},
	}
	if private {
		cfg.AllowPrivate, cfg.Spacing, cfg.PerHost, cfg.Concurrency = true, -1, -1, 4
	}
	eng, err := crawler.New(cfg)
	if err != nil {
		return err
	}
	defer eng.Close()
	stats, err := eng.Run(ctx)
	switch {
	case ctx.Err() != nil: // Ctrl-C is an end, not a fault
		_, err = fmt.Fprintln(out, "interrupted; the same command goes on")
	case errors.Is(err, crawler.ErrFinished):
		_, err = fmt.Fprintln(out, "finished before")
	case err == nil:
		_, err = fmt.Fprintln(out, "finished;", stats.Pages, "pages in this run")
	}
	return err
}

// told writes a line for each page, once its links, its items and its end are in the file. Pages end at the same time.
func told(out io.Writer) func(context.Context, crawler.Stage) (context.Context, func(crawler.StageEnd)) {
	var mu sync.Mutex
	return func(ctx context.Context, s crawler.Stage) (context.Context, func(crawler.StageEnd)) {
		return ctx, func(end crawler.StageEnd) {
			if end.Err == nil && end.Outcome == crawler.Done {
				mu.Lock()
				defer mu.Unlock()
				fmt.Fprintln(out, done, s.Request.URL)
			}
		}
	}
}

const done = "done" // begins the line of a page
