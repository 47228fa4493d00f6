package h1

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Conn is one connection to a server or a proxy. It carries one exchange after another: Do, then Body until its end, then
// Do again if Reusable. All its methods but Abort belong to one goroutine at a time.
//
// Between exchanges it holds no buffer: an idle connection costs less than 1 KiB beside the net.Conn.
type Conn struct {
	nc       net.Conn
	limits   Limits
	timeouts Timeouts

	state  state
	served bool // an exchange has been answered
	failed bool // one has ended in an error
	probe  probe
	dead   atomic.Bool // the context has ended, or Abort was called

	// Of the current exchange.
	ctx       context.Context
	unwatch   func() bool // ends the watch over ctx
	expire    func()      // what the watch calls: bound once, so that it is not allocated for each exchange
	resp      *Response
	asked     asked
	attempted bool // a write was begun
	answered  bool
	keep      bool // the framing of the response and both sides' wishes let another exchange follow
	headLeft  int  // of limits.HeaderBytes
	body      Body

	block *[bufferSize]byte // from the pool; nil between exchanges
	buf   []byte            // block, or more where a head is greater
	r, w  int               // buf[r:w] was read from the connection and not used yet
	armed time.Time         // the read deadline; zero means none
}

type state uint8

const (
	idle   state = iota // an exchange may begin
	busy                // within an exchange
	broken              // nothing may follow
)

var buffers = sync.Pool{New: func() any { return new([bufferSize]byte) }}

var (
	errNotReusable = errors.New("the connection cannot carry another exchange")
	errStale       = errors.New("the connection ended or sent bytes while it was idle")
	past           = time.Unix(1, 0)
)

// NewConn takes over a connection that is ready to carry requests; its deadlines are cleared. Close closes it.
//
// Before each exchange but the first one the connection is looked at without waiting: one that has ended meanwhile, or
// has sent bytes that nobody asked for, is refused before anything is written. That needs a [net.Conn] with a SyscallConn
// method, as those of package net have; a wrapper should have a method NetConn that returns what it wraps, as a tls.Conn
// has. Where neither is there, or the system is not a Unix, only what the wrapper has buffered is found.
func NewConn(nc net.Conn, l Limits, t Timeouts) *Conn {
	c := &Conn{nc: nc, limits: l.resolved(), timeouts: t.resolved()}
	c.expire = c.kill
	c.body.c = c
	c.body.err = errNoBody
	_ = nc.SetDeadline(time.Time{})
	return c
}

// Do writes the request and reads the head of the response into into, which must not be nil. 1xx responses are skipped;
// a 101 is refused unless the request has an Upgrade field, and then the body is what the connection brings.
//
// The end of ctx ends the exchange at once, up to the end of the body. The body must be read to its end or the connection
// closed; until then into belongs to the connection. Every error is an *[Error]; after one the connection is of no more
// use, except that nothing has happened to it when the kind is BadRequest.
func (c *Conn) Do(ctx context.Context, r *Request, into *Response) error {
	*into = Response{Start: time.Now(), ContentLength: -1}
	if c.state != idle || c.dead.Load() {
		return &Error{Kind: Closed, Op: opWrite, Err: errNotReusable}
	}
	c.acquire()
	head, asked, err := appendHead(c.block[:0], r) // the buffer is free until the response comes
	if err != nil {
		c.release()
		return &Error{Kind: BadRequest, Op: opWrite, Err: err}
	}
	c.ctx, c.resp, c.attempted, c.answered = ctx, into, false, false
	c.state, c.asked, c.headLeft = busy, asked, c.limits.HeaderBytes
	if err := ctx.Err(); err != nil {
		return c.fail(opWrite, Cancelled, err)
	}
	if ctx.Done() != nil {
		c.unwatch = context.AfterFunc(ctx, c.expire)
	}
	if err := c.send(head, r.Body); err != nil {
		return err
	}
	return c.receive(after(into.Written, c.timeouts.Header))
}

// Body returns the body of the current response. It is valid until the next Do.
func (c *Conn) Body() *Body { return &c.body }

// Reusable reports whether another exchange may follow: the connection is new, or the body of the last response came to
// its proper end, both sides want to keep the connection, and nothing came after the body.
func (c *Conn) Reusable() bool { return c.state == idle && !c.dead.Load() }

