package extract_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/seine-go/seine/extract"
)

// What plugins write on millions of pages: everything names everything.
const articleGraph = `{"@context":"https://schema.org","@graph":[
	{"@type":"Article","@id":"https://x/a/#article","isPartOf":{"@id":"https://x/a/"},"headline":"Alien","mainEntityOfPage":{"@id":"https://x/a/"},"publisher":{"@id":"https://x/#organization"}},
	{"@type":"WebPage","@id":"https://x/a/","name":"Alien - X","isPartOf":{"@id":"https://x/#website"},"mainEntity":{"@id":"https://x/a/#article"}},
	{"@type":"WebSite","@id":"https://x/#website","publisher":{"@id":"https://x/#organization"}},
	{"@type":"Organization","@id":"https://x/#organization","name":"X","logo":{"@type":"ImageObject","@id":"https://x/#logo","url":"l.png"},"image":{"@id":"https://x/#logo"}}]}`

// Any value of structured data can be saved: what leads back stands as its id, and nothing else does.
func TestAnyIsATree(t *testing.T) {
	t.Parallel()
	type article struct {
		Article any            `extract:"ld=Article"`
		List    []any          `extract:"ld=Article"`
		Members map[string]any `extract:"ld=Article"`
	}
	v, err := extract.From[article](document(jsonLD(articleGraph)))
	if err != nil {
		t.Fatal(err)
	}
	at := func(v any, path ...string) any {
		for _, name := range path {
			o, _ := v.(map[string]any)
			v = o[name]
		}
		return v
	}
	for _, whole := range []any{v.Article, v.List[0], v.Members} {
		back := at(whole, "isPartOf", "mainEntity")
		if o, ok := back.(map[string]any); ok && len(o) > 1 { // Members are of the article, each by itself
			back = at(o, "isPartOf")
		}
		if o, ok := back.(map[string]any); !ok || len(o) != 1 || o["@id"] == nil {
			t.Errorf("%v", back)
		}
		for _, path := range []string{"publisher.name", "isPartOf.isPartOf.publisher.name", "mainEntityOfPage.isPartOf.publisher.name"} {
			if name := at(whole, strings.Split(path, ".")...); name != "X" {
				t.Errorf("%s: %v", path, name)
			}
		}
	}
	text, err := json.Marshal(v)
	if err != nil || len(text) > 10_000 {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	rules, err := extract.Compile[map[string]any](extract.Options{Rules: extract.Rules{"article": {Tag: "ld=Article ; type=any"}}})
	if err != nil {
		t.Fatal(err)
	}
	m, _, err := rules.Extract(t.Context(), document(jsonLD(articleGraph)))
	if err != nil || !reflect.DeepEqual(m["article"], v.Article) {
		t.Errorf("%v, %v", m, err)
	}
	if _, err := json.Marshal(m); err != nil {
		t.Error(err)
	}
}

// ring is a page with films of which each names the next.
func ring(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"@type":"Movie","@id":"#m%d","next":{"@id":"#m%d"}},`, i, (i+1)%n)
	}
	return jsonLD(`{"@graph":[` + b.String() + `]}`)
}

// References are followed sixteen deep and no deeper.
func TestReferencesInAny(t *testing.T) {
	t.Parallel()
	type film struct {
		Film any `extract:"ld=Movie"`
	}
	for n, want := range map[int]int{1: 1, 2: 2, 16: 16, 17: 16, 1000: 16} {
		v, err := extract.From[film](document(ring(n)))
		depth := 0
		for o, _ := v.Film.(map[string]any); o["@type"] == "Movie"; o, _ = o["next"].(map[string]any) {
			depth++
		}
		if err != nil || depth != want {
			t.Errorf("%d films: %d deep, want %d; %v", n, depth, want, err)
		}
	}
}

// What is copied counts.
func TestAnyIsBounded(t *testing.T) {
	type films struct {
		Films []any `extract:"ld=Movie"`
	}
	cost := func(n, steps int) (uint64, int, error) {
		doc := document(ring(n))
		_, _ = doc.Structured()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		v, _, err := extract.MustCompile[films](extract.Options{MaxSteps: steps}).Extract(t.Context(), doc)
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc, len(v.Films), err
	}
	few, n, err := cost(250, 0)
	if err != nil || n != 250 {
		t.Errorf("%d, %v", n, err)
	}
	if many, n, err := cost(1000, 0); err != nil || n != 1000 || many > 6*few {
		t.Errorf("%d bytes for 250 films, %d for 1,000; %d, %v", few, many, n, err)
	}
	if bytes, n, err := cost(2000, 1_000_000); !errors.As(err, new(*extract.StepsError)) || n == 0 || bytes > 20<<20 {
		t.Errorf("%d bytes, %d films, %v", bytes, n, err)
	}
	if _, n, err := cost(12, 1_000_000); err != nil || n != 12 {
		t.Errorf("%d, %v", n, err)
	}
}
