package h2

import (
	"context"
	"errors"
	"io"
	"time"

	"golang.org/x/net/http2"
)

// Stream is one exchange whose head has come. It belongs to one goroutine at a time, and is of no more use after Close.
type Stream struct {
	Response Response // the connection writes to Trailer until the body has ended

	c     *Conn
	id    uint32
	ctx   context.Context
	due   time.Time
	ready chan struct{} // something has changed
	timer *time.Timer
	armed time.Time // when the timer ends; zero: it does not run

	// Guarded by c.mu.
	waiting, woken bool
	sent           bool // the head may have been handed to the kernel
	mark           int64
	isHead         bool
	headed         bool // the head of the response has come
	bodiless       bool // the response has no body, whatever comes
	ended          bool // the response has
	sentAll        bool // the request has
	err            *Error
	rest           []byte // of the body, to be sent
	send           int64  // what may be sent
	bytesIn        int64
	bytesOut       int64
	written        time.Time // the head was
	progress       time.Time // the last that was written of the request was
	informational  int
	fieldsLeft     int // of Limits.HeaderBytes
	window         window
	chunks         chunks
	left           int64 // bytes of body to come by what the head tells; -1 unknown

	rate rate
}

// open checks a request, opens a stream for it and queues it.
func (c *Conn) open(ctx context.Context, r *Request) (*Stream, error) {
	start := time.Now()
	err := r.check()
	kind := BadRequest
	if err == nil {
		if err = ctx.Err(); err != nil {
			kind, err = Cancelled, ctxCause(ctx)
		}
	}
	c.mu.Lock()
	if err == nil {
		kind, err = c.refusal()
	}
	if err != nil {
		c.places--
		c.unlock()
		return nil, &Error{Kind: kind, Op: opWrite, Err: err}
	}
	s := c.newStream()
	*s = Stream{
		Response: Response{ContentLength: -1, Start: start}, c: c, id: c.next, ctx: ctx, due: r.Due, ready: s.ready, timer: s.timer, armed: s.armed,
		woken: s.woken, isHead: r.Method == "HEAD", rest: r.Body, sentAll: len(r.Body) == 0, send: c.peer.window, progress: start, chunks: s.chunks,
		fieldsLeft: c.conf.Limits.HeaderBytes, window: c.streamWindow(), left: -1,
	}
	c.next += 2
	c.streams[s.id] = s
	c.unsent = append(c.unsent, opened{s, s.id})
	c.writeHead(s, r)
	if s.window.size == 0 { // as the settings say; else nothing could ever come
		s.window = newWindow(frameSize, frameSize)
		_ = c.framer.WriteWindowUpdate(s.id, frameSize)
	}
	if !s.sentAll {
		c.senders = append(c.senders, s)
		c.pump()
	}
	s.mark = c.out.total
	c.watch(start)
	flush := c.kick(true)
	c.mu.Unlock()
	if flush {
		c.flushOnce()
	}
	return s, nil
}

// refusal says why a request cannot be written now.
func (c *Conn) refusal() (Kind, error) {
	switch {
	case c.down != nil:
		return Refused, errIsDown
	case int64(len(c.streams)) >= c.peer.streams:
		return Refused, errBusy
	case c.next > maxStream:
		c.shut(errNumbers)
		return Refused, errNumbers
	case len(c.out.b) > maxQueued:
		return Refused, errQueue
	}
	return 0, nil
}

func (c *Conn) newStream() *Stream {
	if n := len(c.free); n > 0 {
		s := c.free[n-1]
		c.free = c.free[:n-1]
		select {
		case <-s.ready:
		default:
		}
		return s
	}
	return &Stream{ready: make(chan struct{}, 1)}
}

// awaitHead waits for the head of the response.
func (s *Stream) awaitHead() error {
	c := s.c
	c.mu.Lock()
	defer c.unlock()
	defer c.kick(false)
	for !s.headed && s.err == nil {
		switch why := s.wait(s.headDue()); why {
		case 0:
		case timeUp:
			if due := s.headDue(); due.IsZero() || time.Now().Before(due) {
				continue // meanwhile something of the request was written
			}
			if !c.peer.said { // nobody need wait for anything on the connection
				c.lose(HeaderTimeout, errNoSettings)
				continue
			}
			if s.sentAll {
				s.failOp(HeaderTimeout, opHead, nil)
			} else {
				s.failOp(WriteTimeout, opWrite, nil)
			}
		default:
			s.giveUp(why)
		}
	}
	if !s.headed {
		return s.err
	}
	return nil // what has gone wrong since is the body's
}

// headDue is when the server has to have gone on: to take some more of the request, or to answer it.
func (s *Stream) headDue() time.Time {
	if s.sentAll {
		return after(s.progress, s.c.conf.Timeouts.Header)
	}
	return after(s.progress, s.c.conf.Timeouts.Write)
}

// timeUp is what wait returns when the phase has lasted too long.
const timeUp Kind = 255

