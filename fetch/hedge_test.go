package fetch

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestHedge(t *testing.T) {
	t.Parallel()
	own := errors.New("refused")
	type try struct {
		took time.Duration
		err  error
	}
	for _, c := range []struct {
		name   string
		policy HedgePolicy
		req    Request
		tries  []try
		asked  int
		after  time.Duration
		err    error
	}{
		{"in time", HedgePolicy{After: time.Second}, Request{}, []try{{900 * time.Millisecond, nil}}, 1, 900 * time.Millisecond, nil},
		{"late", HedgePolicy{After: time.Second}, Request{}, []try{{time.Minute, nil}, {time.Second, nil}}, 2, 2 * time.Second, nil},
		{"the first wins all the same", HedgePolicy{After: time.Second}, Request{}, []try{{2 * time.Second, nil}, {time.Minute, nil}}, 2, 2 * time.Second, nil},
		{"fails at once", HedgePolicy{After: time.Second}, Request{}, []try{{0, own}}, 1, 0, own},
		{"the second fails", HedgePolicy{After: time.Second}, Request{}, []try{{5 * time.Second, nil}, {time.Second, own}}, 2, 5 * time.Second, nil},
		{"both fail", HedgePolicy{After: time.Second}, Request{}, []try{{5 * time.Second, own}, {time.Second, errors.New("other")}}, 2, 5 * time.Second, own},
		{"a POST", HedgePolicy{After: time.Second}, Request{Method: "POST"}, []try{{5 * time.Second, nil}}, 1, 5 * time.Second, nil},
		{"nothing known", HedgePolicy{}, Request{}, []try{{5 * time.Second, nil}}, 1, 5 * time.Second, nil},
	} {
		synctest.Test(t, func(t *testing.T) {
			var asked atomic.Int32
			f := Hedge(c.policy)(FetcherFunc(func(ctx context.Context, req *Request) (*Response, error) {
				mine := c.tries[asked.Add(1)-1]
				select {
				case <-time.After(mine.took):
					if mine.err != nil {
						return nil, mine.err
					}
					return &Response{Request: req}, nil
				case <-ctx.Done():
					return nil, context.Cause(ctx)
				}
			}))
			c.req.URL = "http://films.example/"
			start := time.Now()
			resp, err := f.Fetch(t.Context(), &c.req)
			if !errors.Is(err, c.err) || (resp == nil) == (err == nil) || int(asked.Load()) != c.asked || time.Since(start) != c.after {
				t.Errorf("%s: %v %v, asked %d times, after %v", c.name, resp, err, asked.Load(), time.Since(start))
			}
		})
	}
}

func TestHedgeKeepsItsShare(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		took := 10 * time.Millisecond
		h := &hedger{policy: HedgePolicy{Share: DefaultHedgeShare}}
		host := FetcherFunc(func(ctx context.Context, req *Request) (*Response, error) {
			asked.Add(1)
			return slow(ctx, &Request{URL: "http://" + took.String() + "/"})
		})
		get := func(n int) int {
			asked.Store(0)
			for range n {
				if _, err := h.fetch(t.Context(), host, &Request{URL: "http://films.example/"}); err != nil {
					t.Fatal(err)
				}
			}
			return int(asked.Load()) - n
		}
		get(100)
		h.tokens, took = hedgeBurst, time.Second
		if n := get(5); n != 5 { // late by the measure of what came before
			t.Errorf("%d second requests of 5 late ones", n)
		}
		h.tokens = hedgeBurst
		sent := 0
		for range 1000 {
			h.earn()
			if h.spend() {
				sent++
			}
		}
		if sent < 50 || sent > 50+hedgeBurst {
			t.Errorf("%d second requests of 1000", sent)
		}
	})
}

func TestHedgeHandsPanicsOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		defer func() {
			if r := recover(); r != "own" {
				t.Errorf("recovered %v", r)
			}
		}()
		Hedge(HedgePolicy{After: time.Second})(FetcherFunc(func(context.Context, *Request) (*Response, error) { panic("own") })).
			Fetch(t.Context(), &Request{URL: "http://films.example/"})
	})
}

// TestHedgePrefersWhatIsGood: an answer that is cut, or that is the host's failure, does not beat a good one that is under way.
func TestHedgePrefersWhatIsGood(t *testing.T) {
	t.Parallel()
	good, busy, down := &Response{Status: 200}, &Response{Status: 429}, &Response{Status: 503}
	cut := &Response{Status: 200, Truncated: true}
	type try struct {
		took time.Duration
		resp *Response // nil: an error
	}
	for i, c := range []struct {
		tries [2]try
		want  *Response
		after time.Duration
	}{
		{[2]try{{3 * time.Second, good}, {time.Second, down}}, good, 3 * time.Second},
		{[2]try{{3 * time.Second, good}, {time.Second, cut}}, good, 3 * time.Second},
		{[2]try{{3 * time.Second, good}, {time.Second, busy}}, good, 3 * time.Second},
		{[2]try{{2 * time.Second, down}, {3 * time.Second, good}}, good, 4 * time.Second},
		{[2]try{{3 * time.Second, down}, {time.Second, cut}}, down, 3 * time.Second},
		{[2]try{{3 * time.Second, nil}, {time.Second, cut}}, cut, 3 * time.Second},
		{[2]try{{3 * time.Second, down}, {time.Second, busy}}, down, 3 * time.Second},
		{[2]try{{3 * time.Second, down}, {time.Second, good}}, good, 2 * time.Second},
		{[2]try{{time.Second / 2, down}, {}}, down, time.Second / 2},
	} {
		synctest.Test(t, func(t *testing.T) {
			var asked atomic.Int32
			f := Hedge(HedgePolicy{After: time.Second})(FetcherFunc(func(ctx context.Context, req *Request) (*Response, error) {
				mine := c.tries[asked.Add(1)-1]
				select {
				case <-time.After(mine.took):
					if mine.resp == nil {
						return nil, errors.New("no answer")
					}
					return mine.resp, nil
				case <-ctx.Done():
					return nil, context.Cause(ctx)
				}
			}))
			start := time.Now()
			resp, err := f.Fetch(t.Context(), &Request{URL: "http://films.example/"})
			if resp != c.want || time.Since(start) != c.after {
				t.Errorf("%d: %v %v after %v", i, resp, err, time.Since(start))
			}
		})
	}
}
