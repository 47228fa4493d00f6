package crawltest

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"io"
	"math/big"
	"net"
	"sync"
	"time"
)

// tlsBehaviours are those of the handshake.
var tlsBehaviours = []behaviour{
	secure("tls-good", "has a good certificate of the authority of RootCAs", func(h *Hostile, c net.Conn) net.Conn { return h.certs.server(c, h.certs.good, nil) }),
	secure("tls-expired", "has a certificate that has expired", func(h *Hostile, c net.Conn) net.Conn { return h.certs.server(c, h.certs.expired, nil) }),
	secure("tls-early", "has a certificate that is not valid yet", func(h *Hostile, c net.Conn) net.Conn { return h.certs.server(c, h.certs.early, nil) }),
	secure("tls-name", "has a certificate for another name", func(h *Hostile, c net.Conn) net.Conn { return h.certs.server(c, h.certs.other, nil) }),
	secure("tls-self", "has a certificate that nobody but itself has signed", func(h *Hostile, c net.Conn) net.Conn { return h.certs.server(c, h.certs.self, nil) }),
	secure("tls-1.0", "speaks TLS 1.0 alone", func(h *Hostile, c net.Conn) net.Conn {
		return h.certs.server(c, h.certs.good, func(c *tls.Config) { c.MinVersion, c.MaxVersion = tls.VersionTLS10, tls.VersionTLS10 })
	}),
	secure("tls-stall", "reads the hello and never answers", func(_ *Hostile, c net.Conn) net.Conn {
		_, _ = io.Copy(io.Discard, c)
		return nil
	}),
	secure("tls-drip", "sends a byte of a handshake record each second", func(h *Hostile, c net.Conn) net.Conn {
		r := &reply{h: h, conn: c}
		r.send("\x16\x03\x03\x40\x00") // a record of 16 KiB
		for r.drip("\x02\x00\x3f\xfc") {
			continue
		}
		return nil
	}),
	secure("tls-reset", "reads the hello and resets the connection", func(_ *Hostile, c net.Conn) net.Conn {
		_, _ = c.Read(make([]byte, 1))
		resetConn(c)
		return nil
	}),
	secure("tls-close", "closes before the handshake", func(*Hostile, net.Conn) net.Conn { return nil }),
	secure("tls-plain", "speaks HTTP without TLS", func(_ *Hostile, c net.Conn) net.Conn {
		_, _ = c.Read(make([]byte, 4096))
		_, _ = io.WriteString(c, "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
		return nil
	}),
	secure("tls-cut", "ends every body, as those without a length, and TLS without a word of it", func(h *Hostile, c net.Conn) net.Conn {
		if conn := h.certs.server(c, h.certs.good, nil); conn != nil {
			r := &reply{h: h, conn: conn, in: bufio.NewReader(conn)}
			_ = r.read() && r.stream("text/html") && r.send("<title>half of ")
		}
		return nil
	}),
}

func secure(name, doc string, shake func(*Hostile, net.Conn) net.Conn) behaviour {
	return behaviour{Behaviour: Behaviour{Name: name, Doc: doc, TLS: true}, shake: shake}
}

// handshakeTimeout bounds the server's side of a handshake.
const handshakeTimeout = time.Minute

// certificates are made when they are first needed.
type certificates struct {
	hosts                             []string
	once                              sync.Once
	err                               error
	roots                             *x509.CertPool
	good, expired, early, other, self tls.Certificate
}

func (c *certificates) pool() (*x509.CertPool, error) {
	err := c.make()
	return c.roots, err
}

// make makes them all, once.
func (c *certificates) make() error {
	c.once.Do(func() {
		if err := c.issue(); err != nil {
			c.err = fmt.Errorf("seine: hostile: certificates: %w", err)
		}
	})
	return c.err
}

func (c *certificates) issue() error {
	now := time.Now()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	authority := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "hostile authority"}, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, authority, authority, key.Public(), key)
	if err != nil {
		return err
	}
	root, err := x509.ParseCertificate(der)
	if err != nil {
		return err
	}
	c.roots = x509.NewCertPool()
	c.roots.AddCert(root)
	names := append([]string{"localhost"}, c.hosts...)
	for i, leaf := range []struct {
		to         *tls.Certificate
		names      []string
		self       bool
		begin, end time.Duration
	}{
		{&c.good, names, false, -time.Hour, 24 * time.Hour},
		{&c.expired, names, false, -2 * time.Hour, -time.Hour},
		{&c.early, names, false, time.Hour, 24 * time.Hour},
		{&c.other, []string{"other.example"}, false, -time.Hour, 24 * time.Hour},
		{&c.self, names, true, -time.Hour, 24 * time.Hour},
	} {
		t := &x509.Certificate{
			SerialNumber: big.NewInt(int64(i) + 2), Subject: pkix.Name{CommonName: "hostile"}, DNSNames: leaf.names,
			NotBefore: now.Add(leaf.begin), NotAfter: now.Add(leaf.end), KeyUsage: x509.KeyUsageDigitalSignature,
		}
		if leaf.to != &c.other {
			t.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}
		}
		parent := root
		if leaf.self {
			parent = t
		}
		der, err := x509.CreateCertificate(rand.Reader, t, parent, key.Public(), key)
		if err != nil {
			return err
		}
		*leaf.to = tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
	}
	return nil
}

// server shakes hands, or returns nil.
func (c *certificates) server(conn net.Conn, cert tls.Certificate, change func(*tls.Config)) net.Conn {
	config := &tls.Config{Certificates: []tls.Certificate{cert}, NextProtos: []string{"http/1.1"}, MinVersion: tls.VersionTLS12}
	if change != nil {
		change(config)
	}
	_ = conn.SetDeadline(time.Now().Add(handshakeTimeout))
	inner := tls.Server(conn, config)
	if err := inner.Handshake(); err != nil {
		return nil
	}
	_ = conn.SetDeadline(time.Time{})
	return inner
}
