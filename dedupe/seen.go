package dedupe

import (
	"crypto/rand"
	"encoding/binary"
	"math/bits"
	"runtime"
	"sync"
	"unsafe"

	"github.com/seine-go/seine/internal/hashtable"
	"github.com/seine-go/seine/internal/siphash"
)

// SeenOptions are the options of a SeenSet.
type SeenOptions struct {
	// Secret is the key of the hash. Whoever does not know it cannot make two keys that the set takes for one. Sets that
	// are to agree on their hashes need the same. Zero means a random one.
	Secret [2]uint64
	// Wide makes the set tell keys apart by 128 bits of hash. Zero means 64.
	Wide bool
}

// SeenSet is the set of all keys that a crawl has seen, exact up to a collision of keyed hashes (SipHash-2-4). It is made
// by NewSeenSet and safe for concurrent use; all methods answer at once.
//
// With n keys the chance that a further new key is taken for a seen one is n/2⁶⁴, and that this has happened at all is
// below n²/2⁶⁵: 3 in 100,000,000 for a million keys, 3 in a million for ten million, 2.7 % for a billion. A wide set
// squares the odds: below n²/2¹²⁹.
//
// A key costs 10 to 11 bytes on average once there are a million, twice that in a wide set, whatever its length, and there
// is no peak while the set grows: growing moves the keys of one of 1,024 shards inside their memory, and calls for the
// others go on. A filter in front of it that knows keys to be new does not pay: it costs a miss of the cache as the set
// itself does.
type SeenSet struct {
	secret, second siphash.Key
	wide           bool
	shards         []seenShard
}

type seenShard struct {
	mu    sync.Mutex
	table hashtable.Shard
}

// NewSeenSet returns an empty set.
func NewSeenSet(o SeenOptions) *SeenSet {
	s := &SeenSet{secret: o.Secret, wide: o.Wide, shards: make([]seenShard, hashtable.Shards)}
	for s.secret == (siphash.Key{}) {
		var b [16]byte
		rand.Read(b[:]) // never fails
		s.secret = siphash.Key{binary.LittleEndian.Uint64(b[:8]), binary.LittleEndian.Uint64(b[8:])}
	}
	if s.wide {
		s.second = siphash.Key{siphash.Sum64(s.secret, "second word, first half"), siphash.Sum64(s.secret, "second word, second half")}
		for i := range s.shards {
			s.shards[i].table.Widen()
		}
	}
	return s
}

// Add puts a key into the set and reports whether it was not there. Of concurrent Adds of one key exactly one reports
// true.
func (s *SeenSet) Add(key string) bool { return s.AddBytes(bytesOf(key)) }

// AddBytes is Add for a key in a buffer, which it does not keep.
func (s *SeenSet) AddBytes(key []byte) bool {
	first, second := s.hash(key)
	shard := &s.shards[hashtable.Of(first)]
	shard.mu.Lock()
	added := shard.table.Add(first, second, 1)
	shard.mu.Unlock()
	return added
}

// AddAll is Add for many keys, such as the links of a page, and takes some fifth less than one by one once the set is larger
// than the caches: memory answers for many of them at a time. It returns how many were not there, and reports it for each in fresh, which is nil or as long as keys.
// Of equal keys the first counts.
func (s *SeenSet) AddAll(keys []string, fresh []bool) (added int) {
	for len(keys) > 0 {
		n := min(len(keys), together)
		var is [together]bool
		added += s.addTogether(keys[:n], &is)
		copy(fresh, is[:n])
		keys, fresh = keys[n:], fresh[min(n, len(fresh)):]
	}
	return added
}

// together is how many keys AddAll adds at a time: as many reads of memory as a processor has under way.
const together = 32

// addTogether holds the shards of all keys, since a lock taken between two reads would have the second wait for the first.
func (s *SeenSet) addTogether(keys []string, fresh *[together]bool) (added int) {
	var first, second [together]uint64
	var shards [hashtable.Shards / 64]uint64 // a bit for each
	for i, key := range keys {
		first[i], second[i] = s.hash(bytesOf(key))
		shard := hashtable.Of(first[i])
		shards[shard/64] |= 1 << (shard % 64)
	}
	s.eachOf(&shards, func(shard *seenShard) { shard.mu.Lock() }) // in order, so that two calls never wait for each other
	var read uint64
	for _, hash := range first[:len(keys)] {
		read |= s.shards[hashtable.Of(hash)].table.Touch(hash)
	}
	for i := range keys {
		if s.shards[hashtable.Of(first[i])].table.Add(first[i], second[i], 1) {
			fresh[i] = true
			added++
		}
	}
	s.eachOf(&shards, func(shard *seenShard) { shard.mu.Unlock() })
	runtime.KeepAlive(read)
	return added
}

// eachOf visits the shards whose bits are set, in order.
func (s *SeenSet) eachOf(set *[hashtable.Shards / 64]uint64, visit func(*seenShard)) {
	for i, word := range set {
		for ; word != 0; word &= word - 1 {
			visit(&s.shards[64*i+bits.TrailingZeros64(word)])
		}
	}
}

// Has reports whether a key is in the set.
func (s *SeenSet) Has(key string) bool { return s.HasBytes(bytesOf(key)) }

// HasBytes is Has for a key in a buffer.
func (s *SeenSet) HasBytes(key []byte) bool {
	first, second := s.hash(key)
	shard := &s.shards[hashtable.Of(first)]
	shard.mu.Lock()
	value := shard.table.Get(first, second)
	shard.mu.Unlock()
	return value != 0
}

func (s *SeenSet) hash(key []byte) (first, second uint64) {
	first = siphash.Sum64Bytes(s.secret, key)
	if s.wide {
		second = siphash.Sum64Bytes(s.second, key)
	}
	return first, second
}

// bytesOf is a view of a string that nobody may write to.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// Len returns the number of keys.
func (s *SeenSet) Len() (n int) {
	s.each(func(t *hashtable.Shard) { n += t.Len() })
	return n
}

// Bytes returns the memory that the set holds, in bytes.
func (s *SeenSet) Bytes() (n int64) {
	const shardBytes = int64(unsafe.Sizeof(seenShard{}))
	n = int64(len(s.shards)) * shardBytes
	s.each(func(t *hashtable.Shard) { n += int64(t.Bytes()) })
	return n
}

// each visits the shards one after another.
func (s *SeenSet) each(visit func(*hashtable.Shard)) {
	for i := range s.shards {
		shard := &s.shards[i]
		shard.mu.Lock()
		visit(&shard.table)
		shard.mu.Unlock()
	}
}
