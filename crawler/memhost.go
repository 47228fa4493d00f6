package crawler

import (
	"container/heap"
	"context"
	"fmt"
	"time"

	"github.com/seine-go/seine/ratelimit"
)

// The pace of a host that nobody configured.
const (
	DefaultSpacing = 500 * time.Millisecond // from start to start
	DefaultPerHost = 1                      // requests in flight
)

// maxRetryAfter bounds how long a host can keep us away by a header.
const maxRetryAfter = time.Hour

// memHost is what the frontier knows of a host.
type memHost struct {
	name     string
	policy   HostPolicy // its own; zero fields are the frontier's defaults
	queue    hostQueue
	next     time.Time // earliest start of the next exchange
	blocked  time.Time // nothing before that
	inFlight int

	heap  *hostHeap // that it stands in; nil for none
	index int
	at    time.Time // its key in that heap
	seq   uint64    // order among equal times
}

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

// opens is when the next exchange may start, places apart.
func (h *memHost) opens() time.Time {
	if h.blocked.After(h.next) {
		return h.blocked
	}
	return h.next
}

// take books a slot and a place at now or later and answers when the slot is.
func (h *memHost) take(m *Memory, now time.Time) time.Time {
	h.inFlight++
	return h.slot(m, now)
}

// slot books the next slot.
func (h *memHost) slot(m *Memory, now time.Time) time.Time {
	at := now
	if o := h.opens(); o.After(at) {
		at = o
	}
	h.next = at
	if h.delay(m) == 0 { // with a delay the next slot is known when the exchange has ended
		h.next = at.Add(h.spacing(m))
	}
	return at
}

// leave gives a place back. end is when the last exchange ended.
func (h *memHost) leave(m *Memory, end, now time.Time, r HostReport) {
	h.inFlight--
	if d := h.delay(m); d > 0 && r.Exchanges > 0 {
		h.next = end.Add(d)
	}
	if r.RetryAfter > 0 && (r.Class == ratelimit.Throttle || r.Class == ratelimit.ServerError) {
		until := now.Add(min(r.RetryAfter, maxRetryAfter))
		if until.After(h.blocked) {
			h.blocked = until
		}
	}
}

// host returns the record of a host, making one if there is none.
func (m *Memory) host(name string) *memHost {
	h := m.hosts[name]
	if h == nil {
		m.seq++
		h = &memHost{name: name, seq: m.seq}
		m.hosts[name] = h
	}
	return h
}

// place puts a host into the heap where it belongs now, or forgets it.
func (m *Memory) place(h *memHost, now time.Time) {
	var to *hostHeap
	at := h.opens()
	switch {
	case h.inFlight > 0 && h.inFlight >= h.places(m):
	case h.queue.nReady > 0:
		to = &m.runnable
	case len(h.queue.delayed) > 0:
		to = &m.runnable
		if due := h.queue.delayed[0].due; due.After(at) {
			at = due
		}
	case h.inFlight > 0 || h.policy != (HostPolicy{}):
	case at.After(now):
		to = &m.cooling
	default:
		h.leaveHeap()
		delete(m.hosts, h.name)
		return
	}
	if to == h.heap && to != nil {
		if !at.Equal(h.at) {
			h.at = at
			heap.Fix(to, h.index)
		}
		return
	}
	h.leaveHeap()
	if to != nil {
		h.at, h.heap = at, to
		heap.Push(to, h)
	}
}

func (h *memHost) leaveHeap() {
	if h.heap != nil {
		heap.Remove(h.heap, h.index)
		h.heap = nil
	}
}

// forgetCold drops hosts that have no work and no pace to keep any more, a few at a time.
func (m *Memory) forgetCold(now time.Time) {
	for n := 0; n < 64 && len(m.cooling) > 0 && !m.cooling[0].at.After(now); n++ {
		m.place(m.cooling[0], now)
	}
}

// hostHeap orders hosts by when they may be visited, then by how long ago they were visited last.
type hostHeap []*memHost

func (q hostHeap) Len() int { return len(q) }

func (q hostHeap) Less(i, j int) bool {
	if !q[i].at.Equal(q[j].at) {
		return q[i].at.Before(q[j].at)
	}
	return q[i].seq < q[j].seq
}

func (q hostHeap) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].index, q[j].index = i, j
}

// Push implements heap.Interface.
func (q *hostHeap) Push(x any) {
	h := x.(*memHost)
	h.index = len(*q)
	*q = append(*q, h)
}

// Pop implements heap.Interface.
func (q *hostHeap) Pop() any {
	last := len(*q) - 1
	h := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	return h
}

// SetHost implements HostSetter.
func (m *Memory) SetHost(ctx context.Context, host string, p HostPolicy) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if p.Block < 0 {
		return fmt.Errorf("seine: frontier: host %q: a block of %v", host, p.Block)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	m.stats.Changes++
	if host == "" {
		m.defaults = m.defaults.with(p)
		for _, h := range m.hosts { // the defaults may have changed how many places each has
			m.place(h, now)
		}
		return nil
	}
	h := m.host(host)
	h.policy = h.policy.with(p)
	if p.Block > 0 {
		h.blocked = now.Add(p.Block)
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

// reservation is a booked exchange that no lease of the host covers.
type reservation struct {
	host  *memHost
	until time.Time
}

// ReserveHost implements HostReserver.
func (m *Memory) ReserveHost(ctx context.Context, r ReserveRequest) (HostReservation, error) {
	if err := ctx.Err(); err != nil {
		return HostReservation{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	m.reclaim(now)
	h := m.host(r.Host)
	l := m.leases.valid(m.seen.hash(r.Under.Key), r.Under)
	held := m.reserved[r.Held.ID]
	if l != nil && l.host == h || held != nil && held.host == h {
		at := h.opens()
		if d := h.delay(m); d > 0 {
			if free := now.Add(d - r.Since); free.After(at) {
				at = free
			}
		} else {
			at = h.slot(m, now)
		}
		m.place(h, now)
		return HostReservation{Host: r.Host, Wait: max(at.Sub(now), 0)}, nil
	}
	if h.inFlight >= h.places(m) {
		m.place(h, now)
		return HostReservation{}, ErrBusy
	}
	at := h.take(m, now)
	m.place(h, now)
	m.seq++
	m.stats.Changes++
	m.reserved[m.seq] = &reservation{host: h, until: now.Add(orDefault(r.TTL, m.opt.LeaseTTL, m.opt.LeaseTTL))}
	return HostReservation{Host: r.Host, ID: m.seq, Wait: max(at.Sub(now), 0)}, nil
}

// ReleaseHost implements HostReserver.
func (m *Memory) ReleaseHost(_ context.Context, r HostReservation, report HostReport) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if b := m.reserved[r.ID]; b != nil {
		now := time.Now()
		delete(m.reserved, r.ID)
		b.host.leave(m, now.Add(-report.Since), now, report)
		m.place(b.host, now)
		m.stats.Changes++
	}
	return nil
}
