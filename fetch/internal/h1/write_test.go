package h1

import (
	"bytes"
	"strings"
	"testing"
)

func TestRequestBytes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		req  Request
		want string
	}{
		{name: "least", req: Request{Target: "/", Host: "a.example"}, want: "GET / HTTP/1.1\r\nHost: a.example\r\n\r\n"},
		{
			name: "order and case", req: Request{Target: "/x?y", Host: "a.example:81", Header: []Field{{"User-Agent", "x"}, {"sec-ch-ua", `"a";v="1"`}, {"ACCEPT", "*/*"}, {"Cookie", "a=1; b=é"}, {"X-Empty", ""}}},
			want: "GET /x?y HTTP/1.1\r\nHost: a.example:81\r\nUser-Agent: x\r\nsec-ch-ua: \"a\";v=\"1\"\r\nACCEPT: */*\r\nCookie: a=1; b=é\r\nX-Empty: \r\n\r\n",
		},
		{name: "host where it is listed", req: Request{Target: "/", Host: "a.example", Header: []Field{{"Accept", "*/*"}, {"host", "b.example"}}}, want: "GET / HTTP/1.1\r\nAccept: */*\r\nhost: b.example\r\n\r\n"},
		{name: "same name twice", req: Request{Target: "/", Host: "a", Header: []Field{{"X", "1"}, {"Y", "2"}, {"X", "3"}}}, want: "GET / HTTP/1.1\r\nHost: a\r\nX: 1\r\nY: 2\r\nX: 3\r\n\r\n"},
		{name: "body", req: Request{Method: "POST", Target: "/", Host: "a", Header: []Field{{"X", "1"}}, Body: []byte("abc")}, want: "POST / HTTP/1.1\r\nHost: a\r\nX: 1\r\nContent-Length: 3\r\n\r\nabc"},
		{name: "post without body", req: Request{Method: "POST", Target: "/", Host: "a"}, want: "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n"},
		{name: "put without body", req: Request{Method: "PUT", Target: "/", Host: "a"}, want: "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n"},
		{name: "patch without body", req: Request{Method: "PATCH", Target: "/", Host: "a"}, want: "PATCH / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n"},
		{name: "delete without body", req: Request{Method: "DELETE", Target: "/", Host: "a"}, want: "DELETE / HTTP/1.1\r\nHost: a\r\n\r\n"},
		{name: "get with an empty body", req: Request{Target: "/", Host: "a", Body: []byte{}}, want: "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n"},
		{name: "length where it is listed", req: Request{Method: "POST", Target: "/", Host: "a", Header: []Field{{"content-length", ""}, {"X", "1"}}, Body: []byte("abc")}, want: "POST / HTTP/1.1\r\nHost: a\r\ncontent-length: 3\r\nX: 1\r\n\r\nabc"},
		{name: "length as listed", req: Request{Method: "POST", Target: "/", Host: "a", Header: []Field{{"Content-Length", "3"}, {"X", "1"}}, Body: []byte("abc")}, want: "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nX: 1\r\n\r\nabc"},
		{name: "for a proxy", req: Request{Target: "http://a.example/", Host: "a.example"}, want: "GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n"},
		{name: "no host", req: Request{Method: "OPTIONS", Target: "*"}, want: "OPTIONS * HTTP/1.1\r\nHost: \r\n\r\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, done := script{answers: []string{"HTTP/1.1 204 x\r\n\r\n"}}.dial(t, Limits{}, Timeouts{})
			o := do(t, c, &tt.req, 100)
			if o.err != nil {
				t.Fatal(o.err)
			}
			if got := (<-done)[0]; got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
			if o.resp.BytesWritten != int64(len(tt.want)) {
				t.Errorf("%d bytes written, want %d", o.resp.BytesWritten, len(tt.want))
			}
		})
	}
}

