package h1

import (
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seine-go/seine/internal/memhttp"
)

// TestSurplusBytesNeverEnterTheNextResponse_K050: what a server sends beyond a body is not the beginning of the next
// response, whether it comes with the body or afterwards.
func TestSurplusBytesNeverEnterTheNextResponse_K050(t *testing.T) {
	t.Parallel()
	const forged = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged"
	tests := map[string]struct{ head, body, surplus, method string }{
		"after a length":       {"Content-Length: 5\r\n", "hello", forged, "GET"},
		"after a length, text": {"Content-Length: 5\r\n", "hello", " world", "GET"},
		"after length zero":    {"Content-Length: 0\r\n", "", forged, "GET"},
		"after chunks":         {"Transfer-Encoding: chunked\r\n", "5\r\nhello\r\n0\r\n\r\n", forged, "GET"},
		"after trailers":       {"Transfer-Encoding: chunked\r\n", "5\r\nhello\r\n0\r\nX: y\r\n\r\n", forged, "GET"},
		"a body to HEAD":       {"Content-Length: 44\r\n", "", forged, "HEAD"},
		"one byte":             {"Content-Length: 5\r\n", "hello", "!", "GET"},
		"an empty line":        {"Content-Length: 5\r\n", "hello", "\r\n", "GET"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, room := range []int{1, 5, 64 << 10} {
				head := okHead + tt.head + "\r\n" + tt.body
				// With the body.
				c, _ := script{answers: []string{head + tt.surplus, "HTTP/1.1 204 x\r\n\r\n"}}.dial(t, Limits{}, Timeouts{})
				o := do(t, c, &Request{Method: tt.method, Target: "/"}, room)
				if o.err != nil || o.body != "" && o.body != "hello" {
					t.Fatalf("room %d: %+v", room, o)
				}
				var resp Response
				if err := c.Do(t.Context(), &Request{Target: "/"}, &resp); KindOf(err) != Closed || resp.BytesWritten != 0 {
					t.Errorf("room %d: surplus with the body: status %d, %v", room, resp.Status, err)
				}

				// While the connection is idle.
				client, server := memhttp.Pipe()
				_, _ = io.WriteString(server, head)
				c = NewConn(client, Limits{}, Timeouts{})
				if o := do(t, c, &Request{Method: tt.method, Target: "/"}, room); o.err != nil || !o.reusable {
					t.Fatalf("room %d: %+v", room, o)
				}
				_, _ = io.WriteString(server, tt.surplus)
				e := wantKind(t, c.Do(t.Context(), &Request{Target: "/"}, &resp), Closed)
				if e.Written || e.Answered || resp.BytesWritten != 0 || c.Reusable() {
					t.Errorf("room %d: surplus while idle: status %d, %+v", room, resp.Status, e)
				}
				_ = c.Close()
			}
		})
	}
}

// TestShortBodyIsPartial_K050: what came of a body is handed out, then a typed error.
func TestShortBodyIsPartial_K050(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, raw string
		reset     bool
		body      string
	}{
		{"length", okHead + "Content-Length: 500\r\n\r\n" + "<p>twenty-one bytes</", false, "<p>twenty-one bytes</"},
		{"nothing came", okHead + "Content-Length: 500\r\n\r\n", false, ""},
		{"one byte less", okHead + "Content-Length: 5\r\n\r\nhell", false, "hell"},
		{"chunks", okHead + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", false, "hello"},
		{"reset", okHead + "\r\nhello", true, "hello"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			client, server := memhttp.Pipe()
			c := NewConn(client, Limits{}, Timeouts{})
			defer c.Close()
			_, _ = io.WriteString(server, tt.raw)
			if !tt.reset {
				_ = server.CloseWrite()
			}
			var resp Response
			if err := c.Do(t.Context(), &Request{Target: "/"}, &resp); err != nil {
				t.Fatal(err)
			}
			var got []byte
			p := make([]byte, 3)
			var err error
			for err == nil {
				var n int
				n, err = c.Body().Read(p)
				if got = append(got, p[:n]...); tt.reset && len(got) == len(tt.body) {
					_ = server.Reset()
				}
			}
			e := wantKind(t, err, Truncated)
			if string(got) != tt.body || !e.Answered || c.Reusable() {
				t.Errorf("body %q, %+v", got, e)
			}
		})
	}
}

