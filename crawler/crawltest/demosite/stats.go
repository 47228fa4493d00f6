package demosite

import (
	"maps"
	"net/http"
	"sync"
	"time"
)

// MaxAgents is how many different user agents are told apart; further ones are counted together under "".
const MaxAgents = 64

// MaxTargetBytes is the longest request target that is told apart from others.
const MaxTargetBytes = 2048

// maxTargets is how many different requests are told apart: well above what a site of that many films has.
func maxTargets(films int) int { return 4096 + 32*films }

// Stats is what was asked of a Site since it was made or Reset.
type Stats struct {
	Requests   int // all but those to no host of the site
	Duplicates int // requests of a target beyond its first, robots.txt apart
	Untracked  int // requests not told apart, since their targets were too many or too long; they are in no Targets
	Agents     map[string]int
	Hosts      map[Host]HostStats
}

// HostStats is what was asked of one host.
type HostStats struct {
	Requests    int
	Duplicates  int
	Robots      int // requests of /robots.txt
	MaxInFlight int
	// MinGap is the shortest time from the end of an exchange to the begin of the next; zero when two overlapped, negative
	// before the second request. An exchange lasts from its header read to its answer handed to net/http.
	MinGap time.Duration
	// Statuses counts the answers that have ended by status, those given up halfway as 0.
	Statuses map[int]int
	// Targets has the requests by path and query as sent, methods other than GET in front ("POST /login").
	Targets map[string]TargetStats
}

// TargetStats is what was asked of one URL.
type TargetStats struct {
	Requests int
	Statuses map[int]int // as in HostStats
}

// account keeps the Stats.
type account struct {
	mu      sync.Mutex
	max     int // targets told apart
	targets int
	stats   Stats
	hosts   map[Host]*hostAccount
	epoch   int // counts resets, so that an exchange across one is not counted half
}

type hostAccount struct {
	HostStats
	inFlight int
	ended    time.Time // the last exchange
}

func (a *account) reset(targets int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.max, a.targets = targets, 0
	a.stats = Stats{Agents: map[string]int{}}
	old := a.hosts
	a.hosts = map[Host]*hostAccount{}
	for _, h := range Hosts() {
		a.hosts[h] = &hostAccount{HostStats: HostStats{MinGap: -1, Statuses: map[int]int{}, Targets: map[string]TargetStats{}}}
		if before := old[h]; before != nil {
			a.hosts[h].inFlight, a.hosts[h].MaxInFlight = before.inFlight, before.inFlight
		}
	}
	a.epoch++
}

// begin notes a request; the function it returns notes its end.
func (a *account) begin(h Host, r *http.Request) (end func(status int)) {
	target := r.URL.RequestURI()
	if r.Method != http.MethodGet {
		target = r.Method + " " + target
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.stats.Requests++
	agent := r.UserAgent()
	if _, ok := a.stats.Agents[agent]; !ok && len(a.stats.Agents) >= MaxAgents {
		agent = ""
	}
	a.stats.Agents[agent]++

	host := a.hosts[h]
	if host.inFlight > 0 {
		host.MinGap = 0
	} else if !host.ended.IsZero() {
		if gap := time.Since(host.ended); host.MinGap < 0 || gap < host.MinGap {
			host.MinGap = gap
		}
	}
	host.Requests++
	host.inFlight++
	host.MaxInFlight = max(host.MaxInFlight, host.inFlight)
	a.count(host, target)
	epoch := a.epoch
	return func(status int) { a.end(h, epoch, target, status) }
}

// count notes a request of a target. The caller holds mu.
func (a *account) count(host *hostAccount, target string) {
	if target == "/robots.txt" {
		host.Robots++
	}
	t, known := host.Targets[target]
	switch {
	case !known && (a.targets >= a.max || len(target) > MaxTargetBytes):
		a.stats.Untracked++
		return
	case !known:
		a.targets++
		t.Statuses = map[int]int{}
	case target != "/robots.txt":
		host.Duplicates++
		a.stats.Duplicates++
	}
	t.Requests++
	host.Targets[target] = t
}

func (a *account) end(h Host, epoch int, target string, status int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	host := a.hosts[h]
	host.inFlight--
	if epoch != a.epoch {
		return
	}
	host.ended = time.Now()
	host.Statuses[status]++
	if t, ok := host.Targets[target]; ok {
		t.Statuses[status]++
	}
}

// Stats returns a copy of the account.
func (s *Site) Stats() Stats {
	a := &s.account
	a.mu.Lock()
	defer a.mu.Unlock()
	stats := a.stats
	stats.Agents = maps.Clone(stats.Agents)
	stats.Hosts = make(map[Host]HostStats, len(a.hosts))
	for h, host := range a.hosts {
		c := host.HostStats
		c.Statuses = maps.Clone(c.Statuses)
		c.Targets = maps.Clone(c.Targets)
		for target, t := range c.Targets {
			t.Statuses = maps.Clone(t.Statuses)
			c.Targets[target] = t
		}
		stats.Hosts[h] = c
	}
	return stats
}

// Hits is how often a path with its query was asked for by GET on a host.
func (s *Site) Hits(h Host, target string) int {
	a := &s.account
	a.mu.Lock()
	defer a.mu.Unlock()
	if host := a.hosts[h]; host != nil {
		return host.Targets[target].Requests
	}
	return 0
}

// Reset forgets what was asked so far; the pages under /errors/ that got well are ill again.
func (s *Site) Reset() {
	s.account.reset(maxTargets(len(s.films)))
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.attempts)
}
