package crawler

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/seine-go/seine/internal/siphash"
	"github.com/seine-go/seine/internal/weburl"
	"github.com/seine-go/seine/ratelimit"
)

// MemoryOptions are the bounds of a Memory frontier. The zero value is good for a crawl of some ten million URLs.
type MemoryOptions struct {
	// MaxPending bounds the requests that are ready, delayed or leased. Zero means 10,000,000, negative none.
	MaxPending int
	// LeaseTTL is the TTL of leases that ask for none. Zero means a minute.
	LeaseTTL time.Duration
	// MaxCrashes is how often the holder of a request may die while it has nothing else. After the death of one that had
	// many, these are tried again before anything else, an eighth of them at a time: that takes some nine times as long as
	// a page does, and with the next death of the kind again. Zero means 3, negative no bound: then nothing is counted and
	// nothing leased alone.
	MaxCrashes int
	// CrashPause is how long at least a process has to live without a request that one more death would give up, before
	// that is tried again: three times as long as the last holder lived is added. A process that dies meanwhile dies of
	// something else, and what is counted is wiped out. So a page is given up only where processes die with it and live
	// without it; one that takes longer than they live is not. At the end of a crawl such a pause is waited for. Zero means
	// 10 seconds, negative none: then deaths are counted alone.
	CrashPause time.Duration
	// AgeStep is how long a request waits to gain one level of priority on the others of its host. Zero means that
	// requests do not age.
	AgeStep time.Duration
	// MaxDead is how many requests that failed for good are kept to be listed and driven again; of those before only the
	// number is known. Zero means 10,000, negative all.
	MaxDead int
	// SpillDir is a directory for temporary files. Requests that take more than SpillBytes of memory wait there, and come
	// back in their order. Zero means that all are kept in memory.
	SpillDir string
	// SpillBytes is the memory of ready and delayed requests beyond which some are spilled. Zero means 64 MiB.
	SpillBytes int64
	// SeenBytes is the memory of the seen set of a frontier with a Journal; what has no room is in the journal. Zero means
	// 16 MiB. It needs half a MiB in any case.
	SeenBytes int64
	// HashKey is the secret of the seen set. Zero means a random one.
	HashKey [2]uint64
}

// Memory is a Frontier that lasts as long as the process, or its Journal: see OpenMemory. It serves any number of owners.
//
// A queued URL costs what its path and query take and a dozen bytes, a seen one about ten, a host with work some
// 400 bytes, and 256 more once it has answered: with two URLs a host that is 250 bytes for each, and most of
// it stays when they are spilled. With a Journal queues of less than half a KiB are never out of memory. One that is spilled costs a few bytes beside those of the seen set, some
// three where SpillBytes are two KiB or more for each host, and up to seven where they are half of one. A host without work is forgotten once it may be visited again, but
// for a policy that it was given; of those that complained or did not answer ten thousand are remembered for
// ten minutes.
//
// A frontier that spills has to be closed. Its files need as much room as what was ever spilled and is not yet done with;
// one is given up when the last request in it has come back. A disk that is full makes the frontier full.
type Memory struct {
	opt   MemoryOptions
	clock func() time.Duration // since a start that all times are counted from

	mu       sync.Mutex
	closed   bool
	keys     keyTable
	arena    arena
	delayed  delays
	idle     int // delayed entries that are not to be handed out, since all were looked through
	hosts    map[string]*memHost
	policies map[string]HostPolicy // of hosts that were given one
	defaults HostPolicy
	usual    ratelimit.Policy  // of hosts that have the defaults
	runnable minHeap[*memHost] // hosts with work and a free place, by when they may be visited
	cooling  minHeap[*memHost] // hosts without work, until they may be forgotten
	stray    int               // stale records of unknown hosts, since all were looked through
	holds    holds
	suspects []*hold // whose holders died, the longest dead first
	producer map[string]*producer
	dead     deadList
	crawl    CrawlID // that it holds
	stats    FrontierStats
	seq      uint64 // of hosts and delayed entries; never repeats
	scratch  []byte
	stir     uint64    // grows with each change that time brings, or that is made on the way to an answer
	journal  *recorder // nil: nothing outlives the process
}

var (
	_ Frontier     = (*Memory)(nil)
	_ HostSetter   = (*Memory)(nil)
	_ HostReserver = (*Memory)(nil)
	_ Producers    = (*Memory)(nil)
	_ DeadLister   = (*Memory)(nil)
)

