package cookie

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// clock is a time that tests move.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func newClock() *clock { return &clock{t: time.Date(2030, 5, 1, 12, 0, 0, 0, time.UTC)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

// sent returns what a jar sends to a URL after lines came from another.
func sent(from string, lines []string, to string) string {
	jar := new(Jar)
	jar.Set(Exchange{URL: from}, lines...)
	return jar.Header(Exchange{URL: to})
}

func TestScope(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, from, line, to, want string }{
		{"host only", "https://a.test/", "x=1", "https://b.a.test/", ""},
		{"subdomain", "https://a.test.example/", "x=1; Domain=test.example", "https://b.test.example/", "x=1"},
		{"other domain", "https://a.example.com/", "x=1; Domain=other.com", "https://other.com/", ""},
		{"end of a label", "https://evilexample.com/", "x=1; Domain=example.com", "https://example.com/", ""},
		{"public suffix", "https://a.co.uk/", "x=1; Domain=co.uk", "https://b.co.uk/", ""},
		{"private suffix", "https://a.github.io/", "x=1; Domain=github.io", "https://b.github.io/", ""},
		{"suffix with a dot at its end", "https://a.co.uk./", "x=1; Domain=co.uk.", "https://b.co.uk./", ""},
		{"host that is a suffix", "https://github.io/", "x=1; Domain=github.io", "https://github.io/", "x=1"},
		{"host that is a suffix, below", "https://github.io/", "x=1; Domain=github.io", "https://a.github.io/", ""},
		{"name without dots", "http://localhost/", "x=1; Domain=localhost", "http://localhost/", "x=1"},
		{"intranet", "http://a.intranet/", "x=1; Domain=intranet", "http://b.intranet/", ""},
		{"address", "http://127.0.0.1/", "x=1; Domain=127.0.0.1", "http://127.0.0.1/", "x=1"},
		{"part of an address", "http://127.0.0.1/", "x=1; Domain=0.0.1", "http://127.0.0.1/", ""},
		{"IPv6", "http://[::1]:80/", "x=1", "http://[::1]:8080/", "x=1"},
		{"ports share cookies", "http://a.test:1/", "x=1", "http://a.test:2/", "x=1"},
		{"IDN host", "https://bücher.example/", "x=1; Domain=xn--bcher-kva.example", "https://www.bücher.example/", "x=1"},
		{"Domain beyond ASCII", "https://bücher.example/", "x=1; Domain=bücher.example", "https://bücher.example/", ""},
		{"secure over http", "http://a.test/", "x=1; Secure", "https://a.test/", ""},
		{"secure to http", "https://a.test/", "x=1; Secure", "http://a.test/", ""},
		{"plain from https to http", "https://a.test/", "x=1", "http://a.test/", "x=1"},
		{"default path", "https://a.test/d/e", "x=1", "https://a.test/d/f", "x=1"},
		{"default path, above", "https://a.test/d/e", "x=1", "https://a.test/", ""},
		{"path beside", "https://a.test/", "x=1; Path=/d", "https://a.test/dd", ""},
		{"path with a slash", "https://a.test/", "x=1; Path=/d/", "https://a.test/d", ""},
		{"escaped path", "https://a.test/", "x=1; Path=/caf%c3%a9", "https://a.test/caf%C3%A9/x", "x=1"},
		{"escaped slash is none", "https://a.test/", "x=1; Path=/a/b", "https://a.test/a%2Fb", ""},
		{"broken escape", "https://a.test/", "x=1; Path=/%zz", "https://a.test/%zz", "x=1"},
		{"__Secure- without Secure", "https://a.test/", "__Secure-x=1", "https://a.test/", ""},
		{"__secure- in any case", "https://a.test/", "__sEcUrE-x=1", "https://a.test/", ""},
		{"__Secure-", "https://a.test/", "__Secure-x=1; Secure", "https://a.test/", "__Secure-x=1"},
		{"__Host-", "https://a.test/", "__Host-x=1; Secure; Path=/", "https://a.test/q", "__Host-x=1"},
		{"__Host- without Path", "https://a.test/", "__Host-x=1; Secure", "https://a.test/", ""},
		{"__Host- with a path", "https://a.test/", "__Host-x=1; Secure; Path=/q", "https://a.test/q", ""},
		{"__Host- with Domain", "https://a.example.com/", "__Host-x=1; Secure; Path=/; Domain=a.example.com", "https://a.example.com/", ""},
		{"__Host- without Secure", "https://a.test/", "__Host-x=1; Path=/", "https://a.test/", ""},
		{"SameSite=None without Secure", "https://a.test/", "x=1; SameSite=None", "https://a.test/", ""},
		{"Partitioned without Secure", "https://a.test/", "x=1; Partitioned", "https://a.test/", ""},
		{"Partitioned", "https://a.test/", "x=1; Partitioned; Secure", "https://a.test/", "x=1"},
		{"a control character", "https://a.test/", "x=1\x01", "https://a.test/", ""},
		{"bytes that are no text", "https://a.test/", "x=\xd6\xd0\xce\xc4", "https://a.test/", "x=\xd6\xd0\xce\xc4"},
		{"no http", "ftp://a.test/", "x=1", "https://a.test/", ""},
		{"longest pair", "https://a.test/", "x=" + strings.Repeat("y", MaxPair-1), "https://a.test/", "x=" + strings.Repeat("y", MaxPair-1)},
		{"pair beyond", "https://a.test/", "x=" + strings.Repeat("y", MaxPair), "https://a.test/", ""},
		{"longest attribute", "https://a.test/", "x=1; Path=/" + strings.Repeat("y", MaxAttribute-1), "https://a.test/", ""},
		{"attribute beyond", "https://a.test/", "x=1; Path=/" + strings.Repeat("y", MaxAttribute), "https://a.test/", "x=1"},
		{"longest default path", "https://a.test/" + strings.Repeat("y", MaxPath-1) + "/", "x=1", "https://a.test/" + strings.Repeat("y", MaxPath-1), "x=1"},
		{"default path beyond", "https://a.test/" + strings.Repeat("y", MaxPath) + "/", "x=1", "https://a.test/" + strings.Repeat("y", MaxPath), ""},
	} {
		if got := sent(c.from, []string{c.line}, c.to); got != c.want {
			t.Errorf("%s: sent %.80q, want %.80q", c.name, got, c.want)
		}
		if _, err := Parse(Exchange{URL: c.from}, c.line, time.Now()); err != nil && !strings.HasPrefix(err.Error(), "seine: ") {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestSameSite(t *testing.T) {
	t.Parallel()
	lines := []string{"d=1", "n=1; SameSite=none; Secure", "l=1; SameSite=Lax", "s=1; SameSite=STRICT", "u=1; SameSite=other"}
	at := func(x Exchange) Exchange {
		x.URL = "https://a.example.com/"
		return x
	}
	for _, c := range []struct {
		name string
		x    Exchange
		wait time.Duration
		want string
	}{
		{"typed", Exchange{}, 0, "d n l s u"},
		{"link of the site", Exchange{From: "https://b.example.com/"}, 0, "d n l s u"},
		{"image of the site", Exchange{From: "https://b.example.com/", Embedded: true}, 0, "d n l s u"},
		{"link of another site", Exchange{From: "https://other.com/"}, 0, "d n l u"},
		{"link from http", Exchange{From: "http://b.example.com/"}, 0, "d n l u"},
		{"image in another site", Exchange{From: "https://other.com/", Embedded: true}, 0, "n"},
		{"form of another site, at once", Exchange{From: "https://other.com/", Method: "POST"}, 0, "d n u"},
		{"form of another site, later", Exchange{From: "https://other.com/", Method: "POST"}, 2 * time.Minute, "n"},
		{"from nowhere known", Exchange{From: "about:blank", Embedded: true}, 0, "n"},
	} {
		clock := newClock()
		jar := New(Options{Now: clock.now})
		jar.Set(at(Exchange{}), lines...)
		clock.pass(c.wait)
		var names []string
		for _, k := range jar.Cookies(at(c.x)) {
			names = append(names, k.Name)
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		fresh := new(Jar)
		want := len(lines)
		if c.x.Embedded && c.want == "n" {
			want = 1 // parts of other sites' pages set no cookies that they would not get
		}
		if set := fresh.Set(at(c.x), lines...); len(set) != want {
			t.Errorf("%s: %d set, want %d", c.name, len(set), want)
		}
	}
}

func TestPartitions(t *testing.T) {
	t.Parallel()
	jar := new(Jar)
	in := func(top string) Exchange {
		return Exchange{URL: "https://widget.com/w", From: top, Embedded: true}
	}
	const line = "p=%s; Secure; SameSite=None; Partitioned"
	jar.Set(in("https://www.one.com/"), fmt.Sprintf(line, "one"))
	jar.Set(in("https://two.com/"), fmt.Sprintf(line, "two"))
	jar.Set(Exchange{URL: "https://widget.com/"}, fmt.Sprintf(line, "own"))
	for top, want := range map[string]string{
		"https://one.com/x": "p=one", "https://two.com/": "p=two", "https://three.com/": "", "http://one.com/": "", "https://widget.com/a": "p=own",
	} {
		if got := jar.Header(in(top)); got != want {
			t.Errorf("in %s: %q, want %q", top, got, want)
		}
	}
	if got := jar.Header(Exchange{URL: "https://widget.com/", From: "https://one.com/"}); got != "p=own" {
		t.Errorf("a page by itself: %q", got)
	}
}

func TestSecureCookiesAreNotHidden(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, at, line string
		want           bool
	}{
		{"same cookie", "http://a.example.com/", "x=2; Path=/s", false},
		{"from below", "http://b.a.example.com/", "x=2; Domain=example.com; Path=/s/t", false},
		{"for below", "http://b.a.example.com/", "x=2; Path=/s", false},
		{"path above", "http://a.example.com/", "x=2; Path=/", true},
		{"other name", "http://a.example.com/", "y=2; Path=/s", true},
		{"over https", "https://a.example.com/", "x=2; Path=/s", true},
		{"other host", "http://c.example.com/", "x=2; Path=/s", true},
	} {
		jar := new(Jar)
		jar.Set(Exchange{URL: "https://a.example.com/"}, "x=1; Secure; Path=/s; Domain=a.example.com")
		if set := jar.Set(Exchange{URL: c.at}, c.line); (len(set) == 1) != c.want {
			t.Errorf("%s: %v", c.name, set)
		}
	}
}

func TestExpiry(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, attributes string
		lives            time.Duration // of a cookie that has an end
	}{
		{"Max-Age", "Max-Age=60", time.Minute},
		{"Expires", "Expires=Wed, 01 May 2030 12:01:00 GMT", time.Minute},
		{"Max-Age before Expires", "Max-Age=60; Expires=Wed, 01 May 2030 13:00:00 GMT", time.Minute},
		{"the last Max-Age", "Max-Age=9; Max-Age=60", time.Minute},
		{"a Max-Age that is none", "Max-Age=60; Max-Age=6e1", time.Minute},
		{"at most 400 days", "Max-Age=99999999", DefaultMaxAge},
		{"more than a number", "Max-Age=99999999999999999999999", DefaultMaxAge},
		{"far Expires", "Expires=Wed, 01 May 9999 12:01:00 GMT", DefaultMaxAge},
	} {
		clock := newClock()
		jar := New(Options{Now: clock.now})
		jar.Set(Exchange{URL: "https://a.test/"}, "x=1; "+c.attributes)
		clock.pass(c.lives - time.Second)
		if got := jar.Header(Exchange{URL: "https://a.test/"}); got != "x=1" {
			t.Errorf("%s: ended early", c.name)
		}
		clock.pass(time.Second)
		if got := jar.Header(Exchange{URL: "https://a.test/"}); got != "" || len(jar.All()) != 0 {
			t.Errorf("%s: sent %q at its end", c.name, got)
		}
		if set := jar.Set(Exchange{URL: "https://a.test/"}, "x=2"); !set[0].Created.Equal(clock.now()) {
			t.Errorf("%s: one that follows an expired one was not created anew", c.name)
		}
	}
	jar := New(Options{MaxAge: -1})
	jar.Set(Exchange{URL: "https://a.test/"}, "x=1; Max-Age=99999999999999999999999")
	if got := jar.All(); len(got) != 1 || got[0].Expires.Before(time.Now().AddDate(100, 0, 0)) {
		t.Errorf("without a bound: %v", got)
	}
}

func TestDeletionIsTold(t *testing.T) {
	t.Parallel()
	jar := new(Jar)
	x := Exchange{URL: "https://a.test/"}
	jar.Set(x, "x=1", "y=1")
	set := jar.Set(x, "x=; Max-Age=0")
	if len(set) != 1 || set[0].Name != "x" || !set[0].Matches("https://a.test/q") || jar.Header(x) != "y=1" {
		t.Errorf("%v %q", set, jar.Header(x))
	}
}

func TestTheClockIsTheCallers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		jar := new(Jar)
		x := Exchange{URL: "https://a.test/"}
		jar.Set(x, "x=1; Max-Age=3600", "s=1")
		time.Sleep(time.Hour)
		if got := jar.Header(x); got != "s=1" {
			t.Errorf("sent %q", got)
		}
	})
}

