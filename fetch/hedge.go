package fetch

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/seine-go/seine/internal/weburl"
)

// Defaults of HedgePolicy.
const (
	DefaultHedgeShare = 0.05
	hedgeBurst        = 10 // second requests that may come at once
)

// HedgePolicy says when a request is sent a second time because its answer is late.
type HedgePolicy struct {
	// After is how long the first answer is waited for. Zero means the 95th percentile of the latest 128 answers of the host,
	// and no second request before 20 have come.
	After time.Duration
	// Share bounds the second requests to a share of all. Zero means 0.05, negative no bound.
	Share float64
}

// Hedge asks a second time when an answer is late, and takes the answer that comes first; the other request is cancelled,
// and has ended before the answer is returned. Only requests that may be repeated (GET, HEAD, OPTIONS) and that have no Sink
// are. An error, a 429, a 5xx or a body that was cut counts only when the other has brought nothing better, or the first before
// there was a second.
//
// It belongs inside of what tries again, and outside of Limit, so that second requests are paid for. In an engine each of
// them passes the Gate, which has it wait for its host: with one request in flight per host it does nothing.
func Hedge(p HedgePolicy) Middleware {
	h := &hedger{policy: p, tokens: hedgeBurst}
	if h.policy.Share == 0 {
		h.policy.Share = DefaultHedgeShare
	}
	return middleware("hedge", h.fetch)
}

// hedger is what the requests of a Hedge share.
type hedger struct {
	policy HedgePolicy
	seen   latencies

	mu     sync.Mutex
	tokens float64 // second requests that may be sent now
}

// hedged is what one of the requests came to.
type hedged struct {
	resp   *Response
	err    error
	second bool
	panics any // what the chain panicked with
}

func (h *hedger) fetch(ctx context.Context, next Fetcher, req *Request) (*Response, error) {
	u, err := weburl.Parse(req.URL)
	if err != nil {
		return nil, &Error{Op: "parse", URL: req.URL, Kind: ErrInvalid, Err: err}
	}
	h.earn()
	wait, ok := h.policy.After, true
	if wait == 0 {
		wait, ok = h.seen.quantile(u.Host(), 0.95)
	}
	start := time.Now()
	if !ok || req.Sink != nil || req.Method != "" && req.Method != "GET" && req.Method != "HEAD" && req.Method != "OPTIONS" {
		resp, err := next.Fetch(ctx, req)
		if err == nil {
			h.seen.add(u.Host(), time.Since(start))
		}
		return resp, err
	}
	won := h.race(ctx, next, req, wait)
	if won.err == nil {
		h.seen.add(u.Host(), time.Since(start))
	}
	return won.resp, won.err
}

// race returns the first good answer of one or two requests, or else the better of what they came to.
func (h *hedger) race(ctx context.Context, next Fetcher, req *Request, wait time.Duration) hedged {
	ctx, cancel := context.WithCancel(ctx)
	results := make(chan hedged, 2)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	send := func(second bool) {
		running.Go(func() {
			r := hedged{second: second}
			defer func() {
				r.panics = recover() // it is the caller's to deal with, in the caller's goroutine
				results <- r
			}()
			r.resp, r.err = next.Fetch(ctx, req)
		})
	}
	send(false)
	late := time.NewTimer(wait)
	defer late.Stop()
	under := 1
	var best *hedged
	for {
		select {
		case r := <-results:
			if r.panics != nil {
				panic(r.panics)
			}
			if best == nil || r.betterThan(best) {
				best = &r
			}
			if under--; under == 0 || r.rank() == 0 {
				return *best
			}
		case <-late.C:
			if h.spend() {
				under++
				send(true)
			}
		}
	}
}

// rank orders outcomes, the best first.
func (r hedged) rank() int {
	switch {
	case r.err != nil || r.resp == nil:
		return 3
	case r.resp.Truncated:
		return 2
	case r.resp.Status == http.StatusTooManyRequests || r.resp.Status >= 500:
		return 1
	}
	return 0
}

// betterThan prefers the first request where both came to the same.
func (r hedged) betterThan(other *hedged) bool {
	return r.rank() < other.rank() || r.rank() == other.rank() && !r.second
}

// earn books the share of a request.
func (h *hedger) earn() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tokens = min(h.tokens+h.policy.Share, hedgeBurst)
}

// spend reports whether a second request may be sent.
func (h *hedger) spend() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.policy.Share < 0:
		return true
	case h.tokens < 1:
		return false
	}
	h.tokens--
	return true
}
