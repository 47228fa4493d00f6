package h2

import (
	"sync"
	"time"

	"golang.org/x/net/http2"
)

// window is how much the server may send (RFC 9113 5.2). That of a stream is given back what has been consumed, not what has
// come: a reader that pauses stops its own stream, and what is held for it is never more than the window. That of the
// connection is given back what has come, so that readers that pause stop nobody else, as long as what is held for all
// together is within Limits.Held.
type window struct {
	size int64 // that is kept up
	left int64 // that the server may send
	owed int64 // consumed, and not given back yet
	debt int64 // that the server may have sent before it knew the size
}

func newWindow(start, size int64) window { return window{size: size, left: start} }

// streamWindow is that of a new stream. The server may not have seen yet that it is smaller than the usual one.
func (c *Conn) streamWindow() window {
	size := int64(min(c.conf.Params.setting(InitialWindowSize, initialWindow), maxWindow))
	return window{size: size, left: size, debt: max(0, initialWindow-size)}
}

func (w *window) granted(n int64) { w.left += n }

// take uses up what has come and reports whether the server was free to send it.
func (w *window) take(n int64) bool {
	w.left -= n
	return w.left >= -w.debt
}

// consumed notes bytes that are held no longer and returns what is to be given back now: nothing before it is half of the
// window, so that few frames are needed.
func (w *window) consumed(n int64) uint32 {
	w.owed += n
	if w.owed == 0 || w.owed < w.size/2 {
		return 0
	}
	n = w.owed
	w.owed = 0
	w.left += n
	return uint32(n)
}

// hold notes bytes that a stream has been given, and gives credit for them back to the connection unless too much is held.
func (c *Conn) hold(n int64) {
	if c.held += n; c.held > int64(c.conf.Limits.Held) {
		c.withheld += n
		return
	}
	c.credit(n)
}

// consume gives back credit for bytes that a stream held: to the stream unless it needs none, and to the connection what
// was withheld.
func (c *Conn) consume(s *Stream, n int64) {
	if n == 0 {
		return
	}
	c.held -= n
	if room := int64(c.conf.Limits.Held) - c.held; c.withheld > 0 && room > 0 {
		c.starvedSince(time.Time{})
		n := min(c.withheld, room)
		c.withheld -= n
		c.credit(n)
		c.tell = c.tell || c.withheld == 0 // there is room for more exchanges
	}
	c.creditStream(s, n)
}

// creditStream gives a stream credit, unless nothing more is to come on it.
func (c *Conn) creditStream(s *Stream, n int64) {
	if s == nil || s.ended || s.err != nil || c.lost || c.closing {
		return
	}
	if more := s.window.consumed(n); more > 0 {
		_ = c.framer.WriteWindowUpdate(s.id, more)
	}
}

// credit gives the connection credit.
func (c *Conn) credit(n int64) {
	if c.lost || c.closing {
		return
	}
	if more := c.window.consumed(n); more > 0 {
		_ = c.framer.WriteWindowUpdate(0, more)
	}
}

// starved reports whether the server may be unable to send because of what is held for others.
func (c *Conn) starved() bool { return c.withheld > 0 && c.window.left < frameSize }

// starvedSince reports whether the server has been starved at any time since start, and notes that it is.
func (c *Conn) starvedSince(start time.Time) bool {
	if c.starved() {
		c.fed = time.Now()
	}
	return c.fed.After(start)
}

// abandon is told of a stream that the client ends before the server has: what the server was free to send on it, and may have
// sent before it knows, is not held against it.
func (c *Conn) abandon(s *Stream) {
	if !s.ended {
		c.late += max(s.window.left, 0)
		c.excused += lateFrames
	}
}

// tooLate reports whether a frame of a stream that has ended is held against the server.
func (c *Conn) tooLate(size int64) bool {
	if size > 0 && size <= c.late {
		c.late -= size
		return false
	}
	if c.excused > 0 {
		c.excused--
		return false
	}
	return true
}

var errWindow = &breach{code: http2.ErrCodeFlowControl, what: "a window is larger than 2,147,483,647 bytes"}

// windowUpdate lets more be sent, on a stream or, for 0, in all.
func (c *Conn) windowUpdate(id uint32, more int64) error {
	if id == 0 {
		if err := c.bore(); err != nil { // sendData makes up for it
			return err
		}
		if c.send += more; c.send > maxWindow {
			return errWindow
		}
		c.pump()
		return nil
	}
	s, err := c.stream(id, 0)
	if s == nil {
		return err
	}
	if err := c.bore(); err != nil {
		return err
	}
	if s.send += more; s.send > maxWindow {
		s.reset(&fault{Malformed, http2.ErrCodeFlowControl, errWindow})
		return nil
	}
	c.pump()
	return nil
}

// chunk is a piece of a body that has come and was not read yet.
type chunk struct {
	next *chunk
	r, w int
	b    [chunkSize]byte
}

var chunkPool = sync.Pool{New: func() any { return new(chunk) }}

// chunks is a queue of bytes. The window bounds it: all pieces but the first and the last are full.
type chunks struct {
	first, last *chunk
	n           int
}

func (q *chunks) write(p []byte) {
	q.n += len(p)
	for len(p) > 0 {
		if q.last == nil || q.last.w == chunkSize {
			c := chunkPool.Get().(*chunk)
			c.next, c.r, c.w = nil, 0, 0
			if q.last == nil {
				q.first = c
			} else {
				q.last.next = c
			}
			q.last = c
		}
		n := copy(q.last.b[q.last.w:], p)
		q.last.w += n
		p = p[n:]
	}
}

func (q *chunks) read(p []byte) (n int) {
	for n < len(p) && q.first != nil {
		c := q.first
		m := copy(p[n:], c.b[c.r:c.w])
		n += m
		if c.r += m; c.r == c.w {
			q.drop()
		}
	}
	q.n -= n
	return n
}

func (q *chunks) drop() {
	c := q.first
	if q.first = c.next; q.first == nil {
		q.last = nil
	}
	chunkPool.Put(c)
}

// free gives all memory back and returns how much was held.
func (q *chunks) free() int {
	n := q.n
	for q.first != nil {
		q.drop()
	}
	q.n = 0
	return n
}
