package h2

import (
	"bytes"
	"io"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/seine-go/seine/internal/memhttp"
)

// record returns the bytes that a server writes.
func record(write func(p *peer)) []byte {
	var b bytes.Buffer
	p := &peer{Framer: http2.NewFramer(&b, nil)}
	p.AllowIllegalWrites = true
	p.enc = hpack.NewEncoder(&p.buf)
	_ = p.WriteSettings()
	write(p)
	return b.Bytes()
}

// FuzzFrames: whatever a server sends, split wherever, the exchange ends, within its bounds, and in the same way.
func FuzzFrames(f *testing.F) {
	for _, write := range []func(p *peer){
		func(p *peer) { p.ok(1, "good") },
		func(p *peer) {
			p.head(1, false, ":status", "103", "link", "x")
			p.head(1, false, ":status", "200", "content-length", "4", "content-type", "text/html")
			_ = p.WriteDataPadded(1, false, []byte("good"), make([]byte, 3))
			p.head(1, true, "x-end", "yes")
		},
		func(p *peer) {
			block := p.block(":status", "200", "a", "b")
			_ = p.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: block[:2], PadLength: 2, Priority: http2.PriorityParam{Weight: 1}})
			_ = p.WriteContinuation(1, true, block[2:])
			_ = p.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1}, http2.Setting{ID: http2.SettingHeaderTableSize, Val: 0})
			_ = p.WriteWindowUpdate(0, 9)
			_ = p.WriteWindowUpdate(1, 9)
			_ = p.WriteData(1, false, []byte("go"))
			_ = p.WriteRSTStream(1, http2.ErrCodeCancel)
		},
		func(p *peer) {
			_ = p.WriteSettingsAck()
			_ = p.WritePing(false, [8]byte{1})
			_ = p.WritePriority(1, http2.PriorityParam{StreamDep: 3})
			_ = p.WritePushPromise(http2.PushPromiseParam{StreamID: 1, PromiseID: 2, EndHeaders: true})
			_ = p.WriteGoAway(0, http2.ErrCodeNo, []byte("bye"))
		},
	} {
		f.Add(record(write), 7)
	}
	f.Fuzz(func(t *testing.T, in []byte, piece int) {
		whole := exchangeBytes(t, in, len(in))
		parts := exchangeBytes(t, in, piece)
		if whole.kind != parts.kind || whole.status != parts.status || !bytes.Equal(whole.body, parts.body) {
			t.Errorf("whole: %v %d %.50q; in parts of %d: %v %d %.50q", whole.kind, whole.status, whole.body, piece, parts.kind, parts.status, parts.body)
		}
	})
}

type outcome struct {
	kind   Kind
	status int
	body   []byte
}

// exchangeBytes has an exchange with a server that sends bytes in pieces and closes.
func exchangeBytes(t *testing.T, in []byte, piece int) outcome {
	client, server := memhttp.Pipe()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer server.Close()
		fr := http2.NewFramer(nil, server)
		_, _ = io.ReadFull(server, make([]byte, len(preface)))
		for {
			f, err := fr.ReadFrame()
			if err != nil {
				return
			}
			if f.Header().Type == http2.FrameHeaders {
				break
			}
		}
		for rest := in; len(rest) > 0; {
			n := min(max(piece, 1+len(rest)/64), len(rest))
			if _, err := server.Write(rest[:n]); err != nil {
				return
			}
			rest = rest[n:]
		}
	}()
	c := NewConn(client, Config{Limits: Limits{HeaderBytes: 64 << 10}})
	resp, body, err := do(t.Context(), c, &Request{Path: "/"})
	if err != nil && KindOf(err) == 0 || err == nil && resp.Status < 200 {
		t.Errorf("%v, %+v", err, resp)
	}
	if len(body) > len(in)+1<<20 {
		t.Errorf("%d bytes of body", len(body))
	}
	_ = c.Close()
	<-ended
	return outcome{KindOf(err), resp.Status, body}
}
