package proxy

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seine-go/seine/internal/memhttp"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in    []string
		label string // of the route
	}{
		{nil, "direct"},
		{[]string{"http://proxy.example:3128"}, "http://proxy.example:3128"},
		{[]string{"HTTP://Proxy.Example"}, "http://proxy.example:80"},
		{[]string{"https://proxy.example/"}, "https://proxy.example:443"},
		{[]string{"socks5://10.0.0.7"}, "socks5://10.0.0.7:1080"},
		{[]string{"socks5h://[2001:DB8::1]:9050"}, "socks5h://[2001:db8::1]:9050"},
		{[]string{"http://user:secret@proxy.example"}, "http://proxy.example:80"},
		{[]string{"http://us%40er:p/a?s%zz@s@proxy.example:8080"}, "http://proxy.example:8080"},
		{[]string{"socks5://:@proxy.example"}, "socks5://proxy.example:1080"},
		{[]string{" http://bücher.example "}, "http://xn--bcher-kva.example:80"},
		{[]string{"http://my_proxy:8080"}, "http://my_proxy:8080"},
		{[]string{"http://a:1", "socks5://b:2"}, "http://a:1 socks5://b:2"},
	} {
		r, err := Parse(c.in...)
		if err != nil || r.String() != c.label || r.IsZero() != (c.label == "direct") {
			t.Errorf("%q: %v %v", c.in, r, err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("s", 256)
	for _, c := range []struct {
		in, says string
	}{
		{"", "scheme://"},
		{"proxy.example:3128", "scheme://"},
		{"socks4://secret@a", "socks4"},
		{"ftp://user:secret@a", "ftp"},
		{"user:secret@x://a", "kind"},
		{"http://", "host"},
		{"http://user:secret@", "host"},
		{"http://user:secret@:80", "host"},
		{"http://user:secret@a:0", "port"},
		{"http://user:secret@a:65536", "port"},
		{"http://user:secret@a:+80", "port"},
		{"http://user:secret@a:8o", "port"},
		{"http://user:secret@a:", "port"},
		{"http://user:secret@a b", "host"},
		{"http://user:secret@[::1", "host"},
		{"http://user:secret@[::1]x", "host"},
		{"http://user:secret@[1.2.3.4]", "host"},
		{"http://user:secret@[fe80::1%25eth0]", "host"},
		{"http://user:secret@a\r\nb", "host"},
		{"http://user:secret@" + strings.Repeat("a", 256), "host"},
		{"http://user:secret@a/path", "host"},
		{"http://" + long + ":secret@a", "255"},
		{"http://user:secret" + long + "@a", "255"},
	} {
		r, err := Parse("http://ok", c.in)
		var pe *ParseError
		if !errors.As(err, &pe) || pe.Index != 1 || !r.IsZero() || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: %v", c.in, err)
			continue
		}
		if strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "user:") {
			t.Errorf("%q: the error shows credentials: %v", c.in, err)
		}
	}
	many := slices.Repeat([]string{"http://a"}, MaxHops)
	if _, err := Parse(many...); err != nil {
		t.Errorf("at the bound: %v", err)
	}
	if _, err := Parse(append(many, "http://a")...); err == nil {
		t.Error("one past the bound is taken")
	}
	if _, err := Parse("http://" + long[1:] + ":" + long[1:] + "@a"); err != nil {
		t.Errorf("255 bytes of user and of password: %v", err)
	}
}

func TestKeysDiffer(t *testing.T) {
	t.Parallel()
	roots := x509.NewCertPool()
	keys := map[string]string{}
	for _, in := range []string{
		"", "http://a", "http://a:81", "https://a:80", "socks5://a", "socks5h://a", "http://u@a", "http://u:@a", "http://u:p@a", "http://u:q@a", "http://u:p%20http://a@a",
		"http://a http://b", "http://b http://a", "http://a http://u:p@b", "http://u:p@a http://b",
	} {
		r, err := Parse(strings.Fields(in)...)
		if err != nil {
			t.Fatal(err)
		}
		if other, taken := keys[r.Key()]; taken && other+"|"+in != "http://u@a|http://u:@a" { // both have an empty password
			t.Errorf("%q and %q have one key", other, in)
		}
		keys[r.Key()] = in
		again, _ := Parse(strings.Fields(in)...)
		if again.Key() != r.Key() {
			t.Errorf("%q: two keys", in)
		}
		if strings.ContainsAny(r.String(), "@") {
			t.Errorf("%q: shows %q", in, r)
		}
	}
	r, _ := Parse("https://a")
	if r.WithRootCAs(roots).Key() == r.Key() || r.WithRootCAs(roots).WithRootCAs(nil).Key() != r.Key() || !(Route{}).WithRootCAs(roots).IsZero() {
		t.Error("the key does not follow the roots")
	}
}

