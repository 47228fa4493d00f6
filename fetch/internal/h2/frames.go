package h2

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"golang.org/x/net/http2"
)

// source is the connection as the reading goroutine reads it. Before it waits, all who have something to see are told.
type source struct{ c *Conn }

func (s source) Read(p []byte) (int, error) {
	c := s.c
	c.mu.Lock()
	c.wakeAll()
	c.mu.Unlock()
	n, err := c.nc.Read(p)
	if n > 0 {
		c.mu.Lock()
		c.lastRead, c.pinged = time.Now(), time.Time{}
		c.mu.Unlock()
		return n, nil
	}
	return n, err
}

// read is the reading goroutine.
func (c *Conn) read() {
	err := c.readFrames()
	c.mu.Lock()
	var b *breach
	switch {
	case errors.As(err, &b):
		c.breakWith(b)
	case c.down != nil:
		c.lose(Closed, c.down)
	default:
		c.lose(Closed, err)
	}
	c.wakeAll()
	c.kick(false)
	c.unlock()
}

// readFrames reads until the connection ends. The error is a *breach where the server is to be told.
func (c *Conn) readFrames() error {
	for first := true; ; first = false {
		fh, err := c.framer.ReadFrameHeader()
		if err != nil {
			return c.frameError(fh, err)
		}
		if first && (fh.Type != http2.FrameSettings || fh.Flags.Has(http2.FlagSettingsAck)) {
			return &breach{code: http2.ErrCodeProtocol, what: "the server does not begin with its settings"}
		}
		switch fh.Type {
		case http2.FrameData:
			if fh.StreamID == 0 {
				return &breach{code: http2.ErrCodeProtocol, what: "DATA on stream 0"}
			}
			err = c.readData(fh)
		case http2.FrameHeaders, http2.FrameContinuation:
			err = c.readHeaders(fh)
		case http2.FramePushPromise:
			return &breach{code: http2.ErrCodeProtocol, what: "the server pushes, which it was told not to"}
		default:
			err = c.readOther(fh)
		}
		if err != nil {
			return err
		}
	}
}

// frameError says what an error of the Framer means.
func (c *Conn) frameError(fh http2.FrameHeader, err error) error {
	var code http2.ConnectionError
	switch {
	case errors.Is(err, http2.ErrFrameTooLarge):
		return &breach{code: http2.ErrCodeFrameSize, what: "a frame of " + fmt.Sprint(fh.Length) + " bytes"}
	case errors.As(err, &code):
		what := "a " + fh.Type.String() + " frame that breaks the rules"
		if detail := c.framer.ErrorDetail(); detail != nil {
			what = detail.Error()
		}
		return &breach{code: http2.ErrCode(code), what: what}
	}
	return err
}

// readOther reads the frames that carry neither head nor body.
func (c *Conn) readOther(fh http2.FrameHeader) error {
	frame, err := c.framer.ReadFrameForHeader(fh)
	c.mu.Lock()
	defer c.unlock()
	defer c.kick(false)
	var one http2.StreamError
	switch {
	case errors.As(err, &one):
		s, err := c.stream(one.StreamID, 0)
		if s != nil {
			s.reset(&fault{Malformed, one.Code, one})
		}
		return err
	case err != nil:
		return c.frameError(fh, err)
	}
	switch f := frame.(type) {
	case *http2.SettingsFrame:
		return c.takeSettings(f)
	case *http2.PingFrame:
		return c.takePing(f)
	case *http2.GoAwayFrame:
		c.takeGoAway(f)
		return c.bore()
	case *http2.RSTStreamFrame:
		return c.takeReset(f)
	case *http2.WindowUpdateFrame:
		return c.windowUpdate(f.StreamID, int64(f.Increment))
	}
	return c.bore() // PRIORITY, and frames that nobody knows yet
}

// stream returns the open stream of a number that a frame with size bytes of body came for, nil for one that has ended.
func (c *Conn) stream(id uint32, size int64) (*Stream, error) {
	if s := c.streams[id]; s != nil {
		return s, nil
	}
	if id%2 == 0 || id >= c.next {
		return nil, &breach{code: http2.ErrCodeProtocol, what: "a frame on a stream that was never opened"}
	}
	if c.tooLate(size) {
		return nil, c.bore()
	}
	return nil, nil
}

