package crawler

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"time"

	"github.com/seine-go/seine/fetch"
	"github.com/seine-go/seine/fetch/robots"
	"github.com/seine-go/seine/ratelimit"
)

// gate is the fetch.Gate of an engine. The first exchange with the host of a lease uses the slot that was reserved with
// it; every further one (robots.txt, redirect hop, repetition) books a slot of its own.
type gate struct{ e *Engine }

// maxGateWait is how long an exchange may wait inside a lease; what would wait longer becomes a request of its own, or
// is tried again.
const maxGateWait = robots.MaxCrawlDelay + time.Minute

// place is a reservation on a host other than the lease's.
type place struct {
	res      HostReservation
	berth    berth
	used     bool // its first slot is taken
	slot     time.Time
	report   HostReport
	lastEnd  time.Time
	lastSent time.Time // when the request of the latest exchange was written; zero if that is not known
}

// errNoVisit says that somebody else's request came through the engine's Transport.
var errNoVisit = errors.New("the engine's Transport serves only requests of its own pages: pass on the context that the handler got")

// Enter implements fetch.Gate: first the host's slot, then what else is limited, and again a slot if that took long.
func (g gate) Enter(ctx context.Context, host string, addr netip.Addr) (func(ratelimit.Report), error) {
	v := visitOf(ctx)
	if v == nil {
		return nil, &fetch.Error{Op: "gate", Kind: fetch.ErrInvalid, Err: errNoVisit}
	}
	at := access{v: v, b: &v.berth}
	if host != v.host {
		var err error
		if at, err = v.find(ctx, host); err != nil {
			return nil, err
		}
	}
	if err := at.enter(ctx); err != nil {
		return nil, err
	}
	if !g.e.limited() {
		v.goOn(ctx)
		return at.leave, nil
	}
	entered := time.Now()
	permit, err := v.permit(ctx, host, addr)
	if err != nil {
		at.quit()
		return nil, err
	}
	if g.e.several.Load() && time.Since(entered) > lateStart {
		wait, err := v.slot(ctx, ReserveRequest{Host: host, Under: at.v.lease, Held: at.held(), Since: math.MaxInt64 / 2, Late: true})
		if err == nil {
			err = sleep(ctx, wait)
		}
		if err != nil {
			permit.giveUp()
			at.quit()
			return nil, err
		}
	}
	permit.begun()
	v.goOn(ctx)
	return func(r ratelimit.Report) {
		at.leave(r)
		permit.over(r)
	}, nil
}

// limited reports whether anything is limited beside the pace of hosts.
func (e *Engine) limited() bool {
	return e.cfg.Limiter != nil || e.cfg.HostLimiter != nil || e.addresses.limited()
}

// goOn notes that the visit has asked for more than robots.txt.
func (v *visit) goOn(ctx context.Context) {
	if !robots.IsRobots(ctx) {
		v.mu.Lock()
		v.asked = true
		v.mu.Unlock()
	}
}

// begin waits for a slot of the lease's host.
func (v *visit) begin(ctx context.Context) error {
	v.mu.Lock()
	v.begun++
	again, since, sent := v.begun > 1, time.Since(v.lastEnd), sinceSent(v.lastSent)
	v.mu.Unlock()
	late := !again && v.e.several.Load() && time.Since(v.leased) > lateStart
	if !again && !late { // the lease's own slot serves, unless others of the host may have passed by meanwhile
		return nil
	}
	if late {
		since = math.MaxInt64 / 2
	}
	wait, err := v.slot(ctx, ReserveRequest{Host: v.host, Under: v.lease, Since: since, Sent: sent, Late: late})
	if err != nil {
		return err
	}
	return sleep(ctx, wait)
}

// lateStart is how late the first exchange of a lease may begin and still use the lease's slot.
const lateStart = time.Millisecond

func whenSent(end time.Time, r ratelimit.Report) time.Time {
	if r.Sent <= 0 {
		return time.Time{}
	}
	return end.Add(-r.Sent)
}

func sinceSent(sent time.Time) time.Duration {
	if sent.IsZero() {
		return 0
	}
	return time.Since(sent)
}

