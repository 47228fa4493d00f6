package crawler

import (
	"errors"
	"fmt"
	"time"
)

// DefaultHandlerTimeout is that of a Config which says nothing.
const DefaultHandlerTimeout = time.Hour

// ErrHandlerTimeout is what becomes of a page whose handler did not end within Config.HandlerTimeout.
var ErrHandlerTimeout = errors.New("seine: the handler did not end in time")

// How often handlers are looked at: about ten times within their time.
const (
	shortestGuard = 10 * time.Millisecond
	longestGuard  = 10 * time.Second
)

// guard ends the contexts of handlers whose time is over, and leaves those behind that go on. A lease is renewed as long
// as its handler runs: without a bound one that hangs would hold its page for ever.
func (r *run) guard(stop <-chan struct{}) {
	limit := r.e.cfg.HandlerTimeout
	tick := time.NewTicker(min(max(limit/10, shortestGuard), longestGuard))
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
		}
		for _, v := range r.visits() {
			if v.late(limit, r.e.cfg.Grace) {
				r.abandon(v)
			}
		}
	}
}

// visits lists those that go on.
func (r *run) visits() []*visit {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]*visit, 0, len(r.held))
	for v := range r.held {
		all = append(all, v)
	}
	return all
}

// late ends the context of a handler that has run for longer than the limit, and reports whether that was longer ago than
// grace.
func (v *visit) late(limit, grace time.Duration) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case v.handling.IsZero() || time.Since(v.handling) <= limit:
	case v.overdue.IsZero():
		v.overdue = time.Now()
		v.cancel(ErrHandlerTimeout)
	default:
		return time.Since(v.overdue) > grace
	}
	return false
}

// abandon settles the page of a handler that does not end, and has another worker take the place of its own.
func (r *run) abandon(v *visit) {
	r.mu.Lock()
	if _, there := r.held[v]; !there || v.settling {
		r.mu.Unlock()
		return
	}
	v.abandoned = true
	delete(r.held, v)
	r.busy--
	r.workers--
	r.spawn(1)
	r.mu.Unlock()
	v.leaveForGood()
	r.e.count.abandoned.Add(1)
	p := &Page{URL: v.req.URL, Request: v.req, Depth: v.req.Depth, Attempt: v.lease.Attempt, s: new(scratch)}
	go func() { // in the place of the worker
		defer r.group.Done()
		defer r.poke()
		r.calling("the settlement of a page", 1)
		defer r.calling("the settlement of a page", -1)
		v.conclude(p, &handlerError{err: fmt.Errorf("%w: after %v it was left behind", ErrHandlerTimeout, r.e.cfg.HandlerTimeout+r.e.cfg.Grace)})
	}()
}

// settles claims the settlement of a visit for its worker, unless it was abandoned.
func (r *run) settles(v *visit) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	v.settling = true
	return !v.abandoned
}
