package ratelimit

import (
	"fmt"
	"math"
	"math/bits"
	"time"
)

// Rate is so many permits in a time. It is a fraction, so that half a request a second is Rate{1, 2 * time.Second} and
// loses nothing to rounding. A negative N is no limit; the zero value is no rate at all, and refused.
type Rate struct {
	N   int64
	Per time.Duration
}

// Unlimited is no limit.
var Unlimited = Rate{N: -1}

// PerSecond returns a rate of n a second.
func PerSecond(n int64) Rate { return Rate{n, time.Second} }

// Every returns a rate of one in d.
func Every(d time.Duration) Rate { return Rate{1, d} }

// String returns "N/Per".
func (r Rate) String() string {
	if r.N < 0 {
		return "unlimited"
	}
	return fmt.Sprintf("%d/%v", r.N, r.Per)
}

// above reports whether r is a higher rate than o; both have limits.
func (r Rate) above(o Rate) bool {
	hi, lo := bits.Mul64(uint64(r.N), uint64(o.Per))
	hi2, lo2 := bits.Mul64(uint64(o.N), uint64(r.Per))
	return hi > hi2 || hi == hi2 && lo > lo2
}

// meter counts permits that come at a rate, in whole numbers: nothing is lost however often it is looked at. This is
// the token bucket; seen as a virtual schedule it is the generic cell rate algorithm (ITU-T I.371).
type meter struct {
	tokens int64  // that came and were not booked; negative: booked and still to come
	rest   uint64 // of the next one, in the 1/per-th
}

// pace is the rate of a meter.
type pace struct {
	n, per uint64 // per in nanoseconds
	burst  int64  // tokens are at most
}

// refill adds what comes in a time.
func (m *meter) refill(p *pace, elapsed uint64) {
	hi, lo := bits.Mul64(elapsed, p.n)
	lo, carry := bits.Add64(lo, m.rest, 0)
	hi += carry
	room := uint64(p.burst - m.tokens)
	if hi < p.per {
		if q, r := bits.Div64(hi, lo, p.per); q < room {
			m.tokens += int64(q)
			m.rest = r
			return
		}
	}
	m.tokens, m.rest = max(m.tokens, p.burst), 0
}

// until is the time, in nanoseconds, in which so many more tokens come.
func (m *meter) until(p *pace, more int64) uint64 {
	if more <= 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(more), p.per)
	lo, borrow := bits.Sub64(lo, m.rest, 0)
	hi -= borrow
	lo, carry := bits.Add64(lo, p.n-1, 0)
	hi += carry
	if hi >= p.n {
		return forever
	}
	q, _ := bits.Div64(hi, lo, p.n)
	return min(q, forever)
}

// forever is a wait beyond all bounds; sums of a few do not overflow.
const forever = math.MaxInt64 / 4

// warmUp slows the clock of a meter that was idle: it goes at a third at first and at full speed after a time, with a
// straight line between.
type warmUp uint64

// elapsed is what the slow clock shows when the true one shows t.
func (w warmUp) elapsed(t uint64) uint64 {
	if t >= uint64(w) {
		return 2*uint64(w)/3 + (t - uint64(w))
	}
	hi, lo := bits.Mul64(t, uint64(w)+t)
	q, _ := bits.Div64(hi, lo, 3*uint64(w))
	return q
}

// until is how long it takes from the true time t until the slow clock has gone on by d.
func (w warmUp) until(t, d uint64) uint64 {
	if t >= uint64(w) || d >= forever/4 {
		return d
	}
	goal := w.elapsed(t) + d
	low, high := uint64(0), 3*d+3 // a third is the slowest it goes
	for low < high {
		middle := low + (high-low)/2
		if w.elapsed(t+middle) >= goal {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return low
}
