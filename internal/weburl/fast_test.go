package weburl

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// agrees compares the fast path with the full parser on one reference and reports whether it was on the fast path.
func agrees(t testing.TB, b *Base, ref string) bool {
	t.Helper()
	dst := []byte("before ")
	fast, ok := b.appendFast(dst, []byte(ref))
	full, err := b.appendFull(dst, []byte(ref))
	if ok && (err != nil || string(fast) != string(full)) {
		t.Errorf("%q against %q: fast %q, full %q, %v", ref, b.url.href, fast, full, err)
	}
	whole, wholeErr := b.AppendResolve(dst, []byte(ref))
	if string(whole) != string(full) || (wholeErr == nil) != (err == nil) {
		t.Errorf("%q against %q: %q, %v, not %q, %v", ref, b.url.href, whole, wholeErr, full, err)
	}
	parsed, parseOK := parseFast(ref)
	if parseOK {
		slow, err := parse("parse", ref, nil)
		if err != nil || slow != parsed {
			t.Errorf("%q: fast %+v, full %+v, %v", ref, parsed, slow, err)
		}
	}
	if err == nil {
		checkHref(t, string(full[len("before "):]))
	}
	return ok
}

// checkHref checks what holds of every href: it is a fixed point, and Split finds its parts.
func checkHref(t testing.TB, href string) {
	t.Helper()
	again, err := parse("parse", href, nil)
	if err != nil || again.Href() != href {
		t.Errorf("%q is parsed again as %q, %v", href, again.Href(), err)
		return
	}
	if split, ok := Split(href); !ok || split != again {
		t.Errorf("Split(%q) = %+v, %v, not %+v", href, split, ok, again)
	}
}

var testBases = []string{
	"http://127.0.0.1:8399/page/17", "https://user:pw@films.example/a/b/c?x=1#f", "http://h/", "https://h:81", "http://[::1]:8080/a/",
	"http://h/a//b/.../c", "http://xn--bcher-kva.example/%2541/%2e.x/", "file:///C:/dir/file", "file://host/a/b", "mailto:a@b",
	"foo://h/a/b?c", "foo://h", "foo:/.//a/b", "about:blank", "ws://h/s",
}

func parsedBases(t testing.TB) []*Base {
	t.Helper()
	bases := make([]*Base, 0, 2*len(testBases))
	for _, raw := range testBases {
		bases = append(bases, NewBase(mustParse(t, raw), ""), NewBase(mustParse(t, raw), "windows-1252"))
	}
	return bases
}

// generator makes references out of what real and hostile pages put into links.
type generator struct{ *rand.Rand }

func (g generator) pick(from ...string) string { return from[g.IntN(len(from))] }

// common makes a reference as most pages have them.
func (g generator) common() string {
	ref := g.pick("", "/", "/", "../", "./", "../../", "//films.example/", "http://127.0.0.1:8399/", "https://films.example/", "http://h:81/")
	for range g.IntN(4) {
		ref += g.pick("page", "17", "film-2024_x.html", "a.b", "..", ".", ".well-known", "%C3%A4", "film:1") + "/"
	}
	return ref + g.pick("", "17", "index.html", "..", "?page=2", "17?x=1&y=a+b", "#top", "x?#", "x?y#z")
}

// reference makes any reference, every other one a common one.
func (g generator) reference() string {
	if g.IntN(2) == 0 {
		return g.common()
	}
	var b strings.Builder
	switch g.IntN(8) {
	case 0, 1:
		b.WriteString(g.pick("http://", "https://", "http://", "https://", "HTTP://", "http:/", "https:", "http:\\\\", "ftp://", "foo:", "file:///", "data:"))
		b.WriteString(g.host())
		b.WriteString(g.pick("", "/", "/", "/"))
	case 2:
		b.WriteString("//" + g.host() + g.pick("", "/", "/", "/"))
	case 3, 4:
		b.WriteString("/")
	}
	for range g.IntN(5) {
		b.WriteString(g.segment())
		b.WriteString(g.pick("", "/", "/", "/", "/", "/", "//", "\\"))
	}
	if g.IntN(3) == 0 {
		b.WriteString("?" + g.pick("", "x=1", "a=b&c=d", "q=%20", "e=é", "q='1'", "a b", "?", "x[]=1", "\xff", "^`{|}"))
	}
	if g.IntN(4) == 0 {
		b.WriteString("#" + g.pick("", "top", "é", "#", " x", "\x00"))
	}
	ref := b.String()
	if g.IntN(12) == 0 && ref != "" { // one odd byte anywhere
		i := g.IntN(len(ref))
		ref = ref[:i] + string([]byte{byte(g.IntN(256))}) + ref[i:]
	}
	return ref
}

