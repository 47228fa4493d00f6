package ratelimit

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// DefaultMaxKeys bounds the keys that a TokenBucket has in use.
const DefaultMaxKeys = 100_000

// MaxKey bounds a key, in bytes.
const MaxKey = 1 << 10

var errLongKey = fmt.Errorf("seine: a key of more than %d bytes", MaxKey)

// BucketConfig is what a TokenBucket is made of.
type BucketConfig struct {
	// Rules say what is limited. A key that none matches is not.
	Rules []Rule
	// MaxKeys bounds the keys that have a limit of their own and were asked for so lately that it matters. A key beyond
	// it is refused with ErrTooManyKeys. Zero means DefaultMaxKeys, negative no bound.
	MaxKeys int
	// Changed is told the new rules after each SetRules. Nil means nobody is.
	Changed func(rules []Rule)
}

// TokenBucket is a Limiter in memory: in any time T it lets through at most ⌊rate·T⌋ + burst permits of a key, and just
// so many if they are asked for. It counts in whole numbers and does not drift. There is no goroutine, and no timer but
// that of a waiter. A key that is idle until its burst is saved up is forgotten.
//
// More permits than the burst can be asked for at once: they are due when they have come one by one.
type TokenBucket struct {
	start   time.Time
	maxKeys int
	tell    func([]Rule)

	mu        sync.Mutex
	rules     *ruleSet
	buckets   map[string]*bucket
	idle      idleHeap
	changed   chan struct{} // closed when the rules change; nil while nobody waits
	changedAt int64
}

var _ Booker = (*TokenBucket)(nil)

// NewTokenBucket returns a limiter. The error is a *RuleError where a rule is wrong or can match nothing.
func NewTokenBucket(c BucketConfig) (*TokenBucket, error) {
	t := &TokenBucket{start: time.Now(), maxKeys: c.MaxKeys, buckets: map[string]*bucket{}}
	switch {
	case c.MaxKeys == 0:
		t.maxKeys = DefaultMaxKeys
	case c.MaxKeys < 0:
		t.maxKeys = math.MaxInt
	}
	err := t.replace(c.Rules)
	t.tell = c.Changed
	return t, err
}

// SetRules replaces all rules. Waits that are under way are judged anew: they end sooner or later, or with a *WaitError.
// What keys have saved up or owe stays, up to the new burst. On an error the old rules stay.
func (t *TokenBucket) SetRules(rules ...Rule) error {
	if err := t.replace(rules); err != nil {
		return err
	}
	if t.tell != nil {
		t.tell(slices.Clone(rules))
	}
	return nil
}

func (t *TokenBucket) replace(rules []Rule) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	set, err := newRuleSet(rules, t.rules, now)
	if err != nil {
		return err
	}
	t.rules, t.changedAt = set, now
	if t.changed != nil {
		close(t.changed)
		t.changed = nil
	}
	return nil
}

// Len returns how many keys have a limit of their own in use, or had and are not forgotten yet.
func (t *TokenBucket) Len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.buckets)
}

func (t *TokenBucket) now() int64 { return int64(time.Since(t.start)) }

// Wait implements Limiter. It allocates nothing when the permits are due at once.
func (t *TokenBucket) Wait(ctx context.Context, key string, n int) error {
	if ctx.Err() != nil {
		return ended(ctx, key)
	}
	t.mu.Lock()
	b, wait, err := t.book(ctx, key, n)
	if wait == 0 || err != nil {
		t.mu.Unlock()
		return err
	}
	w := ticket{b, b.booked, n}
	changed := t.changes()
	t.mu.Unlock()
	return t.sleep(ctx, key, w, wait, changed)
}

// sleep waits until a ticket is due.
func (t *TokenBucket) sleep(ctx context.Context, key string, w ticket, wait time.Duration, changed <-chan struct{}) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			t.mu.Lock()
			w.giveBack(t)
			t.mu.Unlock()
			return ended(ctx, key)
		case <-timer.C:
		case <-changed:
		}
		t.mu.Lock()
		left, err := t.judge(ctx, key, &w)
		if left == 0 || err != nil {
			t.mu.Unlock()
			return err
		}
		changed = t.changes()
		t.mu.Unlock()
		timer.Reset(left)
	}
}

// judge returns how long a ticket has to wait by the rules of now; it may have to be booked anew.
func (t *TokenBucket) judge(ctx context.Context, key string, w *ticket) (time.Duration, error) {
	b, r, err := t.find(key)
	if err == nil && b == w.b {
		wait := b.until(r, w.at)
		if err = allowed(ctx, r, key, wait); err == nil {
			return wait, nil
		}
	}
	w.giveBack(t)
	if err != nil || b == nil {
		return 0, err
	}
	b, wait, err := t.book(ctx, key, w.n)
	if err == nil && b != nil {
		w.b, w.at = b, b.booked
	}
	return wait, err
}