// bore counts a frame that brings nothing.
func (c *Conn) bore() error {
	if c.useless++; c.useless > maxUseless {
		return &breach{code: http2.ErrCodeEnhanceYourCalm, what: "too many frames that bring nothing"}
	}
	return nil
}

// reply notes that a frame asks for a reply.
func (c *Conn) reply(size int) error {
	if c.replies += size; c.replies > maxReplies {
		return &breach{code: http2.ErrCodeEnhanceYourCalm, what: "the server asks for replies and does not take them"}
	}
	return c.bore()
}

// takeSettings does as the server's settings say (RFC 9113 6.5).
func (c *Conn) takeSettings(f *http2.SettingsFrame) error {
	if f.IsAck() {
		if c.unacked == 0 {
			return &breach{code: http2.ErrCodeProtocol, what: "an acknowledgement of no settings"}
		}
		c.unacked--
		return nil
	}
	if !c.peer.said {
		c.peer.said, c.peer.streams = true, maxWindow
	}
	if err := f.ForeachSetting(c.takeSetting); err != nil {
		return err
	}
	c.tell = true
	if err := c.reply(9); err != nil {
		return err
	}
	_ = c.framer.WriteSettingsAck()
	c.pump()
	return nil
}

func (c *Conn) takeSetting(s http2.Setting) error {
	if err := s.Valid(); err != nil || s.ID == http2.SettingEnablePush && s.Val != 0 {
		code := http2.ErrCodeProtocol
		if s.ID == http2.SettingInitialWindowSize {
			code = http2.ErrCodeFlowControl
		}
		return &breach{code: code, what: "the setting " + s.String()}
	}
	switch s.ID {
	case http2.SettingHeaderTableSize:
		if v := min(s.Val, maxHeaderTable); v != c.encoder.MaxDynamicTableSize() {
			c.encoder.SetMaxDynamicTableSizeLimit(v)
			c.encoder.SetMaxDynamicTableSize(v)
		}
	case http2.SettingMaxConcurrentStreams:
		c.peer.streams = int64(s.Val)
	case http2.SettingInitialWindowSize:
		change := int64(s.Val) - c.peer.window
		c.peer.window = int64(s.Val)
		for _, stream := range c.streams {
			if stream.send += change; stream.send > maxWindow {
				return errWindow
			}
		}
	}
	return nil
}

func (c *Conn) takePing(f *http2.PingFrame) error {
	if f.IsAck() {
		return c.bore()
	}
	if err := c.reply(17); err != nil {
		return err
	}
	_ = c.framer.WritePing(true, f.Data)
	return nil
}

// takeGoAway: no stream may be opened any more, and those above the last one that is named have not been looked at
// (RFC 9113 6.8). A later frame may name a lower one.
func (c *Conn) takeGoAway(f *http2.GoAwayFrame) {
	debug := f.DebugData()
	why := &GoAwayError{Code: f.ErrCode, Debug: strings.ToValidUTF8(string(debug[:min(len(debug), maxDebug)]), "?")}
	c.lastGood = min(c.lastGood, f.LastStreamID)
	for id, s := range c.streams {
		if id > c.lastGood {
			s.fail(Refused, why)
			delete(c.streams, id)
		}
	}
	c.shut(why)
}

// takeReset ends a stream as the server says (RFC 9113 6.4).
func (c *Conn) takeReset(f *http2.RSTStreamFrame) error {
	s, err := c.stream(f.StreamID, 0)
	if s == nil {
		return err
	}
	if f.ErrCode == http2.ErrCodeNo && s.ended { // the rest of the request is not wanted
		c.dropSender(s)
		s.sentAll = true
		s.settle()
		return nil
	}
	kind := Reset
	if f.ErrCode == http2.ErrCodeRefusedStream {
		kind = Refused
	}
	s.fail(kind, ResetError{f.ErrCode})
	delete(c.streams, s.id)
	c.leave()
	return c.bore()
}

// payload returns the n bytes of a frame; they are valid until the next read.
func (c *Conn) payload(n int) ([]byte, error) {
	if n <= readSize {
		p, err := c.in.Peek(n)
		if err == nil {
			_, _ = c.in.Discard(n)
		}
		return p, err
	}
	p := make([]byte, n)
	_, err := io.ReadFull(c.in, p)
	return p, err
}