func TestReplacedCookieKeepsItsPlace(t *testing.T) {
	t.Parallel()
	clock := newClock()
	jar := New(Options{Now: clock.now})
	x := Exchange{URL: "https://a.test/"}
	jar.Set(x, "a=1", "b=1")
	clock.pass(time.Minute)
	jar.Set(x, "a=2; HttpOnly")
	all := jar.All()
	if got := jar.Header(x); got != "a=2; b=1" || !all[0].HTTPOnly || !all[0].Created.Equal(all[1].Created) {
		t.Errorf("%q %+v", got, all)
	}
}

func TestBounds(t *testing.T) {
	t.Parallel()
	clock := newClock()
	fill := func(jar *Jar, host string, n int, attributes string) {
		for i := range n {
			clock.pass(time.Second)
			jar.Set(Exchange{URL: "https://" + host + "/"}, fmt.Sprintf("%s%d=1%s", host[:1], i, attributes))
		}
	}
	count := func(jar *Jar, host string) (n int) {
		for _, c := range jar.All() {
			if c.Domain == host {
				n++
			}
		}
		return n
	}

	jar := New(Options{Now: clock.now})
	fill(jar, "a.test", DefaultMaxPerDomain, "")
	jar.Header(Exchange{URL: "https://a.test/"}) // all are used now, so that the order of creation decides
	if n := count(jar, "a.test"); n != DefaultMaxPerDomain {
		t.Errorf("%d at the bound of a domain", n)
	}
	jar.Set(Exchange{URL: "https://a.test/"}, "new=1")
	if n := count(jar, "a.test"); n != DefaultMaxPerDomain || strings.Contains(jar.Header(Exchange{URL: "https://a.test/"}), "a0=") {
		t.Errorf("%d past the bound, or not the oldest went", n)
	}

	jar = New(Options{Now: clock.now, MaxPerDomain: 3})
	x := Exchange{URL: "https://a.test/"}
	fill(jar, "a.test", 1, "; Max-Age=2")
	fill(jar, "b.test", 1, "")
	jar.Set(x, "s1=1; Secure", "p1=1", "s2=1; Secure")
	clock.pass(2 * time.Second)
	jar.Set(x, "s3=1; Secure") // p1, the only insecure one, goes
	if got := jar.Header(x); got != "s1=1; s2=1; s3=1" {
		t.Errorf("insecure cookies go first: %q", got)
	}
	jar.Set(x, "p2=1") // it is the only insecure one, and goes itself
	if got := jar.Header(x); got != "s1=1; s2=1; s3=1" {
		t.Errorf("a domain full of secure cookies: %q", got)
	}
	if count(jar, "b.test") != 1 {
		t.Error("another domain has paid")
	}

	jar = New(Options{Now: clock.now, MaxCookies: 4})
	fill(jar, "a.test", 2, "")
	fill(jar, "b.test", 2, "")
	clock.pass(time.Second)
	jar.Header(x) // those of a.test are used
	fill(jar, "c.test", 1, "")
	if a, b, c := count(jar, "a.test"), count(jar, "b.test"), count(jar, "c.test"); a != 2 || b != 1 || c != 1 {
		t.Errorf("past the bound of all: %d %d %d", a, b, c)
	}
	jar = New(Options{Now: clock.now})
	for i := range DefaultMaxCookies + 1 {
		jar.Set(Exchange{URL: fmt.Sprintf("https://h%d.test/", i)}, "x=1")
		if i == DefaultMaxCookies-1 && jar.count != DefaultMaxCookies {
			t.Errorf("%d at the bound of all", jar.count)
		}
	}
	if jar.count != DefaultMaxCookies || count(jar, "h0.test") != 0 {
		t.Errorf("%d past the bound of all", jar.count)
	}
	jar = New(Options{Now: clock.now, MaxCookies: -1, MaxPerDomain: -1})
	fill(jar, "a.test", DefaultMaxCookies+1, "")
	if len(jar.All()) != DefaultMaxCookies+1 {
		t.Error("no bound was asked for")
	}
}

