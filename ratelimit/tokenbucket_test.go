package ratelimit

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func newBuckets(t testing.TB, rules ...Rule) *TokenBucket {
	t.Helper()
	l, err := NewTokenBucket(BucketConfig{Rules: rules})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// waits asks for n permits one after the other and returns when each came.
func waits(t *testing.T, l Limiter, key string, n int) []time.Duration {
	t.Helper()
	start := time.Now()
	var at []time.Duration
	for range n {
		if err := l.Wait(t.Context(), key, 1); err != nil {
			t.Fatal(err)
		}
		at = append(at, time.Since(start))
	}
	return at
}

// floor is ⌊rate·T⌋, counted otherwise than by the meter.
func floor(r Rate, d time.Duration) int64 {
	n := new(big.Int).Mul(big.NewInt(r.N), big.NewInt(int64(d)))
	return n.Div(n, big.NewInt(int64(r.Per))).Int64()
}

// A greedy client gets exactly ⌊rate·T⌋ + burst permits in T, at every moment.
func TestBucketIsExact(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rate  Rate
		burst int64
	}{
		{PerSecond(3), 1},
		{PerSecond(7), 5},
		{Rate{1, 2 * time.Second}, 1},
		{Rate{17, time.Minute}, 17},
		{PerSecond(999_983), 100},
		{Rate{1, 7 * time.Nanosecond}, 1},
		{Rate{5000, time.Hour}, 20},
		{Rate{1 << 40, 365 * 24 * time.Hour}, 3},
	} {
		t.Run(c.rate.String(), func(t *testing.T) {
			t.Parallel()
			r, err := Rule{Match: "*", Rate: c.rate, Burst: c.burst}.compile()
			if err != nil {
				t.Fatal(err)
			}
			b := newBucket("", r, 0)
			for k := int64(1); k <= 20_000; k++ {
				wait := b.until(r, b.booked+1)
				at := time.Duration(b.last) + wait
				if got := floor(c.rate, at) + c.burst; got < k {
					t.Fatalf("permit %d at %v: only %d were due", k, at, got)
				}
				if at > 0 && floor(c.rate, at-1)+c.burst >= k && k > c.burst {
					t.Fatalf("permit %d at %v: it was due before", k, at)
				}
				b.take(1)
				b.refill(int64(at) - int64(at)%3) // looked at in between
				b.refill(int64(at))
			}
		})
	}
}

func TestBucketDoesNotDrift(t *testing.T) {
	t.Parallel()
	permits := int64(10_000_000)
	if raceEnabled {
		permits = 100_000
	}
	rate := Rate{1_000_003, 7 * time.Second}
	r, err := Rule{Match: "*", Rate: rate, Burst: 10}.compile()
	if err != nil {
		t.Fatal(err)
	}
	b := newBucket("", r, 0)
	for range permits {
		b.refill(b.last + int64(b.until(r, b.booked+1)))
		b.take(1)
	}
	last := time.Duration(b.last)
	if floor(rate, last)+10 != permits || floor(rate, last-1)+10 != permits-1 {
		t.Fatalf("after %d permits it is %v", permits, last)
	}
	fmt.Printf("shown engine.4: token bucket: %d permits at %v: exactly ⌊rate·T⌋ + burst in T, no drift\n", permits, rate)
}

func TestRateBelowOneIsKept_K169(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rate Rate
		n    int
		want time.Duration
	}{{Rate{1, 2 * time.Second}, 10, 18 * time.Second}, {Every(2 * time.Second), 10, 18 * time.Second}, {Rate{1, time.Hour}, 3, 2 * time.Hour}, {PerSecond(1), 10, 9 * time.Second}, {Rate{2, 3 * time.Second}, 7, 9 * time.Second}} {
		synctest.Test(t, func(t *testing.T) {
			at := waits(t, newBuckets(t, Rule{Match: "*", Rate: c.rate, MaxWait: -1}), "films.example", c.n)
			if at[c.n-1] != c.want {
				t.Errorf("%v: %d permits took %v, want %v", c.rate, c.n, at[c.n-1], c.want)
			}
		})
	}
}

func TestBurstThenRate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newBuckets(t, Rule{Match: "*", Rate: PerSecond(2), Burst: 3})
		want := []time.Duration{0, 0, 0, 500 * time.Millisecond, time.Second}
		if got := waits(t, l, "a.example", 5); !slices.Equal(got, want) {
			t.Errorf("permits at %v, want %v", got, want)
		}
		time.Sleep(750 * time.Millisecond) // one and a half come
		if got, want := waits(t, l, "a.example", 2), []time.Duration{0, 250 * time.Millisecond}; !slices.Equal(got, want) {
			t.Errorf("after a rest at %v, want %v", got, want)
		}
		if got := waits(t, l, "b.example", 1); got[0] != 0 {
			t.Errorf("another host waited %v", got[0])
		}
	})
}

