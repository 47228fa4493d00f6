package crawler

import (
	"context"
	"strings"
	"testing"

	"github.com/seine-go/seine/fetch"
)

func named(name string, to *string) HandlerFunc {
	return func(_ context.Context, p *Page) error {
		*to = name
		for _, v := range p.values {
			*to += " " + v.name + "=" + v.value
		}
		return nil
	}
}

func TestMuxRoutes(t *testing.T) {
	t.Parallel()
	var got string
	var m Mux
	for _, pattern := range []string{
		"films.example/title/{id}", "films.example/title/new", "films.example/title/{id}/cast/{person...}", "/title/{id}",
		"*.films.example/", "films.example/{$}", "films.example:8080/title/{id}", "/list/", "/files/{path...}", "films.example/a//b",
	} {
		m.Handle(pattern, named(pattern, &got))
	}
	m.HandleLabel("detail", named("label", &got))
	m.Default = named("default", &got)
	if err := m.Check(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ url, label, want string }{
		{url: "https://films.example/title/7", want: "films.example/title/{id} id=7"},
		{url: "http://films.example/title/7?x=1#y", want: "films.example/title/{id} id=7"},
		{url: "https://films.example/title/new", want: "films.example/title/new"},
		{url: "https://films.example/title/a%2Fb", want: "films.example/title/{id} id=a/b"},
		{url: "https://films.example/title/", want: "default"},
		{url: "https://films.example/title", want: "default"},
		{url: "https://films.example//title/7", want: "default"},
		{url: "https://films.example/title/7/", want: "default"},
		{url: "https://films.example/title/7/cast/", want: "films.example/title/{id}/cast/{person...} id=7 person="},
		{url: "https://films.example/title/7/cast/x/y", want: "films.example/title/{id}/cast/{person...} id=7 person=x/y"},
		{url: "https://other.example/title/7", want: "/title/{id} id=7"},
		{url: "https://films.example:8443/title/7", want: "/title/{id} id=7"},
		{url: "https://films.example:8080/title/7", want: "films.example:8080/title/{id} id=7"},
		{url: "https://www.films.example/anything/at/all", want: "*.films.example/"},
		{url: "https://myfilms.example/x", want: "default"},
		{url: "https://films.example/", want: "films.example/{$}"},
		{url: "https://films.example/list/", want: "/list/"},
		{url: "https://films.example/list/a/b", want: "/list/"},
		{url: "https://films.example/files/a/b", want: "/files/{path...} path=a/b"},
		{url: "https://films.example/a//b", want: "films.example/a//b"},
		{url: "https://films.example/a/b", want: "default"},
		{url: "https://films.example/title/new", label: "detail", want: "label"},
		{url: "https://films.example/title/new", label: "unknown", want: "films.example/title/new"},
	} {
		got = ""
		p := &Page{URL: c.url, Request: &Request{URL: c.url, Label: c.label}, Response: &fetch.Response{}}
		if err := m.HandlePage(t.Context(), p); err != nil || got != c.want {
			t.Errorf("%s (label %q): %q, %v, want %q", c.url, c.label, got, err, c.want)
		}
	}
}

func TestMuxNamesBadPatterns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ pattern, reason string }{
		{"films.example", "no path"},
		{"", "no path"},
		{"https://films.example/", "scheme"},
		{"GET films.example/", "blank"},
		{"Films.example/", "write"},
		{"films.example:x/", "no host"},
		{"/a{b}/", "neither text nor a wildcard"},
		{"/{}", "no name"},
		{"/{a-b}", "no name"},
		{"/{a}/{a}", "twice"},
		{"/{a...}/b", "before the end"},
		{"/{$}/b", "before the end"},
		{"/a?b=c", "query"},
		{"/a#b", "fragment"},
		{"/a b", `write "a%20b"`},
		{"/é/x", `write "%C3%A9"`},
		{"/{x}/ü", `write "%C3%BC"`},
		{"/\xff", "never met"},
		{"/a\tb", `write "ab"`},
		{"/a ", `write "a%20"`},
		{"/a/../b", "no URL has it"},
		{"/a/%2e%2E", "no URL has it"},
		{"/./b", "no URL has it"},
		{`/a\b`, "no URL has it"},
		{"/a\"b", `write "a%22b"`},
		{"*.films.example:8080/", "never met"},
		{"*.Films.example/", "never met"},
		{"*.127.0.0.1/", "never met"},
		{"/" + strings.Repeat("a", maxPatternBytes), "longer"},
	} {
		var m Mux
		m.HandleFunc(c.pattern, func(context.Context, *Page) error { return nil })
		if err := m.Check(); err == nil || !strings.Contains(err.Error(), c.reason) {
			t.Errorf("%q: %v, want %q", c.pattern, err, c.reason)
		}
		if _, err := New(Config{Handler: &m}); err == nil || !strings.Contains(err.Error(), "Handler") {
			t.Errorf("%q: an engine takes it: %v", c.pattern, err)
		}
	}
	var m Mux
	m.HandleFunc("/"+strings.Repeat("a", maxPatternBytes-1), func(context.Context, *Page) error { return nil })
	m.HandleFunc("/{a}/x", func(context.Context, *Page) error { return nil })
	if err := m.Check(); err != nil {
		t.Fatal(err)
	}
	m.HandleFunc("/x/{a}", func(context.Context, *Page) error { return nil })
	m.HandleFunc("/{b}/x", func(context.Context, *Page) error { return nil })
	m.HandleFunc("/nil", nil)
	m.HandleLabel("", nil)
	err := m.Check()
	for _, want := range []string{"overlaps", "is the same as", "handler is nil", "label"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}

// Whatever the pattern and the path: no panic, and a pattern matches a path made from it.
func FuzzPattern(f *testing.F) {
	f.Add("films.example/title/{id}", "/title/7")
	f.Add("/a/{b...}", "/a/x/y")
	f.Add("*.b/{$}", "//")
	f.Fuzz(func(t *testing.T, pattern, path string) {
		r, err := parsePattern(pattern)
		if err != nil {
			return
		}
		if r.matchPath(path) {
			r.values(path)
		}
		if rel := comparePaths(r.segments, r.segments); rel != same {
			t.Fatalf("%q compares to itself as %v", pattern, rel)
		}
		var b strings.Builder
		for _, s := range r.segments {
			b.WriteByte('/')
			if s.kind == single {
				b.WriteString("v")
			} else if s.kind == literal {
				b.WriteString(s.text)
			}
		}
		if !r.matchPath(b.String()) {
			t.Fatalf("%q does not match %q", pattern, b.String())
		}
	})
}