func (g generator) host() string {
	host := g.pick("127.0.0.1", "films.example", "h", "a.b.c.example", "a_b", "Example.COM", "bücher.example", "xn--bcher-kva.example", "xn--a",
		"1.2.3", "0x7f.1", "256.1.1.1", "01.2.3.4", "1.2.3.4.5", "a.1", "a.1x", "a..b", "a.", "-a-", "a--b", "[::1]", "[::", "", "%41", "user@h",
		"u:p@films.example", "page.example.0", "h,x", "a~b")
	return host + g.pick("", "", "", "", ":8399", ":80", ":443", ":", ":0", ":081", ":65535", ":65536", ":999999", ":8o")
}

func (g generator) segment() string {
	return g.pick("page", "17", "..", ".", "...", "%2e", "%2E.", ".%2e", "%2", "%2f", "a.b", ".hidden", "..x", "x..", "film:1", "é", "a b", "C:", "C|",
		"%C3%A4", "~user", "(1)", "a'b", "a\"b", "<x>", "^", "|", "{id}", "a;b=1", "@me", "a&b", "", "%zz", "100%", "\t", "\n", "title-2024_x", "[1]")
}

func TestFastPathEqualsTheFullParser(t *testing.T) {
	const references = 100_000
	bases := parsedBases(t)
	g := generator{rand.New(rand.NewPCG(1, 2))}
	fast := 0
	for i := range references {
		if agrees(t, bases[i%len(bases)], g.reference()) {
			fast++
		}
		if t.Failed() {
			return
		}
	}
	if fast < references/10 {
		t.Fatalf("only %d of %d references were on the fast path", fast, references)
	}
	fmt.Printf("shown first-crawl.5: url fast path equals the full parser on %d generated references (%d on the fast path)\n", references, fast)
}

// The forms that the package promises to resolve without allocating.
func TestCommonLinksAllocateNothing(t *testing.T) {
	base := NewBase(mustParse(t, "http://127.0.0.1:8399/list/2?p=1#f"), "")
	for ref, want := range map[string]string{
		"http://127.0.0.1:8399/page/17":   "http://127.0.0.1:8399/page/17",
		"https://films.example":           "https://films.example/",
		"http://films.example:81?x#y":     "http://films.example:81/?x",
		"//films.example/a":               "http://films.example/a",
		"/page/17":                        "http://127.0.0.1:8399/page/17",
		"/a/./b/../c/%2e%2e/":             "http://127.0.0.1:8399/a/",
		"../page/17":                      "http://127.0.0.1:8399/page/17",
		"../../../page/..":                "http://127.0.0.1:8399/",
		"./17":                            "http://127.0.0.1:8399/list/17",
		"..":                              "http://127.0.0.1:8399/",
		".":                               "http://127.0.0.1:8399/list/",
		"17?x=1#frag":                     "http://127.0.0.1:8399/list/17?x=1",
		"?":                               "http://127.0.0.1:8399/list/2?",
		"#frag é":                         "http://127.0.0.1:8399/list/2?p=1",
		"":                                "http://127.0.0.1:8399/list/2?p=1",
		"http://127.0.0.1:8399":           "http://127.0.0.1:8399/",
		"http://127.0.0.1:83990/":         "", // a longer port is another thing
		"http://127.0.0.1:8399.example/":  "",
		"http://127.0.0.1:8399@evil.test": "http://127.0.0.1:8399@evil.test/",
	} {
		agrees(t, base, ref)
		raw, dst := []byte(ref), make([]byte, 0, 128)
		got, err := base.AppendResolve(dst, raw)
		if string(got) != want || (err != nil) != (want == "") {
			t.Errorf("%q: %q, %v; want %q", ref, got, err, want)
		}
		if want == "" || strings.Contains(ref, "@") {
			continue
		}
		if n := testing.AllocsPerRun(10, func() { _, _ = base.AppendResolve(dst, raw) }); n != 0 {
			t.Errorf("%q: %v allocations", ref, n)
		}
	}
	href := "http://user:pw@films.example:81/a?b#c"
	if n := testing.AllocsPerRun(10, func() {
		u, _ := Split(href)
		_ = u.Scheme() + ""
		_, _, _, _ = u.Username(), u.Password(), u.Host(), u.Port()
		_, _, _, _ = u.Path(), u.Query(), u.Fragment(), u.WithoutFragment().RequestTarget()
	}); n != 0 {
		t.Errorf("Split and accessors: %v allocations", n)
	}
}