// NewMemory returns an empty frontier.
func NewMemory(o MemoryOptions) *Memory {
	o.MaxPending = orDefault(o.MaxPending, 10_000_000, math.MaxInt)
	o.MaxCrashes = orDefault(o.MaxCrashes, 3, math.MaxInt)
	o.CrashPause = min(orDefault(o.CrashPause, crashPause, -1), longestPause) // negative: none
	o.MaxDead = orDefault(o.MaxDead, 10_000, math.MaxInt)
	o.LeaseTTL = orDefault(o.LeaseTTL, time.Minute, time.Minute)
	o.SpillBytes = orDefault(o.SpillBytes, defaultSpillAt, defaultSpillAt)
	secret := siphash.Key(o.HashKey)
	for secret == (siphash.Key{}) {
		var b [16]byte
		rand.Read(b[:]) // never fails
		secret = siphash.Key{binary.LittleEndian.Uint64(b[:8]), binary.LittleEndian.Uint64(b[8:])}
	}
	m := &Memory{
		opt: o, clock: since(time.Now()), keys: newKeyTable(secret), hosts: map[string]*memHost{}, policies: map[string]HostPolicy{},
		producer: map[string]*producer{}, defaults: defaultPace, usual: defaultPace.pace(),
		arena: arena{most: mostChunk, age: max(o.AgeStep, 0)},
	}
	m.arena.files.init(o.SpillDir, o.SpillBytes)
	m.holds.init()
	m.dead.init(o.MaxDead)
	return m
}

func since(start time.Time) func() time.Duration {
	return func() time.Duration { return time.Since(start) }
}

// orDefault replaces the zero value, and a negative one that means no limit.
func orDefault[T int | int64 | time.Duration](v, zero, negative T) T {
	switch {
	case v == 0:
		return zero
	case v < 0:
		return negative
	}
	return v
}

// Close removes the files of a frontier that spills. Nothing can be done with the frontier after it. What is leased to a
// frontier with a Journal is released: whoever opens it next does not take its holders for dead. A Journal stays open; what
// it was given last is durable when it says so.
func (m *Memory) Close() error {
	m.mu.Lock()
	if !m.closed {
		m.closed = true
		m.leave()
	}
	err := m.arena.files.close()
	m.mu.Unlock()
	m.journal.join()
	return err
}

// do calls f for a caller, with the frontier locked, and waits until what it knows then is durable. f is told the time,
// after what that has brought was done.
func (m *Memory) do(ctx context.Context, f func(now time.Duration) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ticket, err := m.locked(f)
	if ticket == 0 {
		return err
	}
	return first(m.journal.to.Wait(ctx, ticket), err)
}

// locked returns what Wait is to be asked for; 0: nothing.
func (m *Memory) locked(f func(now time.Duration) error) (ticket uint64, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return 0, ErrClosed
	}
	if err := m.journal.usable(); err != nil {
		return 0, err
	}
	now := m.clock()
	before := m.stir
	m.bring(now)
	err = f(now)
	return m.record(now, m.stir != before, err)
}

// bring does what time has brought.
func (m *Memory) bring(now time.Duration) {
	m.ripen(now) // first, since what was due comes before what is taken back now
	m.expire(now)
}

// Add implements Frontier.
func (m *Memory) Add(ctx context.Context, reqs ...*Request) ([]AddStatus, error) {
	for _, r := range reqs {
		if err := r.check(); err != nil {
			return nil, err
		}
	}
	var room [64]uint64
	hashes := m.hashes(room[:0], reqs)
	var statuses []AddStatus
	err := m.do(ctx, func(now time.Duration) (err error) {
		m.keys.touch(hashes)
		statuses = make([]AddStatus, len(reqs))
		for i, r := range reqs {
			if statuses[i] = m.add(r, hashes[i], now); statuses[i] == Refused {
				err = ErrFull
			}
		}
		m.journal.added()
		if err != nil {
			err = m.fullError()
		}
		return err
	})
	return statuses, err
}

// fullError is ErrFull and, where that is why, what is wrong with the disk.
func (m *Memory) fullError() error {
	if stuck := m.arena.stuck(); stuck != nil {
		return fmt.Errorf("%w: %w", ErrFull, stuck)
	}
	return ErrFull
}

// hashes appends the hashes of the requests' keys. It needs no lock.
func (m *Memory) hashes(dst []uint64, reqs []*Request) []uint64 {
	for _, r := range reqs {
		dst = append(dst, m.keys.hash(r.key()))
	}
	return dst
}

// add dedupes and enqueues one request.
func (m *Memory) add(r *Request, h uint64, now time.Duration) AddStatus {
	state, priority := m.keys.get(h)
	switch {
	case state == unseen && m.full():
		return Refused
	case state == unseen:
		m.stats.Ready++
		m.enqueue(r, h, now)
		m.journal.fresh(r)
		return Added
	case state == ready && r.Priority > priority: // the record that is there becomes stale
		host := m.enqueue(r, h, now)
		host.queue.stale++
		m.tidy(host, now)
		m.journal.fresh(r)
		return Raised
	}
	return Duplicate
}