func TestAdd(t *testing.T) {
	t.Parallel()
	good := Cookie{Name: "x", Value: "1", Domain: "a.example.com", Path: "/"}
	for _, c := range []struct {
		name string
		edit func(*Cookie)
		ok   bool
	}{
		{"good", func(*Cookie) {}, true},
		{"value with an equals sign", func(c *Cookie) { c.Value = "a=b, \"c" }, true},
		{"no name", func(c *Cookie) { c.Name = "" }, false},
		{"semicolon", func(c *Cookie) { c.Value = "a; b" }, false},
		{"name with an equals sign", func(c *Cookie) { c.Name = "a=b" }, false},
		{"line break", func(c *Cookie) { c.Value = "a\r\nX: y" }, false},
		{"blank at the end", func(c *Cookie) { c.Value = "a " }, false},
		{"no domain", func(c *Cookie) { c.Domain = "" }, false},
		{"domain with a dot", func(c *Cookie) { c.Domain = ".example.com" }, false},
		{"domain in capitals", func(c *Cookie) { c.Domain = "Example.com" }, false},
		{"domain with a port", func(c *Cookie) { c.Domain = "example.com:80" }, false},
		{"suffix", func(c *Cookie) { c.Domain = "co.uk" }, false},
		{"suffix of one host", func(c *Cookie) { c.Domain, c.HostOnly = "co.uk", true }, true},
		{"no path", func(c *Cookie) { c.Path = "" }, false},
		{"too long", func(c *Cookie) { c.Value = strings.Repeat("x", MaxPair) }, false},
		{"year 10000", func(c *Cookie) { c.Expires = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) }, false},
		{"prefix", func(c *Cookie) { c.Name = "__Host-x" }, false},
		{"SameSite", func(c *Cookie) { c.SameSite = 9 }, false},
		{"partition of an insecure one", func(c *Cookie) { c.Partition = "https://a.test" }, false},
	} {
		k := good
		c.edit(&k)
		jar := new(Jar)
		err := jar.Add(good, k)
		var typed *Error
		if (err == nil) != c.ok || err != nil && (!errors.As(err, &typed) || len(jar.All()) != 0) {
			t.Errorf("%s: %v, %d kept", c.name, err, len(jar.All()))
		}
	}
}