// Close closes the connection and ends the exchange, if there is one.
func (c *Conn) Close() error {
	if c.state == busy {
		_ = c.fail(opBody, Closed, net.ErrClosed)
	}
	c.state = broken
	if c.failed { // a farewell, as of TLS, would wait for a peer that takes nothing
		_ = Bottom(c.nc).Close()
	}
	return c.nc.Close()
}

// Abort ends the exchange, if there is one, and the connection without a farewell. It may be called from any goroutine;
// the owner still calls Close.
func (c *Conn) Abort() error {
	c.dead.Store(true)
	_ = c.nc.SetDeadline(past)
	return Bottom(c.nc).Close()
}

// kill makes every read and write of the exchange fail at once.
func (c *Conn) kill() {
	c.dead.Store(true)
	_ = c.nc.SetDeadline(past)
}

// fail ends the exchange in an error.
func (c *Conn) fail(op string, kind Kind, err error) *Error {
	if c.dead.Load() || kind == Cancelled {
		kind, err = Cancelled, c.cause()
	}
	e := &Error{Kind: kind, Op: op, Err: err, Written: c.attempted, Answered: c.answered}
	c.body.err = e
	c.state, c.failed = broken, true
	c.end()
	return e
}

// cause says why the exchange was ended from outside.
func (c *Conn) cause() error {
	err := c.ctx.Err()
	if err == nil {
		return net.ErrClosed
	}
	if cause := context.Cause(c.ctx); !errors.Is(cause, err) {
		return errors.Join(err, cause)
	}
	return context.Cause(c.ctx)
}

// finish ends the exchange at the proper end of its body.
func (c *Conn) finish() {
	c.served = true
	c.state = broken
	if c.keep && c.r == c.w {
		c.state = idle
	}
	c.end()
}

// end gives back what an exchange holds. A watch that has fired already may still be about to set its deadline, so that
// the connection is lost.
func (c *Conn) end() {
	if c.unwatch != nil && !c.unwatch() {
		c.state = broken
	}
	c.unwatch, c.ctx = nil, nil
	c.release()
}

func (c *Conn) acquire() {
	c.block = buffers.Get().(*[bufferSize]byte)
	c.buf, c.r, c.w = c.block[:], 0, 0
}

func (c *Conn) release() {
	if c.block != nil {
		buffers.Put(c.block)
		c.block, c.buf = nil, nil
	}
}

// read reads once, waiting until due at most; zero means for ever. now is not much in the past. The read deadline is set
// as rarely as possible: one that comes too early is put off when it has passed.
func (c *Conn) read(p []byte, now, due time.Time) (int, error) {
	if c.armed.After(due) || !c.armed.IsZero() && !c.armed.After(now) || c.armed.IsZero() && !due.IsZero() {
		c.arm(due)
	}
	for empty := 0; empty < maxEmptyReads; {
		n, err := c.nc.Read(p)
		if n > 0 {
			if !c.answered {
				c.answered, c.resp.FirstByte = true, time.Now()
			}
			c.resp.BytesRead += int64(n)
			return n, nil
		}
		switch {
		case err == nil:
			empty++
		case !isTimeout(err) || c.dead.Load() || !due.IsZero() && !time.Now().Before(due):
			return 0, err
		default:
			c.arm(due)
		}
	}
	return 0, errEmptyReads
}

// arm sets the read deadline, unless the exchange has been ended meanwhile.
func (c *Conn) arm(due time.Time) {
	c.armed = due
	_ = c.nc.SetReadDeadline(due)
	if c.dead.Load() {
		_ = c.nc.SetDeadline(past)
	}
}

// more reads more bytes behind those in the buffer, which grows when it is full.
func (c *Conn) more(read func(p []byte) (int, error)) error {
	if c.w == len(c.buf) {
		if c.r > 0 {
			c.w = copy(c.buf, c.buf[c.r:c.w])
			c.r = 0
		} else {
			c.buf = append(c.buf, make([]byte, len(c.buf))...)
		}
	}
	n, err := read(c.buf[c.w:])
	c.w += n
	return err
}
