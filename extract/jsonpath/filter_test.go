package jsonpath_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/seine-go/seine/extract/jsonpath"
)

// Comparisons as the table of RFC 9535, section 2.3.5.3 has them, and some more of their kind.
func TestComparisons(t *testing.T) {
	t.Parallel()
	doc, err := jsonpath.Parse([]byte(`{"obj":{"x":"y"},"same":{"x":"y"},"arr":[2,3],"equal":[2.0,3],"t":true,"f":false,"null":null,"n":1e400}`))
	if err != nil {
		t.Fatal(err)
	}
	for comparison, want := range map[string]bool{
		"$.absent1 == $.absent2": true, "$.absent1 <= $.absent2": true, "$.absent1 >= $.absent2": true, "$.absent1 < $.absent2": false, "$.absent1 != $.absent2": false,
		"$.absent == 'g'": false, "$.absent != 'g'": true, "$.absent <= 'g'": false, "$.absent == null": false, "$.null == null": true, "$.null <= null": true, "$.null < null": false,
		"1 <= 2": true, "1 > 2": false, "13 == '13'": false, "'a' <= 'b'": true, "'a' > 'b'": false, "'ä' > 'z'": true, "1 < 'a'": false, "1 >= 'a'": false, "1.0 == 1": true, "-0 == 0": true, "-1 < 0.5": true, "-2 < -1": true,
		"$.obj == $.arr": false, "$.obj != $.arr": true, "$.obj == $.obj": true, "$.obj == $.same": true, "$.arr == $.arr": true, "$.arr == $.equal": true, "$.arr == $.arr[0]": false,
		"$.obj <= $.arr": false, "$.obj < $.arr": false, "$.obj <= $.obj": true, "$.arr <= $.arr": true, "$.arr >= $.obj": false, "$.arr > $.obj": false,
		"1 <= $.arr": false, "1 >= $.arr": false, "1 > $.arr": false, "1 < $.arr": false,
		"true <= true": true, "true > true": false, "$.t > $.f": false, "$.t >= $.f": false, "$.t == $.f": false, "true != 'true'": true,
		"$.n > 1": true, "1 > $.n": false, "$.n == $.n": true, "length($.arr) == 2": true, "length($.t) == $.absent": true, "count($.*) == 8": true, "value($..x) == $.absent": true, "value($.obj.*) == 'y'": true,
	} {
		if got := len(jsonpath.MustCompile("$[?" + comparison + "]").Select(doc)); (got > 0) != want {
			t.Errorf("%s: %d taken", comparison, got)
		}
	}
}

// Regular expressions are those of RFC 9485: match is for the whole text, and a dot is no line end.
func TestPatterns(t *testing.T) {
	t.Parallel()
	doc, err := jsonpath.Parse([]byte(`["a","ax","xa","b","a\n","a.",1,null,{"text":"ab","pattern":"a|b"},{"text":"b","pattern":"a|b"},{"text":"b"},{"text":"b","pattern":"("},{"pattern":"b"},{"text":"b","pattern":1}]`))
	if err != nil {
		t.Fatal(err)
	}
	for filter, want := range map[string]string{
		"match(@, 'a|b')": `["a" "b"]`, "match(@, 'a.')": `["a." "ax"]`, "match(@, 'a[.]')": `["a."]`, "match(@, 'a[x\\\\].]')": `["a." "ax"]`, "match(@, 'a\\\\.')": `["a."]`, "match(@, '')": "[]",
		"match(@, 'a)(x')": "[]", "match(@, '(')": "[]", "match(@, 1)": "[]", "match(@, @)": `["a" "a." "a\n" "ax" "b" "xa"]`, "search(@, 'a.')": `["a." "ax"]`, "search(@, 'x|b')": `["ax" "b" "xa"]`,
		"match(@.text, @.pattern)": `[{"pattern":"a|b","text":"b"}]`, "search(@.text, @.pattern)": `[{"pattern":"a|b","text":"ab"} {"pattern":"a|b","text":"b"}]`, "!match(@, '.')  && @ != null && @ != 1 && !@.*": `["a." "a\n" "ax" "xa"]`,
	} {
		if got := fmt.Sprint(sorted(jsonpath.MustCompile("$[?" + filter + "]").Select(doc))); got != want {
			t.Errorf("%s: %s, want %s", filter, got, want)
		}
	}
}

// What the document makes long costs steps: its patterns, its texts, its structures.
func TestFiltersTakeSteps(t *testing.T) {
	t.Parallel()
	classes, text := strings.Repeat(`\\PL`, 1000), strings.Repeat("ä", 100_000)
	doc, err := jsonpath.Parse([]byte(`{"patterns":["` + classes + `","` + classes + `x"],"text":"` + text + `"}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"$.patterns[?match('x', @)]", "$[?search(@, '(a?){30}b')]", "$[?match($.text, $.patterns[0])]"} {
		steps := 20_000
		if found, err := jsonpath.MustCompile(path).SelectWithin(doc, &steps); !errors.Is(err, jsonpath.ErrSteps) || found != nil {
			t.Errorf("%s: %d, %v, %d steps left", path, len(found), err, steps)
		}
	}
}
