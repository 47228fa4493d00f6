package crawler

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/seine-go/seine/internal/weburl"
	"github.com/seine-go/seine/ratelimit"
)

// settle ends the lease as the error says.
func (v *visit) settle(p *Page, err error) {
	v.leaveForeign()
	v.berth.close(v.r.after.Done())
	v.rest()
	s := Settlement{Lease: v.lease, Report: v.hostReport()}
	if err != nil && v.r.claims.had(v.req.key()) {
		err = errTwice // it need not be tried again
	}
	err = v.decide(&s, err)
	err, failed := v.commit(&s, p, err)
	if failed == nil {
		if s.Outcome == Done || s.Outcome == Failed {
			v.r.putOffs.Store(0) // which made room
		}
		v.account(p, &s, err)
		return
	}
	var lost *LeaseLostError
	switch {
	case errors.As(failed, &lost): // whoever has it now ends it
		v.e.log.Warn("lease lost", "url", weburl.Redact(v.req.URL))
	case errors.Is(failed, ErrFull) && v.putOff(s.Report):
		v.result.Outcome, v.result.Delay = Released, fullDelay
	default:
		v.r.end(fmt.Errorf("seine: settle %s: %w", weburl.Redact(v.req.URL), failed), false)
	}
}

// commit stores items and settles. It returns the error of the page, which may be that of the store now, and the one of
// the frontier.
func (v *visit) commit(s *Settlement, p *Page, err error) (page, failed error) {
	ctx, end, hooked := v.enter(v.e.cfg.Hooks.Settle, Stage{Response: p.Response})
	v.result = StageEnd{Err: errUnwound, Response: p.Response}
	defer func() { end(v.result) }()
	if hooked != nil && err == nil {
		err = hooked
		err = v.decide(s, err)
	}
	kept := v.kept.close()
	if s.Outcome == Done && err == nil {
		if e := v.stage(s, p, kept); e != nil {
			*s = Settlement{Lease: v.lease, Report: s.Report}
			err = v.decide(s, e)
		}
	}
	if s.Outcome == Done && v.moved != nil && errors.Is(err, errMoved) {
		s.Links = []*Request{v.moved}
	}
	failed = v.e.cfg.Frontier.Settle(v.lasting(ctx), *s)
	if v.result.Err = first(failed, err); failed == nil {
		v.result.Outcome, v.result.Delay, v.result.Links = s.Outcome, s.Delay, len(s.Links)
		if v.result.Err == nil {
			v.result.Items = len(p.items)
		}
	}
	return err, failed
}

// fullDelay is how long a page waits whose links have no room in the frontier.
const fullDelay = 10 * time.Second

// putOff hands a page back whose links have no room, as long as there is other work that will make some: pages that have
// not been put off one after another.
func (v *visit) putOff(report HostReport) bool {
	ctx := v.lasting(v.ctx)
	if err := v.e.cfg.Frontier.Settle(ctx, Settlement{Lease: v.lease, Outcome: Released, Delay: fullDelay, Report: report}); err != nil {
		return false
	}
	v.r.spent.over(&v.e.cfg, v, Released)
	v.e.log.Warn("full", "url", weburl.Redact(v.req.URL), "in", fullDelay)
	s, err := v.e.cfg.Frontier.Stats(ctx)
	return err == nil && v.r.putOffs.Add(1) < s.Ready+s.Delayed+s.Leased
}

// release hands a request back whose settlement broke off, unless it had taken effect.
func (v *visit) release() error {
	return v.e.cfg.Frontier.Settle(v.lasting(v.ctx), Settlement{Lease: v.lease, Outcome: Released, Report: v.hostReport()})
}

// stage moves links and items of a page that is done, and what middlewares kept of it, into the settlement.
func (v *visit) stage(s *Settlement, p *Page, kept []Item) error {
	p.s.ptrs = p.s.ptrs[:0]
	for i := range p.s.links {
		p.s.ptrs = append(p.s.ptrs, &p.s.links[i])
	}
	if strings.HasPrefix(v.req.Key, hopKey) {
		if err := v.pass(v.req.URL); err != nil {
			return err
		}
	}
	s.Links, s.Seen = p.s.ptrs, v.passed
	items := p.items
	if len(kept) > 0 {
		items = slices.Concat(kept, items)
	}
	if i, ok := v.e.cfg.Frontier.(ItemSettler); ok && i.SettlesItemsOf(v.e.cfg.Store) {
		s.Items = items
		return nil
	}
	for _, item := range items {
		if err := v.r.safely("Store.Put", func() error {
			return v.e.cfg.Store.Put(v.lasting(v.ctx), item.Key, item.Value)
		}); err != nil {
			return err
		}
	}
	return nil
}

