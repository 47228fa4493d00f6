package main

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seine-go/seine/crawler/crawltest/demosite"
)

// The crawl is killed several times, and has all pages in the end, each once.
func TestDemoIsKilledAndGoesOn(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "resume.exe")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.CommandContext(t.Context(), program).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text := string(out)
	if kills := strings.Count(text, "killed after 15 more pages"); kills < 2 || !strings.Contains(text, "each done once, and all 48 films") {
		t.Errorf("%d kills\n%s", kills, text)
	}
}

// Started again on a file that is finished it fetches nothing.
func TestFinishedCrawlStaysSo(t *testing.T) {
	t.Parallel()
	site := demosite.New(demosite.Options{Films: 5})
	if err := site.Start(); err != nil {
		t.Fatal(err)
	}
	defer site.Close()
	args := []string{"-private", "-db", filepath.Join(t.TempDir(), "films.db"), site.URL()}
	var out bytes.Buffer
	if err := run(t.Context(), args, &out, &out); err != nil || !strings.Contains(out.String(), "finished; 6 pages") {
		t.Fatalf("%v\n%s", err, out.String())
	}
	asked := site.Stats().Requests
	out.Reset()
	if err := run(t.Context(), args, &out, &out); err != nil || !strings.Contains(out.String(), "finished before") {
		t.Errorf("%v\n%s", err, out.String())
	}
	if again := site.Stats().Requests - asked; again > 0 {
		t.Errorf("%d more requests", again)
	}
}

func TestBadArguments(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"-nope"}, {"no url"}, {"-after", "0"}, {"http://a.example/", "http://b.example/"}, {"-db", t.TempDir(), "http://films.example/"}} {
		var out bytes.Buffer
		if err := run(t.Context(), args, &out, &out); err == nil {
			t.Errorf("%q: %s", args, out.String())
		}
	}
}
