package extract_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/seine-go/seine/extract"
)

// A million nested elements, a page of links without end and scripts that never close are answered in bounded time, by every
// kind of source.
func TestHostilePagesAreBounded(t *testing.T) {
	if extract.RaceEnabled || testing.Short() {
		t.Skip("takes seconds, and minutes under the race detector")
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
		"nested":  strings.Repeat("<div>", 1_000_000),
		"items":   strings.Repeat("<div itemscope itemprop=a typeof=T property=p>", 100_000),
		"links":   strings.Repeat(`<a href="/x/y">z</a>`, 200_000),
		"scripts": strings.Repeat(`<script>a={`, 100_000),
		"json":    strings.Repeat(`[`, 1_000_000),
		"ld":      `<script type="application/ld+json">` + strings.Repeat(`{"@graph":[`, 200_000),
		"text":    strings.Repeat("x", 1<<20),
	}
	slowest, largest := time.Duration(0), 0
	for name, page := range pages {
		start := time.Now()
		doc := document(page)
		s, err := extract.SchemaOf[film]()
		if err != nil {
			t.Fatal(err)
		}
		_, report, _ := s.Extract(t.Context(), doc)
		took := time.Since(start)
		slowest, largest = max(slowest, took), max(largest, len(page))
		if len(report.Fields) != 8 || name == "nested" && !report.Flattened || took > 60*time.Second {
			t.Errorf("%s: %v, %d fields, flattened %t", name, took, len(report.Fields), report.Flattened)
		}
	}
	if !t.Failed() {
		fmt.Printf("shown extraction.4: %d hostile pages of up to %.1f MB through eight kinds of sources, the slowest in %v\n", len(pages), float64(largest)/1e6, slowest.Round(time.Millisecond))
	}
}
