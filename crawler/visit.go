package crawler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seine-go/seine/fetch"
	"github.com/seine-go/seine/internal/weburl"
	"github.com/seine-go/seine/ratelimit"
)

// visit is the work on one lease.
type visit struct {
	at     string // who outside has been called, where it is no handler
	r      *run
	e      *Engine
	lease  Lease
	leased time.Time
	req    *Request
	host   string
	base   context.Context // from which those of hooks come
	ctx    context.Context
	cancel context.CancelCauseFunc
	spent  bool // the budgets have paid for the page
	paid   bool // the host's share of retries has paid for another try

	refused bool        // it must not be sent
	arrived atomic.Bool // its own page is there
	passed  []string    // keys of the URLs that the redirects to the page led to
	claimed string      // key of the page that redirects led to

	flattened atomic.Bool // somebody has looked at its tree, which lacks elements

	kept keepsake // of middlewares

	berth berth // its place at its host

	end    func(StageEnd) // of Hooks.Visit
	result StageEnd

	over   atomic.Bool           // the handler has returned: nothing is staged any more
	unread atomic.Int64          // links that the scan left out, where somebody looked at them
	fault  atomic.Pointer[error] // the first one of the page's own methods

	settling  bool                     // its worker settles it; the run's mu guards this and the next two
	abandoned bool                     // it was settled though its handler goes on
	rests     map[string]time.Duration // crawl-delays that the frontier has no room for, by host

	mu       sync.Mutex // the fields below: a middleware may have several exchanges at a time
	report   HostReport // of the exchanges with the lease's own host
	lastEnd  time.Time  // of the latest of them
	lastSent time.Time  // when its request was written; zero if that is not known
	placed   bool       // among the handlers that use the CPU
	gone     bool       // it gets no such place any more
	handling time.Time  // since when the handler runs; zero when it does not
	overdue  time.Time  // when its time was over
	begun    int        // exchanges with the lease's own host
	asked    bool       // for more than robots.txt
	goesBack bool       // its request goes to the frontier again
	places   map[string]*place
	moved    *Request // redirect target that became a request of its own
}

// visitKey finds the visit in the context of whatever it causes.
type visitKey struct{}

func visitOf(ctx context.Context) *visit {
	v, _ := ctx.Value(visitKey{}).(*visit)
	return v
}

// scratch is memory that a worker uses for one page after the other. What is in it is copied before the next.
type scratch struct {
	links []Request
	ptrs  []*Request
	key   []byte

	abandoned bool // the worker has been replaced
}

// visit works on a lease to its end.
func (r *run) visit(l Lease, leased time.Time, s *scratch) {
	v := &visit{r: r, e: r.e, lease: l, leased: leased, req: l.Request, host: l.Request.Host(), end: endNothing}
	ctx, cancel := context.WithCancelCause(r.ctx)
	v.base, v.cancel = context.WithValue(ctx, visitKey{}, v), cancel
	v.ctx = v.base
	r.mu.Lock()
	r.held[v] = struct{}{}
	r.mu.Unlock()
	p := &Page{URL: v.req.URL, Request: v.req, Depth: v.req.Depth, Attempt: l.Attempt, v: v, s: s}
	s.reset()
	err := errGone
	defer cancel(nil)
	defer func() { // also when the handler ended its goroutine
		v.over.Store(true)
		if err == errGone && v.at != "" {
			err = Permanent(fmt.Errorf("seine: %s ended its goroutine", v.at))
		}
		if s.abandoned = !r.settles(v); !s.abandoned {
			defer r.left(v)
			v.conclude(p, err)
		}
	}()
	err = v.guarded(p)
}

// conclude settles the visit, whatever happens meanwhile.
func (v *visit) conclude(p *Page, err error) {
	defer v.unclaim()
	r, settled := v.r, false
	defer func() {
		if e := r.safely("Hooks.Visit", func() error { v.end(v.result); return nil }); e != nil {
			r.end(e, false)
		}
	}()
	defer func() {
		if settled {
			return
		}
		if e := r.safely("release", v.release); e != nil {
			r.e.log.Debug("release", "url", weburl.Redact(v.req.URL), "err", e)
		}
	}()
	e := r.safely("settle", func() error { v.settle(p, err); return nil })
	if settled = e == nil; !settled {
		r.end(e, false)
	}
}

// errGone is what becomes of a page whose handler ended its goroutine, as testing.T.FailNow does.
var errGone = Permanent(errors.New("seine: the handler ended its goroutine"))

