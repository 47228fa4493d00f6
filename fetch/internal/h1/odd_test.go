package h1

import (
	"net/http"
	"strings"
	"testing"
)

// TestOddResponses is what becomes of responses that are not as RFC 9112 wants them, or use its rarer liberties.
func TestOddResponses(t *testing.T) {
	t.Parallel()
	const ok = "HTTP/1.1 200 OK\r\n"
	tests := []struct {
		name     string
		raw      string
		status   int // 0: an error of the head
		reason   string
		header   http.Header // nil: not compared
		body     string
		trailer  http.Header
		kind     Kind // 0: none
		reusable bool
	}{
		{name: "plain", raw: ok + "Content-Length: 5\r\n\r\nhello", status: 200, reason: "OK", header: http.Header{"Content-Length": {"5"}}, body: "hello", reusable: true},
		{name: "bare lf", raw: "HTTP/1.1 200 OK\nContent-Length: 5\n\nhello", status: 200, reason: "OK", body: "hello", reusable: true},
		{name: "two crs", raw: "HTTP/1.1 200 OK\r\r\nContent-Length: 5\r\r\n\r\r\nhello", status: 200, reason: "OK", body: "hello", reusable: true},
		{name: "mixed line ends", raw: "HTTP/1.1 200 OK\nContent-Length: 5\r\n\nhello", status: 200, reason: "OK", body: "hello", reusable: true},

		// Status lines.
		{name: "no reason", raw: "HTTP/1.1 200\r\nContent-Length: 5\r\n\r\nhello", status: 200, body: "hello", reusable: true},
		{name: "empty reason", raw: "HTTP/1.1 200 \r\nContent-Length: 5\r\n\r\nhello", status: 200, body: "hello", reusable: true},
		{name: "reason in utf-8", raw: "HTTP/1.1 404 Страница не найдена\r\nContent-Length: 0\r\n\r\n", status: 404, reason: "Страница не найдена", reusable: true},
		{name: "blanks around", raw: "HTTP/1.1   200   OK  \r\nContent-Length: 0\r\n\r\n", status: 200, reason: "OK", reusable: true},
		{name: "tab", raw: "HTTP/1.1\t200\tOK\r\nContent-Length: 0\r\n\r\n", status: 200, reason: "OK", reusable: true},
		{name: "reason without a blank", raw: "HTTP/1.1 200OK\r\nContent-Length: 0\r\n\r\n", status: 200, reason: "OK", reusable: true},
		{name: "lower case", raw: "http/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", status: 200, reason: "OK", reusable: true},
		{name: "no status", raw: "HTTP/1.1\r\nContent-Length: 0\r\n\r\n", status: 200, reusable: true},
		{name: "status in words", raw: "HTTP/1.1 Fine\r\nContent-Length: 0\r\n\r\n", status: 200, reason: "Fine", reusable: true},
		{name: "status 999", raw: "HTTP/1.1 999 Request denied\r\nContent-Length: 0\r\n\r\n", status: 999, reason: "Request denied", reusable: true},
		{name: "status 1000", raw: "HTTP/1.1 1000 x\r\nContent-Length: 0\r\n\r\n", kind: Malformed},
		{name: "status 99", raw: "HTTP/1.1 99 x\r\nContent-Length: 0\r\n\r\n", kind: Malformed},
		{name: "status of 20 digits", raw: "HTTP/1.1 18446744073709551816 x\r\nContent-Length: 0\r\n\r\n", kind: Malformed},
		{name: "version 1.0", raw: "HTTP/1.0 200 OK\r\n\r\nhello", status: 200, reason: "OK", body: "hello"},
		{name: "version 1.0 with length", raw: "HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello", status: 200, reason: "OK", body: "hello"},
		{name: "version 1.0 kept", raw: "HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 5\r\n\r\nhello", status: 200, reason: "OK", body: "hello", reusable: true},
		{name: "version 1.2", raw: "HTTP/1.2 200 OK\r\nContent-Length: 5\r\n\r\nhello", status: 200, reason: "OK", body: "hello", reusable: true},
		{name: "version 2.0", raw: "HTTP/2.0 200 OK\r\nContent-Length: 5\r\n\r\nhello", status: 200, reason: "OK", body: "hello"},
		{name: "no version", raw: "HTTP 200 OK\r\nContent-Length: 5\r\n\r\nhello", status: 200, reason: "OK", body: "hello"},
		{name: "broken version", raw: "HTTP/x 200 OK\r\nContent-Length: 5\r\n\r\nhello", status: 200, reason: "OK", body: "hello"},
		{name: "icy", raw: "ICY 200 OK\r\nicy-name: radio\r\n\r\nsound", status: 200, reason: "OK", header: http.Header{"Icy-Name": {"radio"}}, body: "sound"},
		{name: "leading blank lines", raw: "\r\n\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", status: 200, reason: "OK", body: "hello", reusable: true},
		{name: "leading bom", raw: "\xef\xbb\xbfHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", status: 200, reason: "OK", body: "hello", reusable: true},
		{name: "leading junk of 4", raw: "junkHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", status: 200, reason: "OK", body: "hello", reusable: true},
		{name: "leading junk of 5", raw: "junk!HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", kind: Malformed},
		{name: "version 0.9", raw: "<html>hello</html>", kind: Malformed},
		{name: "text that begins as the protocol", raw: "https is what this port speaks\r\n\r\n", kind: Malformed},
		{name: "ssh", raw: "SSH-2.0-OpenSSH_9.2\r\n", kind: Malformed},
		{name: "tls alert", raw: "\x15\x03\x01\x00\x02\x02\x0a", kind: Malformed},

		// Fields.
		{name: "folded", raw: ok + "X-A: a\r\n  b\r\n\tc\r\nContent-Length: 0\r\n\r\n", status: 200, reason: "OK", header: http.Header{"X-A": {"a b c"}, "Content-Length": {"0"}}, reusable: true},
		{name: "folded from nothing", raw: ok + "X-A:\r\n b\r\nContent-Length: 0\r\n\r\n", status: 200, reason: "OK", header: http.Header{"X-A": {"b"}, "Content-Length": {"0"}}, reusable: true},
		{name: "fold after the status line", raw: ok + " b: c\r\nContent-Length: 0\r\n\r\n", status: 200, reason: "OK", header: http.Header{"Content-Length": {"0"}}, reusable: true},
		{name: "fold of a line that is no field", raw: ok + "X-A: a\r\njunk\r\n b\r\nContent-Length: 0\r\n\r\n", status: 200, reason: "OK", header: http.Header{"X-A": {"a"}, "Content-Length": {"0"}}, reusable: true},
		{name: "blank before the colon", raw: ok + "X-A : b\r\nContent-Length\t: 5\r\n\r\nhello", status: 200, reason: "OK", header: http.Header{"X-A": {"b"}, "Content-Length": {"5"}}, body: "hello", reusable: true},
		{name: "lines that are no fields", raw: ok + "junk\r\n: nameless\r\n=\r\nX-A: b\r\nContent-Length: 0\r\n\r\n", status: 200, reason: "OK", header: http.Header{"X-A": {"b"}, "Content-Length": {"0"}}, reusable: true},
		{name: "bytes that are no ascii", raw: ok + "\xc3\xa9: \xe9\x94\r\nX-B: caf\xe9\r\nContent-Length: 0\r\n\r\n", status: 200, reason: "OK", header: http.Header{"\xc3\xa9": {"\xe9\x94"}, "X-B": {"caf\xe9"}, "Content-Length": {"0"}}, reusable: true},
		{name: "case of names", raw: ok + "content-LENGTH: 0\r\nx-custom_name: 1\r\nSET-COOKIE: a=1\r\nset-cookie: b=2\r\n\r\n", status: 200, reason: "OK", header: http.Header{"Content-Length": {"0"}, "X-Custom_name": {"1"}, "Set-Cookie": {"a=1", "b=2"}}, reusable: true},
		{name: "bare cr in a value", raw: ok + "X-A: a\rSet-Cookie: b\r\nContent-Length: 0\r\n\r\n", status: 200, reason: "OK", header: http.Header{"X-A": {"a Set-Cookie: b"}, "Content-Length": {"0"}}, reusable: true},
		{name: "empty values", raw: ok + "X-A:\r\nX-B: \t \r\nContent-Length: 0\r\n\r\n", status: 200, reason: "OK", header: http.Header{"X-A": {""}, "X-B": {""}, "Content-Length": {"0"}}, reusable: true},
		{name: "no fields", raw: ok + "\r\nhello", status: 200, reason: "OK", header: http.Header{}, body: "hello"},

		// Length.
		{name: "length twice", raw: ok + "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello", status: 200, reason: "OK", body: "hello", reusable: true},
		{name: "length in a list", raw: ok + "Content-Length: 5, 5\r\n\r\nhello", status: 200, reason: "OK", body: "hello", reusable: true},
		{name: "lengths that say the same", raw: ok + "Content-Length: 05\r\nContent-Length: 5\r\n\r\nhello", status: 200, reason: "OK", body: "hello", reusable: true},
		{name: "lengths that contradict", raw: ok + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello", kind: Malformed},
		{name: "lengths that contradict in a list", raw: ok + "Content-Length: 5, 6\r\n\r\nhello", kind: Malformed},
		{name: "a length and junk", raw: ok + "Content-Length: 5, x\r\n\r\nhello", kind: Malformed},
		{name: "junk and a length", raw: ok + "Content-Length: x\r\nContent-Length: 5\r\n\r\nhello", kind: Malformed},
		{name: "empty length", raw: ok + "Content-Length: \r\n\r\nhello", status: 200, reason: "OK", body: "hello"},
		{name: "empty length and a length", raw: ok + "Content-Length:\r\nContent-Length: 5\r\n\r\nhello", status: 200, reason: "OK", body: "hello"},
		{name: "length with a plus", raw: ok + "Content-Length: +5\r\n\r\nhello", status: 200, reason: "OK", body: "hello"},
		{name: "negative length", raw: ok + "Content-Length: -5\r\n\r\nhello", status: 200, reason: "OK", body: "hello"},
		{name: "length too great", raw: ok + "Content-Length: 9223372036854775808\r\n\r\nhello", status: 200, reason: "OK", body: "hello"},
		{name: "greatest length", raw: ok + "Content-Length: 9223372036854775807\r\n\r\nhello", status: 200, reason: "OK", body: "hello", kind: Truncated},
		{name: "to the end", raw: ok + "Connection: keep-alive\r\n\r\nhello", status: 200, reason: "OK", body: "hello"},
		{name: "closing", raw: ok + "Connection: foo , Close\r\nContent-Length: 5\r\n\r\nhello", status: 200, reason: "OK", body: "hello"},

		// No body.
		{name: "204", raw: "HTTP/1.1 204 No Content\r\n\r\n", status: 204, reason: "No Content", reusable: true},
		{name: "204 with length", raw: "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n", status: 204, reason: "No Content", reusable: true},
		{name: "304 with length and chunked", raw: "HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n", status: 304, reason: "Not Modified", reusable: true},
		{name: "205 with length", raw: "HTTP/1.1 205 Reset\r\nContent-Length: 2\r\n\r\nab", status: 205, reason: "Reset", body: "ab", reusable: true},

		// 1xx.
		{name: "100", raw: "HTTP/1.1 100 Continue\r\n\r\n" + ok + "Content-Length: 0\r\n\r\n", status: 200, reason: "OK", header: http.Header{"Content-Length": {"0"}}, reusable: true},
		{name: "103 twice and 199", raw: strings.Repeat("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", 2) + "HTTP/1.1 199 x\n\n" + ok + "Content-Length: 0\r\n\r\n", status: 200, reason: "OK", header: http.Header{"Content-Length": {"0"}}, reusable: true},
		{name: "101 unasked", raw: "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", kind: Malformed},
		{name: "1xx and the end", raw: "HTTP/1.1 100 Continue\r\n\r\n", kind: Truncated},

		// The end in a head.
		{name: "nothing", raw: "", kind: Closed},
		{name: "half a name of the protocol", raw: "HTT", kind: Truncated},
		{name: "half a status line", raw: "HTTP/1.1 20", kind: Truncated},
		{name: "half a head", raw: ok + "Content-Length: 5\r\n", kind: Truncated},
		{name: "blank lines only", raw: "\r\n\r\n", kind: Truncated},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o := get(t, tt.raw, Limits{})
			if o.headErr != (tt.status == 0) || KindOf(o.err) != tt.kind {
				t.Fatalf("error is %v, want kind %q", o.err, tt.kind)
			}
			if tt.status == 0 {
				return
			}
			if o.resp.Status != tt.status || o.resp.Reason != tt.reason || o.body != tt.body || o.reusable != tt.reusable {
				t.Errorf("got %d %q, body %q, reusable %v; want %d %q, %q, %v", o.resp.Status, o.resp.Reason, o.body, o.reusable, tt.status, tt.reason, tt.body, tt.reusable)
			}
			if tt.header != nil && !sameHeader(o.resp.Header, tt.header) {
				t.Errorf("header is %q, want %q", o.resp.Header, tt.header)
			}
			if head := string(o.resp.RawHeader); !strings.Contains(tt.raw, head) || !strings.HasSuffix(head, "\n") {
				t.Errorf("raw header is %q", head)
			}
		})
	}
}

