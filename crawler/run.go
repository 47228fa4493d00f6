package crawler

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"sync"
	"time"

	"github.com/seine-go/seine/internal/weburl"
)

// How a run deals with its leases.
const (
	leaseTTL     = time.Minute            // of a lease; renewed at a third of it while the page is worked on
	pollInterval = time.Second            // between looks at a frontier that said nothing of when to come back
	seedBatch    = 256                    // seeds added at a time
	seedsFirst   = 10_000                 // seeds of a Site that are read before anything is fetched
	fullPause    = 100 * time.Millisecond // before a producer tries a full frontier again
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

	mu       sync.Mutex
	cond     sync.Cond
	ready    []Lease
	held     map[*visit]struct{} // leases being worked on, for the heartbeat
	workers  int                 // that have been started
	idle     int                 // that wait for a lease
	leasing  bool                // one of them asks the frontier
	ended    bool
	finished bool
	err      error
	open     int // own producers, where the frontier does not count them
	wake     *time.Timer
	group    sync.WaitGroup
}

func newRun(ctx context.Context, e *Engine, h Handler, failed func(*PageError)) *run {
	r := &run{e: e, handler: h, failed: failed, boot: newBoot(), held: map[*visit]struct{}{}, cpu: make(chan struct{}, runtime.GOMAXPROCS(0))}
	r.cond.L = &r.mu
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	return r
}

// begin checks and adds the seeds.
func (r *run) begin(seeds []string) error {
	e := r.e
	if err := first(context.Cause(r.ctx), r.setPace()); err != nil {
		return err
	}
	reqs := make([]*Request, 0, len(seeds))
	hosts := []string{}
	for _, raw := range seeds {
		req, err := e.seed(&Request{URL: raw})
		if err != nil {
			return err
		}
		reqs = append(reqs, req)
		hosts = append(hosts, req.Host())
	}
	site, isSite := e.cfg.Handler.(Site)
	if isSite {
		hosts = append(hosts, site.Hosts()...)
		if s, ok := site.(SiteScope); ok && e.cfg.Scope.isZero() {
			e.cfg.Scope = s.Scope()
			if err := e.cfg.Scope.check(); err != nil {
				return err
			}
		}
	}
	e.scope = e.cfg.Scope
	if e.scope.isZero() {
		e.scope.Hosts = hosts
	}
	if err := r.add(reqs); err != nil {
		return err
	}
	if isSite {
		return r.siteSeeds(site)
	}
	if len(seeds) == 0 {
		s, err := e.cfg.Frontier.Stats(r.ctx)
		if err != nil {
			return err
		}
		if s.Ready+s.Delayed+s.Leased+s.Done+s.Failed == 0 && s.Producers == 0 {
			return ErrNoSeeds
		}
		if len(hosts) == 0 && e.cfg.Scope.isZero() {
			return &ConfigError{Field: "Scope", Reason: "is needed to go on without seeds"}
		}
	}
	return nil
}

// setPace tells the frontier how hosts are visited that have no pace of their own.
func (r *run) setPace() error {
	c := &r.e.cfg
	p := HostPolicy{Delay: c.Delay, Spacing: c.Spacing, MaxInFlight: c.PerHost}
	if p.Delay == 0 {
		p.Delay = -1
	}
	if l, ok := c.Handler.(SiteLimits); ok {
		p = p.with(l.Limits().HostPolicy)
	}
	setter, ok := c.Frontier.(HostSetter)
	if !ok {
		return nil // the frontier keeps its own pace
	}
	return setter.SetHost(r.ctx, "", p)
}

// seed checks a seed and completes it.
func (e *Engine) seed(req *Request) (*Request, error) {
	c := *req
	u, err := weburl.Parse(c.URL)
	if err != nil {
		return nil, &RequestError{URL: c.URL, Err: err}
	}
	if !u.IsHTTP() {
		return nil, &RequestError{URL: c.URL, Reason: "is neither http nor https"}
	}
	if u.HasUserInfo() {
		return nil, &RequestError{URL: c.URL, Reason: "has user info, which is not stored"}
	}
	c.URL = u.WithoutFragment().Href()
	if _, err := e.setKey(&c, nil); err != nil {
		return nil, err
	}
	return &c, c.check()
}

// setKey gives a request the key that its canonical URL, method and body make, unless it has one. The URL itself is
// left out. buf is scratch memory.
func (e *Engine) setKey(r *Request, buf []byte) ([]byte, error) {
	if r.Key != "" {
		return buf, nil
	}
	buf, err := e.cfg.Canonical.AppendRequestKey(buf[:0], r.Method, r.URL, r.Body)
	if err != nil {
		return buf, &RequestError{URL: r.URL, Reason: "has no canonical form", Err: err}
	}
	if string(buf) != r.URL {
		r.Key = string(buf)
	}
	return buf, nil
}

