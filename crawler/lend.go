package crawler

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seine-go/seine/fetch"
	"github.com/seine-go/seine/ratelimit"
)

// A middleware may ask another host for something beside the page, such as a login. Where that host has no free place, a page that
// has one lends it for the length of an exchange, as soon as it has no exchange of its own under way: while it is handled, or waits for
// something itself. So the host never has more in flight than it may, and no two pages wait for each other's places: a place is lent
// while its page waits, and an exchange waits for nothing but time.

// berth is a place in flight as it is used by the page that has it, or lent to another.
type berth struct {
	mu   sync.Mutex
	used int           // exchanges of its page
	lent chan struct{} // closed when the exchange of another is over; nil while it is not lent
	over bool          // it is about to be given back
}

// enter begins an exchange of the page that has the place.
func (b *berth) enter(ctx context.Context) error {
	for {
		b.mu.Lock()
		lent := b.lent
		if lent == nil {
			b.used++
			b.mu.Unlock()
			return nil
		}
		b.mu.Unlock()
		select {
		case <-lent:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (b *berth) leave() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used--
}

// borrow takes the place if it is not used, and reports whether it was.
func (b *berth) borrow() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.used > 0 || b.lent != nil || b.over {
		return false
	}
	b.lent = make(chan struct{})
	return true
}

// back ends what borrow began.
func (b *berth) back() {
	b.mu.Lock()
	defer b.mu.Unlock()
	close(b.lent)
	b.lent = nil
}

// close waits for the exchange of another, and has the place lent no more.
func (b *berth) close(end <-chan struct{}) {
	b.mu.Lock()
	b.over = true
	lent := b.lent
	b.mu.Unlock()
	if lent == nil {
		return
	}
	select {
	case <-lent:
	case <-end:
	}
}

// access is the way of an exchange to a host: by a place of its own page, or by one that another lends.
type access struct {
	v    *visit // that has the place
	p    *place // nil: it is that of its lease
	b    *berth // of the place
	lent bool
}

// enter waits for a slot, and until the place is not lent.
func (a access) enter(ctx context.Context) error {
	if !a.lent {
		if err := a.b.enter(ctx); err != nil {
			return err
		}
	}
	err := error(nil)
	if a.p == nil {
		err = a.v.begin(ctx)
	} else {
		err = a.v.beginForeign(ctx, a.p)
	}
	if err != nil {
		a.quit()
	}
	return err
}

func (a access) leave(r ratelimit.Report) {
	if a.p == nil {
		a.v.ended(r)
	} else {
		a.v.endedForeign(a.p, r)
	}
	a.quit()
}

// quit gives back what enter took, and wakes those who wait for a place.
func (a access) quit() {
	if a.lent {
		a.b.back()
	} else {
		a.b.leave()
	}
	a.v.r.vacant.call()
}

// held is the reservation by which the place is had, if it is not that of the lease.
func (a access) held() HostReservation {
	if a.p == nil {
		return HostReservation{}
	}
	return a.p.res
}

// borrow returns a place at a host that another page of the run has and does not use. there says that one has a place at all.
func (r *run) borrow(v *visit, host string) (a access, there bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for other := range r.held {
		if other == v {
			continue
		}
		if other.host == host {
			if there = true; other.berth.borrow() {
				return access{v: other, b: &other.berth, lent: true}, true
			}
		}
		other.mu.Lock()
		p := other.places[host]
		other.mu.Unlock()
		if p != nil {
			if there = true; p.berth.borrow() {
				return access{v: other, p: p, b: &p.berth, lent: true}, true
			}
		}
	}
	return access{}, there
}

// find takes a place at another host, waiting for one that is free or lent.
func (v *visit) find(ctx context.Context, host string) (access, error) {
	deadline := time.Now().Add(maxGateWait)
	for {
		call := v.r.vacant.wait()
		p, err := v.reserve(ctx, host)
		switch {
		case err == nil:
			return access{v: v, p: p, b: &p.berth}, nil
		case !errors.Is(err, ErrBusy):
			return access{}, err
		}
		a, there := v.r.borrow(v, host)
		switch {
		case a.lent:
			v.mu.Lock()
			v.asked = true // its own host is not to blame for what limits another
			v.mu.Unlock()
			return a, nil
		case !there && v.e.reserver == nil:
			return access{}, err
		case !time.Now().Before(deadline):
			return access{}, &fetch.Error{Op: "gate", Kind: fetch.ErrTimeout, Err: err}
		}
		timer := time.NewTimer(pollInterval)
		select {
		case <-call:
		case <-timer.C: // a place may be that of another engine
		case <-ctx.Done():
		}
		if timer.Stop(); ctx.Err() != nil {
			return access{}, context.Cause(ctx)
		}
	}
}

// bell wakes all who wait for it.
type bell struct{ rung atomic.Pointer[chan struct{}] } // nil: nobody waits

func (b *bell) wait() <-chan struct{} {
	for {
		if c := b.rung.Load(); c != nil {
			return *c
		}
		c := make(chan struct{})
		b.rung.CompareAndSwap(nil, &c)
	}
}

func (b *bell) call() {
	if b.rung.Load() == nil {
		return
	}
	if c := b.rung.Swap(nil); c != nil {
		close(*c)
	}
}
