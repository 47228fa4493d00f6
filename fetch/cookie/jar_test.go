package cookie

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
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
		if i == DefaultMaxCookies-1 && len(jar.byUse) != DefaultMaxCookies {
			t.Errorf("%d at the bound of all", len(jar.byUse))
		}
	}
	if len(jar.byUse) != DefaultMaxCookies || count(jar, "h0.test") != 0 {
		t.Errorf("%d past the bound of all", len(jar.byUse))
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
	if jar.Header(x) != "" || len(jar.byUse) != 0 || len(jar.sites) != 0 {
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
	for _, list := range jar.sites {
		n += len(list)
		for _, e := range list {
			if e.Secure {
				secure++
			}
		}
	}
	if n != len(jar.byUse) || n > 50 || secure != jar.secure {
		t.Errorf("%d cookies, %d secure; counted %d, %d", n, secure, len(jar.byUse), jar.secure)
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
