package h1

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// pieces is a net.Conn that takes every write and brings a stream in pieces, then its end.
type pieces struct {
	stream []byte
	cuts   []byte // lengths of the pieces in turn; a zero stands for 4 KiB
	turn   int
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.stream) == 0 {
		return 0, io.EOF
	}
	n := 4 << 10
	if len(p.cuts) > 0 {
		if c := int(p.cuts[p.turn%len(p.cuts)]); c > 0 {
			n = c
		}
		p.turn++
	}
	n = copy(b, p.stream[:min(n, len(p.stream))])
	p.stream = p.stream[n:]
	return n, nil
}

func (p *pieces) Write(b []byte) (int, error)      { return len(b), nil }
func (p *pieces) Close() error                     { return nil }
func (p *pieces) LocalAddr() net.Addr              { return nil }
func (p *pieces) RemoteAddr() net.Addr             { return nil }
func (p *pieces) SetDeadline(time.Time) error      { return nil }
func (p *pieces) SetReadDeadline(time.Time) error  { return nil }
func (p *pieces) SetWriteDeadline(time.Time) error { return nil }

var fuzzLimits = Limits{HeaderBytes: 8 << 10, Fields: 50, Informational: 3}

// digest carries out one exchange and says all about its outcome that may not depend on how the stream is cut.
func digest(t testing.TB, method string, stream, cuts []byte, room int) string {
	c := NewConn(&pieces{stream: bytes.Clone(stream), cuts: cuts}, fuzzLimits, Timeouts{})
	defer c.Close()
	o := do(t, c, &Request{Method: method, Target: "/"}, room)
	if len(o.body) > len(stream) {
		t.Errorf("a body of %d bytes from a stream of %d", len(o.body), len(stream))
	}
	if len(o.resp.RawHeader) > fuzzLimits.HeaderBytes || !bytes.Contains(stream, o.resp.RawHeader) {
		t.Errorf("raw header %q", o.resp.RawHeader)
	}
	if o.err == nil && (o.resp.Status < 101 || o.resp.Status > 999 || o.resp.ContentLength > int64(len(o.body)) && method != "HEAD") {
		t.Errorf("status %d, length %d with a body of %d bytes", o.resp.Status, o.resp.ContentLength, len(o.body))
	}
	if e, ok := errors.AsType[*Error](o.err); o.err != nil && (!ok || e.Kind == 0 || strings.HasPrefix(e.Error(), "unknown")) {
		t.Errorf("untyped error %v", o.err)
	}
	return fmt.Sprintf("%d.%d %d %q %q %q %q %d %v %v", o.resp.Major, o.resp.Minor, o.resp.Status, o.resp.Reason, o.resp.Header, o.body, o.resp.Trailer, o.resp.ContentLength, o.headErr, o.err)
}

// FuzzWire: any bytes as a response give a result, the same one however they are cut and whatever is read at a time.
func FuzzWire(f *testing.F) {
	const ok = "HTTP/1.1 200 OK\r\n"
	for _, seed := range []string{
		"", "\r\n", "junkHTTP/1.0 404\n\nx", "ICY 200 OK\r\n\r\n", "<html>",
		ok + "Content-Length: 5\r\n\r\nhello", ok + "Content-Length: 5, 5\r\nContent-Length: 6\r\n\r\nhello",
		ok + "Transfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n0\r\nX: y\r\n z\r\n\r\n", ok + "Transfer-Encoding: chunked\n\n5  \nhello\n0\n\nsurplus",
		"HTTP/1.1 103 x\r\nLink: y\r\n\r\n" + ok + "X: a\r\n b\r\n\xc3\xa9: \xff\r\n: n\r\nX : c\rd\r\n\r\nbody",
		ok + "Connection: keep-alive, close\r\nContent-Length: 0\r\n\r\n" + ok, ok + "Transfer-Encoding: chunked\r\n\r\n7fffffffffffffff\r\nx",
	} {
		f.Add([]byte(seed), []byte{1}, uint8(0))
		f.Add([]byte(seed), []byte{3, 1, 0, 200}, uint8(1))
	}
	f.Fuzz(func(t *testing.T, stream, cuts []byte, method uint8) {
		m := []string{"GET", "HEAD", "CONNECT", "POST"}[method%4]
		whole := digest(t, m, stream, nil, 64<<10)
		for _, room := range []int{1, 100, directRead, 64 << 10} {
			if got := digest(t, m, stream, cuts, room); got != whole {
				t.Errorf("cut into %v and read by %d:\n%s\nwhole:\n%s", cuts, room, got, whole)
			}
		}
	})
}

// FuzzRequest: whatever is in a request, one request goes out as it stands or nothing at all.
func FuzzRequest(f *testing.F) {
	f.Add("GET", "/", "a.example", "X", "y", []byte(nil))
	f.Add("POST", "/a?b", "a", "content-length", "", []byte("body"))
	f.Add("G T", "/ HTTP/1.1\r\n", "a\r\nX: y", "X\r\n", "y\n", []byte("\r\n\r\n"))
	f.Fuzz(func(t *testing.T, method, target, host, name, value string, body []byte) {
		out, _, err := appendHead(nil, &Request{Method: method, Target: target, Host: host, Header: []Field{{name, value}}, Body: body})
		if err != nil {
			return
		}
		lines := strings.Split(string(out), "\r\n")
		if n := len(lines); n < 4 || n > 6 || lines[n-1] != "" || lines[n-2] != "" || strings.Count(string(out), "\n") != n-1 || strings.Count(string(out), "\r") != n-1 {
			t.Errorf("%q", out)
		}
		if strings.Count(lines[0], " ") != 2 || !strings.HasSuffix(lines[0], " HTTP/1.1") {
			t.Errorf("%q", lines[0])
		}
		for _, line := range lines[1 : len(lines)-2] {
			if n, _, ok := strings.Cut(line, ": "); !ok || !ValidToken(n) {
				t.Errorf("%q", line)
			}
		}
	})
}
