package jsonpath

import (
	"fmt"
	"testing"
	"time"

	"github.com/ohler55/ojg/jp"
	"github.com/ohler55/ojg/oj"
	"github.com/tidwall/gjson"

	"github.com/seine-go/seine/extract/jsonpath"
)

// Bars of the comparison.
const (
	mostOfGet   = 1.2 // times what gjson takes that does not validate
	mostOfValid = 1.0 // times what gjson takes to validate and get
	mostOfJP    = 1.0 // times what the peer takes for a path that is not definite
)

const (
	definite = "$.root.data.metadata.tags[15].version"
	gjsonWay = "root.data.metadata.tags.15.version"
)

// indefinite are paths of all kinds of selectors, and how many values they select of the episodes.
var indefinite = map[string]int{
	"$.data.episodes[*]": 1000, "$.data.episodes[*].url": 1000, "$.data.episodes[*]['url','title']": 2000, "$.data.episodes[1,5,-1].url": 3, "$..url": 1000, "$..*": 5002, "$..[0].url": 1,
	"$.data.episodes[10:900:3].status": 297, "$.data.episodes[::-1].url": 1000, "$.data.episodes[:10].url": 10,
	"$.data.episodes[?(@.status == 'available')].url": 500, "$..[?@.status == 'available']": 500, "$.data.episodes[?@.status == null].url": 0, "$.data.episodes[?@.status == @.title].url": 0, "$.data.episodes[?@.title > 'Episode 5'].url": 554,
	"$.data.episodes[?@.number > 10].url": 989, "$.data.episodes[?@.number > 10.5].url": 989, "$.data.episodes[?@.number > 10 && @.status == 'available'].url": 494, "$.data.episodes[?@.number < 10 || @.number > 900].url": 109,
	"$.data.episodes[?(@.number > 10 && !(@.status == 'available'))].url": 495, "$.data.episodes[?@.number == $.data.episodes[3].number].url": 1, "$.data.episodes[?@.url].url": 1000, "$.data.episodes[?!@.x].url": 1000, "$.data.episodes[?@.*].url": 1000,
	"$.data.episodes[?@..url].url": 1000, "$.data.episodes[?length(@.title) > 9].url": 990, "$.data.episodes[?count(@.*) > 3].url": 1000, "$.data.episodes[?search(@.title, '1')].url": 271,
}

// side is what is measured: the same as another does.
type side struct {
	name string
	f    func() bool // whether it has found the value
}

// definitePath are the ways to look one up in a document: ours and gjson's, unvalidated and validated.
func definitePath(doc []byte) []side {
	p := jsonpath.MustCompile(definite)
	return []side{
		{"First", func() bool { raw, _ := p.First(doc); return string(raw) == `"1.15.0"` }},
		{"gjson", func() bool { return gjson.GetBytes(doc, gjsonWay).Raw == `"1.15.0"` }},
		{"Find", func() bool { raw, _, err := p.Find(doc); return err == nil && string(raw) == `"1.15.0"` }},
		{"gjsonValid", func() bool { return gjson.ValidBytes(doc) && gjson.GetBytes(doc, gjsonWay).Raw == `"1.15.0"` }},
	}
}

// anyPath are the ways to take an indefinite path, each on values as its own parser makes them.
func anyPath(t testing.TB, doc []byte, path string, results int) []side {
	t.Helper()
	ours, theirs := jsonpath.MustCompile(path), jp.MustParseString(path)
	tree, err := jsonpath.Parse(doc)
	if err != nil {
		t.Fatal(err)
	}
	peer, err := oj.Parse(doc)
	if err != nil {
		t.Fatal(err)
	}
	return []side{
		{"Select", func() bool { return len(ours.Select(tree)) == results }},
		{"jp", func() bool { return len(theirs.Get(peer)) == results }},
	}
}

// TestPathsBeside measures in turns and compares the best of each, so that whoever else works on the machine counts little.
func TestPathsBeside(t *testing.T) {
	if testing.Short() || raceDetector {
		t.Skip("a measurement, for a run of its own without the race detector")
	}
	get, valid, text := 0.0, 0.0, ""
	for _, where := range []string{"start", "middle", "end"} {
		sides := definitePath(document(where))
		took := best(t, 2000, sides)
		first, find := ratio(took[0], took[1]), ratio(took[2], took[3])
		get, valid = max(get, first), max(valid, find)
		text += fmt.Sprintf("%s %v = %.2f, validated %v = %.2f; ", where, took[0], first, took[2], find)
		for _, s := range []side{sides[0], sides[2]} {
			if n := testing.AllocsPerRun(10, func() { s.f() }); n != 0 {
				t.Errorf("%s: %s allocates %v times", where, s.name, n)
			}
		}
	}
	if get > mostOfGet || valid > mostOfValid {
		t.Errorf("definite path beside gjson: %s(bars %.1f and %.1f)", text, mostOfGet, mostOfValid)
	}
	worst, which := 0.0, ""
	for path, results := range indefinite {
		took := best(t, 300, anyPath(t, episodes(), path, results))
		r := ratio(took[0], took[1])
		if r > worst {
			worst, which = r, fmt.Sprintf("%s %v", path, took[0])
		}
		if r > mostOfJP {
			t.Errorf("%s takes %v, %.2f of ojg's %v", path, took[0], r, took[1])
		}
	}
	if !t.Failed() {
		fmt.Printf("shown extraction.3: definite path beside gjson: %s0 allocations; %d paths beside ojg's jp, the slowest %s = %.2f\n", text, len(indefinite), which, worst)
	}
}

func ratio(a, b time.Duration) float64 { return float64(a) / float64(b) }

// best takes turns, for half a second but 30 at least, and returns the best time of each side.
func best(t *testing.T, turns int, sides []side) []time.Duration {
	t.Helper()
	times, begun := make([]time.Duration, len(sides)), time.Now()
	for turn := range turns {
		if turn >= 30 && time.Since(begun) > time.Second/2 {
			break
		}
		for i, s := range sides {
			start := time.Now()
			found := s.f()
			if took := time.Since(start); turn == 0 || took < times[i] {
				times[i] = took
			}
			if !found {
				t.Fatalf("%s has not found it", s.name)
			}
		}
	}
	return times
}

func BenchmarkDefinitePath(b *testing.B) {
	for _, where := range []string{"start", "middle", "end"} {
		for _, s := range definitePath(document(where)) {
			b.Run(where+"/"+s.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					s.f()
				}
			})
		}
	}
}

func BenchmarkSelect(b *testing.B) {
	for _, s := range anyPath(b, episodes(), "$.data.episodes[?(@.status == 'available')].url", 500) {
		b.Run(s.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s.f()
			}
		})
	}
}
