package ratelimit

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestAllLimitsHold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		host := newBuckets(t, Rule{Match: "*", Rate: PerSecond(1)})
		whole := newBuckets(t, Rule{Match: "*", Rate: PerSecond(2), Shared: true})
		l := All{nil, host, whole}
		start := time.Now()
		for range 3 {
			for _, key := range []string{"a", "b", "c"} {
				if err := l.Wait(t.Context(), key, 1); err != nil {
					t.Fatal(err)
				}
			}
		}
		if d := time.Since(start); d != 4*time.Second {
			t.Errorf("nine permits of 2/s took %v, want 4 s", d)
		}
		for range 3 {
			if err := l.Wait(t.Context(), "a", 1); err != nil {
				t.Fatal(err)
			}
		}
		if d := time.Since(start); d != 6*time.Second {
			t.Errorf("three more of 1/s ended at %v, want 6 s", d)
		}
	})
}

func TestAllGivesBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		wide := newBuckets(t, Rule{Match: "*", Rate: PerSecond(1)})
		narrow := newBuckets(t, Rule{Match: "*", Rate: PerSecond(1), MaxWait: time.Second})
		l := All{wide, narrow}
		for i := range 3 {
			_, err := l.Reserve(t.Context(), "a", 1)
			if late := new(WaitError); (i == 2) != errors.As(err, &late) {
				t.Fatalf("reservation %d: %v", i, err)
			}
		}
		if r, _ := wide.Reserve(t.Context(), "a", 1); r.Delay() != 2*time.Second {
			t.Errorf("what the second refused was not given back by the first: %v", r.Delay())
		} else {
			r.Cancel(t.Context())
		}
		time.Sleep(time.Second)
		ctx, cancel := context.WithCancelCause(t.Context())
		reason := errors.New("enough")
		time.AfterFunc(time.Millisecond, func() { cancel(reason) })
		if err := l.Wait(ctx, "a", 1); !errors.Is(err, reason) {
			t.Errorf("error %v", err)
		}
		for _, one := range []Limiter{wide, narrow} {
			if r, err := one.Reserve(t.Context(), "a", 1); err != nil || r.Delay() != 999*time.Millisecond {
				t.Errorf("after a cancelled wait: %v, %v", r.Delay(), err)
			}
		}
	})
}

func TestEndedContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	l := newBuckets(t, Rule{Match: "*", Rate: PerSecond(1)})
	if err := l.Wait(ctx, "a", 1); !errors.Is(err, context.Canceled) {
		t.Errorf("Wait: %v", err)
	}
	if _, err := l.Reserve(ctx, "a", 1); !errors.Is(err, context.Canceled) {
		t.Errorf("Reserve: %v", err)
	}
	if r, err := l.Reserve(t.Context(), "a", 1); err != nil || r.Delay() != 0 {
		t.Errorf("something was booked: %v, %v", r.Delay(), err)
	}
}

// A request waits until the bytes of the one before are paid for.
func TestTraffic(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := Traffic{
			Requests: newBuckets(t, Rule{Match: "*", Rate: PerSecond(10)}),
			Bytes:    newBuckets(t, Rule{Match: "*", Rate: PerSecond(1000), Burst: 1000}),
		}
		start := time.Now()
		for _, step := range []struct {
			bytes int
			at    time.Duration // of the request
		}{{1000, 0}, {500, 100 * time.Millisecond}, {4000, 500 * time.Millisecond}, {0, 4500 * time.Millisecond}, {0, 4600 * time.Millisecond}} {
			if err := l.Wait(t.Context(), "a", 1); err != nil || time.Since(start) != step.at {
				t.Errorf("request at %v, want %v; %v", time.Since(start), step.at, err)
			}
			if err := l.BookBytes(t.Context(), "a", step.bytes); err != nil {
				t.Error(err)
			}
		}
		if err := l.BookBytes(t.Context(), "b", 2000); err != nil {
			t.Error(err)
		}
		if r, err := l.Reserve(t.Context(), "b", 1); err != nil || r.Delay() != time.Second {
			t.Errorf("reserved in %v, %v", r.Delay(), err)
		}
		if err := l.BookBytes(t.Context(), "b", 200_000); err != nil {
			t.Error(err)
		}
		var late *WaitError
		if err := l.Wait(t.Context(), "b", 1); !errors.As(err, &late) {
			t.Errorf("a debt of 200 s: %v", err)
		}
		if _, err := l.Reserve(t.Context(), "b", 1); !errors.As(err, &late) {
			t.Errorf("a debt of 200 s: %v", err)
		}
	})
	for _, l := range []Traffic{{}, {Requests: newBuckets(t)}, {Bytes: newBuckets(t)}} {
		if err := l.Wait(t.Context(), "a", 1); err != nil {
			t.Error(err)
		}
		if err := l.BookBytes(t.Context(), "a", 1); err != nil {
			t.Error(err)
		}
		if r, err := l.Reserve(t.Context(), "a", 1); err != nil || r.Delay() != 0 {
			t.Error(err)
		}
	}
}

// countingReader counts what was read from it.
type countingReader struct {
	io.Reader
	n int
}

func (r *countingReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.n += n
	return n, err
}

func TestReaderKeepsTheRate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const rate = 100_000
		l := newBuckets(t, Rule{Match: "*", Rate: PerSecond(rate)})
		data := bytes.Repeat([]byte("0123456789"), 100_000)
		under := &countingReader{Reader: bytes.NewReader(data)}
		r := NewReader(t.Context(), under, l, "a")
		start := time.Now()
		var got []byte
		buf := make([]byte, 256<<10)
		for {
			n, err := r.Read(buf)
			got = append(got, buf[:n]...)
			if debt := int64(under.n) - floor(PerSecond(rate), time.Since(start)) - 1; debt > 0 {
				t.Fatalf("%d bytes ahead after a read", debt)
			}
			if n > ReadBuffer {
				t.Fatalf("%d bytes were read at once", n)
			}
			if err != nil {
				if err != io.EOF {
					t.Fatal(err)
				}
				break
			}
		}
		if !bytes.Equal(got, data) {
			t.Errorf("%d bytes of %d came", len(got), len(data))
		}
		if d := time.Since(start); d < 9999*time.Millisecond || d > 10*time.Second {
			t.Errorf("a megabyte at 100 kB/s took %v", d)
		}
	})
}

func TestReaderEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newBuckets(t, Rule{Match: "*", Rate: PerSecond(10)})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		r := NewReader(ctx, strings.NewReader("a long body, longer than can come"), l, "a")
		buf := make([]byte, 64)
		n, err := r.Read(buf)
		if n == 0 || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%d bytes, %v", n, err)
		}
		end := errors.New("broken")
		r = NewReader(t.Context(), io.MultiReader(iotest{end}), newBuckets(t), "a")
		if _, err := r.Read(buf); err != end {
			t.Errorf("error %v", err)
		}
	})
}

type iotest struct{ err error }

func (r iotest) Read([]byte) (int, error) { return 0, r.err }
