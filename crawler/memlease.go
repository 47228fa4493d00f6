package crawler

import (
	"context"
	"math"
	"slices"
	"time"
)

// memLease is a request in somebody's hands.
type memLease struct {
	entry *entry
	host  *memHost
	owner string
	epoch uint64
	start time.Time
	until time.Time
	alone bool // it is a suspect's, and the only one of its owner
}

// leaseTable holds the leases by hash of their key, and what the latest settlements were.
type leaseTable struct {
	byHash  map[uint64]*memLease
	byOwner map[string]int
	boots   map[string]uint64 // that each owner told last
	soonest time.Time         // no lease expires before it
	settled map[uint64]settledLease
	ring    []uint64 // hashes of settled, oldest at ringAt
	ringAt  int
}

// settledLease lets the exact repeat of a settlement be told from a stale one.
type settledLease struct {
	owner   string
	epoch   uint64
	outcome Outcome
}

// rememberSettled is for how many settlements a repeat is recognised.
const rememberSettled = 4096

func (t *leaseTable) init() {
	t.byHash, t.byOwner, t.boots, t.settled = map[uint64]*memLease{}, map[string]int{}, map[string]uint64{}, map[uint64]settledLease{}
}

// valid returns the lease if it is held as told.
func (t *leaseTable) valid(h uint64, l Lease) *memLease {
	if got := t.byHash[h]; got != nil && got.owner == l.Owner && got.epoch == l.Epoch {
		return got
	}
	return nil
}

func (t *leaseTable) put(h uint64, l *memLease) {
	t.byHash[h] = l
	t.byOwner[l.owner]++
	if len(t.byHash) == 1 || l.until.Before(t.soonest) {
		t.soonest = l.until
	}
}

func (t *leaseTable) remove(h uint64, l *memLease) {
	delete(t.byHash, h)
	if t.byOwner[l.owner]--; t.byOwner[l.owner] == 0 {
		delete(t.byOwner, l.owner)
	}
}

func (t *leaseTable) remember(h uint64, s settledLease) {
	if _, again := t.settled[h]; !again {
		if len(t.ring) < rememberSettled {
			t.ring = append(t.ring, h)
		} else {
			delete(t.settled, t.ring[t.ringAt])
			t.ring[t.ringAt] = h
			t.ringAt = (t.ringAt + 1) % rememberSettled
		}
	}
	t.settled[h] = s
}

