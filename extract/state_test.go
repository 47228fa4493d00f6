package extract_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/seine-go/seine/extract"
	"github.com/seine-go/seine/extract/literal"
)

func TestStates(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, page, want string }{
		{"next", `<script id=__NEXT_DATA__ type="application/json">{"a":1}</script>`, `__NEXT_DATA__={"a":1}`},
		{"window", `<script>window.__X__ = {"a":1,u:undefined};(function(){})()</script>`, `__X__={"a":1}`},
		{"brackets", `<script>window["__X__"]=[1];self['y']={}</script>`, `__X__=[1] y={}`},
		{"var, let, const", `<script>var player_aaaa={"url":"a"}
			let b = {c:1}, d = [2]; const e={f:!0}</script>`, `player_aaaa={"url":"a"} b={"c":1} d=[2] e={"f":true}`},
		{"parsed", `<script>window.S=JSON.parse("{\"a\":\"\\u0041\"}");</script>`, `S={"a":"A"}`},
		{"members", `<script>App.state.x={a:1}</script>`, `App.state.x={"a":1}`},
		{"in strings and comments", `<script>var s = "x={a:1}"; // y={b:1}
			/* z={c:1} */ t = 'it\'s q={}'; r={d:1}</script>`, `r={"d":1}`},
		{"no literals", `<script>a = {b: c}; d == {}; e = f(); g => {}; h = {i(){}}; ok = {}; x += [1]</script>`, `ok={}`},
		{"inside code", `<script>(function(){if(a){b={c:{d:[1,{}]}}}})()</script>`, `b={"c":{"d":[1,{}]}}`},
		{"an apostrophe in a pattern", "<script>x=/it's/;\ny={a:1}</script>", `y={"a":1}`},
		{"other types", `<script type="text/template">a={b:1}</script><script type=module>c={}</script>`, `c={}`},
		{"in comments and texts", `<!-- <script>a={}</script> --><textarea><script>b={}</script></textarea><title><script>c={}</script></title><p title="<script>d={}</script>">`, ``},
		{"end tags in scripts", `<script>a={b:"<\/script>"}</script><script>c={d:'<!--<script>x</script>'}--></script>`, `a={"b":"</script>"} c={"d":"<!--<script>x</script>"}`},
		{"or what is there", `<script>window.S = window.S || {"a":1}; T = T ?? [1]; U = V || {a:2}; window.app = window.app || {}; app = {b:1}</script>`, `S={"a":1} T=[1] app={"b":1}`},
		{"frozen", `<script>window.S = Object.freeze({"a":1}); T=Object.seal( [1] ); U = ({b:2})</script>`, `S={"a":1} T=[1] U={"b":2}`},
		{"nuxt", `<script>window.__NUXT__=(function(a,b){return {layout:"x",data:[{film:a}],n:b}}("q",1));</script>`, `__NUXT__={"data":[{"film":"q"}],"layout":"x","n":1}`},
		{"code of nuxt", `<script>window.__NUXT__=(function(a){a.b=1;return {c:a}}({}));x={d:1}</script>`, `x={"d":1}`},
		{"text/json", `<script type="text/json" id=j>{"a":1}</script>`, `j={"a":1}`},
		{"patterns", `<script>t=s.replace(/'/g,"").replace(/[/"]/g,'');var x={a:1};n=a/b;m='/';y={b:2};if(c)/"/.test(d);z={c:3};return /` + "`" + `/,w={e:4}</script>`, `x={"a":1} y={"b":2} z={"c":3} w={"e":4}`},
		{
			"members that are no literals", `<script>film={title:"A",on:function(){x={b:1};player={url:"/ad"}},d:new Date(0),n:[f(),2,a+"b",3],"q":"a"+"b",h(){},...r,s,[k]:1,get g(){return {z:1}},u:void 0,t:!0,o:{p:{}.q,m:1}, v:"x".trim()};y={c:1}</script>`,
			`film={"n":[null,2,null,3],"o":{"m":1},"t":true,"title":"A"} y={"c":1}`,
		},
		{"nothing but code", `<script>a={b:function(){c={d:1}},e:[f]};g=[h,i];j={k:1}</script>`, `j={"k":1}`},
		{"code without an end", `<script>a={b:function(){c={d:1};</script><script>e={f:1,g:h;i={j:1}</script>`, `c={"d":1} i={"j":1}`},
		{"comments behind the sign", "<script>a = /* b */ {c:1}; d = // e\n {f:1}; g = 1 /* ={h:1} */</script>", `a={"c":1} d={"f":1}`},
		{"logical assignments", `<script>window.a ||= {b:1}; c ??= [2]; d = e || {f:1}; g |= [1]</script>`, `a={"b":1} c=[2]`},
		{"strings of JSON", `<script>a = '{"b":1}'; c = '\x7b\x22d\x22:2\x7d', e = "[name=x]"; f = '{"g":1}'.replace(1,2); h = '{"i":1}' + j; k = "{}}"; l = "{m}"</script>`, `a={"b":1} c={"d":2}`},
		{"upper case", `<SCRIPT ID='n' TYPE='Application/JSON; charset=utf-8'>[1]</SCRIPT >`, `n=[1]`},
		{"the second is broken", `<script>a={b:1}</script><script>c={b:</script><script>d={}`, `a={"b":1} d={}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, s := range extract.NewDocument([]byte(tt.page), extract.DocumentOptions{}).States() {
				v, err := s.Value()
				if err != nil {
					t.Fatal(err)
				}
				text, _ := json.Marshal(v)
				got = append(got, s.Name+"="+strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(string(text)))
			}
			if s := strings.Join(got, " "); s != tt.want {
				t.Errorf("%s\nwant %s", s, tt.want)
			}
		})
	}
}

// An island of 50 MB is a typed error, in bounded time, and loses no other.
func TestHugeIslandIsRefused(t *testing.T) {
	t.Parallel()
	huge := strings.Repeat(`"0123456789",`, 50<<20/13)
	page := `<script>a=[` + huge + `1]</script><script type="application/json" id=b>[` + huge + `1]</script><script>c={d:1}</script>`
	doc := extract.NewDocument([]byte(page), extract.DocumentOptions{})
	for _, name := range []string{"a", "b"} {
		var limit *literal.LimitError
		if _, err := doc.State(name).Value(); !errors.As(err, &limit) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if v, err := doc.State("c").Value(); err != nil || fmt.Sprint(v) != "map[d:1]" {
		t.Errorf("%v, %v", v, err)
	}
	var limit *literal.LimitError
	if _, err := extract.NewDocument([]byte("["+huge+"1]"), extract.DocumentOptions{}).JSON(); !errors.As(err, &limit) {
		t.Errorf("%v", err)
	}
}

// What a bound may have left out is told.
func TestBoundsOfTheSearchAreTold(t *testing.T) {
	t.Parallel()
	type film struct {
		V string `extract:"state=V$.a"`
	}
	for name, js := range map[string]string{"states": strings.Repeat("x={a:1};", 1_001), "bytes in search of literals": strings.Repeat("a=[<!-- ", 4_000)} {
		_, report, _ := extract.MustCompile[film](extract.Options{}).Extract(t.Context(), extract.NewDocument([]byte("<script>"+js+"</script>"), extract.DocumentOptions{}))
		var limit *literal.LimitError
		if len(report.Faults) != 1 || !errors.As(report.Faults[0], &limit) || limit.What != name {
			t.Errorf("%s: %v", name, report.Faults)
		}
	}
	_, report, _ := extract.MustCompile[film](extract.Options{}).Extract(t.Context(), extract.NewDocument([]byte("<script>"+strings.Repeat("x={a:1};", 1_000)+"</script>"), extract.DocumentOptions{}))
	if len(report.Faults) != 0 {
		t.Errorf("%v", report.Faults)
	}
}

func TestJSONBody(t *testing.T) {
	t.Parallel()
	v, err := extract.NewDocument([]byte("\uFEFF{\"a\":[12345678901234567890,],}"), extract.DocumentOptions{}).JSON()
	if err != nil || fmt.Sprint(v) != "map[a:[12345678901234567890]]" {
		t.Errorf("%v, %v", v, err)
	}
	for _, body := range []string{"", "<html>", "{} {}", "{"} {
		var syntax *literal.SyntaxError
		if _, err := extract.NewDocument([]byte(body), extract.DocumentOptions{}).JSON(); !errors.As(err, &syntax) {
			t.Errorf("%q: %v", body, err)
		}
	}
}

// Nothing panics, states have names only if something is assigned, and each is read once.
func FuzzStates(f *testing.F) {
	for _, s := range []string{`a={}`, `window["x"]=JSON.parse('[1]')`, "a=`{`;b={c:[1,,]}//", `/*a={}*/ b.c = {d:"e"}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, js string) {
		for _, s := range extract.NewDocument([]byte("<script>"+js), extract.DocumentOptions{Encoding: "utf-8"}).States() {
			v, err := s.Value()
			again, _ := s.Value()
			if _, e := json.Marshal(v); err == nil && (e != nil || s.Name == "") || fmt.Sprint(v) != fmt.Sprint(again) {
				t.Fatalf("%q: %v, %v", s.Name, v, e)
			}
		}
	})
}