func TestRemove(t *testing.T) {
	t.Parallel()
	jar := new(Jar)
	x := Exchange{URL: "https://a.test/"}
	jar.Set(x, "a=1", "b=1; Max-Age=60", "c=1; Secure")
	if !jar.Remove(jar.All()[0]) || jar.Remove(Cookie{Name: "a"}) || jar.Header(x) != "b=1; c=1" {
		t.Errorf("%q", jar.Header(x))
	}
	jar.EndSession()
	if jar.Header(x) != "b=1" || jar.secure != 0 {
		t.Errorf("%q", jar.Header(x))
	}
	jar.Clear()
	if jar.Header(x) != "" || jar.count != 0 || len(jar.domains) != 0 {
		t.Errorf("%q", jar.Header(x))
	}
}

func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	jar := New(Options{MaxCookies: 50, MaxPerDomain: 20})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for n := range 200 {
				x := Exchange{URL: fmt.Sprintf("https://h%d.test/", n%5)}
				jar.Set(x, fmt.Sprintf("c%d=%d; Secure", n%30, i))
				jar.Header(x)
				if n%50 == 0 {
					jar.All()
					jar.EndSession()
				}
			}
		})
	}
	wg.Wait()
	n, secure := 0, 0
	for _, list := range jar.domains {
		n += len(list)
		for _, e := range list {
			if e.Secure {
				secure++
			}
		}
	}
	if n != jar.count || n > 50 || secure != jar.secure {
		t.Errorf("%d cookies, %d secure; counted %d, %d", n, secure, jar.count, jar.secure)
	}
}

