package h1

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"io"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"
)

// loopback returns the two ends of a TCP connection.
func loopback(t testing.TB) (client, server net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if client, err = net.Dial("tcp", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if server, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = client.Close(), server.Close() })
	return client, server
}

func overTLS(t testing.TB, client, server net.Conn) (*tls.Conn, *tls.Conn) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"a.example"}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	cert, _ := x509.ParseCertificate(der)
	roots.AddCert(cert)
	s := tls.Server(server, &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}})
	c := tls.Client(client, &tls.Config{RootCAs: roots, ServerName: "a.example"})
	failed := make(chan error, 1)
	go func() { failed <- s.Handshake() }()
	if err := c.Handshake(); err != nil {
		t.Fatal(err)
	}
	if err := <-failed; err != nil {
		t.Fatal(err)
	}
	return c, s
}

// TestIdleSocketsAreLookedAt: on real sockets, with and without TLS, a connection that is alive carries one exchange
// after another, and one that has ended or has sent something is refused before anything is written.
func TestIdleSocketsAreLookedAt(t *testing.T) {
	t.Parallel()
	if !canPeek {
		t.Skip("this system has no call to look at a socket")
	}
	const answer = okHead + "Content-Length: 5\r\n\r\nhello"
	happenings := map[string]func(server net.Conn){
		"end":                   func(server net.Conn) { _ = server.Close() },
		"surplus":               func(server net.Conn) { _, _ = io.WriteString(server, "HTTP/1.1 200 OK\r\n\r\n") },
		"surplus with the body": nil,
	}
	for _, layer := range []string{"tcp", "tls", "tls in a wrapper"} {
		for name, happen := range happenings {
			t.Run(layer+"/"+name, func(t *testing.T) {
				t.Parallel()
				client, server := loopback(t)
				if layer != "tcp" {
					client, server = overTLS(t, client, server)
				}
				if layer == "tls in a wrapper" {
					client = wrapper{client}
				}
				c := NewConn(client, Limits{}, Timeouts{})
				defer c.Close()
				for range 3 {
					exchangeOn(t, c, server, answer)
				}
				if happen == nil {
					exchangeOn(t, c, server, answer+"surplus")
				} else {
					happen(server)
				}
				waitReadable(t, c)
				var resp Response
				e := wantKind(t, c.Do(t.Context(), &Request{Target: "/"}, &resp), Closed)
				if e.Written || e.Answered || resp.BytesWritten != 0 {
					t.Errorf("%+v", e)
				}
			})
		}
	}
}

// TestSurplusHeldByTLS: what TLS has decrypted beyond a body that was read by its exact length is found, though nothing waits
// in the socket.
func TestSurplusHeldByTLS(t *testing.T) {
	t.Parallel()
	const size = bufferSize + 10_000 // more than the buffer takes, so that the rest is read by its length
	client, server := loopback(t)
	client, server = overTLS(t, client, server)
	go func() {
		_, _ = server.Read(make([]byte, 4096))
		_, _ = io.WriteString(server, okHead+"Content-Length: "+itoa(size)+"\r\n\r\n"+strings.Repeat("x", size)+"HTTP/1.1 200 OK\r\n\r\n")
	}()
	c := NewConn(client, Limits{}, Timeouts{})
	defer c.Close()
	var resp Response
	if err := c.Do(t.Context(), &Request{Target: "/"}, &resp); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(c.Body(), make([]byte, size)); err != nil {
		t.Fatal(err)
	}
	if e := wantKind(t, c.Do(t.Context(), &Request{Target: "/"}, &resp), Closed); e.Written {
		t.Errorf("%+v", e)
	}
}

// wrapper is a connection that says what it wraps.
type wrapper struct{ net.Conn }

func (w wrapper) NetConn() net.Conn { return w.Conn }

// exchangeOn carries out an exchange, the body of which is read by its exact length.
func exchangeOn(t *testing.T, c *Conn, server net.Conn, answer string) {
	t.Helper()
	served := make(chan error, 1)
	go func() {
		buf := make([]byte, 4096)
		n := 0
		for !bytes.HasSuffix(buf[:n], []byte("\r\n\r\n")) {
			m, err := server.Read(buf[n:])
			if n += m; err != nil {
				served <- err
				return
			}
		}
		_, err := io.WriteString(server, answer)
		served <- err
	}()
	var resp Response
	if err := c.Do(t.Context(), &Request{Target: "/"}, &resp); err != nil {
		t.Fatal(err)
	}
	body := make([]byte, resp.ContentLength)
	if _, err := io.ReadFull(c.Body(), body); err != nil || string(body) != "hello" {
		t.Fatal(string(body), err)
	}
	if err := <-served; err != nil {
		t.Fatal(err)
	}
}

// waitReadable waits until the kernel has what the server did: bytes to be read, or the end.
func waitReadable(t *testing.T, c *Conn) {
	t.Helper()
	if !c.Reusable() {
		return // seen already
	}
	var p probe
	p.find(c.nc)
	for !p.waits() {
		select {
		case <-t.Context().Done():
			t.Fatal("nothing came")
		case <-time.After(time.Millisecond):
		}
	}
}

// TestRefusedRequestIsAnswered: on real sockets, a server that answers 413 and closes without reading the body is heard.
func TestRefusedRequestIsAnswered(t *testing.T) {
	t.Parallel()
	client, server := loopback(t)
	go func() {
		_, _ = io.ReadFull(server, make([]byte, 10))
		_, _ = io.WriteString(server, "HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno")
		_ = server.(*net.TCPConn).CloseWrite()
		_, _ = io.CopyN(io.Discard, server, 64<<10)
	}()
	c := NewConn(client, Limits{}, Timeouts{Write: 200 * time.Millisecond})
	defer c.Close()
	if o := do(t, c, &Request{Method: "POST", Target: "/", Body: make([]byte, 64<<20)}, 100); o.err != nil || o.resp.Status != 413 || o.body != "no" || o.reusable {
		t.Errorf("status %d, body %q, %v", o.resp.Status, o.body, o.err)
	}
}

// TestCancelOnSockets: the end of the context ends an exchange on real sockets too.
func TestCancelOnSockets(t *testing.T) {
	t.Parallel()
	client, _ := loopback(t)
	c := NewConn(client, Limits{}, Timeouts{})
	defer c.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	var resp Response
	e := wantKind(t, c.Do(ctx, &Request{Target: "/"}, &resp), Cancelled)
	if !e.Timeout() || !e.Written || e.Answered {
		t.Errorf("%+v", e)
	}
}
