package ratelimit

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestKeysAreBoundedAndForgotten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, err := NewTokenBucket(BucketConfig{MaxKeys: 100, Rules: []Rule{{Match: "*", Rate: PerSecond(1), Burst: 5}}})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 100 {
			waits(t, l, strconv.Itoa(i), 1)
		}
		if err := l.Wait(t.Context(), "one more", 1); !errors.Is(err, ErrTooManyKeys) {
			t.Errorf("one past the bound: %v", err)
		}
		if err := l.Book(t.Context(), "one more", 1); !errors.Is(err, ErrTooManyKeys) {
			t.Errorf("Book, one past the bound: %v", err)
		}
		waits(t, l, "7", 5) // it is known, and must not be forgotten early
		time.Sleep(time.Second)
		waits(t, l, "one more", 1)
		if n := l.Len(); n > 100 {
			t.Errorf("%d keys", n)
		}
		if at := waits(t, l, "7", 5); at[4] != 4*time.Second {
			t.Errorf("a key in use was forgotten: %v", at)
		}
	})
}

func TestIdleKeysAreForgotten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newBuckets(t, Rule{Match: "*", Rate: PerSecond(1), Burst: 5})
		for i := range 1000 {
			waits(t, l, "n"+strconv.Itoa(i), 1)
			time.Sleep(time.Second)
		}
		if n := l.Len(); n > 130 { // judged after a minute, dropped after another
			t.Errorf("%d keys are kept", n)
		}
	})
}

func TestColdKeysAreForgotten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newBuckets(t, Rule{Match: "*", Rate: PerSecond(5), Burst: 9, WarmUp: 10 * time.Second})
		for i := range 50 {
			waits(t, l, strconv.Itoa(i), 1)
		}
		for i := range 100 {
			time.Sleep(20 * time.Second)
			waits(t, l, "n"+strconv.Itoa(i), 1)
		}
		if n := l.Len(); n > 10 {
			t.Errorf("%d keys are kept", n)
		}
	})
}

func TestLongKeys(t *testing.T) {
	t.Parallel()
	l := newBuckets(t, Rule{Match: "*.a", Rate: PerSecond(1)})
	if err := l.Wait(t.Context(), strings.Repeat(".", MaxKey-2)+".a", 1); err != nil {
		t.Error(err)
	}
	if err := l.Wait(t.Context(), strings.Repeat(".", MaxKey-1)+".a", 1); err == nil {
		t.Error("no error past the bound")
	}
}