// Lease implements Frontier.
func (m *Memory) Lease(ctx context.Context, want LeaseRequest) (LeaseBatch, error) {
	if err := ctx.Err(); err != nil {
		return LeaseBatch{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	m.reclaim(now)
	m.reboot(want, now)
	m.forgetCold(now)
	ttl := orDefault(want.TTL, m.opt.LeaseTTL, m.opt.LeaseTTL)
	var b LeaseBatch
	if len(m.suspects) > 0 {
		m.leaseSuspect(&b, want.Owner, ttl, now)
		b.Finished = m.finished(now)
		return b, nil
	}
	for len(b.Leases) < want.Max && len(m.runnable) > 0 && !m.holdsAlone(want.Owner) {
		h := m.runnable[0]
		if h.at.After(now) {
			b.Next = h.at.Sub(now)
			break
		}
		h.queue.ripen(now)
		if e := m.popReady(h); e != nil {
			h.take(m, now)
			m.seq++
			h.seq = m.seq // behind the others that may be visited at the same time
			b.Leases = append(b.Leases, m.grant(e, h, want.Owner, ttl, false, now))
		}
		m.place(h, now)
	}
	if len(b.Leases) == 0 {
		b.Finished = m.finished(now)
	}
	return b, nil
}

// popReady takes the next entry of a host that still counts.
func (m *Memory) popReady(h *memHost) *entry {
	for {
		record, ok := h.queue.popReady()
		if !ok {
			return nil
		}
		e, err := decodeEntry(record)
		if err != nil {
			panic(err) // what appendEntry wrote
		}
		if r, is := m.raised[e.hash]; is {
			if e.req.Priority < r.best { // overtaken by a record of better priority
				if r.stale--; r.stale > 0 {
					m.raised[e.hash] = r
				} else {
					delete(m.raised, e.hash)
				}
				continue
			}
			if r.stale == 0 {
				delete(m.raised, e.hash)
			}
		}
		switch m.seen.get(e.hash) {
		case waiting:
			m.stats.Delayed--
		case queued:
			m.stats.Ready--
		default: // dropped; it was taken from the counts then
			m.seen.set(e.hash, finished)
			continue
		}
		return e
	}
}

// grant makes a lease of an entry that has been taken from its queue and whose place is booked.
func (m *Memory) grant(e *entry, h *memHost, owner string, ttl time.Duration, alone bool, now time.Time) Lease {
	m.seq++
	e.attempt++
	m.seen.set(e.hash, leased)
	m.stats.Leased++
	m.stats.Changes++
	m.leases.put(e.hash, &memLease{entry: e, host: h, owner: owner, epoch: m.seq, start: now, until: now.Add(ttl), alone: alone})
	return Lease{
		Key: e.req.key(), Owner: owner, Epoch: m.seq, TTL: ttl, Attempt: e.attempt, Suspect: alone, Request: &e.req,
	}
}

// holdsAlone reports whether the owner has a suspect, beside which it gets nothing.
func (m *Memory) holdsAlone(owner string) bool {
	if m.leases.byOwner[owner] != 1 {
		return false
	}
	for _, l := range m.leases.byHash {
		if l.owner == owner {
			return l.alone
		}
	}
	return false
}

// leaseSuspect hands a suspect to an owner that holds nothing. While suspects wait nothing else is handed out.
func (m *Memory) leaseSuspect(b *LeaseBatch, owner string, ttl time.Duration, now time.Time) {
	if m.leases.byOwner[owner] > 0 {
		return
	}
	for i := 0; i < len(m.suspects); i++ {
		e := m.suspects[i]
		if m.seen.get(e.hash) != queued { // passed by a redirect meanwhile
			m.seen.set(e.hash, finished)
			m.suspects = slices.Delete(m.suspects, i, i+1)
			i--
			continue
		}
		h := m.host(e.req.Host())
		if h.inFlight >= h.places(m) {
			continue
		}
		if at := h.opens(); at.After(now) {
			if wait := at.Sub(now); b.Next == 0 || wait < b.Next {
				b.Next = wait
			}
			continue
		}
		m.suspects = slices.Delete(m.suspects, i, i+1)
		m.stats.Ready--
		h.take(m, now)
		b.Next = 0
		b.Leases = append(b.Leases, m.grant(e, h, owner, ttl, true, now))
		m.place(h, now)
		return
	}
}

// reclaim takes back leases and reservations that have expired.
func (m *Memory) reclaim(now time.Time) {
	if len(m.leases.byHash) > 0 && !now.Before(m.leases.soonest) {
		soonest := now.Add(math.MaxInt32 * time.Second)
		for h, l := range m.leases.byHash {
			if now.Before(l.until) {
				if l.until.Before(soonest) {
					soonest = l.until
				}
				continue
			}
			m.takeBack(h, l, now)
		}
		m.leases.soonest = soonest
	}
	for id, r := range m.reserved {
		if !now.Before(r.until) {
			delete(m.reserved, id)
			r.host.leave(m, r.until, now, HostReport{Exchanges: 1})
			m.place(r.host, now)
		}
	}
}

// reboot takes back what an owner held before it started anew.
func (m *Memory) reboot(want LeaseRequest, now time.Time) {
	if boot, known := m.leases.boots[want.Owner]; known && boot == want.Boot {
		return
	}
	m.leases.boots[want.Owner] = want.Boot
	for h, l := range m.leases.byHash {
		if l.owner == want.Owner {
			m.takeBack(h, l, now)
		}
	}
}

// takeBack makes a suspect of a request whose holder died, or gives it up.
func (m *Memory) takeBack(h uint64, l *memLease, now time.Time) {
	m.leases.remove(h, l)
	m.stats.Leased--
	m.stats.Changes++
	l.host.leave(m, l.until, now, HostReport{Exchanges: 1}) // that it was in contact must be assumed
	if l.alone {
		l.entry.crashes++
	}
	l.entry.attempt-- // a death is no try
	switch {
	case l.entry.crashes >= m.opt.MaxCrashes:
		m.fail(l.entry)
	case m.opt.MaxCrashes == math.MaxInt:
		m.seen.set(h, queued)
		m.stats.Ready++
		m.remember(l.entry)
		m.enqueue(l.entry, now)
	default:
		m.seen.set(h, queued)
		m.stats.Ready++
		m.suspects = append(m.suspects, l.entry)
	}
	m.place(l.host, now)
}

// remember notes a priority other than 0 when an entry is queued again.
func (m *Memory) remember(e *entry) {
	if r, is := m.raised[e.hash]; is || e.req.Priority != 0 {
		r.best = e.req.Priority
		m.raised[e.hash] = r
	}
}

// maxDead bounds the list of failed requests; beyond it the oldest are only counted.
const maxDead = 10_000

func (m *Memory) fail(e *entry) {
	m.seen.set(e.hash, finished)
	m.stats.Failed++
	if len(m.dead) >= maxDead {
		m.dead = append(m.dead[:0], m.dead[maxDead/10:]...)
	}
	m.dead = append(m.dead, e)
}

// Extend implements Frontier.
func (m *Memory) Extend(ctx context.Context, ttl time.Duration, leases ...Lease) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	m.reclaim(now)
	var lost []string
	for _, l := range leases {
		if held := m.leases.valid(m.seen.hash(l.Key), l); held != nil {
			held.until = now.Add(orDefault(ttl, m.opt.LeaseTTL, m.opt.LeaseTTL))
			if held.until.Before(m.leases.soonest) {
				m.leases.soonest = held.until
			}
			continue
		}
		lost = append(lost, l.Key)
	}
	return lostError(lost)
}

func lostError(keys []string) error {
	if len(keys) == 0 {
		return nil
	}
	return &LeaseLostError{Keys: keys}
}

// Settle implements Frontier. When the links of a settlement do not fit, it has no effect and the error is ErrFull.
func (m *Memory) Settle(ctx context.Context, settlements ...Settlement) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	m.reclaim(now)
	var lost []string
	var failed error
	for i := range settlements {
		s := &settlements[i]
		h := m.seen.hash(s.Lease.Key)
		l := m.leases.valid(h, s.Lease)
		if l == nil {
			if m.leases.settled[h] != (settledLease{s.Lease.Owner, s.Lease.Epoch, s.Outcome}) {
				lost = append(lost, s.Lease.Key)
			}
			continue
		}
		if err := m.settle(h, l, s, now); err != nil && failed == nil {
			failed = err
		}
	}
	return first(lostError(lost), failed)
}

