package dedupe_test

import (
	"runtime"
	"strconv"
	"testing"

	"github.com/seine-go/seine/dedupe"
)

// film writes the i-th of many distinct URLs.
func film(buf []byte, i int) []byte {
	buf = append(buf, "https://films-"...)
	buf = strconv.AppendInt(buf, int64(i%997), 10)
	buf = append(buf, ".example.org/catalogue/film/"...)
	buf = strconv.AppendInt(buf, int64(i), 10)
	return append(buf, "/overview"...)
}

// A million new URLs into an empty set, beside the maps of the language. B/key is what is live afterwards.
func BenchmarkSeenMillion(b *testing.B) {
	const n = 1_000_000
	kinds := map[string]func() (add func(string) bool, keep any){
		"set": func() (func(string) bool, any) {
			s := dedupe.NewSeenSet(dedupe.SeenOptions{})
			return s.Add, s
		},
		"set128": func() (func(string) bool, any) {
			s := dedupe.NewSeenSet(dedupe.SeenOptions{Wide: true})
			return s.Add, s
		},
		"map-string": func() (func(string) bool, any) {
			m := map[string]struct{}{}
			return func(key string) bool {
				before := len(m)
				m[key] = struct{}{}
				return len(m) > before
			}, m
		},
		"map-uint64": func() (func(string) bool, any) {
			m := map[uint64]struct{}{}
			h := hasher()
			return func(key string) bool {
				before := len(m)
				m[h(key)] = struct{}{}
				return len(m) > before
			}, m
		},
	}
	for _, kind := range []string{"set", "set128", "map-uint64", "map-string"} {
		b.Run(kind, func(b *testing.B) {
			b.ReportAllocs()
			var buf []byte
			for b.Loop() {
				before := heap()
				add, keep := kinds[kind]()
				for i := range n {
					buf = film(buf[:0], i)
					if !add(string(buf)) {
						b.Fatal("lost", i)
					}
				}
				b.ReportMetric(float64(heap()-before)/n, "B/key")
				runtime.KeepAlive(keep)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/key")
		})
	}
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// What is found in a set of a million, from all processors at once.
func BenchmarkSeenHas(b *testing.B) {
	const n = 1_000_000
	s := dedupe.NewSeenSet(dedupe.SeenOptions{})
	var buf []byte
	for i := range n {
		buf = film(buf[:0], i)
		s.Add(string(buf))
	}
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		keys := make([]string, 1024)
		for i := range keys {
			keys[i] = string(film(nil, i*911%n))
		}
		for i := 0; pb.Next(); i++ {
			if !s.Has(keys[i%len(keys)]) {
				b.Error("lost", i)
				return
			}
		}
	})
}

// A filter that knows most new keys to be new, in front of the set: what a new key costs with it and without.
func BenchmarkSeenBehindFilter(b *testing.B) {
	const n = 1_000_000
	for _, filtered := range []bool{false, true} {
		b.Run("filtered="+strconv.FormatBool(filtered), func(b *testing.B) {
			var buf []byte
			for b.Loop() {
				s, f := dedupe.NewSeenSet(dedupe.SeenOptions{}), newFilter(n, 10)
				for i := range n {
					buf = film(buf[:0], i)
					if key := string(buf); filtered && f.add(key) || !s.Has(key) {
						s.Add(key)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/key")
		})
	}
}
