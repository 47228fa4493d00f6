package crawltest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// pieceSize is how much a Hostile server sends at a time of what is long.
const pieceSize = 32 << 10

// reply is one request to a Hostile server, and the way to answer it.
type reply struct {
	h         *Hostile
	conn      net.Conn
	in        *bufio.Reader
	method    string
	url       *url.URL
	head      string // of the request, as it came
	visit     int64  // requests for the same behaviour before
	keep      bool   // the connection can serve another request
	closeNext bool   // it ends when another request comes
	gone      bool   // the client is
}

// read reads a request, or reports that there is none.
func (r *reply) read() bool {
	var head strings.Builder
	for {
		line, err := r.in.ReadSlice('\n')
		head.Write(line)
		if err != nil && err != bufio.ErrBufferFull || head.Len() > maxHostileHead {
			return false
		}
		if text := head.String(); strings.HasSuffix(text, "\r\n\r\n") || strings.HasSuffix(text, "\n\n") {
			break
		}
	}
	r.head = head.String()
	line, _, _ := strings.Cut(r.head, "\n")
	parts := strings.Fields(line)
	if len(parts) != 3 {
		return false
	}
	r.method, r.url = parts[0], parseTarget(parts[1])
	if n, err := strconv.ParseInt(r.field("Content-Length"), 10, 64); err == nil {
		if n > maxHostileBody {
			return false
		}
		if _, err := io.CopyN(io.Discard, r.in, n); err != nil {
			return false
		}
	}
	return true
}

// field returns the first value of a header field.
func (r *reply) field(name string) string {
	for line := range strings.Lines(r.head) {
		if k, v, ok := strings.Cut(line, ":"); ok && strings.EqualFold(k, name) {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

// size is the number that the request asks for, or what it is by default.
func (r *reply) size(def int64) int64 {
	if n, err := strconv.ParseInt(r.url.Query().Get("n"), 10, 64); err == nil && n >= 0 {
		return n
	}
	return def
}

// send writes, and reports whether the client is still there.
func (r *reply) send(text string) bool { return r.sendBytes([]byte(text)) }

func (r *reply) sendBytes(b []byte) bool {
	if !r.gone {
		_, err := r.conn.Write(b)
		r.gone = err != nil
	}
	return !r.gone
}

// sendf is send with a format.
func (r *reply) sendf(format string, args ...any) bool { return r.send(fmt.Sprintf(format, args...)) }

// fill sends n bytes of the pattern repeated.
func (r *reply) fill(pattern string, n int64) bool {
	piece := []byte(strings.Repeat(pattern, max(pieceSize/len(pattern), 1)))
	for ; n > 0; n -= int64(len(piece)) {
		if !r.sendBytes(piece[:min(n, int64(len(piece)))]) {
			return false
		}
	}
	return true
}

// series sends the pattern n times, in pieces, with the numbers from 0 on in place of each % in it.
func (r *reply) series(n int64, pattern string) bool {
	parts := strings.Split(pattern, "%")
	piece := make([]byte, 0, pieceSize+1024)
	for i := range n {
		piece = append(piece, parts[0]...)
		for _, part := range parts[1:] {
			piece = append(strconv.AppendInt(piece, i, 10), part...)
		}
		if len(piece) >= pieceSize {
			if !r.sendBytes(piece) {
				return false
			}
			piece = piece[:0]
		}
	}
	return r.sendBytes(piece)
}

// chunks sends a chunked body of n bytes of the pattern, without its end.
func (r *reply) chunks(pattern string, n int64) bool {
	data := strings.Repeat(pattern, max(pieceSize/len(pattern), 1))
	for ; n > 0; n -= int64(len(data)) {
		piece := data[:min(n, int64(len(data)))]
		if !r.sendf("%x\r\n%s\r\n", len(piece), piece) {
			return false
		}
	}
	return true
}

// pause waits, and reports whether the server goes on.
func (r *reply) pause(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.h.stop:
		return false
	}
}

// drip sends the text byte by byte.
func (r *reply) drip(text string) bool {
	for i := range len(text) {
		if !r.send(text[i:i+1]) || r.h.o.Interval > 0 && !r.pause(r.h.o.Interval) {
			return false
		}
	}
	return true
}

// hold does nothing until the client goes away.
func (r *reply) hold() { _, _ = io.Copy(io.Discard, r.in) }

// reset ends the connection with a reset, so that the client loses what it has not read.
func (r *reply) reset() { resetConn(r.conn) }

func resetConn(conn net.Conn) {
	switch c := conn.(type) {
	case interface{ Reset() error }:
		_ = c.Reset()
	case interface{ SetLinger(sec int) error }:
		_ = c.SetLinger(0)
		_ = conn.Close()
	default:
		_ = conn.Close()
	}
}

// page answers with a page, properly.
func (r *reply) page(contentType, body string) { r.whole("200 OK", "", contentType, body) }

// html answers with a page of HTML, properly.
func (r *reply) html(body string) { r.page("text/html; charset=utf-8", "<!doctype html>\n"+body) }

// whole answers properly, with more fields, each ended by CRLF.
func (r *reply) whole(status, fields, contentType, body string) {
	if r.method == "HEAD" {
		r.keep = r.sendf("HTTP/1.1 %s\r\n%sContent-Type: %s\r\nContent-Length: %d\r\n\r\n", status, fields, contentType, len(body))
		return
	}
	r.keep = r.sendf("HTTP/1.1 %s\r\n%sContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s", status, fields, contentType, len(body), body)
}

// raw answers with bytes as they stand, and keeps the connection.
func (r *reply) raw(text string) { r.keep = r.send(text) }

// open begins an answer whose body is chunked.
func (r *reply) open(contentType, fields string) bool {
	return r.sendf("HTTP/1.1 200 OK\r\nContent-Type: %s\r\n%sTransfer-Encoding: chunked\r\n\r\n", contentType, fields)
}

// stream answers with a body that ends with the connection.
func (r *reply) stream(contentType string) bool {
	return r.sendf("HTTP/1.1 200 OK\r\nContent-Type: %s\r\nConnection: close\r\n\r\n", contentType)
}