// TestBadRequests: what would break the framing is refused, nothing goes out, and the connection is as good as before.
func TestBadRequests(t *testing.T) {
	t.Parallel()
	field := func(name, value string) Request { return Request{Target: "/", Header: []Field{{name, value}}} }
	tests := map[string]Request{
		"cr in a value":         field("X", "a\rb"),
		"lf in a value":         field("X", "a\nSet-Cookie: b"),
		"nul in a value":        field("X", "a\x00b"),
		"crlf at the end":       field("X", "a\r\n"),
		"lf in a name":          field("X\nY", "a"),
		"colon in a name":       field("X:", "a"),
		"blank in a name":       field("X Y", "a"),
		"empty name":            field("", "a"),
		"name that is no ascii": field("é", "a"),
		"crlf in the target":    {Target: "/ HTTP/1.1\r\nX: y"},
		"blank in the target":   {Target: "/a b"},
		"nul in the target":     {Target: "/\x00"},
		"no target":             {},
		"lf in the host":        {Target: "/", Host: "a\nb"},
		"blank in the host":     {Target: "/", Host: "a b"},
		"lf in a listed host":   field("Host", "a\nb"),
		"crlf in the method":    {Method: "GET / HTTP/1.1\r\n", Target: "/"},
		"blank in the method":   {Method: "GET ", Target: "/"},
		"two hosts":             {Target: "/", Header: []Field{{"Host", "a"}, {"host", "b"}}},
		"two lengths":           {Method: "POST", Target: "/", Header: []Field{{"Content-Length", "0"}, {"Content-Length", "0"}}},
		"another length":        {Method: "POST", Target: "/", Header: []Field{{"Content-Length", "5"}}, Body: []byte("abc")},
		"length without body":   field("Content-Length", "5"),
		"transfer coding":       field("Transfer-Encoding", "chunked"),
		"head over the limit":   field("X", strings.Repeat("x", maxRequestHead)),
	}
	for name, req := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, done := script{answers: []string{"HTTP/1.1 204 x\r\n\r\n"}}.dial(t, Limits{}, Timeouts{})
			var resp Response
			if e := wantKind(t, c.Do(t.Context(), &req, &resp), BadRequest); e.Written || e.Answered || e.Err == nil {
				t.Errorf("%+v", e)
			}
			if o := do(t, c, &Request{Target: "/", Host: "a"}, 100); o.err != nil {
				t.Fatal(o.err)
			}
			if got := <-done; len(got) != 1 || got[0] != "GET / HTTP/1.1\r\nHost: a\r\n\r\n" {
				t.Errorf("the server has read %q", got)
			}
		})
	}
}

func TestRequestHeadLimit(t *testing.T) {
	t.Parallel()
	base := len("GET / HTTP/1.1\r\nHost: \r\nX: \r\n\r\n")
	for _, tt := range []struct {
		name string
		size int
		kind Kind
	}{{"at", maxRequestHead, 0}, {"past", maxRequestHead + 1, BadRequest}} {
		c, _ := script{answers: []string{"HTTP/1.1 204 x\r\n\r\n"}}.dial(t, Limits{}, Timeouts{})
		o := do0(t, c, &Request{Target: "/", Header: []Field{{"X", strings.Repeat("x", tt.size-base)}}})
		if KindOf(o) != tt.kind {
			t.Errorf("%s: %v, want kind %q", tt.name, o, tt.kind)
		}
	}
}

func do0(t *testing.T, c *Conn, r *Request) error {
	var resp Response
	return c.Do(t.Context(), r, &resp)
}

// TestBodyOfEverySize: heads and bodies are joined into one write up to a size, and nothing is lost beyond it.
func TestBodyOfEverySize(t *testing.T) {
	t.Parallel()
	for _, size := range []int{1, bufferSize - 60, bufferSize, writePiece - 60, writePiece, writePiece + 1, 3*writePiece + 5} {
		body := bytes.Repeat([]byte("0123456789abcde\n"), size/16+1)[:size]
		c, done := script{answers: []string{"HTTP/1.1 200 x\r\nContent-Length: 2\r\n\r\nok"}}.dial(t, Limits{}, Timeouts{})
		if o := do(t, c, &Request{Method: "POST", Target: "/", Host: "a", Body: body}, 100); o.err != nil || o.body != "ok" {
			t.Fatalf("%d: %+v", size, o)
		}
		got := (<-done)[0]
		if _, rest, _ := strings.Cut(got, "\r\n\r\n"); rest != string(body) {
			t.Errorf("%d: a body of %d bytes came", size, len(rest))
		}
	}
}
