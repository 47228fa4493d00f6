package ratelimit

import "time"

// bucket is the account of a key.
type bucket struct {
	key    string
	rule   *rule
	rate   meter
	peak   meter  // where the rule has a peak
	booked uint64 // permits in all: a ticket is due when as many have come
	last   int64  // when the meters were right
	born   int64  // when the warm-up began
	used   int64  // when permits were booked last
	idleAt int64  // when it is as good as new, unless it was used since it was judged
	judged int64
}

// Bounds of bookings, far from where int64 ends.
const (
	maxDebt = 1 << 61
	maxBook = 1 << 60
)

func newBucket(key string, r *rule, now int64) *bucket {
	b := &bucket{key: key, rule: r, last: now, born: now, used: now, idleAt: now}
	b.rate.tokens, b.peak.tokens = r.cold(), 1
	return b
}

// cold returns the permits that a new bucket has.
func (r *rule) cold() int64 {
	if r.warm > 0 {
		return max(1, r.rate.burst/3)
	}
	return r.rate.burst
}

// refill brings the meters up to a time.
func (b *bucket) refill(now int64) {
	if now <= b.last {
		return
	}
	r, elapsed := b.rule, uint64(now-b.last)
	if r.peak.n > 0 {
		b.peak.refill(&r.peak, elapsed)
	}
	if r.warm > 0 {
		elapsed = r.warm.elapsed(uint64(now-b.born)) - r.warm.elapsed(uint64(b.last-b.born))
	}
	b.rate.refill(&r.rate, elapsed)
	b.last = now
	if r.warm > 0 && b.rate.tokens == r.rate.burst && now-b.used >= int64(r.warm) {
		b.born, b.rate.tokens = now, r.cold()
	}
}

// until returns how long it is, from the last refill, until a ticket is due.
func (b *bucket) until(r *rule, at uint64) time.Duration {
	more := int64(at - b.booked)
	wait := b.rate.until(&r.rate, more-b.rate.tokens)
	if r.warm > 0 {
		wait = r.warm.until(uint64(b.last-b.born), wait)
	}
	if r.peak.n > 0 {
		wait = max(wait, b.peak.until(&r.peak, more-b.peak.tokens))
	}
	return time.Duration(wait)
}

// take books n permits.
func (b *bucket) take(n int) {
	m := min(int64(n), min(b.rate.tokens, b.peak.tokens)+maxDebt)
	b.booked += uint64(m)
	b.rate.tokens -= m
	b.used = b.last
	if b.rule.peak.n > 0 {
		b.peak.tokens -= m
	}
}

// give undoes the last booking.
func (b *bucket) give(n int) {
	b.booked -= uint64(n)
	b.rate.tokens = min(b.rate.tokens+int64(n), b.rule.rate.burst)
	b.peak.tokens = min(b.peak.tokens+int64(n), 1)
}

// adopt goes on under another rule, which holds since a time.
func (b *bucket) adopt(r *rule, since int64) {
	b.refill(since)
	if b.rule.peak.n == 0 {
		b.peak.tokens = b.rate.tokens
	}
	if b.rule.warm != r.warm {
		b.born = b.last - int64(r.warm) // it is warm
	}
	b.rule = r
	b.rate = meter{tokens: min(b.rate.tokens, r.rate.burst)}
	b.peak = meter{tokens: min(b.peak.tokens, 1)}
}

// fresh returns when the bucket, if it is left alone, is as good as new; the time of the last refill if it is already.
func (b *bucket) fresh() int64 {
	r := b.rule
	if r.warm > 0 && b.born > b.used { // it has become new
		return b.last
	}
	wait := b.rate.until(&r.rate, r.rate.burst-b.rate.tokens)
	if r.warm > 0 {
		wait = r.warm.until(uint64(b.last-b.born), wait)
	}
	if r.peak.n > 0 {
		wait = max(wait, b.peak.until(&r.peak, 1-b.peak.tokens))
	}
	return max(b.last+int64(wait), b.used+int64(r.warm))
}

// idleHeap has the bucket on top that may be as good as new first.
type idleHeap []*bucket

func (h *idleHeap) push(b *bucket) {
	*h = append(*h, b)
	q := *h
	for i := len(q) - 1; i > 0; {
		up := (i - 1) / 2
		if q[up].idleAt <= q[i].idleAt {
			return
		}
		q[up], q[i] = q[i], q[up]
		i = up
	}
}

// down moves the top to its place.
func (h idleHeap) down() {
	for i := 0; ; {
		least := i
		for c := 2*i + 1; c <= 2*i+2 && c < len(h); c++ {
			if h[c].idleAt < h[least].idleAt {
				least = c
			}
		}
		if least == i {
			return
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
}

// pop takes the top away.
func (h *idleHeap) pop() {
	q := *h
	last := len(q) - 1
	q[0], q[last] = q[last], nil
	*h = q[:last]
	h.down()
}
