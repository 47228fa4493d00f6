package crawler

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/seine-go/seine/ratelimit"
)

// OpenMemory returns the frontier that a journal has kept, or a new one. If it was not closed, whoever held a lease is dead:
// what was leased comes back at once, as R8 says. What was written by another version of the library, and cannot be gone on
// from, is a *VersionError: a crawl that is taken from one version to another has to be closed in between. Of the options those count that say how it works; SpillDir and HashKey do not, and
// SpillBytes is how much of the queues stays in memory, zero means 4 MiB. The journal must not be used by anybody else, and
// stays open when the frontier is closed.
//
// Of the keys that were ever seen those asked for of late stay in memory; all others, and what is queued, are in the
// journal.
func OpenMemory(ctx context.Context, o MemoryOptions, j Journal) (*Memory, error) {
	m, err := loadMemory(ctx, o, j)
	if err == nil && o.AgeStep != m.opt.AgeStep {
		err = fmt.Errorf("seine: frontier: AgeStep is %v, not %v as when the crawl was begun", o.AgeStep, m.opt.AgeStep)
	}
	if err != nil {
		return nil, err
	}
	return m, m.takeOver(ctx)
}

// ReadMemory returns the frontier that a journal has kept, to be looked at: Stats, Inspect, Dead, Pending and Hosts tell how
// it was left, with what was leased then, and all that would change it is an ErrReadOnly. Of the options SeenBytes counts.
// The journal is told of nothing, and stays open when the frontier is closed.
func ReadMemory(ctx context.Context, o MemoryOptions, j Journal) (*Memory, error) {
	m, err := loadMemory(ctx, o, j)
	if err != nil {
		return nil, err
	}
	m.journal.view = true
	return m, nil
}

// loadMemory makes what a journal has kept, and writes nothing down.
func loadMemory(ctx context.Context, o MemoryOptions, j Journal) (*Memory, error) {
	hot := orDefault(o.SpillBytes, hotBytes, hotBytes)
	o.SpillDir = ""
	m := NewMemory(o)
	options := m.opt
	m.clock = j.Now
	m.journal = &recorder{to: j, mute: true, hot: hot, limit: stateEvery}
	m.arena.read = m.readBlock
	d := &diskKeys{journal: j, fault: m.journal.broken, budget: int(max(orDefault(o.SeenBytes, seenBytes, seenBytes), leastSeen)), all: true}
	m.keys.disk, m.journal.keys = d, d
	l := stateLoader{m: m}
	keysLoaded := false
	err := j.Load(ctx, l.part, func(change []byte) error {
		if !keysLoaded { // the first change: the state is complete
			keysLoaded = true
			if err := first(l.end(), l.sameSemantics()); err != nil {
				return err
			}
		}
		return m.replay(change)
	})
	if err == nil && !keysLoaded {
		err = l.end()
		m.journal.clean = l.closed || l.parts == 0
	}
	if err != nil {
		return nil, err
	}
	m.opt.MaxPending, m.opt.MaxCrashes, m.opt.CrashPause = options.MaxPending, options.MaxCrashes, options.CrashPause
	m.opt.MaxDead, m.dead.most = options.MaxDead, options.MaxDead
	return m, nil
}

// takeOver ends what a dead process held, and saves where that leads to.
func (m *Memory) takeOver(ctx context.Context) error {
	m.mu.Lock()
	now := m.clock()
	m.ripen(now)
	if !m.journal.clean || len(m.holds.ends) > 0 {
		m.die(now)
		m.journal.until = now + carefully
	}
	if m.balance(); m.journal.fault != nil {
		defer m.mu.Unlock()
		return m.journal.fault
	}
	m.journal.mute = false
	m.save(now)
	ticket, fault := m.journal.last, m.journal.fault
	m.mu.Unlock()
	return first(fault, m.journal.to.Wait(ctx, ticket))
}

// stateLoader makes a frontier what a state says.
type stateLoader struct {
	m      *Memory
	head   bool
	parts  int
	err    error // why the state cannot be read, if it is whole
	saved  time.Duration
	closed bool   // by whoever saved it
	by     string // version of the library
	does   uint64 // its semantics
}