// add adds requests in batches and counts the new ones.
func (r *run) add(reqs []*Request) error {
	for len(reqs) > 0 {
		n := min(len(reqs), seedBatch)
		statuses, err := r.e.cfg.Frontier.Add(r.ctx, reqs[:n]...)
		taken := 0
		for _, s := range statuses {
			if s == Added {
				r.e.count.queued.Add(1)
			}
			if s != Refused {
				taken++
			}
		}
		if errors.Is(err, ErrFull) && taken > 0 && statuses[taken-1] != Refused {
			reqs = reqs[taken:]
		} else if err == nil {
			reqs = reqs[n:]
		}
		if err != nil {
			if !errors.Is(err, ErrFull) {
				return err
			}
			if err := r.pause(fullPause); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *run) pause(d time.Duration) error { return sleep(r.ctx, d) }

// sleep waits for d, or for the end of ctx, whose cause it then returns.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return context.Cause(ctx)
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// siteSeeds adds the first seeds of a Site before anything is fetched, and the others while the crawl goes on.
func (r *run) siteSeeds(site Site) error {
	next, stop := iter.Pull2(site.Seeds(r.ctx))
	batch := make([]*Request, 0, seedBatch)
	more, err := true, error(nil)
	for n := 0; more && err == nil && n < seedsFirst; n += len(batch) {
		if batch, more, err = r.pull(next, batch[:0]); err == nil {
			err = r.add(batch)
		}
	}
	if err != nil || !more {
		stop()
		return err
	}
	r.open++
	r.group.Add(1)
	go func() {
		defer r.group.Done()
		defer stop()
		for more && err == nil {
			if batch, more, err = r.pull(next, batch[:0]); err == nil {
				err = r.add(batch)
			}
			r.poke()
		}
		r.mu.Lock()
		r.open--
		r.mu.Unlock()
		if err != nil {
			r.end(err, false)
		}
		r.poke()
	}()
	return nil
}

func (r *run) pull(next func() (*Request, error, bool), batch []*Request) ([]*Request, bool, error) {
	for len(batch) < seedBatch {
		req, err, ok := next()
		if !ok {
			return batch, false, nil
		}
		if err == nil && req == nil {
			err = errors.New("neither a request nor an error")
		}
		if err == nil {
			req, err = r.e.seed(req)
		}
		if err != nil {
			return nil, false, fmt.Errorf("seine: seeds: %w", err)
		}
		batch = append(batch, req)
	}
	return batch, true, nil
}

// loop works until the end, and joins the workers.
func (r *run) loop() error {
	stopWake := context.AfterFunc(r.ctx, func() { r.end(context.Cause(r.ctx), false) })
	defer stopWake()
	r.mu.Lock()
	r.spawn(1)
	r.mu.Unlock()
	beats := make(chan struct{})
	go r.heartbeat(beats)
	defer close(beats)
	left := r.join()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.wake != nil {
		r.wake.Stop()
	}
	if left > 0 {
		return errors.Join(r.err, fmt.Errorf("seine: %d handlers did not end within %v and were left behind", left, r.e.cfg.Grace))
	}
	return r.err
}

// join waits for the workers, after the end no longer than Grace, and returns how many are left.
func (r *run) join() int {
	all := make(chan struct{})
	go func() {
		r.group.Wait()
		close(all)
	}()
	select {
	case <-all:
		return 0
	case <-r.ctx.Done():
	}
	grace := time.NewTimer(r.e.cfg.Grace)
	defer grace.Stop()
	select {
	case <-all:
		return 0
	case <-grace.C:
		r.mu.Lock()
		defer r.mu.Unlock()
		return len(r.held)
	}
}

// spawn starts workers. r.mu is held.
func (r *run) spawn(n int) {
	for range min(n, r.e.cfg.Concurrency-r.workers) {
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

// poke has a worker ask the frontier again.
func (r *run) poke() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cond.Signal()
}

// work is a worker: it takes leases until the end.
func (r *run) work() {
	defer r.group.Done()
	s := new(scratch)
	for {
		l, ok := r.next()
		if !ok {
			return
		}
		r.visit(l, s)
	}
}

// next returns the next lease. A worker that finds none ready asks the frontier for as many as there are idle workers,
// so that a settled page needs no message to anybody.
func (r *run) next() (Lease, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		if r.ended {
			r.handBack()
			return Lease{}, false
		}
		if len(r.ready) > 0 {
			l := r.ready[0]
			r.ready[0] = Lease{}
			r.ready = r.ready[1:]
			return l, true
		}
		if !r.leasing && r.lease() {
			continue
		}
		r.idle++
		r.cond.Wait()
		r.idle--
	}
}

// lease asks the frontier and reports whether the caller should look again. r.mu is held, but not while asking.
func (r *run) lease() bool {
	r.leasing = true
	want := LeaseRequest{Owner: r.e.cfg.Name, Boot: r.boot, Max: 1 + r.idle + r.e.cfg.Concurrency - r.workers, TTL: leaseTTL}
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
		r.ready = b.Leases
		more := len(b.Leases) - 1
		r.spawn(more - r.idle)
		for range min(more, r.idle) {
			r.cond.Signal()
		}
		return true
	case b.Finished && r.open == 0:
		r.ended, r.finished = true, true
		r.cond.Broadcast()
		return true
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
