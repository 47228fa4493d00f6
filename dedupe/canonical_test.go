package dedupe

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/seine-go/seine/internal/weburl"
)

func mustNew(t testing.TB, profile Profile, options Options) *Canonicalizer {
	t.Helper()
	c, err := New(profile, options)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func mustKey(t testing.TB, c *Canonicalizer, url string) string {
	t.Helper()
	key, err := c.Key(url)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestKeys(t *testing.T) {
	t.Parallel()
	remove := Options{QueryParamsToRemove: []string{"sid"}}
	for _, tt := range []struct {
		name      string
		profile   Profile
		options   Options
		url, want string
	}{
		{"case", Strict, Options{}, "HTTP://Example.COM/A", "http://example.com/A"},
		{"escapes", Strict, Options{}, "http://h/%7e%2f%c3%a9%41?%7E%3d", "http://h/~%2F%C3%A9A?~%3D"},
		{"dot segments", Strict, Options{}, "http://h/a/./b/%2e%2E/c", "http://h/a/c"},
		{"default port", Strict, Options{}, "https://h:443/", "https://h/"},
		{"other port", Strict, Options{}, "https://h:80/", "https://h:80/"},
		{"empty query counts", Strict, Options{}, "http://h/?", "http://h/?"},
		{"order counts", Strict, Options{}, "http://h/?b&a", "http://h/?b&a"},
		{"slashes count", Strict, Options{}, "http://h//a//", "http://h//a//"},
		{"user info counts", Strict, Options{}, "http://%75:P%40@h/", "http://u:P%40@h/"},
		{"stray percent", Strict, Options{}, "http://h/100%?%%34%31", "http://h/100%?%%341"},
		{"opaque host", Strict, Options{}, "foo://H%4f%2cst/", "foo://ho%2Cst/"},
		{"opaque path", Strict, Options{}, "MAILTO:%41@B#x", "mailto:A@B"},
		{"hidden authority", Strict, Options{}, "foo:/.//%41", "foo:/.//A"},
		{"drive letter", Strict, Options{}, "file:///%43|/x", "file:///C:/x"},
		{"w3lib keeps dots and port", W3lib, Options{}, "http://h:80/a/../b", "http://h:80/a/../b"},
		{"w3lib relative with colon", W3lib, Options{}, "a%3Ab", "./a:b"},
		{"w3lib hidden escapes", W3lib, Options{}, "http://h/%2541%%34%31%2f%3f%23", "http://h/%2541%%341%2F%3F%23"},
		{"w3lib parameters", W3lib, Options{}, "http://h/a;b=%41?c", "http://h/a;b=%41?c="},
		{"w3lib repeated arguments", W3lib, Options{}, "http://h/?a=2&a=1&a", "http://h/?a=&a=1&a=2"},
		{"w3lib iso-8859-1 is not windows-1252", W3lib, Options{Encoding: "ISO-8859-1"}, "http://h/?\u0085", "http://h/?%85="},
		{"w3lib windows-1252", W3lib, Options{Encoding: "cp1252"}, "http://h/?…", "http://h/?%85="},
		{"w3lib ascii", W3lib, Options{Encoding: "ascii"}, "http://h/?é", "http://h/?%C3%A9="},
		{"w3lib bad name", W3lib, Options{}, "http://a\u200d:8:/", "http://a%E2%80%8D:8/"},
		{"commons removes", CrawlerCommons, remove, "http://h/?sid=1&a=&sid2=3&%73id", "http://h/?a&sid2=3"},
		{"commons decodes once", CrawlerCommons, Options{}, "http://h/%2541%", "http://h/%2541%25"},
		{"commons host and port", CrawlerCommons, Options{}, "h:81/a", "http://h:81/a"},
		{"commons user info", CrawlerCommons, Options{}, "ftp://u:p@h:21/a//b/..", "ftp://h/a/"},
		{"commons numbers", CrawlerCommons, Options{}, "http://1.2/", "http://1.2/"},
		{"semantic hides delimiters of hosts", SemanticPrecise, Options{}, "http://a%2Fb%3F@c%40d/", "http://c%40d/"},
		{"semantic address after dots", SemanticPrecise, Options{}, "http://1.2....../", "http://1.0.0.2/"},
		{"semantic ports", SemanticPrecise, Options{}, "http://h:%300080/", "http://h/"},
		{"semantic hidden authority", SemanticPrecise, Options{}, "foo:%2F/h", "foo:/.//h"},
		{"surt", SURT, Options{}, "http://u@www.example.org:81/a?b#c", "http://(org,example,www,:81)/a?b#c"},
		{"surt address", SURT, Options{}, "http://[::1]:81/", "http://([::1]:81)/"},
		{"surt label with comma", SURT, Options{OmitScheme: true, OmitTrailingComma: true}, "http://x,y.org/", "org,x.y)/"},
		{"surt without host", SURT, Options{Form: SortedSURT}, "mailto:a@b", "mailto:a@b"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := mustNew(t, tt.profile, tt.options)
			got, err := c.AppendKey([]byte("x"), tt.url)
			if err != nil || string(got) != "x"+tt.want {
				t.Fatalf("key of %q: %q, %v; want %q", tt.url, got, err, tt.want)
			}
			if tt.profile != SURT {
				checkFixedPoint(t, c, tt.url)
			}
		})
	}
}

func checkFixedPoint(t testing.TB, c *Canonicalizer, url string) {
	t.Helper()
	key, err := c.Key(url)
	if err != nil {
		return
	}
	again, err := c.Key(key)
	if err != nil && len(key) > MaxLength/2 {
		return
	}
	if err != nil || again != key {
		t.Errorf("%s: %q has the key %q, whose key is %q, %v", c.Profile(), url, key, again, err)
	}
}

func TestFragmentsAreOneKeySlashesAndWwwAreNot_K160(t *testing.T) {
	t.Parallel()
	var c Canonicalizer
	same := []string{
		"http://example.com/p", "http://example.com/p#a", "http://example.com/p#b", "http://example.com/%70", "HTTP://EXAMPLE.com:80/./p#",
	}
	for _, url := range same {
		if got := mustKey(t, &c, url); got != same[0] {
			t.Errorf("%q has the key %q, not %q", url, got, same[0])
		}
	}
	different := []string{
		"http://example.com/dir", "http://example.com/dir/", "http://www.example.com/dir", "https://example.com/dir", "http://example.com/Dir",
		"http://example.com:8080/dir", "http://example.com/dir?", "http://example.com//dir", "http://example.com/dir?a=1&b=2",
		"http://example.com/dir?b=2&a=1", "http://example.com/dir?a=1&a=1", "http://example.com/dir%2F", "http://example.com/dir?utm_source=x",
	}
	seen := map[string]string{}
	for _, url := range different {
		key := mustKey(t, &c, url)
		if other, ok := seen[key]; ok {
			t.Errorf("%q and %q have one key %q", url, other, key)
		}
		seen[key] = url
	}
}

// The key may be another URL than the one that was linked; the input, which goes on the wire, is not touched, and the
// Strict key keeps the order that it was linked in.
func TestKeyLeavesTheLinkedURLAlone_K161(t *testing.T) {
	t.Parallel()
	linked := "http://example.com/s?b=2&a=1&a=0"
	kept := strings.Clone(linked)
	for profile := Strict; profile <= SURT; profile++ {
		key := mustKey(t, mustNew(t, profile, Options{}), linked)
		sorted := profile == W3lib || profile == CrawlerCommons || profile == SemanticPrecise
		if strings.Contains(key, "?b=2&a=1&a=0") == sorted {
			t.Errorf("%s: the key is %q", profile, key)
		}
		if linked != kept {
			t.Fatalf("%s has changed the linked URL to %q", profile, linked)
		}
	}
}

func TestMethodAndBodyCount_K162(t *testing.T) {
	t.Parallel()
	const url = "http://example.com/form#x"
	var c Canonicalizer
	seen := map[string]string{}
	for _, r := range []struct{ name, method, body string }{
		{"GET", "GET", ""},
		{"POST", "POST", ""},
		{"POST a", "POST", "a=1"},
		{"POST b", "POST", "a=2"},
		{"GET with body", "GET", "a=1"},
		{"HEAD", "HEAD", ""},
		{"PUT", "PUT", "a=1"},
		{"own method", "purge", ""},
		{"own method in upper case", "PURGE", ""},
	} {
		key, err := c.AppendRequestKey(nil, r.method, url, []byte(r.body))
		if err != nil {
			t.Fatal(err)
		}
		if other, ok := seen[string(key)]; ok {
			t.Errorf("%s and %s have one key %q", r.name, other, key)
		}
		seen[string(key)] = r.name
	}
	for _, same := range [][2]string{{"", "GET"}, {"get", "GET"}, {"post", "POST"}, {"Patch", "PATCH"}} {
		a, errA := c.AppendRequestKey(nil, same[0], url, nil)
		b, errB := c.AppendRequestKey(nil, same[1], "http://EXAMPLE.com/form", []byte{})
		if errA != nil || errB != nil || string(a) != string(b) {
			t.Errorf("%q and %q: %q, %v and %q, %v", same[0], same[1], a, errA, b, errB)
		}
	}
	if key, err := c.AppendRequestKey(nil, "GET", url, nil); err != nil || string(key) != "http://example.com/form" {
		t.Errorf("a plain GET: %q, %v", key, err)
	}
}

func TestRequestKeyRefuses(t *testing.T) {
	t.Parallel()
	var c Canonicalizer
	for _, method := range []string{"GET ", "P\nOST", "é", "a/b", strings.Repeat("m", maxMethod+1)} {
		key, err := c.AppendRequestKey([]byte("x"), method, "http://h/", nil)
		if !errors.Is(err, ErrInvalidMethod) || string(key) != "x" {
			t.Errorf("%q: %q, %v", method, key, err)
		}
	}
	if _, err := c.AppendRequestKey(nil, strings.Repeat("m", maxMethod), "http://h/", nil); err != nil {
		t.Errorf("a method at the bound: %v", err)
	}
	if key, err := c.AppendRequestKey([]byte("x"), "POST", "nowhere", nil); !errors.Is(err, ErrInvalidURL) || string(key) != "x" {
		t.Errorf("a relative URL: %q, %v", key, err)
	}
}

func TestInvalidURLs(t *testing.T) {
	t.Parallel()
	for profile, urls := range map[Profile][]string{
		Strict:          {"", "a", "http://", "http://h:x/", "http://[/"},
		W3lib:           {"", " \t"},
		CrawlerCommons:  {"", "mailto:a@b", "http:a", "gopher://h/", "http://", "http://?x", "http://h:99999/", "http://h:x/", "http://a b/", "http://[::1]x/"},
		SemanticPrecise: {"", "http://", "http:?x", "#x", "?", "http://...........", "http://u@/"},
		SURT:            {"", "example.org/", "http://a b/", "http://h/\x00x"},
	} {
		c := mustNew(t, profile, Options{})
		for _, url := range urls {
			key, err := c.AppendKey([]byte("x"), url)
			var e *Error
			if !errors.Is(err, ErrInvalidURL) || !errors.As(err, &e) || e.Profile != profile || string(key) != "x" {
				t.Errorf("%s: %q: %q, %v", profile, url, key, err)
			}
		}
	}
	var c Canonicalizer
	_, err := c.Key("http://me:secret@h:x/")
	if err == nil || err.Error() != `seine: strict key of "http://…@h:x/": invalid port` {
		t.Errorf("error: %v", err)
	}
}

func TestMaxLength(t *testing.T) {
	t.Parallel()
	long := "http://h/" + strings.Repeat("a", MaxLength-len("http://h/"))
	for profile := Strict; profile <= SURT; profile++ {
		c := mustNew(t, profile, Options{OmitScheme: profile == SURT})
		if _, err := c.Key(long); err != nil {
			t.Errorf("%s: a URL at the bound: %v", profile, err)
		}
		if _, err := c.Key(long + "a"); !errors.Is(err, ErrInvalidURL) || !strings.Contains(err.Error(), "too long") {
			t.Errorf("%s: a URL past the bound: %v", profile, err)
		}
		// Nests of escapes and dots, which must not cost the square of their length.
		for _, middle := range []string{"25", "/..", "/a", "..", "%", "%25%34%31"} {
			_, _ = c.Key("http://h/%" + strings.Repeat(middle, 60000/len(middle)))
			_, _ = c.Key("http://" + strings.Repeat(middle, 60000/len(middle)))
		}
	}
	if _, err := mustNew(t, W3lib, Options{}).Key("http://h/" + strings.Repeat("é", MaxLength/3)); !errors.Is(err, ErrInvalidURL) {
		t.Errorf("a key past the bound: %v", err)
	}
}

func TestOptionErrors(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		profile Profile
		options Options
		want    string
	}{
		{"unknown profile", 99, Options{}, "Profile"},
		{"fragments of Strict", Strict, Options{KeepFragments: true}, "KeepFragments"},
		{"separator of crawler-commons", CrawlerCommons, Options{QuerySeparator: ";"}, "QuerySeparator"},
		{"separator", W3lib, Options{QuerySeparator: "&&"}, "QuerySeparator"},
		{"encoding of semantic_precise", SemanticPrecise, Options{Encoding: "utf8"}, "Encoding"},
		{"encoding", W3lib, Options{Encoding: "klingon"}, "Encoding"},
		{"encoding with states", W3lib, Options{Encoding: "iso2022_jp"}, "Encoding"},
		{"wide encoding", W3lib, Options{Encoding: "utf-16"}, "Encoding"},
		{"parameters of W3lib", W3lib, Options{QueryParamsToRemove: []string{"a"}}, "QueryParamsToRemove"},
		{"empty parameter", CrawlerCommons, Options{QueryParamsToRemove: []string{""}}, "QueryParamsToRemove"},
		{"form of Strict", Strict, Options{Form: SortedSURT}, "Form"},
		{"form", SURT, Options{Form: 9}, "Form"},
		{"scheme of Strict", Strict, Options{OmitScheme: true}, "OmitScheme"},
		{"scheme of SortedSURT", SURT, Options{Form: SortedSURT, OmitScheme: true}, "OmitScheme"},
		{"comma of SortedSURT", SURT, Options{Form: SortedSURT, OmitTrailingComma: true}, "OmitTrailingComma"},
	} {
		c, err := New(tt.profile, tt.options)
		var e *OptionError
		if !errors.As(err, &e) || e.Option != tt.want || c != nil || !strings.HasPrefix(err.Error(), "seine: ") || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

func TestProfileNames(t *testing.T) {
	t.Parallel()
	for profile := Strict; profile <= SURT; profile++ {
		for _, name := range []string{profile.String(), strings.ToUpper(profile.String()), strings.ToLower(profile.String())} {
			if got, err := ParseProfile(name); err != nil || got != profile {
				t.Errorf("ParseProfile(%q) = %v, %v", name, got, err)
			}
		}
	}
	if got, err := ParseProfile(""); err != nil || got != Strict {
		t.Errorf("ParseProfile of nothing = %v, %v", got, err)
	}
	var e *OptionError
	if _, err := ParseProfile("scrapy"); !errors.As(err, &e) || e.Option != "Profile" || e.Value != "scrapy" {
		t.Errorf("ParseProfile(scrapy): %v", err)
	}
	if got := Profile(99).String(); got != "Profile(99)" {
		t.Errorf("String of an unknown profile: %q", got)
	}
}

// Options are taken at New; a caller's slice may change afterwards.
func TestOptionsAreCopied(t *testing.T) {
	t.Parallel()
	names := []string{"sid"}
	c := mustNew(t, CrawlerCommons, Options{QueryParamsToRemove: names})
	names[0] = "a"
	if got := mustKey(t, c, "http://h/?a=1&sid=2"); got != "http://h/?a=1" {
		t.Errorf("key %q", got)
	}
}

func TestKeyOfACleanURLAllocatesNothing(t *testing.T) {
	var c Canonicalizer
	const url = "http://127.0.0.1:8399/page/17?x=1"
	dst := make([]byte, 0, 128)
	if n := testing.AllocsPerRun(100, func() {
		if key, err := c.Key(url); err != nil || key != url {
			t.Fatal(key, err)
		}
		if key, err := c.AppendRequestKey(dst, "get", url, nil); err != nil || len(key) != len(url) {
			t.Fatal(key, err)
		}
	}); n > 1 { // strings.ToUpper of the method
		t.Errorf("%v allocations", n)
	}
	if n := testing.AllocsPerRun(100, func() { _, _ = c.Key(url); _, _ = c.AppendKey(dst, url) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// clean keys must be what the whole way through the parser gives.
func TestCleanPathEqualsTheFullOne(t *testing.T) {
	t.Parallel()
	var c Canonicalizer
	r := rand.New(rand.NewPCG(5, 6))
	pieces := []string{"http://", "https://", "h", "films.example", "127.0.0.1", ":8399", ":80", "/", "/", "a", "..", ".", "%41", "%2e", "?", "x=1", "#", "A", "é", "@", "-", "xn--"}
	clean := 0
	for range 50_000 {
		var b strings.Builder
		b.WriteString(pieces[r.IntN(2)])
		for range r.IntN(8) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		url := b.String()
		got, err := c.Key(url)
		want, fullErr := appendStrict(nil, url)
		if (err == nil) != (fullErr == nil) || err == nil && got != string(want) {
			t.Fatalf("%q: %q, %v; full %q, %v", url, got, err, want, fullErr)
		}
		if err == nil && got == url {
			clean++
		}
	}
	if clean < 1000 {
		t.Fatalf("only %d keys were their URLs", clean)
	}
}

func FuzzCanonical(f *testing.F) {
	for _, seed := range []string{
		"http://example.com/a/../b?b=2&a=1#x", "HTTP://U:P@EXAMPLE.com:80/%7e", "a%3Ab;c?d", "//h/%2541%%34%31", "file:///%43|/..", "foo:%2F/h",
		"http://1.2......../", "http://a%2Fb:%38%30/", "http:////a//b", "http://www.bücher.de?q=bücher", "mailto:a@b", "http://[::1]:81/%5B", "?b", ";b",
		"http://％41。１/", "http:;b", "data:x #y", "foo:/.//x", "http://℀.org/", "p://℀<", "ws://h\\x", "sc://%2e%2e/",
	} {
		for profile := Strict; profile < SURT; profile++ {
			f.Add(uint8(profile), seed, "")
		}
	}
	f.Add(uint8(W3lib), "http://h/é?é=¥;b", "latin1")
	f.Add(uint8(SURT), "http://h/é?é=¥;b", "")
	f.Fuzz(func(t *testing.T, p uint8, url, encoding string) {
		profile := Profile(p % uint8(len(profileNames)))
		options := Options{}
		if profile == W3lib {
			options = Options{Encoding: encoding, KeepFragments: p%2 == 0}
		}
		c, err := New(profile, options)
		if err != nil {
			return
		}
		dst := []byte("before")
		key, err := c.AppendKey(slices.Clip(dst), url)
		if err != nil && string(key) != "before" || !strings.HasPrefix(string(key), "before") {
			t.Errorf("AppendKey left %q, %v", key, err)
		}
		request, err := c.AppendRequestKey(nil, "POST", url, nil)
		if err == nil && string(request) != "POST - "+string(key[len("before"):]) {
			t.Errorf("the request key is %q, the key %q", request, key)
		}
		if fields := strings.Fields(string(key[len("before"):])); err == nil && profile != SURT && len(fields) > 1 && fields[0] == "POST" {
			t.Errorf("%q has a key like that of a request, %q", url, key)
		}
		if profile != SURT {
			checkFixedPoint(t, c, url)
		}
		u, err := weburl.Parse(url)
		if err != nil || profile != Strict || !u.IsPlain() {
			return
		}
		if key, err := c.Key(u.Href()); key != u.Href() {
			t.Errorf("the plain URL %q has the key %q, %v", u.Href(), key, err)
		}
	})
}

// The text of a Canonicalizer names all that its keys depend on.
func TestCanonicalizerString(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		profile Profile
		options Options
		want    string
	}{
		{Strict, Options{}, "strict"},
		{W3lib, Options{KeepFragments: true, QuerySeparator: ";", Encoding: "Latin1"}, "w3lib keep-fragments query-separator=; encoding=latin1"},
		{W3lib, Options{QuerySeparator: "&"}, "w3lib"},
		{CrawlerCommons, Options{QueryParamsToRemove: []string{"b", "a", "b"}}, `crawler-commons remove=["a" "b"]`},
		{SURT, Options{Form: SortedSURT}, "SURT sorted"},
		{SURT, Options{OmitScheme: true, OmitTrailingComma: true}, "SURT omit-scheme omit-trailing-comma"},
	} {
		made, err := New(c.profile, c.options)
		if err != nil {
			t.Fatal(err)
		}
		if got := made.String(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	if got := new(Canonicalizer).String(); got != "strict" {
		t.Errorf("the zero value is %q", got)
	}
}
