package fetch

import (
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/seine-go/seine/fetch/identity"
)

// sentHead returns the head of a request as the host gets it, and what the Trace says of it.
func sentHead(t *testing.T, tr *Transport, req *Request) (string, []Field) {
	t.Helper()
	heads := make(chan string, 1)
	addr := serveRaw(t, func(conn net.Conn) {
		head, _ := readHead(conn)
		heads <- head
		conn.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"))
	})
	req.URL = strings.Replace(req.URL, "HOST", addr, 1)
	resp, err := tr.Fetch(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(<-heads, addr, "HOST"), resp.Trace.Sent
}

func TestHeadersOnTheWire(t *testing.T) {
	t.Parallel()
	tr := newTransport(t, &Transport{UserAgent: "ua"})
	for _, c := range []struct {
		name string
		req  Request
		want string
	}{
		{
			"defaults",
			Request{URL: "http://HOST/a?b#c"},
			"GET /a?b HTTP/1.1|Host: HOST|Connection: keep-alive|User-Agent: ua|Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8|Accept-Encoding: gzip, deflate, br, zstd||",
		},
		{
			"kind, body, others in alphabetical order",
			Request{URL: "http://HOST/", Method: "POST", Kind: identity.Fetch, Body: []byte("xy"), Header: http.Header{"x-b": {"1", "2"}, "X-A": {"3"}, "Content-Type": {"a/b"}}},
			"POST / HTTP/1.1|Host: HOST|Connection: keep-alive|User-Agent: ua|Accept: */*|Accept-Encoding: gzip, deflate, br, zstd|Content-Length: 2|Content-Type: a/b|X-A: 3|x-b: 1|x-b: 2||",
		},
		{
			"the request wins, case kept",
			Request{URL: "http://HOST/", Header: http.Header{"user-agent": {"mine"}, "ACCEPT": {"a/b"}, "Accept-Encoding": nil, "Connection": {}, "host": {"virtual.example"}}},
			"GET / HTTP/1.1|host: virtual.example|user-agent: mine|ACCEPT: a/b||",
		},
		{
			"order",
			Request{
				URL: "http://HOST/", Method: "PUT", Body: []byte{}, Header: http.Header{"X-Late": {"z"}, "Cookie": {"c=1"}, "X-Early": {"e"}},
				HeaderOrder: []string{"accept", "Host", "COOKIE", "content-length", "Missing", "accept"},
			},
			"PUT / HTTP/1.1|accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8|Host: HOST|COOKIE: c=1|content-length: 0|Accept-Encoding: gzip, deflate, br, zstd|Connection: keep-alive|User-Agent: ua|X-Early: e|X-Late: z||",
		},
		{
			"host comes first where it is not listed",
			Request{URL: "http://HOST/", HeaderOrder: []string{"User-Agent", "Accept", "Accept-Encoding", "Connection"}, Kind: identity.Style},
			"GET / HTTP/1.1|Host: HOST|User-Agent: ua|Accept: text/css,*/*;q=0.1|Accept-Encoding: gzip, deflate, br, zstd|Connection: keep-alive||",
		},
		{
			"method as it stands, bytes that are not ASCII",
			Request{URL: "http://HOST/ä b", Method: "prop", Header: http.Header{"X": {"caf\xe9"}}, HeaderOrder: []string{"X"}},
			"prop /%C3%A4%20b HTTP/1.1|Host: HOST|X: caf\xe9|Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8|Accept-Encoding: gzip, deflate, br, zstd|Connection: keep-alive|User-Agent: ua||",
		},
	} {
		head, sent := sentHead(t, tr, &c.req)
		if got := strings.ReplaceAll(head, "\r\n", "|"); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
		lines := strings.Split(head, "\r\n")[1:]
		for i, f := range sent {
			if want := lines[i]; f.Name+": "+f.Value != want && f.Name != "Host" {
				t.Errorf("%s: Sent has %v for %q", c.name, f, want)
			}
		}
		if len(sent) != len(lines)-2 {
			t.Errorf("%s: Sent has %d fields of %d", c.name, len(sent), len(lines)-2)
		}
	}
}

func TestBadHeadersAreRefused(t *testing.T) {
	t.Parallel()
	n := &fakeNet{}
	tr := newTransport(t, &Transport{Dial: n.dial, Resolver: n})
	for _, c := range []struct {
		name string
		req  Request
	}{
		{"X-A", Request{Header: http.Header{"X-A": {"a\r\nX-Evil: 1"}}}},
		{"X-A", Request{Header: http.Header{"X-A": {"ok", "a\nb"}}}},
		{"X-A", Request{Header: http.Header{"X-A": {"a\x00b"}}}},
		{"X A", Request{Header: http.Header{"X A": {"b"}}}},
		{"X-A:", Request{Header: http.Header{"X-A:": {"b"}}}},
		{"", Request{Header: http.Header{"": {"b"}}}},
		{"X\r\nY", Request{Header: http.Header{"X\r\nY": {"b"}}}},
		{"é", Request{Header: http.Header{"é": {"b"}}}},
		{"Host", Request{Header: http.Header{"Host": {"a", "b"}}}},
		{"Host", Request{Header: http.Header{"Host": {"a"}, "host": {"b"}}}},
		{"Host", Request{Header: http.Header{"Host": {"a/b"}}}},
		{"Content-Length", Request{Header: http.Header{"Content-Length": {"5"}}}},
		{"content-length", Request{Body: []byte("ab"), Header: http.Header{"content-length": {"3"}}}},
		{"Transfer-Encoding", Request{Header: http.Header{"Transfer-Encoding": {"chunked"}}}},
		{"method", Request{Method: "GET /x HTTP/1.1\r\nX"}},
		{"method", Request{Method: "CONNECT"}},
		{"a b", Request{HeaderOrder: []string{"a b"}}},
	} {
		c.req.URL = "http://films.example/"
		_, err := tr.Fetch(t.Context(), &c.req)
		var h *HeaderError
		if !errors.Is(err, ErrInvalid) || !errors.As(err, &h) || h.Name != c.name && !strings.EqualFold(h.Name, c.name) {
			t.Errorf("%q: %v", c.name, err)
		}
		if err != nil && strings.ContainsAny(err.Error(), "\r\n\x00") {
			t.Errorf("%q: the error has control characters: %q", c.name, err.Error())
		}
	}
	for _, url := range []string{"", "films", "/a", "http://", "http://a b/", "http://[::1/", "http://a:99999/"} {
		if _, err := tr.Fetch(t.Context(), &Request{URL: url}); !errors.Is(err, ErrInvalid) {
			t.Errorf("%q: %v", url, err)
		}
	}
	if n.asked.Load()+n.dialed.Load() != 0 {
		t.Error("something was asked or dialled")
	}
}
