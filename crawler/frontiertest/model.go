package frontiertest

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/seine-go/seine/crawler"
)

// model is what a frontier does, written down as plainly as can be: every question is answered by looking at all records.
// Where a frontier may choose, the model is told the choice and says whether it was allowed.
type model struct {
	now     time.Duration
	opt     Options
	records map[string]*record
	hosts   map[string]*host
	boots   map[string]uint64        // of owners that hold leases
	heard   map[string]time.Duration // when those were heard of last
	seq     int
	passed  map[string]bool // keys that redirects went through and that were never requests, or are none any more
}

// record is a request that was added.
type record struct {
	key, host string
	state     state
	priority  int
	due       time.Duration // since when, or when, it is ready
	seq       int           // order of arrival
	attempts  int
	crashes   int
	owner     string // of the lease
	epoch     uint64
	until     time.Duration
	passed    bool          // while it was leased
	group     int           // of a suspect that is leased: how many its owner has at most; of one that waits: how many it may be with
	length    time.Duration // for which a suspect is kept apart
	pause     time.Duration // when that ends
	former    time.Duration // next slot of the host before the lease
	booked    time.Duration // and after it
	start     time.Duration
}

type state string

const (
	isReady   state = "ready"
	isDelayed state = "delayed"
	isLeased  state = "leased"
	isSuspect state = "suspect"
	isDone    state = "done"
	isFailed  state = "failed"
)

type host struct {
	policy        crawler.HostPolicy
	next, blocked time.Duration
	since         time.Duration // when it could be visited, but for its slots: it has work and a place
}

func (m *model) host(name string) *host {
	if m.hosts[name] == nil {
		m.hosts[name] = &host{}
	}
	return m.hosts[name]
}

// policy is the host's own where it has one.
func (m *model) policy(name string) (delay, spacing time.Duration, places int) {
	own, all := m.host(name).policy, m.opt.Pace
	delay = max(0, cmp.Or(own.Delay, all.Delay))
	spacing = max(0, cmp.Or(own.Spacing, all.Spacing))
	if places = cmp.Or(own.MaxInFlight, all.MaxInFlight); places < 0 {
		places = math.MaxInt
	}
	if delay > 0 {
		places = 1
	}
	return delay, spacing, places
}

// those lists the records for which f holds.
func (m *model) those(f func(r *record) bool) (some []*record) {
	for _, r := range m.records {
		if f(r) {
			some = append(some, r)
		}
	}
	return some
}

func (m *model) count(s ...state) int64 {
	return int64(len(m.those(func(r *record) bool { return slices.Contains(s, r.state) })))
}

func (m *model) pending() int64 { return m.count(isReady, isDelayed, isLeased, isSuspect) }

// held lists the leases of an owner, or of a host.
func (m *model) held(owner, host string) []*record {
	return m.those(func(r *record) bool {
		return r.state == isLeased && (owner == "" || r.owner == owner) && (host == "" || r.host == host)
	})
}

func (m *model) hasPlace(host string) bool {
	_, _, places := m.policy(host)
	return len(m.held("", host)) < places
}

func (m *model) opens(name string) time.Duration { return max(m.host(name).next, m.host(name).blocked) }

// ready makes a record ready.
func (m *model) ready(r *record, due time.Duration) {
	if len(m.those(func(o *record) bool { return o.state == isReady && o.host == r.host })) == 0 {
		m.host(r.host).since = due
	}
	m.seq++
	r.state, r.due, r.seq = isReady, due, m.seq
}

// pass lets time go on: what is delayed becomes ready, and leases end.
func (m *model) pass(d time.Duration) {
	m.now += d
	ripe := m.those(func(r *record) bool { return r.state == isDelayed && r.due <= m.now })
	slices.SortFunc(ripe, func(a, b *record) int { return cmp.Or(cmp.Compare(a.due, b.due), cmp.Compare(a.seq, b.seq)) })
	for _, r := range ripe {
		m.ready(r, r.due)
	}
	over := m.those(func(r *record) bool { return r.state == isLeased && r.until <= m.now })
	slices.SortFunc(over, func(a, b *record) int { return cmp.Or(cmp.Compare(a.until, b.until), cmp.Compare(a.epoch, b.epoch)) })
	m.die(over, func(r *record) time.Duration { return r.until })
}

// leave ends the contact of a lease with its host.
func (m *model) leave(r *record, end, now time.Duration, exchanged bool) {
	h := m.host(r.host)
	delay, _, places := m.policy(r.host)
	if len(m.held("", r.host)) >= places {
		h.since = max(h.since, now)
	}
	switch {
	case exchanged && delay > 0:
		h.next = max(h.next, max(end, r.start)+delay)
	case !exchanged && h.next == r.booked:
		h.next = r.former
	}
}

// reboot is an owner that calls under another boot than before.
func (m *model) reboot(owner string, boot uint64) {
	own := m.held(owner, "")
	if len(own) == 0 || m.boots[owner] == boot {
		return
	}
	slices.SortFunc(own, func(a, b *record) int { return cmp.Compare(a.epoch, b.epoch) })
	m.die(own, func(*record) time.Duration { return m.now })
}

func (m *model) add(r *crawler.Request) crawler.AddStatus {
	key := keyOf(r)
	old := m.records[key]
	switch {
	case old != nil && old.state == isReady && old.attempts == 0 && old.crashes == 0 && r.Priority > old.priority:
		old.priority = r.Priority
		m.seq++
		old.due, old.seq = m.now, m.seq
		return crawler.Raised
	case old != nil || m.passed[key]:
		return crawler.Duplicate
	case m.opt.MaxPending > 0 && m.pending() >= int64(m.opt.MaxPending):
		return crawler.Refused
	}
	n := &record{key: key, host: r.Host(), priority: r.Priority}
	m.ready(n, m.now)
	m.records[key] = n
	return crawler.Added
}

