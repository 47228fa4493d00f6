package fetch

import (
	"errors"
	"io"
	"math"
	"time"

	"github.com/seine-go/seine/fetch/internal/h2"
)

// Sink is asked for a writer when the head of the answer that Fetch will deliver has come; redirects on the way are none
// of its business. The decoded body then goes to the writer as it comes, under the same bounds, and Response.Body stays
// nil; a nil writer has the body kept in memory as usual. It is called at most once by a Transport, but a Middleware that
// tries again calls it again: a writer should begin anew each time. The response that it is given has no body yet and
// must not be kept. The time that the Sink and its writer take is not the host's, and no part of Transport.Total. An error of the Sink or of the writer ends the exchange with an error of kind ErrSink. Who opened a
// writer closes it.
type Sink func(head *Response) (io.Writer, error)

// ScreenSink returns the request, or a copy of it where it has a Sink: that Sink is asked for a writer only where accept agrees
// to the head of an answer. The body of any other stays in memory, as that of a request without a Sink does. It is for a Middleware that
// judges answers and may send the request again, so that nothing of an answer which it does not deliver reaches the Sink.
func (r *Request) ScreenSink(accept func(head *Response) bool) *Request {
	if r.Sink == nil {
		return r
	}
	c := r.Clone()
	c.Sink = func(head *Response) (io.Writer, error) {
		if !accept(head) {
			return nil, nil
		}
		return r.Sink(head)
	}
	return c
}

// sinkError is an error of the caller's own Sink or writer.
type sinkError struct{ err error }

func (e *sinkError) Error() string { return e.err.Error() }
func (e *sinkError) Unwrap() error { return e.err }

// sinkOf returns what opens the writer for the body of an answer; nil where there is no Sink.
func sinkOf(req *Request, head *Response) func() (io.Writer, error) {
	if req.Sink == nil {
		return nil
	}
	return func() (io.Writer, error) { return req.Sink(head) }
}

// ahead is a source that can show bytes before they are read.
type ahead interface {
	Buffered() []byte
	Discard(n int)
}

// ahead returns what lies ready below, which take then passes over.
func (m *meter) ahead() []byte {
	if a, ok := m.r.(ahead); ok && m.err == nil && m.bound == math.MaxInt64 {
		return a.Buffered()
	}
	return nil
}

func (m *meter) take(n int) {
	if n > 0 {
		m.r.(ahead).Discard(n)
		m.n += int64(n)
	}
}

// pour writes a body to the sink, up to the limit; data has come already, and maybe the error behind it. What lies ready
// on the wire is written from there.
func (b *bodyReader) pour(src io.Reader, data []byte, limit int64, err error) (n int64, _ error) {
	direct := src == io.Reader(&b.wire)
	for {
		if err := b.write(data, min(int64(len(data)), limit-n)); err != nil {
			return n, err
		}
		if int64(len(data)) > limit-n {
			return limit, errOverflow
		}
		n += int64(len(data))
		if err != nil {
			return n, err
		}
		data = nil
		if direct {
			data = b.wire.ahead()
			data = data[:min(int64(len(data)), limit-n)]
			b.wire.take(len(data))
		}
		if len(data) == 0 {
			var more int
			more, err = readAtLeast(src, b.scratch[:], 1)
			data = b.scratch[:more]
		}
	}
}

func (b *bodyReader) write(data []byte, n int64) error {
	if n == 0 {
		return nil
	}
	var written int
	err := b.own(func() (err error) {
		written, err = b.sink.Write(data[:n])
		return err
	})
	if err == nil && int64(written) != n {
		err = io.ErrShortWrite
	}
	if err != nil {
		return &sinkError{err}
	}
	return nil
}

// clock bounds an exchange. The time from stop to start does not count.
type clock interface {
	stop()
	start()
}

// own runs the caller's own code, whose time is not the host's.
func (b *bodyReader) own(f func() error) error {
	if b.clock == nil {
		return f()
	}
	b.clock.stop()
	err := f()
	b.clock.start()
	return err
}

// clockH1 is the clock of an exchange over HTTP/1.
type clockH1 struct {
	c       *conn
	due     time.Time
	left    time.Duration
	stopped bool
}

func (k *clockH1) stop() {
	if k.stopped = k.c.clock.Stop(); k.stopped {
		k.left = time.Until(k.due)
	}
}

func (k *clockH1) start() {
	if k.stopped {
		k.due = time.Now().Add(k.left)
		k.c.clock.Reset(k.left)
	}
}

// clockH2 is that of one over HTTP/2.
type clockH2 struct {
	s  *h2.Stream
	at time.Time
}

func (k *clockH2) stop()  { k.at = time.Now() }
func (k *clockH2) start() { k.s.Extend(time.Since(k.at)) }

var errOverflow = errors.New("more decoded bytes than allowed")
