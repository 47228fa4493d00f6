package fetch

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// slow answers after the time that the host's name says, or when the context ends.
func slow(ctx context.Context, req *Request) (*Response, error) {
	d, err := time.ParseDuration(strings.TrimSuffix(strings.TrimPrefix(req.URL, "http://"), "/"))
	if err != nil {
		d = 10 * time.Millisecond
	}
	select {
	case <-time.After(d):
		return &Response{Request: req, Status: 200}, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			policy TimeoutPolicy
			url    string
			ok     bool
			after  time.Duration
		}{
			{TimeoutPolicy{}, "http://119s/", true, 119 * time.Second},
			{TimeoutPolicy{}, "http://121s/", false, DefaultTimeout},
			{TimeoutPolicy{Limit: time.Second}, "http://2s/", false, time.Second},
			{TimeoutPolicy{Limit: -1}, "http://999h/", true, 999 * time.Hour},
		} {
			start := time.Now()
			_, err := Timeout(c.policy)(FetcherFunc(slow)).Fetch(t.Context(), &Request{URL: c.url})
			var late *TimeoutError
			if (err == nil) != c.ok || !c.ok && (!errors.Is(err, ErrTimeout) || !errors.As(err, &late) || late.After != c.after) || time.Since(start) != c.after {
				t.Errorf("%+v, %s: %v after %v", c.policy, c.url, err, time.Since(start))
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := Timeout(TimeoutPolicy{})(FetcherFunc(slow)).Fetch(ctx, &Request{URL: "http://5s/"})
		if !errors.Is(err, context.DeadlineExceeded) || errors.As(err, new(*TimeoutError)) {
			t.Errorf("the caller's deadline: %v", err)
		}
	})
}

func TestTimeoutGoesByTheHost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		took := 100 * time.Millisecond
		f := Timeout(TimeoutPolicy{Limit: time.Minute, Factor: 3, Least: 10 * time.Millisecond})(FetcherFunc(func(ctx context.Context, req *Request) (*Response, error) {
			return slow(ctx, &Request{URL: "http://" + took.String() + "/"})
		}))
		get := func() (time.Duration, error) {
			start := time.Now()
			_, err := f.Fetch(t.Context(), &Request{URL: "http://films.example/"})
			return time.Since(start), err
		}
		for range latencyLeast - 1 {
			get()
		}
		took = 10 * time.Second
		if d, err := get(); err != nil || d != took { // the twentieth: nothing is known yet
			t.Errorf("before there are enough: %v, %v", d, err)
		}
		took = 100 * time.Millisecond
		for range latencySamples {
			get()
		}
		took = 10 * time.Second
		d, err := get()
		var late *TimeoutError
		if !errors.As(err, &late) || !late.Factor || d != 300*time.Millisecond {
			t.Errorf("three times the 99th percentile: %v, %v", d, err)
		}
		for n := 0; err != nil; n++ { // a host that has become slower is given more, not refused for ever
			if d, err = get(); n > 50 {
				t.Fatalf("still %v, %v", d, err)
			}
		}
		if _, err := f.Fetch(t.Context(), &Request{URL: "http://"}); !errors.Is(err, ErrInvalid) {
			t.Errorf("%v", err)
		}
	})
}
