package crawler

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/seine-go/seine/fetch"
	"github.com/seine-go/seine/fetch/robots"
	"github.com/seine-go/seine/ratelimit"
)

// patience is how long an exchange waits for a limit before its request goes back to the frontier, so that what is
// limited keeps nobody from other work.
const patience = time.Second

// limitedError says that a request goes back until a limit lets it through.
type limitedError struct {
	what string
	in   time.Duration
}

// Error names the limit.
func (e *limitedError) Error() string {
	return fmt.Sprintf("seine: the limit of %s lets it through in %v", e.what, e.in)
}

// permit is the leave of one exchange to begin, from the limits beside the host's pace.
type permit struct {
	v    *visit
	host string
	addr *address // nil where addresses have no pace
}

// permit waits for what the Config limits beside the pace of hosts: requests and bytes in a second, and the address.
func (v *visit) permit(ctx context.Context, host string, addr netip.Addr) (*permit, error) {
	c := &v.e.cfg
	if err := v.limit(ctx, c.Limiter, c.Name); err != nil {
		return nil, err
	}
	if err := v.limit(ctx, c.HostLimiter, host); err != nil {
		return nil, err
	}
	p := &permit{v: v, host: host}
	if !addr.IsValid() || !v.e.addresses.limited() {
		return p, nil
	}
	most := patience
	if !v.canGoBack(ctx) {
		most = maxGateWait
	}
	a, in, err := v.e.addresses.enter(ctx, addr.Unmap(), most)
	switch {
	case in > 0 && v.canGoBack(ctx):
		err = v.goBack(ctx, addr.String(), in)
	case in > 0:
		err = limitTimeout(addr.String(), in)
	}
	p.addr = a
	return p, err
}

// limit waits for a permit of a limiter.
func (v *visit) limit(ctx context.Context, l ratelimit.Limiter, key string) error {
	if l == nil {
		return nil
	}
	r, err := l.Reserve(ctx, key, 1)
	var late *ratelimit.WaitError
	switch {
	case errors.As(err, &late) && v.canGoBack(ctx):
		return v.goBack(ctx, key, late.Wait-late.Max+patience)
	case late != nil:
		return limitTimeout(key, late.Wait)
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, ratelimit.ErrTooManyKeys) && v.canGoBack(ctx):
		return v.goBack(ctx, key, 10*patience)
	case err != nil:
		return &fetch.Error{Op: "limit", Kind: fetch.ErrInvalid, Err: err}
	}
	for d := r.Delay(); d > 0; d = r.Delay() {
		if d > patience && v.canGoBack(ctx) {
			r.Cancel(context.WithoutCancel(ctx))
			return v.goBack(ctx, key, d)
		}
		if err := sleep(ctx, min(d, patience)); err != nil { // the rules may change meanwhile
			r.Cancel(context.WithoutCancel(ctx))
			return err
		}
	}
	return nil
}

func limitTimeout(what string, in time.Duration) error {
	return &fetch.Error{Op: "limit", Kind: fetch.ErrTimeout, Err: &limitedError{what, in}}
}

// canGoBack reports whether nothing has been asked for but the robots.txt of the lease's own host, and nobody else waits
// for that.
func (v *visit) canGoBack(ctx context.Context) bool {
	v.mu.Lock()
	can := !v.asked && !v.goesBack && len(v.places) == 0
	v.mu.Unlock()
	if !can || !robots.IsRobots(ctx) || !v.e.several.Load() {
		return can
	}
	v.r.mu.Lock()
	defer v.r.mu.Unlock()
	for other := range v.r.held {
		if other != v && other.host == v.host {
			return false
		}
	}
	return true
}

// goBack ends the visit: its request goes back to the frontier, and its host is left alone for a time.
func (v *visit) goBack(ctx context.Context, what string, in time.Duration) error {
	cause := &limitedError{what, max(in, time.Millisecond)}
	v.mu.Lock()
	v.goesBack = true
	v.mu.Unlock()
	if _, ok := v.e.cfg.Frontier.(HostSetter); ok {
		if err := v.block(v.lasting(v.ctx), v.host, cause.in); err != nil {
			v.e.log.Warn("block", "host", v.host, "err", err)
		}
	}
	v.cancel(cause)
	if robots.IsRobots(ctx) { // it ends as nobody waits for it, and nothing is to be learned from that
		if err := sleep(ctx, patience); err == nil {
			return limitTimeout(what, cause.in)
		}
	}
	return cause
}

// begun tells that the request of the exchange is about to be sent.
func (p *permit) begun() {
	if p.addr != nil {
		p.v.e.addresses.begun(p.addr)
	}
}

// giveUp tells that it is not.
func (p *permit) giveUp() {
	if p.addr != nil {
		p.v.e.addresses.giveUp(p.addr)
	}
}

// over tells that the exchange has ended.
func (p *permit) over(r ratelimit.Report) {
	if p.addr != nil {
		p.v.e.addresses.leave(p.addr, r)
	}
	if r.Bytes <= 0 {
		return
	}
	c, ctx := &p.v.e.cfg, p.v.lasting(p.v.ctx)
	for _, l := range [...]struct {
		limiter ratelimit.Limiter
		key     string
	}{{c.Limiter, c.Name}, {c.HostLimiter, p.host}} {
		if b, ok := l.limiter.(ratelimit.ByteBooker); ok {
			// The answer is there. That its bytes could not be booked is no reason to lose it.
			_ = b.BookBytes(ctx, l.key, int(min(r.Bytes, maxBooked)))
		}
	}
}

// maxBooked bounds what one body costs, in bytes, where an int is short.
const maxBooked = 1<<31 - 1

// Change is a change of the pace, or of the scope, while the crawl runs.
type Change struct {
	Scope *Scope // that holds from now on; nil for a change of the pace

	Host    string     // "" for all that have no pace of their own
	Address bool       // it is the pace of addresses, not of hosts
	Pace    HostPolicy // what was told; zero fields are as before
}

// SetPace changes the pace of a host from now on, or, for the host "", of all that have none of their own, until the next
// run tells that anew. Hooks.Changed is told. It is an error where the frontier is no HostSetter.
func (e *Engine) SetPace(ctx context.Context, host string, p HostPolicy) error {
	setter, ok := e.cfg.Frontier.(HostSetter)
	if !ok {
		return fmt.Errorf("seine: a %T keeps its own pace", e.cfg.Frontier)
	}
	if p.MaxInFlight < 0 || p.MaxInFlight > 1 || p.InFlight > 1 {
		e.several.Store(true)
	}
	if err := setter.SetHost(ctx, host, p); err != nil {
		return err
	}
	e.changed(ctx, Change{Host: host, Pace: p})
	return nil
}

// SetAddressPace changes Config.Address from now on: zero fields stay as they are, negative ones mean none. Hooks.Changed
// is told.
func (e *Engine) SetAddressPace(ctx context.Context, p HostPolicy) {
	e.addresses.set(p)
	e.changed(ctx, Change{Address: true, Pace: p})
}

func (e *Engine) changed(ctx context.Context, c Change) {
	if s := c.Scope; s != nil {
		e.log.Info("scope", "hosts", len(s.Hosts), "domains", len(s.Domains), "prefixes", len(s.Prefixes), "exclude", len(s.Exclude), "func", s.Func != nil)
	} else {
		e.log.Info("pace", "host", c.Host, "address", c.Address, "pace", fmt.Sprintf("%+v", c.Pace))
	}
	if e.cfg.Hooks.Changed != nil {
		e.cfg.Hooks.Changed(ctx, c)
	}
}