// full reports whether there is no room for one more request.
func (m *Memory) full() bool {
	if m.arena.stuck() != nil {
		m.arena.files.next = 0
		m.spill()
	}
	return m.pending() >= int64(m.opt.MaxPending) || m.arena.stuck() != nil
}

func (m *Memory) pending() int64 { return m.stats.Ready + m.stats.Delayed + m.stats.Leased }

// enqueue makes a request ready.
func (m *Memory) enqueue(r *Request, h uint64, now time.Duration) *memHost {
	host := m.host(r.Host())
	m.scratch = appendEntry(m.scratch[:0], &entry{req: *r, due: m.aged(now)}, host.name)
	m.push(host, h, ready, r.Priority, now, now, m.scratch)
	return host
}

// aged is the due time that is kept with a record: none where requests do not age.
func (m *Memory) aged(due time.Duration) time.Duration {
	if m.arena.age == 0 {
		return 0
	}
	return due.Truncate(time.Millisecond)
}

// push appends a record to the ready ones of its host.
func (m *Memory) push(host *memHost, h uint64, s keyState, priority int, due, now time.Duration, record []byte) {
	m.keys.setReady(h, s, priority)
	m.stats.Changes++
	if host.queue.n <= host.queue.stale {
		host.since = due
	}
	host.queue.push(&m.arena, priority, m.aged(due), record)
	m.place(host, now)
	m.spill()
}

// tidy drops the stale records of a host when they are more than a third of all.
func (m *Memory) tidy(host *memHost, now time.Duration) {
	const few = 64
	if host.queue.stale < few || host.queue.stale < host.queue.n/3 {
		return
	}
	m.dropStale(host, now)
}

// dropStale drops the stale records of a host, known or not.
func (m *Memory) dropStale(host *memHost, now time.Duration) {
	host.queue.filter(&m.arena, func(record []byte, priority int) bool {
		e, err := decodeEntry(record, host.name, priority)
		if err != nil {
			return true // whoever would be handed it is told
		}
		return m.counts(m.keys.hash(e.req.key()), priority)
	})
	m.place(host, now)
}

// counts reports whether a record that is taken from its queue is the one that its key has now. It settles the state of a
// key that was dropped.
func (m *Memory) counts(h uint64, priority int) bool {
	state, best := m.keys.get(h)
	if state == dropped {
		m.keys.set(h, finished)
	}
	return (state == ready || state == again) && priority == best
}

// pass marks a key that a redirect went through as seen. What is in somebody's hands is left there, and does not come back.
func (m *Memory) pass(key string, now time.Duration) {
	const few = 4096
	h := m.keys.hash(key)
	switch state := m.keys.state(h); state {
	case unseen:
		m.keys.set(h, finished)
	case leased:
		m.keys.set(h, passed)
	case suspect:
		m.stats.Ready--
		m.keys.set(h, finished)
		m.forgetSuspect(h)
	case ready, again:
		m.stats.Ready--
		m.keys.set(h, dropped)
		if u, ok := weburl.Split(key); ok && m.hosts[u.Host()] != nil {
			m.hosts[u.Host()].queue.stale++
		} else if m.stray++; m.stray > few && m.stray > int(m.stats.Ready) {
			m.tidyAll(now)
		}
	case waiting:
		m.stats.Delayed--
		m.keys.set(h, dropped)
		if m.idle++; m.idle > few && m.idle > int(m.stats.Delayed) {
			m.tidyDelayed()
		}
	}
}

// tidyAll drops the stale records of all hosts.
func (m *Memory) tidyAll(now time.Duration) {
	m.stray = 0
	for _, h := range m.hostsInOrder() {
		m.dropStale(h, now)
	}
}

// hostsInOrder lists all hosts in an order that is the same whenever a journal is replayed: of those that lose their work
// only so many are remembered.
func (m *Memory) hostsInOrder() []*memHost {
	return slices.SortedFunc(maps.Values(m.hosts), func(a, b *memHost) int { return cmp.Compare(a.seq, b.seq) })
}

// Stats implements Frontier.
func (m *Memory) Stats(ctx context.Context) (FrontierStats, error) {
	var s FrontierStats
	err := m.ask(ctx, func(now time.Duration) error {
		s = m.stats
		s.Producers = m.producers(now)
		s.Hosts, s.Finished = len(m.hosts), m.finished(now)
		return nil
	})
	return s, err
}

func (m *Memory) finished(now time.Duration) bool { return m.pending() == 0 && m.producers(now) == 0 }
