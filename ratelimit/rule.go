package ratelimit

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Bounds of rules.
const (
	MaxRules  = 10_000
	MaxBurst  = 1 << 40 // permits
	MaxWarmUp = 30 * 24 * time.Hour
	MaxPer    = 365 * 24 * time.Hour
	MaxN      = 1 << 50 // permits of a Rate
)

// DefaultMaxWait and DefaultSmoothWait bound waits, the latter under rules with a Peak.
const (
	DefaultMaxWait    = time.Minute
	DefaultSmoothWait = 5 * time.Second
)

// Rule is a limit for the keys that it matches.
type Rule struct {
	// Match names keys, in any case of letters:
	//
	//	films.example        that host, with any port and without
	//	films.example:8080   that key alone
	//	*.films.example      all hosts below it, with any port and without; also with a port of its own
	//	*                    all
	//
	// The first of these kinds that has a match counts, and of several wildcards the longest. Addresses and ports are
	// to be in their usual form, IPv6 in brackets, and names in ASCII, as in keys.
	Match string

	// Rate is what is let through in the long run. Zero is an error.
	Rate Rate
	// Burst is how many permits can be saved up while none are asked for. Zero means 1: a leaky bucket, that lets out
	// one permit after the other in equal steps.
	Burst int64
	// Peak, if not zero, spaces the permits of a burst by a second, higher rate, so that bursts are admitted and still
	// come out smoothly.
	Peak Rate
	// WarmUp is the time in which a key that is new, or was left alone for as long, comes from a third of the rate, and
	// of the burst, to the whole. Zero means none.
	WarmUp time.Duration
	// MaxWait bounds waits. Zero means DefaultMaxWait, or DefaultSmoothWait with a Peak; negative no bound.
	MaxWait time.Duration
	// Shared makes one limit of all keys that the rule matches; else each has its own.
	Shared bool
}

// RuleError says what is wrong with a rule.
type RuleError struct {
	Match  string
	Reason string
}

// Error names the rule and the reason.
func (e *RuleError) Error() string { return fmt.Sprintf("seine: rule for %q: %s", e.Match, e.Reason) }

// rule is a Rule that is ready.
type rule struct {
	match     string // in its normal form
	unlimited bool
	rate      pace
	peak      pace // of n 0: none
	warm      warmUp
	maxWait   time.Duration
	shared    *bucket
}

// ruleSet finds the rule of a key.
type ruleSet struct {
	exact map[string]*rule // keys and hosts
	below map[string]*rule // wildcards, without the "*."
	rest  *rule
}

// newRuleSet checks rules. A shared limit of one that was there before lives on.
func newRuleSet(rules []Rule, before *ruleSet, now int64) (*ruleSet, error) {
	if len(rules) > MaxRules {
		return nil, fmt.Errorf("seine: %d rules are more than %d", len(rules), MaxRules)
	}
	s := &ruleSet{exact: map[string]*rule{}, below: map[string]*rule{}}
	for _, given := range rules {
		r, err := given.compile()
		if err != nil {
			return nil, err
		}
		if s.find(r.match) != nil {
			return nil, &RuleError{given.Match, "there is another rule for it already, so that this one matches nothing"}
		}
		s.put(r)
		if given.Shared && !r.unlimited {
			r.shared = newBucket("", r, now)
			if old := before.find(r.match); old != nil && old.shared != nil {
				r.shared = old.shared
			}
		}
	}
	return s, nil
}

// find returns the rule of just this match.
func (s *ruleSet) find(match string) *rule {
	if s == nil {
		return nil
	}
	if match == "*" {
		return s.rest
	}
	if name, ok := strings.CutPrefix(match, "*."); ok {
		return s.below[name]
	}
	return s.exact[match]
}

func (s *ruleSet) put(r *rule) {
	if r.match == "*" {
		s.rest = r
	} else if name, ok := strings.CutPrefix(r.match, "*."); ok {
		s.below[name] = r
	} else {
		s.exact[r.match] = r
	}
}

// match returns the rule for a key in lower case; nil if there is none.
func (s *ruleSet) match(key string) *rule {
	if len(s.exact) > 0 {
		if r := s.exact[key]; r != nil {
			return r
		}
		if r := s.exact[hostOf(key)]; r != nil {
			return r
		}
	}
	if len(s.below) == 0 {
		return s.rest
	}
	host := hostOf(key)
	for i := strings.IndexByte(host, '.'); i >= 0 && host[0] != '['; { // a key is bounded, so this is
		if r := s.below[key[i+1:]]; r != nil {
			return r
		}
		if r := s.below[host[i+1:]]; r != nil {
			return r
		}
		next := strings.IndexByte(host[i+1:], '.')
		if next < 0 {
			break
		}
		i += 1 + next
	}
	return s.rest
}

