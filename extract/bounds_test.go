package extract

import (
	"fmt"
	"strings"
	"testing"
)

func TestMaxLinks(t *testing.T) {
	t.Parallel()
	page := strings.Repeat("<a href=x><a href=mailto:x><a href=magnet:x><a href=http://[>", 5)
	for _, test := range []struct{ max, links, cut, magnets, hintsCut int }{
		{4, 4, 1, 4, 1}, {5, 5, 0, 5, 0}, {6, 5, 0, 5, 0}, {-1, 5, 0, 5, 0}, {0, 5, 0, 5, 0}, {1, 1, 4, 1, 4},
	} {
		h, _ := scanned(t, page, ScanOptions{MaxLinks: test.max})
		// Behind the last link that is kept, references are not resolved any more: those that are no URLs count as cut.
		if len(h.Links) != test.links || len(h.Magnets) != test.magnets || h.HintsCut != test.hintsCut || h.LinksCut < test.cut || test.cut == 0 && h.LinksCut > 1 {
			t.Errorf("max %d: %d links, %d cut, %d magnets, %d cut", test.max, len(h.Links), h.LinksCut, len(h.Magnets), h.HintsCut)
		}
	}
	page = strings.Repeat("<a href=x>", DefaultMaxLinks)
	if h, _ := scanned(t, page, ScanOptions{}); len(h.Links) != DefaultMaxLinks || h.LinksCut != 0 {
		t.Errorf("%d links, %d cut", len(h.Links), h.LinksCut)
	}
	if h, _ := scanned(t, page+"<a href=y>", ScanOptions{}); len(h.Links) != DefaultMaxLinks || h.LinksCut != 1 {
		t.Errorf("%d links, %d cut", len(h.Links), h.LinksCut)
	}
}

func TestListsAreBounded(t *testing.T) {
	t.Parallel()
	repeat := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	tests := []struct {
		name string
		page func(n int) string
		size func(*Hints) (kept, cut int)
		max  int
	}{
		{"images", func(n int) string { return repeat(n, "<img src=%d>") }, func(h *Hints) (int, int) { return len(h.Images), h.HintsCut }, 100},
		{"feeds", func(n int) string { return repeat(n, "<link rel=feed href=%d>") }, func(h *Hints) (int, int) { return len(h.Feeds), h.HintsCut }, 100},
		{"alternates", func(n int) string { return repeat(n, "<link rel=alternate hreflang=l%[1]d href=%[1]d>") }, func(h *Hints) (int, int) { return len(h.Alternates), h.HintsCut }, 100},
		{"usage", func(n int) string { return repeat(n, "<meta name=tdm-policy content=%d>") }, func(h *Hints) (int, int) { return len(h.Usage), h.HintsCut }, 100},
		{"robots", func(n int) string { return "<meta name=robots content='" + repeat(n, "d%d,") + "'>" }, func(h *Hints) (int, int) { return len(h.Robots), h.HintsCut }, maxDirectives},
		{"candidates", func(n int) string { return "<img srcset='" + repeat(n, "%d 1x,") + "'>" }, func(h *Hints) (int, int) { return len(h.Images), h.HintsCut }, maxCandidates},
		{"skipped", func(n int) string { return repeat(n, "<a href=http://[%d>") }, func(h *Hints) (int, int) { return len(h.Skipped), h.SkippedCut }, MaxSkips},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			for over := range 2 {
				h, _ := scanned(t, test.page(test.max+over), ScanOptions{Want: WantAll, MaxLinks: 100})
				if kept, cut := test.size(h); kept != test.max || cut != over {
					t.Errorf("of %d, %d are kept and %d cut", test.max+over, kept, cut)
				}
			}
		})
	}
}

func TestURLsOfAWindowAreBounded(t *testing.T) {
	t.Parallel()
	base := "https://h/" + strings.Repeat("d/", 30<<10)
	page := strings.Repeat("<a href=x>", 1000)
	h, _ := scanned(t, page, ScanOptions{URL: base})
	if n := len(h.Links); n != maxURLBytes/(len(base)+1)+1 || n+h.LinksCut != 1000 {
		t.Errorf("%d links, %d cut", n, h.LinksCut)
	}
}

func TestLongTagIsSkipped(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		before string
		size   int
		links  int
	}{
		{"at the window", "", Window, 2},
		{"one past", "", Window + 1, 1},
		{"far past", "", 3 * Window, 1},
		{"not at the start", "<p>text", Window, 2},
		{"one past, not at the start", "<p>text", Window + 1, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			tag := `<a href=1 title='"` + strings.Repeat("<>", test.size)
			tag = tag[:test.size-len("'>")] + "'>"
			page := test.before + tag + "<a href=2>"
			h, _ := scanned(t, page, ScanOptions{})
			if len(h.Links) != test.links || len(h.Skipped) != 2-test.links {
				t.Errorf("%d links, skipped %.100q", len(h.Links), h.Skipped)
			}
			streamed := 0
			s, err := ScanReader(strings.NewReader(page), ScanOptions{URL: "https://h/"}, func(Link) bool { streamed++; return true })
			if err != nil || streamed != test.links || len(s.Skipped) != len(h.Skipped) {
				t.Errorf("streamed: %d links, %v", streamed, err)
			}
		})
	}
}

func TestLongTagEndsWhereItEnds(t *testing.T) {
	t.Parallel()
	for _, tag := range []string{
		`<a x="'>" y='">' href=1>`, `<a =">" href=1>`, `<a b = ">" c=>`, `<a b=x'">`, `<a / b/c=">">`, `</a x=">">`, `<a b "=">">`,
		`<ab'c"=>`, `<a b=/>`, `<a b='>'c=">"/>`, `<script x=">">`, `<a b==">">`, `<a/=">`,
	} {
		end := tagEnd([]byte(tag), nameEnd([]byte(tag), 2))
		var long longTag
		if got := long.next([]byte(tag[nameEnd([]byte(tag), 2):])); got+nameEnd([]byte(tag), 2) != end {
			t.Errorf("%s: %d, want %d", tag, got, end)
		}
		for cut := nameEnd([]byte(tag), 2); cut < end; cut++ {
			long = longTag{}
			from := nameEnd([]byte(tag), 2)
			if n := long.next([]byte(tag[from:cut])); n >= 0 {
				t.Fatalf("%s cut at %d ends at %d", tag, cut, n)
			}
			if n := long.next([]byte(tag[cut:])); n+cut != end {
				t.Errorf("%s cut at %d: %d, want %d", tag, cut, n+cut, end)
			}
		}
	}
}
