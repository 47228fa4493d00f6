package fetch

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/seine-go/seine/fetch/internal/h1"
)

// HTTP/2 is spoken by the standard library, over connections that this package has opened and shaken hands on. The
// standard library takes them for connections in the clear, on which both sides know that HTTP/2 is spoken.

// Times of an HTTP/2 connection.
const (
	pingAfter   = 30 * time.Second // without a frame, with a request under way
	pingTimeout = 15 * time.Second
	writePerKB  = 30 * time.Second / 64 // more time for the head of an answer to a large request
)

type connKey struct{}

func (t *Transport) setupH2() {
	t.h2.Protocols = new(http.Protocols)
	t.h2.Protocols.SetUnencryptedHTTP2(true)
	t.h2.HTTP2 = &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingTimeout}
	t.h2.MaxResponseHeaderBytes = int64(t.conf.limits.HeaderBytes)
	if t.h2.MaxResponseHeaderBytes < 0 {
		t.h2.MaxResponseHeaderBytes = 1<<32 - 1
	}
	t.h2.DisableCompression = true
	t.h2.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
		return ctx.Value(connKey{}).(net.Conn), nil
	}
}

// startH2 hands the connection to the standard library.
func (t *Transport) startH2(ctx context.Context, c *conn) *Error {
	ctx, cancel := withTimeout(ctx, t.conf.tlsTimeout)
	defer cancel()
	cc, err := t.h2.NewClientConn(context.WithValue(ctx, connKey{}, c.nc), "http", "h2.invalid:80")
	if err == nil {
		err = cc.Reserve()
	}
	if err != nil {
		c.nc.Close()
		return &Error{Op: "handshake", Kind: ErrProtocol, Err: err}
	}
	c.h2 = cc
	return nil
}

var (
	errHeaderTimeout = errors.New("no answer came in time")
	errIdleTimeout   = errors.New("nothing of the body came for too long")
	errTooSlow       = errors.New("the body came below the minimum rate")
)

// exchangeH2 has one exchange on an HTTP/2 connection and gives its place back.
func (f *flight) exchangeH2(c *conn, a *answer) (fate, *Error) {
	defer func() { f.t.pool.release(c, true) }()
	ctx, cancel := context.WithCancelCause(f.ctx)
	defer cancel(nil)
	w := &watch{cancel: cancel, total: f.t.conf.total, start: time.Now()}
	defer w.stop()
	var few [12]h1.Field
	sent := withoutHop(f.appendFields(few[:0]))
	req := f.requestH2(ctx, sent)
	patience := f.t.conf.timeouts.Header
	if patience > 0 { // else it has no end
		patience += time.Duration(len(f.body)>>10) * writePerKB
	}
	w.wait(patience, errHeaderTimeout)
	resp, cause := c.h2.RoundTrip(req)
	if cause != nil {
		err := f.errorH2(ctx, c, cause, false)
		if err.Kind == ErrClosed {
			return unanswered, err
		}
		return settled, err
	}
	defer resp.Body.Close()
	head := time.Now()
	a.Status, a.Header, a.FetchedAt = resp.StatusCode, resp.Header, head
	a.URL, a.Proto = f.url.Href(), resp.Proto
	f.traceSent(a, sent)
	for i := range a.trace.Sent {
		a.trace.Sent[i].Name = strings.ToLower(a.trace.Sent[i].Name)
	}
	a.trace.FirstByte = head.Sub(w.start)
	f.lead(a)
	if a.follow {
		return settled, nil
	}
	body := &bodyH2{r: resp.Body, w: w, idle: f.t.conf.timeouts.IdleRead, minRate: f.t.conf.timeouts.MinRate}
	res := readBody(body, f.bodyInfo(a, resp.ContentLength))
	if res.fatal != nil {
		return settled, res.fatal
	}
	if res.wireErr != nil {
		why := f.errorH2(ctx, c, res.wireErr, true)
		if f.ctx.Err() != nil {
			return settled, why
		}
		res.cut = why
	}
	f.deliver(a, &res)
	if len(resp.Trailer) > 0 {
		a.Trailer = resp.Trailer
	}
	a.trace.BytesIn, a.trace.BytesOut = res.rawSize, int64(len(f.body))
	a.trace.Body = time.Since(head)
	return settled, nil
}

