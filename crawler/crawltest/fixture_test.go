package crawltest

import (
	"io/fs"
	"net/url"
	"strings"
	"testing"
)

func TestFixtureNames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", maxPart)
	for _, tt := range []struct{ method, url, want string }{
		{"GET", "https://films.example/", "films.example/index"},
		{"GET", "https://films.example", "films.example/index"},
		{"HEAD", "http://Films.Example:80/film/7", "films.example/film/7"},
		{"", "https://films.example:443/film/7", "films.example/film/7"},
		{"GET", "http://films.example:443/film/7", "films.example%3A443/film/7"},
		{"GET", "http://[::1]:8080/a", "%3A%3A1%3A8080/a"},
		{"GET", "https://u:p@films.example/film/7#plot", "films.example/film/7"},
		{"GET", "https://films.example/films?page=2", "films.example/films%3Fpage=2"},
		{"GET", "https://films.example/films/?page=2&by=a/b", "films.example/films/index%3Fpage=2&by=a%2Fb"},
		{"GET", "https://films.example/films?", "films.example/films%3F"},
		{"GET", "https://films.example/s?q=caf%c3%a9+%zz%2", "films.example/s%3Fq=caf%C3%A9+%25zz%252"},
		{"GET", "https://films.example/s?v=1.", "films.example/s%3Fv=1%2E"},
		{"GET", "https://films.example/a%2fb/%7Ec/é", "films.example/a%2Fb/~c/%C3%A9"},
		{"GET", "https://films.example/a//b/", "films.example/a/%/b/index"},
		{"GET", "https://films.example/%25/%", "films.example/%25/%25"},
		{"GET", "https://films.example/./../x./...", "films.example/%2E/.%2E/x%2E/..%2E"},
		{"GET", "https://films.example/a:b*c\"<>|!", "films.example/a%3Ab%2Ac%22%3C%3E%7C%21"},
		{"POST", "https://films.example/search?x", "films.example/search%3Fx!POST"},
		{"a b", "https://films.example/", "films.example/index!a%20b"},
		{"GET", "https://films.example/" + long + "/a", "films.example/" + long + "/a"},
		{"GET", "https://films.example/" + long + "x", "films.example/" + long[:keptPart] + "!" + "dc31ed5afb940294"},
	} {
		u, err := url.Parse(tt.url)
		if err != nil { // a stray % is no URL for net/url; the name is made from what others would make of it
			u = &url.URL{Scheme: "https", Host: "films.example", Path: "/%/%"}
		}
		if got := fixtureName(tt.method, u); got != tt.want {
			t.Errorf("%s %s:\n got %s\nwant %s", tt.method, tt.url, got, tt.want)
		}
	}
}

// FuzzFixtureName: any URL has a file that a file system can hold, and other spellings of the same request have the same.
func FuzzFixtureName(f *testing.F) {
	f.Add("GET", "https://films.example/a//b?c=%2F#d")
	f.Add("PROPFIND", "http://[::1]:1/../%2e./?"+strings.Repeat("é", 200))
	f.Fuzz(func(t *testing.T, method, text string) {
		u, err := url.Parse(text)
		if err != nil || u.Hostname() == "" {
			t.Skip("no URL")
		}
		name := fixtureName(method, u)
		if !fs.ValidPath(name) {
			t.Errorf("%q is no path", name)
		}
		for part := range strings.SplitSeq(name, "/") {
			if len(part) > maxPart || strings.HasSuffix(part, ".") || strings.ContainsAny(part, `<>:"|?*\ `) {
				t.Errorf("part %q of %q", part, name)
			}
		}
		again := *u
		again.Fragment, again.User, again.Host = "", nil, strings.ToUpper(u.Host)
		if other := fixtureName(method, &again); isASCII(u.Host) && other != name {
			t.Errorf("%q and %q", name, other)
		}
	})
}

func isASCII(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r >= 0x80 })
}
