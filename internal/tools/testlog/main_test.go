package main

import (
	"strings"
	"testing"
)

const events = `{"Action":"start","Package":"p"}
{"Action":"output","Package":"p","Test":"TestGood","Output":"=== RUN   TestGood\n"}
{"Action":"output","Package":"p","Test":"TestGood","Output":"noise\n"}
{"Action":"output","Package":"p","Test":"TestGood","Output":"conformance robots: 3/3\n"}
{"Action":"output","Package":"p","Test":"TestGood","Output":"shown first-crawl.6: 12 ms\n"}
{"Action":"pass","Package":"p","Test":"TestGood"}
{"Action":"output","Package":"p","Test":"TestBad","Output":"    a_test.go:7: wrong\n"}
{"Action":"output","Package":"p","Test":"TestBad","Output":"--- FAIL: TestBad (0.00s)\n"}
{"Action":"fail","Package":"p","Test":"TestBad"}
{"Action":"output","Package":"p","Test":"TestAway","Output":"    a_test.go:9: NAME is not set\n"}
{"Action":"skip","Package":"p","Test":"TestAway"}
{"Action":"output","Package":"p","Test":"TestHung","Output":"panic: test timed out\n"}
{"Action":"output","Package":"p","Output":"FAIL\tp\t0.1s\n"}
{"Action":"fail","Package":"p"}
{"ImportPath":"q","Action":"build-output","Output":"q.go:1: syntax error\n"}
{"Action":"output","Package":"r","Output":"ok  \tr\t0.2s\n"}
{"Action":"skip","Package":"none"}
go: warning: no events
`

func TestReport(t *testing.T) {
	t.Parallel()
	var out, whole strings.Builder
	if err := report(strings.NewReader(events), &out, &whole); err != nil {
		t.Fatal(err)
	}
	want := `conformance robots: 3/3
shown first-crawl.6: 12 ms
    a_test.go:7: wrong
--- FAIL: TestBad (0.00s)
FAIL	p	0.1s
panic: test timed out
q.go:1: syntax error
ok  	r	0.2s
go: warning: no events
skipped 1: NAME is not set
`
	if out.String() != want {
		t.Errorf("digest:\n%s\nwant:\n%s", out.String(), want)
	}
	for _, text := range []string{"noise\n", "=== RUN   TestGood\n", "shown first-crawl.6: 12 ms\n"} {
		if !strings.Contains(whole.String(), text) {
			t.Errorf("the whole log lacks %q", text)
		}
	}
}

func TestReportBoundsEachTest(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		lines int
		cut   bool
	}{
		{"at the bound", maxLines, false},
		{"one past it", maxLines + 1, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			in := strings.Repeat(`{"Action":"output","Package":"p","Test":"TestX","Output":"line\n"}`+"\n", tt.lines) +
				`{"Action":"fail","Package":"p","Test":"TestX"}` + "\n"
			var out, whole strings.Builder
			if err := report(strings.NewReader(in), &out, &whole); err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(out.String(), "line\n"); n != maxLines {
				t.Errorf("%d lines", n)
			}
			if cut := strings.Contains(out.String(), "... 1 more lines of p TestX in the log"); cut != tt.cut {
				t.Errorf("cut %v, want %v", cut, tt.cut)
			}
			if n := strings.Count(whole.String(), "line\n"); n != tt.lines {
				t.Errorf("the whole log has %d lines", n)
			}
		})
	}
}
