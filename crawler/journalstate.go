package crawler

import (
	"encoding/binary"
	"fmt"
	"slices"
	"time"
)

const (
	stateSchema = 4
	partBytes   = 64 << 10 // of a part of a state
	leastBlock  = 512      // bytes of queued requests that are worth a block of their own
	stateEvery  = 4 << 20  // bytes of changes after which a state is saved, or as many as the last state has
	hotBytes    = 4 << 20  // of queued requests that stay in memory, by default
)

// The records of a state.
const (
	recHead byte = iota + 1
	recPolicy
	recHost
	recHold
	recSuspect
	recOwner
	recDelayed
	recDead
	recFar
	recRun
	recDelayRun
)

func (m *Memory) readBlock(id uint64) ([]byte, error) {
	p, err := m.journal.to.Block(id)
	if err != nil {
		err = fmt.Errorf("seine: frontier: queued requests cannot be read back: %w", err)
		m.journal.broken(err)
	}
	return p, err
}

// stateWriter gathers the records of a state in parts.
type stateWriter struct {
	parts [][]byte
	part  []byte
	size  int64
}

// end closes a part that is large enough; a record was appended to it.
func (w *stateWriter) end() {
	if len(w.part) >= partBytes {
		w.close()
	}
}

func (w *stateWriter) close() {
	if len(w.part) > 0 {
		w.parts, w.size = append(w.parts, w.part), w.size+int64(len(w.part))
		w.part = nil
	}
}

// save hands the whole state to the journal, and makes room in memory. m.mu is held.
func (m *Memory) save(now time.Duration) {
	m.saveState(now, nil)
	m.cool()
	if err := m.keys.rotate(); err != nil {
		m.journal.broken(err)
	}
	m.mergeRuns()
}

// saveState hands the whole state to the journal; the last one with what may stand for it.
func (m *Memory) saveState(now time.Duration, last []byte) {
	j := m.journal
	s := JournalState{Last: last}
	opening := j.last == 0
	run := m.keys.flush(j.block + 1)
	j.block += uint64(len(run))
	s.New = run
	m.saveDelayed(&s)
	var w stateWriter
	m.saveHosts(&w, &s)
	m.saveRequests(&w)
	m.saveKeys(&w)
	w.close()
	head := m.appendHead(now, last != nil) // now, since the number of the last block is known
	s.Parts = slices.Insert(w.parts, 0, head)
	s.Freed, m.arena.freed = m.arena.freed, nil
	if opening {
		s.Only = m.used()
	}
	j.last = j.to.Save(s)
	j.since, j.limit = 0, max(stateEvery, w.size)
}

// saveDelayed makes blocks of delayed requests that are too many for memory.
func (m *Memory) saveDelayed(s *JournalState) {
	if m.delayed.bytes <= m.mostDelayed() {
		return
	}
	_ = m.delayed.spill(&m.arena, func(p []byte) (partOfRun, error) { // never an error
		m.journal.block++
		s.New = append(s.New, JournalBlock{ID: m.journal.block, Data: p})
		return partOfRun{block: m.journal.block}, nil
	})
}

// used lists the blocks that the state names.
func (m *Memory) used() []uint64 {
	ids := []uint64{}
	for _, h := range m.hosts {
		for _, b := range h.queue.ready {
			for _, c := range b.queue.chunks {
				if c.block != 0 {
					ids = append(ids, c.block)
				}
			}
		}
	}
	for _, r := range m.keys.disk.runs {
		ids = append(ids, r.blocks()...)
	}
	for _, r := range m.delayed.runs {
		for _, p := range r.parts {
			ids = append(ids, p.block)
		}
	}
	slices.Sort(ids)
	return ids
}

// cool takes queued requests out of memory that stand in blocks, the ends of queues first, until those left have room.
func (m *Memory) cool() {
	for from := 1; from >= 0 && m.arena.bytes > m.journal.hot; from-- {
		for _, h := range m.hosts {
			for _, b := range h.queue.ready {
				for i := from; i < len(b.queue.chunks); i++ {
					if c := &b.queue.chunks[i]; c.block != 0 && c.data != nil {
						m.arena.bytes -= int64(cap(c.data))
						c.data = nil
					}
				}
			}
		}
	}
}

// appendHead begins a state: first of all with who has written it.
func (m *Memory) appendHead(now time.Duration, closed bool) []byte {
	ended := uint64(0)
	if closed {
		ended = 1
	}
	p := appendText(appendUints([]byte{recHead}, stateSchema), libraryVersion())
	p = appendUints(p, semantics(), ended, m.keys.secret[0], m.keys.secret[1], uint64(now), m.seq, m.holds.last, m.journal.block, m.dead.seq)
	p = appendText(appendText(p, m.crawl.Name), m.crawl.Canonical)
	p = appendInts(p, m.opt.MaxPending, m.opt.MaxCrashes, m.opt.MaxDead, m.idle, m.stray)
	p = appendInts(p, m.opt.AgeStep, m.opt.CrashPause)
	p = appendPolicy(p, m.defaults)
	s := &m.stats
	return appendUints(p, uint64(s.Ready), uint64(s.Delayed), uint64(s.Done), uint64(s.Failed), s.Changes)
}

func (m *Memory) saveHosts(w *stateWriter, s *JournalState) {
	for name, p := range m.policies {
		w.part = appendPolicy(appendText(append(w.part, recPolicy), name), p)
		w.end()
	}
	for _, h := range m.hosts {
		w.part = m.appendHost(append(w.part, recHost), h, s)
		w.end()
	}
}

