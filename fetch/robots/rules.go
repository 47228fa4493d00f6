package robots

import (
	"cmp"
	"slices"
	"sort"
	"strings"
	"time"
)

// Path is where a robots.txt lies on every origin.
const Path = "/robots.txt"

// Rules are the rules of one robots.txt for one agent. They are immutable and safe for concurrent use. The zero value,
// or nil, allows everything.
type Rules struct {
	all      index // every rule, for the target as it is
	query    index // those that name a question mark, for the target with its query loosened
	loose    bool  // some rule of query differs from its form in all
	delay    time.Duration
	hasDelay bool
}

// index finds the most specific pattern. A file of n plain paths costs the logarithm of n; patterns with wildcards are
// tried one by one, the most specific first.
type index struct {
	prefixes []prefix // in order of text, each once
	patterns []pattern
}

// prefix is a pattern that is a mere prefix.
type prefix struct {
	pattern
	text string
	up   int // the longest other prefix that begins this one; -1 for none
}

// compile fills in the indexes.
func (r *Rules) compile(rules []rule) {
	var all, query []pattern
	for _, source := range rules {
		p := compile(source)
		all = append(all, p)
		if q, changed, ok := p.loosened(); ok {
			query = append(query, q)
			r.loose = r.loose || changed
		}
	}
	r.all, r.query = newIndex(all), newIndex(query)
}

func newIndex(patterns []pattern) (x index) {
	for _, p := range patterns {
		if p.isPrefix() {
			x.prefixes = append(x.prefixes, prefix{pattern: p, text: p.literals[0]})
		} else {
			x.patterns = append(x.patterns, p)
		}
	}
	slices.SortStableFunc(x.patterns, specificFirst)
	slices.SortStableFunc(x.prefixes, func(a, b prefix) int {
		return cmp.Or(strings.Compare(a.text, b.text), specificFirst(a.pattern, b.pattern))
	})
	x.prefixes = slices.CompactFunc(x.prefixes, func(a, b prefix) bool { return a.text == b.text })
	for i := range x.prefixes {
		up := i - 1
		for up >= 0 && !strings.HasPrefix(x.prefixes[i].text, x.prefixes[up].text) {
			up = x.prefixes[up].up
		}
		x.prefixes[i].up = up
	}
	return x
}

// specificFirst orders patterns so that none beats one before it.
func specificFirst(a, b pattern) int {
	switch {
	case a.beats(&b):
		return -1
	case b.beats(&a):
		return 1
	}
	return 0
}

// find returns the most specific pattern that matches a canonical target, nil for none.
func (x *index) find(target string) *pattern {
	best := x.findPrefix(target)
	for i := range x.patterns {
		p := &x.patterns[i]
		if !p.beats(best) {
			break // nor does any after it
		}
		if p.match(target) {
			return p
		}
	}
	return best
}

// findPrefix returns the longest prefix of a target. All prefixes of it begin the last text that is not behind it in
// order, so that they lie on the way up from there.
func (x *index) findPrefix(target string) *pattern {
	i := sort.Search(len(x.prefixes), func(i int) bool { return x.prefixes[i].text > target }) - 1
	for ; i >= 0; i = x.prefixes[i].up {
		if strings.HasPrefix(target, x.prefixes[i].text) {
			return &x.prefixes[i].pattern
		}
	}
	return nil
}

// Allowed reports whether a target may be fetched: path and query as they are sent, or a whole URL, of which scheme and
// host do not matter. Fragments are ignored; what is neither path nor URL is taken for a path without its slash.
//
// It does not allocate for a target without percent signs.
func (r *Rules) Allowed(target string) bool {
	_, allowed := r.Match(target)
	return allowed
}

// Match is Allowed and also tells the rule that decides, which is the zero Rule where none matches. /robots.txt is
// always allowed.
func (r *Rules) Match(target string) (rule Rule, allowed bool) {
	if r == nil {
		return Rule{}, true
	}
	target = canonical(requestTarget(target))
	if target == Path {
		return Rule{}, true
	}
	best := r.all.find(target)
	if strings.IndexByte(target, '?') >= 0 {
		loose := loosen(target)
		if r.loose || loose != target {
			if p := r.query.find(loose); p != nil && p.beats(best) {
				best = p
			}
		}
	}
	if best == nil {
		return Rule{}, true
	}
	return best.rule, best.allow
}

// CrawlDelay returns the pause between requests that the site asks for. It is not negative and at most MaxCrawlDelay.
func (r *Rules) CrawlDelay() (time.Duration, bool) {
	if r == nil {
		return 0, false
	}
	return r.delay, r.hasDelay
}

// size estimates the memory that the rules take, in bytes.
func (r *Rules) size() int {
	const perPattern = 160
	n := perPattern
	for _, x := range []*index{&r.all, &r.query} {
		for i := range x.prefixes {
			n += 2*perPattern + len(x.prefixes[i].text) + len(x.prefixes[i].rule.Text)
		}
		for i := range x.patterns {
			n += perPattern + x.patterns[i].length + len(x.patterns[i].rule.Text)
		}
	}
	return n
}

// requestTarget returns path and query of a target or URL.
func requestTarget(target string) string {
	if i := strings.IndexByte(target, '#'); i >= 0 {
		target = target[:i]
	}
	if strings.HasPrefix(target, "/") {
		return target
	}
	if i := strings.Index(target, "://"); i > 0 && !strings.ContainsAny(target[:i], "/?") {
		target = target[i+len("://"):]
		if i = strings.IndexAny(target, "/?"); i < 0 {
			return "/"
		}
		if target = target[i:]; target[0] == '/' {
			return target
		}
	}
	if target == "" {
		return "/"
	}
	return "/" + target
}
