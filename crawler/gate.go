package crawler

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/seine-go/seine/fetch"
	"github.com/seine-go/seine/fetch/robots"
	"github.com/seine-go/seine/internal/weburl"
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
	used     bool // its first slot is taken
	slot     time.Time
	report   HostReport
	lastEnd  time.Time
	lastSent time.Time // when the request of the latest exchange was written; zero if that is not known
}

// errNoVisit says that somebody else's request came through the engine's Transport.
var errNoVisit = errors.New("the engine's Transport serves only requests of its own pages: pass on the context that the handler got")

// Enter implements fetch.Gate.
func (g gate) Enter(ctx context.Context, host string, _ netip.Addr) (func(ratelimit.Report), error) {
	v := visitOf(ctx)
	if v == nil {
		return nil, &fetch.Error{Op: "gate", Kind: fetch.ErrInvalid, Err: errNoVisit}
	}
	if host == v.host {
		return v.enterOwn(ctx)
	}
	return v.enterForeign(ctx, host)
}

// enterOwn begins an exchange with the lease's host.
func (v *visit) enterOwn(ctx context.Context) (func(ratelimit.Report), error) {
	v.mu.Lock()
	v.begun++
	again, since, sent := v.begun > 1, time.Since(v.lastEnd), sinceSent(v.lastSent)
	v.mu.Unlock()
	if !again { // the lease's own slot serves, unless others of the host may have passed by meanwhile
		again, since = v.e.cfg.PerHost != 1 && time.Since(v.leased) > lateStart, math.MaxInt64/2
	}
	if again {
		wait, err := v.slot(ctx, ReserveRequest{Host: v.host, Under: v.lease, Since: since, Sent: sent})
		if err == nil {
			err = sleep(ctx, wait)
		}
		if err != nil {
			return nil, err
		}
	}
	return v.leaveOwn, nil
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

func (v *visit) leaveOwn(r ratelimit.Report) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.report, v.lastEnd = merge(v.report, r), time.Now()
	v.lastSent = whenSent(v.lastEnd, r)
	v.r.received(v.host, r.Bytes)
}

