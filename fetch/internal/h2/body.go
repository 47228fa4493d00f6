package h2

import (
	"io"
	"time"

	"golang.org/x/net/http2"
)

// rate is what is known of how fast a body comes. The minimum is asked for over windows of waiting: time in which the
// caller does not read is not the server's.
type rate struct {
	begun  bool          // a byte of the body has come
	waited time.Duration // in this window
	got    int64         // bytes that came in it
	slow   bool          // the last window was too slow; said once its bytes are handed out
}

// Read reads the body. It keeps nothing back: what came before an error has been handed out. io.EOF means the proper end,
// and may come together with the last bytes; an early one is an *[Error], which then stays.
func (s *Stream) Read(p []byte) (int, error) {
	c := s.c
	c.mu.Lock()
	for s.chunks.n == 0 && !s.over() && len(p) > 0 {
		s.await()
	}
	n := s.chunks.read(p)
	s.rate.begun = s.rate.begun || n > 0
	c.consume(s, int64(n))
	var err error
	switch {
	case s.chunks.n > 0:
	case s.err != nil && s.bodiless && s.err.Kind != Cancelled && s.err.Kind != Overdue:
		err = io.EOF
	case s.err != nil:
		err = s.err
	case s.ended:
		err = io.EOF
	}
	flush := c.kick(true)
	c.unlock()
	if flush {
		c.flushOnce()
	}
	return n, err
}

// over reports whether nothing more can come.
func (s *Stream) over() bool { return s.ended || s.err != nil }

// await waits for bytes of the body within its timeouts.
func (s *Stream) await() {
	t := &s.c.conf.Timeouts
	if s.rate.slow {
		s.failOp(TooSlow, opBody, nil)
		return
	}
	start := time.Now()
	for now := start; s.chunks.n == 0 && !s.over(); {
		due := s.idleDue(start)
		rated := s.rate.begun && t.MinRate > 0 && t.RateWindow > 0
		if rated {
			if end := now.Add(t.RateWindow - s.rate.waited); due.IsZero() || end.Before(due) {
				due = end
			}
		}
		why := s.wait(due)
		end := time.Now()
		idle := s.idleDue(start)
		switch {
		case why == Cancelled, why == Overdue:
			s.giveUp(why)
		case why == timeUp && s.chunks.n == 0 && !idle.IsZero() && !end.Before(idle):
			s.failOp(IdleTimeout, opBody, nil)
		case rated && !s.c.starvedSince(now):
			s.waited(end.Sub(now))
		}
		now = end
	}
}

// idleDue returns when a wait for the body that began at start has lasted too long. Time in which the server has no credit
// is not the server's.
func (s *Stream) idleDue(start time.Time) time.Time {
	if s.bodiless { // only to let the server end the stream by itself
		return start.Add(farewell)
	}
	if s.c.starvedSince(start) {
		start = s.c.fed
	}
	return after(start, s.c.conf.Timeouts.IdleRead)
}

// waited notes time in which the body was waited for, and ends the exchange after a window in which too little came.
func (s *Stream) waited(d time.Duration) {
	r, t := &s.rate, &s.c.conf.Timeouts
	r.waited += d
	r.got += int64(s.chunks.n)
	if r.waited < t.RateWindow {
		return
	}
	r.slow = float64(r.got) < float64(t.MinRate)*r.waited.Seconds()
	r.waited, r.got = 0, 0
	if r.slow && s.chunks.n == 0 {
		s.failOp(TooSlow, opBody, nil)
	}
}

// readData reads a DATA frame (RFC 9113 6.1), as it comes.
func (c *Conn) readData(fh http2.FrameHeader) error {
	size := int64(fh.Length)
	c.mu.Lock()
	id, err := c.admit(fh, size)
	c.kick(false)
	c.unlock()
	if err != nil {
		return err
	}
	pad, err := c.padding(fh)
	if err != nil {
		return err
	}
	if pad > 0 {
		defer c.release(id, pad)
	}
	size -= pad
	if err := c.readPieces(id, size); err != nil {
		return err
	}
	if pad > 1 {
		if _, err := c.in.Discard(int(pad - 1)); err != nil {
			return err
		}
	}
	c.mu.Lock()
	defer c.unlock()
	defer c.kick(false)
	switch s := c.streams[id]; {
	case s == nil:
	case fh.Flags.Has(http2.FlagDataEndStream):
		s.end()
	case size == 0:
		return c.bore()
	}
	return nil
}

