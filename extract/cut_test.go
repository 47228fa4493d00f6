package extract_test

import (
	"strings"
	"testing"

	"github.com/seine-go/seine/extract"
)

// What does not fit is an error, never a shorter value.
func TestNothingIsCutSilently(t *testing.T) {
	t.Parallel()
	type patterns struct {
		L []string `extract:"re=/tt\\d+/"`
	}
	type magnets struct {
		L []string `extract:"magnet="`
	}
	ids, links := strings.Repeat("tt1 ", 10), ""
	for i := range 10 {
		links += "magnet:?xt=urn:btih:" + strings.Repeat(string(rune('a'+i)), 40) + " "
	}
	for _, most := range []int{9, 10, -1} {
		p, _, err := extract.MustCompile[patterns](extract.Options{MaxItems: most}).Extract(t.Context(), document(ids))
		if want := min(uint(10), uint(most)); uint(len(p.L)) != want || (err != nil) != (most == 9) {
			t.Errorf("patterns, at most %d: %d, %v", most, len(p.L), err)
		}
		m, _, err := extract.MustCompile[magnets](extract.Options{MaxItems: most}).Extract(t.Context(), document(links))
		if want := min(uint(10), uint(most)); uint(len(m.L)) != want || (err != nil) != (most == 9) {
			t.Errorf("magnets, at most %d: %d, %v", most, len(m.L), err)
		}
	}
}

func TestHTMLOfElements(t *testing.T) {
	t.Parallel()
	type film struct {
		Inner string `extract:"css=article@html"`
		Outer string `extract:"css=article@outer"`
	}
	for _, tt := range []struct{ page, inner string }{
		{"a<svg viewBox=\"0 0 1 1\"><source a=\"b\">x</source></svg><p>rest</p>", ""},
		{"<svg><g><link>x</link><script>a&lt;b</script></g></svg><pre>\n\na</pre><br/>rest", ""},
		{"<script>a<b</script><math><meta>x</meta></math>rest", "<script>a<b</script><math></math><meta/>xrest"},
		{"plain<br/>", ""},
	} {
		if tt.inner == "" {
			tt.inner = tt.page
		}
		v, err := extract.From[film](document("<article>" + tt.page + "</article>"))
		if err != nil || v.Inner != tt.inner || v.Outer != "<article>"+tt.inner+"</article>" {
			t.Errorf("%s: %q, %q, %v", tt.page, v.Inner, v.Outer, err)
		}
	}
	const most = 16 << 20
	for _, more := range []int{0, 1} {
		page := "<article>" + strings.Repeat("x", most+more) + "</article>"
		v, err := extract.From[struct {
			Inner string `extract:"css=article@html"`
		}](document(page))
		if (err != nil) != (more > 0) || (len(v.Inner) != most) != (more > 0) {
			t.Errorf("%d bytes beyond: %d, %.99v", more, len(v.Inner), err)
		}
	}
}

func TestMagnetsWithBrackets(t *testing.T) {
	t.Parallel()
	const hash = "magnet:?xt=urn:btih:c12fe1c06bba254a9dc9f519b335aa7c1367a88a"
	for page, want := range map[string]string{
		hash + "&dn=[Group]Title[1080p] x":  hash + "&dn=[Group]Title[1080p]",
		"[" + hash + "&dn=a]":               hash + "&dn=a",
		"[url=" + hash + "&dn=a]x[/url]":    hash + "&dn=a",
		hash + "&dn=a[/url]":                hash + "&dn=a",
		hash + "&dn=a[b":                    hash + "&dn=a",
		hash + "[1]":                        hash,
		"[url=" + hash + "&dn=[A]b]x[/url]": hash + "&dn=[A]b",
	} {
		v, err := extract.From[struct {
			M string `extract:"magnet="`
		}](document(page))
		if err != nil || v.M != want {
			t.Errorf("%s: %q, %v", page, v.M, err)
		}
	}
}