func TestDates(t *testing.T) {
	t.Parallel()
	want := time.Date(2030, 11, 6, 8, 49, 37, 0, time.UTC)
	for s, ok := range map[string]bool{
		"Wed, 06 Nov 2030 08:49:37 GMT":  true,
		"Wednesday, 06-Nov-30 08:49:37":  true,
		"Wed Nov  6 08:49:37 2030":       true,
		"2030 november 6th 8:49:37x":     true,
		"08:49:37 6 nov 30 1999":         true,
		"06 Nov 2030":                    false,
		"06 Nov 2030 24:00:00":           false,
		"06 Nov 2030 23:60:00":           false,
		"06 Nov 2030 23:00:60":           false,
		"31 Nov 2030 08:49:37":           false,
		"00 Nov 2030 08:49:37":           false,
		"06 Nov 1600 08:49:37":           false,
		"06 Nov 20300 08:49:37":          false,
		"06 Anf 2030 08:49:37":           false,
		"":                               false,
		"Wed, 06 Nov 2030 08:49:37:GMT ": true,
	} {
		if got, found := parseDate(s); found != ok || ok && !got.Equal(want) {
			t.Errorf("%q: %v %v", s, got, found)
		}
	}
	for s, year := range map[string]int{"1 Jan 70 0:0:0": 1970, "1 Jan 69 0:0:0": 2069, "1 Jan 99 0:0:0": 1999, "1 Jan 00 0:0:0": 2000, "1 Jan 1601 0:0:0": 1601} {
		if got, ok := parseDate(s); !ok || got.Year() != year {
			t.Errorf("%q: %v %v", s, got, ok)
		}
	}
}

