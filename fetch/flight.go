package fetch

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"github.com/seine-go/seine/fetch/cookie"
	"github.com/seine-go/seine/internal/weburl"
	"github.com/seine-go/seine/ratelimit"
)

// flight is one call of Transport.Fetch.
type flight struct {
	t   *Transport
	ctx context.Context
	req *Request
	terms

	// Of the hop under way.
	url         weburl.URL
	method      string
	body        []byte
	route       Route
	foreign     bool // a redirect has left the origin: secrets stay behind
	otherHost   bool // a redirect has left the host
	fresh       bool // a connection is wanted that nothing was asked over
	onlyH1      bool // the host wants to be spoken to in HTTP/1.1
	refused     int  // how often the host has refused the request
	goneAway    int  // how often it was giving the connection up
	withoutBody bool // a redirect has turned the request into a GET: what tells of its body stays behind

	refererPolicy RefererPolicy // of the request, or the last that a redirect has named

	basic string // Authorization of the user info that the URL has, or one before it of the same origin

	jar     *cookie.Jar     // nil: no cookies
	renewed []cookie.Cookie // that hops have set or deleted: they count for more than those of the request

	maxBody  int64 // negative: no bound
	hopsLeft int
	hops     []Hop
	seen     []visited
	conns    int // opened, over all hops
}

// answer is a Response under way; what belongs together is allocated together.
type answer struct {
	Response
	trace  Trace
	sent   [8]Field
	next   weburl.URL // where a redirect leads
	follow bool       // it is followed

	charsets charsetMemo

	misdirected bool // the request is to be sent again over another connection (RFC 9110 15.5.20)
}

func (f *flight) run() (*Response, *Error) {
	if err := f.prepare(); err != nil {
		return nil, err
	}
	return f.follow()
}

// follow has one exchange after the other until one is not to be followed.
func (f *flight) follow() (*Response, *Error) {
	for {
		a, err := f.visit()
		if err != nil {
			if err.URL == "" {
				err.URL = f.url.Href()
			}
			err.Redirects = f.hops
			return nil, err
		}
		if !a.follow {
			a.trace.Connections = f.conns
			return &a.Response, nil
		}
		if err := f.redirect(a); err != nil {
			return nil, err
		}
	}
}

// prepare checks the request, so that nothing is sent of one that is wrong.
func (f *flight) prepare() *Error {
	if f.req == nil {
		return &Error{Op: "check", Kind: ErrInvalid, Err: errNilRequest}
	}
	for _, bad := range [...]error{f.bad, f.t.conf.bad} {
		if bad != nil {
			return &Error{Op: "check", URL: f.req.URL, Kind: ErrInvalid, Err: bad}
		}
	}
	u, err := weburl.Parse(f.req.URL)
	if err != nil {
		return &Error{Op: "parse", URL: f.req.URL, Kind: ErrInvalid, Err: err}
	}
	if !u.IsHTTP() {
		return &Error{Op: "check", URL: f.req.URL, Kind: ErrRefused, Err: errScheme}
	}
	f.url, f.body, f.route = u, f.req.Body, f.req.Route
	f.basic, f.refererPolicy = basicAuth(u.Username(), u.Password()), f.req.RefererPolicy
	if f.method = f.req.Method; f.method == "" {
		f.method = "GET"
	}
	f.maxBody = orDefault(f.req.MaxBody, f.t.conf.maxBody)
	f.hopsLeft = max(orDefault(f.req.MaxRedirects, f.t.conf.maxRedirects), 0)
	if err := f.req.Check(); err != nil {
		return &Error{Op: "check", URL: f.req.URL, Kind: ErrInvalid, Err: err}
	}
	if err := f.route.ServerName.checkDial(); err != nil {
		return &Error{Op: "check", URL: f.req.URL, Kind: ErrInvalid, Err: err}
	}
	if f.ctx.Err() != nil {
		return contextError(f.ctx, "start")
	}
	return f.openJar()
}

// visit goes through the Gate and has one exchange. It does so again where the kept connection of the first was dead, or was
// the wrong one for the request, and where the host has done nothing with it.
func (f *flight) visit() (*answer, *Error) {
	start := time.Now()
	f.fresh, f.onlyH1, f.refused, f.goneAway = false, false, 0, 0
	for {
		leave, err := f.enter()
		if err != nil {
			return nil, err
		}
		a, again, err := f.gated(start, leave)
		if !again {
			return a, err
		}
		if err := f.pause(); err != nil {
			return nil, err
		}
	}
}

// pause leaves a host alone that has refused a request more than once.
func (f *flight) pause() *Error {
	if f.refused < 2 {
		return nil
	}
	timer := time.NewTimer(refusedPause << (f.refused - 2))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-f.ctx.Done():
		return contextError(f.ctx, "wait")
	}
}

// gated has one exchange and tells the Gate of it, also where the caller's Sink panics.
func (f *flight) gated(start time.Time, leave func(ratelimit.Report)) (a *answer, again bool, err *Error) {
	if leave != nil {
		entered := time.Now()
		defer func() { leave(f.report(a, err, time.Since(entered), again)) }()
	}
	return f.exchange(start)
}