// left takes a visit out of the account.
func (r *run) left(v *visit) {
	class := v.hostReport().Class
	defer r.vacant.call()
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.held, v)
	r.busy--
	if class == ratelimit.NetError {
		r.unanswered++
	} else {
		r.answered++
	}
}

// mostScratch is how many links' worth of memory a worker keeps from one page to the next.
const mostScratch = 16 << 10

func (s *scratch) reset() {
	clear(s.links)
	s.links = s.links[:0]
	if cap(s.links) > mostScratch {
		s.links, s.ptrs = nil, nil
	}
}

// guarded makes an error of a panic anywhere in the work on the page.
func (v *visit) guarded(p *Page) (err error) {
	defer func() {
		if value := recover(); value != nil {
			v.e.count.panics.Add(1)
			err = &PanicError{Value: value, Stack: debug.Stack()}
		}
	}()
	return v.work(p)
}

// work fetches the page and has it handled.
func (v *visit) work(p *Page) error {
	ctx, end, err := v.enter(v.e.cfg.Hooks.Visit, Stage{})
	v.ctx, v.end = ctx, end
	if err != nil {
		return err
	}
	if v.lease.GivenUp {
		return &CrashError{Crashes: v.lease.Crashes}
	}
	if err := v.allowed(); err != nil {
		return err
	}
	if err := v.r.spend(v); err != nil {
		return err
	}
	resp, err := v.fetch()
	if err := v.arrive(resp, err); err != nil {
		return err
	}
	v.leaveForeign()
	p.Response, p.URL = resp, cmp.Or(resp.URL, v.req.URL)
	if !v.e.cfg.AllStatuses {
		if err := resp.StatusErr(); err != nil {
			return err
		}
	}
	if err := v.cut(p); err != nil {
		return err
	}
	return v.handle(p)
}

// cut tells of a body that is not whole. Where another try may bring it whole, that is made first.
func (v *visit) cut(p *Page) error {
	resp := p.Response
	if !resp.Truncated {
		return nil
	}
	err := resp.BodyErr()
	var failure *fetch.Error
	if errors.As(err, &failure) && failure.Kind == fetch.ErrProtocol { // of a Fetcher that tells framing that breaks off so
		framing := *failure
		framing.Kind = fetch.ErrTruncated
		failure, err = &framing, &framing
	}
	if failure != nil && failure.Temporary() && idempotent(v.req.Method) && v.retryable(err) == nil {
		return err
	}
	var coding *fetch.CodingError
	if errors.As(err, &coding) { // there is nothing to handle
		return err
	}
	p.cut = true
	v.e.log.Warn("cut", "url", weburl.Redact(resp.URL), "bytes", len(resp.Body), "err", err)
	return nil
}

// idempotent reports whether a request may be sent again though it was answered (RFC 9110 9.2.2).
func idempotent(method string) bool {
	switch method {
	case "", http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace, http.MethodPut, http.MethodDelete:
		return true
	}
	return false
}

// enterCPU waits for a place.
func (v *visit) enterCPU() error {
	select {
	case v.r.cpu <- struct{}{}:
	default:
		select {
		case v.r.cpu <- struct{}{}:
		case <-v.ctx.Done():
			return context.Cause(v.ctx)
		}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.gone {
		<-v.r.cpu
		return ErrHandlerTimeout
	}
	v.placed = true
	return nil
}

// leaveCPU gives the place back, and tells whether there was one.
func (v *visit) leaveCPU() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	placed := v.placed
	if placed {
		v.placed = false
		<-v.r.cpu
	}
	return placed
}

// leaveForGood gives the place back and takes none again.
func (v *visit) leaveForGood() {
	v.leaveCPU()
	v.mu.Lock()
	defer v.mu.Unlock()
	v.gone = true
}

// errReleased ends a visit whose request goes back untouched; errMoved one whose request went on as another.
var (
	errReleased = errors.New("seine: released")
	errMoved    = errors.New("seine: the redirect became a request of its own")
)

// handled marks an error as a handler's, unless it says by itself what is to be done.
func handled(err error) error {
	var h *handlerError
	if errors.As(err, &h) {
		return err
	}
	return &handlerError{err: err}
}

// allowed asks scope and robots.txt whether the request may be sent.
func (v *visit) allowed() error {
	if v.req.Depth > 0 && !v.r.scope.holds(v.req.URL) {
		return v.r.scope.refuse(v.req.URL)
	}
	if v.req.Depth > v.e.cfg.MaxDepth {
		return v.e.tooDeep(v.req.URL)
	}
	if wait := v.e.resting.wait(v.host); wait > 0 {
		return &heldError{v.host, wait}
	}
	return v.askRobots(v.ctx, v.req.URL, v.host)
}