func TestChunks(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		fields  string // beside Transfer-Encoding
		raw     string // after the head
		body    string
		trailer http.Header
		kind    Kind
	}{
		{name: "one", raw: "5\r\nhello\r\n0\r\n\r\n", body: "hello"},
		{name: "many", raw: "1\r\nh\r\n1\r\ne\r\n3\r\nllo\r\n0\r\n\r\n", body: "hello"},
		{name: "none", raw: "0\r\n\r\n"},
		{name: "bare lf", raw: "5\nhello\n0\n\n", body: "hello"},
		{name: "extensions", raw: "5;x=\"y;z\"\r\nhello\r\n0;last\r\n\r\n", body: "hello"},
		{name: "blanks around", raw: " 5 \t\r\nhello\r\n0  \r\n\r\n", body: "hello"},
		{name: "blank before an extension", raw: "5 ; x\r\nhello\r\n0\r\n\r\n", body: "hello"},
		{name: "zeros", raw: "00000000000000000000005\r\nhello\r\n000\r\n\r\n", body: "hello"},
		{name: "hexadecimal", raw: "A\r\n0123456789\r\nb\r\n0123456789a\r\n0\r\n\r\n", body: "01234567890123456789a"},
		{name: "trailers", raw: "5\r\nhello\r\n0\r\nx-sum: 1\r\nX-Sum: 2\r\n\r\n", body: "hello", trailer: http.Header{"X-Sum": {"1", "2"}}},
		{name: "trailers that are none", raw: "5\r\nhello\r\n0\r\njunk\r\n\r\n", body: "hello"},
		{name: "blanks after a chunk", raw: "5\r\nhello  \r\n0\r\n\r\n", body: "hello"},

		{name: "no last chunk", raw: "5\r\nhello\r\n", body: "hello", kind: Truncated},
		{name: "no end of the chunk", raw: "5\r\nhello", body: "hello", kind: Truncated},
		{name: "no end of the last chunk", raw: "5\r\nhello\r\n0\r\n", body: "hello", kind: Truncated},
		{name: "short chunk", raw: "6\r\nhello", body: "hello", kind: Truncated},
		{name: "cut in a size", raw: "5\r\nhello\r\n1", body: "hello", kind: Truncated},
		{name: "nothing", raw: "", kind: Truncated},
		{name: "cut in trailers", raw: "5\r\nhello\r\n0\r\nX-Sum: 1\r\n", body: "hello", kind: Truncated},

		{name: "size zz", raw: "5\r\nhello\r\nzz\r\n", body: "hello", kind: BadChunk},
		{name: "size with a prefix", raw: "0x5\r\nhello\r\n0\r\n\r\n", kind: BadChunk},
		{name: "size with a sign", raw: "+5\r\nhello\r\n0\r\n\r\n", kind: BadChunk},
		{name: "negative size", raw: "-5\r\nhello\r\n0\r\n\r\n", kind: BadChunk},
		{name: "no size", raw: "\r\nhello\r\n0\r\n\r\n", kind: BadChunk},
		{name: "only an extension", raw: ";x\r\nhello\r\n0\r\n\r\n", kind: BadChunk},
		{name: "two sizes", raw: "5 5\r\nhello\r\n0\r\n\r\n", kind: BadChunk},
		{name: "greatest size", raw: "7fffffffffffffff\r\nhello", body: "hello", kind: Truncated},
		{name: "size too great", raw: "8000000000000000\r\nhello", kind: BadChunk},
		{name: "size that wraps round", raw: "10000000000000005\r\nhello\r\n0\r\n\r\n", kind: BadChunk},
		{name: "chunk longer than its size", raw: "5\r\nhello!\r\n0\r\n\r\n", body: "hello", kind: BadChunk},
		{name: "chunk without an end", raw: "5\r\nhello0\r\n\r\n", body: "hello", kind: BadChunk},
	}
	for _, tt := range tests {
		for _, room := range []int{1, 3, 4 << 10} { // byte by byte, and into the slice without the buffer
			for _, piece := range []int{0, 1} {
				raw := "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n" + tt.fields + "\r\n" + tt.raw
				c, _ := script{answers: []string{raw}, piece: piece}.dial(t, Limits{}, Timeouts{})
				o := do(t, c, &Request{Target: "/"}, room)
				if o.headErr || KindOf(o.err) != tt.kind || o.body != tt.body || !sameHeader(o.resp.Trailer, tt.trailer) {
					t.Errorf("%s, room %d: body %q, trailer %q, error %v; want %q, %q, kind %q", tt.name, room, o.body, o.resp.Trailer, o.err, tt.body, tt.trailer, tt.kind)
				}
				if o.reusable != (tt.kind == 0) {
					t.Errorf("%s, room %d: reusable %v", tt.name, room, o.reusable)
				}
			}
		}
	}
}