// wait waits until something has changed, due is over (timeUp), or the exchange is (Cancelled, Overdue). It returns 0 too
// when nothing has changed. c.mu is given back meanwhile. The timer is set as rarely as possible, since that may wake
// the thread that waits for the network: one that comes too early, set by an earlier wait or exchange, is put off then.
func (s *Stream) wait(due time.Time) Kind {
	limit := due
	if !s.due.IsZero() && (limit.IsZero() || s.due.Before(limit)) {
		limit = s.due
	}
	s.waiting = true
	s.c.mu.Unlock()
	defer func() {
		s.c.mu.Lock()
		s.waiting = false
	}()
	var tick <-chan time.Time
	if !limit.IsZero() {
		if s.armed.IsZero() || s.armed.After(limit) {
			s.arm(limit)
		}
		tick = s.timer.C
	}
	select {
	case <-s.ready:
		return 0
	case <-s.ctx.Done():
		return Cancelled
	case <-tick:
	}
	s.armed = time.Time{}
	switch now := time.Now(); {
	case !s.due.IsZero() && !now.Before(s.due):
		return Overdue
	case !due.IsZero() && !now.Before(due):
		return timeUp
	}
	return 0
}

func (s *Stream) arm(limit time.Time) {
	s.armed = limit
	if s.timer == nil {
		s.timer = time.NewTimer(time.Until(limit))
	} else {
		s.timer.Reset(time.Until(limit))
	}
}

func (s *Stream) stopTimer() {
	if s.timer != nil {
		s.timer.Stop()
	}
}

// signal lets the owner of the stream look. The reading goroutine signals all that have something to see at once, when it
// has to wait for the server.
func (s *Stream) signal() {
	if s.waiting && !s.woken {
		s.woken = true
		s.c.woken = append(s.c.woken, s)
	}
}

// wakeAll tells the owners of streams that have something to see.
func (c *Conn) wakeAll() {
	for i, s := range c.woken {
		s.woken = false
		if s.waiting {
			s.waiting = false
			select {
			case s.ready <- struct{}{}:
			default:
			}
		}
		c.woken[i] = nil
	}
	c.woken = c.woken[:0]
}

// settle takes a stream that both sides have ended out of the connection.
func (s *Stream) settle() {
	if s.ended && s.sentAll {
		delete(s.c.streams, s.id)
		s.c.leave()
	}
}

// fail ends the stream in an error, of which the owner is told after what has come before.
func (s *Stream) fail(kind Kind, err error) {
	op := opHead
	switch {
	case s.headed:
		op = opBody
		if kind == Closed || kind == Reset || kind == Refused {
			kind = Truncated
		}
	case !s.sent:
		op = opWrite
	}
	s.failOp(kind, op, err)
}

func (s *Stream) failOp(kind Kind, op string, err error) {
	if s.err == nil && !(s.ended && s.headed) {
		s.err = &Error{Kind: kind, Op: op, Err: err, Written: s.sent}
	}
	s.c.dropSender(s)
	s.signal()
}

// giveUp ends the exchange because of its context or time.
func (s *Stream) giveUp(why Kind) {
	var err error
	if why == Cancelled {
		err = ctxCause(s.ctx)
	}
	s.fail(why, err)
}

func ctxCause(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if !errors.Is(cause, err) {
		return errors.Join(err, cause)
	}
	return cause
}

// reset ends the stream because of what the server did on it.
func (s *Stream) reset(f *fault) {
	c := s.c
	c.writeReset(s.id, f.code)
	c.abandon(s)
	s.fail(f.kind, f.err)
	delete(c.streams, s.id)
	c.leave()
}

// Close ends the exchange, whatever is still to come of it, and gives its place back. It returns nil.
func (s *Stream) Close() error {
	c := s.c
	c.mu.Lock()
	if c.streams[s.id] == s && !c.lost {
		c.writeReset(s.id, http2.ErrCodeCancel)
		c.abandon(s)
		delete(c.streams, s.id)
		c.leave()
	}
	c.dropSender(s)
	c.consume(nil, int64(s.chunks.free()))
	c.places--
	s.id, s.ctx, s.Response, s.waiting = 0, nil, Response{}, false
	if len(c.free) < freeStreams && !c.lost {
		c.free = append(c.free, s) // with its timer, which may run on
	} else {
		s.stopTimer()
	}
	flush := c.kick(true)
	c.unlock()
	if flush {
		c.flushOnce()
	}
	return nil
}

// Within lets the exchange be overdue in d from now, unless it is earlier.
func (s *Stream) Within(d time.Duration) {
	if due := time.Now().Add(d); s.due.IsZero() || due.Before(s.due) {
		s.due = due
	}
}

// Extend lets the exchange be overdue later by d, if ever.
func (s *Stream) Extend(d time.Duration) {
	if !s.due.IsZero() {
		s.due = s.due.Add(d)
	}
}

// Bytes returns what of the frames of the stream has come and was queued so far, less their heads and padding.
func (s *Stream) Bytes() (in, out int64) {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	return s.bytesIn, s.bytesOut
}

var _ io.ReadCloser = (*Stream)(nil)