func TestDialThroughEachKind(t *testing.T) {
	t.Parallel()
	target := listen(t, echo)
	_, port, _ := net.SplitHostPort(target)
	name := "films.example:" + port
	cert, roots := certificate(t)
	for _, c := range []struct {
		name   string
		s      *server
		scheme string
	}{
		{"http", &server{}, "http"},
		{"http with surplus", &server{surplus: "early "}, "http"},
		{"http with login", &server{user: "us:er", password: "p@ss"}, "http"},
		{"https", &server{user: "u", password: "p", tls: &tls.Config{Certificates: []tls.Certificate{cert}, NextProtos: []string{"h2", "http/1.1"}}}, "https"},
		{"socks5", &server{}, "socks5"},
		{"socks5h with login", &server{user: "u", password: "p"}, "socks5h"},
	} {
		handle := c.s.http
		if strings.HasPrefix(c.scheme, "socks") {
			handle = c.s.socks5
		}
		login := ""
		if c.s.user != "" {
			login = strings.NewReplacer(":", "%3A", "@", "%40").Replace(c.s.user) + ":" + c.s.password + "@"
		}
		r, err := Parse(c.scheme + "://" + login + listen(t, handle))
		if err != nil {
			t.Fatal(err)
		}
		r = r.WithRootCAs(roots)
		checkEcho(t, r, name, c.s.surplus)
		checkEcho(t, r, target, c.s.surplus)
		if want := []string{name, target}; !slices.Equal(c.s.seen(), want) {
			t.Errorf("%s: the proxy was asked for %q", c.name, c.s.seen())
		}
		if c.s.tls != nil {
			if _, err := r.WithRootCAs(nil).Dial(t.Context(), dialDirect, name); err == nil || !strings.Contains(err.Error(), "tls") {
				t.Errorf("%s: certificate of an unknown authority: %v", c.name, err)
			}
		}
	}
}

func TestDialThroughAChain(t *testing.T) {
	t.Parallel()
	target := listen(t, echo)
	_, port, _ := net.SplitHostPort(target)
	servers := []*server{{}, {user: "u", password: "p"}, {user: "v", password: ""}, {}}
	a, b := listen(t, servers[0].socks5), listen(t, servers[1].http)
	c, d := listen(t, servers[2].socks5), listen(t, servers[3].http)
	r, err := Parse("socks5://"+a, "http://u:p@"+b, "socks5://v@"+c, "http://"+d)
	if err != nil {
		t.Fatal(err)
	}
	checkEcho(t, r, "films.example:"+port, "")
	for i, want := range []string{b, c, d, "films.example:" + port} {
		if got := servers[i].seen(); len(got) != 1 || got[0] != want {
			t.Errorf("proxy %d was asked for %q, not %s", i, got, want)
		}
	}
}

func TestDialErrors(t *testing.T) {
	t.Parallel()
	answer := func(text string) func(net.Conn) {
		return func(conn net.Conn) {
			conn.Read(make([]byte, 1024))
			io.WriteString(conn, text)
		}
	}
	flood := func(text string) func(net.Conn) {
		return func(conn net.Conn) {
			for {
				if _, err := io.WriteString(conn, text); err != nil {
					return
				}
			}
		}
	}
	ok := &server{}
	locked := &server{user: "u", password: "p"}
	for _, c := range []struct {
		name, scheme string
		handle       func(net.Conn)
		index        int // of the proxy that fails
		status       int
		says         string
	}{
		{"407", "http", locked.http, 0, 407, "refused"},
		{"502", "http", answer("HTTP/1.1 502 Bad Gateway\r\n\r\n"), 0, 502, "refused"},
		{"not HTTP", "http", answer("SSH-2.0-x\r\n\r\n"), 0, 0, "not HTTP"},
		{"a bad status", "http", answer("HTTP/1.1 2000 OK\r\n\r\n"), 0, 0, "not HTTP"},
		{"silence, then the end", "http", answer(""), 0, 0, "EOF"},
		{"a cut head", "http", answer("HTTP/1.1 200 OK\r\nX: y"), 0, 0, "EOF"},
		{"an endless head", "http", flood("HTTP/1.1 200 OK\r\nX: y"), 0, 0, "64 KiB"},
		{"1xx for ever", "http", flood("HTTP/1.1 100 Continue\r\n\r\n"), 0, 0, "interim"},
		{"socks, wrong version", "socks5", answer("HTTP/1.1 400 Bad\r\n\r\n"), 0, 0, "not SOCKS5"},
		{"socks, login wanted", "socks5", locked.socks5, 0, 0, "log in"},
		{"socks, wrong login", "socks5://u:wrong@", locked.socks5, 0, 0, "refused"},
		{"socks, refused", "socks5", answer("\x05\x00\x05\x05\x00\x01\x00\x00\x00\x00\x00\x00"), 0, 0, "connection refused"},
		{"socks, unknown reply", "socks5", answer("\x05\x00\x05\x63\x00\x01\x00\x00\x00\x00\x00\x00"), 0, 0, "reply 99"},
		{"socks, unknown address", "socks5", answer("\x05\x00\x05\x00\x00\x09\x00\x00\x00\x00\x00\x00"), 0, 0, "unknown type"},
		{"the second of two", "chain", answer("HTTP/1.1 403 Forbidden\r\n\r\n"), 1, 403, "refused"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			addr := listen(t, c.handle)
			urls := []string{c.scheme + "://" + addr}
			switch {
			case strings.HasSuffix(c.scheme, "@"):
				urls[0] = c.scheme + addr
			case c.scheme == "chain":
				urls = []string{"socks5://" + listen(t, ok.socks5), "http://u:secret@" + addr}
			}
			r, err := Parse(urls...)
			if err != nil {
				t.Fatal(err)
			}
			conn, err := r.Dial(t.Context(), dialDirect, "films.example:443")
			var pe *Error
			if conn != nil || !errors.As(err, &pe) || pe.Index != c.index || pe.Status != c.status || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v", err)
			}
			if err != nil && (!strings.Contains(err.Error(), addr) || strings.Contains(err.Error(), "secret")) {
				t.Errorf("the error does not name the proxy, or shows its password: %v", err)
			}
		})
	}
}

