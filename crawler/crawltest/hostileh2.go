package crawltest

import (
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// http2Behaviours are those of servers that speak HTTP/2, or say so. Unless they say otherwise they begin with settings
// and answer one request after the other.
var http2Behaviours = []behaviour{
	framed("h2-good", "answers properly", func(r *h2Reply) { r.page("good") }),
	framed("h2-padding", "pads all that it can", func(r *h2Reply) {
		_ = r.WriteHeaders(http2.HeadersFrameParam{StreamID: r.id, BlockFragment: r.block(h2Head...), EndHeaders: true, PadLength: 255, Priority: http2.PriorityParam{Weight: 9}})
		_ = r.WriteDataPadded(r.id, false, []byte("good"), make([]byte, 255))
		_ = r.WriteDataPadded(r.id, true, nil, make([]byte, 255))
	}),
	framed("h2-pieces", "sends the head in frames of one byte", func(r *h2Reply) {
		block := r.block(h2Head...)
		_ = r.WriteHeaders(http2.HeadersFrameParam{StreamID: r.id, BlockFragment: block[:1]})
		for i := 1; i < len(block); i++ {
			_ = r.WriteContinuation(r.id, i == len(block)-1, block[i:i+1])
		}
		_ = r.data(true, "good")
	}),
	framed("h2-unknown", "sends frames and settings that nobody knows", func(r *h2Reply) {
		_ = r.WriteRawFrame(0xbe, 0xff, r.id, []byte("unknown"))
		_ = r.WriteRawFrame(0xbf, 0xff, 0, nil)
		_ = r.WriteSettings(http2.Setting{ID: 0xabc, Val: 1})
		r.page("good")
	}),
	framed("h2-fields", "sends fields that only HTTP/1 has", func(r *h2Reply) {
		_ = r.head(false, append([]string{":status", "200", "connection", "keep-alive", "transfer-encoding", "chunked"}, h2Head[2:]...)...)
		_ = r.data(true, "good")
	}),
	framed("h2-trailers", "sends trailers", func(r *h2Reply) {
		_ = r.head(false, h2Head...)
		_ = r.data(false, "good")
		_ = r.head(true, "x-end", "yes")
	}),
	framed("h2-goaway-late", "goes away after each answer", func(r *h2Reply) {
		r.page("good")
		_ = r.WriteGoAway(r.id, http2.ErrCodeNo, nil)
	}),

	{Behaviour: Behaviour{Name: "h2-http1", Doc: "agrees on HTTP/2 and speaks HTTP/1.1", TLS: true}, shake: func(h *Hostile, c net.Conn) net.Conn {
		if conn := h.certs.server(c, h.certs.good, onlyH2); conn != nil {
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood")
			_, _ = io.Copy(io.Discard, conn)
		}
		return nil
	}},
	{Behaviour: Behaviour{Name: "h2-no-settings", Doc: "answers without settings", TLS: true}, shake: func(h *Hostile, c net.Conn) net.Conn {
		return serveH2(h, c, false, func(r *h2Reply) { r.page("good") })
	}},
	framed("h2-settings-bad", "has settings that cannot be", func(r *h2Reply) {
		_ = r.WriteSettings(http2.Setting{ID: http2.SettingMaxFrameSize, Val: 1})
	}),
	framed("h2-settings-flood", "sends settings without end", func(r *h2Reply) {
		for r.WriteSettings() == nil {
			continue
		}
	}),
	framed("h2-ping-flood", "sends pings without end", func(r *h2Reply) {
		for r.WritePing(false, [8]byte{}) == nil {
			continue
		}
	}),
	framed("h2-empty-flood", "sends frames of no body without end", func(r *h2Reply) {
		_ = r.head(false, h2Head...)
		for r.WriteData(r.id, false, nil) == nil {
			continue
		}
	}),
	framed("h2-priority-flood", "sends priorities without end", func(r *h2Reply) {
		for r.WritePriority(r.id, http2.PriorityParam{Weight: 1}) == nil {
			continue
		}
	}),
	framed("h2-goaway-flood", "goes away without end", func(r *h2Reply) {
		for r.WriteGoAway(r.id, http2.ErrCodeNo, nil) == nil {
			continue
		}
	}),
	framed("h2-padding-flood", "sends padding alone without end", func(r *h2Reply) {
		_ = r.head(false, h2Head...)
		for r.WriteDataPadded(r.id, false, nil, make([]byte, 1)) == nil {
			continue
		}
	}),
	framed("h2-window-flood", "opens the window of the connection by a byte without end", func(r *h2Reply) {
		for r.WriteWindowUpdate(0, 1) == nil {
			continue
		}
	}),
	{Behaviour: Behaviour{Name: "h2-one-stream", Doc: "allows one stream at a time and refuses others", TLS: true}, shake: func(h *Hostile, c net.Conn) net.Conn {
		return serveH2(h, c, true, func(r *h2Reply) {
			if !r.c.busy.CompareAndSwap(false, true) {
				_ = r.WriteRSTStream(r.id, http2.ErrCodeRefusedStream)
				return
			}
			_ = r.head(false, h2Head...)
			r.c.busy.Store(false)
			_ = r.data(true, "good")
		}, http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 1})
	}},
	framed("h2-early-flood", "sends 103 without end", func(r *h2Reply) {
		for r.head(false, ":status", "103") == nil {
			continue
		}
	}),
	framed("h2-continuation-flood", "sends pieces of a head without end", func(r *h2Reply) {
		_ = r.WriteHeaders(http2.HeadersFrameParam{StreamID: r.id, BlockFragment: r.block(h2Head...)})
		for r.WriteContinuation(r.id, false, nil) == nil {
			continue
		}
	}),
	framed("h2-head-large", "sends a head of 16 MB", func(r *h2Reply) {
		_ = r.WriteHeaders(http2.HeadersFrameParam{StreamID: r.id, BlockFragment: r.block(h2Head...)})
		piece := bytes.Repeat([]byte("\x00\x01a\x7f\x00~~~"), 2000)
		for range 1000 {
			if r.WriteContinuation(r.id, false, piece) != nil {
				return
			}
		}
		_ = r.WriteContinuation(r.id, true, nil)
	}),
	framed("h2-head-bomb", "sends a head that unpacks to 60 MB", func(r *h2Reply) {
		block := r.block(h2Head...)
		entry := new(bytes.Buffer)
		_ = hpack.NewEncoder(entry).WriteField(hpack.HeaderField{Name: "x-bomb", Value: strings.Repeat("~", 4000)})
		block = append(block, entry.Bytes()...)
		_ = r.WriteHeaders(http2.HeadersFrameParam{StreamID: r.id, BlockFragment: block, EndStream: true})
		_ = r.WriteContinuation(r.id, true, bytes.Repeat([]byte{0x80 | 62}, 15_000))
	}),
	framed("h2-hpack", "sends a head that cannot be decoded", func(r *h2Reply) {
		_ = r.WriteHeaders(http2.HeadersFrameParam{StreamID: r.id, BlockFragment: []byte{0xff, 0xff, 0x7f}, EndHeaders: true})
	}),
	framed("h2-interleave", "sends another frame between the pieces of a head", func(r *h2Reply) {
		_ = r.WriteHeaders(http2.HeadersFrameParam{StreamID: r.id, BlockFragment: r.block(h2Head...)})
		_ = r.WriteData(r.id, true, []byte("bad"))
	}),
	framed("h2-frame-large", "sends a frame that is larger than allowed", func(r *h2Reply) {
		_ = r.head(false, h2Head...)
		_ = r.WriteRawFrame(http2.FrameData, 0, r.id, make([]byte, 1<<20))
	}),
	framed("h2-push", "pushes", func(r *h2Reply) {
		_ = r.WritePushPromise(http2.PushPromiseParam{StreamID: r.id, PromiseID: 2, BlockFragment: r.block(":method", "GET", ":path", "/pushed"), EndHeaders: true})
		r.page("bad")
	}),
	framed("h2-data-first", "sends a body before its head", func(r *h2Reply) { _ = r.data(true, "bad") }),
	framed("h2-data-idle", "sends a body on a stream that nobody has opened", func(r *h2Reply) { _ = r.WriteData(r.id+100, true, []byte("bad")) }),
	framed("h2-window-zero", "opens the window of the connection by nothing", func(r *h2Reply) {
		_ = r.WriteRawFrame(http2.FrameWindowUpdate, 0, 0, make([]byte, 4))
	}),
	framed("h2-window-overflow", "opens the window of the stream beyond its bound", func(r *h2Reply) { _ = r.WriteWindowUpdate(r.id, 1<<31-1) }),
	framed("h2-flow", "sends 64 MB without regard to windows", func(r *h2Reply) {
		_ = r.head(false, h2Head...)
		for range 4000 {
			if r.data(false, strings.Repeat("x", 16<<10)) != nil {
				return
			}
		}
	}),
	framed("h2-status-none", "sends a head without a status", func(r *h2Reply) { _ = r.head(true, h2Head[2:]...) }),
	framed("h2-status-two", "sends two statuses", func(r *h2Reply) { _ = r.head(true, append([]string{":status", "200"}, h2Head...)...) }),
	framed("h2-status-late", "sends the status behind the fields", func(r *h2Reply) { _ = r.head(true, append(h2Head[2:len(h2Head):len(h2Head)], ":status", "200")...) }),
	framed("h2-status-101", "switches protocols, which cannot be", func(r *h2Reply) { _ = r.head(false, ":status", "101") }),
	framed("h2-upper", "sends a name in upper case", func(r *h2Reply) { _ = r.head(true, ":status", "200", "Content-Type", "text/plain") }),
	framed("h2-inject", "sends a value with an end of line", func(r *h2Reply) { _ = r.head(true, ":status", "200", "x-a", "b\r\nset-cookie: c=d") }),
	framed("h2-length-long", "promises more than it sends", func(r *h2Reply) {
		_ = r.head(false, append([]string{":status", "200", "content-length", "1000"}, h2Head[2:]...)...)
		_ = r.data(true, "good")
	}),
	framed("h2-length-short", "sends more than it promises", func(r *h2Reply) {
		_ = r.head(false, append([]string{":status", "200", "content-length", "4"}, h2Head[2:]...)...)
		_ = r.data(false, "good")
		_ = r.data(true, " and surplus")
	}),
	framed("h2-trailers-bad", "sends a status in the trailers", func(r *h2Reply) {
		_ = r.head(false, h2Head...)
		_ = r.data(false, "good")
		_ = r.head(true, ":status", "200")
	}),

	framed("h2-refused", "refuses every stream", func(r *h2Reply) { _ = r.WriteRSTStream(r.id, http2.ErrCodeRefusedStream) }),
	framed("h2-reset", "resets the stream before the head", func(r *h2Reply) { _ = r.WriteRSTStream(r.id, http2.ErrCodeInternal) }),
	framed("h2-reset-body", "resets the stream in the middle of the body", func(r *h2Reply) {
		_ = r.head(false, h2Head...)
		_ = r.data(false, "good")
		_ = r.WriteRSTStream(r.id, http2.ErrCodeNo)
	}),
	framed("h2-goaway", "goes away before every stream", func(r *h2Reply) {
		_ = r.WriteGoAway(0, http2.ErrCodeNo, []byte("not today"))
		r.c.end()
	}),
	framed("h2-goaway-body", "goes away in the middle of the body, and closes", func(r *h2Reply) {
		_ = r.head(false, h2Head...)
		_ = r.data(false, "good")
		_ = r.WriteGoAway(r.id, http2.ErrCodeInternal, nil)
		r.c.end()
	}),
	framed("h2-close", "closes before the head", func(r *h2Reply) { r.c.end() }),
	framed("h2-close-body", "closes in the middle of the body", func(r *h2Reply) {
		_ = r.head(false, h2Head...)
		_ = r.data(false, "good")
		r.c.end()
	}),
	framed("h2-silent", "never answers", func(*h2Reply) {}),
	framed("h2-stall-body", "stops in the middle of the body", func(r *h2Reply) {
		_ = r.head(false, h2Head...)
		_ = r.data(false, "good")
	}),
	framed("h2-drip-body", "sends a byte of the body each second", func(r *h2Reply) {
		_ = r.head(false, h2Head...)
		for r.data(false, "x") == nil && r.pause() {
			continue
		}
	}),
	framed("h2-endless", "sends a body without end, as far as the windows allow", func(r *h2Reply) {
		_ = r.head(false, h2Head...)
		for n := r.room(16 << 10); n > 0 && r.data(false, strings.Repeat("x", n)) == nil; n = r.room(16 << 10) {
			continue
		}
	}),
}