func ExampleDocument_State() {
	doc := extract.NewDocument([]byte(`<script>var player_aaaa = {url: 'https://cdn.example/1.m3u8', from: undefined};</script>`), extract.DocumentOptions{})
	value, err := doc.State("player_aaaa").Value()
	fmt.Println(value, err)
	// Output: map[url:https://cdn.example/1.m3u8] <nil>
}

func ExampleDocument_Structured() {
	doc := extract.NewDocument([]byte(`<script type="application/ld+json">{"@type":"Movie","name":"Alien"}</script>`), extract.DocumentOptions{})
	data, err := doc.Structured()
	if err != nil {
		fmt.Println(err)
		return
	}
	name, _ := data.Find("Movie.name")
	fmt.Println(name)
	// Output: Alien
}

// What was left out of a state is told to who asks for it, and to nobody else.
func TestStateLeftOut(t *testing.T) {
	t.Parallel()
	const page = `<script>film={title:"Alien", on:function(){}, year:1979}; other={a:f(), b:1}; whole={a:1}</script><h1>x</h1>`
	for _, tt := range []struct{ tag, want, faults string }{
		{"state=film$.title", "Alien", "seine: extract: state film is not whole: seine: literal at byte 19: a name, which would have to be evaluated"},
		{"state=$.year", "1979", "seine: extract: state film is not whole: seine: literal at byte 19: a name, which would have to be evaluated"},
		{"state=film$.on || css=h1", "x", "seine: extract: state film is not whole: seine: literal at byte 19: a name, which would have to be evaluated"},
		{"state=whole$.a", "1", ""},
		{"css=h1", "x", ""},
	} {
		s, err := extract.Compile[struct{ T string }](extract.Options{Rules: extract.Rules{"T": {Tag: tt.tag}}})
		if err != nil {
			t.Fatal(err)
		}
		v, r, err := s.Extract(t.Context(), document(page))
		faults := ""
		for _, f := range r.Faults {
			faults += f.Error()
		}
		if v.T != tt.want || err != nil || faults != tt.faults {
			t.Errorf("%s: %q, %v, faults %q", tt.tag, v.T, err, faults)
		}
	}
}
