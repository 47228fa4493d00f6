package proxy

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"net"
	"strconv"
)

// Bounds of a proxy's answer to CONNECT.
const (
	MaxConnectHead = 64 << 10 // bytes, all heads before the final one included
	maxInterim     = 16       // 1xx answers
)

var (
	errHeadTooLarge = errors.New("the answer to CONNECT has more than 64 KiB of head")
	errNotHTTP      = errors.New("the answer to CONNECT is not HTTP/1")
	errInterim      = errors.New("more than 16 interim answers to CONNECT")
	errRefused      = errors.New("the tunnel was refused")
)

// connect asks an HTTP proxy for a tunnel (RFC 9110 9.3.6). Credentials go with the first request: a round trip to learn
// that they are wanted would cost every connection as much as it saves the proxies that do not want them.
func (h hop) connect(conn net.Conn, host string, port uint16) (net.Conn, error) {
	target := net.JoinHostPort(host, strconv.Itoa(int(port)))
	req := make([]byte, 0, 256)
	req = append(req, "CONNECT "+target+" HTTP/1.1\r\nHost: "+target+"\r\n"...)
	if h.auth {
		req = append(req, "Proxy-Authorization: "+h.authorization()+"\r\n"...)
	}
	req = append(req, "\r\n"...)
	if _, err := conn.Write(req); err != nil {
		return nil, &Error{Op: "connect", Err: err}
	}
	status, rest, err := readConnectAnswer(conn)
	switch {
	case err != nil:
		return nil, &Error{Op: "connect", Err: err}
	case status < 200 || status > 299:
		return nil, &Error{Op: "connect", Status: status, Target: status >= 502 && status <= 504, Err: errRefused}
	case len(rest) > 0:
		return &surplusConn{Conn: conn, rest: rest}, nil
	}
	return conn, nil
}

// authorization returns the credentials as HTTP has them, "" without any.
func (h hop) authorization() string {
	if !h.auth {
		return ""
	}
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(h.user+":"+h.password))
}

// readConnectAnswer reads heads until a final one. What has come behind it belongs to the tunnel and is returned: any
// 2xx answer to CONNECT has no body, whatever its fields say.
func readConnectAnswer(r io.Reader) (status int, rest []byte, err error) {
	buf, used := make([]byte, 0, 1024), 0
	for interim := 0; ; {
		if end := headEnd(buf); end > 0 {
			status, ok := parseStatus(buf[:end])
			if !ok {
				return 0, nil, errNotHTTP
			}
			buf = buf[end:]
			if status >= 200 {
				return status, buf, nil
			}
			if interim++; interim > maxInterim {
				return 0, nil, errInterim
			}
			used += end
			continue
		}
		if used+len(buf) >= MaxConnectHead {
			return 0, nil, errHeadTooLarge
		}
		if len(buf) == cap(buf) {
			buf = append(buf, make([]byte, len(buf)+1024)...)[:len(buf)]
		}
		n, err := r.Read(buf[len(buf):min(cap(buf), len(buf)+MaxConnectHead-used)])
		buf = buf[:len(buf)+n]
		if err != nil && n == 0 {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return 0, nil, err
		}
	}
}

// headEnd returns the length of the head that buf begins with, 0 if it is not complete. Lines may end without CR.
func headEnd(buf []byte) int {
	for from := 0; ; {
		i := bytes.IndexByte(buf[from:], '\n')
		if i < 0 {
			return 0
		}
		from += i + 1
		rest := buf[from:]
		if bytes.HasPrefix(rest, []byte("\r\n")) {
			return from + 2
		}
		if bytes.HasPrefix(rest, []byte("\n")) {
			return from + 1
		}
	}
}

// parseStatus reads "HTTP/1.x NNN".
func parseStatus(head []byte) (int, bool) {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	version, rest, found := bytes.Cut(bytes.TrimSpace(line), []byte(" "))
	if !found || !bytes.HasPrefix(version, []byte("HTTP/1.")) {
		return 0, false
	}
	code, _, _ := bytes.Cut(bytes.TrimLeft(rest, " "), []byte(" "))
	n, err := strconv.ParseUint(string(code), 10, 16)
	return int(n), err == nil && len(code) == 3 && n >= 100
}

// surplusConn is a tunnel of which the first bytes came together with the proxy's answer.
type surplusConn struct {
	net.Conn
	rest []byte
}

// Read returns what came early, then what comes.
func (c *surplusConn) Read(p []byte) (int, error) {
	if len(c.rest) > 0 {
		n := copy(p, c.rest)
		c.rest = c.rest[n:]
		return n, nil
	}
	return c.Conn.Read(p)
}

// NetConn returns the connection below.
func (c *surplusConn) NetConn() net.Conn { return c.Conn }
