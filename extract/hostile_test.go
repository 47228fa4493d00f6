package extract_test

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/seine-go/seine/extract"
	"github.com/seine-go/seine/extract/literal"
)

// A page of links, 200 MB of them in the long form, has its links by the bound, no tree but a typed error, and takes little
// memory beside its own: in all, and not only at the end.
func TestPageOfLinksIsBounded(t *testing.T) {
	const link = `<a href="/film/0123456789">a film</a>`
	size := 20_000_000
	switch {
	case os.Getenv("SEINE_LONG") != "":
		size = 200_000_000
	case extract.RaceEnabled || testing.Short():
		size = 8_000_000
	}
	page := strings.Repeat(link, size/len(link))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	doc := extract.NewDocument([]byte(page), extract.DocumentOptions{URL: "https://h/", Encoding: "utf-8", MaxTree: size / 20})
	h, err := doc.Hints(0)
	if err != nil || len(h.Links) != extract.DefaultMaxLinks || h.LinksCut != size/len(link)-extract.DefaultMaxLinks {
		t.Fatalf("%d links, %d cut, %v", len(h.Links), h.LinksCut, err)
	}
	type film struct {
		Title string `extract:"css=h1"`
		State string `extract:"state=x$.y"`
		JSON  string `extract:"json=$.y"`
	}
	_, report, err := extract.MustCompile[film](extract.Options{}).Extract(t.Context(), doc)
	var large *extract.TreeError
	if !errors.As(err, &large) || large.Bytes != len(page) || large.Tags != 2*(size/len(link)) || len(report.Fields) != 3 {
		t.Errorf("%v, %+v", err, report)
	}
	if _, err := doc.Find("h1"); !errors.As(err, &large) {
		t.Errorf("find: %v", err)
	}
	runtime.ReadMemStats(&after)
	made := int64(after.TotalAlloc-before.TotalAlloc) - int64(len(page)) // NewDocument was given a copy
	if most := int64(64 << 20); made > most {
		t.Errorf("%d MB were allocated beside the page", made>>20)
	}
	if !t.Failed() {
		fmt.Printf("shown extraction.4: %d MB of links: %d of them, no tree, %d MB allocated, in %v\n", size/1_000_000, len(h.Links), made>>20, time.Since(start).Round(time.Millisecond))
	}
}

// A million nested elements, a page of links without end and scripts that never close are answered in bounded time, by every
// kind of source. Under the race detector, and with -short, a fortieth of each.
func TestHostilePagesAreBounded(t *testing.T) {
	part := 1
	if extract.RaceEnabled || testing.Short() {
		part = 40
	}
	type film struct {
		CSS     string   `extract:"css=h1:has(+ .x) a || css=div div div div .x:nth-child(2 of .y)"`
		XPath   string   `extract:"xpath=//h1[.//b]"`
		LD      string   `extract:"ld=Movie.name"`
		OG      string   `extract:"og=title"`
		State   string   `extract:"state=$..title"`
		JSON    string   `extract:"json=$.title"`
		Pattern string   `extract:"re=/(x+x+)+y/"`
		Magnets []string `extract:"magnet="`
	}
	pages := map[string]string{
		"nested":  strings.Repeat("<div>", 1_000_000/part),
		"items":   strings.Repeat("<div itemscope itemprop=a typeof=T property=p>", 100_000/part),
		"links":   strings.Repeat(`<a href="/x/y">z</a>`, 200_000/part),
		"scripts": strings.Repeat(`<script>a={`, 100_000/part),
		"json":    strings.Repeat(`[`, 1_000_000/part),
		"ld":      `<script type="application/ld+json">` + strings.Repeat(`{"@graph":[`, 200_000/part),
		"text":    strings.Repeat("x", 1<<20/part),
	}
	slowest, largest, thirstiest := time.Duration(0), 0, uint64(0)
	for name, page := range pages {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		doc := document(page)
		s, err := extract.SchemaOf[film]()
		if err != nil {
			t.Fatal(err)
		}
		_, report, err := s.Extract(t.Context(), doc)
		took := time.Since(start)
		runtime.ReadMemStats(&after)
		made := (after.TotalAlloc - before.TotalAlloc) / uint64(len(page))
		var limit *literal.LimitError
		if limited := errors.As(errors.Join(append(report.Faults, err)...), &limit); limited != (name == "json" || name == "ld") {
			t.Errorf("%s: %v, %v", name, err, report.Faults)
		}
		if made > 64 {
			t.Errorf("%s: %d bytes were allocated for each of the page", name, made)
		}
		slowest, largest, thirstiest = max(slowest, took), max(largest, len(page)), max(thirstiest, made)
		if len(report.Fields) != 8 || report.Flattened != (name == "nested" || name == "items") || took > 60*time.Second {
			t.Errorf("%s: %v, %d fields, flattened %t", name, took, len(report.Fields), report.Flattened)
		}
	}
	if !t.Failed() {
		fmt.Printf("shown extraction.4: %d hostile pages of up to %.1f MB through eight kinds of sources, the slowest in %v, at most %d bytes allocated for each of a page\n", len(pages), float64(largest)/1e6, slowest.Round(time.Millisecond), thirstiest)
	}
}