func (m *Memory) settle(h uint64, l *memLease, s *Settlement, now time.Time) error {
	for _, r := range s.Links {
		if err := r.check(); err != nil {
			return err
		}
	}
	if s.Outcome == Done && m.pending()+int64(len(s.Links)) > int64(m.opt.MaxPending) && m.pending()+m.fresh(s.Links) > int64(m.opt.MaxPending) {
		return ErrFull
	}
	m.leases.remove(h, l)
	m.leases.remember(h, settledLease{l.owner, l.epoch, s.Outcome})
	m.stats.Leased--
	m.stats.Changes++
	l.host.leave(m, now.Add(-s.Report.Since), now, s.Report)
	switch s.Outcome {
	case Done:
		m.done(h, l.entry, s, now)
	case Retry:
		m.requeue(h, l.entry, max(s.Delay, 0), now)
	case Failed:
		m.fail(l.entry)
	default:
		l.entry.attempt--
		m.requeue(h, l.entry, max(s.Delay, 0), now)
	}
	m.place(l.host, now)
	return nil
}

// fresh counts the links that are new.
func (m *Memory) fresh(links []*Request) (n int64) {
	for _, r := range links {
		if m.seen.get(m.seen.hash(r.key())) == unseen {
			n++
		}
	}
	return n
}

func (m *Memory) done(h uint64, e *entry, s *Settlement, now time.Time) {
	m.stats.Done++
	m.seen.set(h, finished)
	for _, key := range s.Seen {
		m.pass(m.seen.hash(key))
	}
	for _, r := range s.Links {
		m.add(r, now)
	}
	if s.Revisit > 0 {
		e.attempt, e.crashes = 0, 0
		m.requeue(h, e, s.Revisit, now)
	}
}

// pass marks a key that a redirect went through as seen.
func (m *Memory) pass(h uint64) {
	switch m.seen.get(h) {
	case unseen:
		m.seen.set(h, finished)
	case queued:
		m.stats.Ready--
		m.seen.set(h, dropped)
	case waiting:
		m.stats.Delayed--
		m.seen.set(h, dropped)
	}
}

// requeue puts an entry back, at once or after a delay.
func (m *Memory) requeue(h uint64, e *entry, d time.Duration, now time.Time) {
	m.remember(e)
	if d == 0 {
		m.seen.set(h, queued)
		m.stats.Ready++
		m.enqueue(e, now)
		return
	}
	m.seen.set(h, waiting)
	m.stats.Delayed++
	m.delay(e, d, now)
}
