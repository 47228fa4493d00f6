package h1

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"unsafe"

	"github.com/seine-go/seine/internal/memhttp"
)

// counted counts the calls of a connection.
type counted struct {
	net.Conn
	reads, writes int
}

func (c *counted) Read(p []byte) (int, error) {
	c.reads++
	return c.Conn.Read(p)
}

func (c *counted) Write(p []byte) (int, error) {
	c.writes++
	return c.Conn.Write(p)
}

// TestCallsOfAnExchange: one write for a request with its body, one read for a response that the buffer takes whole, and
// of a greater one the rest goes straight to the caller.
func TestCallsOfAnExchange(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		size, body    int
		reads, writes int
	}{
		{2 << 10, 0, 1, 1},
		{20 << 10, 10 << 10, 1, 1},
		{20 << 10, 60 << 10, 1, 1},
		{60 << 10, 0, 2, 1},
		{20 << 10, 100 << 10, 1, 2},
	} {
		client, server := memhttp.Pipe()
		go func() {
			defer server.Close()
			_, _ = server.Read(make([]byte, 128<<10))
			_, _ = io.WriteString(server, okHead+"Content-Length: "+itoa(tt.size)+"\r\n\r\n"+strings.Repeat("x", tt.size))
			_, _ = io.Copy(io.Discard, server)
		}()
		nc := &counted{Conn: client}
		c := NewConn(nc, Limits{}, Timeouts{})
		o := do(t, c, &Request{Method: "POST", Target: "/", Body: make([]byte, tt.body)}, 64<<10)
		if o.err != nil || len(o.body) != tt.size || nc.reads != tt.reads || nc.writes != tt.writes {
			t.Errorf("%d bytes, answer to %d: %d reads, %d writes, %v", tt.size, tt.body, nc.reads, nc.writes, o.err)
		}
		_ = c.Close()
	}
}

// replay gives the same answer to every write.
type replay struct {
	pieces
	answer []byte
}

func (r *replay) Write(p []byte) (int, error) {
	r.stream = r.answer
	return len(p), nil
}

func (r *replay) Read(p []byte) (int, error) {
	if len(r.stream) == 0 {
		return 0, os.ErrDeadlineExceeded
	}
	return r.pieces.Read(p)
}

// TestAllocations of a usual exchange are few, whatever the size of the body.
func TestAllocations(t *testing.T) {
	nc := &replay{}
	c := NewConn(nc, Limits{}, Timeouts{})
	defer c.Close()
	nc.answer = []byte(okHead + "Server: a\r\nDate: b\r\nContent-Type: text/html\r\ncache-control: max-age=1\r\nEtag: \"x\"\r\nSet-Cookie: a=1\r\nVary: *\r\nContent-Length: 1000\r\n\r\n" + strings.Repeat("x", 1000))
	req := &Request{Target: "/", Host: "a.example", Header: []Field{{"User-Agent", "x"}, {"Accept", "*/*"}}}
	body := make([]byte, 1000)
	var resp Response
	got := testing.AllocsPerRun(100, func() {
		if err := c.Do(t.Context(), req, &resp); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(c.Body(), body); err != nil || !c.Reusable() {
			t.Fatal(err)
		}
	})
	if got > 10 {
		t.Errorf("%v allocations", got)
	}
}

// TestIdleConnection holds no buffer.
func TestIdleConnection(t *testing.T) {
	t.Parallel()
	c, _ := script{answers: []string{okHead + "Content-Length: 5\r\n\r\nhello"}, open: true}.dial(t, Limits{}, Timeouts{})
	if o := do(t, c, &Request{Target: "/"}, 100); !o.reusable {
		t.Fatal(o.err)
	}
	if c.block != nil || c.buf != nil || c.ctx != nil {
		t.Error("an idle connection holds a buffer")
	}
	if size := unsafe.Sizeof(*c); size > 1<<10 {
		t.Errorf("an idle connection has %d bytes", size)
	}
}

func TestCanonicalName(t *testing.T) {
	for _, name := range []string{
		"", "a", "-", "--a", "A-", "content-type", "CONTENT-TYPE", "Content-Type", "content-Type", "eTAG", "www-authenticate",
		"x-a_b.c", "x-!#$%&'*+.^`|~9", "a b", "caf\xe9", "Ünicode", "a:b", strings.Repeat("x-Y", 40), "set-cookie", "TE",
	} {
		if got, want := CanonicalName(name), http.CanonicalHeaderKey(name); got != want {
			t.Errorf("%q becomes %q, not %q", name, got, want)
		}
	}
	for lower, name := range commonNames {
		if lower != strings.ToLower(name) || http.CanonicalHeaderKey(lower) != name {
			t.Errorf("%q stands for %q", lower, name)
		}
	}
	if n := testing.AllocsPerRun(100, func() { _, _ = CanonicalName("content-length"), CanonicalName("X-Unusual-But-Canonical") }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestBodyIsAReader: it obeys the rules of [io.Reader] for every framing.
func TestBodyIsAReader(t *testing.T) {
	t.Parallel()
	content := strings.Repeat("0123456789", 10_000)
	var chunks strings.Builder
	for i := 0; i < len(content); i += 999 {
		piece := content[i:min(i+999, len(content))]
		fmt.Fprintf(&chunks, "%x\r\n%s\r\n", len(piece), piece)
	}
	for name, raw := range map[string]string{
		"length":     "Content-Length: " + itoa(len(content)) + "\r\n\r\n" + content,
		"chunks":     "Transfer-Encoding: chunked\r\n\r\n" + chunks.String() + "0\r\n\r\n",
		"to the end": "\r\n" + content,
	} {
		c, _ := script{answers: []string{okHead + raw}}.dial(t, Limits{}, Timeouts{})
		var resp Response
		if err := c.Do(t.Context(), &Request{Target: "/"}, &resp); err != nil {
			t.Fatal(err)
		}
		if err := iotest.TestReader(c.Body(), []byte(content)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := NewConn(&pieces{}, Limits{}, Timeouts{}).Body().Read(make([]byte, 1)); err == nil {
		t.Error("a body before the first exchange can be read")
	}
}
