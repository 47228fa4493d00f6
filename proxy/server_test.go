package proxy

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// server is a proxy for tests: HTTP with CONNECT, or SOCKS5. It wants the user and password if there are any.
type server struct {
	user, password string
	tls            *tls.Config
	surplus        string // sent together with the answer to CONNECT
	mu             sync.Mutex
	targets        []string
}

func (s *server) seen() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.targets)
}

// listen runs handle for every connection to a loopback port and returns its address.
func listen(t testing.TB, handle func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer conn.Close()
				handle(conn)
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		wg.Wait()
	})
	return l.Addr().String()
}

func (s *server) tunnel(conn net.Conn, r io.Reader, target string) {
	s.mu.Lock()
	s.targets = append(s.targets, target)
	s.mu.Unlock()
	host, port, _ := net.SplitHostPort(target)
	if strings.HasSuffix(host, ".example") {
		host = "127.0.0.1"
	}
	up, err := net.Dial("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return
	}
	defer up.Close()
	go func() {
		io.Copy(up, r)
		up.(*net.TCPConn).CloseWrite()
	}()
	io.Copy(conn, up)
}

func (s *server) http(conn net.Conn) {
	if s.tls != nil {
		conn = tls.Server(conn, s.tls)
	}
	r := bufio.NewReader(conn)
	req, err := http.ReadRequest(r)
	if err != nil {
		return
	}
	want := "Basic " + base64.StdEncoding.EncodeToString([]byte(s.user+":"+s.password))
	switch {
	case req.Method != "CONNECT" || req.Host != req.RequestURI:
		io.WriteString(conn, "HTTP/1.1 405 No\r\n\r\n")
		return
	case s.user != "" && req.Header.Get("Proxy-Authorization") != want:
		io.WriteString(conn, "HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=x\r\nContent-Length: 0\r\n\r\n")
		return
	}
	io.WriteString(conn, "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Established\r\nContent-Length: 5\r\nVia: test\r\n\r\n"+s.surplus)
	s.tunnel(conn, r, req.RequestURI)
}

func (s *server) socks5(conn net.Conn) {
	r := bufio.NewReader(conn)
	head := make([]byte, 2)
	io.ReadFull(r, head)
	methods := make([]byte, head[1])
	io.ReadFull(r, methods)
	if s.user == "" {
		conn.Write([]byte{5, 0})
	} else {
		if !bytes.Contains(methods, []byte{2}) {
			conn.Write([]byte{5, 0xff})
			return
		}
		conn.Write([]byte{5, 2})
		io.ReadFull(r, head)
		user := make([]byte, head[1])
		io.ReadFull(r, user)
		length, _ := r.ReadByte()
		password := make([]byte, length)
		io.ReadFull(r, password)
		if string(user) != s.user || string(password) != s.password {
			conn.Write([]byte{1, 1})
			return
		}
		conn.Write([]byte{1, 0})
	}
	req := make([]byte, 4)
	io.ReadFull(r, req)
	var host string
	switch req[3] {
	case 1, 4:
		addr := make([]byte, map[byte]int{1: 4, 4: 16}[req[3]])
		io.ReadFull(r, addr)
		host = net.IP(addr).String()
	case 3:
		length, _ := r.ReadByte()
		name := make([]byte, length)
		io.ReadFull(r, name)
		host = string(name)
	}
	port := make([]byte, 2)
	io.ReadFull(r, port)
	target := net.JoinHostPort(host, fmt.Sprint(int(port[0])<<8|int(port[1])))
	conn.Write(append([]byte{5, 0, 0, 3, 4}, "name\x00\x50"...))
	s.tunnel(conn, r, target)
}

func echo(conn net.Conn) { io.Copy(conn, conn) }

func dialDirect(ctx context.Context, network, addr string) (net.Conn, error) {
	if strings.Contains(addr, "example") {
		return nil, fmt.Errorf("%s is not to be resolved here", addr)
	}
	return new(net.Dialer).DialContext(ctx, network, addr)
}

// checkEcho sends a text through the route to a name that only the last proxy knows.
func checkEcho(t *testing.T, r Route, target, surplus string) {
	t.Helper()
	conn, err := r.Dial(t.Context(), dialDirect, target)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(10 * time.Second))
	io.WriteString(conn, "hello")
	got := make([]byte, len(surplus)+5)
	if _, err := io.ReadFull(conn, got); err != nil || string(got) != surplus+"hello" {
		t.Errorf("%q, %v", got, err)
	}
}

func certificate(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Unix(0, 0), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(cert)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}
