package h1

import (
	"errors"
	"io"
	"time"
)

// Body is the body of the current response, without transfer coding. It belongs to its connection's goroutine.
//
// It keeps nothing back: what came before an error has been handed out. io.EOF means the proper end; an early one is an
// *[Error] of the kind Truncated, BadChunk, HeaderTooLarge (of trailers), IdleTimeout, TooSlow or Cancelled, and then it
// stays.
type Body struct {
	c    *Conn
	mode mode
	err  error // what every further Read returns

	left  int64 // bytes to come: of the body, or of the chunk
	phase phase // of a chunked body

	// The minimum rate is asked for over windows of waiting: time in which the caller does not read is not the peer's.
	begun  bool          // a byte of the body has come
	waited time.Duration // in this window
	got    int64         // bytes that came in it
	slow   bool          // the last window was too slow; said once its bytes are handed out
}

type mode uint8

const (
	byLength mode = iota
	inChunks
	toClose
)

var errNoBody = errors.New("http/1: read body: no response")

// Read reads up to len(p) bytes of the body. The last bytes may come together with io.EOF. A slice of 4 KiB and more is
// read into without a copy.
func (b *Body) Read(p []byte) (n int, err error) {
	if b.err != nil {
		return 0, b.err
	}
	if len(p) == 0 {
		return 0, nil
	}
	switch b.mode {
	case byLength:
		if b.left > 0 {
			n, err = b.take(p)
		}
		if b.left == 0 {
			b.finish()
			return n, io.EOF
		}
	case inChunks:
		n, err = b.readChunks(p)
	case toClose:
		b.left = int64(len(p))
		n, err = b.take(p)
		if err == io.EOF {
			b.finish()
			return n, io.EOF
		}
	}
	if err != nil && b.err == nil {
		return n, b.fail(err)
	}
	return n, b.err
}

// Buffered returns what of the body has been read from the connection and not handed out, if it lies in one piece. It is
// valid until the next call of anything else; Discard passes over it.
func (b *Body) Buffered() []byte {
	if b.err != nil || b.mode != byLength {
		return nil
	}
	p := b.c.buf[b.c.r:b.c.w]
	return p[:min(int64(len(p)), b.left)]
}

// Discard passes over the first n of the bytes that Buffered returned.
func (b *Body) Discard(n int) {
	if n > 0 {
		b.c.r += n
		b.left -= int64(n)
		b.begun = true
	}
}

// take reads up to left bytes, from the buffer or from the connection.
func (b *Body) take(p []byte) (n int, err error) {
	c := b.c
	if int64(len(p)) > b.left {
		p = p[:b.left]
	}
	switch {
	case c.r < c.w:
		n = copy(p, c.buf[c.r:c.w])
		c.r += n
		b.begun = true
	case len(p) >= directRead:
		n, err = b.fill(p)
	default:
		c.r, c.w = 0, 0
		if c.w, err = b.fill(c.buf); err == nil {
			n = copy(p, c.buf[:c.w])
			c.r = n
		}
	}
	b.left -= int64(n)
	return n, err
}

// fill reads from the connection once, within the timeouts of a body.
func (b *Body) fill(p []byte) (int, error) {
	if b.slow {
		return 0, errSlow
	}
	c := b.c
	now := time.Now()
	idle := after(now, c.timeouts.IdleRead)
	for {
		due := idle
		if b.rated() {
			if end := now.Add(c.timeouts.RateWindow - b.waited); due.IsZero() || end.Before(due) {
				due = end
			}
		}
		n, err := c.read(p, now, due)
		end := time.Now()
		if b.rated() {
			b.waited += end.Sub(now)
			b.got += int64(n)
		}
		b.begun = b.begun || n > 0
		switch {
		case err != nil && !isTimeout(err):
			return n, err
		case err != nil && !idle.IsZero() && !end.Before(idle):
			return n, errIdle
		}
		if b.rated() && b.waited >= c.timeouts.RateWindow {
			b.slow = float64(b.got) < float64(c.timeouts.MinRate)*b.waited.Seconds()
			if b.slow && n == 0 {
				return 0, errSlow
			}
			b.waited, b.got = 0, 0
		}
		if err == nil || c.dead.Load() {
			return n, err
		}
		now = end
	}
}

// rated reports whether the minimum rate is asked for now.
func (b *Body) rated() bool {
	return b.begun && b.c.timeouts.MinRate > 0 && b.c.timeouts.RateWindow > 0
}

var (
	errIdle = errors.New("nothing came")
	errSlow = errors.New("too little came")
)

// fail says what an error of reading a body means.
func (b *Body) fail(err error) error {
	switch err {
	case errIdle:
		return b.c.fail(opBody, IdleTimeout, nil)
	case errSlow:
		return b.c.fail(opBody, TooSlow, nil)
	case errHeadBytes, errFields:
		return b.c.fail(opBody, HeaderTooLarge, err)
	case errChunkSize, errChunkLine, errChunkEnd:
		return b.c.fail(opBody, BadChunk, err)
	case io.EOF:
		err = io.ErrUnexpectedEOF
	}
	return b.c.fail(opBody, Truncated, err)
}
