package jsonpath_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/seine-go/seine/extract/jsonpath"
)

func Example() {
	body := []byte(`{"data": {"title": "Tampopo", "id": 90071992547409931234, "cast": [{"name": "Nobuko"}, {"name": "Ken"}]}}`)
	id, ok, err := jsonpath.MustCompile("$.data.id").Find(body)
	fmt.Println(string(id), ok, err)
	last, _ := jsonpath.MustCompile("$.data.cast[-1].name").First(body)
	fmt.Println(jsonpath.Text(last))

	doc, err := jsonpath.Parse(body)
	if err != nil {
		panic(err)
	}
	fmt.Println(jsonpath.MustCompile("$..name").Select(doc))
	// Output:
	// 90071992547409931234 true <nil>
	// Ken
	// [Nobuko Ken]
}

func TestFind(t *testing.T) {
	t.Parallel()
	tests := []struct{ path, doc, want string }{
		{"$", ` [1] `, "[1]"},
		{"$", "1", "1"},
		{"$.a", `{"a":1}`, "1"},
		{"$.a", `{"b":{"a":2},"a":"x"}`, `"x"`},
		{"$.a", `{"a":1,"a":2}`, "2"},
		{"$.a.b", `{"a":{"b":1},"a":{"c":2}}`, ""}, // the last a has no b
		{"$.a.b", `{"a":1,"a":{"b":2}}`, "2"},
		{"$.a", `{"\u0061":1}`, "1"},
		{"$['\\'']", `{"'":1}`, "1"},
		{"$['\"']", `{"\"":1}`, "1"},
		{"$['\\\\']", `{"\\":3}`, "3"},
		{"$['\ufffd']", "{\"\xff\":1}", "1"},
		{"$['\ufffd']", `{"\ud800":1}`, "1"},
		{"$.ä", `{"ä":1}`, "1"},
		{"$[0]", `[1,2]`, "1"},
		{"$[1]", `[1, {"a":[ ]} ]`, `{"a":[ ]}`},
		{"$[2]", `[1,2]`, ""},
		{"$[-1]", `[1,2]`, "2"},
		{"$[-3]", `[1,2]`, ""},
		{"$[0]", `{"0":1}`, ""},
		{"$['0']", `[1]`, ""},
		{"$[0]", `[]`, ""},
		{"$.a", `{}`, ""},
		{"$.a.b.c", `{"a":{"b":{"c":null}}}`, "null"},
		{"$.a[1].b", `{"a":[0,{"b":-1.5e+3}]}`, "-1.5e+3"},
		{"$.s", `{"s":"a\"]}\\","t":1}`, `"a\"]}\\"`},
	}
	for _, tt := range tests {
		p := jsonpath.MustCompile(tt.path)
		raw, ok, err := p.Find([]byte(tt.doc))
		if err != nil || string(raw) != tt.want || ok != (tt.want != "") {
			t.Errorf("%s in %s: %q, %v, %v", tt.path, tt.doc, raw, ok, err)
		}
		doc, err := jsonpath.Parse([]byte(tt.doc))
		if err != nil {
			t.Error(err)
			continue
		}
		if err := agrees(p, []byte(tt.doc), p.Select(doc)); err != nil {
			t.Errorf("%s in %s: %v", tt.path, tt.doc, err)
		}
		if repeats := strings.Count(tt.doc, `"a":`) > 1; !repeats {
			if raw, ok := p.First([]byte(tt.doc)); string(raw) != tt.want || ok != (tt.want != "") {
				t.Errorf("first %s in %s: %q, %v", tt.path, tt.doc, raw, ok)
			}
		}
	}
	if raw, ok := jsonpath.MustCompile("$.a").First([]byte(`{"a":1,"a":2}`)); string(raw) != "1" || !ok {
		t.Errorf("first of two: %s", raw)
	}
}