// h2Head is the head of an ordinary answer.
var h2Head = []string{":status", "200", "content-type", "text/plain"}

// h2Conn is what all answers on a connection share.
type h2Conn struct {
	h       *Hostile
	conn    net.Conn
	mu      sync.Mutex
	changed *sync.Cond
	ended   bool
	busy    atomic.Bool      // with the only stream that is allowed
	initial int64            // of the windows of streams
	window  int64            // of the connection
	streams map[uint32]int64 // windows of those that are open
}

// h2Reply is an answer on a stream. Each has a Framer of its own: a frame is one write, which the connection keeps whole.
type h2Reply struct {
	*http2.Framer
	c   *h2Conn
	id  uint32
	enc *hpack.Encoder
	buf bytes.Buffer
}

func framed(name, doc string, answer func(*h2Reply)) behaviour {
	return behaviour{Behaviour: Behaviour{Name: name, Doc: doc, TLS: true}, shake: func(h *Hostile, c net.Conn) net.Conn {
		return serveH2(h, c, true, answer)
	}}
}

func onlyH2(c *tls.Config) { c.NextProtos = []string{"h2"} }

// serveH2 shakes hands, greets with settings, and answers requests until the connection ends. It returns nil: nothing more is served.
func serveH2(h *Hostile, nc net.Conn, greet bool, answer func(*h2Reply), settings ...http2.Setting) net.Conn {
	conn := h.certs.server(nc, h.certs.good, onlyH2)
	if conn == nil {
		return nil
	}
	c := &h2Conn{h: h, conn: conn, initial: 1<<16 - 1, window: 1<<16 - 1, streams: map[uint32]int64{}}
	c.changed = sync.NewCond(&c.mu)
	var answers sync.WaitGroup
	defer answers.Wait()
	defer c.end()
	_ = conn.SetReadDeadline(time.Now().Add(hostileIdle))
	if _, err := io.ReadFull(conn, make([]byte, len(http2.ClientPreface))); err != nil {
		return nil
	}
	own := http2.NewFramer(conn, conn)
	if greet {
		_ = own.WriteSettings(settings...)
	}
	for {
		_ = conn.SetReadDeadline(time.Now().Add(hostileIdle))
		frame, err := own.ReadFrame()
		if err != nil {
			return nil
		}
		c.take(frame)
		switch f := frame.(type) {
		case *http2.SettingsFrame:
			if !f.IsAck() && greet {
				_ = own.WriteSettingsAck()
			}
		case *http2.PingFrame:
			_ = own.WritePing(true, f.Data)
		case *http2.HeadersFrame:
			r := &h2Reply{Framer: http2.NewFramer(conn, nil), c: c, id: f.StreamID}
			r.AllowIllegalWrites = true
			r.enc = hpack.NewEncoder(&r.buf)
			answers.Go(func() { answer(r) })
		}
	}
}

