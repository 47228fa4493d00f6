package crawler

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"runtime/debug"
	"sync"
	"time"

	"github.com/seine-go/seine/fetch"
	"github.com/seine-go/seine/internal/weburl"
	"github.com/seine-go/seine/ratelimit"
)

// visit is the work on one lease.
type visit struct {
	r      *run
	e      *Engine
	lease  Lease
	leased time.Time
	req    *Request
	host   string
	ctx    context.Context
	cancel context.CancelCauseFunc
	placed bool // among the handlers that use the CPU

	mu       sync.Mutex // the fields below: a middleware may have several exchanges at a time
	report   HostReport // of the exchanges with the lease's own host
	lastEnd  time.Time  // of the latest of them
	lastSent time.Time  // when its request was written; zero if that is not known
	begun    int        // exchanges with the lease's own host
	places   map[string]*place
	passed   []string // keys of the URLs that redirects led to
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
}

// visit works on a lease to its end.
func (r *run) visit(l Lease, leased time.Time, s *scratch) {
	v := &visit{r: r, e: r.e, lease: l, leased: leased, req: l.Request, host: l.Request.Host()}
	ctx, cancel := context.WithCancelCause(r.ctx)
	v.ctx, v.cancel = context.WithValue(ctx, visitKey{}, v), cancel
	r.mu.Lock()
	r.held[v] = struct{}{}
	r.mu.Unlock()
	p := &Page{URL: v.req.URL, Request: v.req, Depth: v.req.Depth, Attempt: l.Attempt, v: v, s: s}
	s.links = s.links[:0]
	err := v.guarded(p)
	v.settle(p, err)
	p.v, p.s = nil, nil
	cancel(nil)
	class := v.hostReport().Class
	r.mu.Lock()
	delete(r.held, v)
	r.busy--
	if class == ratelimit.NetError {
		r.unanswered++
	} else {
		r.answered++
	}
	r.mu.Unlock()
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
	if err := v.allowed(); err != nil {
		return err
	}
	if !v.r.spend() {
		return errReleased
	}
	resp, err := v.e.fetcher.Fetch(v.ctx, v.req.fetchRequest(v.e.cfg.MaxHops))
	v.leaveForeign()
	if err != nil {
		return err
	}
	v.e.count.bytes.Add(resp.RawSize)
	p.Response, p.URL = resp, resp.URL
	if moved, err := v.followForeign(resp); moved || err != nil {
		return err
	}
	if !v.e.cfg.AllStatuses {
		if err := resp.StatusErr(); err != nil {
			return err
		}
	}
	return v.handle(p)
}

// handle calls the handler, with a place among those that may use the CPU.
func (v *visit) handle(p *Page) error {
	if err := v.enterCPU(); err != nil {
		return err
	}
	defer v.leaveCPU()
	if err := v.r.handler.HandlePage(v.ctx, p); err != nil {
		return handled(err)
	}
	return p.err
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
	v.placed = true
	return nil
}

func (v *visit) leaveCPU() {
	if v.placed {
		v.placed = false
		<-v.r.cpu
	}
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
		return ErrOutOfScope
	}
	if v.req.Depth > v.e.cfg.MaxDepth {
		return ErrTooDeep
	}
	return v.askRobots(v.ctx, v.req.URL, v.host)
}

// robotsError is what robots.txt says against a URL.
type robotsError struct {
	rule    string        // that forbids the URL
	err     error         // why robots.txt could not be had
	retryIn time.Duration // when it may say something else; 0 never
}

func (e *robotsError) Error() string {
	if e.err != nil {
		return ErrRobotsDisallowed.Error() + ", which cannot be had: " + e.err.Error()
	}
	return ErrRobotsDisallowed.Error() + ": " + e.rule
}

func (e *robotsError) Unwrap() error { return e.err }

func (e *robotsError) Is(target error) bool { return target == ErrRobotsDisallowed }