// withoutHop takes out what HTTP/2 has no fields for (RFC 9113 8.2.2), and the length, which the standard library writes.
func withoutHop(fields []h1.Field) []h1.Field {
	return slices.DeleteFunc(fields, func(f h1.Field) bool {
		switch strings.ToLower(f.Name) {
		case "connection", "keep-alive", "proxy-connection", "upgrade", "http2-settings", "content-length":
			return true
		case "te":
			return f.Value != "trailers"
		}
		return false
	})
}

// requestH2 makes a request of the standard library of the fields of the hop.
func (f *flight) requestH2(ctx context.Context, sent []h1.Field) *http.Request {
	target, host := f.url.RequestTarget(), f.url.Host()
	req := &http.Request{
		Method: f.method, Host: host, Header: make(http.Header, len(sent)),
		URL:   &url.URL{Scheme: f.url.Scheme(), Host: host, Opaque: target},
		Proto: "HTTP/2.0", ProtoMajor: 2,
	}
	if strings.HasPrefix(target, "//") { // an Opaque that begins so is taken for a host
		req.URL.Opaque = "//" + host + target
	}
	for _, field := range sent {
		if name := textproto.CanonicalMIMEHeaderKey(field.Name); name == "Host" {
			req.Host = field.Value
		} else {
			req.Header[name] = append(req.Header[name], field.Value)
		}
	}
	if req.Header["User-Agent"] == nil {
		req.Header["User-Agent"] = []string{""} // keeps the standard library's own from being sent
	}
	if len(f.body) > 0 {
		req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(f.body)), int64(len(f.body))
	}
	return req.WithContext(ctx)
}

// errorH2 says what an error of an HTTP/2 exchange means.
func (f *flight) errorH2(ctx context.Context, c *conn, err error, inBody bool) *Error {
	if f.ctx.Err() != nil {
		return contextError(f.ctx, "read")
	}
	e := &Error{Op: "read head", Kind: ErrClosed, Err: err}
	if inBody {
		e.Op, e.Kind = "read body", ErrTruncated
	}
	switch cause := context.Cause(ctx); {
	case cause == errHeaderTimeout, cause == errIdleTimeout, cause == errTotal:
		e.Kind, e.Err = ErrTimeout, cause
	case cause == errTooSlow:
		e.Kind, e.Err = ErrTooSlow, cause
	// The standard library has no names for these.
	case strings.Contains(err.Error(), "header list larger"):
		e.Kind = ErrHeaderLimit
	case strings.Contains(err.Error(), "connection error:"), // the host broke the protocol
		!inBody && c.h2.Err() == nil && !strings.Contains(err.Error(), "REFUSED_STREAM"):
		e.Kind = ErrProtocol
	}
	return e
}

// watch ends an exchange that waits for too long, by cancelling its context.
type watch struct {
	cancel context.CancelCauseFunc
	total  time.Duration
	start  time.Time
	timer  *time.Timer
}

// wait gives the exchange d to go on, and not longer than it may take in all.
func (w *watch) wait(d time.Duration, why error) {
	w.stop()
	if w.total > 0 {
		if left := w.total - time.Since(w.start); d < 0 || left < d {
			d, why = max(left, 0), errTotal
		}
	}
	if d >= 0 {
		w.timer = time.AfterFunc(d, func() { w.cancel(why) })
	}
}

func (w *watch) stop() {
	if w.timer != nil {
		w.timer.Stop()
		w.timer = nil
	}
}

// bodyH2 reads a body within its timeouts and above the minimum rate.
type bodyH2 struct {
	r       io.Reader
	w       *watch
	idle    time.Duration
	minRate int

	begun  bool
	waited time.Duration
	got    int64
}

// Read reads what has come.
func (b *bodyH2) Read(p []byte) (int, error) {
	b.w.wait(b.idle, errIdleTimeout)
	start := time.Now()
	n, err := b.r.Read(p)
	b.w.stop()
	if err != nil || b.minRate <= 0 {
		return n, err
	}
	if b.begun {
		b.waited += time.Since(start)
		b.got += int64(n)
		if b.waited >= rateWindow {
			if float64(b.got) < float64(b.minRate)*b.waited.Seconds() {
				b.w.cancel(errTooSlow)
				return n, errTooSlow
			}
			b.waited, b.got = 0, 0
		}
	}
	b.begun = true
	return n, nil
}
