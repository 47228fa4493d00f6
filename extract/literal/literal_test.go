package literal_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/seine-go/seine/extract/jsonpath"
	"github.com/seine-go/seine/extract/literal"
)

func TestParse(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want, rest string }{
		{"json", `{"a":[1,2.50,-3e7],"b":{"c":null,"d":true}} x`, `{"a":[1,2.50,-3e7],"b":{"c":null,"d":true}}`, " x"},
		{"code behind", `{a:1};(function(){})()`, `{"a":1}`, ";(function(){})()"},
		{"names", `{a:1,$b_:2,'c':3,4:5,été:6}`, `{"$b_":2,"4":5,"a":1,"c":3,"été":6}`, ""},
		{"undefined", `{a:undefined,b:void 0,c:[undefined,void(0)]}`, "", ""},
		{"undefined members", `{a:undefined,b:void 0,c:[undefined,1]}`, `{"c":[null,1]}`, ""},
		{"minified", `[!0,!1,!true,!false]`, `[true,false,false,true]`, ""},
		{"numbers", `[.5,5.,0x1F,0b11,0o17,1_000,7n,+1,-.5,1E+3,12345678901234567890,5.e1]`, `[0.5,5,31,3,15,1000,7,1,-0.5,1E+3,12345678901234567890,5e1]`, ""},
		{"no numbers", `[NaN,Infinity,-Infinity]`, `[null,null,null]`, ""},
		{"strings", `['a"b',"a'b",` + "`t\n$1`" + `,'\x41\u0042\u{1F600}\ud83d\ude00\v\q\
z\0']`, `["a\"b","a'b","t\n$1","AB😀😀\u000bqz\u0000"]`, ""},
		{"lone surrogate", `"\ud83dx"`, `"�x"`, ""},
		{"commas and holes", `[1,,2,]`, `[1,null,2]`, ""},
		{"comments", "// a\n/* b */{/**/a/**/:// c\n1,//d\n}", `{"a":1}`, ""},
		{"wrapped in a comment", "<!--\n{\"a\":1}\n-->", `{"a":1}`, "\n-->"},
		{"a comment before", "<!-- note -->\n{\"a\":1}", `{"a":1}`, ""},
		{"cdata", "//<![CDATA[\n{\"a\":1}\n//]]>", `{"a":1}`, "\n//]]>"},
		{"cdata on one line", "<![CDATA[{\"a\":1}]]>", `{"a":1}`, "]]>"},
		{"byte order mark", "\uFEFF\u00a0{}", `{}`, ""},
		{"JSON.parse", `JSON.parse('{"a":"\\u0041\'s"}')`, `{"a":"A's"}`, ""},
		{"JSON.parse inside", `{a:JSON.parse("[1]"),b:2}`, `{"a":[1],"b":2}`, ""},
		{"decoded", `JSON.parse(decodeURIComponent("%7B%22a%22%3A1%7D"))`, `{"a":1}`, ""},
		{"a function of scalars", `(function(a,b , $c){return {x:a,l:[b,{c:$c}],e:d}}("q",1,!0))`, "", ""},
		{"a function that returns", `(function(a,b , $c){return {x:a,l:[b,{c:$c},a]};}("q",1,!0,));x`, `{"x":"q","l":[1,{"c":true},"q"]}`, ";x"},
		{"called outside", `(function(a,b){return [a,b,c]})(1)`, "", ""},
		{"a missing argument", `(function(a,b){return [a,b]})(1)`, `[1,null]`, ""},
		{"empty arguments", `(function(a,b){return {a:a,b:b,c:[a]}}({},[]))`, `{"a":{},"b":[],"c":[{}]}`, ""},
		{"no parameters", `(function(){return {a:1}})()`, `{"a":1}`, ""},
		{"a function with statements", `(function(a){a.x=1;return {a:a}}({}))`, "", ""},
		{"an argument that is an object", `(function(a){return {a:a}}({b:1}))`, "", ""},
		{"a function in arguments", `(function(a){return {a:a}}((function(){return 1}())))`, "", ""},
		{"a function in an object", `{a:(function(){return 1}())}`, "", ""},
		{"a function that is not called", `(function(a){return {a:a}})`, "", ""},
		{"a parenthesis", `(1)`, "", ""},
		{"control characters", "\"a\nb\tc\x01\"", `"a\nb\tc\u0001"`, ""},
		{"last one counts", `{a:1,a:2}`, `{"a":2}`, ""},
		{"empty", `{a:[],b:{}}`, `{"a":[],"b":{}}`, ""},
		{"not UTF-8", "\"a\xff\"", "\"a�\"", ""},
		{"a name", `{a:b}`, "", ""},
		{"a call", `{a:f(1)}`, "", ""},
		{"an expression", "`${x}`", "", ""},
		{"shorthand", `{a}`, "", ""},
		{"octal", `010`, "", ""},
		{"no end", `{"a":[1,2`, "", ""},
		{"no end of a string", `"a`, "", ""},
		{"no end of an escape", `"a\`, "", ""},
		{"wrong bracket", `[1}`, "", ""},
		{"nothing", ` `, "", ""},
		{"JSON.parse of JSON.parse", `JSON.parse("JSON.parse('1')")`, "", ""},
		{"JSON.parse of rubbish", `JSON.parse("{]")`, "", ""},
		{"sign alone", `-`, "", ""},
		{"exponent alone", `1e`, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			v, n, err := literal.Parse([]byte(tt.text), literal.Limits{})
			if tt.want == "" {
				var syntax *literal.SyntaxError
				if !errors.As(err, &syntax) || syntax.Offset > len(tt.text) || v != nil {
					t.Fatalf("%v, %v", v, err)
				}
				return
			}
			var want any
			d := json.NewDecoder(strings.NewReader(tt.want))
			d.UseNumber()
			if e := d.Decode(&want); e != nil {
				t.Fatal(e)
			}
			if err != nil || !reflect.DeepEqual(v, want) || tt.text[n:] != tt.rest {
				t.Fatalf("%#v, rest %q, %v; want %#v", v, tt.text[n:], err, want)
			}
		})
	}
}

func TestParseAllKeepsWhatIsBeforeTheFault(t *testing.T) {
	t.Parallel()
	values, err := literal.ParseAll([]byte("{a:1};\n[2], 3 {"), literal.Limits{})
	if len(values) != 3 || err == nil {
		t.Fatalf("%v, %v", values, err)
	}
	if values, err = literal.ParseAll([]byte("{a:1}//"), literal.Limits{}); len(values) != 1 || err != nil {
		t.Fatalf("%v, %v", values, err)
	}
}

// Each bound holds at it and one past it.
func TestLimits(t *testing.T) {
	t.Parallel()
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	tests := []struct {
		name   string
		text   string
		limits literal.Limits
		what   string
	}{
		{"depth", deep(4), literal.Limits{Depth: 4}, ""},
		{"deeper", deep(5), literal.Limits{Depth: 4}, "depth"},
		{"default depth", deep(literal.DefaultDepth), literal.Limits{}, ""},
		{"deeper than the default", deep(literal.DefaultDepth + 1), literal.Limits{}, "depth"},
		{"a million", deep(1_000_000), literal.Limits{Depth: -1}, "depth"},
		{"depth over JSON.parse", `[JSON.parse("[[]]")]`, literal.Limits{Depth: 2}, "depth"},
		{"nodes", `[1,2]`, literal.Limits{Nodes: 3}, ""},
		{"more nodes", `[1,2,3]`, literal.Limits{Nodes: 3}, "nodes"},
		{"holes are nodes", `[` + strings.Repeat(",", 9) + `]`, literal.Limits{Nodes: 9}, "nodes"},
		{"bytes", `[1,2]`, literal.Limits{Bytes: 5}, ""},
		{"more bytes", `[1,23]`, literal.Limits{Bytes: 5}, "bytes"},
		{"what follows is no matter", `[1,2];more`, literal.Limits{Bytes: 5}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, _, err := literal.Parse([]byte(tt.text), tt.limits)
			var limit *literal.LimitError
			if tt.what == "" && err != nil || tt.what != "" && (!errors.As(err, &limit) || limit.What != tt.what) {
				t.Fatal(err)
			}
		})
	}
}

// What encoding/json takes is read the same; nothing panics, and what is read can be read again.
func FuzzParse(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.5e3,"x\u00e9"],"b":{}}`, `{a:undefined,b:!0,c:'x',d:JSON.parse("[1]")}`, "<!--{a:1}-->", "[,,1]", "0x1f", "(function(a){return {b:a}}(1))", "`a`", "//<![CDATA[\n{}//]]>", `"\ud83d\ude00"`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		v, n, err := literal.Parse(text, literal.Limits{})
		if n < 0 || n > len(text)+1 {
			t.Fatalf("%d of %d", n, len(text))
		}
		all, e := literal.ParseAll(text, literal.Limits{})
		if saved, saveErr := literal.Salvage(text, literal.Limits{}); e == nil && (saveErr != nil || !reflect.DeepEqual(all, saved)) {
			t.Fatalf("%#v, %v, but salvaged %#v, %v", all, e, saved, saveErr)
		} else if _, marshalErr := json.Marshal(saved); marshalErr != nil || len(saved) < len(all) {
			t.Fatalf("%#v, of %#v: %v", saved, all, marshalErr)
		}
		if want, e := jsonpath.Parse(text); e == nil {
			var limit *literal.LimitError
			if err != nil && !errors.As(err, &limit) {
				t.Fatalf("json, but: %v", err)
			}
			if err == nil && !reflect.DeepEqual(v, want) {
				t.Fatalf("%#v, json has %#v", v, want)
			}
		}
		part, k, leftOut, partErr := literal.ParsePartly(text, literal.Limits{})
		if err == nil && (partErr != nil || leftOut != nil || k != n || !reflect.DeepEqual(part, v)) {
			t.Fatalf("%#v of %d bytes, in parts %#v of %d, %v, %v", v, n, part, k, leftOut, partErr)
		} else if _, marshalErr := json.Marshal(part); marshalErr != nil || k < 0 || k > len(text) {
			t.Fatalf("%#v, %d of %d: %v", part, k, len(text), marshalErr)
		}
		if err != nil {
			return
		}
		again, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if w, _, err := literal.Parse(again, literal.Limits{Bytes: -1}); err != nil || !reflect.DeepEqual(v, w) {
			t.Fatalf("%#v, again %#v: %v", v, w, err)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	text := []byte(`{"episodes":[` + strings.Repeat(`{"id":12,"title":"An episode","url":"/play/12","ok":true},`, 200) + `null]}`)
	b.Run("literal", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			if _, _, err := literal.Parse(text, literal.Limits{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("encoding-json", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := jsonpath.Parse(text); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func ExampleParse() {
	script := `{id: 7, url: '/play/7', next: undefined,};(function(){})()`
	value, n, err := literal.Parse([]byte(script), literal.Limits{})
	fmt.Println(value, script[n:], err)
	// Output: map[id:7 url:/play/7] ;(function(){})() <nil>
}

// Arguments that stand in many places count as often.
func TestArgumentsAreBounded(t *testing.T) {
	t.Parallel()
	text := func(n int) []byte {
		return []byte("(function(a){return [" + strings.Repeat("a,", n) + `]}("` + strings.Repeat("x", 1000) + `"))`)
	}
	most := literal.Limits{Bytes: 1_000_000}
	if _, _, err := literal.Parse(text(1000), most); err != nil {
		t.Error(err)
	}
	var limit *literal.LimitError
	if _, _, err := literal.Parse(text(1001), most); !errors.As(err, &limit) {
		t.Error(err)
	}
	if _, _, err := literal.Parse([]byte(strings.Repeat("(function(){return 1}(", 100_000)), literal.Limits{}); err == nil {
		t.Error("no end, no error")
	}
}

// Of what is broken the whole parts are kept, and no part that the fault may have changed.
func TestSalvage(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`[{"a":1},{"b":2,"c" 3}]`:                `[[{"a":1},{"b":2}]]`,
		`{"a":{"b":[1,{"c":2`:                    `[{"a":{"b":[1,{"c":2}]}}]`,
		`{"a":"he said "hi" to","b":1}`:          `null`,
		`{"b":1,"a":"he said "hi" to"}`:          `[{"b":1}]`,
		`{"a":,"b":[1,],"c":}`:                   `[{"b":[1]}]`,
		`{"a":"x`:                                `null`,
		`[1,2 3]`:                                `[[1]]`,
		`{"a":1} {"b":2`:                         `[{"a":1},{"b":2}]`,
		`{&quot;a&quot;:1}`:                      `null`,
		`{}x`:                                    `[{}]`,
		`{"a":{"b":{"c":x}},"d":1}`:              `null`,
		`{"a":1,"b":` + strings.Repeat("[", 600): `null`,
	} {
		values, err := literal.Salvage([]byte(text), literal.Limits{})
		got, _ := json.Marshal(values)
		if string(got) != want || err == nil {
			t.Errorf("%s: %s, %v; want %s", text, got, err, want)
		}
	}
	if values, err := literal.Salvage([]byte(`{"a":[1,,2]}`), literal.Limits{}); err != nil || fmt.Sprint(values) != "[map[a:[1 <nil> 2]]]" {
		t.Errorf("%v, %v", values, err)
	}
	_, err := literal.Salvage([]byte(`{"a": ,"b":1}`), literal.Limits{})
	var syntax *literal.SyntaxError
	if !errors.As(err, &syntax) || syntax.Offset != 6 {
		t.Errorf("%v", err)
	}
}
