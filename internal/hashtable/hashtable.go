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

	firstSlots = 8      // of a new shard
	leastShift = 7      // a chunk has 1<<7 slots at first, and
	wider      = 3      // 1<<3 times as many
	mostChunks = 5 << 3 // when there are so many of them
	mostSpare  = 32     // slots at the end that are no homes, unless more run over
	fullest    = 85     // hundredths of the homes that are taken when a shard grows
)

// Of returns the number of the shard that a hash belongs to.
func Of(hash uint64) int { return int(hash >> (64 - shardBits)) }

// Shard holds the keys of one shard. The zero value is empty. It is not safe for concurrent use.
//
// It is an open table with linear probing whose slots are kept in the order of the hashes (Amble and Knuth, "Ordered
// hash tables", 1974): so a search for a missing key ends as soon as one for a present one, at a load of 0.7 to 0.85.
// As the order does not depend on the size, growing is one pass of moves to lower slots after empty chunks were put in
// front.
type Shard struct {
	homes  int        // slots that hashes are spread over; the others take what runs over at the end
	shift  uint8      // a chunk has 1<<shift slots, unless it is the only one
	wide   bool       // hashes have 128 bits
	first  [][]uint64 // chunks of slots; a slot is the rest of the hash above the value, or 0
	second [][]uint64 // second words of wide hashes, in the same slots
	n      int
}

// Widen makes an empty shard tell 128-bit hashes apart.
func (s *Shard) Widen() { s.wide = true }

// Len returns the number of keys.
func (s *Shard) Len() int { return s.n }

// Bytes returns the memory that the shard holds, in bytes.
func (s *Shard) Bytes() int {
	const header = 24 // of a slice
	words := s.slots()
	if s.wide {
		words *= 2
	}
	return 8*words + header*(cap(s.first)+cap(s.second))
}

// Get returns the value of a key; 0 if it is not there. The second word of the hash counts after Widen alone.
func (s *Shard) Get(hash, second uint64) uint16 {
	i, found := s.find(hash, second)
	if !found {
		return 0
	}
	return uint16(*s.slot(s.first, i) & MaxValue)
}

