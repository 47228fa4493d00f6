package crawler

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/seine-go/seine/ratelimit"
)

// The pace of a host that nobody configured.
const (
	DefaultSpacing    = ratelimit.DefaultSpacing     // from start to start
	DefaultPerHost    = ratelimit.DefaultInFlight    // requests in flight at first
	DefaultMaxPerHost = ratelimit.DefaultMaxInFlight // and at most
)

var defaultPace = HostPolicy{Delay: -1, Spacing: DefaultSpacing, InFlight: DefaultPerHost, MaxInFlight: DefaultMaxPerHost, Adapt: SwitchOn}

const (
	maxPolicies   = 1 << 20 // hosts with a policy of their own
	maxRemembered = 10_000  // hosts without work that are kept for what was learned of them
)

// memHost is what the frontier knows of a host. Times are counted from the frontier's start.
type memHost struct {
	name     string
	policy   HostPolicy       // its own; zero fields are the frontier's defaults
	state    *ratelimit.State // what its answers have told; nil before the first, and where its pace does not adapt
	queue    hostQueue
	since    time.Duration // it has had ready work
	next     time.Duration // earliest start of the next exchange
	blocked  time.Duration // nothing before that
	inFlight int

	heap  *minHeap[*memHost] // that it stands in; nil for none
	index int                // its place there
	at    time.Duration      // what it is ordered by there
	seq   uint64             // order among equal times
}

// before orders hosts by when they may be visited, then by how long ago they were visited last.
func (h *memHost) before(other *memHost) bool {
	if h.at != other.at {
		return h.at < other.at
	}
	return h.seq < other.seq
}

func (h *memHost) slot() *int { return &h.index }

// pace is the policy of the host, which is that of all where it has none of its own.
func (h *memHost) pace(m *Memory) ratelimit.Policy {
	if h.policy == (HostPolicy{}) {
		return m.usual
	}
	return m.defaults.with(h.policy).pace()
}

// pace is the policy as a controller takes it.
func (p HostPolicy) pace() ratelimit.Policy {
	spacing := min(p.Spacing, longestPause)
	if spacing == 0 {
		spacing = -1
	}
	first := p.InFlight
	if first <= 0 {
		first = orDefault(p.MaxInFlight, DefaultPerHost, math.MaxInt)
	}
	most := p.MaxInFlight
	if p.Adapt != SwitchOn {
		most = first
	}
	return ratelimit.Policy{InFlight: first, MaxInFlight: most, Spacing: spacing, Delay: min(p.Delay, longestPause)}
}

// longestPause is the longest that a host is left alone: longer than any process lives, and short enough to be added to.
const longestPause = 100 * 365 * 24 * time.Hour

// freshState is that of a host that never answered.
var freshState ratelimit.State

func (h *memHost) learned() *ratelimit.State {
	if h.state == nil {
		return &freshState
	}
	return h.state
}

// delay is the time from the end of an exchange to the start of the next; 0 if there may be several under way.
func (h *memHost) delay(m *Memory) time.Duration { return h.pace(m).Rest(h.learned()) }

func (h *memHost) spacing(m *Memory) time.Duration { return h.pace(m).Pause(h.learned()) }

func (h *memHost) hasPlace(m *Memory) bool {
	return h.inFlight == 0 || h.inFlight < h.pace(m).Places(h.learned())
}

// opens is when the next exchange may start, places apart.
func (h *memHost) opens() time.Duration {
	if h.state != nil {
		return max(h.next, h.blocked, h.state.BlockedUntil())
	}
	return max(h.next, h.blocked)
}

// take books a place, and a slot at now or later, and answers when that is.
func (h *memHost) take(m *Memory, now time.Duration) time.Duration {
	h.inFlight++
	return h.book(m, now)
}

// book books the next slot.
func (h *memHost) book(m *Memory, now time.Duration) time.Duration {
	at := max(now, h.opens())
	h.next = at
	if h.delay(m) == 0 { // with a delay the next slot is known when the exchange has ended
		h.next = at + h.spacing(m)
	}
	return at
}

// sent notes when a request was written, which may be long after its slot: the spacing counts from there.
func (h *memHost) sent(m *Memory, at time.Duration) {
	if s := h.spacing(m); s > 0 {
		h.next = max(h.next, at+s)
	}
}

