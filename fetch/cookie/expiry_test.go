package cookie

import (
	"testing"
	"testing/synctest"
	"time"
)

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