// TestTransferCodings is about who decides on the length when Transfer-Encoding is not the plain "chunked".
func TestTransferCodings(t *testing.T) {
	t.Parallel()
	const chunks = "5\r\nhello\r\n0\r\n\r\n"
	tests := []struct {
		name, proto, fields, raw, body string
		reusable                       bool
	}{
		{name: "chunked", fields: "Transfer-Encoding: Chunked\r\n", raw: chunks, body: "hello", reusable: true},
		{name: "with a parameter", fields: "Transfer-Encoding: chunked;q=1\r\n", raw: chunks, body: "hello", reusable: true},
		{name: "twice", fields: "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", raw: chunks, body: "hello"},
		{name: "twice in a list", fields: "Transfer-Encoding: chunked, chunked\r\n", raw: chunks, body: "hello"},
		{name: "empty items", fields: "Transfer-Encoding: , chunked ,\r\n", raw: chunks, body: "hello", reusable: true},
		{name: "identity first", fields: "Transfer-Encoding: identity, chunked\r\n", raw: chunks, body: "hello"},
		{name: "gzip is left to the reader", fields: "Transfer-Encoding: gzip, chunked\r\n", raw: chunks, body: "hello"},
		{name: "and a length", fields: "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n", raw: chunks, body: "hello"},
		{name: "identity and a length", fields: "Transfer-Encoding: identity\r\nContent-Length: 5\r\n", raw: "hello", body: "hello"},
		{name: "unknown and a length", fields: "Transfer-Encoding: x\r\nContent-Length: 5\r\n", raw: "hello", body: "hello"},
		{name: "unknown alone", fields: "Transfer-Encoding: x\r\n", raw: "hello", body: "hello"},
		{name: "a version that has none", proto: "HTTP/1.0", fields: "Connection: keep-alive\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n", raw: "hello", body: "hello"},
		{name: "a version that has none, to the end", proto: "HTTP/1.0", fields: "Transfer-Encoding: chunked\r\n", raw: chunks, body: chunks},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			proto := tt.proto
			if proto == "" {
				proto = "HTTP/1.1"
			}
			o := get(t, proto+" 200 OK\r\n"+tt.fields+"\r\n"+tt.raw, Limits{})
			if o.err != nil || o.body != tt.body || o.reusable != tt.reusable {
				t.Errorf("body %q, reusable %v, error %v; want %q, %v", o.body, o.reusable, o.err, tt.body, tt.reusable)
			}
		})
	}
}

