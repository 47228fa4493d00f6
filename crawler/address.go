package crawler

import (
	"context"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/seine-go/seine/ratelimit"
)

// addresses keep the pace of network addresses, which hosts may share. It is the second gate of an engine: a frontier
// knows hosts by name.
type addresses struct {
	mu     sync.Mutex
	pace   HostPolicy
	byAddr map[netip.Addr]*address
	sweep  int // number of addresses at which those that are at rest are forgotten
}

// address is one that is being asked, or was a moment ago.
type address struct {
	inFlight int
	starting bool      // the one that has entered last has not begun yet
	next     time.Time // earliest start
	queue    []*turnAt
	took     time.Duration // that exchanges took of late
	later    time.Time     // when the next one that is sent away should come again
}

// turnAt is a place in the queue of an address.
type turnAt struct{ wake chan struct{} }

// sweepAddresses is how many addresses are kept before those at rest are looked for.
const sweepAddresses = 1024

func (t *addresses) set(p HostPolicy) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pace = t.pace.with(p)
	for _, a := range t.byAddr {
		a.call()
	}
}

// limited reports whether addresses have a pace at all.
func (t *addresses) limited() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.pace.Delay > 0 || t.pace.Spacing > 0 || t.pace.MaxInFlight > 0
}

// hasPlace reports whether one more exchange may be under way.
func (t *addresses) hasPlace(a *address) bool {
	switch {
	case t.pace.Delay > 0:
		return a.inFlight == 0
	case t.pace.MaxInFlight > 0:
		return a.inFlight < t.pace.MaxInFlight
	}
	return true
}

// call wakes the first in the queue.
func (a *address) call() {
	if len(a.queue) > 0 {
		select {
		case a.queue[0].wake <- struct{}{}:
		default:
		}
	}
}

// enter waits, no longer than most, for a place and a slot at an address; those who wait take turns. begun or giveUp has
// to follow. Where the wait would be or was too long it answers when to come again.
func (t *addresses) enter(ctx context.Context, addr netip.Addr, most time.Duration) (*address, time.Duration, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	a := t.of(addr)
	if now := time.Now(); !t.hasPlace(a) && time.Duration(len(a.queue))*t.each(a) > most {
		return nil, t.later(a, now), nil
	}
	turn, deadline := &turnAt{make(chan struct{}, 1)}, time.Now().Add(most)
	a.queue = append(a.queue, turn)
	for {
		now := time.Now()
		first, free := a.queue[0] == turn, t.hasPlace(a) && !a.starting
		wait := deadline.Sub(now)
		if first && free {
			if !a.next.After(now) {
				a.queue = a.queue[1:]
				a.inFlight++
				a.starting = true
				return a, 0, nil
			}
			if a.next.After(deadline) {
				wait = 0
			} else {
				wait = a.next.Sub(now)
			}
		}
		if wait <= 0 {
			t.quit(a, turn)
			return nil, t.later(a, now), nil
		}
		if err := t.wait(ctx, turn, wait); err != nil {
			t.quit(a, turn)
			return nil, 0, err
		}
	}
}

// wait sleeps until it is called, for d at most. t.mu is held, but not meanwhile.
func (t *addresses) wait(ctx context.Context, turn *turnAt, d time.Duration) error {
	t.mu.Unlock()
	defer t.mu.Lock()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-turn.wake:
	case <-timer.C:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

func (t *addresses) quit(a *address, turn *turnAt) {
	if i := slices.Index(a.queue, turn); i >= 0 {
		a.queue = slices.Delete(a.queue, i, i+1)
	}
	a.call()
}

// each is how long it takes, as far as is known, until one more has had its turn.
func (t *addresses) each(a *address) time.Duration {
	took := a.took
	if took == 0 { // the first is still under way
		took = patience / 10
	}
	return max((took+t.pace.Delay)/time.Duration(max(t.pace.MaxInFlight, 1)), t.pace.Spacing, time.Millisecond)
}

// later spreads those who are sent away over the slots to come, so that they do not all come again at once.
func (t *addresses) later(a *address, now time.Time) time.Duration {
	const farthest = 10 * time.Minute
	each := t.each(a)
	at := latest(latest(a.later, a.next), now.Add(each))
	if end := now.Add(farthest); at.After(end) {
		at = end
	}
	a.later = at.Add(each)
	return at.Sub(now)
}

// begun tells that the exchange of the one that has entered last begins now.
func (t *addresses) begun(a *address) {
	t.mu.Lock()
	defer t.mu.Unlock()
	a.starting = false
	if t.pace.Spacing > 0 {
		a.next = time.Now().Add(t.pace.Spacing)
	}
	a.call()
}

// giveUp tells that it does not begin.
func (t *addresses) giveUp(a *address) {
	t.mu.Lock()
	defer t.mu.Unlock()
	a.starting = false
	a.inFlight--
	a.call()
}

// leave tells that an exchange has ended.
func (t *addresses) leave(a *address, r ratelimit.Report) {
	t.mu.Lock()
	defer t.mu.Unlock()
	a.inFlight--
	a.took = (3*a.took + r.Elapsed) / 4
	now := time.Now()
	if t.pace.Delay > 0 {
		a.next = latest(a.next, now.Add(t.pace.Delay))
	}
	if t.pace.Spacing > 0 && r.Sent > 0 { // it may have been written long after it began
		a.next = latest(a.next, now.Add(t.pace.Spacing-r.Sent))
	}
	a.call()
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// of returns the account of an address.
func (t *addresses) of(addr netip.Addr) *address {
	a := t.byAddr[addr]
	if a != nil {
		return a
	}
	if len(t.byAddr) >= max(t.sweep, sweepAddresses) {
		now := time.Now()
		for addr, a := range t.byAddr {
			if a.inFlight == 0 && len(a.queue) == 0 && !a.next.After(now) {
				delete(t.byAddr, addr)
			}
		}
		t.sweep = 2 * len(t.byAddr)
	}
	if t.byAddr == nil {
		t.byAddr = map[netip.Addr]*address{}
	}
	a = new(address)
	t.byAddr[addr] = a
	return a
}
