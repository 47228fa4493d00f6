package crawler

import (
	"context"
	"errors"
	"math"
	"time"
)

// hold is a booked place on a host: that of a lease, or of a reservation.
type hold struct {
	id     uint64 // the epoch of a lease, the ID of a reservation
	host   *memHost
	owner  string
	start  time.Duration // the slot
	until  time.Duration
	former time.Duration // the host's next slot before this one was booked
	booked time.Duration // and after it
	at     int           // place in the heap

	lease    bool
	group    int           // of a suspect's: its owner has so many of them at most, and nothing else; one is alone
	pause    time.Duration // for which a suspect is kept apart
	key      string
	hash     uint64
	priority int
	attempt  int
	crashes  int
	record   []byte
}

func (l *hold) before(other *hold) bool {
	if l.until != other.until {
		return l.until < other.until
	}
	return l.id < other.id
}

func (l *hold) slot() *int { return &l.at }

// holds are the leases and reservations, and what the latest settlements were.
type holds struct {
	byID         map[uint64]*hold
	byOwner      map[string]*owner // that have leases
	ends         minHeap[*hold]
	last         uint64    // ID that was given
	settled      []settled // by ID modulo their number
	reservations int
	spare        []*hold // for use again
	gone         *owner  // the same
}

// owner is what a frontier knows of an engine that holds leases.
type owner struct {
	boot   uint64
	leases int
	group  int           // of the suspects that it holds; 0: it holds none
	seen   time.Duration // when it was heard of last
}

// settled lets the exact repeat of a settlement be told from a stale one.
type settled struct {
	id      uint64
	owner   string
	hash    uint64
	outcome Outcome
}

const (
	rememberSettled = 4096    // leases after which the repeat of a settlement may be forgotten
	maxSpare        = 1024    // holds that are kept for use again
	maxSpareRecord  = 4 << 10 // bytes that such a one keeps
)

func (t *holds) init() { t.byID, t.byOwner = map[uint64]*hold{}, map[string]*owner{} }

// valid returns the lease if it is held as told.
func (t *holds) valid(l Lease) *hold {
	if got := t.byID[l.Epoch]; got != nil && got.lease && got.owner == l.Owner && got.key == l.Key {
		return got
	}
	return nil
}

func (t *holds) remember(s settled) {
	if t.settled == nil {
		t.settled = make([]settled, rememberSettled)
	}
	t.settled[s.id%rememberSettled] = s
}

// repeats reports whether the settlement of that ID was just this one.
func (t *holds) repeats(s settled) bool {
	return t.settled != nil && t.settled[s.id%rememberSettled] == s
}

// hold books a place and a slot.
func (m *Memory) hold(h *memHost, owner string, ttl, now time.Duration) *hold {
	t := &m.holds
	var l *hold
	if n := len(t.spare); n > 0 {
		l, t.spare = t.spare[n-1], t.spare[:n-1]
	} else {
		l = new(hold)
	}
	t.last++
	record := l.record[:0]
	if cap(record) > maxSpareRecord {
		record = nil
	}
	*l = hold{id: t.last, host: h, owner: owner, until: now + ttl, former: h.next, record: record}
	if l.until < now {
		l.until = math.MaxInt64
	}
	l.start = h.take(m, now)
	l.booked = h.next
	t.byID[l.id] = l
	t.ends.push(l)
	return l
}

// letGo ends a hold. What it holds stays readable until the next hold is made.
func (m *Memory) letGo(l *hold) {
	t := &m.holds
	delete(t.byID, l.id)
	t.ends.remove(l.at)
	if !l.lease {
		t.reservations--
		return
	}
	m.stats.Leased--
	m.stats.Changes++
	o := t.byOwner[l.owner]
	if o.leases--; o.leases == 0 {
		delete(t.byOwner, l.owner)
		t.gone = o
	}
}

// recycle keeps a hold that is needed no more for use again.
func (t *holds) recycle(l *hold) {
	if len(t.spare) < maxSpare {
		t.spare = append(t.spare, l)
	}
}

// Lease implements Frontier. Its time grows with the logarithm of the number of hosts, and with the number of suspects.
func (m *Memory) Lease(ctx context.Context, want LeaseRequest) (b LeaseBatch, err error) {
	want.TTL = orDefault(want.TTL, m.opt.LeaseTTL, m.opt.LeaseTTL)
	if err := ctx.Err(); err != nil {
		return LeaseBatch{}, err
	}
	wait := false
	ticket, err := m.locked(func(now time.Duration) (err error) {
		before := m.stir
		b, err = m.lease(want, now)
		if m.stir != before {
			m.journal.leased(want)
		}
		wait = b.Finished || m.journal.careful(now) || len(b.Leases) > 0 && b.Leases[0].Suspect
		return err
	})
	if ticket == 0 || !wait || err != nil {
		return b, err
	}
	if err = m.journal.to.Wait(ctx, ticket); err != nil { // it is not known whether the leases are kept
		m.giveBack(b.Leases)
		b = LeaseBatch{}
	}
	return b, err
}

// giveBack releases leases that their holder was never told of.
func (m *Memory) giveBack(leases []Lease) {
	s := make([]Settlement, len(leases))
	for i, l := range leases {
		s[i] = Settlement{Lease: l, Outcome: Released}
	}
	_, _ = m.locked(func(now time.Duration) error { return m.settleAll(s, nil, nil, now) }) // else they expire
}