// Set gives a key its value, which is not 0.
func (s *Shard) Set(hash, second uint64, value uint16) {
	i, found := s.find(hash, second)
	if found {
		slot := s.slot(s.first, i)
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

// Touch reads the slot that a search for a key begins with and returns it. Whoever has several keys to look for touches
// them all first: then the processor waits for all of them at a time.
func (s *Shard) Touch(hash uint64) uint64 {
	if s.homes == 0 {
		return 0
	}
	return *s.slot(s.first, home(hash<<shardBits, s.homes))
}

// slots is the number of slots.
func (s *Shard) slots() int {
	if len(s.first) == 1 {
		return len(s.first[0])
	}
	return len(s.first) << s.shift
}

func (s *Shard) slot(chunks [][]uint64, i int) *uint64 {
	return &chunks[i>>s.shift][i&(1<<s.shift-1)]
}

// home is the first slot where a hash may be.
func home(slot uint64, homes int) int {
	hi, _ := bits.Mul64(slot&^MaxValue, uint64(homes))
	return int(hi)
}

// find returns the slot of a key, or where it would have to be put.
func (s *Shard) find(hash, second uint64) (at int, found bool) {
	key := hash << shardBits
	at = home(key, s.homes)
	j := at & (1<<s.shift - 1)
	for c := at >> s.shift; c < len(s.first); c++ {
		for _, slot := range s.first[c][j:] {
			if slot > key {
				if slot&^MaxValue != key {
					return at, false
				}
				if !s.wide || *s.slot(s.second, at) == second {
					return at, true
				}
			} else if slot == 0 {
				return at, false
			}
			at++
		}
		j = 0
	}
	return at, false
}

// insert puts a slot at a place that find returned and moves what is there up to the next free slot.
func (s *Shard) insert(at int, slot, second uint64) {
	if s.n*100 >= s.homes*fullest {
		s.grow()
		at, _ = s.find(slot>>shardBits, second)
	}
	s.n++
	for c := at >> s.shift; ; c++ {
		if at == s.slots() {
			s.extend()
		}
		chunk := s.first[c]
		for j := at & (1<<s.shift - 1); j < len(chunk); j++ {
			slot, chunk[j] = chunk[j], slot
			if s.wide {
				second, s.second[c][j] = s.second[c][j], second
			}
			if slot == 0 {
				return
			}
			at++
		}
		if len(chunk) < 1<<s.shift { // it becomes longer
			c--
		}
	}
}

// grow adds slots in front: half of what there are as long as they are few, else a fourth to a fifth.
func (s *Shard) grow() {
	before := s.slots()
	switch {
	case before < 1<<leastShift:
		s.shift = leastShift
		size := min(max(firstSlots, before+before/2), 1<<leastShift)
		s.each(func(chunks [][]uint64) [][]uint64 { return lengthen(chunks, size, size-before) })
	case len(s.first) < mostChunks:
		more := max(1, len(s.first)/5)
		s.each(func(chunks [][]uint64) [][]uint64 { return slices.Insert(chunks, 0, s.empty(more)...) })
	default:
		s.shift += wider
		n := (before+before/4)>>s.shift + 1
		s.each(func(chunks [][]uint64) [][]uint64 { return s.widen(chunks, n) })
	}
	slots := s.slots()
	s.homes = max(s.homes, min(s.homes+slots-before, slots-min(slots/16, mostSpare)))
	s.spread(slots - before)
}

// extend adds slots at the end, for what runs over there.
func (s *Shard) extend() {
	if slots := s.slots(); slots < 1<<leastShift {
		size := min(slots+firstSlots, 1<<leastShift)
		s.each(func(chunks [][]uint64) [][]uint64 { return lengthen(chunks, size, 0) })
		return
	}
	s.each(func(chunks [][]uint64) [][]uint64 { return append(chunks, s.empty(1)...) })
}

// each changes the chunks of both words.
func (s *Shard) each(change func([][]uint64) [][]uint64) {
	s.first = change(s.first)
	if s.wide {
		s.second = change(s.second)
	}
}

// lengthen makes the one chunk, if there is one, part of a longer one, from a place on.
func lengthen(chunks [][]uint64, size, at int) [][]uint64 {
	chunk := make([]uint64, size)
	for _, old := range chunks {
		copy(chunk[at:], old)
	}
	return [][]uint64{chunk}
}

// empty makes chunks.
func (s *Shard) empty(n int) [][]uint64 {
	chunks := make([][]uint64, n)
	for i := range chunks {
		chunks[i] = make([]uint64, 1<<s.shift)
	}
	return chunks
}

// widen moves the slots to the end of n chunks of the shift that is set.
func (s *Shard) widen(chunks [][]uint64, n int) [][]uint64 {
	wider := s.empty(n)
	at := n<<s.shift - len(chunks)*len(chunks[0])
	for _, c := range chunks {
		copy(wider[at>>s.shift][at&(1<<s.shift-1):], c) // old chunks do not lie across new ones
		at += len(c)
	}
	return wider
}

// spread moves each key from where it is, at or after from, to its place in the table as it is now. As homes grow by
// from at most, a place is never beyond the slot that the key comes from, nor beyond the end.
func (s *Shard) spread(from int) {
	next, shift, mask, homes := 0, s.shift, 1<<s.shift-1, s.homes
	for i := from; i < s.slots(); {
		c := i >> shift
		chunk := s.first[c]
		for j := i & mask; j < len(chunk); j++ {
			if slot := chunk[j]; slot != 0 {
				to := max(home(slot, homes), next)
				next = to + 1
				chunk[j] = 0
				s.first[to>>shift][to&mask] = slot
				if s.wide {
					second := s.second[c][j]
					s.second[c][j] = 0
					s.second[to>>shift][to&mask] = second
				}
			}
			i++
		}
	}
}