// part takes the records of one part.
func (l *stateLoader) part(p []byte) error {
	d := decoder{rest: p}
	l.parts++
	for len(d.rest) > 0 && l.err == nil {
		if !l.record(d.byte(), &d) || d.bad {
			return fmt.Errorf("%w: a state that cannot be read", ErrJournal)
		}
	}
	return nil
}

func (l *stateLoader) record(kind byte, d *decoder) bool {
	m := l.m
	switch kind {
	case recHead:
		return l.readHead(d)
	case recPolicy:
		name := d.text()
		m.policies[name] = d.policy()
	case recHost:
		return m.loadHost(d)
	case recHold:
		if h := m.loadHold(d); h != nil && m.holds.byID[h.id] == nil && h.host == m.hosts[h.host.name] && h.id <= m.holds.last {
			m.holds.byID[h.id] = h
			m.holds.ends.push(h)
			if !h.lease {
				m.holds.reservations++
			}
			return true
		}
		return false
	case recSuspect:
		if h := m.loadHold(d); h != nil && h.lease {
			m.suspects = append(m.suspects, h)
			return true
		}
		return false
	case recOwner:
		name := d.text()
		m.holds.byOwner[name] = &owner{boot: d.uvarint(), group: d.upTo(mostHeld), seen: d.duration()}
	case recDelayed:
		m.delayed.push(&m.arena, d.delayed())
	case recDelayRun:
		if r := d.delayRun(); r != nil {
			m.delayed.runs.push(r)
			return true
		}
		return false
	case recDead:
		return l.readDead(d)
	case recFar:
		h := d.uvarint()
		m.keys.far[h] = int(d.varint())
	case recRun:
		return l.readRun(d)
	default:
		return false
	}
	return true
}

func (l *stateLoader) readHead(d *decoder) bool {
	m := l.m
	schema := d.uvarint()
	if d.bad || l.head {
		return false
	}
	l.head = true
	if schema != stateSchema {
		if schema > 2 { // those before do not tell
			l.by = d.text()
		}
		l.err, d.rest = &VersionError{Version: l.by, Schema: schema}, nil
		return true
	}
	l.by, l.does, l.closed = d.text(), d.uvarint(), d.uvarint() == 1
	m.keys.secret[0], m.keys.secret[1] = d.uvarint(), d.uvarint()
	l.saved = d.duration()
	m.seq, m.holds.last, m.journal.block, m.dead.seq = d.uvarint(), d.uvarint(), d.uvarint(), d.uvarint()
	m.crawl = CrawlID{Name: d.text(), Canonical: d.text()}
	m.opt.MaxPending, m.opt.MaxCrashes, m.opt.MaxDead, m.idle, m.stray = int(d.varint()), int(d.varint()), int(d.varint()), int(d.varint()), int(d.varint())
	if min(m.opt.MaxPending, m.opt.MaxCrashes, m.opt.MaxDead) <= 0 || min(m.idle, m.stray) < 0 {
		return false
	}
	m.dead.most = m.opt.MaxDead
	m.opt.AgeStep, m.opt.CrashPause = time.Duration(d.varint()), time.Duration(d.varint())
	if m.opt.CrashPause > longestPause {
		return false
	}
	m.arena.age = max(m.opt.AgeStep, 0)
	m.defaults = d.policy()
	m.usual = m.defaults.pace()
	s := &m.stats
	for _, to := range [...]*int64{&s.Ready, &s.Delayed, &s.Done, &s.Failed} {
		*to = int64(d.upTo64(mostCounted))
	}
	s.Changes = d.uvarint()
	return true
}

func (l *stateLoader) readDead(d *decoder) bool {
	dead := &l.m.dead
	hash := d.uvarint()
	r := &deadRequest{seq: d.uvarint(), host: d.text(), reason: d.text()}
	r.priority, r.attempts, r.crashes, r.record = int(d.varint()), int(d.varint()), int(d.varint()), slices.Clone(d.bytes())
	dead.byHash[hash] = r
	dead.order = append(dead.order, deadMark{hash, r.seq})
	return !d.bad && readable(r.record)
}

func (l *stateLoader) readRun(d *decoder) bool {
	r := &keyRun{block: d.uvarint(), n: d.upTo(math.MaxInt)}
	fences := d.length()
	if fences == 0 || len(d.rest) < 8*fences || r.n > fences*runPage || r.n <= (fences-1)*runPage {
		return false
	}
	for range fences {
		r.fences = append(r.fences, binary.BigEndian.Uint64(d.rest))
		d.rest = d.rest[8:]
	}
	l.m.keys.disk.runs = append(l.m.keys.disk.runs, r)
	return true
}

