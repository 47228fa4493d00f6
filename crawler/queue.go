package crawler

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"time"
)

// arena is what the queues of a frontier have in common.
type arena struct {
	bytes int64         // that the chunks in memory hold
	most  int           // bytes of a new chunk
	age   time.Duration // how long a request waits for one level of priority more; 0: none ages
	files spillFiles
	read  func(block uint64) ([]byte, error) // from a journal; nil: there is none
	freed []uint64                           // blocks of the journal that are needed no more
}

// chunk is a run of records, in memory, in a file or in a block of a journal.
type chunk struct {
	data  []byte
	disk  extent // zero when it is in memory
	block uint64 // 0: none; else it does not change any more, and data may be nil
}

// saved reports whether the chunk takes no more records.
func (c *chunk) saved() bool { return c.disk.there() || c.block != 0 }

// queue is a first-in-first-out queue of records in a few growing chunks, so that a queued URL costs its bytes and not a
// struct, and the collector sees a handful of pointers for a whole host.
type queue struct {
	chunks []chunk
	off    int // of the first record in chunks[0]
	n      int
}

const (
	firstChunk = 64
	mostChunk  = 64 << 10
)

func (q *queue) push(a *arena, record []byte) {
	need := (bits.Len(uint(len(record)|1))+6)/7 + len(record)
	last := len(q.chunks) - 1
	if last < 0 || q.chunks[last].saved() || cap(q.chunks[last].data)-len(q.chunks[last].data) < need {
		size := firstChunk
		if last >= 0 && q.chunks[last].block == 0 {
			size = min(max(size, cap(q.chunks[last].data)*3/2), a.most)
		}
		if q.n == 0 {
			q.free(a) // the empty chunk is too small
		}
		data := slices.Grow([]byte(nil), max(size, need))
		a.bytes += int64(cap(data))
		q.chunks = append(roomier(q.chunks), chunk{data: data})
	}
	c := &q.chunks[len(q.chunks)-1]
	c.data = append(binary.AppendUvarint(c.data, uint64(len(record))), record...)
	q.n++
}

// roomier has room for one more. There may be as many chunks as there are spilled records in tens: what is kept in reserve
// for more counts.
func roomier(chunks []chunk) []chunk {
	if len(chunks) < cap(chunks) {
		return chunks
	}
	return append(make([]chunk, 0, len(chunks)+len(chunks)/8+1), chunks...)
}

// head returns the oldest record and where the next begins. The queue is not empty.
func (q *queue) head(a *arena) (record []byte, next int, err error) {
	if len(q.chunks) == 0 {
		return nil, 0, a.unreadable()
	}
	c := &q.chunks[0]
	if c.disk.there() {
		if c.data, err = a.files.read(c.disk); err != nil {
			return nil, 0, err
		}
		c.disk = extent{}
		a.bytes += int64(cap(c.data))
	}
	if c.data == nil && c.block != 0 {
		if c.data, err = a.read(c.block); err != nil {
			return nil, 0, err
		}
		a.bytes += int64(cap(c.data))
	}
	start, next := recordAt(c.data, q.off)
	if start < 0 {
		return nil, 0, a.unreadable()
	}
	return c.data[start:next], next, nil
}

// recordAt returns where a record that is written down at off begins and ends; start is negative if there is none.
func recordAt(data []byte, off int) (start, next int) {
	if off > len(data) {
		return -1, 0
	}
	size, w := binary.Uvarint(data[off:])
	if start = off + w; w <= 0 || size > uint64(len(data)-start) {
		return -1, 0
	}
	return start, start + int(size)
}

// unreadable is what a queue says that is not as it was left.
func (a *arena) unreadable() error {
	return fmt.Errorf("seine: frontier: queued requests cannot be read back: %w", a.damaged())
}

// whole reports whether a queue that is in memory has the records that it counts, and none beside them.
func (q *queue) whole() bool {
	n, off := 0, q.off
	for _, c := range q.chunks {
		for off < len(c.data) {
			start, next := recordAt(c.data, off)
			if start < 0 {
				return false
			}
			n, off = n+1, next
		}
		if off > len(c.data) {
			return false
		}
		off = 0
	}
	return n == q.n
}

// pop returns the oldest record, which is valid until the next push; nil when there is none. After an error it is still
// there.
func (q *queue) pop(a *arena) ([]byte, error) {
	if q.n == 0 {
		return nil, nil
	}
	record, next, err := q.head(a)
	if err == nil && q.n == 1 && (len(q.chunks) > 1 || next < len(q.chunks[0].data)) {
		err = a.unreadable() // there is more than it counts
	}
	if err != nil {
		return nil, err
	}
	q.n--
	q.off = next
	if c := &q.chunks[0]; next == len(c.data) {
		q.off = 0
		if len(q.chunks) == 1 && cap(c.data) <= 2*firstChunk && c.block == 0 {
			c.data = c.data[:0] // the record stays readable until the next push
		} else {
			a.drop(c)
			q.chunks = slices.Delete(q.chunks, 0, 1)
		}
	}
	return record, nil
}