// take notes what a frame of the client means for its windows.
func (c *h2Conn) take(frame http2.Frame) {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer c.changed.Broadcast()
	id := frame.Header().StreamID
	switch f := frame.(type) {
	case *http2.SettingsFrame:
		if v, ok := f.Value(http2.SettingInitialWindowSize); ok {
			c.initial = int64(v)
		}
	case *http2.WindowUpdateFrame:
		if _, ok := c.streams[id]; ok {
			c.streams[id] += int64(f.Increment)
		} else if id == 0 {
			c.window += int64(f.Increment)
		}
	case *http2.RSTStreamFrame:
		delete(c.streams, id)
	case *http2.HeadersFrame:
		c.streams[id] = c.initial
		c.h.mu.Lock()
		c.h.stats.Exchanges++
		c.h.mu.Unlock()
	}
}

// end closes the connection.
func (c *h2Conn) end() {
	_ = c.conn.Close()
	c.mu.Lock()
	c.ended = true
	c.changed.Broadcast()
	c.mu.Unlock()
}

// room waits until the client takes something and returns how many bytes, most at the most; 0 when it never will.
func (r *h2Reply) room(most int64) int {
	c := r.c
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		left, open := c.streams[r.id]
		if c.ended || !open {
			return 0
		}
		if n := min(left, c.window, most); n > 0 {
			c.streams[r.id] -= n
			c.window -= n
			return int(n)
		}
		c.changed.Wait()
	}
}

// block encodes fields, given as names and values. None is indexed, so that answers do not depend on each other.
func (r *h2Reply) block(pairs ...string) []byte {
	r.buf.Reset()
	for i := 0; i < len(pairs); i += 2 {
		_ = r.enc.WriteField(hpack.HeaderField{Name: pairs[i], Value: pairs[i+1], Sensitive: true})
	}
	return bytes.Clone(r.buf.Bytes())
}

func (r *h2Reply) head(end bool, pairs ...string) error {
	return r.WriteHeaders(http2.HeadersFrameParam{StreamID: r.id, BlockFragment: r.block(pairs...), EndStream: end, EndHeaders: true})
}

func (r *h2Reply) data(end bool, text string) error { return r.WriteData(r.id, end, []byte(text)) }

func (r *h2Reply) page(text string) {
	_ = r.head(false, h2Head...)
	_ = r.data(true, text)
}

// pause waits for the time between two bytes of what drips.
func (r *h2Reply) pause() bool {
	if r.c.h.o.Interval < 0 {
		return true
	}
	tick := time.NewTimer(r.c.h.o.Interval)
	defer tick.Stop()
	select {
	case <-tick.C:
		return true
	case <-r.c.h.stop:
		return false
	}
}
