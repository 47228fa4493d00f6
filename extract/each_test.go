package extract_test

import (
	"errors"
	"testing"

	"github.com/seine-go/seine/extract"
)

// What became of a scope is told, and is an error where the scope says so.
func TestEachIn(t *testing.T) {
	t.Parallel()
	type item struct {
		T string `extract:"css="`
	}
	s := extract.MustCompile[item](extract.Options{})
	for _, tt := range []struct {
		scope            string
		values, index, n int
		status           extract.Status
		failed           bool
	}{
		{"css=li", 2, 0, 2, extract.OK, false},
		{"css=p || css=li", 2, 1, 2, extract.OK, false},
		{"css=p || css=li ; required", 2, 1, 2, extract.OK, false},
		{"css=p", 0, -1, 0, extract.Missing, false},
		{"css=p ; required", 0, -1, 0, extract.Missing, true},
	} {
		report, values := s.EachIn(t.Context(), document(`<ul><li>a<li>b</ul>`), tt.scope)
		n := 0
		for range values {
			n++
		}
		f, _ := report.Field(extract.ScopePath)
		var missing *extract.FieldError
		if n != tt.values || f.SourceIndex != tt.index || f.Matched != tt.n || f.Status != tt.status || errors.As(report.Err, &missing) != tt.failed || (f.Snippet == "") != (n > 0) {
			t.Errorf("%s: %d values, %+v, %v", tt.scope, n, f, report.Err)
		}
	}
	for _, scope := range []string{"css=li ; required ; required", "css=li ; required=1", "css=li ; one"} {
		var fault *extract.TagError
		if report, _ := s.EachIn(t.Context(), document(""), scope); !errors.As(report.Err, &fault) || fault.Column == 0 {
			t.Errorf("%s: %v", scope, report.Err)
		}
	}
	n := 0
	for v, report := range s.Each(t.Context(), document("<p>"), "css=li ; required") {
		if n++; v.T != "" || report.Err == nil {
			t.Errorf("%v, %v", v, report.Err)
		}
	}
	if n != 1 {
		t.Errorf("%d values", n)
	}
}