// Where a host stands.
const (
	inNone = iota
	inRunnable
	inCooling
)

func (m *Memory) appendHost(p []byte, h *memHost, s *JournalState) []byte {
	p = appendText(p, h.name)
	p = appendInts(p, h.since, h.next, h.blocked, h.at)
	heap := uint64(inNone)
	switch h.heap {
	case &m.runnable:
		heap = inRunnable
	case &m.cooling:
		heap = inCooling
	}
	p = appendUints(p, h.seq, heap, uint64(h.inFlight), uint64(h.queue.stale))
	var state []byte
	if h.state != nil {
		state, _ = h.state.AppendBinary(nil) // never an error
	}
	p = appendText(p, state)
	buckets := 0
	for _, b := range h.queue.ready {
		if b.queue.n > 0 {
			buckets++
		}
	}
	p = appendUints(p, uint64(buckets))
	for _, b := range h.queue.ready {
		if b.queue.n > 0 {
			p = m.appendBucket(p, b, s)
		}
	}
	return p
}

// appendBucket writes down a queue, of which only what is too small for a block is in the state itself.
func (m *Memory) appendBucket(p []byte, b *bucket, s *JournalState) []byte {
	q := &b.queue
	m.seal(q, s)
	p = appendInts(p, int64(b.priority), b.rank)
	p = appendUints(p, uint64(q.n), uint64(q.off), uint64(len(q.chunks)))
	for _, c := range q.chunks {
		p = appendUints(p, c.block)
		if c.block == 0 {
			p = appendText(p, c.data)
		}
	}
	return p
}

// seal makes blocks of the chunks that are in none, as few as can be.
func (m *Memory) seal(q *queue, s *JournalState) {
	out := q.chunks[:0]
	for i, next := 0, 0; i < len(q.chunks); i = next {
		size := -q.off
		if i > 0 {
			size = 0
		}
		for next = i; next < len(q.chunks) && q.chunks[next].block == 0 && (next == i || size+len(q.chunks[next].data) <= mostChunk); next++ {
			size += len(q.chunks[next].data)
		}
		switch {
		case next == i: // a block already
			next++
			out = append(out, q.chunks[i])
		case size < leastBlock:
			out = append(out, q.chunks[i:next]...)
		default:
			out = append(out, m.newBlock(q, i, next, size, s))
		}
	}
	clear(q.chunks[len(out):])
	q.chunks = out
}

// newBlock makes one chunk of several.
func (m *Memory) newBlock(q *queue, from, to, size int, s *JournalState) chunk {
	data := make([]byte, 0, size)
	for i := from; i < to; i++ {
		part := q.chunks[i].data
		m.arena.bytes -= int64(cap(part))
		if i == 0 {
			part, q.off = part[q.off:], 0
		}
		data = append(data, part...)
	}
	m.arena.bytes += int64(cap(data))
	m.journal.block++
	s.New = append(s.New, JournalBlock{ID: m.journal.block, Data: data})
	return chunk{data: data, block: m.journal.block}
}

func appendHold(p []byte, l *hold) []byte {
	p = appendText(appendText(appendText(p, l.host.name), l.owner), l.key)
	p = appendUints(p, l.id, l.hash)
	p = appendInts(p, l.start, l.until, l.former, l.booked)
	flags := uint64(0)
	if l.lease {
		flags |= 1
	}
	p = appendUints(p, flags, uint64(l.group), uint64(l.pause))
	p = appendInts(p, l.priority, l.attempt, l.crashes)
	return appendText(p, l.record)
}

func (m *Memory) saveRequests(w *stateWriter) {
	for _, l := range m.holds.ends {
		w.part = appendHold(append(w.part, recHold), l)
		w.end()
	}
	for _, l := range m.suspects {
		w.part = appendHold(append(w.part, recSuspect), l)
		w.end()
	}
	for name, o := range m.holds.byOwner {
		w.part = appendUints(appendText(append(w.part, recOwner), name), o.boot, uint64(o.group), uint64(o.seen))
		w.end()
	}
	for _, e := range m.delayed.soon {
		w.part = appendDelayed(append(w.part, recDelayed), e)
		w.end()
	}
	for _, r := range m.delayed.runs {
		w.part = appendDelayRun(append(w.part, recDelayRun), r)
		w.end()
	}
	m.dead.save(w)
}

func (d *deadList) save(w *stateWriter) {
	for _, mark := range d.order {
		if !d.there(mark) {
			continue
		}
		r := d.byHash[mark.hash]
		w.part = appendUints(append(w.part, recDead), mark.hash, r.seq)
		w.part = appendText(appendText(w.part, r.host), r.reason)
		w.part = appendText(appendInts(w.part, r.priority, r.attempts, r.crashes), r.record)
		w.end()
	}
}

func (m *Memory) saveKeys(w *stateWriter) {
	for h, priority := range m.keys.far {
		w.part = appendInts(appendUints(append(w.part, recFar), h), priority)
		w.end()
	}
	for _, r := range m.keys.disk.runs {
		w.part = appendUints(append(w.part, recRun), r.block, uint64(r.n), uint64(len(r.fences)))
		for _, h := range r.fences {
			w.part = binary.BigEndian.AppendUint64(w.part, h)
		}
		w.end()
	}
}
