package extract_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/seine-go/seine/extract"
	"github.com/seine-go/seine/internal/growthtest"
)

// pieces returns what gives a piece as often as it fits into a size.
func pieces(before, piece, after string) func(int) string {
	return func(size int) string { return before + strings.Repeat(piece, size/len(piece)) + after }
}

func TestHostileScriptsAreLinear(t *testing.T) {
	t.Parallel()
	states := func(page string) {
		_ = extract.NewDocument([]byte(page), extract.DocumentOptions{Encoding: "utf-8"}).States()
	}
	for _, piece := range []string{
		"a={", "a=[", "a={b:\"", "a=['x=[',", "x=`", "'", "/*", "a=JSON.parse('", "<!--", "a={b=", "a=[1,", `\'`, "`\\", `"\"'`, "'\\\n", "/", "a['x']=", "=",
	} {
		growthtest.Linear(t, "script "+piece, pieces("<script>'", piece, "</script>"), states)
	}
	for _, piece := range []string{"<script", "<!--", "<!---->", "<!-- -->", "<!--!", "<!----!", "<!--x--!>", "<script>self.__next_f.push(</script>", "<script>self.__next_f.push([1,'</script>", "--", "<!-->", "<script>", "<a '", "<style>", "</", "<script><!--<script>", "<!x>", "<![CDATA["} {
		growthtest.Linear(t, "page "+piece, pieces("", piece, ""), states)
	}
}

// A schema gives many goroutines, each with a page of its own, what it gives each alone.
func TestSchemaIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	type lists struct {
		Sold bool     `extract:"xpath=//li/b = 'z'"`
		Same bool     `extract:"xpath=//li[2] = //li[3]"`
		P    []string `extract:"xpath=//li[b = 'x']"`
		Q    []string `extract:"xpath=//li[i = //h1] || css=li:has(~ li ~ .x)"`
		N    string   `extract:"xpath=string-join(//li/i, ' ')"`
		J    []any    `extract:"state=S$..[?@.a == 1].b"`
	}
	schema := extract.MustCompile[lists](extract.Options{})
	var wait sync.WaitGroup
	for g := range 8 {
		var b strings.Builder
		for i := range 5 + 3*g {
			fmt.Fprintf(&b, "<li>q%d<b>x</b><i>%d</i></li>", i*(g%2), g)
		}
		page := fmt.Sprintf("<h1>3</h1><ul>%s</ul><script>S={x:[{a:1,b:%d}]}</script>", b.String(), g)
		want, _, err := extract.MustCompile[lists](extract.Options{}).Extract(t.Context(), document(page))
		if err != nil {
			t.Fatal(err)
		}
		wait.Go(func() {
			for range 20 {
				if got, _, err := schema.Extract(t.Context(), document(page)); err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("%+v, %v, want %+v", got, err, want)
				}
			}
		})
	}
	wait.Wait()
}
