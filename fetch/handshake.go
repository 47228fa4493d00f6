package fetch

import (
	"context"
	"crypto/x509"
	"net"
)

// Handshaker turns a connection into a TLS connection. It does not dial. On error it leaves closing conn to the
// caller. It obeys ctx and is safe for concurrent use. The returned connection is closed with the one given.
type Handshaker interface {
	Handshake(ctx context.Context, conn net.Conn, to Target) (net.Conn, ConnInfo, error)
}

// Target is whom a handshake is with.
type Target struct {
	Host       string     // of the URL, without port
	ServerName ServerName // with SNI and Verify filled in
	ALPN       []string   // to be offered, best first
	Scope      string     // handshakes of different scopes must not share session tickets; holds secrets, not to be shown
}

// ConnInfo is what a handshake brought about.
type ConnInfo struct {
	ALPN         string
	Version      uint16 // tls.VersionTLS13 …
	CipherSuite  uint16
	Resumed      bool
	Certificates []*x509.Certificate
}
