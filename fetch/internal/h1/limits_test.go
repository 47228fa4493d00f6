package h1

import (
	"runtime"
	"strings"
	"testing"

	"github.com/seine-go/seine/internal/memhttp"
)

// TestLimits tries each limit at its value and one past it.
func TestLimits(t *testing.T) {
	t.Parallel()
	const end = "Content-Length: 0\r\n\r\n"
	const ok = "HTTP/1.1 200 OK\r\n"
	const hint = "HTTP/1.1 103 x\r\n\r\n"
	headOf := func(n int) string { // a response whose head has n bytes
		return ok + "X: " + strings.Repeat("x", n-len(ok+"X: \r\n"+end)) + "\r\n" + end
	}
	chunked := func(size, trailer string) string {
		return ok + "Transfer-Encoding: chunked\r\n\r\n" + size + "\r\nhello\r\n0\r\n" + trailer + "\r\n"
	}
	chunkHead := len(ok + "Transfer-Encoding: chunked\r\n\r\n")
	tests := []struct {
		name   string
		limits Limits
		at     string
		past   string
		kind   Kind
	}{
		{"header bytes by default", Limits{}, headOf(2 << 20), headOf(2<<20 + 1), HeaderTooLarge},
		{"header bytes", Limits{HeaderBytes: 100}, headOf(100), headOf(101), HeaderTooLarge},
		{"header bytes without an end", Limits{HeaderBytes: 100}, headOf(100), ok + strings.Repeat("x", 200), HeaderTooLarge},
		{"header bytes with 1xx", Limits{HeaderBytes: 100}, hint + headOf(100-len(hint)), hint + headOf(101-len(hint)), HeaderTooLarge},
		{"header bytes with blank lines", Limits{HeaderBytes: 100}, "\r\n" + headOf(98), "\r\n\r\n" + headOf(97), HeaderTooLarge},
		{"blank lines", Limits{HeaderBytes: 100}, headOf(100), strings.Repeat("\r\n", 200), HeaderTooLarge},
		{"trailers", Limits{HeaderBytes: chunkHead + 20}, chunked("5", "X: "+strings.Repeat("x", 15)+"\r\n"), chunked("5", "X: "+strings.Repeat("x", 16)+"\r\n"), HeaderTooLarge},
		{"trailers with the head at its limit", Limits{HeaderBytes: chunkHead}, chunked("5", ""), chunked("5", "X:\r\n"), HeaderTooLarge},
		{"chunk extensions", Limits{HeaderBytes: chunkHead + 20}, chunked("5;"+strings.Repeat("x", 35-1), ""), chunked("5;"+strings.Repeat("x", 36), ""), HeaderTooLarge},
		{"chunk line", Limits{}, chunked("5;"+strings.Repeat("x", maxChunkLine-3), ""), chunked("5;"+strings.Repeat("x", maxChunkLine-2), ""), BadChunk},
		{"chunk line without an end", Limits{}, chunked("5", ""), ok + "Transfer-Encoding: chunked\r\n\r\n" + strings.Repeat("0", 1<<20), BadChunk},
		{"fields by default", Limits{}, ok + strings.Repeat("X: y\r\n", 9_999) + end, ok + strings.Repeat("X: y\r\n", 10_000) + end, HeaderTooLarge},
		{"fields", Limits{Fields: 3}, ok + "A: 1\r\nB: 2\r\n" + end, ok + "A: 1\r\nB: 2\r\njunk\r\n" + end, HeaderTooLarge},
		{"fields of trailers", Limits{Fields: 2}, chunked("5", "A: 1\r\nB: 2\r\n"), chunked("5", "A: 1\r\nB: 2\r\nC: 3\r\n"), HeaderTooLarge},
		{"1xx by default", Limits{}, strings.Repeat(hint, 100) + ok + end, strings.Repeat(hint, 101) + ok + end, HeaderTooLarge},
		{"1xx", Limits{Informational: 1}, hint + ok + end, hint + hint + ok + end, HeaderTooLarge},
		{"1xx, none", Limits{Informational: -1}, strings.Repeat(hint, 1000) + ok + end, "", Closed},
		{"header bytes, none", Limits{HeaderBytes: -1}, headOf(3 << 20), "", Closed},
		{"fields, none", Limits{Fields: -1}, ok + strings.Repeat("X: y\r\n", 20_000) + end, "", Closed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if o := get(t, tt.at, tt.limits); o.err != nil || o.resp.Status != 200 || !o.reusable {
				t.Errorf("at the limit: %v, reusable %v", o.err, o.reusable)
			}
			if o := get(t, tt.past, tt.limits); KindOf(o.err) != tt.kind {
				t.Errorf("past the limit: %v, want kind %q", o.err, tt.kind)
			}
		})
	}
}

// endless sends the same piece again and again until the client has closed, and says how many bytes it could send.
func endless(server *memhttp.Conn, begin, piece string) (sent int) {
	defer server.Close()
	p := []byte(begin)
	for {
		n, err := server.Write(p)
		sent += n
		if err != nil {
			return sent
		}
		p = []byte(piece)
	}
}

// TestEndlessHeads_K053: heads without end are refused at the limit, with bounded memory, and the connection is given up.
func TestEndlessHeads_K053(t *testing.T) {
	tests := []struct{ name, begin, piece string }{
		{"one field", "HTTP/1.1 200 OK\r\nX: ", strings.Repeat("x", 16<<10)},
		{"one cookie", "HTTP/1.1 200 OK\r\nSet-Cookie: a=", strings.Repeat("x", 16<<10)},
		{"many fields", "HTTP/1.1 200 OK\r\n", strings.Repeat("a:b\r\n", 1000)},
		{"folds", "HTTP/1.1 200 OK\r\nX: y\r\n", strings.Repeat(" z\r\n", 1000)},
		{"empty lines", "", strings.Repeat("\r\n", 1000)},
		{"status line", "HTTP/1.1 200 ", strings.Repeat("x", 16<<10)},
		{"1xx with fields", "", "HTTP/1.1 103 x\r\nLink: " + strings.Repeat("x", 64<<10) + "\r\n\r\n"},
		{"1xx", "", strings.Repeat("HTTP/1.1 103 x\r\n\r\n", 1000)},
		{"trailers", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", strings.Repeat("a:b\r\n", 1000)},
		{"chunk extensions", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", strings.Repeat("1;"+strings.Repeat("x", 100)+"\r\nx\r\n", 10)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			client, server := memhttp.Pipe()
			sent := make(chan int, 1)
			go func() { sent <- endless(server, tt.begin, tt.piece) }()
			c := NewConn(client, Limits{}, Timeouts{})
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			o := do(t, c, &Request{Target: "/"}, 4<<10)
			runtime.ReadMemStats(&after)
			wantKind(t, o.err, HeaderTooLarge)
			_ = c.Close()
			if n := <-sent; n > 4<<20 {
				t.Errorf("%d bytes were taken", n)
			}
			// The server's side and the pipe allocate as well: this bound is for the kind of fault, not for the byte.
			if n := after.TotalAlloc - before.TotalAlloc; n > 64<<20 {
				t.Errorf("%d bytes were allocated", n)
			}
		})
	}

	// A million short fields that would fit into the bytes are refused by their number.
	o := get(t, "HTTP/1.1 200 OK\r\n"+strings.Repeat("a:\n", 600_000)+"\r\n", Limits{})
	wantKind(t, o.err, HeaderTooLarge)
}