// free gives up what the queue holds in memory.
func (q *queue) free(a *arena) {
	for i := range q.chunks {
		a.drop(&q.chunks[i])
	}
	*q = queue{}
}

// drop accounts for a chunk that is needed no more.
func (a *arena) drop(c *chunk) {
	a.bytes -= int64(cap(c.data))
	if c.block != 0 {
		a.freed = append(a.freed, c.block)
	}
}

// bucket holds the ready records of one priority.
type bucket struct {
	priority int
	rank     int64 // where requests age: when the first one became ready, less what its priority is worth; the least is next
	at       int   // place in the heap
	queue
}

func (b *bucket) before(c *bucket) bool {
	if b.rank != c.rank {
		return b.rank < c.rank
	}
	return b.priority > c.priority
}

func (b *bucket) slot() *int { return &b.at }

// rank is the order of a request that is ready since due among those of other priorities. As each ages alike, one that
// is behind by n levels of priority is as urgent as another if it has waited n·age longer: their order never changes.
func (a *arena) rank(priority int, due time.Duration) int64 {
	if a.age == 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(max(priority, -priority)), uint64(a.age))
	worth := int64(math.MaxInt64 / 2)
	if hi == 0 && lo < math.MaxInt64/2 {
		worth = int64(lo)
	}
	if priority < 0 {
		worth = -worth
	}
	return int64(due) - worth
}

// hostQueue holds the ready records of a host: the greatest priority first, then the oldest.
type hostQueue struct {
	ready      minHeap[*bucket] // not empty, unless it is the only one
	byPriority map[int]*bucket  // nil as long as there are few
	n          int              // records, stale ones included
	stale      int              // that are not to be handed out
}

const fewBuckets = 8

func (q *hostQueue) push(a *arena, priority int, due time.Duration, record []byte) {
	q.n++
	b := q.bucket(priority)
	b.queue.push(a, record)
	if b.queue.n == 1 {
		b.rank = a.rank(priority, due)
		q.ready.fix(b.at)
	}
}

// bucket returns the bucket of a priority, making one if there is none.
func (q *hostQueue) bucket(priority int) *bucket {
	if q.byPriority != nil {
		if b := q.byPriority[priority]; b != nil {
			return b
		}
	} else {
		for _, b := range q.ready {
			if b.priority == priority {
				return b
			}
		}
	}
	if len(q.ready) == 1 && q.ready[0].queue.n == 0 {
		q.ready[0].priority = priority
		return q.ready[0]
	}
	b := &bucket{priority: priority}
	q.ready.push(b)
	if q.byPriority == nil && len(q.ready) > fewBuckets {
		q.byPriority = make(map[int]*bucket, 2*fewBuckets)
		for _, b := range q.ready {
			q.byPriority[b.priority] = b
		}
	}
	if q.byPriority != nil {
		q.byPriority[priority] = b
	}
	return b
}

// pop returns the next record, which is valid until the queue is used again, and its priority; nil when there is none.
func (q *hostQueue) pop(a *arena) (record []byte, priority int, err error) {
	if q.n == 0 {
		return nil, 0, nil
	}
	b := q.ready[0]
	record, err = b.queue.pop(a)
	if err != nil {
		return nil, 0, err
	}
	q.n--
	switch {
	case b.queue.n > 0 && a.age > 0:
		if next, _, err := b.queue.head(a); err == nil { // else the next pop tells
			b.rank = a.rank(b.priority, dueOf(next))
			q.ready.fix(0)
		}
	case b.queue.n == 0 && len(q.ready) > 1:
		q.ready.remove(0)
		b.queue.free(a)
		if delete(q.byPriority, b.priority); len(q.ready) == 1 {
			q.byPriority = nil
		}
	}
	return record, b.priority, nil
}

// filter drops the records that it is not told to keep. It leaves a queue alone that has a part in a file or a journal: there
// stale records cost no memory.
func (q *hostQueue) filter(a *arena, keep func(record []byte, priority int) bool) {
	for _, b := range q.ready {
		if slices.ContainsFunc(b.queue.chunks, func(c chunk) bool { return c.saved() }) {
			return
		}
	}
	var kept hostQueue
	for _, b := range q.ready {
		for record, _ := b.queue.pop(a); record != nil; record, _ = b.queue.pop(a) {
			if keep(record, b.priority) {
				kept.push(a, b.priority, dueOf(record), record)
			}
		}
		b.queue.free(a)
	}
	*q = kept
}

// free gives up what an empty queue holds.
func (q *hostQueue) free(a *arena) {
	for _, b := range q.ready {
		b.queue.free(a)
	}
	*q = hostQueue{}
}
