package fetch

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/seine-go/seine/fetch/internal/h1"
)

const (
	idleReadTimeout = 30 * time.Second
	rateWindow      = 30 * time.Second
	hopDrainTime    = 500 * time.Millisecond // for the body of a redirect
)

// exchangeH1 has one exchange on an HTTP/1 connection and gives it back.
func (f *flight) exchangeH1(c *conn, a *answer) (fate, *Error) {
	c.req.Method, c.req.Target, c.req.Body = f.method, f.url.RequestTarget(), f.body
	c.req.Header = f.appendFields(c.req.Header[:0])
	sent := c.req.Header
	if f.forwarded() {
		sent = f.forward(&c.req)
	}
	c.startClock(f.t.conf.total)
	due := time.Now().Add(f.t.conf.total)
	defer f.finishH1(c)
	if err := c.h1.Do(f.ctx, &c.req, &c.resp); err != nil {
		return fateH1(err), f.wireError(err)
	}
	r := &c.resp
	a.Status, a.Header, a.RawHeader, a.FetchedAt = r.Status, r.Header, r.RawHeader, time.Now()
	a.URL, a.Proto = f.url.Href(), protoName(r.Major, r.Minor)
	if err := f.refusedByProxy(r.Status); err != nil {
		return settled, err
	}
	f.traceSent(a, sent)
	a.trace.FirstByte = r.FirstByte.Sub(r.Written)
	f.lead(a)
	if a.follow || a.misdirected {
		if r.ContentLength <= maxHopBody {
			a.RawSize = c.drainHop(f.t.conf.total)
		}
		return settled, nil
	}
	info := f.bodyInfo(a, r.ContentLength)
	if info.sink != nil && f.t.conf.total > 0 {
		info.clock = &clockH1{c: c, due: due}
	}
	res := readBody(c.h1.Body(), info)
	if res.fatal != nil {
		return settled, f.fatalError(res.fatal)
	}
	if res.wireErr != nil {
		why := f.wireError(res.wireErr)
		if f.ctx.Err() != nil {
			return settled, why
		}
		why.URL = a.URL
		res.cut = why
	}
	f.deliver(a, &res)
	a.Trailer = r.Trailer
	a.trace.BytesIn, a.trace.BytesOut = r.BytesRead, r.BytesWritten
	a.trace.Body = time.Since(r.FirstByte)
	return settled, nil
}

// fatalError says why a body cannot be delivered: where the context has ended, whatever waited under it has failed for that.
func (f *flight) fatalError(err *Error) *Error {
	if f.ctx.Err() != nil {
		return contextError(f.ctx, err.Op)
	}
	return err
}

func fateH1(err error) fate {
	var wire *h1.Error
	switch {
	case !errors.As(err, &wire) || wire.Kind != h1.Closed || wire.Answered:
		return settled
	case wire.Written:
		return unanswered
	}
	return unsent
}

// bodyInfo says how the body of an answer is to be read.
func (f *flight) bodyInfo(a *answer, size int64) bodyInfo {
	if f.method == http.MethodHead || a.Status == http.StatusNoContent || a.Status == http.StatusNotModified {
		size = 0 // what is told is the length of another answer's body
	}
	return bodyInfo{size: size, header: a.Header, path: f.url.Path(), limit: f.maxBody, packed: f.req.KeepPacked, sink: sinkOf(f.req, &a.Response)}
}

// deliver puts a body into the answer.
func (f *flight) deliver(a *answer, res *bodyResult) {
	a.Body, a.sunk, a.RawSize = res.data, res.sunk, res.rawSize
	if res.cut != nil {
		if res.cut.URL == "" {
			res.cut.URL = a.URL
		}
		a.Truncated, a.bodyErr = true, res.cut
	}
	a.Trace = &a.trace
}

// finishH1 gives the connection back, or closes it when it cannot serve again.
func (f *flight) finishH1(c *conn) {
	keep := c.h1.Reusable()
	if c.clock != nil && !c.clock.Stop() {
		keep = false
	}
	clear(c.req.Header)
	c.req = h1.Request{Header: c.req.Header[:0]}
	c.resp = h1.Response{}
	f.t.release(c, keep)
}

// startClock bounds the whole exchange.
func (c *conn) startClock(total time.Duration) {
	switch {
	case total <= 0:
	case c.clock == nil:
		c.clock = time.AfterFunc(total, func() { c.h1.Abort() })
	default:
		c.clock.Reset(total)
	}
}

// drainHop reads the body of a redirect, if it is small and comes at once, so that the connection can be kept.
func (c *conn) drainHop(total time.Duration) int64 {
	if total <= 0 || total > hopDrainTime {
		if c.clock == nil {
			c.startClock(hopDrainTime)
		} else {
			c.clock.Reset(hopDrainTime)
		}
	}
	return skim(c.h1.Body())
}

// skim reads the body of a redirect to its end, unless it is large, and returns how much it read.
func skim(r io.Reader) int64 {
	b := bodyReaders.Get().(*bodyReader)
	defer b.free()
	b.wire = meter{r: r, bound: maxHopBody + 1} // one more, to see the end behind the last
	for b.wire.err == nil {
		if _, err := b.wire.Read(b.scratch[:]); err == errTooMuch {
			break
		}
	}
	return b.wire.n
}

// traceSent copies what went out.
func (f *flight) traceSent(a *answer, sent []h1.Field) {
	a.trace.Sent = a.sent[:0]
	for _, field := range sent {
		a.trace.Sent = append(a.trace.Sent, Field(field))
	}
}

func protoName(major, minor int) string {
	switch {
	case major == 1 && minor == 1:
		return "HTTP/1.1"
	case major == 1 && minor == 0:
		return "HTTP/1.0"
	}
	return "HTTP/" + strconv.Itoa(major) + "." + strconv.Itoa(minor)
}

// wireError says what an error of the wire means for the caller.
func (f *flight) wireError(err error) *Error {
	if f.ctx.Err() != nil {
		return contextError(f.ctx, "read")
	}
	var wire *h1.Error
	if !errors.As(err, &wire) {
		return &Error{Op: "read", Kind: ErrClosed, Err: err}
	}
	e := &Error{Op: wire.Op, Err: wire}
	switch wire.Kind {
	case h1.BadRequest:
		e.Kind = ErrInvalid
	case h1.Closed:
		e.Kind = ErrClosed
	case h1.WriteTimeout, h1.HeaderTimeout, h1.IdleTimeout:
		e.Kind = ErrTimeout
	case h1.HeaderTooLarge:
		e.Kind = ErrHeaderLimit
	case h1.Malformed:
		e.Kind = ErrProtocol
	case h1.BadChunk:
		e.Kind = ErrTruncated
	case h1.Truncated:
		if e.Kind = ErrTruncated; wire.Op == "read head" {
			e.Kind = ErrClosed
		}
	case h1.TooSlow:
		e.Kind = ErrTooSlow
	case h1.Cancelled: // by the clock, since the context has not ended
		e.Kind, e.Err = ErrTimeout, errTotal
	}
	return e
}

var errTotal = errors.New("the exchange took longer than Total")