// A burst is admitted by the rate and spaced by the peak; the average stays.
func TestPeakSmoothsBursts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newBuckets(t, Rule{Match: "*", Rate: PerSecond(1), Burst: 4, Peak: PerSecond(10)})
		ms := time.Millisecond
		want := []time.Duration{0, 100 * ms, 200 * ms, 300 * ms, 1000 * ms, 2000 * ms}
		if got := waits(t, l, "a", 6); !slices.Equal(got, want) {
			t.Errorf("permits at %v, want %v", got, want)
		}
		time.Sleep(10 * time.Second)
		want = []time.Duration{0, 100 * ms, 200 * ms, 300 * ms, 1000 * ms}
		if got := waits(t, l, "a", 5); !slices.Equal(got, want) {
			t.Errorf("after a rest at %v, want %v", got, want)
		}
	})
}

// From a third of the rate to the whole: in a warm-up of 30 s at 9/s two thirds of 270 permits come.
func TestWarmUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newBuckets(t, Rule{Match: "*", Rate: PerSecond(9), Burst: 1, WarmUp: 30 * time.Second})
		at := waits(t, l, "a", 1+180+90)
		if first := at[1] - at[0]; first < 320*time.Millisecond || first > 334*time.Millisecond {
			t.Errorf("the first interval is %v, want nearly 1/3 s", first)
		}
		if at[180] < 30*time.Second-time.Microsecond || at[180] > 30*time.Second+time.Microsecond {
			t.Errorf("180 permits came in %v, want 30 s", at[180])
		}
		if d := at[270] - at[180]; d < 10*time.Second-time.Microsecond || d > 10*time.Second+time.Microsecond {
			t.Errorf("90 permits of the full rate came in %v", d)
		}
		for i := 2; i < len(at); i++ {
			if at[i]-at[i-1] > at[i-1]-at[i-2]+time.Microsecond {
				t.Fatalf("interval %d is longer than the one before", i)
			}
		}
		time.Sleep(29 * time.Second)
		if at := waits(t, l, "a", 3); at[2] > 223*time.Millisecond {
			t.Errorf("it went cold before its time: %v", at)
		}
		time.Sleep(31 * time.Second)
		if at := waits(t, l, "a", 3); at[2] < 600*time.Millisecond {
			t.Errorf("it was not cold after a rest as long as the warm-up: %v", at)
		}
	})
}

func TestWarmUpClock(t *testing.T) {
	t.Parallel()
	for _, w := range []warmUp{1, 2, 3, 1000, warmUp(time.Minute), warmUp(MaxWarmUp)} {
		for _, t0 := range []uint64{0, 1, uint64(w) / 3, uint64(w) - 1, uint64(w), uint64(w) + 5} {
			for _, d := range []uint64{0, 1, 2, uint64(w) / 7, uint64(w), 3 * uint64(w)} {
				u := w.until(t0, d)
				if w.elapsed(t0+u)-w.elapsed(t0) < d || u > 0 && t0 < uint64(w) && w.elapsed(t0+u-1)-w.elapsed(t0) >= d {
					t.Errorf("warm-up %d: %d after %d takes %d", w, d, t0, u)
				}
			}
		}
	}
}

func TestSharedLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newBuckets(t, Rule{Match: "*", Rate: PerSecond(1), Shared: true}, Rule{Match: "own.example", Rate: PerSecond(1)})
		start := time.Now()
		for i := range 4 {
			waits(t, l, strconv.Itoa(i)+".example", 1)
		}
		waits(t, l, "own.example", 1)
		if d := time.Since(start); d != 3*time.Second {
			t.Errorf("four hosts together took %v, want 3 s", d)
		}
		if l.Len() != 1 {
			t.Errorf("%d keys of their own", l.Len())
		}
		if err := l.SetRules(Rule{Match: "*", Rate: PerSecond(2), Shared: true}); err != nil {
			t.Fatal(err)
		}
		if at := waits(t, l, "x.example", 1); at[0] != 500*time.Millisecond {
			t.Errorf("a new rule of the same name forgot what was booked: %v", at[0])
		}
	})
}