func TestDialRefusesTargets(t *testing.T) {
	t.Parallel()
	r, err := Parse("http://127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{"", "films.example", "films.example:0", "films.example:65536", ":80", "a b:80", "a\r\nX: y:80", "[fe80::1%eth0]:80", "[zz]:80x", strings.Repeat("a", 256) + ":80"} {
		_, err := r.Dial(t.Context(), func(context.Context, string, string) (net.Conn, error) {
			t.Errorf("%q: dialled", target)
			return nil, errors.New("dialled")
		}, target)
		var pe *Error
		if !errors.As(err, &pe) {
			t.Errorf("%q: %v", target, err)
		}
	}
	boom := errors.New("boom")
	_, err = r.Dial(t.Context(), func(context.Context, string, string) (net.Conn, error) { return nil, boom }, "films.example:80")
	if !errors.Is(err, boom) || !strings.Contains(err.Error(), "dial") {
		t.Errorf("%v", err)
	}
}

// TestSilentProxies: each phase ends with the context or with the handshake's own bound, and the connection is closed.
func TestSilentProxies(t *testing.T) {
	t.Parallel()
	for _, scheme := range []string{"http", "https", "socks5"} {
		for name, c := range map[string]struct {
			deadline time.Duration // of the context; negative: it is cancelled then
			want     time.Duration
			cause    error
		}{
			"deadline": {time.Second, time.Second, context.DeadlineExceeded},
			"cancel":   {-2 * time.Second, 2 * time.Second, context.Canceled},
			"bound":    {time.Hour, HandshakeTimeout, nil},
		} {
			synctest.Test(t, func(t *testing.T) {
				var n memhttp.Network
				l, err := n.Listen("silent.example:1")
				if err != nil {
					t.Fatal(err)
				}
				defer l.Close()
				r, err := Parse(scheme + "://u:p@silent.example:1")
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if c.deadline > 0 {
					ctx, cancel = context.WithTimeout(ctx, c.deadline)
					defer cancel()
				} else {
					time.AfterFunc(-c.deadline, cancel)
				}
				start := time.Now()
				conn, err := r.Dial(ctx, n.DialContext, "films.example:443")
				var pe *Error
				if conn != nil || !errors.As(err, &pe) || c.cause != nil && !errors.Is(err, c.cause) || time.Since(start) != c.want {
					t.Errorf("%s, %s: %v after %v", scheme, name, err, time.Since(start))
				}
				if n.Open() != 0 {
					t.Errorf("%s, %s: %d connections are open", scheme, name, n.Open())
				}
			})
		}
	}
}

// FuzzConnectAnswer: any answer to CONNECT ends within its bound, and no byte behind its head is lost.
func FuzzConnectAnswer(f *testing.F) {
	for _, s := range []string{"HTTP/1.1 200 OK\r\n\r\nrest", "HTTP/1.0 100 x\n\nHTTP/1.1 407 No\n\n", "HTTP/1.1 200\n\r\n\n", "\r\n\r\n", "HTTP/1.1 200 OK\r\nX: y\r\n\r\n\r\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, answer []byte) {
		r := bytes.NewReader(answer)
		status, rest, err := readConnectAnswer(r)
		if err != nil {
			return
		}
		read := answer[:len(answer)-r.Len()]
		if status < 200 || status > 999 || !bytes.HasSuffix(read, rest) || !bytes.HasSuffix(read[:len(read)-len(rest)], []byte("\n")) {
			t.Fatalf("status %d, rest %q of %q", status, rest, read)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"http://u:p@a:1", "socks5://[::1]:2", "https://bücher/", "x://", "http://a@b@c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, err := Parse(s)
		if err != nil {
			return
		}
		again, err := Parse(r.String())
		if err != nil || again.String() != r.String() {
			t.Fatalf("%q: %q does not come back: %v", s, r.String(), err)
		}
	})
}