// TestChunkFaults_K051: data loss is told with the part that came; a size with blanks behind it is read as usual.
func TestChunkFaults_K051(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, raw string
		kind      Kind
	}{
		{"no last chunk", "5\r\nhello\r\n", Truncated},
		{"size zz", "5\r\nhello\r\nzz\r\nmore\r\n0\r\n\r\n", BadChunk},
		{"chunk longer than its size", "5\r\nhello, world\r\n0\r\n\r\n", BadChunk},
		{"blanks behind the size", "5   \r\nhello\r\n0\r\n\r\n", 0},
	} {
		o := get(t, okHead+"Transfer-Encoding: chunked\r\n\r\n"+tt.raw, Limits{})
		if o.body != "hello" || KindOf(o.err) != tt.kind || o.reusable != (tt.kind == 0) {
			t.Errorf("%s: body %q, %v, reusable %v", tt.name, o.body, o.err, o.reusable)
		}
	}
}

// TestOddHeaderBytes_K052: the page is delivered, and the head can be read as it came.
func TestOddHeaderBytes_K052(t *testing.T) {
	t.Parallel()
	const chunks = "4\r\npage\r\n0\r\n\r\n"
	for _, tt := range []struct{ name, fields, body, key, value string }{
		{"name in curly quotes", "“X-A”: b\r\nContent-Length: 4\r\n", "page", "“X-A”", "b"},
		{"byte 0x94 in a value", "X-A: \x93b\x94\r\nContent-Length: 4\r\n", "page", "X-A", "\x93b\x94"},
		{"content type that is no utf-8", "Content-Type: text/html; charset=\xff\xfe\r\nContent-Length: 4\r\n", "page", "Content-Type", "text/html; charset=\xff\xfe"},
		{"chunked twice", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", chunks, "Transfer-Encoding", "chunked"},
		{"nul in a value", "X-A: a\x00b\r\nContent-Length: 4\r\n", "page", "X-A", "a\x00b"},
		{"control characters", "X-\x01A: \x02\x7f\r\nContent-Length: 4\r\n", "page", "X-\x01A", "\x02\x7f"},
		{"a line that is no field", "<b>Warning</b>\r\nX-A: b\r\nContent-Length: 4\r\n", "page", "X-A", "b"},
	} {
		raw := "HTTP/1.1 200 OK\r\n" + tt.fields + "\r\n"
		o := get(t, raw+tt.body, Limits{})
		if o.err != nil || o.body != "page" || string(o.resp.RawHeader) != raw {
			t.Errorf("%s: body %q, %v, raw header %q", tt.name, o.body, o.err, o.resp.RawHeader)
			continue
		}
		if v := o.resp.Header[tt.key]; len(v) == 0 || v[0] != tt.value {
			t.Errorf("%s: header is %q", tt.name, o.resp.Header)
		}
	}
}

// TestHeaderLineAtOneByteASecond_K053 ends with the header time-out and not later.
func TestHeaderLineAtOneByteASecond_K053(t *testing.T) {
	t.Parallel()
	bubble(t, Timeouts{}, append([]step{{0, okHead + "X-Long: "}}, drip(10_000, time.Second, "x")...), func(t *testing.T, o outcome, took time.Duration) {
		if e := wantKind(t, o.err, HeaderTimeout); took != 30*time.Second || !e.Answered {
			t.Errorf("%+v after %v", e, took)
		}
	})
}

// TestBodyAtOneByteASecond_K048: a body without end that only drips is ended by the minimum rate, and the part that came
// is there.
func TestBodyAtOneByteASecond_K048(t *testing.T) {
	t.Parallel()
	for name, head := range map[string]string{
		"length": okHead + "Content-Length: 1000000\r\n\r\n", "to the end": "HTTP/1.0 200 OK\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, Timeouts{}, append([]step{{0, head}}, drip(10_000, time.Second, "x")...), func(t *testing.T, o outcome, took time.Duration) {
				wantKind(t, o.err, TooSlow)
				if took != 31*time.Second || len(o.body) < 30 || o.reusable { // the window begins with the first byte
					t.Errorf("%d bytes after %v", len(o.body), took)
				}
			})
		})
	}
	t.Run("chunks of one byte", func(t *testing.T) {
		t.Parallel()
		bubble(t, Timeouts{}, append([]step{{0, okHead + "Transfer-Encoding: chunked\r\n\r\n"}}, drip(10_000, time.Second, "1\r\nx\r\n")...), func(t *testing.T, o outcome, took time.Duration) {
			wantKind(t, o.err, TooSlow)
			if took != 31*time.Second || len(o.body) < 30 {
				t.Errorf("%d bytes after %v", len(o.body), took)
			}
		})
	})
}

