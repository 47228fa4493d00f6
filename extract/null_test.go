package extract_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/seine-go/seine/extract"
)

// A null keeps its place in lists that can hold it, and is told of where it is left out, so that lists that stand side by side do
// not mix their values unseen.
func TestNullsInLists(t *testing.T) {
	t.Parallel()
	type row struct {
		T string `extract:"json=$.t"`
	}
	type lists struct {
		Any    []any     `extract:"json=$.t"`
		Ptr    []*string `extract:"json=$.f[*].t"`
		Rows   []*row    `extract:"json=$.f2"`
		Texts  []string  `extract:"json=$.t"`
		Ints   []int     `extract:"json=$.y"`
		Values []row     `extract:"json=$.f2"`
		Set    []any     `extract:"json=$.t ; all"`
		Full   []int     `extract:"json=$.full"`
		Next   []any     `extract:"json=$.nulls || json=$.full"`
		One    *string   `extract:"json=$.nulls || json=$.t"`
		Whole  any       `extract:"json=$.null || json=$.t"`
		Joined string    `extract:"json=$.t ; join='+'"`
		None   []any     `extract:"json=$.nulls"`
	}
	const page = `{"t":["A",null,"C"],"f":[{"t":"A"},{"t":null},{"t":"C"}],"f2":[{"t":"A"},null,{"t":"C"}],"y":[1,null,3],"full":[1,2],"nulls":[null,null],"null":null}`
	v, r, err := extract.MustCompile[lists](extract.Options{}).Extract(t.Context(), document(page))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(v.Any, []any{"A", nil, "C"}) || len(v.Ptr) != 3 || v.Ptr[1] != nil || *v.Ptr[2] != "C" || len(v.Rows) != 3 || v.Rows[1] != nil || v.Rows[2].T != "C" {
		t.Errorf("%v, %v, %v", v.Any, v.Ptr, v.Rows)
	}
	if strings.TrimSpace(fmt.Sprintln(v.Texts, v.Ints, v.Values, v.Set, v.Full, v.Next, *v.One, v.Whole, v.Joined, v.None)) != "[A C] [1 3] [{A} {C}] [A C] [1 2] [1 2] A [A <nil> C] A+C []" {
		t.Errorf("%+v", v)
	}
	for _, f := range r.Fields {
		told := f.Path == "Texts" || f.Path == "Ints" || f.Path == "Values"
		if (f.Err != nil) != told || told && (f.Err.Error() != "1 of 3 values are null and were left out" || f.Status != extract.OK) || f.Path == "None" && f.Status != extract.Missing {
			t.Errorf("%+v", f)
		}
	}
}

// In structured data a null says that there is nothing.
func TestNullsOfStructuredData(t *testing.T) {
	t.Parallel()
	type film struct {
		Genres []any `extract:"ld=Movie.genre"`
	}
	v, err := extract.From[film](document(jsonLD(`{"@type":"Movie","genre":["A",null,"C"]}`)))
	if err != nil || !reflect.DeepEqual(v.Genres, []any{"A", "C"}) {
		t.Errorf("%v, %v", v, err)
	}
}

// Attributes of SVG are found by the names that the page has, with a tree and without.
func TestAttributesOfSVG(t *testing.T) {
	t.Parallel()
	type picture struct {
		Box  string `extract:"css=svg@viewBox"`
		Low  string `extract:"css=svg@viewbox"`
		Use  string `extract:"css=use@xlink:href"`
		Link string `extract:"css=svg a@href || css=svg a::attr(xlink:href)"`
		None string `extract:"css=use@href || css=use@x:href || css=use@link:href"`
	}
	page := document(`<svg viewBox="0 0 1 1"><use xlink:href="#star"></use><a xlink:href="/film/7">x</a></svg>`)
	for range 2 {
		if v, err := extract.From[picture](page); err != nil || v != (picture{"0 0 1 1", "0 0 1 1", "#star", "/film/7", ""}) {
			t.Errorf("%+v, %v", v, err)
		}
		if _, err := page.Tree(); err != nil {
			t.Fatal(err)
		}
	}
	if list, err := extract.Suggest(page, "#star"); err != nil || len(list) == 0 || !strings.HasSuffix(list[0].Source, "@xlink:href") {
		t.Errorf("%v, %v", list, err)
	}
}

// An element's own text has lines where its elements break them.
func TestOwnTextHasLines(t *testing.T) {
	t.Parallel()
	type texts struct {
		L []string `extract:"css=td@own"`
	}
	const page = "<table><tr><td>a<br>b<td>a<br> b<br>\nc<td>a<i>x</i>b<td>a<p>x</p>b<br><td>a <br>b<td><br>a<p></p></table>"
	v, err := extract.From[texts](document(page))
	if want := []string{"a\nb", "a\n b\n\nc", "ab", "a\nb", "a b", "a"}; err != nil || !reflect.DeepEqual(v.L, want) {
		t.Errorf("%q, %v, want %q", v.L, err, want)
	}
}
