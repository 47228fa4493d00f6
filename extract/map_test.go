package extract_test

import (
	"fmt"
	"testing"

	"github.com/seine-go/seine/extract"
)

// What a map lacks of its rows is told; a source that heals it is the one that counts, and the fault of the other no more than told.
func TestMapsTell(t *testing.T) {
	t.Parallel()
	type table struct {
		M map[string]int `extract:"css=.x tr || css=.y tr ; key='css=th' ; value='css=td'"`
	}
	for _, tt := range []struct {
		name, page, want string
		status           extract.Status
		index            int
		failed           bool
	}{
		{"whole", "<table class=x><tr><th>a<td>5</table>", "map[a:5] <nil>", extract.OK, 0, false},
		{"healed", "<table class=x><tr><th>a<td>n/a</table><table class=y><tr><th>a<td>5</table>", "map[a:5] \"a\": \"n/a\" is not a number", extract.OK, 1, false},
		{"broken", "<table class=x><tr><th>a<td>n/a</table>", "map[] \"a\": \"n/a\" is not a number", extract.ConvertFailed, -1, true},
		{"a key twice", "<table class=x><tr><th>a<td>5<tr><th>a<td>6</table>", "map[a:5] \"a\" stands twice", extract.Ambiguous, 0, false},
		{"no value", "<table class=x><tr><th>a<td>5<tr><th>b</table>", "map[a:5] \"b\" has no value", extract.OK, 0, false},
		{"nothing", "", "map[] <nil>", extract.Missing, -1, false},
	} {
		v, r, err := extract.MustCompile[table](extract.Options{}).Extract(t.Context(), document(tt.page))
		f := r.Fields[0]
		if got := fmt.Sprint(v.M, " ", f.Err); got != tt.want || f.Status != tt.status || f.SourceIndex != tt.index || (err != nil) != tt.failed {
			t.Errorf("%s: %s, %s, source %d, %v", tt.name, got, f.Status, f.SourceIndex, err)
		}
	}
}

// A page cannot fill the keys of metrics with its texts.
func TestDriftOfMaps(t *testing.T) {
	t.Parallel()
	type row struct {
		V []struct {
			T string `extract:"css="`
		} `extract:"css=td"`
	}
	type table struct {
		M map[string]row `extract:"css=tr ; key='css=th'"`
	}
	var d extract.Drift
	for _, key := range []string{"a", `b]".x[`, `c\]`, "d[0]"} {
		_, r, err := extract.MustCompile[table](extract.Options{}).Extract(t.Context(), document("<table><tr><th>"+key+"<td>1<td>2</table>"))
		if err != nil {
			t.Fatal(err)
		}
		d.Add(r)
	}
	counts := d.Counts()
	if len(counts) != 3 || counts[extract.DriftKey{Field: "M"}] != 4 || counts[extract.DriftKey{Field: "M[*].V"}] != 4 || counts[extract.DriftKey{Field: "M[*].V.T"}] != 8 {
		t.Error(counts)
	}
}