// leave gives the place of a hold back. Nothing was sent if the report says so and ends nothing: then the slot is free
// again, unless another was booked after it.
func (h *memHost) leave(m *Memory, l *hold, end, now time.Duration, r HostReport) {
	if !h.hasPlace(m) {
		h.since = max(h.since, now) // only now it may be visited again
	}
	h.inFlight--
	switch d := h.delay(m); {
	case r.Exchanges > 0 && d > 0:
		ceiling := time.Duration(min(r.Exchanges, 64)) * h.learned().Interval()
		h.next = max(h.next, max(end, l.start)+h.pace(m).Delay, l.start+ceiling)
	case r.Exchanges > 0 && r.Sent > 0:
		h.sent(m, end-r.Sent)
	case r.Exchanges == 0 && r.Class == ratelimit.None && h.next == l.booked:
		h.next = l.former
	}
	if r.RetryAfter > 0 && (r.Class == ratelimit.Throttle || r.Class == ratelimit.ServerError) {
		h.blocked = max(h.blocked, now+min(r.RetryAfter, ratelimit.MaxRetryAfter))
	}
	h.learn(m, r, now)
}

// learn has the pace follow what was reported.
func (h *memHost) learn(m *Memory, r HostReport, now time.Duration) {
	if r.Class == ratelimit.None || m.defaults.with(h.policy).Adapt != SwitchOn {
		return
	}
	if h.state == nil {
		h.state = new(ratelimit.State)
	}
	*h.state = h.pace(m).Step(*h.state, r, now)
}

// host returns the record of a host, making one if there is none.
func (m *Memory) host(name string) *memHost {
	h := m.hosts[name]
	if h == nil {
		m.seq++
		name = strings.Clone(name) // it may be a part of a page
		h = &memHost{name: name, seq: m.seq, policy: m.policies[name]}
		m.hosts[name] = h
	}
	return h
}

// place puts a host into the heap where it belongs now, or forgets it.
func (m *Memory) place(h *memHost, now time.Duration) {
	var to *minHeap[*memHost]
	at := h.opens()
	switch {
	case !h.hasPlace(m):
	case h.queue.n > 0:
		to, at = &m.runnable, max(at, h.since)
	case h.inFlight > 0:
	case at > now:
		to, at = &m.cooling, max(at, h.remembered(m))
	case h.remembered(m) > now:
		to, at = &m.cooling, h.remembered(m)
	default:
		h.leaveHeap()
		h.queue.free(&m.arena)
		delete(m.hosts, h.name)
		return
	}
	if to == h.heap && to != nil {
		if at != h.at {
			h.at = at
			to.fix(h.index)
		}
		return
	}
	h.leaveHeap()
	if to != nil {
		h.at, h.heap = at, to
		to.push(h)
	}
}

// remembered is until when the host is worth being kept for what was learned of it.
func (h *memHost) remembered(m *Memory) time.Duration {
	if h.state == nil || len(m.cooling) >= maxRemembered && h.heap != &m.cooling {
		return 0
	}
	return h.state.KeepUntil()
}

func (h *memHost) leaveHeap() {
	if h.heap != nil {
		h.heap.remove(h.index)
		h.heap = nil
	}
}

// forgetCold drops hosts that have no work and no pace to keep any more, a few at a time.
func (m *Memory) forgetCold(now time.Duration) {
	for n := 0; n < 64 && len(m.cooling) > 0 && m.cooling[0].at <= now; n++ {
		m.stir++
		m.place(m.cooling[0], now)
	}
}

// SetHost implements HostSetter. A frontier remembers the policies of a million hosts.
func (m *Memory) SetHost(ctx context.Context, host string, p HostPolicy) error {
	if p.Block < 0 || p.Block > 0 && host == "" {
		return fmt.Errorf("seine: frontier: host %q: a block of %v", host, p.Block)
	}
	return m.do(ctx, func(now time.Duration) error {
		err := m.setHost(host, p, now)
		if err == nil {
			m.journal.hostSet(host, p)
		}
		return err
	})
}