func (m *Memory) lease(want LeaseRequest, now time.Duration) (b LeaseBatch, err error) {
	m.reboot(want, now)
	m.forgetCold(now)
	restrained := false
	switch o := m.holds.byOwner[want.Owner]; {
	case want.Max <= 0:
	case o != nil && o.group > 0: // others would be suspected with them
		m.leaseSuspects(&b, want, now)
		m.hear(o, now)
		restrained = true
	case m.openSuspect(0, now) < 0:
		err = m.leaseReady(&b, want, now)
	case o == nil:
		m.leaseSuspects(&b, want, now)
		restrained = true
	default: // what it holds has to be settled first
		restrained = true
	}
	if err = first(err, m.delayed.err); len(b.Leases) > 0 {
		err = nil // the next call tells
	} else if err == nil && want.Max > 0 {
		err = m.missing()
	}
	b.Finished = m.finished(now)
	if len(b.Leases) < want.Max {
		b.Next = m.nextLease(want.Owner, restrained, now)
	}
	return b, err
}

// leaseReady hands out requests of hosts that may be visited now, the earliest first.
func (m *Memory) leaseReady(b *LeaseBatch, want LeaseRequest, now time.Duration) error {
	for len(b.Leases) < want.Max && len(m.runnable) > 0 && m.runnable[0].at <= now {
		h := m.runnable[0]
		e, hash, record, err := m.pop(h)
		if err != nil {
			return err
		}
		if e != nil {
			m.stats.Ready--
			l := m.hold(h, want.Owner, want.TTL, now)
			l.hash, l.priority, l.attempt, l.crashes = hash, e.req.Priority, e.attempt, e.crashes
			l.record = append(l.record, record...)
			m.seq++
			h.seq, h.since = m.seq, now // behind the others that may be visited at the same time
			h.heap.fix(h.index)
			b.Leases = append(b.Leases, m.grant(l, &e.req, want, now))
		}
		m.place(h, now)
	}
	return nil
}

// pop takes the next request of a host that still counts; nil if there is none. The record is valid until the next push.
func (m *Memory) pop(h *memHost) (e *entry, hash uint64, record []byte, err error) {
	for {
		record, priority, err := h.queue.pop(&m.arena)
		if err == nil && record == nil {
			return nil, 0, nil, nil
		}
		if err == nil {
			if e, err = decodeEntry(record, h.name, priority); err != nil {
				err = m.arena.unreadable()
			}
		}
		if err != nil {
			if m.journal != nil && errors.Is(err, ErrJournal) {
				m.journal.broken(err)
			}
			return nil, 0, nil, err
		}
		m.stir++
		if hash := m.keys.hash(e.req.key()); m.counts(hash, priority) {
			return e, hash, record, nil
		}
		switch {
		case h.queue.stale > 0:
			h.queue.stale--
		case m.stray > 0:
			m.stray--
		}
	}
}

// grant makes a lease of a hold.
func (m *Memory) grant(l *hold, r *Request, want LeaseRequest, now time.Duration) Lease {
	l.lease, l.key = true, r.key()
	l.attempt++
	m.keys.set(l.hash, leased)
	m.stats.Leased++
	m.stats.Changes++
	m.stir++
	o := m.holds.byOwner[want.Owner]
	if o == nil {
		if o = m.holds.gone; o == nil {
			o = new(owner)
		}
		m.holds.gone = nil
		*o = owner{boot: want.Boot}
		m.holds.byOwner[want.Owner] = o
	}
	o.leases++
	o.group, o.seen = l.group, now
	return Lease{
		Key: l.key, Owner: want.Owner, Epoch: l.id, TTL: want.TTL, Attempt: l.attempt, Suspect: l.group > 0,
		Crashes: l.crashes, GivenUp: l.crashes >= m.opt.MaxCrashes, Request: r,
	}
}

// nextLease is how long it takes until an owner may have a lease if nobody calls: until a host opens, a delay or a hold
// ends. One that is restrained has to wait for the end of a hold, if its group of suspects has no room.
func (m *Memory) nextLease(owner string, restrained bool, now time.Duration) time.Duration {
	if m.pending() == 0 {
		return 0
	}
	next := time.Duration(math.MaxInt64)
	if len(m.holds.ends) > 0 {
		next = m.holds.ends[0].until
	}
	if !restrained {
		if len(m.runnable) > 0 {
			next = min(next, m.runnable[0].at)
		}
		if due, ok := m.delayed.next(); ok {
			next = min(next, due)
		}
		next = min(next, m.nextSuspect(0))
	} else if o := m.holds.byOwner[owner]; o != nil && o.leases < o.group {
		next = min(next, m.nextSuspect(o.group))
	}
	if next == math.MaxInt64 {
		return 0
	}
	return max(next-now, 1)
}

// Extend implements Frontier.
func (m *Memory) Extend(ctx context.Context, ttl time.Duration, leases ...Lease) error {
	ttl = orDefault(ttl, m.opt.LeaseTTL, m.opt.LeaseTTL)
	return m.do(ctx, func(now time.Duration) error {
		var lost []string
		for _, l := range leases {
			held := m.holds.valid(l)
			if held == nil {
				lost = append(lost, l.Key)
				continue
			}
			m.extend(held, ttl, now)
			m.journal.extended(held.id, ttl)
		}
		return lostError(lost, nil)
	})
}

func (m *Memory) extend(l *hold, ttl, now time.Duration) {
	l.until = now + min(ttl, math.MaxInt64-now)
	m.holds.ends.fix(l.at)
}