func keyOf(r *crawler.Request) string { return cmp.Or(r.Key, r.URL) }

// sooner orders the ready records of a host.
func (m *model) sooner(a, b *record) int {
	if step := m.opt.AgeStep; step > 0 { // a level of priority is worth a step of waiting
		rank := func(r *record) time.Duration { return r.due - time.Duration(r.priority)*step }
		if c := cmp.Compare(rank(a), rank(b)); c != 0 {
			return c
		}
	}
	return cmp.Or(cmp.Compare(b.priority, a.priority), cmp.Compare(a.due, b.due), cmp.Compare(a.seq, b.seq))
}

// next lists the records that may be leased now: the first of each host that is open, the earliest host first; or, for
// as long as there are such, the suspects.
func (m *model) next() (suspects, ready []*record) {
	first := map[string]*record{}
	for _, r := range m.records {
		if r.state != isReady && r.state != isSuspect || !m.hasPlace(r.host) || m.opens(r.host) > m.now || r.state == isSuspect && r.pause > m.now {
			continue
		}
		if r.state == isSuspect {
			suspects = append(suspects, r)
		} else if f := first[r.host]; f == nil || m.sooner(r, f) < 0 {
			first[r.host] = r
		}
	}
	for _, r := range first {
		ready = append(ready, r)
	}
	return suspects, ready
}

// allowed is since when a host may be visited.
func (m *model) allowed(r *record) time.Duration { return max(m.opens(r.host), m.host(r.host).since) }

// lease makes a record leased.
func (m *model) lease(r *record, l crawler.Lease, boot uint64) {
	h := m.host(r.host)
	delay, spacing, _ := m.policy(r.host)
	own := m.held(l.Owner, "")
	switch {
	case r.state != isSuspect:
		r.group = 0
	case len(own) > 0:
		r.group = own[0].group
	}
	r.owner, r.epoch, r.until = l.Owner, l.Epoch, m.now+l.TTL
	suspect := r.state == isSuspect
	r.state = isLeased
	m.heard[l.Owner] = m.now
	r.attempts++
	m.boots[l.Owner] = boot
	r.former, r.start = h.next, max(m.now, m.opens(r.host))
	h.next = r.start
	if delay == 0 {
		h.next += spacing
	}
	r.booked = h.next
	if !suspect {
		h.since = m.now
	}
}

// earliest is when a lease may be had, if nobody calls until then.
func (m *model) earliest(owner string) (at time.Duration, known bool) {
	at = math.MaxInt64
	for _, r := range m.records {
		switch {
		case r.state == isLeased:
			at = min(at, r.until)
		case r.state == isDelayed && !m.restrained(owner):
			at = min(at, r.due)
		case r.state == isReady && !m.restrained(owner) && m.hasPlace(r.host):
			at = min(at, m.opens(r.host))
		case r.state == isSuspect && m.fitsGroup(r, owner) && m.hasPlace(r.host):
			at = min(at, max(r.pause, m.opens(r.host)))
		}
	}
	return at, at != math.MaxInt64
}

// settle applies a settlement and answers whether the lease was held, and whether there was room.
func (m *model) settle(s *crawler.Settlement) (held, room bool) {
	r := m.records[s.Lease.Key]
	if r == nil || r.state != isLeased || r.owner != s.Lease.Owner || r.epoch != s.Lease.Epoch {
		return false, true
	}
	if s.Outcome == crawler.Done && !m.fits(s) {
		return true, false
	}
	m.leave(r, m.now-s.Report.Since, m.now, s.Report.Exchanges > 0)
	delay := max(s.Delay, 0)
	switch s.Outcome {
	case crawler.Failed:
		r.state, r.passed = isFailed, false
		return true, true
	case crawler.Done:
		r.state, r.passed = isDone, false
		for _, key := range s.Seen {
			m.see(key)
		}
		for _, link := range s.Links {
			m.add(link)
		}
		if s.Revisit <= 0 {
			return true, true
		}
		r.attempts, r.crashes, delay = 0, 0, s.Revisit
	case crawler.Released:
		r.attempts--
	}
	if m.over(r) {
		return true, true
	}
	if delay == 0 {
		m.ready(r, m.now)
		return true, true
	}
	m.seq++
	r.state, r.due, r.seq = isDelayed, m.now+delay, m.seq
	return true, true
}

// see is a key that a redirect went through.
func (m *model) see(key string) {
	r := m.records[key]
	if r != nil && r.state == isLeased {
		r.passed = true
	}
	if r != nil && r.state != isReady && r.state != isDelayed && r.state != isSuspect {
		return
	}
	delete(m.records, key)
	m.passed[key] = true
}

// over ends a request that a redirect passed while it was leased, instead of its coming back.
func (m *model) over(r *record) bool {
	if r.passed {
		delete(m.records, r.key)
		m.passed[r.key] = true
	}
	return r.passed
}

// fits says whether the settlement of a request that is done keeps the bound.
func (m *model) fits(s *crawler.Settlement) bool {
	if m.opt.MaxPending <= 0 {
		return true
	}
	after, known := m.pending()-1, map[string]bool{}
	if s.Revisit > 0 {
		after++
	}
	for _, key := range s.Seen {
		if r := m.records[key]; !known[key] && r != nil && (r.state == isReady || r.state == isDelayed || r.state == isSuspect) {
			after--
		}
		known[key] = true
	}
	fresh := false
	for _, link := range s.Links {
		if key := keyOf(link); !known[key] && m.records[key] == nil && !m.passed[key] {
			after++
			fresh = true
		}
		known[keyOf(link)] = true
	}
	return !fresh || after <= int64(m.opt.MaxPending)
}