// decide turns an error into an outcome. It returns the error with what it adds to it.
func (v *visit) decide(s *Settlement, err error) error {
	if err == nil {
		s.Outcome = Done
		return nil
	}
	var robots *RobotsError
	var h *handlerError
	var budget *BudgetError
	var held *heldError
	var limited *limitedError
	var panicked *PanicError
	isHandlers := errors.As(err, &h)
	login := time.Duration(0)
	if !isHandlers {
		login = v.loginWait(err)
	}
	switch {
	case errors.Is(err, errMoved):
		s.Outcome = Done
	case errors.As(err, &held):
		s.Outcome, s.Delay = Released, held.in
	case errors.As(context.Cause(v.ctx), &limited):
		s.Outcome, s.Delay = Released, limited.in
	case errors.Is(err, errReleased), v.r.ctx.Err() != nil && (errors.Is(err, context.Cause(v.r.ctx)) || !errors.As(err, &panicked)):
		s.Outcome = Released // what ended the run may be a panic as well, but not the page's
	case errors.As(err, &panicked):
		s.Outcome = Failed
	case isHandlers && h.timed:
		v.again(s, h.delay)
	case !isHandlers && errors.As(err, &robots):
		if s.Outcome = Failed; robots.waits {
			s.Outcome, s.Delay = Released, robots.retryIn // the page was not asked for: no try of it
		}
	case !isHandlers && refusal(err):
		s.Outcome, v.refused = Done, true
	case !isHandlers && errors.As(err, &budget):
		s.Outcome, v.refused = Failed, true // listed, so that it can be driven again
	case login > 0:
		s.Outcome, s.Delay = Released, login // what was asked is the login, and no try of the page
	case temporary(err):
		err = v.retry(s, err)
	default:
		s.Outcome = Failed
	}
	if err != nil {
		s.Reason = err.Error()
	}
	return err
}

// again has the request tried again in d, or gives it up.
func (v *visit) again(s *Settlement, d time.Duration) {
	if v.lease.Attempt >= v.e.attempts(RetryHandler) {
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

// account counts and tells what became of the request.
func (v *visit) account(p *Page, s *Settlement, err error) {
	c := &v.e.count
	v.r.spent.over(&v.e.cfg, v, s.Outcome)
	if err == nil || !temporary(err) && !v.refused {
		v.r.retries.through(v.host)
	}
	switch {
	case s.Outcome == Done && err == nil:
		v.accountPage(p, s)
		return
	case errors.Is(err, errMoved):
		c.moved.Add(1)
		if !errors.Is(err, errTwice) {
			v.r.claims.noteMoved(v.req.key())
		}
		return
	case s.Outcome == Released:
		v.e.log.Debug("released", "url", weburl.Redact(v.req.URL), "in", s.Delay, "err", err)
		return
	case s.Outcome == Retry:
		c.retried.Add(1)
		v.e.log.Info("retry", "url", weburl.Redact(v.req.URL), "attempt", v.lease.Attempt, "in", s.Delay, "err", err)
		if v.e.cfg.Hooks.Retry != nil {
			v.e.cfg.Hooks.Retry(v.ctx, v.failure(err), s.Delay)
		}
		return
	case v.refused:
		c.refused.Add(1)
		v.e.log.Debug("refused", "url", weburl.Redact(v.req.URL), "err", err)
	default:
		c.failed.Add(1)
		v.e.log.Warn("failed", "url", weburl.Redact(v.req.URL), "attempt", v.lease.Attempt, "err", err)
	}
	failure := v.failure(err)
	if v.e.cfg.Hooks.Failed != nil {
		v.e.cfg.Hooks.Failed(v.ctx, failure)
	}
	if v.r.failed != nil {
		v.r.failed(failure)
	}
}

func (v *visit) failure(err error) *PageError {
	return &PageError{Request: v.req, Attempt: v.lease.Attempt, Refused: v.refused, Err: err}
}

// accountPage counts and tells of a page that is done.
func (v *visit) accountPage(p *Page, s *Settlement) {
	c := &v.e.count
	v.r.outages.over(v.e.log, outageOf{"login", v.req.Session})
	c.pages.Add(1)
	c.links.Add(int64(len(s.Links)))
	c.items.Add(int64(len(p.items)))
	left := int(v.unread.Load()) + p.beyond
	if left > 0 {
		c.linksCut.Add(int64(left))
		v.e.log.Warn("links cut", "url", weburl.Redact(p.URL), "beyond", left)
	}
	if p.trapped > 0 {
		v.e.log.Debug("links trapped", "url", weburl.Redact(p.URL), "links", p.trapped, "first", weburl.Redact(p.trap.URL), "rule", p.trap.Rule)
	}
	if left > 0 || p.cut {
		c.cut.Add(1)
	}
	if v.flattened.Load() {
		c.flattened.Add(1)
		v.e.log.Warn("flattened: its tree lacks elements that are nested too deep", "url", weburl.Redact(p.URL))
	}
	if v.e.log.Enabled(v.ctx, slog.LevelDebug) {
		v.e.log.Debug("page", "url", weburl.Redact(p.URL), "status", p.Response.Status, "bytes", p.Response.RawSize, "links", len(s.Links), "depth", p.Depth)
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

// merge adds what an exchange told to what others told, the last of which ended at end: the worst class, the longest
// wait, all bytes. The place was taken between them too.
func merge(a, b ratelimit.Report, end time.Time) ratelimit.Report {
	if b.Class >= a.Class {
		a.Class, a.Status = b.Class, b.Status
	}
	a.Latency, a.Sent = b.Latency, b.Sent
	if end.IsZero() {
		a.Elapsed = b.Elapsed
	} else {
		a.Elapsed += time.Since(end)
	}
	a.RetryAfter = max(a.RetryAfter, b.RetryAfter)
	a.Exchanges += max(b.Exchanges, 1)
	a.Bytes += b.Bytes
	a.Proxy = b.Proxy
	return a
}
