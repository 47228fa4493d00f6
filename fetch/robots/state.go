package robots

import (
	"time"
)

// Source is what a Decision rests on.
type Source uint8

// The sources of decisions.
const (
	SourceRules       Source = iota // the lines of a robots.txt
	SourceAllowAll                  // there is no robots.txt, or none with rules
	SourceDisallowAll               // the origin could not be asked: all but /robots.txt is forbidden for now
)

// String returns "rules", "allow-all" or "disallow-all".
func (s Source) String() string {
	switch s {
	case SourceRules:
		return "rules"
	case SourceAllowAll:
		return "allow-all"
	case SourceDisallowAll:
		return "disallow-all"
	}
	return "unknown"
}

// Decision is the answer of a Cache about one URL.
type Decision struct {
	Allowed bool
	Source  Source
	Rule    Rule // that decides; the zero Rule when none does

	// CrawlDelay is the pause between requests that the site asks for, at most MaxCrawlDelay; 0 for none.
	CrawlDelay time.Duration

	Status    int       // of the last answer; 0 when there was none
	FetchedAt time.Time // when what holds was fetched; zero when nothing was

	// Err says why the origin could not be asked when it was tried last; nil when it could. Stale says that rules from
	// before hold meanwhile.
	Err   error
	Stale bool
	// RetryIn is positive for SourceDisallowAll, else 0: after that time the first Check that comes asks the origin again,
	// and what is forbidden now may be allowed.
	RetryIn time.Duration
}

// state is what is known of an origin. It is immutable.
type state struct {
	source   Source
	rules    *Rules // nil for none
	sitemaps []string
	isCopy   bool // of a robots.txt that was answered with 2xx, and goes on when the origin cannot be asked
	status   int
	fetched  time.Time
	due      time.Time // when the origin is to be asked again
	bytes    int64     // of memory, about

	since time.Time // of when on the origin could not be asked; zero when it could
	tries int       // in vain since then
	err   error     // of the last try
}

// decide applies a state to a target. It is the same whether or not the state is due.
func (s *state) decide(target string, now time.Time) Decision {
	d := Decision{Allowed: true, Source: s.source, Status: s.status, FetchedAt: s.fetched, Err: s.err}
	d.Stale = s.isCopy && !s.since.IsZero()
	if s.source == SourceDisallowAll {
		d.Allowed = canonical(target) == Path
		d.RetryIn = max(s.due.Sub(now), 1)
		return d
	}
	d.Rule, d.Allowed = s.rules.Match(target)
	d.CrawlDelay, _ = s.rules.CrawlDelay()
	return d
}

// known returns the state that follows from an answer.
func (c *Cache) known(a answer, fetched time.Time) *state {
	s := &state{source: SourceAllowAll, status: a.status, fetched: fetched, due: fetched.Add(a.ttl)}
	if !a.hasFile {
		s.bytes = entryBytes
		return s
	}
	file := parse(a.body, a.cut)
	s.isCopy = true
	s.rules = file.Agent(c.set.agent)
	s.sitemaps = file.sitemaps
	if file.rules > 0 {
		s.source = SourceRules
	}
	s.bytes = entryBytes + int64(s.rules.size())
	for _, sitemap := range s.sitemaps {
		s.bytes += int64(len(sitemap)) + 16
	}
	return s
}

// entryBytes is about what an origin takes beside its rules.
const entryBytes = 600

// unknown returns the state that follows when an origin could not be asked.
func (c *Cache) unknown(before *state, a answer, now time.Time) *state {
	s := &state{source: SourceDisallowAll, bytes: entryBytes, since: now}
	if before != nil {
		if before.isCopy {
			*s = *before
		}
		s.tries, s.since = before.tries, before.since
		if s.since.IsZero() {
			s.since = now
		}
	}
	s.status, s.err = a.status, a.err
	if !s.isCopy && c.set.outage > 0 && now.Sub(s.since) >= c.set.outage {
		s.source = SourceAllowAll
	}
	pause := c.set.retryMin
	for i := 0; i < s.tries && pause < c.set.retryMax; i++ {
		pause *= 2
	}
	s.due = now.Add(min(max(pause, a.wait), c.set.retryMax))
	s.tries++
	return s
}
