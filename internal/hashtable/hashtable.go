// Package hashtable is a map from 64-bit hashes to a few bits each, for sets that only grow: some ten bytes a key, no
// garbage and no second table while it grows.
//
//	var shards [hashtable.Shards]hashtable.Shard
//	s := &shards[hashtable.Of(hash)]
//	if s.Get(hash, 0) == 0 {
//		s.Set(hash, 0, 1)
//	}
//
// The hashes must be spread evenly and must not be for others to choose: hash with a secret key.
package hashtable

import (
	"math/bits"
	"slices"
)

const (
	// Shards is the number of shards that a map consists of. Each grows by itself, so that growing stops a map of n
	// keys for the time of moving n/1024.
	Shards    = 1 << shardBits
	shardBits = 10

	// MaxValue is the greatest value. It has room where a slot need not repeat the bits that choose the shard.
	MaxValue = 1<<shardBits - 1

	chunkSlots = 128 // of a full chunk
	firstSlots = 8   // of the first chunk of a shard
	mostSpare  = 32  // slots at the end that are no homes, unless more run over
)

// Of returns the number of the shard that a hash belongs to.
func Of(hash uint64) int { return int(hash >> (64 - shardBits)) }

// Shard holds the keys of one shard. The zero value is empty. It is not safe for concurrent use.
//
// It is an open table with linear probing whose slots are kept in the order of the hashes (Amble and Knuth, "Ordered
// hash tables", 1974): so a search for a missing key ends as soon as one for a present one, at a load of 0.75 to 0.9.
// As the order does not depend on the size, growing is one pass of moves to lower slots after empty chunks were put in
// front.
type Shard struct {
	chunks [][]uint64 // a slot is the rest of the hash above the value, or 0
	wide   [][]uint64 // second words of 128-bit hashes, in the same slots; nil without
	homes  int        // slots that hashes are spread over; the others take what runs over at the end
	n      int
}

// Widen makes an empty shard tell 128-bit hashes apart.
func (s *Shard) Widen() { s.wide = [][]uint64{} }

// Len returns the number of keys.
func (s *Shard) Len() int { return s.n }

// Bytes returns the memory that the shard holds, in bytes.
func (s *Shard) Bytes() int {
	const header = 24 // of a slice
	total := header * (cap(s.chunks) + cap(s.wide))
	for _, c := range s.chunks {
		total += 8 * len(c)
	}
	for _, c := range s.wide {
		total += 8 * len(c)
	}
	return total
}

// Get returns the value of a key; 0 if it is not there. The second word of the hash counts after Widen alone.
func (s *Shard) Get(hash, second uint64) uint16 {
	i, found := s.find(hash, second)
	if !found {
		return 0
	}
	return uint16(s.chunks[i/chunkSlots][i%chunkSlots] & MaxValue)
}

// Set gives a key its value, which is not 0.
func (s *Shard) Set(hash, second uint64, value uint16) {
	i, found := s.find(hash, second)
	if found {
		slot := &s.chunks[i/chunkSlots][i%chunkSlots]
		*slot = *slot&^MaxValue | uint64(value)
		return
	}
	s.insert(i, hash<<shardBits|uint64(value), second)
}

// Add gives a key that is not there its value, and reports whether it was not there.
func (s *Shard) Add(hash, second uint64, value uint16) bool {
	i, found := s.find(hash, second)
	if !found {
		s.insert(i, hash<<shardBits|uint64(value), second)
	}
	return !found
}

// slots is the number of slots.
func (s *Shard) slots() int {
	switch n := len(s.chunks); n {
	case 0:
		return 0
	case 1:
		return len(s.chunks[0])
	default:
		return n * chunkSlots
	}
}

// home is the first slot where a hash may be.
func home(slot uint64, homes int) int {
	hi, _ := bits.Mul64(slot&^MaxValue, uint64(homes))
	return int(hi)
}

