package extract

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/seine-go/seine/internal/growthtest"
)

// A page is cut no more than its parser demands.
func TestFlattenCutsNoMoreThanItMust(t *testing.T) {
	t.Parallel()
	count := func(page, selector string) int {
		d := NewDocument([]byte(page), DocumentOptions{URL: testPage})
		s, err := d.Find(selector)
		if err != nil || !d.Flattened() {
			t.Fatalf("%.20s: flattened %v, %v", page, d.Flattened(), err)
		}
		return s.Length()
	}
	if n := count(strings.Repeat("<div>", 520)+"<h1>x", "div"); n < maxOpen-16 || n > maxOpen {
		t.Errorf("%d of 520 nested elements are left", n)
	}
	if n := count("<b><i><u>"+strings.Repeat("<div>", 520), "div"); n < maxOpen-24 || n > maxOpen {
		t.Errorf("%d of 520 nested elements are left in formatting", n)
	}
	var b strings.Builder
	for i := range 600 {
		fmt.Fprintf(&b, "<font size=%d><p>", i)
	}
	if n := count(b.String()+"<h1>x", "h1"); n != 1 {
		t.Error("the heading is lost")
	}
	if n := count(strings.Repeat("<table><tr><td>", 300)+"<font size=1>x", "td"); n < maxOpen/4-4 {
		t.Errorf("%d cells are left", n)
	}
}

// Of the start tags of html and body only so many give their attributes to the tree, which tells.
func TestRootsAreBounded(t *testing.T) {
	t.Parallel()
	for _, root := range []string{"html", "body"} {
		for _, tags := range []int{maxRoots, maxRoots + 1} {
			var b strings.Builder
			for i := range tags {
				fmt.Fprintf(&b, "<%s a%d>", strings.ToUpper(root), i)
			}
			d := NewDocument([]byte(b.String()+strings.Repeat("<br>", 1000)+"<h1>x</h1>"), DocumentOptions{})
			found, err := d.Find(root)
			if err != nil || found.Length() != 1 || len(found.Nodes[0].Attr) != maxRoots || d.Flattened() != (tags > maxRoots) {
				t.Errorf("%d of %s: %d attributes, flattened %t, %v", tags, root, len(found.Nodes[0].Attr), d.Flattened(), err)
			}
			if found, _ := d.Find("h1"); found.Length() != 1 {
				t.Error("the heading is lost")
			}
		}
		growthtest.Linear(t, root, func(size int) string {
			var b strings.Builder
			for i := 0; b.Len() < size; i++ {
				fmt.Fprintf(&b, "<%s a%d>", root, i)
			}
			return b.String()
		}, func(page string) { _, _ = NewDocument([]byte(page), DocumentOptions{Encoding: "utf-8"}).Tree() })
	}
}

// Whether a page has to be flattened is known once it is too deep or too large, wherever the page ends.
func TestFitsReadsNoFurtherThanItMust(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, begin, more string }{
		{"depth", strings.Repeat("<div>", 600), "<div>"},
		{"formatting out of sight", strings.Repeat("<b>", 1000), "<p></a>"},
	} {
		work := func(n int) (steps uint32, clones int) {
			text := []byte(c.begin + strings.Repeat(c.more, n))
			s := scanner{window: len(text) + 1, builder: &builder{}, filter: &filter{depth: maxOpen, formatting: maxOpen, check: true}}
			s.run(text, true)
			if !s.builder.over() {
				t.Errorf("%s: it fits", c.name)
			}
			return s.builder.lastID, s.builder.clones
		}
		few, a := work(10)
		many, b := work(10_000)
		if few != many || a != b {
			t.Errorf("%s: %d elements, %d clones; %d, %d for the longer page", c.name, few, a, many, b)
		}
	}
	var fonts strings.Builder
	for i := range 50_000 {
		fmt.Fprintf(&fonts, "<font size=%d><p>", i)
	}
	s := scanner{window: fonts.Len() + 1, builder: &builder{}, filter: &filter{depth: maxOpen, formatting: maxOpen, check: true}}
	s.run([]byte(fonts.String()), true)
	if !s.builder.over() || s.builder.clones > maxClones+4*maxOpen {
		t.Errorf("%d clones were counted", s.builder.clones)
	}
}

// Hostile pages cost a bounded time for each of their bytes. The bound is far above what it takes.
func TestHostilePagesCostBoundedTime(t *testing.T) {
	if testing.Short() || raceEnabled {
		t.Skip("it measures time")
	}
	const size = 128 << 10
	fill := func(begin, format string) string {
		var b strings.Builder
		b.WriteString(begin)
		for i := 0; b.Len() < size; i++ {
			if strings.Contains(format, "%d") {
				fmt.Fprintf(&b, format, i)
			} else {
				b.WriteString(format)
			}
		}
		return b.String()
	}
	for name, page := range map[string]string{
		"fonts":                fill("", "<font size=%d><p>"),
		"out of sight":         fill(strings.Repeat("<b>", 1000), "<p></a>"),
		"deep paragraphs":      fill(strings.Repeat("<div>", 500), "<p></a>"),
		"deep items":           fill(strings.Repeat("<ul><li>", 240), "<li></b>"),
		"too deep":             fill("", "<div>"),
		"adopted":              fill("", "<b x=%d><div><div><div></b>"),
		"formatting in tables": fill("", "<table><b x=%d><td>"),
		"fonts at once":        fill(fill("", "<font size=%d>")[:6000], "<p>x"),
		"nobr":                 fill(strings.Repeat("<div>", 400), "<nobr><p>"),
	} {
		start := time.Now()
		d := NewDocument([]byte(page), DocumentOptions{URL: testPage})
		if _, err := d.Find("h1"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		took := time.Since(start)
		t.Logf("%s: %v, flattened %v", name, took, d.Flattened())
		if took > 30*time.Second {
			t.Errorf("%s: 128 KiB took %v", name, took)
		}
	}
}
