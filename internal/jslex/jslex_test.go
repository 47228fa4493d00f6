package jslex

import "testing"

func TestExpression(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"a name", "foo,b", "foo"},
		{"a call", "f(1,{a:[2,3]}),b", "f(1,{a:[2,3]})"},
		{"a function", "function(a,b){return {c:1}}}x", "function(a,b){return {c:1}}"},
		{"strings", `"a,\"," + ',',b`, `"a,\"," + ','`},
		{"a string over a line", "\"a\n,b", "\"a\n"},
		{"templates", "`,${a,`}${b}`},`,b", "`,${a,`}${b}`},`"},
		{"comments", "a/*,*/+b//,\n,c", "a/*,*/+b//,\n"},
		{"a pattern", "/[/,]\\/,/g,b", "/[/,]\\/,/g"},
		{"a division", "a/b,c/d", "a/b"},
		{"a semicolon", "a;b", "a"},
		{"a bracket of another kind", "f(]", "f("},
		{"no end", "f({", "f({"},
		{"no end of a template", "`${a", "`${a"},
		{"no end of a comment", "a/*", "a/*"},
		{"an escape at the end", "'\\", "'\\"},
	}
	for _, tt := range tests {
		if end := Expression([]byte(tt.text), 0); end > len(tt.text) || tt.text[:end] != tt.want {
			t.Errorf("%s: %d, want %q", tt.name, end, tt.want)
		}
	}
}

func FuzzExpression(f *testing.F) {
	f.Add("`${a,`}${b}`},`,b", 0)
	f.Fuzz(func(t *testing.T, js string, at int) {
		if at < 0 || at > len(js) {
			return
		}
		if end := Expression([]byte(js), at); end < at || end > len(js) {
			t.Errorf("%d of %d from %d", end, len(js), at)
		}
	})
}
