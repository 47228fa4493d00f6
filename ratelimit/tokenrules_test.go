package ratelimit

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestRulesAreReplacedUnderWaiters(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		rule []Rule
		want time.Duration // of the second waiter, after the change; negative: refused
	}{
		{"faster", []Rule{{Match: "*", Rate: PerSecond(4)}}, 500 * time.Millisecond},
		{"slower", []Rule{{Match: "*", Rate: Every(20 * time.Second)}}, 40 * time.Second},
		{"too slow", []Rule{{Match: "*", Rate: Every(40 * time.Second)}}, -1},
		{"none", nil, 0},
		{"no limit", []Rule{{Match: "*", Rate: Unlimited}}, 0},
		{"shared", []Rule{{Match: "*", Rate: PerSecond(2), Shared: true}}, 500 * time.Millisecond},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := newBuckets(t, Rule{Match: "*", Rate: Every(10 * time.Second)})
			waits(t, l, "a", 1)
			type end struct {
				err error
				at  time.Duration
			}
			start := time.Now()
			ends := make(chan end, 2)
			for range 2 {
				go func() {
					err := l.Wait(t.Context(), "a", 1)
					ends <- end{err, time.Since(start)}
				}()
				synctest.Wait()
			}
			r, err := l.Reserve(t.Context(), "a", 1)
			if err != nil || r.Delay() != 30*time.Second {
				t.Fatalf("%s: reserved in %v, %v", c.name, r.Delay(), err)
			}
			if err := l.SetRules(c.rule...); err != nil {
				t.Fatal(err)
			}
			first, second := <-ends, <-ends
			if first.err != nil {
				first, second = second, first
			}
			var late *WaitError
			switch {
			case c.want < 0:
				if first.err != nil || first.at != 40*time.Second || !errors.As(second.err, &late) || second.at != 0 {
					t.Errorf("%s: %v %v", c.name, first, second)
				}
			case first.err != nil || second.err != nil || second.at != c.want:
				t.Errorf("%s: %v %v, want %v", c.name, first, second, c.want)
			}
			if d := r.Delay(); c.want == 0 && d != 0 {
				t.Errorf("%s: the reservation is due in %v", c.name, d)
			}
		})
	}
}

// What a key owes outlives a change of rules that it did not wait through.
func TestDebtSurvivesNewRules(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newBuckets(t, Rule{Match: "*", Rate: PerSecond(10)})
		if err := l.Book(t.Context(), "a", 101); err != nil { // the first was there: 100 are owed
			t.Fatal(err)
		}
		time.Sleep(4 * time.Second) // 60 left
		if err := l.SetRules(Rule{Match: "*", Rate: PerSecond(20), Peak: PerSecond(30)}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second) // 40 left
		if r, err := l.Reserve(t.Context(), "a", 0); err != nil || r.Delay() != 2*time.Second {
			t.Errorf("%v, %v", r.Delay(), err)
		}
	})
}

func TestBadRulesLeaveTheOldOnes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newBuckets(t, Rule{Match: "*", Rate: PerSecond(1)})
		if err := l.SetRules(Rule{Match: "*", Rate: PerSecond(9)}, Rule{Match: "http://a", Rate: PerSecond(1)}); err == nil {
			t.Fatal("no error")
		}
		if at := waits(t, l, "a", 3); at[2] != 2*time.Second {
			t.Errorf("permits at %v", at)
		}
	})
}

func TestNewRulesAreTold(t *testing.T) {
	t.Parallel()
	var told [][]Rule
	b, err := NewTokenBucket(BucketConfig{Rules: []Rule{{Match: "*", Rate: PerSecond(1)}}, Changed: func(r []Rule) { told = append(told, r) }})
	if err != nil || len(told) != 0 {
		t.Fatal(err, told)
	}
	if err := b.SetRules(Rule{Match: "a.example", Rate: PerSecond(2)}); err != nil {
		t.Fatal(err)
	}
	if err := b.SetRules(Rule{Match: "a.example"}); err == nil {
		t.Error("a rule without a rate was taken")
	}
	if len(told) != 1 || len(told[0]) != 1 || told[0][0].Match != "a.example" {
		t.Errorf("told %v", told)
	}
}
