package crawler

import (
	"math"
	"time"
)

// delayedEntry is a record that waits for its time.
type delayedEntry struct {
	delayMark
	at       int // place in the heap
	hash     uint64
	host     string
	then     keyState // ready or again
	priority int
	record   []byte
}

func (e *delayedEntry) before(f *delayedEntry) bool { return e.compare(f.delayMark) < 0 }

func (e *delayedEntry) slot() *int { return &e.at }

// size is what it takes of memory.
func (e *delayedEntry) size() int64 { return int64(delayedCost + len(e.record)) }

// state is that of an entry that is ready.
func (e *entry) state() keyState {
	if e.attempt != 0 || e.crashes != 0 {
		return again
	}
	return ready
}

// delay puts a record away until it is due.
func (m *Memory) delay(e *entry, host string, h uint64, d, now time.Duration) {
	m.keys.set(h, waiting)
	m.seq++
	due := now + d
	if due < now { // beyond what can be counted
		due = math.MaxInt64
	}
	e.due = m.aged(due)
	m.delayed.push(&m.arena, &delayedEntry{
		delayMark: delayMark{due, m.seq}, hash: h, host: host, then: e.state(), priority: e.req.Priority, record: appendEntry(nil, e, host),
	})
	m.stats.Delayed++
	m.stats.Changes++
	m.spill()
}

// ripen makes ready what is due.
func (m *Memory) ripen(now time.Duration) {
	for e := m.delayed.pop(&m.arena, now); e != nil; e = m.delayed.pop(&m.arena, now) {
		m.stir++
		if m.keys.state(e.hash) != waiting {
			m.keys.set(e.hash, finished)
			m.idle = max(m.idle-1, 0)
			continue
		}
		m.stats.Delayed--
		m.stats.Ready++
		m.push(m.host(e.host), e.hash, e.then, e.priority, e.due, now, e.record)
	}
	m.delayed.cool(m.mostDelayed())
	if m.journal != nil && m.delayed.err != nil {
		m.journal.broken(m.delayed.err)
	}
}

// mostDelayed is how many bytes of delayed requests there may be in memory before some are spilled, and of those that were
// read back.
func (m *Memory) mostDelayed() int64 {
	if m.journal != nil {
		return m.journal.hot / 4
	}
	return m.arena.files.budget / 4
}

// requeue puts the request of a hold that was let go back, at once or after a delay, unless a redirect has passed it.
func (m *Memory) requeue(l *hold, d, now time.Duration) {
	if m.passedOver(l) {
		return
	}
	e, err := decodeEntry(l.record, l.host.name, l.priority)
	if err != nil {
		panic(err) // what appendEntry wrote; when it was loaded it was looked at
	}
	e.attempt, e.crashes = l.attempt, l.crashes
	if d > 0 {
		m.delay(e, l.host.name, l.hash, d, now)
		return
	}
	e.due = m.aged(now)
	m.stats.Ready++
	m.scratch = appendEntry(m.scratch[:0], e, l.host.name)
	m.push(l.host, l.hash, e.state(), l.priority, now, now, m.scratch)
}

// passedOver reports whether a redirect passed a request while somebody had it: its page was delivered to another request,
// and its own is over.
func (m *Memory) passedOver(l *hold) bool {
	if m.keys.state(l.hash) != passed {
		return false
	}
	m.keys.set(l.hash, finished)
	m.stats.Changes++
	return true
}

// tidyDelayed drops the delayed entries in memory that are not to be handed out. The others cost none.
func (m *Memory) tidyDelayed() {
	m.idle = 0
	all := m.delayed.soon
	m.delayed.soon = nil
	for _, e := range all {
		if m.keys.state(e.hash) == waiting {
			m.delayed.soon.push(e)
		} else {
			m.delayed.add(&m.arena, -e.size())
			m.keys.set(e.hash, finished)
		}
	}
}
