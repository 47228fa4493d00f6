package h2

import (
	"encoding/binary"
	"errors"
	"os"
	"time"

	"golang.org/x/net/http2"
)

// queue is memory that frames are written to.
type queue struct {
	b     []byte
	total int64 // ever
}

func (q *queue) Write(p []byte) (int, error) {
	q.b = append(q.b, p...)
	q.total += int64(len(p))
	return len(p), nil
}

// dropFrom takes back the frames of a stream, and of all that were opened after it. It returns how many bytes of bodies they had.
func (q *queue) dropFrom(id uint32) (bodies int64) {
	kept := q.b[:0]
	for b := q.b; len(b) > 0; {
		payload := int(binary.BigEndian.Uint32(b) >> 8)
		frame := b[:frameHead+payload]
		b = b[len(frame):]
		switch {
		case binary.BigEndian.Uint32(frame[5:])&maxStream < id:
			kept = append(kept, frame...)
		case http2.FrameType(frame[3]) == http2.FrameData:
			bodies += int64(payload)
		}
	}
	q.b = kept
	return bodies
}

func isTimeout(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }

// kick sees to it that what is queued gets written, and that the connection is closed where that is due. It reports whether
// the caller is to call flushOnce when it has given back c.mu; without patience, or where writing may have to wait for the
// server, a goroutine does. A request must not wait in a write that its context cannot end.
func (c *Conn) kick(patient bool) (flush bool) {
	if c.flushing || c.closed || len(c.out.b) == 0 && !c.closing {
		return false
	}
	c.flushing = true
	if patient && c.socket && !c.closing && c.out.total-c.seen <= inlineBytes {
		return true
	}
	c.group.Go(c.flush)
	return false
}

// flush writes until nothing is queued.
func (c *Conn) flush() { c.flushAs(false) }

// flushOnce writes what is queued; what comes meanwhile is left to a goroutine.
func (c *Conn) flushOnce() { c.flushAs(true) }

func (c *Conn) flushAs(once bool) {
	c.mu.Lock()
	for n := 0; ; n++ {
		c.pump()
		if len(c.out.b) == 0 || c.closed {
			break
		}
		if once && n > 0 {
			c.group.Go(c.flush)
			c.unlock()
			return
		}
		batch := c.takeBatch()
		c.mu.Unlock()
		_, err := c.nc.Write(batch)
		c.mu.Lock()
		c.wrote(batch, err)
	}
	c.flushing = false
	last, rude := c.closing, c.lost
	c.unlock()
	if last {
		_ = c.hangUp(rude)
	}
}

// takeBatch takes all that is queued. The write deadline is moved only when half of its time is over.
func (c *Conn) takeBatch() []byte {
	batch := c.out.b
	c.out.b, c.spare = c.spare[:0], nil
	c.unsent, c.batch = c.batch[:0], c.unsent
	c.replies = 0
	c.tell = c.tell || len(batch) > maxQueued // there are places again
	for _, o := range c.batch {
		if o.s.id == o.id {
			o.s.sent = true
		}
	}
	if limit := c.conf.Timeouts.Write; limit >= 0 && !c.lost {
		c.writing = time.Now()
		if c.writeDue.Sub(c.writing) < limit/2 {
			c.writeDue = c.writing.Add(limit)
			_ = c.nc.SetWriteDeadline(c.writeDue)
		}
	}
	return batch
}

// wrote enters the outcome of a write.
func (c *Conn) wrote(batch []byte, err error) {
	c.writing = time.Time{}
	if cap(batch) <= 2*maxDataQueued {
		c.spare = batch
	}
	switch {
	case err == nil:
		now := time.Now()
		for _, o := range c.batch {
			if o.s.id == o.id {
				o.s.written, o.s.progress = now, now
			}
		}
	case c.lost:
		c.out.b = c.out.b[:0]
	case isTimeout(err):
		c.lose(WriteTimeout, errWrite)
	default:
		// What the server has said before it stopped reading, and why, may still be on the way.
		c.out.b, c.senders = c.out.b[:0], nil
		c.shut(err)
		_ = c.nc.SetReadDeadline(time.Now().Add(farewell))
	}
	clear(c.batch)
}

// pump queues bodies, a frame of each stream in turn, as far as the windows and the queue allow.
func (c *Conn) pump() {
	stuck := 0
	for stuck < len(c.senders) && c.send > 0 && len(c.out.b) < maxDataQueued {
		if c.turn >= len(c.senders) {
			c.turn = 0
		}
		s := c.senders[c.turn]
		switch {
		case s.send <= 0:
			stuck++
			c.turn++
		case s.sendData():
			c.senders = append(c.senders[:c.turn], c.senders[c.turn+1:]...)
		default:
			stuck = 0
			c.turn++
		}
	}
}

// sendData queues one frame of body and reports whether it was the last.
func (s *Stream) sendData() (last bool) {
	c := s.c
	n := int(min(int64(len(s.rest)), s.send, c.send, frameSize))
	last = n == len(s.rest)
	_ = c.framer.WriteData(s.id, last, s.rest[:n])
	s.rest = s.rest[n:]
	s.send -= int64(n)
	c.send -= int64(n)
	s.bytesOut += int64(n)
	s.progress = time.Now()
	c.useless = max(0, c.useless-n/usefulBytes)
	if last {
		s.rest, s.sentAll = nil, true
		s.settle()
	}
	return last
}

// dropSender forgets the body of a stream.
func (c *Conn) dropSender(s *Stream) {
	if s.rest == nil {
		return
	}
	s.rest = nil
	for i, other := range c.senders {
		if other == s {
			c.senders = append(c.senders[:i], c.senders[i+1:]...)
			return
		}
	}
}

// writeReset queues RST_STREAM.
func (c *Conn) writeReset(id uint32, code http2.ErrCode) { _ = c.framer.WriteRSTStream(id, code) }
