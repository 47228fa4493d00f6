package memhttp

import (
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// Window is how many bytes one side may write ahead of what the other has read.
const Window = 64 << 10

// Conn is one end of a connection in memory. Its methods may be called concurrently, as those of any [net.Conn].
type Conn struct {
	in, out       *stream
	local, remote *net.TCPAddr
	onClose       func() // on the first Close or Reset
	once          sync.Once
}

// Pipe returns the two ends of a connection that belongs to no network.
func Pipe() (client, server *Conn) {
	a, b := newStream(), newStream()
	client = &Conn{in: a, out: b, local: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: firstPort}, remote: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80}}
	server = &Conn{in: b, out: a, local: client.remote, remote: client.local}
	return client, server
}

// Read reads what has come, waiting for the first byte; after the peer's end it returns io.EOF.
func (c *Conn) Read(p []byte) (int, error) {
	n, err := c.in.read(p)
	if err != nil && err != io.EOF {
		err = &net.OpError{Op: "read", Net: "tcp", Source: c.local, Addr: c.remote, Err: err}
	}
	return n, err
}

// Write hands over the whole of p, waiting while the peer is more than Window bytes behind.
func (c *Conn) Write(p []byte) (int, error) {
	n, err := c.out.write(p)
	if err != nil {
		err = &net.OpError{Op: "write", Net: "tcp", Source: c.local, Addr: c.remote, Err: err}
	}
	return n, err
}

// Close ends both directions. What was written can still be read by the peer, and then io.EOF; its writes fail.
func (c *Conn) Close() error {
	err := net.ErrClosed
	c.once.Do(func() {
		err = nil
		c.in.closeRead()
		c.out.closeWrite()
		if c.onClose != nil {
			c.onClose()
		}
	})
	return err
}

// CloseWrite ends the direction to the peer only.
func (c *Conn) CloseWrite() error {
	c.out.closeWrite()
	return nil
}

// Reset ends the connection as a TCP reset does: the peer loses what it has not read.
func (c *Conn) Reset() error {
	c.out.reset()
	return c.Close()
}

// Pending reports whether a Read would return at once: bytes have come, or the end has.
func (c *Conn) Pending() bool {
	c.in.mu.Lock()
	defer c.in.mu.Unlock()
	return len(c.in.buf) > 0 || c.in.ended || c.in.broken || c.in.gone
}

// LocalAddr is a *net.TCPAddr.
func (c *Conn) LocalAddr() net.Addr { return c.local }

// RemoteAddr is a *net.TCPAddr.
func (c *Conn) RemoteAddr() net.Addr { return c.remote }

// SetDeadline sets both deadlines.
func (c *Conn) SetDeadline(t time.Time) error {
	c.in.setDeadline(&c.in.reader, t)
	c.out.setDeadline(&c.out.writer, t)
	return nil
}

// SetReadDeadline ends waiting and future reads at t; zero means never.
func (c *Conn) SetReadDeadline(t time.Time) error {
	c.in.setDeadline(&c.in.reader, t)
	return nil
}

// SetWriteDeadline ends waiting and future writes at t; zero means never.
func (c *Conn) SetWriteDeadline(t time.Time) error {
	c.out.setDeadline(&c.out.writer, t)
	return nil
}

// stream is one direction of a connection.
type stream struct {
	mu             sync.Mutex
	change         sync.Cond // something that a reader or a writer waits for has changed
	buf            []byte    // written and not read
	ended          bool      // no more writes: the reader gets io.EOF after buf
	gone           bool      // no more reads: a write fails
	broken         bool      // reset by the writing side
	reader, writer deadline
}

type deadline struct {
	timer   *time.Timer
	expired bool
}

func newStream() *stream {
	s := &stream{}
	s.change.L = &s.mu
	return s
}

func (s *stream) read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.gone:
			return 0, net.ErrClosed
		case s.reader.expired:
			return 0, os.ErrDeadlineExceeded
		case s.broken:
			return 0, os.NewSyscallError("read", syscall.ECONNRESET)
		case len(s.buf) > 0:
			n := copy(p, s.buf)
			if s.buf = s.buf[n:]; len(s.buf) == 0 {
				s.buf = nil
			}
			s.change.Broadcast()
			return n, nil
		case s.ended:
			return 0, io.EOF
		case len(p) == 0:
			return 0, nil
		}
		s.change.Wait()
	}
}

func (s *stream) write(p []byte) (done int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch room := Window - len(s.buf); {
		case s.ended:
			return done, net.ErrClosed
		case s.writer.expired:
			return done, os.ErrDeadlineExceeded
		case s.gone:
			return done, os.NewSyscallError("write", syscall.EPIPE)
		case done == len(p):
			return done, nil
		case room > 0:
			n := min(room, len(p)-done)
			s.buf = append(s.buf, p[done:done+n]...)
			done += n
			s.change.Broadcast()
		default:
			s.change.Wait()
		}
	}
}

func (s *stream) closeRead() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone, s.buf = true, nil
	s.reader.stop()
	s.change.Broadcast()
}

func (s *stream) closeWrite() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	s.writer.stop()
	s.change.Broadcast()
}

func (s *stream) reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken, s.buf = true, nil
	s.change.Broadcast()
}

func (s *stream) setDeadline(d *deadline, t time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d.stop()
	if wait := time.Until(t); t.IsZero() {
		d.expired = false
	} else if wait <= 0 {
		d.expired = true
	} else {
		d.expired = false
		var timer *time.Timer
		timer = time.AfterFunc(wait, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			if d.timer == timer { // not replaced meanwhile
				d.expired = true
				s.change.Broadcast()
			}
		})
		d.timer = timer
	}
	s.change.Broadcast()
}

func (d *deadline) stop() {
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
}

var _ net.Conn = (*Conn)(nil)