// TestMethodsWithoutBody: what follows the head belongs to no body.
func TestMethodsWithoutBody(t *testing.T) {
	t.Parallel()
	for _, fields := range []string{"Content-Length: 500\r\n", "Transfer-Encoding: chunked\r\n", ""} {
		c, _ := script{answers: []string{"HTTP/1.1 200 OK\r\n" + fields + "\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx"}}.dial(t, Limits{}, Timeouts{})
		o := do(t, c, &Request{Method: "HEAD", Target: "/"}, 100)
		if o.err != nil || o.body != "" || !o.reusable {
			t.Fatalf("%q: %+v", fields, o)
		}
		want := int64(-1)
		if strings.HasPrefix(fields, "Content-Length") {
			want = 500
		}
		if o.resp.ContentLength != want {
			t.Errorf("%q: length %d, want %d", fields, o.resp.ContentLength, want)
		}
		if o = do(t, c, &Request{Target: "/"}, 100); o.err != nil || o.body != "x" {
			t.Errorf("%q: the next exchange: %+v", fields, o)
		}
	}
}

// TestSwitchedProtocols: with 101, and a 2xx to CONNECT, what follows is the connection itself.
func TestSwitchedProtocols(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		raw string
		req Request
	}{
		{"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nContent-Length: 1\r\n\r\nraw bytes", Request{Target: "/", Header: []Field{{"Upgrade", "x"}}}},
		{"HTTP/1.1 200 Established\r\nContent-Length: 1\r\n\r\nraw bytes", Request{Method: "CONNECT", Target: "a.example:443"}},
	} {
		c, _ := script{answers: []string{tt.raw}}.dial(t, Limits{}, Timeouts{})
		if o := do(t, c, &tt.req, 100); o.err != nil || o.body != "raw bytes" || o.reusable {
			t.Errorf("%s: %+v", tt.raw, o)
		}
	}
}
