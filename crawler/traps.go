package crawler

import (
	"strings"

	"github.com/seine-go/seine/internal/weburl"
)

// Traps are the rules that keep a crawl out of parts of a site that never end. They hold for links and redirects, not
// for seeds and requests that a handler makes by itself. The zero value is the good default; a negative number switches
// its rule off.
type Traps struct {
	MaxURL      int // bytes of a URL; zero means 2,083
	MaxSegments int // of a path; zero means 40
	MaxRepeats  int // how often in a row the same segments may stand in a path: "a/b/a/b" is 2; zero means 2
	MaxParams   int // parameters of a query that have the same name; zero means 16
}

func (t Traps) withDefaults() Traps {
	const none = int(^uint(0) >> 1)
	return Traps{
		MaxURL: orDefault(t.MaxURL, 2083, none), MaxSegments: orDefault(t.MaxSegments, 40, none),
		MaxRepeats: orDefault(t.MaxRepeats, 2, none), MaxParams: orDefault(t.MaxParams, 16, none),
	}
}

// TrapError says which rule a URL breaks.
type TrapError struct{ URL, Rule string }

// Error names the URL and the rule.
func (e *TrapError) Error() string { return "seine: trap: " + weburl.Redact(e.URL) + ": " + e.Rule }

// check returns the rule that a URL breaks, or "".
func (t *Traps) check(u weburl.URL) string {
	segments := strings.Count(u.Path(), "/")
	switch {
	case len(u.Href()) > t.MaxURL:
		return "longer than the bound"
	case segments > t.MaxSegments:
		return "more segments than the bound"
	case segments > t.MaxRepeats && repeats(u.Path(), t.MaxRepeats):
		return "the same segments again and again"
	case u.HasQuery() && sameParams(u.Query(), t.MaxParams):
		return "the same parameter again and again"
	}
	return ""
}

// repeats reports whether some run of segments stands more than most times in a row.
func repeats(path string, most int) bool {
	const looked = 128 // segments; a longer path is beyond another bound
	var ends [looked]int
	n := 0
	for i := 1; i < len(path) && n < looked; i++ {
		if path[i] == '/' {
			ends[n] = i
			n++
		}
	}
	if n < looked && len(path) > 0 && path[len(path)-1] != '/' {
		ends[n] = len(path)
		n++
	}
	if n <= most || most <= 0 {
		return false
	}
	segment := func(i int) string {
		if i == 0 {
			return path[:ends[0]]
		}
		return path[ends[i-1]:ends[i]]
	}
	for size := 1; size*(most+1) <= n; size++ {
		run := 0 // segments that equal the one size before them
		for i := size; i < n; i++ {
			if segment(i) != segment(i-size) {
				run = 0
				continue
			}
			if run++; run >= size*most {
				return true
			}
		}
	}
	return false
}

// sameParams reports whether a name stands more than most times in a query.
func sameParams(query string, most int) bool {
	if strings.Count(query, "&") < most {
		return false
	}
	counts := make(map[string]int)
	for param := range strings.SplitSeq(query, "&") {
		name, _, _ := strings.Cut(param, "=")
		if counts[name]++; counts[name] > most {
			return true
		}
	}
	return false
}
