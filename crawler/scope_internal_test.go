package crawler

import (
	"errors"
	"strings"
	"testing"
)

// What can never match is refused, with its field and without credentials; what can is taken.
func TestScopeChecks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		scope Scope
		field string // "" for none
	}{
		{Scope{Hosts: []string{"films.example", "films.example:8080", "127.0.0.1", "[::1]:81", "xn--bcher-kva.example", "*"}}, ""},
		{Scope{Hosts: []string{"bücher.example"}}, "Hosts"},
		{Scope{Hosts: []string{"films.example/"}}, "Hosts"},
		{Scope{Hosts: []string{"127.1"}}, "Hosts"},
		{Scope{Domains: []string{"films.example", "xn--bcher-kva.example", "localhost", "127.0.0.1", "github.io"}}, ""},
		{Scope{Domains: []string{"bücher.example"}}, "Domains"},
		{Scope{Domains: []string{"Films.example"}}, "Domains"},
		{Scope{Domains: []string{"films.example:80"}}, "Domains"},
		{Scope{Domains: []string{"co.uk"}}, "Domains"},
		{Scope{Domains: []string{""}}, "Domains"},
		{Scope{Prefixes: []string{"https://films.example/title/", "http://films.example/?q=%20"}}, ""},
		{Scope{Prefixes: []string{"https://films.example"}}, "Prefixes"},
		{Scope{Prefixes: []string{"https://films.example/a b"}}, "Prefixes"},
		{Scope{Prefixes: []string{"https://me:secret@films.example/"}}, "Prefixes"},
		{Scope{Prefixes: []string{"mailto:x"}}, "Prefixes"},
		{Scope{Exclude: []string{"/login", "/", "/a%20b", "http://www.", "https://films.example/a?b="}}, ""},
		{Scope{Exclude: []string{"/a b"}}, "Exclude"},
		{Scope{Exclude: []string{"/search?q="}}, "Exclude"},
		{Scope{Exclude: []string{"/a/../b"}}, "Exclude"},
		{Scope{Exclude: []string{"HTTP://films.example/"}}, "Exclude"},
		{Scope{Exclude: []string{"https://films.example:443/x"}}, "Exclude"},
		{Scope{Exclude: []string{"https://me:secret@films.example/"}}, "Exclude"},
		{Scope{Exclude: []string{"login"}}, "Exclude"},
		{Scope{Exclude: []string{""}}, "Exclude"},
	} {
		err := c.scope.check("Scope")
		var bad *ConfigError
		if (err != nil) != (c.field != "") || err != nil && (!errors.As(err, &bad) || bad.Field != "Scope."+c.field || strings.Contains(err.Error(), "secret")) {
			t.Errorf("%+v: %v, want the field %q", c.scope, err, c.field)
		}
	}
}

// The kinds of scopes, and each boundary of them.
func TestScopeHolds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		scope   Scope
		in, out []string
	}{
		{
			"hosts",
			Scope{Hosts: []string{"films.example", "films.example:8080"}},
			[]string{"http://films.example/", "https://films.example/x?y", "http://films.example:8080/"},
			[]string{"http://www.films.example/", "http://films.example:81/", "https://films.example.evil/", "ftp://films.example/", "http://films.example./"},
		},
		{
			"many hosts",
			Scope{Hosts: []string{"a.example", "b.example", "c.example", "d.example", "e.example", "f.example", "g.example", "h.example", "i.example:81"}},
			[]string{"http://a.example/", "http://i.example:81/"},
			[]string{"http://i.example/", "http://j.example/"},
		},
		{
			"many hosts and any",
			Scope{Hosts: []string{"a.example", "b.example", "c.example", "d.example", "e.example", "f.example", "g.example", "h.example", "*"}},
			[]string{"http://z.example/"},
			[]string{"ftp://a.example/"},
		},
		{
			"domains",
			Scope{Domains: []string{"films.example", "0.0.1"}},
			[]string{"http://films.example/", "https://a.b.films.example:99/"},
			[]string{"http://myfilms.example/", "http://example/", "http://127.0.0.1/"},
		},
		{
			"prefixes",
			Scope{Prefixes: []string{"http://films.example/title/"}},
			[]string{"http://films.example/title/", "http://films.example/title/1"},
			[]string{"http://films.example/title", "https://films.example/title/1"},
		},
		{
			"any of them",
			Scope{Hosts: []string{"a.example"}, Domains: []string{"b.example"}, Prefixes: []string{"http://c.example/x"}},
			[]string{"http://a.example/", "http://x.b.example/", "http://c.example/xy"},
			[]string{"http://c.example/y"},
		},
		{
			"without",
			Scope{Hosts: []string{"*"}, Exclude: []string{"/no", "http://b.example/"}, Func: func(url string) bool { return !strings.Contains(url, "?") }},
			[]string{"http://a.example/", "http://a.example/yes/no", "https://b.example/"},
			[]string{"http://a.example/no", "http://a.example/north", "http://b.example/x", "http://a.example/?x"},
		},
	} {
		scope := c.scope.indexed()
		for _, url := range c.in {
			if !scope.holds(url) {
				t.Errorf("%s: %s is out: %v", c.name, url, scope.refuse(url))
			}
		}
		for _, url := range c.out {
			if err := scope.refuse(url); scope.holds(url) || !errors.Is(err, ErrOutOfScope) {
				t.Errorf("%s: %s is in, %v", c.name, url, err)
			}
		}
	}
}
