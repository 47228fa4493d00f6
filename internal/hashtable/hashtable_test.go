package hashtable

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

type key struct{ first, second uint64 }

// A map of shards is a map, at every size that growth passes through, for hashes that differ in one word alone too.
func TestShardsAreAMap(t *testing.T) {
	t.Parallel()
	for _, wide := range []bool{false, true} {
		t.Run(fmt.Sprint("wide=", wide), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(1, 2))
			var s Shard
			if wide {
				s.Widen()
			}
			model := map[key]uint16{}
			for i := range 50_000 {
				k := key{first: r.Uint64() >> shardBits}
				switch {
				case wide && i%7 == 0: // many keys with one first word
					k = key{first: uint64(i % 3), second: r.Uint64N(500)}
				case wide:
					k.second = r.Uint64()
				case i%7 == 0:
					k.first = uint64(i % 900)
				}
				value := uint16(1 + r.IntN(MaxValue))
				if got := s.Get(k.first, k.second); got != model[k] {
					t.Fatalf("key %d: %v has %d, not %d", i, k, got, model[k])
				}
				if i%2 == 0 {
					s.Set(k.first, k.second, value)
					model[k] = value
				} else if added := s.Add(k.first, k.second, value); added != (model[k] == 0) {
					t.Fatalf("key %d: added is %v", i, added)
				} else if added {
					model[k] = value
				}
				if s.Len() != len(model) {
					t.Fatalf("%d keys, not %d", s.Len(), len(model))
				}
			}
			for k, value := range model {
				if got := s.Get(k.first, k.second); got != value {
					t.Fatalf("%v has %d, not %d", k, got, value)
				}
			}
		})
	}
}

// Hashes at the ends of the range run over at the end of the table and must be found.
func TestShardTakesCrowdedEnds(t *testing.T) {
	t.Parallel()
	var s Shard
	const top = 1<<(64-shardBits) - 1
	for i := range uint64(2000) {
		for _, h := range []uint64{i, top - i} {
			if !s.Add(h, 0, MaxValue) || s.Add(h, 0, 1) || s.Get(h, 0) != MaxValue {
				t.Fatalf("hash %#x after %d others", h, s.Len())
			}
		}
	}
}

// What a key costs, at all sizes from a thousand keys a shard on.
func TestBytesPerKey(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	var s Shard
	worst, sum, n := 0.0, 0.0, 0
	for s.Len() < 100_000 {
		s.Add(r.Uint64(), 0, 1)
		if s.Len() > 1000 && s.Len()%100 == 0 {
			cost := float64(s.Bytes()) / float64(s.Len())
			worst, sum, n = max(worst, cost), sum+cost, n+1
		}
	}
	if mean := sum / float64(n); worst > 12 || mean > 10.5 {
		t.Fatalf("%.1f bytes a key, at most %.1f", mean, worst)
	}
}

func FuzzShard(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x01\xff\xff\xff\xff"), true)
	f.Add([]byte("abcdabcdabce"), false)
	f.Fuzz(func(t *testing.T, ops []byte, wide bool) {
		var s Shard
		if wide {
			s.Widen()
		}
		model := map[key]uint16{}
		for ; len(ops) >= 3; ops = ops[3:] {
			k := key{first: uint64(ops[0]) << 46} // crowds a few homes
			if wide {
				k.second = uint64(ops[1])
			} else {
				k.first |= uint64(ops[1])
			}
			value := uint16(ops[2])<<2 | 1
			s.Set(k.first, k.second, value)
			model[k] = value
		}
		for k, value := range model {
			if got := s.Get(k.first, k.second); got != value || s.Len() != len(model) {
				t.Fatalf("%v has %d, not %d", k, got, value)
			}
		}
	})
}

func BenchmarkAdd(b *testing.B) {
	b.ReportAllocs()
	r := rand.New(rand.NewPCG(1, 2))
	var s Shard
	for b.Loop() {
		s.Add(r.Uint64(), 0, 1)
	}
}