// Reserve implements Limiter.
func (t *TokenBucket) Reserve(ctx context.Context, key string, n int) (Reservation, error) {
	if ctx.Err() != nil {
		return nil, ended(ctx, key)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	b, _, err := t.book(context.WithoutCancel(ctx), key, n)
	switch {
	case err != nil:
		return nil, err
	case b == nil:
		return reservations(nil), nil
	}
	return &reservation{t: t, key: key, ticket: ticket{b, b.booked, n}}, nil
}

// Book implements Booker.
func (t *TokenBucket) Book(_ context.Context, key string, n int) error {
	if err := checkCount(n); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	b, _, err := t.find(key)
	if b != nil {
		b.take(n)
	}
	return err
}

// book takes n permits of a key unless the wait is too long. There is no bucket where there is no limit.
func (t *TokenBucket) book(ctx context.Context, key string, n int) (*bucket, time.Duration, error) {
	if err := checkCount(n); err != nil {
		return nil, 0, err
	}
	b, r, err := t.find(key)
	if b == nil {
		return nil, 0, err
	}
	wait := b.until(r, b.booked+uint64(n))
	if err := allowed(ctx, r, key, wait); err != nil {
		return nil, 0, err
	}
	b.take(n)
	return b, wait, nil
}

func checkCount(n int) error {
	if n < 0 || int64(n) > maxBook {
		return fmt.Errorf("seine: %d permits cannot be booked", n)
	}
	return nil
}

// allowed returns a *WaitError for a wait that is too long.
func allowed(ctx context.Context, r *rule, key string, wait time.Duration) error {
	if r.maxWait >= 0 && wait > r.maxWait {
		return &WaitError{Key: key, Wait: wait, Max: r.maxWait}
	}
	return late(ctx, key, wait)
}

// find returns the bucket of a key, up to date, and its rule; nil where there is no limit.
func (t *TokenBucket) find(key string) (*bucket, *rule, error) {
	if len(key) > MaxKey {
		return nil, nil, errLongKey
	}
	key = fold(key)
	r := t.rules.match(key)
	if r == nil || r.unlimited {
		return nil, nil, nil
	}
	now := t.now()
	b := r.shared
	if b == nil {
		b = t.buckets[key]
	}
	if b == nil {
		t.forget(now)
		if len(t.buckets) >= t.maxKeys {
			return nil, nil, ErrTooManyKeys
		}
		b = newBucket(key, r, now)
		t.buckets[key] = b
		t.idle.push(b)
		return b, r, nil
	}
	if b.rule != r {
		b.adopt(r, t.changedAt)
	}
	b.refill(now)
	return b, r, nil
}

// changes returns the channel that tells of new rules.
func (t *TokenBucket) changes() <-chan struct{} {
	if t.changed == nil {
		t.changed = make(chan struct{})
	}
	return t.changed
}

// Forgetting, when a key is added.
const (
	forgetAtOnce = 8           // keys that are looked at
	keepIdle     = time.Minute // that a key is kept beyond need, so that one that comes again is not made anew
)

// forget drops keys that are as good as new. Where there is no room it looks at as many as it needs to, and keeps none
// beyond need.
func (t *TokenBucket) forget(now int64) {
	for n := 0; len(t.idle) > 0; n++ {
		until := now - int64(keepIdle)
		if len(t.buckets) >= t.maxKeys {
			until = now
		} else if n >= forgetAtOnce {
			return
		}
		b := t.idle[0]
		if b.idleAt > until {
			return
		}
		if b.used >= b.judged {
			b.refill(now)
			b.idleAt, b.judged = b.fresh(), now+1
		}
		if b.idleAt <= until {
			t.idle.pop()
			delete(t.buckets, b.key)
		} else {
			t.idle.down()
		}
	}
}

// ticket is permits that are booked.
type ticket struct {
	b  *bucket
	at uint64 // b.booked after them
	n  int
}

// giveBack undoes the booking if it is the last one.
func (w ticket) giveBack(t *TokenBucket) {
	if w.b.booked == w.at {
		w.b.refill(t.now())
		w.b.give(w.n)
	}
}

// reservation implements Reservation.
type reservation struct {
	t      *TokenBucket
	key    string
	ticket ticket
	gone   atomic.Bool
}

// Delay implements Reservation.
func (r *reservation) Delay() time.Duration {
	if r.gone.Load() {
		return 0
	}
	r.t.mu.Lock()
	defer r.t.mu.Unlock()
	if rule := r.t.rules.match(fold(r.key)); rule == nil || rule.unlimited {
		return 0
	} else if b := r.ticket.b; b.rule != rule && rule.shared == nil {
		b.adopt(rule, r.t.changedAt)
	}
	r.ticket.b.refill(r.t.now())
	return r.ticket.b.until(r.ticket.b.rule, r.ticket.at)
}

// Cancel implements Reservation.
func (r *reservation) Cancel(context.Context) {
	if r.gone.Swap(true) {
		return
	}
	r.t.mu.Lock()
	defer r.t.mu.Unlock()
	r.ticket.giveBack(r.t)
}
