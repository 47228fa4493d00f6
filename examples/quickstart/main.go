// Command quickstart crawls sites to JSON Lines: one line for each page, with its URL, status, title, links and timing.
//
//	go run ./examples/quickstart                            a film catalogue that it starts by itself
//	go run ./examples/quickstart -o out.jsonl URL…          the sites of the URLs, within their hosts
//
// It obeys robots.txt and asks a host for one page at a time. Ctrl-C ends it; what was fetched until then is kept.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"time"

	"github.com/seine-go/seine/crawler"
	"github.com/seine-go/seine/crawler/crawltest/demosite"
)

// record is a line of the output.
type record struct {
	URL       string    `json:"url"`
	FinalURL  string    `json:"final_url"`
	Status    int       `json:"status"`
	Title     string    `json:"title"`
	Links     int       `json:"links"`
	Depth     int       `json:"depth"`
	Bytes     int       `json:"bytes"`
	MS        float64   `json:"ms"`
	FetchedAt time.Time `json:"fetched_at"`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if errors.Is(err, flag.ErrHelp) {
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "quickstart:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	flags := flag.NewFlagSet("quickstart", flag.ContinueOnError)
	flags.SetOutput(stderr)
	out := flags.String("o", "-", "file for the JSON Lines; - is standard output")
	depth := flags.Int("depth", 0, "links from a start page at most; 0 is no limit")
	pages := flags.Int64("pages", 0, "pages at most; 0 is no limit")
	c := flags.Int("c", 1, "requests in flight to one host")
	delay := flags.Duration("delay", 0, "from the end of a request to a host to the start of the next, with one at a time; 0: two starts a second at most")
	private := flags.Bool("private", false, "allow loopback and private addresses")
	verbose := flags.Bool("v", false, "log every page and failure")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *depth < 0 || *pages < 0 || *c < 1 {
		return errors.New("-depth and -pages must not be negative, and -c must be 1 at least")
	}
	if *delay > 0 && *c > 1 {
		return errors.New("-delay lets a host have one request at a time: it goes without -c")
	}
	cfg := crawler.Config{
		MaxDepth: *depth, MaxPages: *pages, PerHost: *c, Delay: *delay, AllowPrivate: *private, AllStatuses: true,
		Grace: 2 * time.Second,
	}
	if *verbose {
		cfg.Logger = slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	seeds := flags.Args()
	if len(seeds) == 0 {
		site := demosite.New(demosite.Options{})
		if err := site.Start(); err != nil {
			return err
		}
		defer site.Close()
		seeds, cfg.AllowPrivate = []string{site.URL()}, true
		if *delay == 0 {
			cfg.Spacing = -1 // it is ours
		}
		fmt.Fprintln(stderr, "crawling the demo site at", site.URL())
	}
	if *out != "-" {
		file, err := openOutput(*out)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		stdout = file
	}
	return crawl(ctx, cfg, seeds, newScreen(stdout, stderr))
}

func crawl(ctx context.Context, cfg crawler.Config, seeds []string, s *screen) error {
	cfg.Handler = crawler.HandlerFunc(func(_ context.Context, p *crawler.Page) error {
		p.FollowLinks()
		return s.page(line(p))
	})
	cfg.Hooks.Failed = func(_ context.Context, err *crawler.PageError) { s.failed(err) }
	eng, err := crawler.New(cfg)
	if err != nil {
		return err
	}
	defer eng.Close()
	running, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s.cancel = cancel
	stop := s.start()
	stats, err := eng.Run(running, seeds...)
	stop()
	s.summary(stats)
	if s.broken != nil {
		return s.broken
	}
	if ctx.Err() != nil { // Ctrl-C is an end, not a fault
		return nil
	}
	if err == nil && s.pages == 0 && s.bad > 0 {
		return errNoPage
	}
	return err
}

var errNoPage = errors.New("no page could be fetched")

// line makes the record of a page.
func line(p *crawler.Page) ([]byte, error) {
	r := record{
		URL: p.Request.URL, FinalURL: p.URL, Status: p.Response.Status, Links: len(p.Links()), Depth: p.Depth,
		Bytes: len(p.Response.Body), FetchedAt: p.Response.FetchedAt.UTC(),
	}
	if p.IsHTML() {
		r.Title = p.Text("title")
	}
	if t := p.Response.Trace; t != nil {
		r.MS = float64(t.Total.Microseconds()) / 1000
	}
	return json.Marshal(r)
}
