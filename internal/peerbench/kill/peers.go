package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/seine-go/seine/crawler/sqlitebackend"
)

//go:embed scrapy_site.py
var spider []byte

//go:embed crawlee_site.mjs
var crawlee []byte

// peer is a crawler that keeps its state in a folder.
type peer struct {
	name string
	// prepare makes the folder ready. Its error says what is missing on this machine.
	prepare func(ctx context.Context, dir string) (version string, err error)
	// command crawls from a page on, or goes on with what is in the folder, and writes a line of JSON for each page.
	command func(ctx context.Context, dir, url string) *exec.Cmd
	// kept lists the pages whose results are in the folder; nil: the lines are all there is.
	kept func(ctx context.Context, dir string) (map[string]bool, error)
}

// peers are those to compare, with the settings of flags.
func peers(o options) []peer {
	c := strconv.Itoa(o.c)
	return []peer{
		{name: "seine", prepare: buildSeine, command: func(ctx context.Context, dir, url string) *exec.Cmd {
			return exec.CommandContext(ctx, filepath.Join(dir, "killcrawl.exe"), "-db", "crawl.db", "-url", url, "-c", c)
		}, kept: items},
		{name: "Scrapy", prepare: o.scrapy, command: func(ctx context.Context, _, url string) *exec.Cmd {
			return exec.CommandContext(ctx, o.python, "-m", "scrapy", "runspider", "scrapy_site.py", "-a", "url="+url,
				"-s", "JOBDIR=job", "-s", "LOG_LEVEL=ERROR", "-s", "ROBOTSTXT_OBEY=0", "-s", "TELNETCONSOLE_ENABLED=0",
				"-s", "CONCURRENT_REQUESTS="+c, "-s", "CONCURRENT_REQUESTS_PER_DOMAIN="+c)
		}},
		{name: "Crawlee", prepare: o.crawlee, command: func(ctx context.Context, _, url string) *exec.Cmd {
			return exec.CommandContext(ctx, o.node, "crawlee_site.mjs", url, c)
		}},
	}
}

// buildSeine builds the crawling program of the durable frontier from this repository.
func buildSeine(ctx context.Context, dir string) (string, error) {
	root, err := output(ctx, ".", "go", "list", "-m", "-f", "{{.Dir}}", "github.com/seine-go/seine/crawler/sqlitebackend")
	if err != nil {
		return "", err
	}
	_, err = output(ctx, root, "go", "build", "-o", filepath.Join(dir, "killcrawl.exe"), "./internal/killcrawl")
	return "of this repository, SQLite", err
}

// items lists the pages that have an item in the crawl's file.
func items(ctx context.Context, dir string) (pages map[string]bool, err error) {
	db, err := sqlitebackend.Open(ctx, filepath.Join(dir, "crawl.db"), sqlitebackend.Options{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	pages = map[string]bool{}
	for e, err := range db.Store().Scan(ctx, "page/") {
		if err != nil {
			return nil, err
		}
		pages[strings.TrimPrefix(e.Key, "page/")] = true
	}
	return pages, nil
}

func (o options) scrapy(ctx context.Context, dir string) (string, error) {
	version, err := output(ctx, dir, o.python, "-c", "import scrapy; print(scrapy.__version__)")
	if err != nil {
		return "", fmt.Errorf("%s has no Scrapy (Debian: apt-get install python3-scrapy; -python names another): %w", o.python, err)
	}
	return version + ", JOBDIR", os.WriteFile(filepath.Join(dir, "scrapy_site.py"), spider, 0o600)
}

// crawlee puts the script beside the packages: Node.js looks for them where a script lies.
func (o options) crawlee(ctx context.Context, dir string) (string, error) {
	modules, err := filepath.Abs(filepath.Join(o.packages, "node_modules"))
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(filepath.Join(modules, "crawlee")); err != nil {
		return "", fmt.Errorf("-packages names no folder with Crawlee (npm install crawlee there): %w", err)
	}
	version, err := output(ctx, modules, o.node, "-p", "require('./crawlee/package.json').version")
	if err != nil {
		return "", fmt.Errorf("there is no Node.js (-node names it): %w", err)
	}
	return version + ", file storage", errors.Join(
		os.WriteFile(filepath.Join(dir, "crawlee_site.mjs"), crawlee, 0o600),
		os.Symlink(modules, filepath.Join(dir, "node_modules")),
	)
}

// output runs a command to its end and returns the line that it wrote.
func output(ctx context.Context, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) && len(failed.Stderr) > 0 {
		lines := strings.Split(strings.TrimSpace(string(failed.Stderr)), "\n")
		err = fmt.Errorf("%w: %s", err, lines[len(lines)-1])
	}
	return strings.TrimSpace(string(out)), err
}
