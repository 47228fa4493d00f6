package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/seine-go/seine/crawler/crawltest/demosite"
	"github.com/seine-go/seine/crawler/sqlitebackend"
)

// demo crawls the demo site with this very program, kills that whenever some pages are done, starts it again until it has
// finished, and looks at what is in the file then.
func demo(ctx context.Context, after int, out, stderr io.Writer) (err error) {
	site := demosite.New(demosite.Options{Latency: 20 * time.Millisecond}) // so that pages are under way at a kill
	if err := site.Start(); err != nil {
		return err
	}
	defer site.Close()
	dir, err := os.MkdirTemp("", "seine-resume-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	file := filepath.Join(dir, "films.db")
	pages := map[string]int{} // how often each was told to be done
	kills := 0
	for {
		killed, err := life(ctx, file, site.URL(), after, pages, stderr)
		if err != nil {
			return err
		}
		if !killed {
			break
		}
		kills++
		fmt.Fprintf(out, "killed after %d more pages; starting it again\n", after)
	}
	return sum(ctx, file, site, pages, kills, out)
}

// life runs the program once. It reports whether it was killed.
func life(ctx context.Context, file, url string, after int, pages map[string]int, stderr io.Writer) (killed bool, err error) {
	self, err := os.Executable()
	if err != nil {
		return false, err
	}
	cmd := exec.CommandContext(ctx, self, "-db", file, "-private", url)
	cmd.Stderr = stderr
	lines, err := cmd.StdoutPipe()
	if err != nil {
		return false, err
	}
	if err := cmd.Start(); err != nil {
		return false, err
	}
	for s := bufio.NewScanner(lines); s.Scan(); {
		page, is := strings.CutPrefix(s.Text(), done+" ")
		if !is {
			continue
		}
		pages[page]++
		if after--; after == 0 {
			killed = true
			_ = cmd.Process.Kill() // SIGKILL; it may have ended
		}
	}
	err = cmd.Wait()
	if killed && err != nil {
		return true, ctx.Err()
	}
	return false, err
}

// sum checks that the crawl is whole, and each page done once.
func sum(ctx context.Context, file string, site *demosite.Site, pages map[string]int, kills int, out io.Writer) (err error) {
	db, err := sqlitebackend.Open(ctx, file, sqlitebackend.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	stats, err := db.Frontier().Stats(ctx)
	if err != nil {
		return err
	}
	films := 0
	for _, err := range db.Store().Scan(ctx, "film/") {
		if err != nil {
			return err
		}
		films++
	}
	for page, n := range pages {
		if n > 1 {
			return fmt.Errorf("%s was done %d times", page, n)
		}
	}
	if want := len(site.Films()); films != want || stats.Failed > 0 || !stats.Finished {
		return fmt.Errorf("%d films of %d are in the file: %+v", films, want, stats)
	}
	_, err = fmt.Fprintf(out, "finished after %d kills: %d pages, each done once, and all %d films; what was in flight at a kill was fetched again: %d\n",
		kills, stats.Done, films, site.Stats().Duplicates)
	return err
}