// slot books one more slot on a host where the visit has a place.
func (v *visit) slot(ctx context.Context, r ReserveRequest) (time.Duration, error) {
	if v.e.reserver == nil { // the place is ours alone only with a delay; else it keeps its own spacing
		pace := max(v.e.cfg.Delay, v.e.cfg.Spacing, v.e.delayOf(r.Host))
		return pace - r.Since, nil
	}
	res, err := v.e.reserver.ReserveHost(ctx, r)
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

// enterForeign begins an exchange with another host.
func (v *visit) enterForeign(ctx context.Context, host string) (func(ratelimit.Report), error) {
	p, err := v.reserve(ctx, host)
	if err != nil {
		return nil, err
	}
	v.mu.Lock()
	wait, first, since, sent := time.Until(p.slot), !p.used, time.Since(p.lastEnd), sinceSent(p.lastSent)
	p.used = true
	v.mu.Unlock()
	if !first {
		if wait, err = v.slot(ctx, ReserveRequest{Host: host, Under: v.lease, Held: p.res, Since: since, Sent: sent}); err != nil {
			return nil, err
		}
	}
	if err := sleep(ctx, wait); err != nil {
		return nil, err
	}
	return func(r ratelimit.Report) {
		v.mu.Lock()
		defer v.mu.Unlock()
		p.report, p.lastEnd = merge(p.report, r), time.Now()
		p.lastSent = whenSent(p.lastEnd, r)
		v.r.received(host, r.Bytes)
	}, nil
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
	res, err := v.e.reserver.ReserveHost(ctx, ReserveRequest{Host: host, Under: v.lease, TTL: leaseTTL + maxGateWait})
	if err != nil {
		return nil, err
	}
	p = &place{res: res, slot: time.Now().Add(res.Wait)}
	if res.Wait > maxGateWait {
		v.e.release(p)
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
		v.e.release(p)
	}
}

func (e *Engine) release(p *place) {
	r := p.report
	if !p.lastEnd.IsZero() {
		r.Since = time.Since(p.lastEnd)
	}
	if err := e.reserver.ReleaseHost(context.Background(), p.res, r); err != nil {
		e.log.Warn("release", "host", p.res.Host, "err", err)
	}
}

// checkHop is asked before each redirect hop. What the crawl must not go to is refused; a hop to a host that has no
// place now becomes a request of its own, so that no lease waits for another's.
func (e *Engine) checkHop(ctx context.Context, _ *fetch.Request, next string) error {
	v := visitOf(ctx)
	if v == nil || robots.IsRobots(ctx) {
		return nil // of robots.txt no robots are asked (RFC 9309 2.3.1.2)
	}
	u, ok := weburl.Split(next)
	if !ok || !v.r.scope.holdsURL(u) {
		return v.r.scope.refuse(next)
	}
	if rule := e.cfg.Traps.check(u); rule != "" {
		return &TrapError{URL: next, Rule: rule}
	}
	v.mu.Lock()
	hops := v.req.Hops + len(v.passed) + 1
	v.mu.Unlock()
	if hops > e.cfg.MaxHops {
		return e.tooManyHops(next)
	}
	if host := u.Host(); host != v.host {
		if _, err := v.reserve(ctx, host); errors.Is(err, ErrBusy) {
			return v.move(next, hops)
		} else if err != nil {
			return err
		}
		if err := v.askRobots(ctx, next, host); err != nil {
			return err
		}
	} else if err := v.askRobots(ctx, next, host); err != nil {
		return err
	}
	return v.pass(next)
}

// stored returns a URL as a request keeps it: without fragment, and without user info, which is a credential.
func stored(url string) string {
	url, _, _ = strings.Cut(url, "#")
	if u, ok := weburl.Split(url); ok && u.HasUserInfo() {
		return u.WithoutUserInfo().Href()
	}
	return url
}

// pass notes the key of a URL that a redirect led to.
func (v *visit) pass(next string) error {
	r := Request{URL: stored(next)}
	if _, err := v.e.setKey(&r, nil); err != nil {
		return err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.passed = append(v.passed, r.key())
	return nil
}

// hopKey begins the keys of redirect targets that are fetched though their URL may have been seen on the way. No other key
// begins so.
const hopKey = "hop "

// move makes a request of its own of a redirect target.
func (v *visit) move(next string, hops int) error {
	r := *v.req
	r.URL, r.Key, r.Hops = stored(next), "", hops
	r.Method, r.Body = "", nil // a hop that keeps its body is not followed across hosts
	if v.req.Body != nil {
		return fmt.Errorf("%w: a redirect of a request with a body leads to a busy host", ErrBusy)
	}
	if _, err := v.e.setKey(&r, nil); err != nil {
		return err
	}
	if r.key() == v.req.key() || v.req.Hops > 0 { // the chain may come back to where it was; the hops bound it
		r.Key = fmt.Sprintf("%s%d %s", hopKey, hops, r.key())
	}
	v.mu.Lock()
	v.moved = &r
	v.mu.Unlock()
	return errMoved
}

// foreign is a Fetcher that knows of no gate: the engine gates each fetch as one exchange, and makes requests of its
// redirects.
type foreign struct {
	e *Engine
	fetch.Fetcher
}

// Fetch implements fetch.Fetcher.
func (f foreign) Fetch(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
	u, ok := weburl.Split(req.URL)
	if !ok {
		return nil, &fetch.Error{Op: "parse", URL: req.URL, Kind: fetch.ErrInvalid}
	}
	leave, err := gate{f.e}.Enter(ctx, u.Host(), netip.Addr{})
	if err != nil {
		return nil, err
	}
	start := time.Now()
	r := ratelimit.Report{Class: ratelimit.NetError, Exchanges: 1}
	defer func() {
		r.Elapsed = time.Since(start)
		r.Sent = r.Elapsed // at the most: when the request was written only the Fetcher knows
		leave(r)
	}()
	resp, err := f.Fetcher.Fetch(ctx, f.named(req))
	if err == nil && resp != nil {
		r.Class, r.Status, r.Bytes = statusClass(resp), resp.Status, resp.RawSize
		r.RetryAfter, _ = fetch.RetryAfter(resp.Header, resp.Status, time.Now(), 0)
	}
	return resp, err
}

// named gives a request what the Config says and a Transport would have seen to: who asks, and how much it takes.
func (f foreign) named(req *fetch.Request) *fetch.Request {
	c := req.Clone()
	if c.Header == nil {
		c.Header = http.Header{}
	}
	if len(c.Header["User-Agent"]) == 0 {
		c.Header.Set("User-Agent", f.e.cfg.UserAgent)
	}
	if c.MaxBody == 0 {
		c.MaxBody = f.e.cfg.MaxBody
	}
	return c
}

// statusClass is what a status tells about the host's load.
func statusClass(resp *fetch.Response) ratelimit.Class {
	switch {
	case resp.Status == http.StatusTooManyRequests, resp.Status == http.StatusServiceUnavailable && resp.Header.Get("Retry-After") != "":
		return ratelimit.Throttle
	case resp.Status == http.StatusForbidden:
		return ratelimit.Block
	case resp.Status >= 500:
		return ratelimit.ServerError
	}
	return ratelimit.OK
}

// location is where a redirect leads.
func location(resp *fetch.Response) (string, bool) {
	switch resp.Status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
	default:
		return "", false
	}
	ref := strings.TrimSpace(resp.Header.Get("Location"))
	u, err := weburl.Parse(resp.URL)
	if err != nil || ref == "" {
		return "", false
	}
	next, err := u.Resolve(ref)
	return next.Href(), err == nil
}

// followForeign makes a request of the redirect that a foreign Fetcher answered with.
func (v *visit) followForeign(resp *fetch.Response) (bool, error) {
	if _, is := v.e.own.(foreign); !is || v.e.cfg.MaxHops == 0 {
		return false, nil
	}
	next, ok := location(resp)
	if !ok {
		return false, nil
	}
	switch {
	case !v.r.scope.holds(next):
		return true, v.r.scope.refuse(next)
	case v.req.Hops+1 > v.e.cfg.MaxHops:
		return true, v.e.tooManyHops(next)
	}
	return true, v.move(next, v.req.Hops+1)
}
