package crawler

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"
)

// keepDelay has the host's crawl-delay kept: by the frontier, or, where that keeps no pace of hosts or has no room for one
// more, by leaving the host alone for so long after each page.
func (v *visit) keepDelay(ctx context.Context, host string, d time.Duration) error {
	if host == v.host && !v.first() {
		return &heldError{host, d}
	}
	err := v.e.setCrawlDelay(ctx, host, d)
	if _, keeps := v.e.cfg.Frontier.(HostSetter); keeps && !errors.Is(err, ErrFull) {
		return err
	}
	if !v.r.claimRest(v, host, d) {
		return &heldError{host, d}
	}
	if host == v.host && !v.hasBegun() {
		return nil // the visit before has seen to it
	}
	return v.block(ctx, host, d) // for the page, which follows robots.txt
}

// first reports whether the visit is the one of its host that goes on, of several that were leased before the host was
// known to want a delay: the one that has asked it for something, else the first.
func (v *visit) first() bool {
	if !v.e.several.Load() {
		return true
	}
	v.r.mu.Lock()
	defer v.r.mu.Unlock()
	begun := v.hasBegun()
	for other := range v.r.held {
		if other == v || other.host != v.host {
			continue
		}
		if theirs := other.hasBegun(); theirs && !begun || theirs == begun && other.lease.Epoch < v.lease.Epoch {
			return false
		}
	}
	return true
}

// hasBegun reports whether the visit has had an exchange with its host, or has one.
func (v *visit) hasBegun() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.begun > 0
}

// heldError says that a page waits until another one of its host is done.
type heldError struct {
	host string
	in   time.Duration
}

// Error names the host.
func (e *heldError) Error() string {
	return "seine: " + e.host + " wants a delay, and another visit keeps it"
}

// claimRest notes that a visit keeps the delay of a host by itself, unless another one of the host does.
func (r *run) claimRest(v *visit, host string, d time.Duration) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for other := range r.held {
		if other != v && other.rests[host] > 0 {
			return false
		}
	}
	if v.rests == nil {
		v.rests = map[string]time.Duration{}
	}
	v.rests[host] = d
	return true
}

// rest leaves hosts alone whose pace the frontier does not keep.
func (v *visit) rest() {
	v.r.mu.Lock()
	rests := maps.Clone(v.rests)
	v.r.mu.Unlock()
	for host, d := range rests {
		if err := v.block(v.lasting(v.ctx), host, d); err != nil {
			v.e.log.Warn("block", "host", host, "err", err)
		}
	}
}

// block has nobody visit a host for so long.
func (v *visit) block(ctx context.Context, host string, d time.Duration) error {
	if setter, ok := v.e.cfg.Frontier.(HostSetter); ok {
		return setter.SetHost(ctx, host, HostPolicy{Block: d})
	}
	v.e.resting.set(host, d)
	return nil
}

// rests are hosts that are left alone for a while. There are never many more than were visited within the longest delay.
type rests struct {
	mu    sync.Mutex
	until map[string]time.Time
	tidy  int // how many there may be before those whose time is over are dropped
}

func (r *rests) set(host string, d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	const few = 1024
	if len(r.until) >= max(r.tidy, few) {
		now := time.Now()
		maps.DeleteFunc(r.until, func(_ string, until time.Time) bool { return until.Before(now) })
		r.tidy = 2 * len(r.until)
	}
	if r.until == nil {
		r.until = map[string]time.Time{}
	}
	r.until[host] = time.Now().Add(d)
}

// wait is how long a host is still to be left alone.
func (r *rests) wait(host string) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	until, there := r.until[host]
	if !there {
		return 0
	}
	return max(time.Until(until), 0)
}

// setCrawlDelay tells the frontier of a crawl-delay, once.
func (e *Engine) setCrawlDelay(ctx context.Context, host string, d time.Duration) error {
	e.mu.Lock()
	known := e.delays[host] == d
	e.mu.Unlock()
	if known {
		return nil
	}
	if setter, ok := e.cfg.Frontier.(HostSetter); ok {
		if err := setter.SetHost(ctx, host, HostPolicy{Delay: d}); err != nil {
			return err
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.delays) >= maxDelays {
		clear(e.delays)
	}
	e.delays[host] = d
	return nil
}
