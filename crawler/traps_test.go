package crawler

import (
	"strings"
	"testing"

	"github.com/seine-go/seine/internal/weburl"
)

func TestTraps(t *testing.T) {
	t.Parallel()
	traps := Traps{}.withDefaults()
	off := Traps{MaxURL: -1, MaxSegments: -1, MaxRepeats: -1, MaxParams: -1}.withDefaults()
	at := "http://films.example/"
	for _, c := range []struct {
		url  string
		trap bool
	}{
		{at, false},
		{at + "2024/01/01/", false},
		{at + "a/a", false},
		{at + "a/a/a", true},
		{at + "a/a/a/", true},
		{at + "x/a/a/a/y", true},
		{at + "a/b/a/b", false},
		{at + "a/b/a/b/a/b", true},
		{at + "a/b/c/a/b/c/a/b/c/d", true},
		{at + "a/b/c/a/b/c/a/b/d", false},
		{at + strings.Repeat("x", 2083-len(at)), false},
		{at + strings.Repeat("x", 2084-len(at)), true},
		{at + segments(40), false},
		{at + segments(41), true},
		{at + "?" + strings.Repeat("q=1&", 15) + "q=1", false},
		{at + "?" + strings.Repeat("q=1&", 16) + "q=1", true},
		{at + "?" + strings.Repeat("q&", 100) + "q", true},
	} {
		u, err := weburl.Parse(c.url)
		if err != nil {
			t.Fatal(err)
		}
		if rule := traps.check(u); (rule != "") != c.trap {
			t.Errorf("%.80s: %q", c.url, rule)
		}
		if rule := off.check(u); rule != "" {
			t.Errorf("switched off: %.80s: %q", c.url, rule)
		}
	}
}

// segments is a path of n different segments.
func segments(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(string(rune('a'+i%26)), 1+i/26))
		if i < n-1 {
			b.WriteByte('/')
		}
	}
	return b.String()
}
