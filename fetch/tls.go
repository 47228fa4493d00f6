package fetch

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"time"
)

// maxTickets bounds the TLS sessions that are remembered for resumption.
const maxTickets = 1024

var errNoCertificate = errors.New("the host has shown no certificate")

// handshake makes the connection of the hop a TLS connection, or closes it.
func (t *Transport) handshake(f *flight, c *conn) *Error {
	alpn := t.conf.alpn
	if f.onlyH1 {
		alpn = alpn[len(alpn)-1:]
	}
	to := f.target(alpn)
	ctx, cancel := withTimeout(f.ctx, t.conf.tlsTimeout)
	defer cancel()
	start := time.Now()
	shaken := false
	defer func() {
		if !shaken { // also by a panic
			c.nc.Close()
		}
	}()
	nc, info, err := t.conf.tls.Handshake(ctx, c.nc, to)
	if nc == nil && err == nil {
		err = errNoConn
	}
	if err != nil {
		if f.ctx.Err() != nil {
			return contextError(f.ctx, "handshake")
		}
		if ctx.Err() != nil {
			err = fmt.Errorf("it took longer than TLSTimeout, %v: %w", t.conf.tlsTimeout, context.DeadlineExceeded)
		}
		return &Error{Op: "handshake", Kind: ErrTLS, Final: !isBroken(err), Err: err}
	}
	c.nc, c.info, c.took.tls, shaken = nc, info, time.Since(start), true
	if _, err := netip.ParseAddr(to.ServerName.SNI); err != nil { // RFC 6066 section 3: addresses are not sent
		c.sni = to.ServerName.SNI
	}
	return nil
}

// target returns whom the handshake of the hop is with.
func (f *flight) target(alpn []string) Target {
	host := unbracket(f.url.Hostname())
	to := Target{Host: host, ServerName: f.route.ServerName, ALPN: alpn}
	n := &to.ServerName
	if n.SNI == "" {
		n.SNI = host
	}
	if n.OmitSNI {
		n.SNI = ""
	}
	if n.Verify == "" {
		n.Verify = host
	}
	key := f.route.key("https", host, f.url.PortOrDefault())
	to.Scope = fmt.Sprintf("%s %s %q %#v", key.host, key.port, key.proxy, key.names)
	return to
}

// isBroken reports whether a handshake failed since the connection did. What a host says or shows, such as its
// certificate or versions, it says again.
func isBroken(err error) bool {
	var op *net.OpError
	var timeout interface{ Timeout() bool }
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.ErrClosedPipe) ||
		errors.As(err, &timeout) && timeout.Timeout() || errors.As(err, &op) && (op.Op == "read" || op.Op == "write")
}

func isCertificateFault(err error) bool {
	var verification *tls.CertificateVerificationError
	return errors.As(err, &verification)
}

// stdTLS shakes hands with crypto/tls.
type stdTLS struct{ sessions tls.ClientSessionCache }

func newStdTLS() *stdTLS { return &stdTLS{sessions: tls.NewLRUClientSessionCache(maxTickets)} }

// Handshake does as Handshaker says.
func (s *stdTLS) Handshake(ctx context.Context, conn net.Conn, to Target) (net.Conn, ConnInfo, error) {
	n := &to.ServerName
	cfg := &tls.Config{
		ServerName: n.SNI, RootCAs: n.RootCAs, NextProtos: to.ALPN, EncryptedClientHelloConfigList: n.ECH,
		ClientSessionCache: scopedSessions{s.sessions, to.Scope},
	}
	if n.Insecure || n.OmitSNI || !strings.EqualFold(n.SNI, n.Verify) {
		cfg.InsecureSkipVerify = true // by crypto/tls, which knows one name only
		if !n.Insecure {
			cfg.VerifyConnection = verifyName(n.Verify, n.RootCAs)
		}
	}
	tc := tls.Client(conn, cfg)
	if err := tc.HandshakeContext(ctx); err != nil {
		return nil, ConnInfo{}, err
	}
	state := tc.ConnectionState()
	return tc, ConnInfo{
		ALPN: state.NegotiatedProtocol, Version: state.Version, CipherSuite: state.CipherSuite,
		Resumed: state.DidResume, Certificates: state.PeerCertificates,
	}, nil
}

// verifyName checks a certificate as crypto/tls does, but against a name other than that of the hello.
func verifyName(name string, roots *x509.CertPool) func(tls.ConnectionState) error {
	return func(state tls.ConnectionState) error {
		certs := state.PeerCertificates
		if len(certs) == 0 {
			return errNoCertificate
		}
		opts := x509.VerifyOptions{DNSName: name, Roots: roots, Intermediates: x509.NewCertPool()}
		for _, c := range certs[1:] {
			opts.Intermediates.AddCert(c)
		}
		if _, err := certs[0].Verify(opts); err != nil {
			return &tls.CertificateVerificationError{UnverifiedCertificates: certs, Err: err}
		}
		return nil
	}
}

// scopedSessions is the part of a session cache that one scope sees, so that a ticket won over one proxy or for one name
// is never shown over another.
type scopedSessions struct {
	all   tls.ClientSessionCache
	scope string
}

func (s scopedSessions) Get(key string) (*tls.ClientSessionState, bool) {
	return s.all.Get(s.scope + "\x00" + key)
}

func (s scopedSessions) Put(key string, state *tls.ClientSessionState) {
	s.all.Put(s.scope+"\x00"+key, state)
}
