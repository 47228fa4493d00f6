package jsonpath

import (
	"fmt"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/seine-go/seine/extract/jsonpath"
)

// best takes turns with functions and returns the best time of each, so that whoever else works on the machine counts
// little.
func best(turns int, functions ...func()) []time.Duration {
	times := make([]time.Duration, len(functions))
	for turn := range turns {
		for i, f := range functions {
			start := time.Now()
			f()
			if took := time.Since(start); turn == 0 || took < times[i] {
				times[i] = took
			}
		}
	}
	return times
}

func TestX(t *testing.T) {
	for _, where := range []string{"start", "middle", "end"} {
		doc := document(where)
		p := jsonpath.MustCompile("$.root.data.metadata.tags[15].version")
		d := best(3000,
			func() { p.First(doc) }, func() { gjson.GetBytes(doc, "root.data.metadata.tags.15.version") },
			func() { p.Find(doc) }, func() {
				if gjson.ValidBytes(doc) {
					gjson.GetBytes(doc, "root.data.metadata.tags.15.version")
				}
			})
		fmt.Println(where, d, float64(d[0])/float64(d[1]), float64(d[2])/float64(d[3]))
	}
}
