package extract_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/seine-go/seine/extract"
	"github.com/seine-go/seine/extract/jsonpath"
	"github.com/seine-go/seine/extract/xpath"
)

type reply struct {
	Text    string  `extract:"css=b"`
	Replies []reply `extract:"css=.r"`
}

// A type that holds itself makes of a small page twice as much with each element more. It ends with an error of its own, and
// what was filled stays.
func TestRecursiveTypesAreBounded(t *testing.T) {
	t.Parallel()
	page := strings.Repeat("<div class=r><b>x</b>", 60)
	got, report, err := extract.MustCompile[reply](extract.Options{MaxSteps: 1 << 20}).Extract(t.Context(), document(page))
	var over *extract.StepsError
	if !errors.As(err, &over) || over.Limit != 1<<20 || got.Text != "x" || len(got.Replies) == 0 || report.Err == nil {
		t.Errorf("%v, %d replies", err, len(got.Replies))
	}
	short := strings.Repeat("<div class=r><b>x</b>", 5)
	if got, _, err := extract.MustCompile[reply](extract.Options{}).Extract(t.Context(), document(short)); err != nil || len(got.Replies) != 5 {
		t.Errorf("%v, %d replies", err, len(got.Replies))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := extract.MustCompile[reply](extract.Options{MaxSteps: -1}).Extract(ctx, document(page)); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// What sources look at, and the texts that are taken, counts, whatever the kind of source.
func TestStepsAreCounted(t *testing.T) {
	t.Parallel()
	type css struct {
		V []string `extract:"css=div"`
	}
	type x struct {
		V []string `extract:"xpath=//br[count(preceding::br) > 5]"`
	}
	type state struct {
		V []any `extract:"state=S$..*..*..*"`
	}
	type joined struct {
		V string `extract:"css=div ; join=' '"`
	}
	page := strings.Repeat("<div>", 300) + strings.Repeat("some text<br>", 5000) + "<script>S=" + strings.Repeat("[", 300) + strings.Repeat("]", 300) + "</script>"
	o := extract.Options{MaxSteps: 200_000}
	for name, err := range map[string]error{
		"css": extracted(extract.MustCompile[css](o), page), "xpath": extracted(extract.MustCompile[x](o), page),
		"state": extracted(extract.MustCompile[state](o), page), "join": extracted(extract.MustCompile[joined](o), page),
	} {
		if !errors.As(err, new(*extract.StepsError)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := extracted(extract.MustCompile[x](o), page); !errors.Is(err, xpath.ErrSteps) {
		t.Errorf("%v", err)
	}
	if err := extracted(extract.MustCompile[state](o), page); !errors.Is(err, jsonpath.ErrSteps) {
		t.Errorf("%v", err)
	}
	last := error(nil)
	for _, report := range extract.MustCompile[reply](o).Each(t.Context(), document(page), "xpath=//br[count(preceding::br) > 5]") {
		last = report.Err
	}
	if !errors.Is(last, xpath.ErrSteps) {
		t.Errorf("each: %v", last)
	}
}

func extracted[T any](s *extract.Schema[T], page string) error {
	_, _, err := s.Extract(context.Background(), document(page))
	return err
}

// A field that is missing costs no more however large the place is in which it was looked for.
func TestMissingFieldsAreCheap(t *testing.T) {
	type inner struct {
		A, B, C, D string `extract:"json=$.missing"`
	}
	type outer struct {
		In inner `extract:"json=$..in"`
	}
	cost := func(n int) uint64 {
		doc := document(`{"in":{"b":"<x>","list":["` + strings.Repeat(`some text","`, n) + `"],"a":{"c":null}}}`)
		if _, err := doc.JSON(); err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, report, err := extract.MustCompile[outer](extract.Options{}).Extract(t.Context(), doc)
		runtime.ReadMemStats(&after)
		if f, _ := report.Field("In.A"); err != nil || !strings.HasPrefix(f.Snippet, `{"a":{"c":null},"b":"\u003cx\u003e","list":["some text",`) || len(f.Snippet) > 210 {
			t.Errorf("%v, %q", err, f.Snippet)
		}
		return after.TotalAlloc - before.TotalAlloc
	}
	cost(1)
	if few, many := cost(100), cost(100_000); many > 4*few+64<<10 && !extract.RaceEnabled {
		t.Errorf("%d bytes for a small object, %d for a large one", few, many)
	}
}

// What is handed out is the user's own: to change it changes no document.
func TestValuesAreTheUsersOwn(t *testing.T) {
	t.Parallel()
	type film struct {
		Any    any            `extract:"state=S$.a"`
		Map    map[string]any `extract:"state=S$.m"`
		LD     any            `extract:"ld=Movie"`
		Person any            `extract:"ld=Person"`
	}
	doc := document(`<script>S={a:[{b:1}],m:{x:{y:[1]}}}</script><script type="application/ld+json">
		[{"@type":"Movie","@id":"m","actor":{"@id":"p"}},{"@type":"Person","@id":"p","film":{"@id":"m"}}]</script>`)
	schema := extract.MustCompile[film](extract.Options{})
	first, _, err := schema.Extract(t.Context(), doc)
	if err != nil {
		t.Fatal(err)
	}
	person := first.LD.(map[string]any)["actor"].(map[string]any)
	if film := person["film"].(map[string]any); film["@id"] != "https://h/list/m" || len(film) != 1 {
		t.Errorf("%v", film)
	}
	clear(first.Any.([]any)[0].(map[string]any))
	clear(first.Map["x"].(map[string]any))
	clear(person)
	second, _, err := schema.Extract(t.Context(), doc)
	if err != nil || fmt.Sprint(second.Any, second.Map) != "[map[b:1]] map[x:map[y:[1]]]" || len(second.LD.(map[string]any)["actor"].(map[string]any)) != 3 || len(second.Person.(map[string]any)) != 3 {
		t.Errorf("%v, %v, %v", err, second.Any, second.Map)
	}
}

// What is taken of a page is all that is kept of it.
func TestValuesKeepNoPage(t *testing.T) {
	type film struct {
		Page string `extract:"re=/id=(\\d+)/"`
		Part string `extract:"css=p ; re=/id=(\\d+)/"`
	}
	schema := extract.MustCompile[film](extract.Options{})
	var kept []film
	var reports []*extract.Report
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC() // what pools hold goes with the second
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	for i := range 16 {
		v, report, err := schema.Extract(t.Context(), document(fmt.Sprintf("<p>%s id=%d</p>", strings.Repeat("text ", 200_000), i)))
		if err != nil || v.Page != fmt.Sprint(i) || v.Part != v.Page {
			t.Fatalf("%v, %v", v, err)
		}
		kept, reports = append(kept, v), append(reports, report)
	}
	if after := heap(); after > before+4<<20 {
		t.Errorf("%d KiB are kept for %d values", (after-before)>>10, len(kept))
	}
	runtime.KeepAlive(reports)
}
