package island_test

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/seine-go/seine/extract/internal/island"
)

// inTree lists the scripts that the tree has, or false where tree and tokens may differ: foreign content, templates,
// framesets, select, and what stands in no element.
func inTree(page string) (scripts []string, ok bool) {
	lower := strings.ToLower(page)
	for _, word := range []string{"svg", "math", "template", "frameset", "select", "plaintext", "nul\x00", "\x00", "\r", "noscript"} {
		if strings.Contains(lower, "<"+word) || strings.Contains(lower, word) && len(word) == 1 {
			return nil, false
		}
	}
	root, err := html.ParseWithOptions(strings.NewReader(page), html.ParseOptionEnableScripting(false))
	if err != nil {
		return nil, false
	}
	for n := range root.Descendants() {
		if n.DataAtom != atom.Script {
			continue
		}
		text := ""
		if n.FirstChild != nil {
			text = n.FirstChild.Data
		}
		scripts = append(scripts, text)
	}
	return scripts, true
}

// The scripts are those of the tree.
func FuzzFind(f *testing.F) {
	for _, s := range []string{
		`<script>a</script>`, `<script id=x><!--<script>{}</script>--></script>`, `<!--><script>a</script><title></title/x>`, `<p a='>'b=">"c=x/><script/x>b</script `,
		`<style><script></style><script>x</script>`, `<!-- --!><script>1`, `<script><!--></script>-->`, `</script a='>'><script>2</script>`, `<a =x><script>`, `<!doctype ">"><script>`,
		"</0=\"><sCript >", `<? <script>a</script>`, `</><script>b</script>`, `</ x='><script>c</script>'>`, `</n="><script>d</script>">`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, page string) {
		want, ok := inTree(page)
		var got []string
		for _, s := range island.Find([]byte(page)) {
			got = append(got, string(s.Text))
		}
		if ok && !slices.Equal(got, want) {
			t.Fatalf("%q: %q, the tree has %q", page, got, want)
		}
	})
}
