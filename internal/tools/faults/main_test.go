package main

import (
	"strings"
	"testing"
	"testing/fstest"
)

func TestRun(t *testing.T) {
	t.Parallel()
	const source = "package p\n\nfunc TestA_K001(t *T) {}\nfunc FuzzB_K002(t *T) {}\nfunc TestNot_K1(t *T) {}\n"
	tests := []struct {
		name, table string
		want        []string // each in a line of its own; none: all is well
	}{
		{"complete", "| K001 | a fault | p: TestA_K001 |\n| K002 | b | `p: FuzzB_K002` |\n", nil},
		{"row missing", "| K001 | a | p: TestA_K001 |\n", []string{"missing: | K002 | ? | p: FuzzB_K002 |"}},
		{"second test missing", "| K001 | a | p: TestA_K001 |\n| K002 | b | q: TestB_K002 |\n", []string{"missing in the row of K002: p: FuzzB_K002", "no such test: q: TestB_K002"}},
		{"test of another fault", "| K001 | a | p: TestA_K001; p: FuzzB_K002 |\n| K002 | b | p: FuzzB_K002 |\n", []string{"is no test of K001"}},
		{"wrong folder", "| K001 | a | q: TestA_K001 |\n| K002 | b | p: FuzzB_K002 |\n", []string{"missing in the row of K001: p: TestA_K001", "no such test: q: TestA_K001"}},
		{"no words", "| K001 | ? | p: TestA_K001 |\n| K002 | b | p: FuzzB_K002 |\n", []string{"K001 does not say the fault"}},
		{"out of order", "| K002 | b | p: FuzzB_K002 |\n| K001 | a | p: TestA_K001 |\n", []string{"K001 stands after K002"}},
		{"broken row", "| K001 a | p: TestA_K001 |\n| K001 | a | p: TestA_K001 |\n| K002 | b | p: FuzzB_K002 |\n", []string{"docs/faults.md:1: not of the form"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			repo := fstest.MapFS{
				"p/p_test.go":          {Data: []byte(source)},
				"p/testdata/x_test.go": {Data: []byte("not Go")},
				"docs/faults.md":       {Data: []byte("# Faults\n\n| id | fault | test |\n|---|---|---|\n" + tt.table)},
			}
			if tt.name == "broken row" {
				repo["docs/faults.md"] = &fstest.MapFile{Data: []byte(tt.table)}
			}
			var out strings.Builder
			err := run(repo, &out)
			if (err != nil) != (tt.want != nil) {
				t.Errorf("error %v, output:\n%s", err, &out)
			}
			for _, want := range tt.want {
				if !strings.Contains(out.String(), want) {
					t.Errorf("output lacks %q:\n%s", want, &out)
				}
			}
		})
	}
}

func TestUpdate(t *testing.T) {
	t.Parallel()
	const before = "# Faults\n\n| id | fault | test |\n|---|---|---|\n| K002 | two | q: TestGone_K002 |\n| K003 | three | p: TestGone_K003 |\n\nafter\n"
	const want = "# Faults\n\n| id | fault | test |\n|---|---|---|\n| K001 | ? | p: TestA_K001 |\n| K002 | two | p: FuzzB_K002; p: TestB_K002 |\n\nafter\n"
	tests := []test{"p: TestB_K002", "p: TestA_K001", "p: FuzzB_K002"}
	if got := update(before, tests); got != want {
		t.Errorf("got:\n%s", got)
	}
	if got := update(want, tests); got != want {
		t.Errorf("a second time:\n%s", got)
	}
}
