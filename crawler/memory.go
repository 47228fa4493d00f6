package crawler

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/seine-go/seine/internal/siphash"
)

// MemoryOptions are the bounds of a Memory frontier. The zero value is good for a crawl of some ten million URLs.
type MemoryOptions struct {
	// MaxPending bounds the requests that are ready, delayed or leased. Zero means 10,000,000, negative none.
	MaxPending int
	// LeaseTTL is the TTL of leases that ask for none. Zero means a minute.
	LeaseTTL time.Duration
	// MaxCrashes is how often the holder of a request may die while it has nothing else. Zero means 3, negative no
	// bound: then nothing is counted and nothing leased alone.
	MaxCrashes int
	// HashKey is the secret of the seen set. Zero means a random one.
	HashKey [2]uint64
}

// Memory is a Frontier that lasts as long as the process. It serves any number of owners.
//
// A queued URL costs its bytes and about a dozen more, a seen one 11 to 17 bytes, a host some hundred bytes as long as it
// has work or a pace to keep.
type Memory struct {
	opt MemoryOptions

	mu       sync.Mutex
	seen     seenTable
	raised   map[uint64]raise // keys queued with a priority other than 0
	hosts    map[string]*memHost
	runnable hostHeap // hosts with work and a free place, by when they may be visited
	cooling  hostHeap // hosts without work, until they may be forgotten
	defaults HostPolicy
	leases   leaseTable
	reserved map[uint64]*reservation
	suspects []*entry
	producer map[string]*producer
	stats    FrontierStats
	seq      uint64 // of leases, reservations and delayed entries; never repeats
	scratch  []byte
	dead     []*entry // failed for good, newest last
}

// raise tells the valid record of a key, which has the best priority, from those it overtook.
type raise struct{ best, stale int }

type producer struct {
	until time.Time
	open  int
}

var (
	_ Frontier     = (*Memory)(nil)
	_ HostSetter   = (*Memory)(nil)
	_ HostReserver = (*Memory)(nil)
	_ Producers    = (*Memory)(nil)
)

// NewMemory returns an empty frontier.
func NewMemory(o MemoryOptions) *Memory {
	o.MaxPending = orDefault(o.MaxPending, 10_000_000, math.MaxInt)
	o.MaxCrashes = orDefault(o.MaxCrashes, 3, math.MaxInt)
	o.LeaseTTL = orDefault(o.LeaseTTL, time.Minute, time.Minute)
	m := &Memory{
		opt: o, raised: map[uint64]raise{}, hosts: map[string]*memHost{}, reserved: map[uint64]*reservation{},
		producer: map[string]*producer{}, defaults: HostPolicy{Spacing: DefaultSpacing, MaxInFlight: DefaultPerHost},
	}
	m.seen.key = siphash.Key(o.HashKey)
	for m.seen.key == (siphash.Key{}) {
		var b [16]byte
		rand.Read(b[:]) // never fails
		m.seen.key = siphash.Key{binary.LittleEndian.Uint64(b[:8]), binary.LittleEndian.Uint64(b[8:])}
	}
	m.leases.init()
	return m
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

// Add implements Frontier.
func (m *Memory) Add(ctx context.Context, reqs ...*Request) ([]AddStatus, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for _, r := range reqs {
		if err := r.check(); err != nil {
			return nil, err
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	statuses := make([]AddStatus, len(reqs))
	var err error
	for i, r := range reqs {
		if statuses[i] = m.add(r, now); statuses[i] == Refused {
			err = ErrFull
		}
	}
	return statuses, err
}

// add dedupes and enqueues one request.
func (m *Memory) add(r *Request, now time.Time) AddStatus {
	h := m.seen.hash(r.key())
	switch m.seen.get(h) {
	case unseen:
	case queued:
		return m.raise(r, h, now)
	default:
		return Duplicate
	}
	if m.pending() >= int64(m.opt.MaxPending) {
		return Refused
	}
	m.seen.set(h, queued)
	if r.Priority != 0 {
		m.raised[h] = raise{best: r.Priority}
	}
	m.stats.Ready++
	m.stats.Changes++
	m.enqueue(&entry{req: *r, hash: h}, now)
	return Added
}

func (m *Memory) pending() int64 { return m.stats.Ready + m.stats.Delayed + m.stats.Leased }

// raise queues a request that is ready once more, if its priority is better now. The old record becomes stale.
func (m *Memory) raise(r *Request, h uint64, now time.Time) AddStatus {
	old := m.raised[h]
	if r.Priority <= old.best {
		return Duplicate
	}
	m.raised[h] = raise{best: r.Priority, stale: old.stale + 1}
	m.stats.Changes++
	m.enqueue(&entry{req: *r, hash: h}, now)
	return Raised
}

// enqueue appends an entry to the ready ones of its host.
func (m *Memory) enqueue(e *entry, now time.Time) {
	host := m.host(e.req.Host())
	m.scratch = appendEntry(m.scratch[:0], e)
	host.queue.pushReady(e.req.Priority, m.scratch)
	m.place(host, now)
}

// delay puts an entry among the delayed ones of its host.
func (m *Memory) delay(e *entry, d time.Duration, now time.Time) {
	m.seq++
	host := m.host(e.req.Host())
	host.queue.pushDelayed(delayedEntry{due: now.Add(d), seq: m.seq, priority: e.req.Priority, record: appendEntry(nil, e)})
	m.place(host, now)
}

// Stats implements Frontier.
func (m *Memory) Stats(ctx context.Context) (FrontierStats, error) {
	if err := ctx.Err(); err != nil {
		return FrontierStats{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	m.reclaim(now)
	s := m.stats
	s.Hosts, s.Producers, s.Finished = len(m.hosts), m.producers(now), m.finished(now)
	return s, nil
}

func (m *Memory) finished(now time.Time) bool { return m.pending() == 0 && m.producers(now) == 0 }

func (m *Memory) producers(now time.Time) int {
	n := 0
	for name, p := range m.producer {
		if !now.Before(p.until) {
			delete(m.producer, name)
			continue
		}
		n++
	}
	return n
}

// OpenProducer implements Producers.
func (m *Memory) OpenProducer(ctx context.Context, name string, ttl time.Duration) (func(context.Context) error, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if name == "" || ttl <= 0 {
		return nil, fmt.Errorf("seine: frontier: producer %q with a ttl of %v", name, ttl)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.producer[name]
	if p == nil {
		p = &producer{}
		m.producer[name] = p
	}
	p.open++
	p.until = time.Now().Add(ttl)
	m.stats.Changes++
	var once sync.Once
	return func(context.Context) error {
		once.Do(func() {
			m.mu.Lock()
			defer m.mu.Unlock()
			if p.open--; p.open == 0 && m.producer[name] == p {
				delete(m.producer, name)
				m.stats.Changes++
			}
		})
		return nil
	}, nil
}
