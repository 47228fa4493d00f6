package crawler

import (
	"math"
	"time"
)

// delayedEntry is a record that waits for its time.
type delayedEntry struct {
	due      time.Duration
	seq      uint64
	at       int // place in the heap
	hash     uint64
	host     string
	then     keyState // ready or again
	priority int
	record   []byte
}

func (e *delayedEntry) before(f *delayedEntry) bool {
	if e.due != f.due {
		return e.due < f.due
	}
	return e.seq < f.seq
}

func (e *delayedEntry) slot() *int { return &e.at }

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
	m.delayed.push(&delayedEntry{due: due, seq: m.seq, hash: h, host: host, then: e.state(), priority: e.req.Priority, record: appendEntry(nil, e, host)})
	m.stats.Delayed++
	m.stats.Changes++
}

// ripen makes ready what is due.
func (m *Memory) ripen(now time.Duration) {
	for len(m.delayed) > 0 && m.delayed[0].due <= now {
		e := m.delayed.remove(0)
		m.stir++
		if m.keys.state(e.hash) != waiting {
			m.keys.set(e.hash, finished)
			m.idle--
			continue
		}
		m.stats.Delayed--
		m.stats.Ready++
		m.push(m.host(e.host), e.hash, e.then, e.priority, e.due, now, e.record)
	}
}

// requeue puts the request of a hold that was let go back, at once or after a delay.
func (m *Memory) requeue(l *hold, d, now time.Duration) {
	e, err := decodeEntry(l.record, l.host.name, l.priority)
	if err != nil {
		panic(err) // what appendEntry wrote
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

// tidyDelayed drops the delayed entries that are not to be handed out.
func (m *Memory) tidyDelayed() {
	m.idle = 0
	all := m.delayed
	m.delayed = nil
	for _, e := range all {
		if m.keys.state(e.hash) == waiting {
			m.delayed.push(e)
		} else {
			m.keys.set(e.hash, finished)
		}
	}
}
