// Command benchcrawl is the library's program of the benchmark kit: it crawls the kit's site through the public engine,
// or runs one part of the library by itself, and ends with one line of JSON.
//
//	benchcrawl -c 32 -url http://127.0.0.1:8399/page/0
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime/pprof"
	"time"
)

// options are the flags.
type options struct {
	mode    string
	url     string
	c       int
	perHost int
	hosts   int
	delay   time.Duration
	fields  bool
	db      string
	n       int
	size    int
}

func main() {
	var o options
	flag.StringVar(&o.mode, "mode", "crawl", "crawl, exchange, frontier, seen or links")
	flag.StringVar(&o.url, "url", "http://127.0.0.1:8399/page/0", "first page, or what the mode works on")
	flag.IntVar(&o.c, "c", 0, "requests in flight; 0: as the engine finds")
	flag.IntVar(&o.perHost, "per-host", 0, "requests in flight to one host; 0: only -c counts")
	flag.IntVar(&o.hosts, "hosts", 1, "hosts of the site; more than 1: follow http://127.0.x.y with the port of -url")
	flag.DurationVar(&o.delay, "delay", 0, "from the end of a request to a host to the start of the next")
	flag.BoolVar(&o.fields, "fields", false, "take five fields from every page")
	flag.StringVar(&o.db, "db", "", "keep the frontier in this file")
	flag.IntVar(&o.n, "n", 100_000, "exchanges, or URLs, of the modes other than crawl")
	flag.IntVar(&o.size, "size", 0, "bytes of a body, with -mode exchange")
	profile := flag.String("cpuprofile", "", "write a CPU profile to this file")
	flag.Parse()
	if err := run(o, *profile); err != nil {
		fmt.Fprintln(os.Stderr, "benchcrawl:", err)
		os.Exit(1)
	}
}

func run(o options, profile string) error {
	if o.db != "" && o.mode != "crawl" {
		return errors.New("-db is for -mode crawl")
	}
	if profile != "" {
		f, err := os.Create(profile)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	switch o.mode {
	case "crawl":
		return crawl(o)
	case "exchange":
		return exchange(o)
	case "frontier":
		return frontier(o)
	case "seen":
		return seen(o)
	case "links":
		return links(o)
	}
	return fmt.Errorf("-mode %q is none of crawl, exchange, frontier, seen and links", o.mode)
}