func TestClean(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]bool{
		"http://films.example/a?b=c":   true,
		"https://127.0.0.1:8399/":      true,
		"http://films.example":         false,
		"http://films.example/#":       false,
		"http://films.example/%41":     false,
		"http://films.example:80/":     false,
		"http://u@films.example/":      false,
		"http://films.example/a/../b":  false,
		"http://Films.example/":        false,
		"http://films.example/é":       false,
		"http://films.example/a b":     false,
		"ftp://films.example/":         false,
		"/a":                           false,
		"":                             false,
		"http://films.example/a?b=%41": false,
	} {
		if Clean(raw) != want {
			t.Errorf("Clean(%q) = %v", raw, !want)
		}
	}
}

func TestSplitRefuses(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{"", "a", "/a", "//h/", "1:x", "http:", "http:/h", "http://", "http:///x", "http://h", "http://h?q", "file:", "file:x", ":"} {
		if u, ok := Split(raw); ok {
			t.Errorf("Split(%q) = %+v", raw, u)
		}
	}
}

func addSeeds(f *testing.F, add func(base, ref string)) {
	f.Helper()
	g := generator{rand.New(rand.NewPCG(3, 4))}
	for i := range 300 {
		add(testBases[i%len(testBases)], g.reference())
	}
}

func FuzzResolve(f *testing.F) {
	addSeeds(f, func(base, ref string) { f.Add(base, ref, "") })
	f.Add("http://h/", "?é日¥", "iso-2022-jp")
	f.Fuzz(func(t *testing.T, rawBase, ref, encoding string) {
		u, err := Parse(rawBase)
		if err != nil {
			return
		}
		agrees(t, NewBase(u, encoding), ref)
		resolved, err := u.Resolve(ref)
		if err != nil {
			return
		}
		checkHref(t, resolved.Href())
		if encoding == "" {
			want, err := NewBase(u, "").AppendResolve(nil, []byte(ref))
			if err != nil || resolved.WithoutFragment().Href() != string(want) {
				t.Errorf("%q against %q: %q, AppendResolve %q, %v", ref, rawBase, resolved.Href(), want, err)
			}
		}
	})
}

func FuzzParse(f *testing.F) {
	addSeeds(f, func(_, ref string) { f.Add(ref) })
	f.Fuzz(func(t *testing.T, raw string) {
		u, err := Parse(raw)
		if err != nil {
			if strings.Contains(raw, "@") && strings.Contains(err.Error(), "@") && !strings.Contains(err.Error(), "…@") {
				t.Errorf("%q: %v may show user info", raw, err)
			}
			return
		}
		checkHref(t, u.Href())
		checkHref(t, u.Redacted())
		checkHref(t, u.WithoutFragment().Href())
	})
}

func FuzzSplit(f *testing.F) {
	addSeeds(f, func(_, ref string) { f.Add(ref) })
	f.Fuzz(func(t *testing.T, raw string) {
		if u, err := Parse(raw); err == nil {
			checkHref(t, u.Href())
		}
		u, ok := Split(raw) // of anything: no panic, whatever the accessors return
		if !ok {
			return
		}
		_ = u.Origin() + u.Redacted() + u.Username() + u.Password() + u.Host() + u.Port() + u.RequestTarget() + u.Query() + u.Fragment()
	})
}
