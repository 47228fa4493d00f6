package crawler

import (
	"context"
	"errors"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// How a run deals with its leases.
const (
	leaseTTL     = time.Minute // of a lease; renewed at a third of it while the page is worked on
	pollInterval = time.Second // between looks at a frontier that said nothing of when to come back
)

// run is one call of Run: the leases that are ready to be worked on, and the workers.
type run struct {
	e       *Engine
	handler Handler
	failed  func(*PageError)
	ctx     context.Context
	cancel  context.CancelCauseFunc
	boot    uint64
	cpu     chan struct{} // places of handlers

	mu                   sync.Mutex
	cond                 sync.Cond
	ready                []Lease
	leased               time.Time           // when they were had
	held                 map[*visit]struct{} // leases being worked on, for the heartbeat
	workers              int                 // that have been started
	busy                 int                 // that have a lease
	idle                 int                 // that wait for a lease
	limit                int                 // of leases being worked on
	hungry               bool                // the frontier had as many as fitted
	answered, unanswered int                 // exchanges since the last look at the load
	leasing              bool                // one of them asks the frontier
	again                bool                // another one came meanwhile: the answer may be older than what it settled
	scope                liveScope
	ended                bool
	finished             bool
	ranOut               string // the budget that ended it
	leftSeeds            bool   // when it ended, seeds had no room yet
	err                  error
	open                 int // own producers, where the frontier does not count them
	wake                 *time.Timer
	group                sync.WaitGroup
	resumed              bool        // the crawl was finished when the run began
	fresh                atomic.Bool // something was added that the frontier had not seen
	spent                *spending
	retries              retries
}

func newRun(ctx context.Context, e *Engine, h Handler, failed func(*PageError)) *run {
	r := &run{e: e, handler: h, failed: failed, boot: newBoot(), held: map[*visit]struct{}{}, cpu: make(chan struct{}, runtime.GOMAXPROCS(0)), spent: newSpending()}
	r.cond.L = &r.mu
	r.limit = e.cfg.Concurrency
	if r.limit == 0 {
		r.limit = startInFlight
	}
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	return r
}

// loop works until the end, and joins the workers.
func (r *run) loop() error {
	stopWake := context.AfterFunc(r.ctx, func() { r.end(context.Cause(r.ctx), false) })
	defer stopWake()
	if d := r.e.cfg.MaxTime; d < math.MaxInt64 {
		defer time.AfterFunc(d, func() { r.endSpent("MaxTime") }).Stop()
	}
	r.mu.Lock()
	r.spawn(1)
	r.mu.Unlock()
	beats := make(chan struct{})
	go r.heartbeat(beats)
	if r.e.cfg.Concurrency == 0 {
		go r.watch(beats)
	}
	if _, loop := r.handler.(*handOut); !loop && r.e.cfg.HandlerTimeout < math.MaxInt64 { // whose pages wait for their turn
		go r.guard(beats)
	}
	defer close(beats)
	left := r.join()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.wake != nil {
		r.wake.Stop()
	}
	if left != nil {
		return errors.Join(r.err, left)
	}
	return r.err
}

// join waits for the workers, after the end no longer than Grace, and tells of those that are left.
func (r *run) join() error {
	all := make(chan struct{})
	go func() {
		r.group.Wait()
		close(all)
	}()
	select {
	case <-all:
		return nil
	case <-r.ctx.Done():
	}
	grace := time.NewTimer(r.e.cfg.Grace)
	defer grace.Stop()
	select {
	case <-all:
		return nil
	case <-grace.C:
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.leftBehind()
	}
}

// spawn starts workers. r.mu is held.
func (r *run) spawn(n int) {
	for range min(n, r.limit-r.workers) {
		r.workers++
		r.group.Add(1)
		go r.work()
	}
}

// end makes the workers stop: those in the middle of a page at once if there is an error, else when it is settled.
func (r *run) end(err error, finished bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.ended {
		r.ended, r.err, r.finished = true, err, finished
		if err != nil {
			r.cancel(err)
		}
	}
	r.cond.Broadcast()
}

// endSpent ends the run because a budget is spent.
func (r *run) endSpent(field string) {
	r.mu.Lock()
	if !r.ended {
		r.ranOut = field
	}
	r.mu.Unlock()
	r.end(nil, false)
}

// over reports whether the run has ended, by its budget for one.
func (r *run) over() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ended
}