func TestBadDocuments(t *testing.T) {
	t.Parallel()
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for _, doc := range []string{
		"", " ", "{", "[", `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `{"a":1,}`, "[1,]", "[1 2]", `{"a" 1}`, `{a:1}`, "{1:2}", "01", "1.", ".5", "-", "1e", "1e+", "+1",
		"tru", "nul", "falsey", `"`, `"a`, `"\x"`, `"\u12"`, `"\u12g4"`, "\"\n\"", "\"\x00\"", "[1]]", "1 2", `{"a":1}}`, "]", "}", "[}", "{]", `{"a":[}`, `{"a":1]`, "\ufeff1",
		deep(jsonpath.MaxDepth + 1), `{"a":` + deep(jsonpath.MaxDepth) + "}",
	} {
		for _, path := range []string{"$", "$.a", "$[0]", "$[-1]", "$.a[0].b"} {
			p := jsonpath.MustCompile(path)
			_, _, err := p.Find([]byte(doc))
			var fault *jsonpath.SyntaxError
			if !errors.As(err, &fault) || fault.Offset > len(doc) {
				t.Errorf("%.20q, %s: %v", doc, path, err)
			}
			p.First([]byte(doc)) // must end
		}
		if _, err := jsonpath.Parse([]byte(doc)); !errors.As(err, new(*jsonpath.SyntaxError)) {
			t.Errorf("parse %.20q: %v", doc, err)
		}
	}
	for _, path := range []string{"$", "$[0]", "$[0][0]", "$[-1]", "$.a"} {
		if _, _, err := jsonpath.MustCompile(path).Find([]byte(deep(jsonpath.MaxDepth))); err != nil {
			t.Errorf("at the bound, %s: %v", path, err)
		}
	}
}

func TestBadPaths(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"", "a", "$.", "$[", "$[01]", "$ .a ", "$['a]", "$[?@.a==]", "$." + strings.Repeat("a", jsonpath.MaxPath-1)} {
		_, err := jsonpath.Compile(path)
		var fault *jsonpath.PathError
		if !errors.As(err, &fault) || len(err.Error()) > 500 {
			t.Errorf("%.20q: %v", path, err)
		}
	}
	if _, err := jsonpath.Compile("$." + strings.Repeat("a", jsonpath.MaxPath-2)); err != nil {
		t.Errorf("at the bound: %v", err)
	}
	p := jsonpath.MustCompile("$..a")
	if _, ok := p.First([]byte(`{"a":1}`)); ok || p.Definite() {
		t.Error("an indefinite path is looked up")
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{`"a\u00e9\n\ud83d\ude00"`: "aé\n😀", `""`: "", "12.50": "12.50", "null": "null", `[1]`: "[1]", "\"\xff\"": "\ufffd", `"\ud800"`: "\ufffd", "": "", `"`: `"`} {
		if got := jsonpath.Text([]byte(raw)); got != want {
			t.Errorf("%s: %q", raw, got)
		}
	}
}

// FuzzFind holds that Find takes what encoding/json takes and finds what is selected from the tree, and that First ends
// and agrees where no name repeats.
func FuzzFind(f *testing.F) {
	for _, doc := range []string{`{"a":[{"b":1},{"b":2}]}`, `{"a":{"b":"\u0061\"\\"},"a":[1,2.5e3,-0,true,null]}`, "[[1],[2,[3]]]", `{"\u0061":{"b":"x"}}`, "{\"a\":\"\xff\"}", "[[[]]"} {
		for i := range paths {
			f.Add(doc, uint8(i))
		}
	}
	f.Fuzz(func(t *testing.T, doc string, which uint8) {
		p := paths[int(which)%len(paths)]
		raw, _ := p.First([]byte(doc))
		if !strings.Contains(doc, string(raw)) {
			t.Fatalf("first: %q is no part", raw)
		}
		_, _, err := p.Find([]byte(doc))
		if (err == nil) != json.Valid([]byte(doc)) {
			t.Fatalf("%q: %v", doc, err)
		}
		tree, perr := jsonpath.Parse([]byte(doc))
		if (perr == nil) != (err == nil) {
			t.Fatalf("%q: parse %v, find %v", doc, perr, err)
		}
		if err != nil {
			return
		}
		if err := agrees(p, []byte(doc), p.Select(tree)); err != nil {
			t.Fatalf("%q, %s: %v", doc, p, err)
		}
	})
}

var paths = []*jsonpath.Path{
	jsonpath.MustCompile("$"), jsonpath.MustCompile("$.a"), jsonpath.MustCompile("$.a.b"), jsonpath.MustCompile("$[0]"), jsonpath.MustCompile("$[-1]"),
	jsonpath.MustCompile("$.a[1].b"), jsonpath.MustCompile("$[1][-1][0]"), jsonpath.MustCompile("$['\ufffd']"), jsonpath.MustCompile("$['a\\'b']"),
}

// page is a document of some 34 KB, nested 12 levels deep.
func page() []byte {
	var b bytes.Buffer
	b.WriteString(`{"root":{"data":{`)
	for k := range 72 {
		fmt.Fprintf(&b, `"block%d":`, k)
		for d := range 9 {
			fmt.Fprintf(&b, `{"level%d":%d,"name%d":"value of %d","inner":`, d, d*k, d, k)
		}
		b.WriteString(`[1,2.5,true,null,"text \u00e9 and \"quotes\""]` + strings.Repeat("}", 9) + ",")
	}
	b.WriteString(`"last":{"tags":["x","y",{"version":"1.15.0"}]}}}}`)
	return b.Bytes()
}

func BenchmarkFirst(b *testing.B) {
	doc, p := page(), jsonpath.MustCompile("$.root.data.last.tags[2].version")
	b.ReportAllocs()
	b.SetBytes(int64(len(doc)))
	for b.Loop() {
		if raw, ok := p.First(doc); !ok || string(raw) != `"1.15.0"` {
			b.Fatal(string(raw))
		}
	}
}

func BenchmarkFind(b *testing.B) {
	doc, p := page(), jsonpath.MustCompile("$.root.data.last.tags[2].version")
	b.ReportAllocs()
	b.SetBytes(int64(len(doc)))
	for b.Loop() {
		if raw, ok, err := p.Find(doc); err != nil || !ok || string(raw) != `"1.15.0"` {
			b.Fatal(string(raw), err)
		}
	}
}