// FuzzSet holds the parser to what it promises, against net/http where that can read the line.
func FuzzSet(f *testing.F) {
	f.Add("a=b; Path=/x; Domain=.example.com; Secure; HttpOnly; SameSite=Lax; Max-Age=3", "https://a.example.com/x")
	f.Add("a=\"b c\"; Expires=Wed, 06 Nov 2030 08:49:37 GMT; Partitioned", "http://[::1]/%66")
	f.Add("a=b; Domain=..x.example", "http://.x.example")
	f.Add("__Host-a=\xff\xfe;;;=;path", "https://co.uk/")
	f.Fuzz(func(t *testing.T, s, url string) {
		jar := new(Jar)
		x := Exchange{URL: url}
		set := jar.Set(x, s, s)
		c, err := Parse(x, s, time.Now())
		if (err == nil) != (len(set) == 2) {
			t.Fatalf("parsed %v, set %v", err, set)
		}
		if err != nil {
			return
		}
		if err := c.check(); err != nil {
			t.Fatalf("%+v: %v", c, err)
		}
		if hasControl(jar.Header(x)) || len(jar.All()) > 1 {
			t.Fatalf("%q %v", jar.Header(x), jar.All())
		}
		if known, err := http.ParseSetCookie(s); err == nil && known.Name != c.Name {
			t.Fatalf("%q for net/http %q", c.Name, known.Name)
		}
	})
}

func BenchmarkHeader(b *testing.B) {
	jar := new(Jar)
	x := Exchange{URL: "https://www.films.example/title/7"}
	for i := range 10 {
		jar.Set(x, fmt.Sprintf("c%d=value; Domain=films.example; Path=/", i))
	}
	b.ReportAllocs()
	for b.Loop() {
		jar.Header(x)
	}
}
