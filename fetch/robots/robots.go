// Package robots asks sites what a crawler may fetch, as RFC 9309 says.
//
//	rules := &robots.Cache{Fetcher: transport, Agent: "mybot"}
//	d, err := rules.Check(ctx, "https://films.example/private/x")
//	if err == nil && !d.Allowed {
//		fmt.Println(d.Source, d.Rule) // rules line 2: Disallow: /private
//	}
//
// Parse reads a file by itself; a Cache asks each origin once, however many wait, and keeps the answer. The package does
// not pace requests: a crawl-delay is data for whoever does. Robots metas and X-Robots-Tag are no matter of it.
package robots

import (
	"strconv"
	"strings"
	"time"
)

const (
	// MaxSize is how many bytes of a robots.txt count, in 500 KiB as RFC 9309 2.5 demands at least. The line that is cut by
	// the bound is left out, since half a rule is another rule.
	MaxSize = 500 << 10

	// MaxCrawlDelay is the greatest crawl-delay that is reported: what asks for more gets this.
	MaxCrawlDelay = 5 * time.Minute

	// maxLine is how many bytes of a line count; the rest of it is ignored, as Google's parser does.
	maxLine = 2083*8 - 1
)

// File is a parsed robots.txt. It is immutable and safe for concurrent use; the zero value is an empty file.
type File struct {
	// Cut says that there was more than MaxSize.
	Cut bool

	groups   []group
	sitemaps []string
	rules    int // allow and disallow lines inside groups, also those without effect
}

// group is what stands between two lines that begin a group: agents, and the rules for all of them.
type group struct {
	sections []section
	rules    []rule
}

// section is a run of agents of a group that share a crawl-delay. Such a line is no rule and so does not end a group
// (RFC 9309 2.2.4), but it is meant only for the agents right before it.
type section struct {
	agents   []string
	delay    time.Duration
	hasDelay bool
}

// rule is an allow or disallow line that has an effect.
type rule struct {
	Rule
	allow   bool
	pattern string // as in the file
}

// Rule is a line of a robots.txt, for explanations. The zero value is no rule.
type Rule struct {
	Line int    // counted from 1
	Text string // without comment and blanks around it
}

// String returns "line 3: Disallow: /private", or "no rule".
func (r Rule) String() string {
	if r.Line == 0 {
		return "no rule"
	}
	return "line " + strconv.Itoa(r.Line) + ": " + r.Text
}

// Parse reads the body of a robots.txt, content codings removed. It takes anything and never fails: lines it cannot
// read are ignored, and a page of HTML has no rules. Lines may end in LF, CR LF or CR; UTF-16 is understood where a byte
// order mark says so. The body is not kept.
func Parse(body []byte) *File { return parse(body, false) }

// Sitemaps returns the values of all sitemap lines in their order, whatever group they stand in. The list is a copy; its
// members are not checked to be URLs.
func (f *File) Sitemaps() []string { return append([]string(nil), f.sitemaps...) }

// Agent returns the rules for the crawler with a product token, compared without regard to case (RFC 9309 2.2.1): all
// groups that name it taken together, else those for "*", else none. A group that names it and has no rules leaves it
// free. Where a whole User-Agent header is given, its ProductToken counts.
//
// Work is in proportion to the file: keep the result.
func (f *File) Agent(product string) *Rules {
	if ValidAgent(product) != nil {
		if token, ok := ProductToken(product); ok {
			product = token
		}
	}
	if r, found := f.collect(product); found {
		return r
	}
	r, _ := f.collect("*")
	return r
}

// collect merges the groups that name a token. Of several crawl-delays the longest counts.
func (f *File) collect(token string) (r *Rules, found bool) {
	r = &Rules{}
	var rules []rule
	for _, g := range f.groups {
		named := false
		for _, s := range g.sections {
			if !s.names(token) {
				continue
			}
			named = true
			if s.hasDelay {
				r.delay, r.hasDelay = max(r.delay, s.delay), true
			}
		}
		if named {
			found = true
			rules = append(rules, g.rules...)
		}
	}
	r.compile(rules)
	return r, found
}

func (s *section) names(token string) bool {
	for _, a := range s.agents {
		if strings.EqualFold(a, token) {
			return true
		}
	}
	return false
}