// TestFastBodyWithoutEndCanBeLeft_K048: an HTTP/1.0 body without length, fast and without end, is the caller's to leave:
// closing ends it at once and stops the server.
func TestFastBodyWithoutEndCanBeLeft_K048(t *testing.T) {
	t.Parallel()
	client, server := memhttp.Pipe()
	sent := make(chan int, 1)
	go func() { sent <- endless(server, "HTTP/1.0 200 OK\r\n\r\n", strings.Repeat("x", 16<<10)) }()
	c := NewConn(client, Limits{}, Timeouts{})
	var resp Response
	if err := c.Do(t.Context(), &Request{Target: "/"}, &resp); err != nil {
		t.Fatal(err)
	}
	got, err := io.Copy(io.Discard, io.LimitReader(c.Body(), 10<<20))
	if got != 10<<20 || err != nil || c.Reusable() {
		t.Fatalf("%d bytes, %v, reusable %v", got, err, c.Reusable())
	}
	_ = c.Close()
	if n := <-sent; n > 10<<20+bufferSize+2*memhttp.Window {
		t.Errorf("%d bytes were taken", n)
	}
	if _, err := c.Body().Read(make([]byte, 1)); KindOf(err) != Closed {
		t.Errorf("a read after Close gives %v", err)
	}
}

// TestLongEvenBodyIsNotCut_K049: a body may take longer than any of the timeouts.
func TestLongEvenBodyIsNotCut_K049(t *testing.T) {
	t.Parallel()
	const size = 100 * 1000
	for name, framing := range map[string][2]string{
		"length":     {"Content-Length: " + itoa(size) + "\r\n\r\n", strings.Repeat("x", 1000)},
		"chunks":     {"Transfer-Encoding: chunked\r\n\r\n", "3e8\r\n" + strings.Repeat("x", 1000) + "\r\n"},
		"to the end": {"Connection: close\r\n\r\n", strings.Repeat("x", 1000)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				client, server := memhttp.Pipe()
				steps := append([]step{{0, okHead + framing[0]}}, drip(100, 10*time.Second, framing[1])...)
				if name == "chunks" {
					steps = append(steps, step{time.Second, "0\r\n\r\n"})
				}
				done := make(chan struct{})
				go func() {
					defer close(done)
					defer server.Close()
					send(server, steps)
				}()
				c := NewConn(client, Limits{}, Timeouts{Header: 5 * time.Second, Write: 5 * time.Second})
				start := time.Now()
				o := do(t, c, &Request{Target: "/"}, 8<<10)
				if took := time.Since(start); o.err != nil || len(o.body) != size || took < 1000*time.Second {
					t.Errorf("%d bytes after %v: %v", len(o.body), took, o.err)
				}
				_ = c.Close()
				<-done
			})
		})
	}
}