func (m *Memory) loadHost(d *decoder) bool {
	h := &memHost{name: d.text()}
	if m.hosts[h.name] != nil {
		return false
	}
	h.policy = m.policies[h.name]
	h.since, h.next, h.blocked, h.at = time.Duration(d.varint()), time.Duration(d.varint()), time.Duration(d.varint()), time.Duration(d.varint())
	h.seq = d.uvarint()
	heap, stale := d.uvarint(), 0
	h.inFlight, stale = d.upTo(mostHeld), d.upTo(mostHeld)
	if state := d.bytes(); len(state) > 0 {
		h.state = new(ratelimit.State)
		if h.state.UnmarshalBinary(state) != nil {
			return false
		}
	}
	for range d.length() {
		if !m.loadBucket(d, &h.queue) {
			return false
		}
	}
	h.queue.stale = stale
	m.hosts[h.name] = h
	switch heap {
	case inRunnable:
		h.heap = &m.runnable
	case inCooling:
		h.heap = &m.cooling
	default:
		return !d.bad
	}
	h.heap.push(h)
	return !d.bad
}

func (m *Memory) loadBucket(d *decoder, to *hostQueue) bool {
	priority := int(d.varint())
	b := to.bucket(priority)
	b.rank = d.varint()
	q, inMemory := &b.queue, true
	if q.n > 0 {
		return false
	}
	q.n, q.off = d.upTo(mostHeld), d.upTo(math.MaxInt32)
	for range d.length() {
		c := chunk{block: d.uvarint()}
		if c.block == 0 {
			c.data = slices.Clone(d.bytes())
			m.arena.bytes += int64(cap(c.data))
		}
		inMemory = inMemory && c.block == 0
		q.chunks = append(q.chunks, c)
	}
	to.n += q.n
	to.ready.fix(b.at)
	return !d.bad && q.n > 0 && len(q.chunks) > 0 && (!inMemory || q.whole())
}

// loadHold returns nil if it cannot be read.
func (m *Memory) loadHold(d *decoder) *hold {
	name := d.text()
	l := &hold{owner: d.text(), key: d.text(), id: d.uvarint(), hash: d.uvarint()}
	l.start, l.until, l.former, l.booked = time.Duration(d.varint()), time.Duration(d.varint()), time.Duration(d.varint()), time.Duration(d.varint())
	l.lease, l.group, l.pause = d.uvarint()&1 != 0, d.upTo(mostHeld), d.duration()
	l.priority, l.attempt, l.crashes = int(d.varint()), int(d.varint()), int(d.varint())
	l.record = slices.Clone(d.bytes())
	if l.host = m.hosts[name]; l.host == nil {
		l.host = &memHost{name: name, policy: m.policies[name]}
	}
	if d.bad || l.lease && !readable(l.record) {
		return nil
	}
	return l
}

// end checks that the state is whole, counts what can be counted and finds the keys.
func (l *stateLoader) end() error {
	m := l.m
	if l.err != nil {
		return l.err
	}
	if l.parts > 0 && !l.head {
		return fmt.Errorf("%w: the state has no head", ErrJournal)
	}
	for _, h := range m.holds.byID {
		if !h.lease {
			continue
		}
		m.stats.Leased++
		o := m.holds.byOwner[h.owner]
		if o == nil {
			return fmt.Errorf("%w: a lease without its owner", ErrJournal)
		}
		o.leases++
	}
	if l.parts > 0 && !l.adds() {
		return fmt.Errorf("%w: a state whose parts do not fit", ErrJournal)
	}
	for _, h := range m.hosts { // of the version that saved it: it may give hosts other places
		if (h.heap == &m.runnable) != (h.queue.n > 0 && h.hasPlace(m)) {
			m.place(h, l.saved)
		}
	}
	return m.keys.load()
}

// sameSemantics refuses to do changes again that another version has done.
func (l *stateLoader) sameSemantics() error {
	switch {
	case l.parts == 0:
		return fmt.Errorf("%w: there are changes of no state", ErrJournal)
	case l.does != semantics():
		return &VersionError{Version: l.by}
	}
	return nil
}
