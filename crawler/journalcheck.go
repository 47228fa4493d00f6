package crawler

import (
	"fmt"
	"math"
)

// mostCounted is more than there can be of anything, and far from what can be counted.
const (
	mostCounted = 1 << 40
	mostHeld    = min(mostCounted, math.MaxInt) // in memory
)

// readable reports whether a record can be made a request again.
func readable(record []byte) bool {
	_, err := decodeEntry(record, "", 0)
	return err == nil
}

// adds reports whether what is counted twice is the same.
func (l *stateLoader) adds() bool {
	m := l.m
	held := map[*memHost]int{}
	for _, h := range m.holds.byID {
		held[h.host]++
	}
	queued := int64(len(m.suspects))
	for _, h := range m.hosts {
		if h.inFlight != held[h] {
			return false
		}
		queued += int64(h.queue.n)
	}
	ids := m.used()
	switch {
	case m.stats.Ready > queued, len(m.delayed.runs) == 0 && m.stats.Delayed > int64(len(m.delayed.soon)):
		return false
	}
	return len(ids) == 0 || ids[len(ids)-1] <= m.journal.block
}

// balance notes that there was more than a state has counted. m.mu is held.
func (m *Memory) balance() {
	if s := &m.stats; min(s.Ready, s.Delayed, s.Leased) < 0 {
		m.journal.broken(fmt.Errorf("%w: more requests are there than it counts", ErrJournal))
	}
}

// missing is an error if a state has counted requests that are not there: nothing would ever be handed out any more, and the
// crawl not be finished. m.mu is held.
func (m *Memory) missing() error {
	there := len(m.runnable) + len(m.suspects) + len(m.holds.ends) + len(m.delayed.soon) + len(m.delayed.runs)
	if m.journal == nil || there > 0 || m.pending() == 0 {
		return nil
	}
	m.journal.broken(fmt.Errorf("%w: it counts %d requests that are not there", ErrJournal, m.pending()))
	return m.journal.fault
}
