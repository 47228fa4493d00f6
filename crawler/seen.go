package crawler

import (
	"runtime"

	"github.com/seine-go/seine/internal/hashtable"
	"github.com/seine-go/seine/internal/siphash"
)

// keyState is what a Memory knows of a key.
type keyState uint8

const (
	unseen   keyState = iota
	ready             // its record is among the ready ones of its host, and it has not been tried
	again             // the same, but it has been tried, so that its record cannot be replaced
	waiting           // its record is among the delayed ones
	leased            // in somebody's hands
	suspect           // its holder died; it waits to be leased alone
	finished          // done, or passed by a redirect
	failed            // given up
	dropped           // was to be done when a redirect passed it; its record is not to be handed out
	passed            // in somebody's hands when a redirect passed it; it does not come back
)

// keyTable maps the keyed 64-bit hash of a key to its state and, while it is ready, its priority. It costs ten bytes a
// key and is exact up to a collision of hashes, which a site cannot craft since it does not know the secret. With n keys
// the chance of any collision is below n²/2⁶⁵: 3 in 100,000,000 for a million.
type keyTable struct {
	secret siphash.Key
	shards []hashtable.Shard
	far    map[uint64]int // priorities for which there is no room in the table
	disk   *diskKeys      // nil: all is in the table
}

// A value of the table is a state and a level, which is a priority from -nearest to nearest, or farLevel.
const (
	stateBits = 4
	nearest   = 31
	farLevel  = 2*nearest + 1
)

func newKeyTable(secret siphash.Key) keyTable {
	return keyTable{secret: secret, shards: make([]hashtable.Shard, hashtable.Shards), far: map[uint64]int{}}
}

func (t *keyTable) hash(key string) uint64 { return siphash.Sum64(t.secret, key) }

// touch brings what the table has of some keys near to the processor, before they are looked for one by one.
func (t *keyTable) touch(hashes []uint64) {
	var read uint64
	for _, h := range hashes {
		read |= t.shards[hashtable.Of(h)].Touch(h)
	}
	runtime.KeepAlive(read)
}

// value returns what is known of a key; 0: nothing.
func (t *keyTable) value(h uint64) uint16 {
	v := t.shards[hashtable.Of(h)].Get(h, 0)
	if v == 0 && t.disk != nil {
		if v = t.disk.find(h); v != 0 && t.disk.size < t.disk.room() {
			t.put(h, v) // else the state that is saved next makes room
		}
	}
	return v
}

// change gives a key its value.
func (t *keyTable) change(h uint64, v uint16) {
	t.put(h, v)
	if t.disk != nil {
		t.disk.dirty = append(t.disk.dirty, h)
	}
}

// put writes into the table, and keeps account of its memory where that is bounded.
func (t *keyTable) put(h uint64, v uint16) {
	s := &t.shards[hashtable.Of(h)]
	if t.disk == nil {
		s.Set(h, 0, v)
		return
	}
	before := s.Bytes()
	s.Set(h, 0, v)
	t.disk.size += s.Bytes() - before
}

// forget makes all keys unseen.
func (t *keyTable) forget() {
	t.shards, t.far = make([]hashtable.Shard, hashtable.Shards), map[uint64]int{}
	if d := t.disk; d != nil {
		d.all, d.size, d.old, d.runs, d.filter, d.dirty = true, 0, nil, nil, nil, nil
	}
}

// get returns the state of a key and, if it is ready, the priority of the record that counts.
func (t *keyTable) get(h uint64) (keyState, int) {
	v := t.value(h)
	level := int(v >> stateBits)
	if level == farLevel {
		return keyState(v & (1<<stateBits - 1)), t.far[h]
	}
	return keyState(v & (1<<stateBits - 1)), level - nearest
}

// state returns the state of a key.
func (t *keyTable) state(h uint64) keyState {
	return keyState(t.value(h) & (1<<stateBits - 1))
}

// set gives a key a state other than ready.
func (t *keyTable) set(h uint64, s keyState) {
	delete(t.far, h)
	t.change(h, uint16(s)|nearest<<stateBits)
}

// setReady makes a key ready, or ready again.
func (t *keyTable) setReady(h uint64, s keyState, priority int) {
	level := priority + nearest
	if priority < -nearest || priority > nearest {
		level = farLevel
		t.far[h] = priority
	} else {
		delete(t.far, h)
	}
	t.change(h, uint16(s)|uint16(level)<<stateBits)
}
