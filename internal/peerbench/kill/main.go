// Command kill runs one crawl and the same kills with seine, Scrapy and Crawlee, each keeping its state on disk, and prints
// what each has lost, what it did twice, and when it had finished:
//
//	go -C internal/peerbench run ./kill -packages FOLDER
//
// The site is a graph on loopback. The process is killed (SIGKILL) when the site is asked for the pages with certain
// numbers, which are the same for all, counted over all lives; it is started again with the same command until it ends by
// itself. A crawler delivers a page when its handler has said so in a line that was written at once, or, where items are
// kept with the crawl, when there is one. robots.txt is not asked for, and all have as many requests in flight.
//
// It installs nothing: what is missing is named, and the others run. FOLDER is where `npm install crawlee` was run.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"
)

// options are the flags.
type options struct {
	pages, kills, c        int
	seed                   uint64
	python, node, packages string
	patience, limit        time.Duration
}

func main() {
	var o options
	flag.IntVar(&o.pages, "pages", 3000, "pages of the graph")
	flag.IntVar(&o.kills, "kills", 5, "times that each crawler is killed")
	flag.IntVar(&o.c, "c", 16, "requests in flight")
	flag.Uint64Var(&o.seed, "seed", 1, "of the requests at which crawlers are killed")
	flag.StringVar(&o.python, "python", "/usr/bin/python3", "Python with Scrapy")
	flag.StringVar(&o.node, "node", "node", "Node.js")
	flag.StringVar(&o.packages, "packages", ".", "folder whose node_modules has Crawlee")
	flag.DurationVar(&o.patience, "patience", 2*time.Minute, "how long a crawler may ask for nothing before it is ended and started again")
	flag.DurationVar(&o.limit, "limit", 15*time.Minute, "how long a crawl may take in all")
	flag.Parse()
	if err := run(context.Background(), os.Stdout, o); err != nil {
		fmt.Fprintln(os.Stderr, "kill:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, o options) error {
	if o.pages < 2 || o.kills < 0 || o.kills > o.pages/2 || o.c < 1 || o.patience <= 0 {
		return errors.New("-pages must be 2 at least, -kills at most half of them, -c 1 at least and -patience positive")
	}
	var all []tally
	var faults []error
	for _, p := range peers(o) {
		t, err := drive(ctx, p, o)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		all = append(all, t)
	}
	if err := table(out, o, all); err != nil {
		return err
	}
	for _, t := range all {
		if t.name == "seine" {
			faults = append(faults, t.judge(o))
		}
	}
	if err := errors.Join(faults...); err != nil {
		return err
	}
	shown := make([]string, len(all))
	for i, t := range all {
		shown[i] = t.String()
	}
	_, err := fmt.Fprintf(out, "shown durable.6: %d pages, killed at %d requests: %s\n", o.pages, o.kills, strings.Join(shown, "; "))
	return err
}

// table prints a line for each crawler.
func table(out io.Writer, o options, all []tally) error {
	fmt.Fprintf(out, "%d pages, %d in flight, killed at requests %v (seed %d)\n", o.pages, o.c, points(o.seed, o.pages, o.kills), o.seed)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "crawler\tpages lost\tof these never asked for\tfetched again\tdelivered again\tkills\tstalls\terrors\tfinished\tseconds\t")
	for _, t := range all {
		fmt.Fprintf(w, "%s (%s)\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%v\t%.1f\t\n",
			t.name, t.version, t.lost, t.unasked, t.again, t.twice, t.kills, t.stalls, t.faults, t.finished, t.took.Seconds())
	}
	return w.Flush()
}

// judge says what a durable frontier must not do.
func (t tally) judge(o options) error {
	if t.lost > 0 || t.twice > 0 || t.again > t.kills*o.c || t.stalls > 0 || t.faults > 0 || !t.finished || t.kills != o.kills {
		return fmt.Errorf("seine has to lose nothing, deliver nothing twice, and fetch again only what was in flight: %+v", t)
	}
	return nil
}

// String is a line of the table in words.
func (t tally) String() string {
	end := fmt.Sprintf("finished after %.1f s", t.took.Seconds())
	if !t.finished {
		end = fmt.Sprintf("not finished after %.1f s", t.took.Seconds())
	}
	return fmt.Sprintf("%s %s: %d lost, %d fetched again, %d delivered again, %d kills, %d stalls, %d errors, %s",
		t.name, t.version, t.lost, t.again, t.twice, t.kills, t.stalls, t.faults, end)
}
