package crawler

import (
	"math/bits"

	"github.com/seine-go/seine/internal/siphash"
)

// keyState is what the seen table knows of a key.
type keyState uint8

const (
	unseen  keyState = iota
	queued           // ready
	waiting          // delayed
	leased
	finished // done, failed, or passed by a redirect
	dropped  // queued or waiting, but passed by a redirect meanwhile: not to be handed out
)

// seenTable maps the keyed 64-bit hash of a key to its state: open addressing with linear probing, 9 bytes a slot. It
// is exact up to a collision of hashes, which a site cannot craft since it does not know the hash key. With n keys the
// chance of any collision is about n²/2⁶⁵: 3 in 100,000,000 for a million.
type seenTable struct {
	key   siphash.Key
	slots []uint64 // 0 is free; a hash of 0 is stored as 1
	state []keyState
	count int
}

const seenStart = 1 << 10 // slots of a new table

func (t *seenTable) hash(key string) uint64 { return max(siphash.Sum64(t.key, key), 1) }

// find returns the slot of a hash, or the free one where it belongs.
func (t *seenTable) find(h uint64) int {
	if len(t.slots) == 0 {
		t.slots, t.state = make([]uint64, seenStart), make([]keyState, seenStart)
	}
	hi, _ := bits.Mul64(h, uint64(len(t.slots)))
	i := int(hi)
	for t.slots[i] != h && t.slots[i] != 0 {
		if i++; i == len(t.slots) {
			i = 0
		}
	}
	return i
}

func (t *seenTable) get(h uint64) keyState {
	i := t.find(h)
	return t.state[i]
}

func (t *seenTable) set(h uint64, s keyState) {
	i := t.find(h)
	if t.slots[i] == 0 {
		if t.count >= len(t.slots)/5*4 {
			t.grow()
			i = t.find(h)
		}
		t.slots[i] = h
		t.count++
	}
	t.state[i] = s
}

// grow makes the table half as large again, so that at a load between 0.53 and 0.8 a key costs 11 to 17 bytes.
func (t *seenTable) grow() {
	old, state := t.slots, t.state
	n := len(old) + len(old)/2
	t.slots, t.state = make([]uint64, n), make([]keyState, n)
	for i, h := range old {
		if h != 0 {
			j := t.find(h)
			t.slots[j], t.state[j] = h, state[i]
		}
	}
}
