package jsonpath_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	rfc "github.com/theory/jsonpath"

	"github.com/seine-go/seine/extract/jsonpath"
)

const library = `{"a":[{"b":1,"c":"x"},{"b":[2,"x",null],"c":"y"},{"c":"x\\"},{"c":null},"x",{"C":"x"}],"c":{"a":"xyz","c":"x"},"d":[[1,2],[3,[4,5,6,7]]],"":{"":1}}`

// expressions are paths of all kinds of selectors.
var expressions = []string{
	"$", "$.a[0]['b']", "$..*", "$..c", "$..[0]", "$..[0,-1,'c']", "$.*", "$[*]", "$.a[*].c", "$.a[1:9:-2]", "$.a[::-1]", "$.a[4:0:-3]", "$.a[1:3]", "$.a[::0]",
	"$.a[:9007199254740991:9007199254740991]", "$.a[::-9007199254740991]", "$[?@.a == 'x' && !@.b]", "$[?length(@) > 1]", "$..[?match(@, '[a-z]+')]", "$..[?search(@, $.c.c)]", "$['']['']",
	"$.a[?@.c == 'x']", "$.a[?@.c != 'x']", "$.a[?(@.c == 'x')]", "$.a[?!(@.c == 'x')]", "$.a[?'x' == @.c]", "$.a[?@.c == 'x\\\\']", "$.a[?@['c'] == \"x\"]", "$.a[?@.c == 'x' || @.b == 1]",
	"$.a[?@.c == null]", "$.a[?@.b == 1]", "$..[?@.c == 'x'].c", "$[?@.c == 'x']", "$.a[?@.é == 'x']", "$.a[?@.c == '\"']", "$.a[?@ == 'x']", "$.a[?$.c.c == 'x']", "$.a[?@.c <= 'x']", "$.d..[?@>2]",
	"$.a[?@.c]", "$.a[?!@.c]", "$.a[?@.*]", "$..[?@..b]", "$.a[?!(@.b == 1 || @.b) && @.c]", "$[?@[?@.c == 'x' && @.b]]", "$.a[?@.b == @.c]", "$.a[?@ != $.c]", "$.a[?@.b[-1] == null]", "$[?@.a == true]", "$..[?@ > 1.5e0]",
	"$.a[?length(@.c) == 1]", "$.a[?count(@.*) > 1]", "$.a[?count(@[?@ == 'x']) >= 1]", "$..[?value(@..['c']) == 'x']", "$[?length(value(@['\\u00ff\"\\n'])) == 1]", "$.a[?count($.d[*][0:1]) == 2]", "$..[?@ == -0]", "$.a[?@.b == $.a[1].b]",
}

// otherwise are the paths of which the parser's package has results of its own, so that they are only run: what is neither a
// literal number nor a literal text has an order there, and its regular expressions are not kept apart from their anchors.
var otherwise = regexp.MustCompile(`match|search|[<>]=?\s*[^-0-9'"=\s]`)

// sameSelection holds that a path selects what the parser's package selects of the document. The members of objects have no order.
func sameSelection(t *testing.T, path string, doc any) {
	t.Helper()
	p, err := jsonpath.Compile(path)
	peer, perr := rfc.Parse(path)
	if (err == nil) != (perr == nil) {
		t.Fatalf("%q: %v, not %v", path, err, perr)
	}
	if err != nil {
		return
	}
	if otherwise.MatchString(path) {
		p.Select(doc)
		return
	}
	if got, want := sorted(p.Select(doc)), sorted(peer.Select(doc)); !slices.Equal(got, want) {
		t.Errorf("%q: %s, not %s", path, got, want)
	}
}

func sorted(values []any) []string {
	texts := make([]string, len(values))
	for i, v := range values {
		text, _ := json.Marshal(v)
		texts[i] = string(text)
	}
	slices.Sort(texts)
	return texts
}

func TestSelectEqualsTheParsersPackage(t *testing.T) {
	t.Parallel()
	doc, err := jsonpath.Parse([]byte(library))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range expressions {
		sameSelection(t, path, doc)
	}
}

// FuzzCompile holds that no path panics, nor does what it selects, and that it selects what the parser's package does.
func FuzzCompile(f *testing.F) {
	for _, path := range expressions {
		f.Add(path)
	}
	doc, _ := jsonpath.Parse([]byte(library))
	f.Fuzz(func(t *testing.T, path string) {
		if len(path) <= jsonpath.MaxPath {
			sameSelection(t, path, doc)
		}
	})
}

// Numbers keep their digits in comparisons.
func TestFiltersCompareLargeNumbers(t *testing.T) {
	t.Parallel()
	doc, err := jsonpath.Parse([]byte(`[{"id":9007199254740993,"in":{"n":-5}},{"id":9007199254740992},{"id":-9007199254740993},{"id":92233720368547758089},{"id":1.5},{"id":"x"},{}]`))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"$[?@.id == 9007199254740992].id":  `[9007199254740992]`,
		"$[?@.id == 9007199254740993].id":  `[9007199254740993]`,
		"$[?@.id >  9007199254740992].id":  `[9007199254740993 92233720368547758089]`,
		"$[?@.id <  9007199254740993].id":  `[-9007199254740993 1.5 9007199254740992]`,
		"$[?@.id >= 9223372036854775807]":  `[{"id":92233720368547758089}]`,
		"$[?@.id <= -9007199254740993].id": `[-9007199254740993]`,
		"$[?@.in.n == -5].id":              `[9007199254740993]`,
		"$[?@.id != 9007199254740992].id":  `["x" -9007199254740993 1.5 9007199254740993 92233720368547758089]`,
		"$..[?@ == 9007199254740993]":      `[9007199254740993]`,
	} {
		if got := fmt.Sprint(sorted(jsonpath.MustCompile(path).Select(doc))); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

// What would take too many steps is an error; as many as there are may be taken.
func TestSteps(t *testing.T) {
	t.Parallel()
	nested, err := jsonpath.Parse([]byte(strings.Repeat("[", 400) + strings.Repeat("]", 400)))
	if err != nil {
		t.Fatal(err)
	}
	list, err := jsonpath.Parse([]byte("[" + strings.Repeat("1,", 3000) + "1]"))
	if err != nil {
		t.Fatal(err)
	}
	for path, doc := range map[string]any{"$..*..*": nested, "$..*..*..*": nested, "$[?count($..*) > 1]": list, "$..[?@..*]": nested, "$[?$ == $]": list} {
		steps := 50_000
		if found, err := jsonpath.MustCompile(path).SelectWithin(doc, &steps); !errors.Is(err, jsonpath.ErrSteps) || found != nil {
			t.Errorf("%s: %d, %v, %d steps left", path, len(found), err, steps)
		}
	}
	p, left := jsonpath.MustCompile("$[*]"), 1<<20
	if _, err := p.SelectWithin(list, &left); err != nil {
		t.Fatal(err)
	}
	needed := 1<<20 - left
	for steps, want := range map[int]error{needed: nil, needed - 1: jsonpath.ErrSteps} {
		if _, err := p.SelectWithin(list, &steps); err != want {
			t.Errorf("%d steps of %d: %v", steps, needed, err)
		}
	}
}
