package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"time"
)

const (
	mostFaults = 5 // lives that end with an error, or asking for nothing, before a crawler is given up
	pipeDelay  = 5 * time.Second
)

// tally is what became of a crawl.
type tally struct {
	name, version string
	lost          int // pages without a result
	unasked       int // of these, that were never asked for
	again         int // requests beyond one for each page
	twice         int // results beyond one for each page
	kills         int // that were reached
	stalls        int // lives that were ended since they asked for nothing
	faults        int // that ended with an error of their own
	finished      bool
	took          time.Duration
}

// points are the requests, counted over all lives, at which crawlers are killed.
func points(seed uint64, pages, kills int) []int {
	r := rand.New(rand.NewPCG(seed, uint64(pages)))
	at := map[int]bool{}
	for len(at) < kills {
		at[1+r.IntN(pages*9/10)] = true
	}
	all := make([]int, 0, kills)
	for n := range at {
		all = append(all, n)
	}
	slices.Sort(all)
	return all
}

// drive has a crawler crawl the graph, kills it at the points and starts it again until it says that it has finished.
func drive(ctx context.Context, p peer, o options) (t tally, err error) {
	dir, err := os.MkdirTemp("", "seine-kill-")
	if err != nil {
		return t, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	t.name = p.name
	if t.version, err = p.prepare(ctx, dir); err != nil {
		return t, &missingError{p.name, err}
	}
	s, err := newSite(o.pages)
	if err != nil {
		return t, err
	}
	defer s.server.Close()
	d := driver{peer: p, dir: dir, site: s, patience: o.patience, told: map[string]int{}}
	limited, cancel := context.WithTimeout(ctx, o.limit)
	defer cancel()
	start := time.Now()
	if err := d.lives(limited, points(o.seed, o.pages, o.kills), &t); err != nil {
		return t, err
	}
	t.took = time.Since(start)
	return t, d.sum(ctx, &t)
}

// missingError says that a crawler cannot be run on this machine.
type missingError struct {
	name string
	err  error
}

// Error says what is missing.
func (e *missingError) Error() string { return fmt.Sprintf("missing: %s: %v", e.name, e.err) }

// driver is a crawl under way.
type driver struct {
	peer
	dir      string
	site     *site
	patience time.Duration
	told     map[string]int // lines by URL
}

// lives starts the crawler again and again.
func (d *driver) lives(ctx context.Context, kills []int, t *tally) error {
	for t.stalls+t.faults < mostFaults {
		for len(kills) > 0 && kills[0] <= d.site.requests() { // asked for while the last one died
			kills = kills[1:]
		}
		at := 0
		if len(kills) > 0 {
			at = kills[0]
		}
		end, err := d.live(ctx, at)
		if err != nil {
			return err
		}
		switch end {
		case killed:
			t.kills++
		case stalled:
			t.stalls++
		case faulty:
			t.faults++
		case finished:
			t.finished = true
			return nil
		case late:
			return nil
		}
	}
	return nil
}

// ending is how a life ended.
type ending int

const (
	finished ending = iota
	killed          // at the request that was meant
	stalled         // after it had asked for nothing for long
	faulty          // with an error of its own
	late            // since the time for all lives has passed
)

// live runs the crawler once.
func (d *driver) live(ctx context.Context, at int) (ending, error) {
	running, kill := context.WithCancelCause(ctx)
	defer kill(nil)
	d.site.when(at, func() { kill(errKilled) })
	defer d.site.when(0, nil)
	cmd := d.command(running, d.dir, d.site.page(0)) // SIGKILL when running ends
	var out bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = d.dir, &out, os.Stderr, pipeDelay
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	go d.watch(running, func() { kill(errStalled) })
	err := cmd.Wait()
	for line := range bytes.Lines(out.Bytes()) {
		var page struct{ URL string }
		if json.Unmarshal(line, &page) == nil { // else it died in the middle of a line
			d.told[page.URL]++
		}
	}
	switch cause := context.Cause(running); {
	case cause == errKilled:
		return killed, nil
	case cause == errStalled:
		return stalled, nil
	case ctx.Err() != nil:
		return late, nil
	case err != nil:
		fmt.Fprintf(os.Stderr, "%s: %v\n", d.name, err)
		return faulty, nil
	}
	return finished, nil
}

var (
	errKilled  = errors.New("killed")
	errStalled = errors.New("asks for nothing")
)

// watch ends a life that asks for nothing.
func (d *driver) watch(ctx context.Context, end func()) {
	const checks = 20 // while patience lasts
	tick := time.NewTicker(max(d.patience/checks, 1))
	defer tick.Stop()
	for last, quiet := -1, 0; quiet < checks; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		n := d.site.requests()
		if quiet++; n != last {
			last, quiet = n, 0
		}
	}
	end()
}

// sum counts what was lost and what was done more than once.
func (d *driver) sum(ctx context.Context, t *tally) (err error) {
	kept := map[string]bool{}
	if d.kept != nil {
		if kept, err = d.kept(ctx, d.dir); err != nil {
			return err
		}
	}
	for n, hits := range d.site.hits {
		url := d.site.page(n)
		if d.kept == nil {
			kept[url] = d.told[url] > 0
		}
		if !kept[url] {
			t.lost++
			if hits == 0 {
				t.unasked++
			}
		}
		t.again += max(hits-1, 0)
		t.twice += max(d.told[url]-1, 0)
	}
	return nil
}
