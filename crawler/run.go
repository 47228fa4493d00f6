package crawler

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
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
	boot    uint64
	cpu     chan struct{} // places of handlers

	ctx     context.Context // of the work on pages: ends when it is to be broken off
	cancel  context.CancelCauseFunc
	seeding context.Context // of what makes requests: ends with the run, however that ends
	endSeed context.CancelCauseFunc
	after   context.Context // of what ends pages: ends Grace after ctx
	late    context.Context // ends Grace after seeding
	release func()          // ends both

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
	leftSeeds            bool   // not all seeds have been added
	err                  error
	open                 int // own producers, where the frontier does not count them
	wake                 *time.Timer
	calls                map[string]int // of the application's code that go on, beside those of visits
	group                sync.WaitGroup // workers
	seeders              sync.WaitGroup // what makes requests
	watchers             sync.WaitGroup // what looks after the workers
	resumed              bool           // the crawl was finished when the run began
	fresh                atomic.Bool    // something was added that the frontier had not seen
	spent                *spending
	retries              retries
	putOffs              atomic.Int64 // pages in a row whose links had no room
	claims               claims
	outages              outages
	vacant               bell // a place at some host may be free
}

func newRun(ctx context.Context, e *Engine, h Handler, failed func(*PageError)) *run {
	r := &run{
		e: e, handler: h, failed: failed, boot: newBoot(), held: map[*visit]struct{}{}, calls: map[string]int{},
		cpu: make(chan struct{}, runtime.GOMAXPROCS(0)), spent: newSpending(), leftSeeds: true,
	}
	r.cond.L = &r.mu
	r.limit = e.cfg.Concurrency
	if r.limit == 0 {
		r.limit = startInFlight
	}
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	r.seeding, r.endSeed = context.WithCancelCause(r.ctx)
	body := func() {}
	if h, ok := h.(*handOut); ok {
		body = h.wait
	}
	var stopAfter, stopLate func()
	r.after, stopAfter = graceAfter(r.ctx, e.cfg.Grace, body)
	r.late, stopLate = graceAfter(r.seeding, e.cfg.Grace, func() {})
	r.release = func() {
		stopAfter()
		stopLate()
		r.cancel(nil)
	}
	return r
}

// crawl works from the first seed to the end, and joins all that it has started.
func (r *run) crawl(seeds []string) error {
	stopWake := context.AfterFunc(r.ctx, func() { r.end(context.Cause(r.ctx), false) })
	defer stopWake()
	if d := r.e.cfg.MaxTime; d < math.MaxInt64 {
		defer time.AfterFunc(d, func() { r.endSpent("MaxTime") }).Stop()
	}
	if err := r.bounded(r.late, func() error { return r.begin(seeds) }); err != nil && !r.over() {
		r.end(err, false)
	}
	r.mu.Lock()
	if !r.ended {
		r.spawn(1)
	}
	r.mu.Unlock()
	r.join(r.watchOver())
	r.lookBack()
	left := r.leftBehind()
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

// watchOver starts what looks after the workers.
func (r *run) watchOver() (stop func()) {
	ctx, stop := context.WithCancel(r.after)
	r.watchers.Go(func() { r.heartbeat(ctx) })
	if r.e.cfg.Concurrency == 0 {
		r.watchers.Go(func() { r.watch(ctx.Done()) })
	}
	if _, loop := r.handler.(*handOut); !loop && r.e.cfg.HandlerTimeout < math.MaxInt64 { // whose pages wait for their turn
		r.watchers.Go(func() { r.guard(ctx.Done()) })
	}
	return stop
}

// join waits for all that was started, for what has to end no longer than Grace.
func (r *run) join(stopWatching func()) {
	wait(&r.group, r.after)
	wait(&r.seeders, r.late)
	stopWatching()
	grace, cancel := context.WithTimeout(r.after, r.e.cfg.Grace)
	defer cancel()
	wait(&r.watchers, grace)
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
	r.endLocked(err, finished)
}

// endLocked is end for who holds r.mu.
func (r *run) endLocked(err error, finished bool) {
	cancelled := r.ctx.Err() != nil
	if cancelled && err != nil {
		var panicked *PanicError
		if cause := context.Cause(r.ctx); errors.As(err, &panicked) {
			err = errors.Join(cause, err)
		} else {
			err = cause // what came of that is no news
		}
	}
	if !r.ended {
		r.ended, r.err, r.finished = true, err, finished
	} else if r.err == nil && !cancelled {
		r.err = err // of what was still to be done
	}
	if err != nil {
		r.cancel(err)
	}
	r.endSeed(errEnded)
	r.cond.Broadcast()
}

// errEnded is why nothing is added any more.
var errEnded = errors.New("seine: the run has ended")

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
		if !ended { // the application's code ended this goroutine: another takes its place
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

// ask asks the frontier for leases. r.mu is held, but not while asking.
func (r *run) ask(want LeaseRequest) (b LeaseBatch, err error) {
	returned := false
	r.leasing, r.again = true, false
	r.mu.Unlock()
	defer func() {
		if !returned {
			err = r.unwound("Frontier.Lease", recover())
		}
		r.mu.Lock()
		r.leasing = false
	}()
	b, err = r.e.cfg.Frontier.Lease(r.ctx, want)
	returned = true
	return b, err
}

// sound drops leases that cannot be worked on, which is an error.
func (b *LeaseBatch) sound() error {
	n := len(b.Leases)
	b.Leases = slices.DeleteFunc(b.Leases, func(l Lease) bool { return l.Request == nil })
	if len(b.Leases) < n {
		return fmt.Errorf("%w: Lease: a lease has no request", ErrFrontier)
	}
	return nil
}

// lease asks the frontier for as many as there is room for, and reports whether the caller should look again. r.mu is
// held.
func (r *run) lease(room int) bool {
	want := LeaseRequest{Owner: r.e.cfg.Owner, Boot: r.boot, Max: room, TTL: leaseTTL}
	b, err := r.ask(want)
	if err = first(err, b.sound()); err != nil {
		r.ready = b.Leases // to be handed back
		r.endLocked(err, false)
		return true
	}
	switch {
	case len(b.Leases) > 0:
		r.ready, r.leased = b.Leases, time.Now()
		r.forgetClaims()
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
		r.endLocked(nil, true)
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

// handBack releases leases that nobody has begun. r.mu is held, but not while the frontier is told.
func (r *run) handBack() {
	if len(r.ready) == 0 {
		return
	}
	s := make([]Settlement, 0, len(r.ready))
	for _, l := range r.ready {
		s = append(s, Settlement{Lease: l, Outcome: Released})
	}
	r.ready = nil
	r.mu.Unlock()
	defer r.mu.Lock()
	err := r.foreign("Frontier.Settle", func() error { return r.e.cfg.Frontier.Settle(r.after, s...) })
	if err == nil {
		return
	}
	r.e.log.Warn("release", "leases", len(s), "err", err)
	if lost := (*LeaseLostError)(nil); !errors.As(err, &lost) { // else whoever has them now sees to them
		r.end(err, false)
	}
}
