package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seine-go/seine/crawler/crawltest/demosite"
)

func readRecords(t *testing.T, p []byte) map[string]record {
	t.Helper()
	records := map[string]record{}
	for s := bufio.NewScanner(bytes.NewReader(p)); s.Scan(); {
		d := json.NewDecoder(bytes.NewReader(s.Bytes()))
		d.DisallowUnknownFields()
		var r record
		if err := d.Decode(&r); err != nil {
			t.Fatalf("%v: %s", err, s.Bytes())
		}
		if _, twice := records[r.URL]; twice {
			t.Errorf("%s stands twice", r.URL)
		}
		if r.FinalURL == "" || r.Status == 0 || time.Since(r.FetchedAt) > time.Hour || r.MS <= 0 {
			t.Errorf("incomplete: %s", s.Bytes())
		}
		records[r.URL] = r
	}
	return records
}

// Without arguments the demo site is crawled, each of its pages once.
func TestDemoSite(t *testing.T) {
	t.Parallel()
	var out, log bytes.Buffer
	if err := run(t.Context(), nil, &out, &log); err != nil {
		t.Fatal(err)
	}
	records := readRecords(t, out.Bytes())
	films := 0
	for _, r := range records {
		if strings.Contains(r.URL, "/film/") && !strings.Contains(r.URL, "/app/") && r.Status == 200 && r.Title != "" && r.Links > 0 {
			films++
		}
	}
	if want := len(demosite.New(demosite.Options{}).Films()); films != want || !strings.Contains(log.String(), "pages") {
		t.Errorf("%d of %d films\n%s", films, want, log.String())
	}
}

// A loopback site with -private, within its bounds; without -private it is refused.
func TestGivenSite(t *testing.T) {
	t.Parallel()
	site := demosite.New(demosite.Options{Films: 20})
	if err := site.Start(); err != nil {
		t.Fatal(err)
	}
	defer site.Close()
	file := filepath.Join(t.TempDir(), "out.jsonl")
	var log bytes.Buffer
	if err := run(t.Context(), []string{"-private", "-delay", "1ms", "-depth", "1", "-v", "-o", file, site.URL()}, nil, &log); err != nil {
		t.Fatal(err)
	}
	p, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	records := readRecords(t, p)
	for _, r := range records {
		if r.Depth > 1 || !strings.HasPrefix(r.URL, site.URL()) {
			t.Errorf("%+v", r)
		}
	}
	if len(records) < 5 || !strings.Contains(log.String(), "level=DEBUG") {
		t.Errorf("%d records\n%s", len(records), log.String())
	}
	fmt.Printf("shown first-crawl.1: quickstart crawls a loopback site with -private: %d pages\n", len(records))

	log.Reset()
	var out bytes.Buffer
	if err := run(t.Context(), []string{"-pages", "1", site.URL()}, &out, &log); !errors.Is(err, errNoPage) || out.Len() > 0 || !strings.Contains(log.String(), "refused address") {
		t.Errorf("%v, %q\n%s", err, out.String(), log.String())
	}
}

// Ctrl-C, which ends the context, ends it cleanly with what was fetched.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	site := demosite.New(demosite.Options{})
	if err := site.Start(); err != nil {
		t.Fatal(err)
	}
	defer site.Close()
	ctx, cancel := context.WithCancel(t.Context())
	out := &cancelAfter{lines: 3, cancel: cancel}
	var log bytes.Buffer
	if err := run(ctx, []string{"-private", "-delay", "1ms", site.URL()}, out, &log); err != nil {
		t.Fatal(err)
	}
	if n := len(readRecords(t, out.Bytes())); n < 3 || n > 4 || !strings.Contains(log.String(), "stopped before") {
		t.Errorf("%d records\n%s", n, log.String())
	}
}

type cancelAfter struct {
	bytes.Buffer
	lines  int
	cancel func()
}

func (c *cancelAfter) Write(p []byte) (int, error) {
	if c.lines--; c.lines == 0 {
		c.cancel()
	}
	return c.Buffer.Write(p)
}

func TestBadArguments(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"-nope"}, {"no url"}, {"-c", "x"}, {"-c", "0"}, {"-depth", "-1"}, {"-pages", "-1"}, {"-c", "2", "-delay", "1s", "http://films.example/"}, {"-delay", "-1s", "http://films.example/"}, {"-o", t.TempDir(), "http://films.example/"}} {
		var out, log bytes.Buffer
		if err := run(t.Context(), args, &out, &log); err == nil || out.Len() > 0 {
			t.Errorf("%q: %v, %q", args, err, out.String())
		}
	}
}

// A file that is there is kept until a page has come.
func TestOutputIsKept(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "out.jsonl")
	if err := os.WriteFile(file, []byte("an earlier crawl, which is longer than what comes now\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	if err := run(t.Context(), []string{"-o", file, "no url"}, nil, &log); err == nil {
		t.Error("no error")
	}
	if p, _ := os.ReadFile(file); !strings.HasPrefix(string(p), "an earlier crawl") {
		t.Errorf("the file holds %q", p)
	}
	o, err := openOutput(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"{}\n", "[]\n"} {
		if _, err := o.Write([]byte(line)); err != nil {
			t.Error(err)
		}
	}
	if err := o.Close(); err != nil {
		t.Error(err)
	}
	if p, _ := os.ReadFile(file); string(p) != "{}\n[]\n" {
		t.Errorf("the file holds %q", p)
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, os.ErrClosed }

// Output that cannot be written ends the crawl with an error.
func TestBrokenOutput(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	if err := run(t.Context(), nil, brokenWriter{}, &log); !errors.Is(err, os.ErrClosed) {
		t.Errorf("%v\n%s", err, log.String())
	}
}
