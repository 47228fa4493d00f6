package crawltest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/seine-go/seine/fetch/robots"
)

// Audit is the account that an Auditor kept.
type Audit struct {
	Hosts       []HostAudit // by name
	Addresses   []HostAudit // of the servers, where they are known; without Requests and Agents
	Connections map[string]ConnAudit
	Exchanges   int64 // with all hosts
	InFlight    int   // now
	MaxInFlight int   // at a time, over all hosts
	Unlisted    int64 // exchanges with hosts that there was no room for; nothing else is known of them
}

// HostAudit is the account of a host, or of an address.
type HostAudit struct {
	Host         string // as it was asked, lower case, with its port where that is not the scheme's
	Exchanges    int64
	InFlight     int              // now
	MaxInFlight  int              // at a time
	LeastDelay   Gap              // from the end of an exchange to the start of the next; 0 if they overlap
	LeastSpacing Gap              // from start to start
	BeforeRobots int64            // requests for something else before robots.txt was answered
	Requests     map[string]Count // by path and query; methods other than GET stand before it: "POST /search"
	Agents       map[string]int64 // requests by User-Agent
	Unlisted     int64            // requests that Requests had no room for
}

// Gap is the least time between two exchanges.
type Gap struct {
	Least         time.Duration
	Before, After string // the two, as host, path and query; "" where there were not two
}

// Count counts requests for one thing.
type Count struct {
	Asked    int64
	Answered int64 // to the end, with 2xx or 304
	Repeated int64 // asked again after it had been answered
}

// Policy is what a crawl is to keep to. The zero value asks for what holds for every polite crawl: one request in flight
// for each host, robots.txt first, nothing twice.
type Policy struct {
	Delay       time.Duration // least time from the end of an exchange with a host to the start of the next; zero means none
	Spacing     time.Duration // the same from start to start; zero means none
	MaxInFlight int           // for a host at a time; zero means 1, negative no limit

	// The same for an address of a server, and for all hosts together. Zero means no limit.
	AddressDelay, AddressSpacing time.Duration
	AddressInFlight              int
	TotalInFlight                int
	MaxConnections               int // open at an address at a time; known where a Listener counts them

	// Tolerance is what scheduling and timers may take from a gap between client and server. Zero means 5 ms or a tenth
	// of the gap, whichever is more; negative none, for clocks that stand still while programs run (testing/synctest).
	Tolerance time.Duration

	// Robots holds robots.txt by host; that of "" is for hosts that are not named. What it forbids must not be asked for,
	// and its crawl-delay counts where it is more than Delay. It is read by package robots.
	Robots map[string]string
	// Agent is the token by which the crawler finds its group in Robots. If it is not empty, the User-Agent of every
	// request must have it in it, in any case.
	Agent string

	IgnoreRobots bool // robots.txt need not be asked for before anything else
	AllowRepeats bool // what was answered may be asked for again
}

// Rule names what a Violation is against.
type Rule string

// The rules.
const (
	RuleDelay       Rule = "delay"
	RuleSpacing     Rule = "spacing"
	RuleInFlight    Rule = "in flight"
	RuleConnections Rule = "connections"
	RuleRobotsFirst Rule = "robots.txt first"
	RuleDisallowed  Rule = "disallowed"
	RuleAgent       Rule = "agent"
	RuleRepeat      Rule = "repeat"
	RuleUnlisted    Rule = "unlisted" // the account has no room for all, so that nothing can be said of the rest
)

// Violation is a rule that a crawl has broken. There is one for each rule and host, and for each request where the
// rule is about what was asked for.
type Violation struct {
	Rule Rule
	Host string // or address; "" for all together
	Text string // what happened
}

// String returns all of it.
func (v Violation) String() string {
	if v.Host == "" {
		return fmt.Sprintf("%s: %s", v.Rule, v.Text)
	}
	return fmt.Sprintf("%s: %s: %s", v.Rule, v.Host, v.Text)
}