// enter waits at the Gate. The address that it is told is the one that will be tried first.
func (f *flight) enter() (leave func(ratelimit.Report), err *Error) {
	if f.gate == nil {
		return nil, nil
	}
	var addr netip.Addr
	if f.route.Proxy.IsZero() {
		host, _ := f.dialHost()
		addrs, err := f.t.addresses(f.ctx, host)
		if err != nil {
			return nil, err
		}
		addr = addrs[0]
	}
	leave, cause := f.gate.Enter(f.ctx, f.url.Host(), addr)
	if cause == nil {
		return leave, nil
	}
	var known *Error
	switch {
	case f.ctx.Err() != nil:
		return nil, contextError(f.ctx, "gate")
	case errors.As(cause, &known):
		return nil, &Error{Op: "gate", Kind: known.Kind, Final: known.Final, Err: cause}
	case len(f.hops) > 0:
		return nil, &Error{Op: "gate", Kind: ErrHopRefused, Err: cause}
	}
	return nil, &Error{Op: "gate", Kind: KindOf(cause), Err: cause}
}

// report tells the Gate what became of an exchange.
func (f *flight) report(a *answer, err *Error, elapsed time.Duration, again bool) ratelimit.Report {
	r := ratelimit.Report{Elapsed: elapsed, Exchanges: 1}
	if !f.route.Proxy.IsZero() {
		r.Proxy = f.route.Proxy.String()
	}
	switch {
	case again: // the host closed a connection that it was free to close, or has another one in mind
		if f.refused > 0 {
			r.Class = ratelimit.Throttle
		}
		return r
	case err != nil:
		if err.Kind.Fault() == FaultHost {
			r.Class = ratelimit.NetError
		}
		return r
	case a == nil: // a panic of the caller's own code
		return r
	}
	r.Status, r.Latency, r.Bytes = a.Status, a.trace.FirstByte, a.RawSize
	r.Sent = a.trace.FirstByte + a.trace.Body
	r.RetryAfter, _ = RetryAfter(a.Header, a.Status, a.FetchedAt, 0)
	switch {
	case a.Status == 429 || a.Status == 503 && r.RetryAfter > 0:
		r.Class = ratelimit.Throttle
	case a.Status == 403:
		r.Class = ratelimit.Block
	case a.Status >= 500:
		r.Class = ratelimit.ServerError
	case a.bodyErr != nil && a.bodyErr.Kind != ErrBodyLimit && a.bodyErr.Kind != ErrEncoding:
		r.Class = ratelimit.NetError
	default:
		r.Class = ratelimit.OK
	}
	return r
}

// exchange has one exchange on a connection of the pool. again says that it is to be repeated: the host, as far as can be
// known, did nothing with the request (RFC 9110 9.2.2).
func (f *flight) exchange(start time.Time) (a *answer, again bool, err *Error) {
	if err := f.guardForwarded(); err != nil {
		return nil, false, err
	}
	for unsent := 0; ; unsent++ {
		c, reused, err := f.t.acquire(f, f.fresh)
		if err != nil {
			return nil, false, err
		}
		if !reused {
			f.conns++
		}
		a = &answer{Response: Response{Request: f.req, Redirects: f.hops}}
		a.Response.charsets = &a.charsets
		f.traceConn(&a.trace, c, reused, start)
		a.trace.Retried = f.fresh
		var outcome fate
		if c.h2 == nil {
			outcome, err = f.exchangeH1(c, a)
		} else {
			outcome, err = f.exchangeH2(c, a)
		}
		a.trace.Total = time.Since(start)
		if f.fails(outcome, reused) && unsent < maxGoneAway && f.ctx.Err() == nil {
			f.fresh = true // the host has seen nothing of it
			continue
		}
		return a, f.again(a, outcome, reused, err), err
	}
}

// fails reports whether a connection was of no use to an exchange.
func (f *flight) fails(outcome fate, reused bool) bool {
	return outcome == unseen || outcome == unsent && reused && !f.fresh
}

// again reports whether an exchange is to be repeated, and notes how.
func (f *flight) again(a *answer, outcome fate, reused bool, err *Error) bool {
	switch {
	case err == nil:
		f.fresh = f.fresh || a.misdirected
		return a.misdirected
	case f.ctx.Err() != nil:
		return false
	case outcome == refused:
		f.refused++
		f.fresh = true
		return f.refused <= maxRefused
	case outcome == goneAway:
		f.goneAway++
		f.fresh = true
		return f.goneAway <= maxGoneAway
	case outcome == wantsH1 && !f.onlyH1:
		f.onlyH1 = true
		return true
	case outcome == unanswered && reused && !f.fresh && idempotent(f.method):
		f.fresh = true
		return true
	}
	return false
}

// fate is how far an exchange has come.
type fate uint8

const (
	settled    fate = iota // it cannot be repeated without the caller's knowledge
	unanswered             // the connection ended before a byte of an answer came
	unsent                 // the connection ended before a byte of the request went out
	unseen                 // as unsent, and the connection takes no more
	refused                // the host has done nothing with the request, and says so
	goneAway               // as refused, since it was giving the connection up
	wantsH1                // as refused, and it is to be sent over HTTP/1.1
)

func idempotent(method string) bool {
	switch method {
	case "GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE":
		return true
	}
	return false
}

func (f *flight) traceConn(t *Trace, c *conn, reused bool, start time.Time) {
	t.Addr, t.ServerName = c.addr, c.sni
	t.ALPN, t.TLSVersion = c.info.ALPN, c.info.Version
	t.Reused, t.Resumed = reused, c.info.Resumed && !reused
	t.Wait = time.Since(start)
	if !reused {
		t.DNS, t.Connect, t.TLS = c.took.dns, c.took.connect, c.took.tls
		t.Wait = max(0, t.Wait-t.DNS-t.Connect-t.TLS) // others may have begun to open it
	}
}

// contextError is the error of a context that has ended.
func contextError(ctx context.Context, op string) *Error {
	kind := ErrCanceled
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		kind = ErrTimeout
	}
	return &Error{Op: op, Kind: kind, Err: context.Cause(ctx)}
}