func (m *Memory) setHost(host string, p HostPolicy, now time.Duration) error {
	if host == "" {
		m.stats.Changes++
		m.defaults = m.defaults.with(p)
		m.usual = m.defaults.pace()
		for _, h := range m.hosts { // the defaults may have changed how many places each has
			if p.Adapt == SwitchOff && h.policy.Adapt != SwitchOn {
				h.state = nil
			}
			m.place(h, now)
		}
		return nil
	}
	own := m.policies[host].with(p)
	if own != (HostPolicy{}) {
		if _, known := m.policies[host]; !known && len(m.policies) >= maxPolicies {
			return fmt.Errorf("%w: %d hosts have a policy", ErrFull, maxPolicies)
		}
		m.policies[strings.Clone(host)] = own
	}
	m.stats.Changes++
	h := m.host(host)
	h.policy = own
	if p.Adapt == SwitchOff {
		h.state = nil
	}
	if p.Block > 0 {
		h.blocked = now + p.Block
	}
	m.place(h, now)
	return nil
}

// with returns the policy with the fields of n that are not zero. A block is no lasting part of it.
func (p HostPolicy) with(n HostPolicy) HostPolicy {
	if n.Delay != 0 {
		p.Delay = n.Delay
	}
	if n.Spacing != 0 {
		p.Spacing = n.Spacing
	}
	if n.MaxInFlight != 0 {
		p.MaxInFlight, p.InFlight = n.MaxInFlight, 0
	}
	if n.InFlight != 0 {
		p.InFlight = n.InFlight
	}
	if n.Adapt != SwitchUnset {
		p.Adapt = n.Adapt
	}
	return p
}

// maxReservations bounds the exchanges that are booked beside leases.
const maxReservations = 1 << 16

// ReserveHost implements HostReserver.
func (m *Memory) ReserveHost(ctx context.Context, r ReserveRequest) (got HostReservation, err error) {
	r.TTL = orDefault(r.TTL, m.opt.LeaseTTL, m.opt.LeaseTTL)
	err = m.do(ctx, func(now time.Duration) (err error) {
		got, err = m.reserve(r, now)
		m.journal.reserved(r)
		return err
	})
	return got, err
}

func (m *Memory) reserve(r ReserveRequest, now time.Duration) (HostReservation, error) {
	h := m.host(r.Host)
	l, held := m.holds.valid(r.Under), m.holds.byID[r.Held.ID]
	if l == nil || l.host != h {
		l = held
	}
	if l != nil && l.host == h && (l != held || !held.lease) {
		at := m.bookUnder(l, r, now)
		m.place(h, now)
		return HostReservation{Host: r.Host, Wait: max(at-now, 0)}, nil
	}
	if !h.hasPlace(m) || m.holds.reservations >= maxReservations {
		m.place(h, now)
		return HostReservation{}, ErrBusy
	}
	l = m.hold(h, r.Under.Owner, r.TTL, now)
	m.place(h, now)
	m.holds.reservations++
	m.stats.Changes++
	return HostReservation{Host: r.Host, ID: l.id, Wait: max(l.start-now, 0)}, nil
}

// bookUnder books a slot for one more exchange in the place of a hold, or moves the hold's own that was not used in time.
func (m *Memory) bookUnder(l *hold, r ReserveRequest, now time.Duration) time.Duration {
	h := l.host
	if d := h.delay(m); d > 0 {
		return max(h.opens(), now+d-max(r.Since, 0))
	}
	if r.Sent > 0 {
		h.sent(m, now-r.Sent)
	}
	if r.Late && h.next == l.booked {
		h.next = min(h.next, now)
	}
	at := h.book(m, now)
	if r.Late {
		l.booked = h.next
	}
	return at
}

// ReleaseHost implements HostReserver. It works after the end of ctx too, since it gives something back.
func (m *Memory) ReleaseHost(ctx context.Context, r HostReservation, report HostReport) error {
	return m.do(context.WithoutCancel(ctx), func(now time.Duration) error {
		if l := m.holds.byID[r.ID]; l != nil && !l.lease {
			m.journal.released(r.ID, report)
			m.release(l, report, now)
		}
		return nil
	})
}

// release ends a reservation.
func (m *Memory) release(l *hold, report HostReport, now time.Duration) {
	m.letGo(l)
	l.host.leave(m, l, now-max(report.Since, 0), now, report)
	m.place(l.host, now)
	m.stats.Changes++
}
