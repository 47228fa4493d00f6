package h1

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

const (
	opWrite = "write request"
	opHead  = "read head"
	opBody  = "read body"
)

// asked is what of a request matters for its response.
type asked struct {
	head, connect, upgrade, close bool
	hosts, lengths                int // Host and Content-Length fields among the listed ones
}

// appendHead writes the head of a request.
func appendHead(b []byte, r *Request) ([]byte, asked, error) {
	method := r.Method
	if method == "" {
		method = "GET"
	}
	a := asked{head: method == "HEAD", connect: method == "CONNECT"}
	if !ValidToken(method) {
		return nil, a, fmt.Errorf("method %q is not a token", method)
	}
	if err := checkWord("target", r.Target); err != nil {
		return nil, a, err
	}
	if r.Target == "" {
		return nil, a, errors.New("the target is empty")
	}
	for i := range r.Header {
		if err := a.check(&r.Header[i], len(r.Body)); err != nil {
			return nil, a, err
		}
	}
	if a.hosts > 1 || a.lengths > 1 {
		return nil, a, errors.New("a Host or Content-Length field stands twice")
	}

	b = append(append(append(append(b, method...), ' '), r.Target...), " HTTP/1.1\r\n"...)
	if a.hosts == 0 {
		if err := checkWord("host", r.Host); err != nil {
			return nil, a, err
		}
		b = appendField(b, "Host", r.Host)
	}
	for _, f := range r.Header {
		if f.Value == "" && strings.EqualFold(f.Name, "content-length") {
			f.Value = strconv.Itoa(len(r.Body))
		}
		b = appendField(b, f.Name, f.Value)
	}
	if a.lengths == 0 && (r.Body != nil || method == "POST" || method == "PUT" || method == "PATCH") {
		b = append(b, "Content-Length: "...)
		b = strconv.AppendInt(b, int64(len(r.Body)), 10)
		b = append(b, "\r\n"...)
	}
	b = append(b, "\r\n"...)
	if len(b) > maxRequestHead {
		return nil, a, fmt.Errorf("a head of %d bytes is over the limit of %d", len(b), maxRequestHead)
	}
	return b, a, nil
}

func appendField(b []byte, name, value string) []byte {
	return append(append(append(append(b, name...), ": "...), value...), "\r\n"...)
}

// check refuses a field that would break the framing, and notes what it means for the response.
func (a *asked) check(f *Field, bodyLen int) error {
	if !ValidToken(f.Name) {
		return fmt.Errorf("field name %q is not a token", f.Name)
	}
	if v := f.Value; strings.IndexByte(v, '\r') >= 0 || strings.IndexByte(v, '\n') >= 0 || strings.IndexByte(v, 0) >= 0 {
		return fmt.Errorf("the value of field %q has a CR, LF or NUL", f.Name)
	}
	switch len(f.Name) {
	case len("host"):
		if strings.EqualFold(f.Name, "host") {
			a.hosts++
			return checkWord("host", f.Value)
		}
	case len("upgrade"):
		a.upgrade = a.upgrade || strings.EqualFold(f.Name, "upgrade")
	case len("connection"):
		a.close = a.close || strings.EqualFold(f.Name, "connection") && hasToken(f.Value, "close")
	case len("content-length"):
		if !strings.EqualFold(f.Name, "content-length") {
			return nil
		}
		a.lengths++
		if f.Value != "" && f.Value != strconv.Itoa(bodyLen) {
			return fmt.Errorf("the Content-Length field is %q and the body has %d bytes", f.Value, bodyLen)
		}
	case len("transfer-encoding"):
		if strings.EqualFold(f.Name, "transfer-encoding") {
			return errors.New("a Transfer-Encoding field cannot be sent: bodies are sent by their length")
		}
	}
	return nil
}

// checkWord refuses blanks and control characters in a part that has to be one word.
func checkWord(what, s string) error {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] == 0x7f {
			return fmt.Errorf("the %s has a blank or control character %#02x at byte %d", what, s[i], i)
		}
	}
	return nil
}

// send writes a request: the head with as much of the body as one write takes, then the rest of the body.
func (c *Conn) send(head, body []byte) error {
	now := c.resp.Start
	c.armAll(now)
	if c.served && c.stale() {
		return c.fail(opWrite, Closed, errStale)
	}
	if room := writePiece - len(head); room > 0 && len(body) > 0 {
		n := min(room, len(body))
		head, body = append(head, body[:n]...), body[n:]
	}
	err := c.write(head)
	for err == nil && len(body) > 0 {
		n := min(writePiece, len(body))
		c.armAll(time.Now())
		err = c.write(body[:n])
		body = body[n:]
	}
	c.resp.Written = time.Now()
	if err != nil {
		return c.answerInstead(err)
	}
	return nil
}

// armAll sets the deadline of a write. It is set for reads as well, since one call for both costs no more than one for
// one of them, and read puts it off if it comes too early.
func (c *Conn) armAll(now time.Time) {
	due := after(now, c.timeouts.Write)
	if due.IsZero() {
		return
	}
	c.armed = due
	_ = c.nc.SetDeadline(due)
	if c.dead.Load() {
		_ = c.nc.SetDeadline(past)
	}
}

func (c *Conn) write(p []byte) error {
	for len(p) > 0 {
		piece := p[:min(writePiece, len(p))]
		n, err := c.nc.Write(piece)
		c.resp.BytesWritten += int64(n)
		c.attempted = c.attempted || n > 0 || !c.probe.plain(c.nc)
		if err != nil {
			return err
		}
		p = p[len(piece):]
	}
	return nil
}

// answerInstead looks for a response after a write has failed: a server may refuse a request (413) before it has read it
// all. It returns nil when the response came, which receive then reads.
func (c *Conn) answerInstead(cause error) error {
	kind, due := Closed, after(c.resp.Written, c.timeouts.Header)
	if isTimeout(cause) {
		kind, due = WriteTimeout, c.resp.Written.Add(earlyAnswer)
	}
	if !c.dead.Load() && c.attempted {
		err := c.more(func(p []byte) (int, error) { return c.read(p, c.resp.Written, due) })
		if err == nil {
			c.asked.close = true
			return nil
		}
	}
	return c.fail(opWrite, kind, cause)
}
