package h2

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"golang.org/x/net/http2"
)

// Faults of a server: what the exchange makes of each, what the server is told, and whether the connection lives on.
func TestFaults(t *testing.T) {
	t.Parallel()
	small := Limits{HeaderBytes: 20_000, Informational: 3, Fields: 10}
	for _, c := range []struct {
		name     string
		script   func(p *peer, id uint32)
		kind     Kind   // 0: a whole response
		body     string // that is handed out
		told     string
		survives bool
	}{
		{"good", func(p *peer, id uint32) { p.ok(id, "good") }, 0, "good", "", true},
		{"head alone", func(p *peer, id uint32) { p.head(id, true, ":status", "204") }, 0, "", "", true},
		{"trailers", func(p *peer, id uint32) {
			p.head(id, false, ":status", "200")
			_ = p.WriteData(id, false, []byte("good"))
			p.head(id, true, "x-end", "yes")
		}, 0, "good", "", true},
		{"1xx", func(p *peer, id uint32) {
			for range 3 {
				p.head(id, false, ":status", "103", "link", "</style.css>")
			}
			p.ok(id, "good")
		}, 0, "good", "", true},
		{"padding", func(p *peer, id uint32) {
			_ = p.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: p.block(":status", "200"), EndHeaders: true, PadLength: 9, Priority: http2.PriorityParam{Weight: 3, StreamDep: 7}})
			_ = p.WriteDataPadded(id, false, []byte("go"), make([]byte, 200))
			_ = p.WriteDataPadded(id, true, []byte("od"), []byte{})
		}, 0, "good", "", true},
		{"pieces", func(p *peer, id uint32) {
			block := p.block(":status", "200", "x-long", strings.Repeat("y", 100))
			_ = p.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: block[:1]})
			for i := 1; i < len(block); i++ {
				_ = p.WriteContinuation(id, i+1 == len(block), block[i:i+1])
			}
			_ = p.WriteData(id, true, []byte("good"))
		}, 0, "good", "", true},
		{"unknown frames", func(p *peer, id uint32) {
			_ = p.WriteRawFrame(0xbe, 0xff, id, []byte("what"))
			_ = p.WriteRawFrame(0xbf, 0, 0, nil)
			_ = p.WritePriority(id, http2.PriorityParam{StreamDep: 99, Weight: 1})
			_ = p.WriteSettings(http2.Setting{ID: 0xabcd, Val: 1})
			_ = p.WritePing(false, [8]byte{1})
			p.ok(id, "good")
		}, 0, "good", "", true},
		{"fields of HTTP/1", func(p *peer, id uint32) {
			p.head(id, false, ":status", "200", "connection", "keep-alive", "transfer-encoding", "chunked")
			_ = p.WriteData(id, true, []byte("good"))
		}, 0, "good", "", true},

		{"no settings", nil, Protocol, "", "GOAWAY PROTOCOL_ERROR", false},
		{"settings ack nobody asked for", func(p *peer, id uint32) {
			_ = p.WriteSettingsAck()
			_ = p.WriteSettingsAck()
		}, Protocol, "", "GOAWAY PROTOCOL_ERROR", false},
		{"settings ack with content", func(p *peer, id uint32) {
			_ = p.WriteRawFrame(http2.FrameSettings, http2.FlagSettingsAck, 0, make([]byte, 6))
		}, Protocol, "", "GOAWAY FRAME_SIZE_ERROR", false},
		{"settings of odd length", func(p *peer, id uint32) { _ = p.WriteRawFrame(http2.FrameSettings, 0, 0, make([]byte, 5)) }, Protocol, "", "GOAWAY FRAME_SIZE_ERROR", false},
		{"settings on a stream", func(p *peer, id uint32) { _ = p.WriteRawFrame(http2.FrameSettings, 0, id, nil) }, Protocol, "", "GOAWAY PROTOCOL_ERROR", false},
		{"settings: push", func(p *peer, id uint32) { _ = p.WriteSettings(http2.Setting{ID: http2.SettingEnablePush, Val: 1}) }, Protocol, "", "GOAWAY PROTOCOL_ERROR", false},
		{"settings: window", func(p *peer, id uint32) {
			_ = p.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1 << 31})
		}, Protocol, "", "GOAWAY FLOW_CONTROL_ERROR", false},
		{"settings: frame size", func(p *peer, id uint32) {
			_ = p.WriteSettings(http2.Setting{ID: http2.SettingMaxFrameSize, Val: 16383})
		}, Protocol, "", "GOAWAY PROTOCOL_ERROR", false},
		{"ping of odd length", func(p *peer, id uint32) { _ = p.WriteRawFrame(http2.FramePing, 0, 0, make([]byte, 7)) }, Protocol, "", "GOAWAY FRAME_SIZE_ERROR", false},
		{"ping on a stream", func(p *peer, id uint32) { _ = p.WriteRawFrame(http2.FramePing, 0, id, make([]byte, 8)) }, Protocol, "", "GOAWAY PROTOCOL_ERROR", false},
		{"reset on stream 0", func(p *peer, id uint32) { _ = p.WriteRawFrame(http2.FrameRSTStream, 0, 0, make([]byte, 4)) }, Protocol, "", "GOAWAY PROTOCOL_ERROR", false},
		{"reset of odd length", func(p *peer, id uint32) { _ = p.WriteRawFrame(http2.FrameRSTStream, 0, id, make([]byte, 3)) }, Protocol, "", "GOAWAY FRAME_SIZE_ERROR", false},
		{"reset of an idle stream", func(p *peer, id uint32) { _ = p.WriteRSTStream(id+2, http2.ErrCodeCancel) }, Protocol, "", "GOAWAY PROTOCOL_ERROR", false},
		{"goaway on a stream", func(p *peer, id uint32) { _ = p.WriteRawFrame(http2.FrameGoAway, 0, id, make([]byte, 8)) }, Protocol, "", "GOAWAY PROTOCOL_ERROR", false},
		{"window update of nothing", func(p *peer, id uint32) { _ = p.WriteRawFrame(http2.FrameWindowUpdate, 0, 0, make([]byte, 4)) }, Protocol, "", "GOAWAY PROTOCOL_ERROR", false},
		{"window update of nothing on the stream", func(p *peer, id uint32) { _ = p.WriteRawFrame(http2.FrameWindowUpdate, 0, id, make([]byte, 4)) }, Malformed, "", "RST PROTOCOL_ERROR", true},
		{"window beyond its bound", func(p *peer, id uint32) { _ = p.WriteWindowUpdate(0, 1<<31-1) }, Protocol, "", "GOAWAY FLOW_CONTROL_ERROR", false},
		{"window of the stream beyond its bound", func(p *peer, id uint32) { _ = p.WriteWindowUpdate(id, 1<<31-1) }, Malformed, "", "RST FLOW_CONTROL_ERROR", true},
		{"push", func(p *peer, id uint32) {
			_ = p.WritePushPromise(http2.PushPromiseParam{StreamID: id, PromiseID: 2, BlockFragment: p.block(":method", "GET"), EndHeaders: true})
		}, Protocol, "", "GOAWAY PROTOCOL_ERROR", false},
		{"a frame that is too large", func(p *peer, id uint32) {
			p.head(id, false, ":status", "200")
			_ = p.WriteRawFrame(http2.FrameData, 0, id, make([]byte, 16<<10+1))
		}, Protocol, "", "GOAWAY FRAME_SIZE_ERROR", false},
		{"no http/2 at all", func(p *peer, id uint32) { _, _ = p.conn.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n")) }, Protocol, "", "GOAWAY FRAME_SIZE_ERROR", false},

		{"data before the head", func(p *peer, id uint32) { _ = p.WriteData(id, true, []byte("bad")) }, Malformed, "", "RST PROTOCOL_ERROR", true},
		{"data on an idle stream", func(p *peer, id uint32) { _ = p.WriteData(id+2, true, []byte("bad")) }, Protocol, "", "GOAWAY PROTOCOL_ERROR", false},
		{"data on stream 0", func(p *peer, id uint32) { _ = p.WriteData(0, true, []byte("bad")) }, Protocol, "", "GOAWAY PROTOCOL_ERROR", false},
		{"data on a stream of the server", func(p *peer, id uint32) { _ = p.WriteData(2, true, []byte("bad")) }, Protocol, "", "GOAWAY PROTOCOL_ERROR", false},
		{"more padding than data", func(p *peer, id uint32) {
			p.head(id, false, ":status", "200")
			_ = p.WriteRawFrame(http2.FrameData, http2.FlagDataPadded, id, []byte{9, 1, 2})
		}, Protocol, "", "GOAWAY PROTOCOL_ERROR", false},
		{"head on stream 0", func(p *peer, id uint32) { p.head(0, true, ":status", "200") }, Protocol, "", "GOAWAY PROTOCOL_ERROR", false},
		{"head on an idle stream", func(p *peer, id uint32) { p.head(id+2, true, ":status", "200") }, Protocol, "", "GOAWAY PROTOCOL_ERROR", false},
		{"head with more padding than content", func(p *peer, id uint32) {
			_ = p.WriteRawFrame(http2.FrameHeaders, http2.FlagHeadersPadded|http2.FlagHeadersEndHeaders, id, []byte{9, 1})
		}, Protocol, "", "GOAWAY PROTOCOL_ERROR", false},
		{"head that depends on itself", func(p *peer, id uint32) {
			_ = p.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: p.block(":status", "200"), EndHeaders: true, Priority: http2.PriorityParam{StreamDep: id}})
		}, Protocol, "", "GOAWAY PROTOCOL_ERROR", false},
		{"continuation of nothing", func(p *peer, id uint32) { _ = p.WriteContinuation(id, true, nil) }, Protocol, "", "GOAWAY PROTOCOL_ERROR", false},
		{"a frame between the pieces of a head", func(p *peer, id uint32) {
			_ = p.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: p.block(":status", "200")})
			_ = p.WritePing(false, [8]byte{})
		}, Protocol, "", "GOAWAY PROTOCOL_ERROR", false},
		{"continuation of another stream", func(p *peer, id uint32) {
			_ = p.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: p.block(":status", "200")})
			_ = p.WriteContinuation(id+2, true, nil)
		}, Protocol, "", "GOAWAY PROTOCOL_ERROR", false},
		{"hpack: no such index", func(p *peer, id uint32) {
			_ = p.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: []byte{0xff, 0xff, 0x7f}, EndHeaders: true})
		}, Protocol, "", "GOAWAY COMPRESSION_ERROR", false},
		{"hpack: cut", func(p *peer, id uint32) {
			_ = p.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: []byte{0x40, 0x05, 'a'}, EndHeaders: true})
		}, Protocol, "", "GOAWAY COMPRESSION_ERROR", false},
		{"hpack: a larger table than allowed", func(p *peer, id uint32) {
			_ = p.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: []byte{0x3f, 0xe1, 0xff, 0x07, 0x88}, EndHeaders: true})
		}, Protocol, "", "GOAWAY COMPRESSION_ERROR", false},

		{"no status", func(p *peer, id uint32) { p.head(id, true, "server", "x") }, Malformed, "", "RST PROTOCOL_ERROR", true},
		{"no fields", func(p *peer, id uint32) { p.head(id, true) }, Malformed, "", "RST PROTOCOL_ERROR", true},
		{"two statuses", func(p *peer, id uint32) { p.head(id, true, ":status", "200", ":status", "200") }, Malformed, "", "RST PROTOCOL_ERROR", true},
		{"status late", func(p *peer, id uint32) { p.head(id, true, "server", "x", ":status", "200") }, Malformed, "", "RST PROTOCOL_ERROR", true},
		{"status of four digits", func(p *peer, id uint32) { p.head(id, true, ":status", "2000") }, Malformed, "", "RST PROTOCOL_ERROR", true},
		{"status of letters", func(p *peer, id uint32) { p.head(id, true, ":status", "+20") }, Malformed, "", "RST PROTOCOL_ERROR", true},
		{"pseudo-header field of a request", func(p *peer, id uint32) { p.head(id, true, ":status", "200", ":path", "/") }, Malformed, "", "RST PROTOCOL_ERROR", true},
		{"upper case", func(p *peer, id uint32) { p.head(id, true, ":status", "200", "Server", "x") }, Malformed, "", "RST PROTOCOL_ERROR", true},
		{"name that is no token", func(p *peer, id uint32) { p.head(id, true, ":status", "200", "a b", "x") }, Malformed, "", "RST PROTOCOL_ERROR", true},
		{"empty name", func(p *peer, id uint32) { p.head(id, true, ":status", "200", "", "x") }, Malformed, "", "RST PROTOCOL_ERROR", true},
		{"line feed in a value", func(p *peer, id uint32) { p.head(id, true, ":status", "200", "a", "x\nb: y") }, Malformed, "", "RST PROTOCOL_ERROR", true},
		{"nul in a value", func(p *peer, id uint32) { p.head(id, true, ":status", "200", "a", "x\x00") }, Malformed, "", "RST PROTOCOL_ERROR", true},
		{"two lengths", func(p *peer, id uint32) {
			p.head(id, false, ":status", "200", "content-length", "4", "content-length", "5")
		}, Malformed, "", "RST PROTOCOL_ERROR", true},
		{"switching protocols", func(p *peer, id uint32) { p.head(id, false, ":status", "101") }, Malformed, "", "RST PROTOCOL_ERROR", true},
		{"1xx that ends", func(p *peer, id uint32) { p.head(id, true, ":status", "103") }, Malformed, "", "RST PROTOCOL_ERROR", true},
		{"second head", func(p *peer, id uint32) {
			p.head(id, false, ":status", "200")
			p.head(id, false, ":status", "200")
		}, Malformed, "", "RST PROTOCOL_ERROR", true},
		{"trailers with a status", func(p *peer, id uint32) {
			p.head(id, false, ":status", "200")
			p.head(id, true, ":status", "200")
		}, Malformed, "", "RST PROTOCOL_ERROR", true},
		{"length too long", func(p *peer, id uint32) {
			p.head(id, false, ":status", "200", "content-length", "5")
			_ = p.WriteData(id, true, []byte("good"))
		}, Truncated, "good", "", true},
		{"length without a body", func(p *peer, id uint32) { p.head(id, true, ":status", "200", "content-length", "5") }, Truncated, "", "", true},
		{"length too short", func(p *peer, id uint32) {
			p.head(id, false, ":status", "200", "content-length", "4")
			_ = p.WriteData(id, false, []byte("good"))
			_ = p.WriteData(id, true, []byte("!"))
		}, Truncated, "good", "RST PROTOCOL_ERROR", true},
		{"length too short for one frame", func(p *peer, id uint32) {
			p.head(id, false, ":status", "200", "content-length", "4")
			_ = p.WriteData(id, true, []byte("good!"))
		}, Truncated, "good", "RST PROTOCOL_ERROR", true},

		{"too much head in pieces", func(p *peer, id uint32) {
			block := p.block(":status", "200", "a", strings.Repeat("~", 20_000))
			_ = p.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: block[:10_000], EndStream: true})
			_ = p.WriteContinuation(id, true, block[10_000:])
		}, HeaderTooLarge, "", "RST CANCEL", true},
		{"head bomb", func(p *peer, id uint32) {
			block := p.block(":status", "200", "a", strings.Repeat("~", 4000))
			for range 10_000 {
				block = append(block, 0x80|62)
			}
			_ = p.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: block, EndStream: true, EndHeaders: true})
		}, HeaderTooLarge, "", "RST CANCEL", true},
		{"too many fields", func(p *peer, id uint32) {
			pairs := []string{":status", "200"}
			for i := range 11 {
				pairs = append(pairs, fmt.Sprint("x", i), "y")
			}
			p.head(id, true, pairs...)
		}, HeaderTooLarge, "", "RST CANCEL", true},
		{"as many fields as allowed", func(p *peer, id uint32) {
			pairs := []string{":status", "200"}
			for i := range 10 {
				pairs = append(pairs, fmt.Sprint("x", i), "y")
			}
			p.head(id, true, pairs...)
		}, 0, "", "", true},
		{"too many 1xx", func(p *peer, id uint32) {
			for range 4 {
				p.head(id, false, ":status", "103")
			}
		}, HeaderTooLarge, "", "RST ENHANCE_YOUR_CALM", true},
		{"too much trailer", func(p *peer, id uint32) {
			p.head(id, false, ":status", "200", "a", strings.Repeat("~", 12_000))
			_ = p.WriteData(id, false, []byte("good"))
			p.head(id, true, "b", strings.Repeat("~", 12_000))
		}, HeaderTooLarge, "good", "RST CANCEL", true},
		{"continuation flood", func(p *peer, id uint32) {
			_ = p.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: p.block(":status", "200")})
			for p.WriteContinuation(id, false, nil) == nil {
				continue
			}
		}, HeaderTooLarge, "", "", false},
		{"head without end", func(p *peer, id uint32) {
			_ = p.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: p.block(":status", "200")})
			for p.WriteContinuation(id, false, make([]byte, 16<<10)) == nil {
				continue
			}
		}, HeaderTooLarge, "", "", false},
		{"ping flood", func(p *peer, id uint32) {
			for p.WritePing(false, [8]byte{}) == nil {
				continue
			}
		}, Protocol, "", "", false},
		{"settings flood", func(p *peer, id uint32) {
			for p.WriteSettings() == nil {
				continue
			}
		}, Protocol, "", "", false},
		{"flood of empty data", func(p *peer, id uint32) {
			p.head(id, false, ":status", "200")
			for p.WriteData(id, false, nil) == nil {
				continue
			}
		}, Protocol, "", "", false},
		{"flood of padding", func(p *peer, id uint32) {
			p.head(id, false, ":status", "200")
			for p.WriteDataPadded(id, false, nil, make([]byte, 9)) == nil {
				continue
			}
		}, Protocol, "", "", false},
		{"flood of farewells", func(p *peer, id uint32) {
			for p.WriteGoAway(id, http2.ErrCodeNo, nil) == nil {
				continue
			}
		}, Protocol, "", "", false},
		{"flood of unknown frames", func(p *peer, id uint32) {
			for p.WriteRawFrame(0xbe, 0, 0, nil) == nil {
				continue
			}
		}, Protocol, "", "", false},
		{"flood on a stream that has ended", func(p *peer, id uint32) {
			_ = p.WriteRSTStream(id, http2.ErrCodeInternal)
			for p.WriteRSTStream(id, http2.ErrCodeInternal) == nil {
				continue
			}
		}, Reset, "", "", false},

		{"reset", func(p *peer, id uint32) { _ = p.WriteRSTStream(id, http2.ErrCodeInternal) }, Reset, "", "", true},
		{"refused", func(p *peer, id uint32) { _ = p.WriteRSTStream(id, http2.ErrCodeRefusedStream) }, Refused, "", "", true},
		{"reset in the body", func(p *peer, id uint32) {
			p.head(id, false, ":status", "200")
			_ = p.WriteData(id, false, []byte("good"))
			_ = p.WriteRSTStream(id, http2.ErrCodeNo)
		}, Truncated, "good", "", true},
		{"goes away before the stream", func(p *peer, id uint32) { _ = p.WriteGoAway(id-1, http2.ErrCodeNo, nil) }, Refused, "", "", false},
		{"goes away after the stream", func(p *peer, id uint32) {
			_ = p.WriteGoAway(id, http2.ErrCodeNo, []byte("bye"))
			p.ok(id, "good")
		}, 0, "good", "", false},
		{"goes away twice", func(p *peer, id uint32) {
			_ = p.WriteGoAway(1<<31-1, http2.ErrCodeNo, nil)
			_ = p.WriteGoAway(id, http2.ErrCodeNo, nil)
			p.ok(id, "good")
		}, 0, "good", "", false},
		{"goes away angrily", func(p *peer, id uint32) {
			_ = p.WriteGoAway(id, http2.ErrCodeEnhanceYourCalm, []byte(strings.Repeat("calm\xff", 1000)))
			_ = p.conn.Close()
		}, Closed, "", "", false},
		{"closes", func(p *peer, id uint32) { _ = p.conn.Close() }, Closed, "", "", false},
		{"closes in the head", func(p *peer, id uint32) {
			_, _ = p.conn.Write([]byte{0, 0, 9, 1})
			_ = p.conn.Close()
		}, Closed, "", "", false},
		{"closes in the body", func(p *peer, id uint32) {
			p.head(id, false, ":status", "200")
			_ = p.WriteData(id, false, []byte("good"))
			_ = p.conn.Close()
		}, Truncated, "good", "", false},
		{"closes in a frame of the body", func(p *peer, id uint32) {
			p.head(id, false, ":status", "200")
			_, _ = p.conn.Write([]byte{0, 0, 100, 0, 1, 0, 0, 0, byte(id), 'g', 'o', 'o', 'd'})
			_ = p.conn.Close()
		}, Truncated, "good", "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				settings := []http2.Setting{}
				if c.script == nil {
					settings = nil
				}
				conn, p := withPeer(t, Config{Limits: small}, settings, func(p *peer) {
					id := p.request()
					if c.script == nil {
						p.ok(id, "bad")
						return
					}
					c.script(p, id)
					if id := p.request(); id != 0 {
						p.ok(id, "again")
					}
				})
				_, body, err := do(t.Context(), conn, &Request{Path: "/"})
				if KindOf(err) != c.kind || (err == nil) != (c.kind == 0) || string(body) != c.body {
					t.Errorf("%v: %v, %.100q", KindOf(err), err, body)
				}
				synctest.Wait()
				_, body, err = do(t.Context(), conn, &Request{Path: "/"})
				if (err == nil && string(body) == "again") != c.survives {
					t.Errorf("afterwards: %v, %q", err, body)
				}
				synctest.Wait()
				if p.said() != c.told && c.told+p.said() != "GOAWAY ENHANCE_YOUR_CALM" {
					t.Errorf("told %q, want %q", p.said(), c.told)
				}
				if conn.places != 0 || len(conn.streams) != 0 {
					t.Errorf("%d places, %d streams", conn.places, len(conn.streams))
				}
			})
		})
	}
}
