package crawler

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/seine-go/seine/ratelimit"
)

// The pace of a host that nobody configured.
const (
	DefaultSpacing = 500 * time.Millisecond // from start to start
	DefaultPerHost = 1                      // requests in flight
)

const (
	maxRetryAfter = time.Hour // that a host can keep us away by a header
	maxPolicies   = 1 << 20   // hosts with a policy of their own
)

// memHost is what the frontier knows of a host. Times are counted from the frontier's start.
type memHost struct {
	name     string
	policy   HostPolicy // its own; zero fields are the frontier's defaults
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

func (h *memHost) delay(m *Memory) time.Duration {
	d := h.policy.Delay
	if d == 0 {
		d = m.defaults.Delay
	}
	return max(d, 0)
}

func (h *memHost) spacing(m *Memory) time.Duration {
	s := h.policy.Spacing
	if s == 0 {
		s = m.defaults.Spacing
	}
	return max(s, 0)
}

// places is how many exchanges may be in flight.
func (h *memHost) places(m *Memory) int {
	if h.delay(m) > 0 {
		return 1
	}
	n := h.policy.MaxInFlight
	if n == 0 {
		n = m.defaults.MaxInFlight
	}
	return orDefault(n, DefaultPerHost, int(^uint(0)>>1))
}

func (h *memHost) hasPlace(m *Memory) bool { return h.inFlight == 0 || h.inFlight < h.places(m) }

// opens is when the next exchange may start, places apart.
func (h *memHost) opens() time.Duration { return max(h.next, h.blocked) }

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
		h.next = max(h.next, max(end, l.start)+d)
	case r.Exchanges > 0 && r.Sent > 0:
		h.sent(m, end-r.Sent)
	case r.Exchanges == 0 && r.Class == ratelimit.None && h.next == l.booked:
		h.next = l.former
	}
	if r.RetryAfter > 0 && (r.Class == ratelimit.Throttle || r.Class == ratelimit.ServerError) {
		h.blocked = max(h.blocked, now+min(r.RetryAfter, maxRetryAfter))
	}
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
		to = &m.cooling
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

func (h *memHost) leaveHeap() {
	if h.heap != nil {
		h.heap.remove(h.index)
		h.heap = nil
	}
}

// forgetCold drops hosts that have no work and no pace to keep any more, a few at a time.
func (m *Memory) forgetCold(now time.Duration) {
	for n := 0; n < 64 && len(m.cooling) > 0 && m.cooling[0].at <= now; n++ {
		m.place(m.cooling[0], now)
	}
}

// SetHost implements HostSetter. A frontier remembers the policies of a million hosts.
func (m *Memory) SetHost(ctx context.Context, host string, p HostPolicy) error {
	if p.Block < 0 || p.Block > 0 && host == "" {
		return fmt.Errorf("seine: frontier: host %q: a block of %v", host, p.Block)
	}
	now, err := m.begin(ctx)
	if err != nil {
		return err
	}
	defer m.mu.Unlock()
	if host == "" {
		m.stats.Changes++
		m.defaults = m.defaults.with(p)
		for _, h := range m.hosts { // the defaults may have changed how many places each has
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
		p.MaxInFlight = n.MaxInFlight
	}
	return p
}

// maxReservations bounds the exchanges that are booked beside leases.
const maxReservations = 1 << 16

// ReserveHost implements HostReserver.
func (m *Memory) ReserveHost(ctx context.Context, r ReserveRequest) (HostReservation, error) {
	now, err := m.begin(ctx)
	if err != nil {
		return HostReservation{}, err
	}
	defer m.mu.Unlock()
	h := m.host(r.Host)
	l, held := m.holds.valid(r.Under), m.holds.byID[r.Held.ID]
	if l != nil && l.host == h || held != nil && !held.lease && held.host == h {
		at := h.opens()
		if d := h.delay(m); d > 0 {
			at = max(at, now+d-max(r.Since, 0))
		} else {
			if r.Sent > 0 {
				h.sent(m, now-r.Sent)
			}
			at = h.book(m, now)
		}
		m.place(h, now)
		return HostReservation{Host: r.Host, Wait: max(at-now, 0)}, nil
	}
	if !h.hasPlace(m) || m.holds.reservations >= maxReservations {
		m.place(h, now)
		return HostReservation{}, ErrBusy
	}
	l = m.hold(h, r.Under.Owner, orDefault(r.TTL, m.opt.LeaseTTL, m.opt.LeaseTTL), now)
	m.place(h, now)
	m.holds.reservations++
	m.stats.Changes++
	return HostReservation{Host: r.Host, ID: l.id, Wait: max(l.start-now, 0)}, nil
}

// ReleaseHost implements HostReserver. It works after the end of ctx too, since it gives something back.
func (m *Memory) ReleaseHost(ctx context.Context, r HostReservation, report HostReport) error {
	now, err := m.begin(context.WithoutCancel(ctx))
	if err != nil {
		return err
	}
	defer m.mu.Unlock()
	if l := m.holds.byID[r.ID]; l != nil && !l.lease {
		m.letGo(l)
		l.host.leave(m, l, now-max(report.Since, 0), now, report)
		m.place(l.host, now)
		m.stats.Changes++
	}
	return nil
}
