package h2

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/seine-go/seine/internal/memhttp"
)

// peer is the server's side of a connection, frame by frame. It may break all rules.
type peer struct {
	*http2.Framer
	conn   net.Conn
	enc    *hpack.Encoder
	buf    bytes.Buffer
	dec    *hpack.Decoder
	fields []hpack.HeaderField // of the last request

	mu   sync.Mutex
	told []string // resets and the farewell that came, and the order of frames
}

// withPeer connects to a server that greets with its settings, unless these are nil, and then does as the script says. What
// comes after the end of the script is read and noted.
func withPeer(t testing.TB, conf Config, settings []http2.Setting, script func(p *peer)) (*Conn, *peer) {
	t.Helper()
	client, server := memhttp.Pipe()
	p := &peer{Framer: http2.NewFramer(server, server), conn: server}
	p.AllowIllegalWrites = true
	p.enc = hpack.NewEncoder(&p.buf)
	p.dec = hpack.NewDecoder(1<<16, func(f hpack.HeaderField) { p.fields = append(p.fields, f) })
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer server.Close()
		if _, err := io.ReadFull(server, make([]byte, len(preface))); err != nil {
			return
		}
		if settings != nil {
			_ = p.WriteSettings(settings...)
		}
		script(p)
		for p.next() != nil {
			continue
		}
	}()
	c := NewConn(client, conf)
	t.Cleanup(func() {
		_ = c.Close()
		<-ended
	})
	return c, p
}

// next reads a frame and notes it; nil at the end.
func (p *peer) next() http2.Frame {
	f, err := p.ReadFrame()
	if err != nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch f := f.(type) {
	case *http2.SettingsFrame:
		if !f.IsAck() {
			_ = p.WriteSettingsAck()
		}
	case *http2.RSTStreamFrame:
		p.told = append(p.told, fmt.Sprint("RST ", f.ErrCode))
	case *http2.GoAwayFrame:
		p.told = append(p.told, fmt.Sprint("GOAWAY ", f.ErrCode))
	case *http2.HeadersFrame:
		p.fields = nil
		_, _ = p.dec.Write(f.HeaderBlockFragment())
	case *http2.ContinuationFrame:
		_, _ = p.dec.Write(f.HeaderBlockFragment())
	}
	return f
}

// request waits for the head of a request and returns its stream; 0 at the end of the connection.
func (p *peer) request() uint32 {
	for {
		f := p.next()
		if f == nil {
			return 0
		}
		h := f.Header()
		if (h.Type == http2.FrameHeaders || h.Type == http2.FrameContinuation) && h.Flags.Has(http2.FlagHeadersEndHeaders) {
			_ = p.dec.Close()
			return h.StreamID
		}
	}
}

// block encodes fields, given as names and values.
func (p *peer) block(pairs ...string) []byte {
	p.buf.Reset()
	for i := 0; i < len(pairs); i += 2 {
		_ = p.enc.WriteField(hpack.HeaderField{Name: pairs[i], Value: pairs[i+1]})
	}
	return bytes.Clone(p.buf.Bytes())
}

// head writes a head.
func (p *peer) head(id uint32, end bool, pairs ...string) {
	_ = p.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: p.block(pairs...), EndStream: end, EndHeaders: true})
}

func (p *peer) ok(id uint32, body string) {
	p.head(id, false, ":status", "200")
	_ = p.WriteData(id, true, []byte(body))
}

// another is the same server, for another goroutine.
func (p *peer) another() *peer {
	q := &peer{Framer: http2.NewFramer(p.conn, nil), conn: p.conn}
	q.AllowIllegalWrites = true
	q.enc = hpack.NewEncoder(&q.buf)
	return q
}

// said returns what the client has told of its displeasure.
func (p *peer) said() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.told, ", ")
}
