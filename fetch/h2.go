package fetch

import (
	"errors"
	"net"
	"strings"
	"time"

	"golang.org/x/net/http2"

	"github.com/seine-go/seine/fetch/internal/h1"
	"github.com/seine-go/seine/fetch/internal/h2"
)

// How often a request is sent again that a host has not looked at.
const (
	maxRefused  = 5  // because it refused the stream
	maxGoneAway = 10 // because it was giving the connection up, which many requests on it may do to each other

	refusedPause = 100 * time.Millisecond // before a request that was refused twice; it doubles
)

func (t *Transport) setupH2() {
	c := &t.conf
	c.h2.Limits = h2.Limits{HeaderBytes: c.limits.HeaderBytes}
	if p := t.HTTP2; p != nil {
		c.bad = p.check()
		c.h2.Params, c.h2.Limits.Held = p.params(), p.Held
	}
	c.h2.Timeouts = h2.Timeouts{
		Header: c.timeouts.Header, IdleRead: c.timeouts.IdleRead, MinRate: c.timeouts.MinRate, RateWindow: c.timeouts.RateWindow,
	}
}

// startH2 makes the connection one of HTTP/2.
func (t *Transport) startH2(c *conn, nc net.Conn) {
	conf := t.conf.h2
	conf.Changed = func() { t.changedH2(c) }
	c.h2 = h2.NewConn(nc, conf)
}

// exchangeH2 has one exchange on an HTTP/2 connection and gives its place back.
func (f *flight) exchangeH2(c *conn, a *answer) (fate, *Error) {
	defer func() { f.t.release(c, true) }()
	var few [12]h1.Field
	host, sent := forH2(f.appendFields(few[:0]))
	req := h2.Request{
		Method: f.method, Scheme: f.url.Scheme(), Authority: host, Path: f.url.RequestTarget(), Header: sent, Body: f.body,
		Priority: f.t.HTTP2.priority(f.req.Kind),
	}
	if f.t.conf.total > 0 {
		req.Due = time.Now().Add(f.t.conf.total)
	}
	s, cause := c.h2.Do(f.ctx, &req)
	if cause != nil {
		return fateH2(cause), f.wireErrorH2(cause)
	}
	defer s.Close()
	r := &s.Response
	a.Status, a.Header, a.FetchedAt = r.Status, r.Header, time.Now()
	a.URL, a.Proto = f.url.Href(), "HTTP/2.0"
	f.traceSent(a, sent)
	a.trace.FirstByte = r.FirstByte.Sub(r.Written)
	f.lead(a)
	if a.misdirected {
		c.h2.Retire()
	}
	if a.follow || a.misdirected {
		if r.ContentLength <= maxHopBody { // what ends by itself needs no reset, of which hosts count how many come
			s.Within(hopDrainTime)
			a.RawSize = skim(s)
		}
		return settled, nil
	}
	info := f.bodyInfo(a, r.ContentLength)
	if info.sink != nil && f.t.conf.total > 0 {
		info.clock = &clockH2{s: s}
	}
	res := readBody(s, info)
	if res.fatal != nil {
		return settled, f.fatalError(res.fatal)
	}
	if res.wireErr != nil {
		why := f.wireErrorH2(res.wireErr)
		if f.ctx.Err() != nil {
			return settled, why
		}
		res.cut = why
	}
	f.deliver(a, &res)
	if res.ended { // else the connection may yet write to it
		a.Trailer = r.Trailer
	}
	a.trace.BytesIn, a.trace.BytesOut = s.Bytes()
	a.trace.Body = time.Since(r.FirstByte)
	return settled, nil
}

// fateH2 says how far an exchange has come that has failed.
func fateH2(err error) fate {
	var wire *h2.Error
	var reset h2.ResetError
	switch {
	case !errors.As(err, &wire):
		return settled
	case errors.As(err, &reset) && reset.Code == http2.ErrCodeHTTP11Required:
		return wantsH1
	case wire.Kind == h2.Refused && !wire.Written:
		return unseen
	case wire.Kind == h2.Refused && reset.Code == http2.ErrCodeRefusedStream:
		return refused
	case wire.Kind == h2.Refused:
		return goneAway
	case wire.Kind != h2.Closed:
		return settled
	case wire.Written:
		return unanswered
	}
	return unsent
}

// forH2 takes out what HTTP/2 has no fields for (RFC 9113 8.2.2, 8.3.1), and writes all names in lower case.
func forH2(fields []h1.Field) (host string, sent []h1.Field) {
	sent = fields[:0]
	for _, f := range fields {
		f.Name = h2.LowerName(f.Name)
		switch f.Name {
		case "host":
			host = f.Value
		case "connection", "keep-alive", "proxy-connection", "upgrade", "http2-settings":
		case "te":
			if strings.EqualFold(f.Value, "trailers") {
				sent = append(sent, f)
			}
		default:
			sent = append(sent, f)
		}
	}
	return host, sent
}

// wireErrorH2 says what an error of HTTP/2 means for the caller.
func (f *flight) wireErrorH2(err error) *Error {
	if f.ctx.Err() != nil {
		return contextError(f.ctx, "read")
	}
	var wire *h2.Error
	if !errors.As(err, &wire) {
		return &Error{Op: "read", Kind: ErrClosed, Err: err}
	}
	e := &Error{Op: wire.Op, Err: wire}
	switch wire.Kind {
	case h2.BadRequest:
		e.Kind = ErrInvalid
	case h2.Refused, h2.Closed, h2.Reset, h2.Cancelled: // by Close, since the context has not ended
		e.Kind = ErrClosed
	case h2.Malformed, h2.Protocol:
		if e.Kind = ErrProtocol; wire.Op == "read body" {
			e.Kind = ErrTruncated
		}
	case h2.WriteTimeout, h2.HeaderTimeout, h2.IdleTimeout:
		e.Kind = ErrTimeout
	case h2.Overdue:
		e.Kind, e.Err = ErrTimeout, errTotal
	case h2.HeaderTooLarge:
		e.Kind = ErrHeaderLimit
	case h2.Truncated:
		e.Kind = ErrTruncated
	case h2.TooSlow:
		e.Kind = ErrTooSlow
	}
	return e
}
