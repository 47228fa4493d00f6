package ratelimit

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// Waiters get their permits in the order in which they came, one timer each.
func TestWaitersAreServedInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newBuckets(t, Rule{Match: "*", Rate: PerSecond(1), MaxWait: -1})
		var order []int
		var mu sync.Mutex
		for i := range 50 {
			go func() {
				if err := l.Wait(t.Context(), "a", 1); err != nil {
					t.Error(err)
				}
				mu.Lock()
				order = append(order, i)
				mu.Unlock()
			}()
			synctest.Wait()
		}
		time.Sleep(49 * time.Second)
		synctest.Wait()
		if len(order) != 50 || !slices.IsSorted(order) {
			t.Errorf("order %v", order)
		}
	})
}

func TestWaitIsBounded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		rule Rule
		ok   int // permits within the bound
		most time.Duration
	}{
		{"default", Rule{Rate: PerSecond(1)}, 61, DefaultMaxWait},
		{"smooth", Rule{Rate: PerSecond(1), Peak: PerSecond(2)}, 6, DefaultSmoothWait},
		{"own", Rule{Rate: PerSecond(1), MaxWait: 10 * time.Second}, 11, 10 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			c.rule.Match = "*"
			l := newBuckets(t, c.rule)
			for i := range c.ok {
				if _, err := l.Reserve(t.Context(), "a.example", 1); err != nil {
					t.Fatalf("%s: permit %d: %v", c.name, i, err)
				}
			}
			var late *WaitError
			_, err := l.Reserve(t.Context(), "a.example", 1)
			if !errors.As(err, &late) || late.Key != "a.example" || late.Wait != c.most+time.Second || late.Max != c.most || errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: one past the bound: %v", c.name, err)
			}
			if err := l.Wait(t.Context(), "a.example", 1); !errors.As(err, &late) {
				t.Errorf("%s: Wait: %v", c.name, err)
			}
			time.Sleep(time.Second)
			if _, err := l.Reserve(t.Context(), "a.example", 1); err != nil {
				t.Errorf("%s: what was refused was booked: %v", c.name, err)
			}
		})
	}
}

func TestDeadlineIsKnownAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newBuckets(t, Rule{Match: "*", Rate: PerSecond(1)})
		waits(t, l, "a", 1)
		ctx, cancel := context.WithTimeout(t.Context(), 900*time.Millisecond)
		defer cancel()
		start := time.Now()
		var late *WaitError
		if err := l.Wait(ctx, "a", 1); !errors.As(err, &late) || !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 0 {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		if err := (All{l}).Wait(ctx, "a", 1); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 0 {
			t.Errorf("All: %v after %v", err, time.Since(start))
		}
		if at := waits(t, l, "a", 1); at[0] != time.Second {
			t.Errorf("the next waited %v: something was booked", at[0])
		}
	})
}

func TestCancelledWaiterGivesBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newBuckets(t, Rule{Match: "*", Rate: PerSecond(1)})
		waits(t, l, "a", 1)
		reason := errors.New("enough")
		first, cancelFirst := context.WithCancelCause(t.Context())
		second, cancelSecond := context.WithCancelCause(t.Context())
		got := make(chan error, 2)
		go func() { got <- l.Wait(first, "a", 1) }()
		synctest.Wait()
		go func() { got <- l.Wait(second, "a", 1) }()
		synctest.Wait()
		cancelSecond(reason)
		if err := <-got; !errors.Is(err, reason) {
			t.Errorf("error %v", err)
		}
		r, _ := l.Reserve(t.Context(), "a", 1)
		if r.Delay() != 2*time.Second {
			t.Errorf("after the last was given back: %v", r.Delay())
		}
		cancelFirst(reason) // not the last: its place stays empty
		<-got
		after, _ := l.Reserve(t.Context(), "a", 1)
		if r.Delay() != 2*time.Second || after.Delay() != 3*time.Second {
			t.Errorf("delays %v and %v", r.Delay(), after.Delay())
		}
		after.Cancel(t.Context())
		after.Cancel(t.Context())
		r.Cancel(t.Context())
		if last, _ := l.Reserve(t.Context(), "a", 1); last.Delay() != 2*time.Second {
			t.Errorf("after both were cancelled: %v", last.Delay())
		}
	})
}