// find returns the slot of a key, or where it would have to be put.
func (s *Shard) find(hash, second uint64) (at int, found bool) {
	if len(s.chunks) == 0 {
		return 0, false
	}
	key := hash << shardBits
	at = home(key, s.homes)
	for c := at / chunkSlots; c < len(s.chunks); c++ {
		chunk := s.chunks[c]
		for j := at % chunkSlots; j < len(chunk); j++ {
			slot := chunk[j]
			if slot > key {
				if slot&^MaxValue != key {
					return at, false
				}
				if s.wide == nil || s.wide[c][j] == second {
					return at, true
				}
			} else if slot == 0 {
				return at, false
			}
			at++
		}
	}
	return at, false
}

// insert puts a slot at a place that find returned and moves what is there up to the next free slot.
func (s *Shard) insert(at int, slot, second uint64) {
	if s.n*10 >= s.homes*9 {
		s.grow()
		at, _ = s.find(slot>>shardBits, second)
	}
	if !s.free(at) {
		s.extend()
	}
	s.n++
	for c := at / chunkSlots; ; c++ {
		chunk := s.chunks[c]
		for j := at % chunkSlots; j < len(chunk); j++ {
			slot, chunk[j] = chunk[j], slot
			if s.wide != nil {
				second, s.wide[c][j] = s.wide[c][j], second
			}
			if slot == 0 {
				return
			}
			at++
		}
	}
}

// free reports whether there is a free slot at or after a place.
func (s *Shard) free(at int) bool {
	for c := at / chunkSlots; c < len(s.chunks); c++ {
		for _, slot := range s.chunks[c][at%chunkSlots:] {
			if slot == 0 {
				return true
			}
		}
		at = (c + 1) * chunkSlots
	}
	return false
}

// grow adds slots in front, a fifth of what there are or, as long as the first chunk is short, half.
func (s *Shard) grow() {
	before := s.slots()
	if before < chunkSlots {
		size := min(max(firstSlots, before+before/2), chunkSlots)
		s.each(func(chunks [][]uint64) [][]uint64 { return lengthen(chunks, size, size-before) })
	} else {
		more := max(1, len(s.chunks)/5)
		s.each(func(chunks [][]uint64) [][]uint64 { return slices.Insert(chunks, 0, empty(more)...) })
	}
	slots := s.slots()
	s.homes = max(s.homes, min(s.homes+slots-before, slots-min(slots/16, mostSpare)))
	s.spread(slots - before)
}

// extend adds slots at the end, for what runs over there.
func (s *Shard) extend() {
	if slots := s.slots(); slots < chunkSlots {
		size := min(slots+firstSlots, chunkSlots)
		s.each(func(chunks [][]uint64) [][]uint64 { return lengthen(chunks, size, 0) })
		return
	}
	s.each(func(chunks [][]uint64) [][]uint64 { return append(chunks, empty(1)...) })
}

// each changes the chunks of both words.
func (s *Shard) each(change func([][]uint64) [][]uint64) {
	s.chunks = change(s.chunks)
	if s.wide != nil {
		s.wide = change(s.wide)
	}
}

// lengthen makes the one chunk, if there is one, part of a longer one.
func lengthen(chunks [][]uint64, size, at int) [][]uint64 {
	chunk := make([]uint64, size)
	for _, old := range chunks {
		copy(chunk[at:], old)
	}
	return [][]uint64{chunk}
}

func empty(n int) [][]uint64 {
	chunks := make([][]uint64, n)
	for i := range chunks {
		chunks[i] = make([]uint64, chunkSlots)
	}
	return chunks
}

// spread moves each key from where it is, at or after from, to its place in the table as it is now. As homes grow by
// from at most, a place is never beyond the slot that the key comes from, nor beyond the end.
func (s *Shard) spread(from int) {
	next := 0
	for i := from; i < s.slots(); i++ {
		chunk, j := s.chunks[i/chunkSlots], i%chunkSlots
		slot := chunk[j]
		if slot == 0 {
			continue
		}
		to := max(home(slot, s.homes), next)
		next = to + 1
		chunk[j] = 0
		s.chunks[to/chunkSlots][to%chunkSlots] = slot
		if s.wide != nil {
			second := s.wide[i/chunkSlots][j]
			s.wide[i/chunkSlots][j] = 0
			s.wide[to/chunkSlots][to%chunkSlots] = second
		}
	}
}
