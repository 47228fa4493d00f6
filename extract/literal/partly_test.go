package literal_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/seine-go/seine/extract/literal"
)

func TestParsePartly(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text, want, rest string
		leftOut                int // where the first is, -1 without one
	}{
		{"whole", `{a:[1,{b:"c"}]};x`, `{"a":[1,{"b":"c"}]}`, ";x", -1},
		{"nothing in it", `{}`, `{}`, "", -1},
		{"names and calls", `{a:b,c:1,d:e(f,{g:[1]}),h:2}`, `{"c":1,"h":2}`, "", 3},
		{"elements keep their places", `[1,a,"b",[c],]`, `[1,null,"b",[null]]`, "", 3},
		{"the first of an expression", `{a:1+2,b:"c".d,e:{f:1}.g,h:[1][0],i:3}`, `{"i":3}`, "", 4},
		{"elements that go on", `[1+2,3]`, `[null,3]`, "", 2},
		{"functions", `{a:function(b){return {c:1}},d:(e)=>({f:2}),g(){h={}},async *i(){},get j(){return 1},k:1}`, `{"k":1}`, "", 3},
		{"names of members", `{...a,[b]:1,c,"d":2,e}`, `{"d":2}`, "", 1},
		{"the last", `{a:1,b:c}`, `{"a":1}`, "", 7},
		{"templates and patterns", "{a:`x${{b:'}'}}y`,c:/[,}]/.test(d),e:1}", `{"e":1}`, "", 6},
		{"a function called", `{a:(function(b){return {c:b}}(1)),d:1}`, `{"d":1}`, "", 3},
		{"JSON.parse", `{a:JSON.parse(b),c:JSON.parse("[1]")}`, `{"c":[1]}`, "", 14},
		{"nothing but code", `{a:b,c:[d]}x`, `null`, "x", 3},
	}
	for _, tt := range tests {
		v, n, leftOut, err := literal.ParsePartly([]byte(tt.text), literal.Limits{})
		got, _ := json.Marshal(v)
		at := -1
		var fault *literal.SyntaxError
		if errors.As(leftOut, &fault) {
			at = fault.Offset
		}
		if err != nil || string(got) != tt.want || tt.text[n:] != tt.rest || at != tt.leftOut {
			t.Errorf("%s: %s, %q, %v, %v", tt.name, got, tt.text[n:], leftOut, err)
		}
	}
	for _, broken := range []string{`{a:b`, `{a:b;c:1}`, `{a:f(]}`, `[a}`, `{a:1`, `a`, ``, `{a:1}}`[:4], "{a:`"} {
		var syntax *literal.SyntaxError
		if v, _, _, err := literal.ParsePartly([]byte(broken), literal.Limits{}); !errors.As(err, &syntax) || v != nil {
			t.Errorf("%q: %v, %v", broken, v, err)
		}
	}
	var limit *literal.LimitError
	for _, tt := range []struct {
		text string
		l    literal.Limits
		want bool
	}{
		{`{a:f(),b:1}`, literal.Limits{Bytes: 11}, false},
		{`{a:f(),b:1}`, literal.Limits{Bytes: 10}, true},
		{`{a:[[f()]]}`, literal.Limits{Depth: 3}, false},
		{`{a:[[f()]]}`, literal.Limits{Depth: 2}, true},
		{`[` + strings.Repeat("f(),", 10) + `]`, literal.Limits{Nodes: 11}, false},
		{`[` + strings.Repeat("f(),", 10) + `]`, literal.Limits{Nodes: 10}, true},
	} {
		if _, _, _, err := literal.ParsePartly([]byte(tt.text), tt.l); errors.As(err, &limit) != tt.want {
			t.Errorf("%q, %+v: %v", tt.text, tt.l, err)
		}
	}
}