func (v *visit) ended(r ratelimit.Report) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.report, v.lastEnd = merge(v.report, r, v.lastEnd), time.Now()
	v.lastSent = whenSent(v.lastEnd, r)
	v.r.received(v.host, r.Bytes)
}

// slot books one more slot on a host where the visit has a place.
func (v *visit) slot(ctx context.Context, r ReserveRequest) (time.Duration, error) {
	if v.e.reserver == nil { // the place is ours alone only with a delay; else it keeps its own spacing
		pace := max(v.e.cfg.Delay, v.e.cfg.Spacing, v.e.delayOf(r.Host))
		return pace - r.Since, nil
	}
	res, err := v.reserveHost(ctx, r)
	if err != nil {
		return 0, err
	}
	if res.Wait > maxGateWait {
		return 0, &fetch.Error{Op: "gate", Kind: fetch.ErrTimeout, Err: fmt.Errorf("%s is to be left alone for %v", r.Host, res.Wait.Round(time.Second))}
	}
	return res.Wait, nil
}

func (e *Engine) delayOf(host string) time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.delays[host]
}

// beginForeign waits for a slot of another host.
func (v *visit) beginForeign(ctx context.Context, p *place) error {
	v.mu.Lock()
	wait, first, since, sent := time.Until(p.slot), !p.used, time.Since(p.lastEnd), sinceSent(p.lastSent)
	p.used = true
	v.mu.Unlock()
	if !first {
		var err error
		if wait, err = v.slot(ctx, ReserveRequest{Host: p.res.Host, Under: v.lease, Held: p.res, Since: since, Sent: sent}); err != nil {
			return err
		}
	}
	return sleep(ctx, wait)
}

func (v *visit) endedForeign(p *place, r ratelimit.Report) {
	v.mu.Lock()
	defer v.mu.Unlock()
	p.report, p.lastEnd = merge(p.report, r, p.lastEnd), time.Now()
	p.lastSent = whenSent(p.lastEnd, r)
	v.r.received(p.res.Host, r.Bytes)
}

// reserve books a place on another host, once.
func (v *visit) reserve(ctx context.Context, host string) (*place, error) {
	v.mu.Lock()
	p := v.places[host]
	v.mu.Unlock()
	if p != nil {
		return p, nil
	}
	if v.e.reserver == nil {
		return nil, ErrBusy
	}
	res, err := v.reserveHost(ctx, ReserveRequest{Host: host, Under: v.lease, TTL: leaseTTL + maxGateWait})
	if err != nil {
		return nil, err
	}
	p = &place{res: res, slot: time.Now().Add(res.Wait)}
	if res.Wait > maxGateWait {
		v.giveBack(p)
		return nil, ErrBusy
	}
	v.mu.Lock()
	if v.places == nil {
		v.places = map[string]*place{}
	}
	v.places[host] = p
	v.mu.Unlock()
	return p, nil
}

// leaveForeign gives back the places on other hosts.
func (v *visit) leaveForeign() {
	v.mu.Lock()
	places := v.places
	v.places = nil
	v.mu.Unlock()
	for _, p := range places {
		p.berth.close(v.r.after.Done())
		v.giveBack(p)
	}
	if len(places) > 0 {
		v.r.vacant.call()
	}
}

func (v *visit) giveBack(p *place) {
	r := p.report
	if !p.lastEnd.IsZero() {
		r.Since = time.Since(p.lastEnd)
	}
	if err := v.r.foreign("Frontier.ReleaseHost", func() error {
		return v.e.reserver.ReleaseHost(v.r.after, p.res, r)
	}); err != nil {
		v.e.log.Warn("release", "host", p.res.Host, "err", err)
	}
}

// reserveHost asks the frontier for a slot or a place.
func (v *visit) reserveHost(ctx context.Context, r ReserveRequest) (res HostReservation, err error) {
	err = v.r.foreign("Frontier.ReserveHost", func() (err error) {
		res, err = v.e.reserver.ReserveHost(ctx, r)
		return err
	})
	if err != nil && !errors.Is(err, ErrBusy) && ctx.Err() == nil {
		err = fmt.Errorf("seine: reserve %s: %w", r.Host, err)
	}
	return res, err
}