// padding reads how long the padding of a DATA frame is, and returns what of the frame is no body: that, and its length.
func (c *Conn) padding(fh http2.FrameHeader) (int64, error) {
	if !fh.Flags.Has(http2.FlagDataPadded) {
		return 0, nil
	}
	if fh.Length == 0 {
		return 0, &breach{code: http2.ErrCodeFrameSize, what: "a padded DATA frame without its length"}
	}
	n, err := c.in.ReadByte()
	if err != nil {
		return 0, err
	}
	pad := int64(n) + 1
	if pad > int64(fh.Length) {
		return 0, &breach{code: http2.ErrCodeProtocol, what: "more padding than DATA"}
	}
	return pad, nil
}

// admit says whose the bytes of a frame are; 0 is nobody's.
func (c *Conn) admit(fh http2.FrameHeader, size int64) (uint32, error) {
	if !c.window.take(size) {
		return 0, &breach{code: http2.ErrCodeFlowControl, what: "more than the window of the connection"}
	}
	s, err := c.stream(fh.StreamID, size)
	if s == nil {
		return 0, err
	}
	switch {
	case !s.headed:
		s.reset(&fault{Malformed, http2.ErrCodeProtocol, errDataFirst})
	case s.ended:
		s.reset(&fault{Malformed, http2.ErrCodeStreamClosed, nil})
	case !s.window.take(size):
		s.reset(&fault{Truncated, http2.ErrCodeFlowControl, errBeyondWindow})
	case s.bodiless && size > 0: // nobody's, as with HTTP/1; the response is whole without it
		c.writeReset(s.id, http2.ErrCodeProtocol)
		c.abandon(s)
		s.ended = true
		s.signal()
		c.dropSender(s)
		delete(c.streams, s.id)
		c.leave()
	default:
		return s.id, nil
	}
	return 0, nil
}

// readPieces hands n bytes to a stream, as many at a time as are there.
func (c *Conn) readPieces(id uint32, n int64) error {
	for n > 0 {
		if _, err := c.in.Peek(1); err != nil {
			return err
		}
		piece, _ := c.in.Peek(int(min(n, int64(c.in.Buffered()))))
		c.mu.Lock()
		taken := 0
		if s := c.streams[id]; s != nil {
			taken = s.put(piece)
		}
		if taken > 0 {
			c.useless = 0
			c.hold(int64(taken))
		}
		c.credit(int64(len(piece) - taken)) // the rest is nobody's
		c.kick(false)
		c.unlock()
		n -= int64(len(piece))
		_, _ = c.in.Discard(len(piece))
	}
	return nil
}

// put takes bytes of the body, and returns how many: where there are more than the head tells it ends the stream.
func (s *Stream) put(p []byte) (n int) {
	long := s.left >= 0 && int64(len(p)) > s.left
	if long {
		p = p[:s.left]
	}
	if s.left >= 0 {
		s.left -= int64(len(p))
	}
	s.bytesIn += int64(len(p))
	s.chunks.write(p)
	s.signal()
	if long {
		s.reset(&fault{Truncated, http2.ErrCodeProtocol, errLongBody})
	}
	return len(p)
}

// end is the end of the response.
func (s *Stream) end() {
	if s.left > 0 {
		s.failOp(Truncated, opBody, io.ErrUnexpectedEOF)
	}
	s.ended = true
	s.signal()
	s.settle()
}

// release gives back credit for padding, which is nobody's body.
func (c *Conn) release(id uint32, n int64) {
	c.mu.Lock()
	c.creditStream(c.streams[id], n)
	c.credit(n)
	c.kick(false)
	c.unlock()
}