// hostOf returns the key without its port.
func hostOf(key string) string {
	i := strings.LastIndexByte(key, ':')
	if i < 0 || strings.IndexByte(key[i:], ']') >= 0 || strings.IndexByte(key[:i], ':') >= 0 && key[i-1] != ']' {
		return key
	}
	return key[:i]
}

// compile checks a rule.
func (g Rule) compile() (*rule, error) {
	r := &rule{match: fold(g.Match), unlimited: g.Rate.N < 0, maxWait: g.MaxWait, warm: warmUp(max(g.WarmUp, 0))}
	if why := checkMatch(r.match); why != "" {
		return nil, &RuleError{g.Match, why}
	}
	if why := g.check(); why != "" {
		return nil, &RuleError{g.Match, why}
	}
	if r.unlimited {
		return r, nil
	}
	r.rate = newPace(g.Rate, max(g.Burst, 1))
	switch {
	case g.MaxWait != 0:
	case g.Peak.N > 0:
		r.maxWait = DefaultSmoothWait
	default:
		r.maxWait = DefaultMaxWait
	}
	if g.Peak.N > 0 {
		r.peak = newPace(g.Peak, 1)
	}
	return r, nil
}

func newPace(r Rate, burst int64) pace {
	d := gcd(uint64(r.N), uint64(r.Per))
	return pace{uint64(r.N) / d, uint64(r.Per) / d, burst}
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// check says what is wrong with the numbers of a rule.
func (g *Rule) check() string {
	switch {
	case g.Rate.N < 0:
		return ""
	case g.Rate == Rate{}:
		return "no rate"
	case !g.Rate.valid():
		return "the rate " + g.Rate.String() + " is none"
	case g.Burst < 0 || g.Burst > MaxBurst:
		return fmt.Sprintf("a burst of %d", g.Burst)
	case g.WarmUp < 0 || g.WarmUp > MaxWarmUp:
		return fmt.Sprintf("a warm-up of %v", g.WarmUp)
	case g.Peak == Rate{} || g.Peak.N < 0:
		return ""
	case !g.Peak.valid():
		return "the peak " + g.Peak.String() + " is none"
	case !g.Peak.above(g.Rate):
		return "the peak " + g.Peak.String() + " is not above the rate " + g.Rate.String()
	}
	return ""
}

func (r Rate) valid() bool { return r.N > 0 && r.N <= MaxN && r.Per > 0 && r.Per <= MaxPer }

// checkMatch says why a match in lower case can match nothing.
func checkMatch(match string) string {
	if match == "*" {
		return ""
	}
	name, wild := strings.CutPrefix(match, "*.")
	host := hostOf(name)
	for i := range len(name) {
		if c := name[i]; c <= ' ' || c >= 0x7f || strings.IndexByte(`*/\?#@%<>^|"`, c) >= 0 {
			return "no key has " + strconv.QuoteRune(rune(c)) + " there: hosts stand without scheme and path, in ASCII"
		}
	}
	if len(host) < len(name) {
		port := name[len(host)+1:]
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 || strconv.FormatUint(n, 10) != port {
			return "no port is " + strconv.Quote(port)
		}
	}
	switch {
	case host == "":
		return "an empty name"
	case len(match) > MaxKey:
		return "the name is too long"
	case strings.ContainsAny(host, "[]:"):
		addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
		if err != nil || wild || "["+addr.String()+"]" != host {
			return "no address is written so; IPv6 stands in brackets, and without a wildcard"
		}
		return ""
	}
	return checkLabels(host, wild)
}

// checkLabels is for names and IPv4 addresses.
func checkLabels(host string, wild bool) string {
	labels := strings.Split(strings.TrimSuffix(host, "."), ".")
	if slices.Contains(labels, "") {
		return "an empty label"
	}
	// A name whose last label is a number is an address (WHATWG URL, "ends in a number").
	if strings.Trim(labels[len(labels)-1], "0123456789") == "" {
		if addr, err := netip.ParseAddr(host); err != nil || wild || addr.String() != host {
			return "no address is written so; an address has no wildcard"
		}
	}
	return ""
}

// fold returns s in lower case, as far as ASCII goes.
func fold(s string) string {
	for i := range len(s) {
		if 'A' <= s[i] && s[i] <= 'Z' {
			return strings.ToLower(s)
		}
	}
	return s
}
