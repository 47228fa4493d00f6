package h1

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/seine-go/seine/internal/memhttp"
)

// script is what a server does on one connection: it reads a request and sends the answer, once for each answer, and
// closes after the last one.
type script struct {
	answers []string
	piece   int  // bytes sent at a time; 0 sends an answer at once
	open    bool // does not close after the last answer, but waits for the client to
}

// run serves the script and returns the requests as they came.
func (s script) run(c *memhttp.Conn) (requests []string) {
	defer c.Close()
	r := bufio.NewReader(c)
	for _, answer := range s.answers {
		request, err := readRequest(r)
		if err != nil {
			return requests
		}
		requests = append(requests, request)
		for len(answer) > 0 {
			n := len(answer)
			if s.piece > 0 {
				n = min(n, s.piece)
			}
			if _, err := c.Write([]byte(answer[:n])); err != nil {
				return requests
			}
			answer = answer[n:]
		}
	}
	if s.open {
		_, _ = r.ReadByte()
	}
	return requests
}

// readRequest reads a request with its body.
func readRequest(r *bufio.Reader) (string, error) {
	var b strings.Builder
	length := 0
	for {
		line, err := r.ReadString('\n')
		b.WriteString(line)
		if err != nil {
			return b.String(), err
		}
		if name, value, ok := strings.Cut(line, ":"); ok && strings.EqualFold(name, "content-length") {
			length, _ = strconv.Atoi(strings.TrimSpace(value))
		}
		if line == "\r\n" {
			break
		}
	}
	body := make([]byte, length)
	_, err := io.ReadFull(r, body)
	b.Write(body)
	return b.String(), err
}

// dial connects to a server that runs the script. The second result is given once the server has ended.
func (s script) dial(t testing.TB, l Limits, timeouts Timeouts) (*Conn, <-chan []string) {
	client, server := memhttp.Pipe()
	c := NewConn(client, l, timeouts)
	t.Cleanup(func() { _ = c.Close() })
	done := make(chan []string, 1)
	go func() { done <- s.run(server) }()
	return c, done
}

// outcome is all that an exchange gives.
type outcome struct {
	resp     Response
	body     string
	err      error // of Do or of the body
	headErr  bool
	reusable bool
}

// do carries out an exchange and reads its body, room bytes at a time.
func do(t testing.TB, c *Conn, r *Request, room int) (o outcome) {
	t.Helper()
	if o.err = c.Do(t.Context(), r, &o.resp); o.err != nil {
		o.headErr = true
		if c.Reusable() {
			t.Errorf("the connection is reusable after %v", o.err)
		}
		return o
	}
	var body bytes.Buffer
	p := make([]byte, room)
	for {
		n, err := c.Body().Read(p)
		body.Write(p[:n])
		if err == nil {
			continue
		}
		if again, same := c.Body().Read(p); again != 0 || same != err {
			t.Errorf("a read after %v gives %d, %v", err, again, same)
		}
		if err != io.EOF {
			o.err = err
		}
		break
	}
	o.body, o.reusable = body.String(), c.Reusable()
	if o.err != nil && o.reusable {
		t.Errorf("the connection is reusable after %v", o.err)
	}
	return o
}

// get is one GET that is answered by raw.
func get(t testing.TB, raw string, l Limits) outcome {
	t.Helper()
	c, _ := script{answers: []string{raw}}.dial(t, l, Timeouts{})
	return do(t, c, &Request{Target: "/", Host: "a.example"}, 8<<10)
}

func wantKind(t testing.TB, err error, kind Kind) *Error {
	t.Helper()
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Kind != kind {
		t.Fatalf("error is %v, want one of kind %q", err, kind)
	}
	return e
}

func sameHeader(a, b http.Header) bool {
	return maps.EqualFunc(a, b, func(x, y []string) bool {
		return strings.Join(x, "\x00") == strings.Join(y, "\x00") && len(x) == len(y)
	})
}

func itoa(n int) string { return strconv.Itoa(n) }
