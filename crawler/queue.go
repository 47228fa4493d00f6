package crawler

import (
	"encoding/binary"
	"slices"
	"time"
)

// queue is a first-in-first-out queue of encoded entries in a few growing chunks, so that a queued URL costs its bytes
// and not a struct, and the collector sees a handful of pointers for a whole host.
type queue struct {
	chunks [][]byte
	off    int // of the first record in chunks[0]
	n      int
}

const (
	firstChunk = 256
	mostChunk  = 64 << 10
)

func (q *queue) push(record []byte) {
	need := binary.MaxVarintLen32 + len(record)
	last := len(q.chunks) - 1
	if last < 0 || cap(q.chunks[last])-len(q.chunks[last]) < need {
		size := firstChunk
		if last >= 0 {
			size = min(2*cap(q.chunks[last]), mostChunk)
		}
		q.chunks = append(q.chunks, make([]byte, 0, max(size, need)))
		last++
	}
	c := binary.AppendUvarint(q.chunks[last], uint64(len(record)))
	q.chunks[last] = append(c, record...)
	q.n++
}

// pop returns the oldest record, which is valid until the next push or pop.
func (q *queue) pop() ([]byte, bool) {
	if q.n == 0 {
		return nil, false
	}
	c := q.chunks[0]
	size, w := binary.Uvarint(c[q.off:])
	start := q.off + w
	record := c[start : start+int(size)]
	q.off = start + int(size)
	q.n--
	if q.off == len(c) {
		if len(q.chunks) == 1 && cap(c) <= firstChunk {
			q.chunks[0] = c[:0] // the record stays readable until the next push
		} else {
			q.chunks = slices.Delete(q.chunks, 0, 1)
		}
		q.off = 0
	}
	return record, true
}

// bucket holds the ready entries of one priority.
type bucket struct {
	priority int
	queue
}

// delayedEntry waits for its time.
type delayedEntry struct {
	due      time.Time
	seq      uint64
	priority int
	record   []byte
}

func (a delayedEntry) before(b delayedEntry) bool {
	if !a.due.Equal(b.due) {
		return a.due.Before(b.due)
	}
	return a.seq < b.seq
}

// hostQueue is the work of one host: ready entries by priority, then by arrival, and delayed ones by due time.
type hostQueue struct {
	ready   []bucket // by falling priority
	delayed []delayedEntry
	nReady  int
}

func (q *hostQueue) pushReady(priority int, record []byte) {
	i, found := slices.BinarySearchFunc(q.ready, priority, func(b bucket, p int) int { return p - b.priority })
	if !found {
		q.ready = slices.Insert(q.ready, i, bucket{priority: priority})
	}
	q.ready[i].push(record)
	q.nReady++
}

// popReady returns the next ready record, valid until the queue is used again.
func (q *hostQueue) popReady() ([]byte, bool) {
	for len(q.ready) > 0 {
		record, ok := q.ready[0].pop()
		if ok {
			q.nReady--
			return record, true
		}
		if len(q.ready) == 1 {
			return nil, false
		}
		q.ready = slices.Delete(q.ready, 0, 1)
	}
	return nil, false
}

func (q *hostQueue) pushDelayed(e delayedEntry) {
	q.delayed = append(q.delayed, e)
	i := len(q.delayed) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !q.delayed[i].before(q.delayed[up]) {
			break
		}
		q.delayed[i], q.delayed[up] = q.delayed[up], q.delayed[i]
		i = up
	}
}

func (q *hostQueue) popDelayed() delayedEntry {
	top := q.delayed[0]
	last := len(q.delayed) - 1
	q.delayed[0] = q.delayed[last]
	q.delayed[last] = delayedEntry{}
	q.delayed = q.delayed[:last]
	for i := 0; ; {
		least := i
		for c := 2*i + 1; c <= 2*i+2 && c < last; c++ {
			if q.delayed[c].before(q.delayed[least]) {
				least = c
			}
		}
		if least == i {
			return top
		}
		q.delayed[i], q.delayed[least] = q.delayed[least], q.delayed[i]
		i = least
	}
}

// ripen moves what is due to the ready entries.
func (q *hostQueue) ripen(now time.Time) {
	for len(q.delayed) > 0 && !q.delayed[0].due.After(now) {
		e := q.popDelayed()
		q.pushReady(e.priority, e.record)
	}
}