// askRobots asks robots.txt, and tells the frontier of the host's crawl-delay.
func (v *visit) askRobots(ctx context.Context, url, host string) error {
	if v.e.robots == nil {
		return nil
	}
	d, err := v.e.robots.Check(ctx, url)
	if err != nil {
		return err
	}
	if d.CrawlDelay > 0 {
		if err := v.e.setCrawlDelay(ctx, host, d.CrawlDelay); err != nil {
			return err
		}
	}
	if d.Allowed {
		return nil
	}
	var failure *fetch.Error
	if errors.As(d.Err, &failure) && !failure.Temporary() {
		return d.Err // the page would fare as robots.txt did, now and later
	}
	return &robotsError{rule: d.Rule.String(), err: d.Err, retryIn: d.RetryIn}
}

// maxDelays bounds the crawl-delays that an engine remembers having told; beyond it they are told again.
const maxDelays = 100_000

func (e *Engine) setCrawlDelay(ctx context.Context, host string, d time.Duration) error {
	d = max(d, e.cfg.Delay)
	e.mu.Lock()
	known := e.delays[host] == d
	if !known {
		if len(e.delays) >= maxDelays {
			clear(e.delays)
		}
		e.delays[host] = d
	}
	e.mu.Unlock()
	if setter, ok := e.cfg.Frontier.(HostSetter); ok && !known {
		return setter.SetHost(ctx, host, HostPolicy{Delay: d})
	}
	return nil
}

// spend takes a page from the budget, or ends the run.
func (r *run) spend() bool {
	c := &r.e.count
	if c.bytes.Load() < r.e.cfg.MaxBytes && c.asked.Add(1) <= r.e.cfg.MaxPages {
		return true
	}
	r.end(nil, false)
	return false
}

// settle ends the lease as the error says.
func (v *visit) settle(p *Page, err error) {
	s := Settlement{Lease: v.lease, Report: v.hostReport()}
	v.decide(&s, err)
	if s.Outcome == Done && err == nil {
		if e := v.stage(&s, p); e != nil {
			err, s = e, Settlement{Lease: v.lease, Report: s.Report}
			v.decide(&s, err)
		}
	}
	if s.Outcome == Done && v.moved != nil && errors.Is(err, errMoved) {
		s.Links = []*Request{v.moved}
	}
	ctx := context.WithoutCancel(v.ctx)
	if e := v.e.cfg.Frontier.Settle(ctx, s); e != nil {
		var lost *LeaseLostError
		if errors.As(e, &lost) {
			v.e.log.Warn("lease lost", "url", weburl.Redact(v.req.URL))
			return // whoever has it now ends it
		}
		if errors.Is(e, ErrFull) {
			_ = v.e.cfg.Frontier.Settle(ctx, Settlement{Lease: v.lease, Outcome: Released, Report: s.Report})
		}
		v.r.end(fmt.Errorf("seine: settle %s: %w", weburl.Redact(v.req.URL), e), false)
		return
	}
	v.account(p, &s, err)
}

// stage moves links and items of a page that is done into the settlement.
func (v *visit) stage(s *Settlement, p *Page) error {
	p.s.ptrs = p.s.ptrs[:0]
	for i := range p.s.links {
		p.s.ptrs = append(p.s.ptrs, &p.s.links[i])
	}
	s.Links, s.Seen = p.s.ptrs, v.passed
	if i, ok := v.e.cfg.Frontier.(ItemSettler); ok && i.SettlesItemsOf(v.e.cfg.Store) {
		s.Items = p.items
		return nil
	}
	for _, item := range p.items {
		if err := v.e.cfg.Store.Put(v.ctx, item.Key, item.Value); err != nil {
			return err
		}
	}
	return nil
}

