package crawler

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/seine-go/seine/fetch"
)

// The rules of net/http.ServeMux, told slowly: of the patterns that fit, those with the most special host; of these the
// one whose paths all the others have too.
func slowMatch(patterns []string, url string, universe []string) string {
	var fit []string
	for _, p := range patterns {
		if slowFits(p, url) {
			fit = append(fit, p)
		}
	}
	rank := func(p string) int {
		host := p[:strings.IndexByte(p, '/')]
		if strings.HasPrefix(host, "*") || host == "" {
			return len(host)
		}
		return 1000
	}
	best := ""
	for _, p := range fit {
		if best == "" || rank(p) > rank(best) || rank(p) == rank(best) && within(p, best, universe) {
			best = p
		}
	}
	return best
}

// within reports whether each path that a fits b fits as well.
func within(a, b string, universe []string) bool {
	for _, path := range universe {
		if slowPath(a[strings.IndexByte(a, '/'):], path) && !slowPath(b[strings.IndexByte(b, '/'):], path) {
			return false
		}
	}
	return true
}

func slowFits(pattern, url string) bool {
	host, path, _ := strings.Cut(strings.TrimPrefix(url, "http://"), "/")
	slash := strings.IndexByte(pattern, '/')
	want := pattern[:slash]
	below, isBelow := strings.CutPrefix(want, "*")
	return (want == "" || want == host || isBelow && strings.HasSuffix(host, below)) && slowPath(pattern[slash:], "/"+path)
}

func slowPath(pattern, path string) bool {
	if pattern == path || pattern == "/{$}" && path == "/" {
		return true
	}
	want, wants, more := strings.Cut(pattern[1:], "/")
	if !more && (want == "" || strings.HasSuffix(want, "...}")) {
		return true
	}
	have, has, hasMore := strings.Cut(path[1:], "/")
	if want != have && !(strings.HasPrefix(want, "{x") && have != "") || more != hasMore {
		return false
	}
	return !more || slowPath("/"+wants, "/"+has)
}

// Whatever the order in which patterns are registered, they are taken or refused alike, and lead to the same handlers:
// those that the rules told slowly say.
func TestMuxOrderDoesNotMatter(t *testing.T) {
	t.Parallel()
	segments := []string{"a", "b", "c", "{x%d}"}
	hosts := []string{"", "h.example", "a.h.example", "*.h.example", "*.example", "*.a.h.example"}
	var universe, urls []string
	for _, a := range []string{"", "a", "b", "c", "d"} {
		universe = append(universe, "/"+a)
		for _, b := range []string{"", "a", "b", "c", "d"} {
			universe = append(universe, "/"+a+"/"+b)
			for _, c := range []string{"", "a", "b", "d", "a/b"} {
				universe = append(universe, "/"+a+"/"+b+"/"+c)
			}
		}
	}
	for _, host := range []string{"h.example", "a.h.example", "b.a.h.example", "x.example", "other.test"} {
		for _, path := range universe {
			urls = append(urls, "http://"+host+path)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	taken, sets := 0, 60
	for range sets {
		var patterns []string
		for range 2 + r.IntN(3) {
			p := hosts[r.IntN(len(hosts))]
			for i := range 1 + r.IntN(3) {
				p += "/" + strings.ReplaceAll(segments[r.IntN(len(segments))], "%d", fmt.Sprint(i))
			}
			p += []string{"", "/", "/{$}", "/{xs...}"}[r.IntN(4)]
			patterns = append(patterns, p)
		}
		good := -1
		permute(patterns, func(order []string) {
			answers, err := answersOf(order, urls)
			if ok := b2i(err == nil); good < 0 {
				good = ok
			} else if ok != good {
				t.Fatalf("%q: %v, but not in another order", order, err)
			}
			if err != nil {
				return
			}
			for i, url := range urls {
				if want := slowMatch(patterns, url, universe); answers[i] != want {
					t.Fatalf("%q: %s goes to %q, want %q", order, url, answers[i], want)
				}
			}
		})
		taken += good
	}
	if taken < sets/3 {
		t.Errorf("only %d of %d sets were without conflict", taken, sets)
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func permute(list []string, f func([]string)) {
	var rec func(n int)
	rec = func(n int) {
		if n == len(list) {
			f(slices.Clone(list))
			return
		}
		for i := n; i < len(list); i++ {
			list[n], list[i] = list[i], list[n]
			rec(n + 1)
			list[n], list[i] = list[i], list[n]
		}
	}
	rec(0)
}

func answersOf(patterns, urls []string) (answers []string, _ error) {
	var m Mux
	got := ""
	for _, p := range patterns {
		m.HandleFunc(p, func(context.Context, *Page) error { got = p; return nil })
	}
	if err := m.Check(); err != nil {
		return nil, err
	}
	for _, url := range urls {
		got = ""
		p := &Page{URL: url, Request: &Request{URL: url}, Response: &fetch.Response{}}
		if err := m.HandlePage(context.Background(), p); err != nil {
			return nil, err
		}
		answers = append(answers, got)
	}
	return answers, nil
}

// A pattern that names a path as URLs have it is met by the URL that a server would be asked for.
func TestMuxTakesWhatURLsHave(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{"/a%20b", "/%C3%A9/", "//", "/a//b", "/a%2Fb", "/%zz", "/a;b=c", "/~a", "/{x}//{y}"} {
		var m Mux
		m.HandleFunc(pattern, func(context.Context, *Page) error { return nil })
		if err := m.Check(); err != nil {
			t.Errorf("%q: %v", pattern, err)
		}
		r, _ := parsePattern(pattern)
		if path := strings.NewReplacer("{x}", "1", "{y}", "2").Replace(pattern); !r.matchPath(path) {
			t.Errorf("%q does not match %q", pattern, path)
		}
	}
}
