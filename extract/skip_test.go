package extract_test

import (
	"testing"

	"github.com/seine-go/seine/extract"
)

// A reference that is none costs a list that says so nothing but that reference.
func TestSkip(t *testing.T) {
	t.Parallel()
	const page = `<a href=/1>x</a><a href="http://[bad">x</a><a href=/2>x</a><b href="http://[">y</b>`
	for _, tt := range []struct {
		tag    string
		n      int
		status extract.Status
		failed bool
	}{
		{"css=a@href ; url ; skip", 2, extract.OK, false},
		{"css=a@href ; url", 2, extract.ConvertFailed, true},
		{"css=b@href ; url ; skip", 0, extract.ConvertFailed, true},
		{"css=b@href || css=a@href ; url ; skip", 2, extract.OK, false},
		{"css=a@href || css=b@href ; url ; skip ; all", 2, extract.OK, false},
		{"css=i@href ; url ; skip", 0, extract.Missing, false},
	} {
		type links struct{ L []string }
		s, err := extract.Compile[links](extract.Options{Rules: extract.Rules{"L": {Tag: tt.tag}}})
		if err != nil {
			t.Fatal(err)
		}
		v, r, err := s.Extract(t.Context(), document(page))
		f := r.Fields[0]
		if len(v.L) != tt.n || f.Status != tt.status || (err != nil) != tt.failed || (f.Err == nil) != (f.Status == extract.Missing) {
			t.Errorf("%s: %q, %+v, %v", tt.tag, v.L, f, err)
		}
	}
	for _, tag := range []string{"css=a ; skip ; all=1", "css=a ; skip ; skip"} {
		if _, err := extract.Compile[struct{ L []string }](extract.Options{Rules: extract.Rules{"L": {Tag: tag}}}); err == nil {
			t.Errorf("%s is taken", tag)
		}
	}
	if _, err := extract.Compile[struct{ L string }](extract.Options{Rules: extract.Rules{"L": {Tag: "css=a ; skip"}}}); err == nil {
		t.Error("skip of a text is taken")
	}
}