// Check returns how the policy was broken, by host; nothing if it was not.
func (a *Audit) Check(p Policy) []Violation {
	var c checker
	for i := range a.Hosts {
		c.host(&a.Hosts[i], p)
	}
	for i := range a.Addresses {
		h := &a.Addresses[i]
		c.pace(h, p.AddressDelay, p.AddressSpacing, p.AddressInFlight, p.Tolerance)
	}
	for _, addr := range slices.Sorted(maps.Keys(a.Connections)) {
		if n := a.Connections[addr].MaxOpen; p.MaxConnections > 0 && n > p.MaxConnections {
			c.add(RuleConnections, addr, "%d connections open at a time, want at most %d", n, p.MaxConnections)
		}
	}
	if p.TotalInFlight > 0 && a.MaxInFlight > p.TotalInFlight {
		c.add(RuleInFlight, "", "%d requests at a time over all hosts, want at most %d", a.MaxInFlight, p.TotalInFlight)
	}
	if a.Unlisted > 0 {
		c.add(RuleUnlisted, "", "%d exchanges with hosts beyond MaxHosts", a.Unlisted)
	}
	return c
}

// checker collects violations.
type checker []Violation

func (c *checker) add(r Rule, host, format string, args ...any) {
	*c = append(*c, Violation{r, host, fmt.Sprintf(format, args...)})
}

func (c *checker) host(h *HostAudit, p Policy) {
	delay := p.Delay
	rules := rulesOf(h.Host, p)
	if d, ok := rules.CrawlDelay(); ok {
		delay = max(delay, d)
	}
	inFlight := p.MaxInFlight
	if inFlight == 0 {
		inFlight = 1
	}
	c.pace(h, delay, p.Spacing, inFlight, p.Tolerance)
	if !p.IgnoreRobots && h.BeforeRobots > 0 {
		c.add(RuleRobotsFirst, h.Host, "%d requests before robots.txt was answered", h.BeforeRobots)
	}
	if p.Agent != "" {
		for _, agent := range slices.Sorted(maps.Keys(h.Agents)) {
			if !strings.Contains(strings.ToLower(agent), strings.ToLower(p.Agent)) {
				c.add(RuleAgent, h.Host, "%d requests by %q, which does not name %q", h.Agents[agent], agent, p.Agent)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(h.Requests)) {
		n := h.Requests[name]
		if r, ok := rules.Match(target(name)); !ok {
			c.add(RuleDisallowed, h.Host, "%s was asked for %d times against %s", name, n.Asked, r)
		}
		if !p.AllowRepeats && n.Repeated > 0 {
			c.add(RuleRepeat, h.Host, "%s was asked for %d times after it had been answered", name, n.Repeated)
		}
	}
	if h.Unlisted > 0 {
		c.add(RuleUnlisted, h.Host, "%d requests beyond MaxURLs", h.Unlisted)
	}
}

// pace checks how often and how many at a time a host or an address was asked.
func (c *checker) pace(h *HostAudit, delay, spacing time.Duration, inFlight int, tolerance time.Duration) {
	if inFlight > 0 && h.MaxInFlight > inFlight {
		c.add(RuleInFlight, h.Host, "%d requests at a time, want at most %d", h.MaxInFlight, inFlight)
	}
	c.gap(RuleDelay, h.Host, h.LeastDelay, delay, tolerance, "end")
	c.gap(RuleSpacing, h.Host, h.LeastSpacing, spacing, tolerance, "start")
}

func (c *checker) gap(r Rule, host string, g Gap, want, tolerance time.Duration, from string) {
	switch {
	case tolerance == 0:
		tolerance = max(5*time.Millisecond, want/10)
	case tolerance < 0:
		tolerance = 0
	}
	if g.After != "" && g.Least < want-tolerance {
		c.add(r, host, "%s began %v after the %s of %s, want at least %v less %v", g.After, g.Least, from, g.Before, want, tolerance)
	}
}

// rulesOf returns what the policy's robots.txt says for the host; nil, which allows all, where it has none.
func rulesOf(host string, p Policy) *robots.Rules {
	body, ok := p.Robots[host]
	if !ok {
		if body, ok = p.Robots[""]; !ok {
			return nil
		}
	}
	agent := p.Agent
	if agent == "" {
		agent = robots.DefaultAgent
	}
	return robots.Parse([]byte(body)).Agent(agent)
}

// target is the path and query of the name of a request.
func target(name string) string {
	if i := strings.IndexByte(name, '/'); i > 0 {
		return name[i:]
	}
	return name
}
