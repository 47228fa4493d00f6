package cookie

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

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