func TestCounts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newBuckets(t, Rule{Match: "*", Rate: PerSecond(10), MaxWait: -1})
		if strconv.IntSize < 64 {
			t.Skip("skipped: an int does not reach the bound")
		}
		most := int64(maxBook)
		for _, n := range []int{-1, int(most) + 1} {
			if err := l.Wait(t.Context(), "a", n); err == nil {
				t.Errorf("%d permits: no error", n)
			}
			if err := l.Book(t.Context(), "a", n); err == nil {
				t.Errorf("%d permits booked: no error", n)
			}
		}
		start := time.Now()
		if err := l.Wait(t.Context(), "a", 101); err != nil || time.Since(start) != 10*time.Second {
			t.Errorf("101 permits: %v after %v", err, time.Since(start))
		}
		for range 10 { // far from where the numbers end
			if err := l.Book(t.Context(), "a", int(most)); err != nil {
				t.Error(err)
			}
		}
		var late *WaitError
		if err := l.SetRules(Rule{Match: "*", Rate: PerSecond(10)}); err != nil {
			t.Fatal(err)
		}
		if err := l.Wait(t.Context(), "a", 0); !errors.As(err, &late) || late.Wait <= 0 {
			t.Errorf("a debt without end: %v", err)
		}
	})
}

func TestFastPathAllocatesNothing(t *testing.T) {
	l := newBuckets(t, Rule{Match: "*", Rate: PerSecond(1 << 40), Burst: 1 << 40}, Rule{Match: "*.films.example", Rate: PerSecond(1 << 40), Burst: 1 << 40, Peak: PerSecond(1 << 50)})
	ctx := t.Context()
	for _, key := range []string{"films.example", "www.films.example:8080"} {
		if n := testing.AllocsPerRun(1000, func() {
			if err := l.Wait(ctx, key, 1); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", key, n)
		}
	}
	before := runtime.NumGoroutine()
	for i := range 10_000 {
		if err := l.Wait(ctx, strconv.Itoa(i), 1); err != nil {
			t.Fatal(err)
		}
	}
	if n := runtime.NumGoroutine(); n > before {
		t.Errorf("%d goroutines after 10,000 keys, %d before", n, before)
	}
	fmt.Println("shown engine.4: token bucket: 0 allocations a permit that is due, no goroutine for 10,000 hosts")
}

// Many at once, under changing rules: more than may be let through never is.
func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newBuckets(t, Rule{Match: "*", Rate: PerSecond(10), Burst: 5, MaxWait: -1})
		var mu sync.Mutex
		var at []time.Duration
		start := time.Now()
		var all sync.WaitGroup
		for i := range 200 {
			all.Go(func() {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if i%4 == 0 {
					time.AfterFunc(time.Duration(i)*10*time.Millisecond+time.Millisecond, cancel)
				}
				if l.Wait(ctx, "a", 1) == nil {
					mu.Lock()
					at = append(at, time.Since(start))
					mu.Unlock()
				}
			})
		}
		all.Wait()
		slices.Sort(at)
		for i, d := range at {
			if most := floor(PerSecond(10), d) + 5; int64(i+1) > most {
				t.Fatalf("permit %d at %v, where %d may be", i+1, d, most)
			}
		}
		if len(at) < 150 {
			t.Errorf("%d of 150 got their permit", len(at))
		}
	})
}

func BenchmarkWait(b *testing.B) {
	for _, c := range []struct {
		name string
		rule Rule
		keys int
	}{
		{"one key", Rule{Match: "*", Burst: 1 << 40}, 1},
		{"10,000 keys", Rule{Match: "*", Burst: 1 << 40}, 10_000},
		{"wildcard, peak", Rule{Match: "*.films.example", Burst: 1 << 40, Peak: PerSecond(1 << 50)}, 1},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			c.rule.Rate = PerSecond(1 << 40)
			l := newBuckets(b, c.rule)
			keys := make([]string, c.keys)
			for i := range keys {
				keys[i] = strconv.Itoa(i) + ".films.example:8080"
			}
			ctx := b.Context()
			for i := 0; b.Loop(); i++ {
				if err := l.Wait(ctx, keys[i%len(keys)], 1); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Several limits of bytes hold together.
func TestAllBooks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var both All
		for _, rate := range []int64{1000, 100} {
			b, err := NewTokenBucket(BucketConfig{Rules: []Rule{{Match: "*", Rate: PerSecond(rate)}}})
			if err != nil {
				t.Fatal(err)
			}
			both = append(both, b)
		}
		l, start := Traffic{Bytes: append(both, nil)}, time.Now()
		if err := l.BookBytes(t.Context(), "a.example", 1001); err != nil {
			t.Fatal(err)
		}
		if err := l.Wait(t.Context(), "a.example", 1); err != nil || time.Since(start) != 10*time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
	})
}
