package dedupe_test

import (
	"fmt"
	"hash/maphash"
	"math/bits"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/seine-go/seine/dedupe"
)

func hasher() func(string) uint64 {
	seed := maphash.MakeSeed()
	return func(s string) uint64 { return maphash.String(seed, s) }
}

// filter is a Bloom filter of four bits a key.
type filter struct {
	hash func(string) uint64
	bits []uint64
}

func newFilter(keys, bitsPerKey int) *filter {
	return &filter{hash: hasher(), bits: make([]uint64, keys*bitsPerKey/64+1)}
}

// add puts a key in and reports whether it was certainly new.
func (f *filter) add(key string) (isNew bool) {
	h := f.hash(key)
	step := h>>32 | 1
	for range 4 {
		word, _ := bits.Mul64(h, uint64(len(f.bits)))
		bit := uint64(1) << (h & 63)
		isNew = isNew || f.bits[word]&bit == 0
		f.bits[word] |= bit
		h = bits.RotateLeft64(h*0x9e3779b97f4a7c15+step, 23)
	}
	return isNew
}

func TestSeenSet(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]dedupe.SeenOptions{
		"random secret": {}, "given secret": {Secret: [2]uint64{1, 2}}, "wide": {Wide: true}, "half a secret": {Secret: [2]uint64{0, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := dedupe.NewSeenSet(o)
			if s.Has("") || s.Len() != 0 {
				t.Fatal("an empty set has a key")
			}
			for i, key := range []string{"", "a", "b", "a\x00", "https://films.example/", "https://films.example/?"} {
				if s.Has(key) || !s.Add(key) || s.Add(key) || !s.Has(key) || s.Len() != i+1 {
					t.Fatalf("%q is not one new key", key)
				}
			}
		})
	}
}

// Of concurrent Adds of one key exactly one is told that it is new.
func TestSeenSetAddsOnce(t *testing.T) {
	t.Parallel()
	s := dedupe.NewSeenSet(dedupe.SeenOptions{})
	const keys, adders = 5_000, 8
	var fresh atomic.Int64
	var wg sync.WaitGroup
	for range adders {
		wg.Go(func() {
			for i := range keys {
				if s.Add(string(film(nil, i))) {
					fresh.Add(1)
				}
				if !s.Has(string(film(nil, i))) {
					t.Error("an added key is not there")
					return
				}
			}
		})
	}
	wg.Wait()
	if fresh.Load() != keys || s.Len() != keys {
		t.Fatalf("%d times new, %d keys, not %d", fresh.Load(), s.Len(), keys)
	}
}

// Many keys at a time are told apart as one by one, whatever their number and however often they come.
func TestAddAllIsAddForEach(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	for _, o := range []dedupe.SeenOptions{{}, {Wide: true}} {
		all, single := dedupe.NewSeenSet(o), dedupe.NewSeenSet(o)
		for n := range 200 {
			keys, want, added := make([]string, n), make([]bool, n), 0
			for i := range keys {
				keys[i] = string(film(nil, r.IntN(10_000)))
				if want[i] = single.Add(keys[i]); want[i] {
					added++
				}
			}
			fresh := make([]bool, n)
			if n%5 == 0 {
				fresh, want = nil, nil
			}
			if got := all.AddAll(keys, fresh); got != added || !slices.Equal(fresh, want) {
				t.Fatalf("of %d keys %d are new, not %d, or others", n, got, added)
			}
		}
		if all.Len() != single.Len() {
			t.Fatalf("%d keys, not %d", all.Len(), single.Len())
		}
	}
}

// Calls for many keys that share their shards, in other orders, end and add each key once.
func TestAddAllAtOnce(t *testing.T) {
	t.Parallel()
	s := dedupe.NewSeenSet(dedupe.SeenOptions{})
	const n, adders = 10_000, 8
	var added atomic.Int64
	var wg sync.WaitGroup
	for a := range adders {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(a), 7))
			keys := make([]string, n)
			for i, k := range r.Perm(n) {
				keys[i] = string(film(nil, k))
			}
			for ; len(keys) > 0; keys = keys[min(100, len(keys)):] {
				added.Add(int64(s.AddAll(keys[:min(100, len(keys))], nil)))
			}
		})
	}
	wg.Wait()
	if added.Load() != n || s.Len() != n {
		t.Fatalf("%d times new, %d keys, not %d", added.Load(), s.Len(), n)
	}
}

// A filter of one percent in front of the set says "maybe seen" of new URLs, and the set says that they are new. What
// the set itself says of new keys is always "new", whatever its secret and width, and at the sizes where it grows.
func TestNewKeysAreNeverTakenForSeen_K163(t *testing.T) {
	t.Parallel()
	n := 100_000
	if raceEnabled {
		n = 20_000
	}
	for _, o := range []dedupe.SeenOptions{{}, {Wide: true}, {Secret: [2]uint64{7, 8}}} {
		s, f := dedupe.NewSeenSet(o), newFilter(n, 10)
		maybe := 0
		var buf []byte
		for i := range n {
			buf = film(buf[:0], i)
			key := string(buf)
			if !f.add(key) {
				maybe++
			}
			if s.Has(key) || !s.Add(key) {
				t.Fatalf("%s is lost", key)
			}
		}
		if maybe == 0 || s.Len() != n {
			t.Fatalf("%d of %d keys are there; the filter was never wrong: %v", s.Len(), n, maybe == 0)
		}
	}
}

// Once there are a million keys, one costs at most 20 bytes at every later size, and 12 on average. It measures the heap,
// so no other test runs beside it.
func TestSeenKeyCostsTwelveBytes_K164(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector makes memory another, and the test long")
	}
	s := dedupe.NewSeenSet(dedupe.SeenOptions{})
	const million = 1_000_000
	worst, sum, samples := 0.0, 0.0, 0
	before := heap()
	var live float64
	var buf []byte
	for i := range million + million/4 {
		buf = film(buf[:0], i)
		if !s.Add(string(buf)) {
			t.Fatalf("%s is lost", buf)
		}
		if i+1 >= million && (i+1)%10_000 == 0 {
			cost := float64(s.Bytes()) / float64(i+1)
			worst, sum, samples = max(worst, cost), sum+cost, samples+1
		}
		if i+1 == million {
			live = float64(heap()-before) / million
		}
	}
	mean := sum / float64(samples)
	if worst > 20 || mean > 12 || live > 20 {
		t.Fatalf("%.1f bytes a key on average, at most %.1f; %.1f by the heap", mean, worst, live)
	}
	fmt.Printf("shown engine.1: a seen key of a million and a quarter costs %.1f bytes on average, at most %.1f\n", mean, worst)
}