// poke has a worker ask the frontier again; a new one if all are at work.
func (r *run) poke() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.idle == 0 && !r.ended {
		r.spawn(1)
	}
	r.cond.Signal()
}

// work is a worker: it takes leases until the end.
func (r *run) work() {
	ended := false
	s := new(scratch)
	defer func() {
		if s.abandoned {
			return // who did it has seen to the rest
		}
		if !ended { // a handler ended this goroutine: another takes its place
			r.mu.Lock()
			r.workers--
			r.spawn(1)
			r.mu.Unlock()
		}
		r.group.Done()
	}()
	for !s.abandoned {
		l, leased, ok := r.next()
		if !ok {
			ended = true
			return
		}
		r.visit(l, leased, s)
	}
}

// next returns the next lease, and when it was had. A worker that finds none ready asks the frontier for as many as there are idle workers,
// so that a settled page needs no message to anybody.
func (r *run) next() (Lease, time.Time, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		if r.ended {
			r.handBack()
			return Lease{}, time.Time{}, false
		}
		if len(r.ready) > 0 {
			l := r.ready[0]
			r.ready[0] = Lease{}
			r.ready = r.ready[1:]
			r.busy++
			return l, r.leased, true
		}
		if room := r.limit - r.busy; !r.leasing && room > 0 {
			if r.lease(room) {
				continue
			}
		} else if room <= 0 {
			r.hungry = true
		} else if r.leasing {
			r.again = true
		}
		r.idle++
		r.cond.Wait()
		r.idle--
	}
}

// lease asks the frontier for as many as there is room for, and reports whether the caller should look again. r.mu is
// held, but not while asking.
func (r *run) lease(room int) bool {
	r.leasing, r.again = true, false
	want := LeaseRequest{Owner: r.e.cfg.Name, Boot: r.boot, Max: room, TTL: leaseTTL}
	r.mu.Unlock()
	b, err := r.e.cfg.Frontier.Lease(r.ctx, want)
	r.mu.Lock()
	r.leasing = false
	switch {
	case err != nil:
		if r.ctx.Err() != nil {
			err = context.Cause(r.ctx)
		}
		if !r.ended {
			r.ended, r.err = true, err
			r.cancel(err)
		}
		r.cond.Broadcast()
		return true
	case len(b.Leases) > 0:
		r.ready, r.leased = b.Leases, time.Now()
		r.hungry = r.hungry || len(b.Leases) == want.Max
		more := len(b.Leases) - 1
		r.spawn(more - r.idle)
		for range min(more, r.idle) {
			r.cond.Signal()
		}
		if len(b.Leases) < want.Max && b.Next > 0 {
			r.wakeIn(b.Next) // a slot may open before any of these settles
		}
		return true
	case b.Finished && r.open == 0:
		r.ended, r.finished = true, true
		r.cond.Broadcast()
		return true
	}
	if r.again {
		return true // whoever came meanwhile had settled something: the answer may be older
	}
	r.wakeIn(b.Next)
	return r.ended
}

// wakeIn has a worker ask again after d. r.mu is held.
func (r *run) wakeIn(d time.Duration) {
	if d <= 0 || d > pollInterval {
		d = pollInterval
	}
	if r.wake == nil {
		r.wake = time.AfterFunc(d, r.poke)
		return
	}
	r.wake.Reset(d)
}

// handBack releases leases that nobody has begun. r.mu is held.
func (r *run) handBack() {
	if len(r.ready) == 0 {
		return
	}
	var s []Settlement
	for _, l := range r.ready {
		s = append(s, Settlement{Lease: l, Outcome: Released})
	}
	r.ready = nil
	if err := r.e.cfg.Frontier.Settle(context.WithoutCancel(r.ctx), s...); err != nil && r.err == nil {
		r.err = err
	}
}

// heartbeat renews the leases that are being worked on.
func (r *run) heartbeat(stop <-chan struct{}) {
	tick := time.NewTicker(leaseTTL / 3)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
		}
		r.mu.Lock()
		held := make(map[string]*visit, len(r.held))
		leases := make([]Lease, 0, len(r.held))
		for v := range r.held {
			held[v.lease.Key] = v
			leases = append(leases, v.lease)
		}
		r.mu.Unlock()
		var lost *LeaseLostError
		if err := r.e.cfg.Frontier.Extend(context.WithoutCancel(r.ctx), leaseTTL, leases...); errors.As(err, &lost) {
			for _, key := range lost.Keys {
				if v := held[key]; v != nil {
					v.cancel(lost)
				}
			}
		}
	}
}