// decide turns an error into an outcome.
func (v *visit) decide(s *Settlement, err error) {
	var robots *robotsError
	var h *handlerError
	var status *fetch.StatusError
	var failure *fetch.Error
	var panicked *PanicError
	switch {
	case err == nil, errors.Is(err, errMoved):
		s.Outcome = Done
	case errors.Is(err, errReleased), v.r.ctx.Err() != nil && !errors.As(err, &panicked):
		s.Outcome = Released
	case errors.As(err, &panicked):
		s.Outcome = Failed
	case errors.As(err, &h):
		switch {
		case h.permanent:
			s.Outcome = Failed
		case h.timed:
			v.again(s, h.delay)
		default:
			v.again(s, backoff(v.lease.Attempt))
		}
	case errors.As(err, &robots) && robots.retryIn > 0:
		v.again(s, robots.retryIn)
	case refusal(err):
		s.Outcome = Done
	case errors.As(err, &status):
		if temporaryStatus(status.Status) {
			v.again(s, max(backoff(v.lease.Attempt), s.Report.RetryAfter))
		} else {
			s.Outcome = Failed
		}
	case errors.As(err, &failure):
		if failure.Temporary() {
			v.again(s, backoff(v.lease.Attempt))
		} else {
			s.Outcome = Failed
		}
	default:
		v.again(s, backoff(v.lease.Attempt))
	}
	if err != nil {
		s.Reason = err.Error()
	}
}

// again has the request tried again in d, or gives it up.
func (v *visit) again(s *Settlement, d time.Duration) {
	if v.lease.Attempt >= v.e.cfg.MaxAttempts {
		s.Outcome = Failed
		return
	}
	s.Outcome, s.Delay = Retry, d
}

// refusal reports whether a request ended because it must not be sent.
func refusal(err error) bool {
	var trap *TrapError
	return errors.As(err, &trap) || errors.Is(err, ErrRobotsDisallowed) || errors.Is(err, ErrOutOfScope) || errors.Is(err, ErrTooDeep)
}

func temporaryStatus(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests, http.StatusInternalServerError,
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return status >= 520 && status <= 530 // what gateways make of a dead origin
}

// backoff is how long to wait after a try: a second, doubled with each, half to one and a half of it, at most 5 minutes.
func backoff(attempt int) time.Duration {
	d := min(time.Second<<min(max(attempt-1, 0), 10), 5*time.Minute)
	return d/2 + rand.N(d)
}

// account counts and tells what became of the request.
func (v *visit) account(p *Page, s *Settlement, err error) {
	c := &v.e.count
	switch {
	case s.Outcome == Done && err == nil:
		c.pages.Add(1)
		c.links.Add(int64(len(s.Links)))
		if v.e.log.Enabled(v.ctx, slog.LevelDebug) {
			v.e.log.Debug("page", "url", weburl.Redact(p.URL), "status", p.Response.Status, "bytes", p.Response.RawSize, "links", len(s.Links), "depth", p.Depth)
		}
		return
	case errors.Is(err, errMoved):
		c.moved.Add(1)
		return
	case s.Outcome == Released:
		return
	case s.Outcome == Retry:
		c.retried.Add(1)
		v.e.log.Info("retry", "url", weburl.Redact(v.req.URL), "attempt", v.lease.Attempt, "in", s.Delay, "err", err)
		return
	case s.Outcome == Done:
		c.refused.Add(1)
		v.e.log.Debug("refused", "url", weburl.Redact(v.req.URL), "err", err)
	default:
		c.failed.Add(1)
		v.e.log.Warn("failed", "url", weburl.Redact(v.req.URL), "attempt", v.lease.Attempt, "err", err)
	}
	failure := &PageError{Request: v.req, Attempt: v.lease.Attempt, Err: err}
	if v.e.cfg.Hooks.Failed != nil {
		v.e.cfg.Hooks.Failed(v.ctx, failure)
	}
	if v.r.failed != nil {
		v.r.failed(failure)
	}
}

// hostReport is what the visit tells of its host.
func (v *visit) hostReport() HostReport {
	v.mu.Lock()
	defer v.mu.Unlock()
	r := v.report
	if !v.lastEnd.IsZero() {
		r.Since = time.Since(v.lastEnd)
	}
	return r
}

// merge adds what an exchange told to what others told: the worst class, the longest wait, all bytes.
func merge(a, b ratelimit.Report) ratelimit.Report {
	if b.Class >= a.Class {
		a.Class, a.Status = b.Class, b.Status
	}
	a.Latency, a.Sent = b.Latency, b.Sent
	a.Elapsed += b.Elapsed
	a.RetryAfter = max(a.RetryAfter, b.RetryAfter)
	a.Exchanges += max(b.Exchanges, 1)
	a.Bytes += b.Bytes
	a.Proxy = b.Proxy
	return a
}
