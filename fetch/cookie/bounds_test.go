package cookie

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seine-go/seine/internal/growthtest"
)

// A site with many subdomains, each with as many cookies as a domain may have, ends none of another site.
func TestSiteEndsNoCookiesOfOthers(t *testing.T) {
	t.Parallel()
	clock := newClock()
	jar := New(Options{Now: clock.now})
	login := Exchange{URL: "https://bank.example/"}
	jar.Set(login, "session=1; Secure")
	clock.pass(time.Second)
	for sub := range 40 {
		host := fmt.Sprintf("h%d.evil.example", sub)
		for i := range DefaultMaxPerDomain {
			jar.Set(Exchange{URL: "https://" + host + "/"}, fmt.Sprintf("c%d=1", i), fmt.Sprintf("d%d=1; Domain=%s", i, host), fmt.Sprintf("e%d=1; Domain=evil.example", i))
		}
	}
	if got := jar.Header(login); got != "session=1" {
		t.Errorf("the login sends %q", got)
	}
	if n := len(jar.All()); n != DefaultMaxPerDomain+1 {
		t.Errorf("%d cookies, %d of the site", n, n-1)
	}
	// Each name below a public suffix is a site of its own.
	jar = New(Options{MaxPerDomain: 1})
	jar.Set(Exchange{URL: "https://a.github.io/"}, "x=1")
	jar.Set(Exchange{URL: "https://b.github.io/"}, "x=1")
	jar.Set(Exchange{URL: "https://github.io/"}, "x=1")
	if n := len(jar.All()); n != 3 {
		t.Errorf("%d of three sites", n)
	}
}

func TestLinesOfAnswerAreBounded(t *testing.T) {
	t.Parallel()
	for n := MaxLines - 1; n <= MaxLines+1; n++ {
		lines := make([]string, n)
		for i := range lines {
			lines[i] = fmt.Sprintf("c%d=1", i)
		}
		jar := New(Options{MaxPerDomain: -1})
		set := jar.Set(Exchange{URL: "https://a.test/"}, lines...)
		if want := min(n, MaxLines); len(set) != want || len(jar.All()) != want {
			t.Errorf("%d lines set %d", n, len(set))
		}
	}
}

// Neither many lines of one site nor cookies of many sites cost more in a jar that holds much.
func TestEvictionIsCheap(t *testing.T) {
	site := func(i int) string { return fmt.Sprintf("h%d.test", i) }
	full := func(n int) *Jar {
		jar := New(Options{MaxCookies: n})
		for i := range n {
			if err := jar.Add(Cookie{Name: "x", Domain: site(i), Path: "/"}); err != nil {
				t.Fatal(err)
			}
		}
		return jar
	}
	size := func(size int) string { return strings.Repeat("x", size/16) }
	growthtest.Linear(t, "lines of one site", size, func(s string) {
		jar := full(len(s))
		for i := range len(s) {
			jar.Set(Exchange{URL: "https://evil.test/"}, fmt.Sprintf("c%d=1", i))
		}
	})
	growthtest.Linear(t, "many sites", size, func(s string) {
		jar := full(len(s))
		for i := range len(s) {
			jar.Set(Exchange{URL: "https://" + site(-1-i) + "/"}, "x=1; Secure")
			jar.Set(Exchange{URL: "http://" + site(i) + "/"}, "x=2")
		}
	})
}

// modelJar keeps the rules of a jar's bounds in the plainest way.
type modelJar struct {
	cookies   []*modelCookie
	site, all int
	seq       int
}

type modelCookie struct {
	name, site    string
	secure        bool
	used, expires time.Time
	seq           int
}

func (m *modelJar) set(c modelCookie, now time.Time) {
	m.seq++
	c.seq, c.used = m.seq, now
	m.cookies = append(m.cookies, &c)
	ofSite := func(site string) func(*modelCookie) bool {
		return func(c *modelCookie) bool { return site == "" || c.site == site }
	}
	for _, b := range []struct {
		most int
		of   func(*modelCookie) bool
	}{{m.site, ofSite(c.site)}, {m.all, ofSite("")}} {
		for {
			var in []*modelCookie
			for _, c := range m.cookies {
				if b.of(c) {
					in = append(in, c)
				}
			}
			if len(in) <= b.most {
				break
			}
			expired := func(c *modelCookie) bool { return !c.expires.IsZero() && !c.expires.After(now) }
			if before := len(m.cookies); before > len(slices.DeleteFunc(slices.Clone(m.cookies), expired)) {
				m.cookies = slices.DeleteFunc(m.cookies, expired)
				continue
			}
			victim := in[0]
			for _, c := range in[1:] {
				insecure := b.most == m.site && victim.secure && !c.secure
				peers := b.most != m.site || victim.secure == c.secure
				if insecure || peers && (c.used.Before(victim.used) || c.used.Equal(victim.used) && c.seq < victim.seq) {
					victim = c
				}
			}
			m.cookies = slices.DeleteFunc(m.cookies, func(c *modelCookie) bool { return c == victim })
		}
	}
}

// Random histories, with a clock that is set back at times, leave in a jar what the rules leave.
func TestBoundsEqualTheModel(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		clock := newClock()
		m := &modelJar{site: 5, all: 17}
		jar := New(Options{Now: clock.now, MaxPerDomain: m.site, MaxCookies: m.all})
		for op := range 300 {
			clock.pass(time.Duration(r.IntN(4)) * time.Second)
			if r.IntN(20) == 0 {
				clock.pass(-3 * time.Second)
			}
			now := clock.now()
			host := fmt.Sprintf("%c.h%d.test", 'a'+r.IntN(3), r.IntN(6))
			if r.IntN(3) == 0 {
				jar.Header(Exchange{URL: "https://" + host + "/"})
				for _, c := range m.cookies {
					live := c.expires.IsZero() || c.expires.After(now)
					if strings.HasPrefix(c.name, host) && live && now.After(c.used) {
						c.used = now
					}
				}
				continue
			}
			c := modelCookie{name: fmt.Sprintf("%s-%d", host, op), site: host[2:], secure: r.IntN(2) == 0}
			line := c.name + "=1"
			if c.secure {
				line += "; Secure"
			}
			if r.IntN(3) == 0 {
				age := 1 + r.IntN(20)
				c.expires = now.Add(time.Duration(age) * time.Second)
				line += fmt.Sprintf("; Max-Age=%d", age)
			}
			jar.Set(Exchange{URL: "https://" + host + "/"}, line)
			m.set(c, now)
			var got, want []string
			for _, c := range jar.All() {
				got = append(got, c.Name)
			}
			for _, c := range m.cookies {
				if c.expires.IsZero() || c.expires.After(now) {
					want = append(want, c.name)
				}
			}
			if !slices.Equal(got, want) {
				t.Fatalf("seed %d, step %d:\n got %q\nwant %q", seed, op, got, want)
			}
		}
	}
}
