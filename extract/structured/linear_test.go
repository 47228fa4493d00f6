package structured_test

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/seine-go/seine/extract/structured"
	"github.com/seine-go/seine/internal/growthtest"
)

// What pages put together out of many names, types and references costs what it is long.
func TestHostileDataIsLinear(t *testing.T) {
	t.Parallel()
	many := func(before, format, after string) func(int) string {
		return func(size int) string {
			var b strings.Builder
			b.WriteString(before)
			for i := 0; b.Len() < size; i++ {
				fmt.Fprintf(&b, format, i)
			}
			return b.String() + after
		}
	}
	read := func(page string) *structured.Data {
		root, err := html.Parse(strings.NewReader(page))
		if err != nil {
			t.Fatal(err)
		}
		return structured.Read(root, structured.Options{})
	}
	growthtest.Linear(t, "itemprop", many("<div itemscope><b itemprop='", "a%d ", "'>x</b></div>"), func(page string) { read(page) })
	growthtest.Linear(t, "itemtype", many("<div itemscope itemtype='", "a%d ", "'>x</div>"), func(page string) { read(page) })
	growthtest.Linear(t, "references", func(size int) string {
		list := func(id string) string { return strings.Repeat(`{"@id":"`+id+`"},`, size/40) + "{}" }
		return `<script type="application/ld+json">[{"@type":"TVSeries","season":[` + list("#s") + `]},{"@id":"#s","episode":[` + list("#e") + `]},{"@id":"#e","x":1}]</script>`
	}, func(page string) {
		if v, ok := read(page).Find("TVSeries.season.episode.name"); ok {
			t.Errorf("%v", v)
		}
	})
}
