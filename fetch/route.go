package fetch

import (
	"crypto/x509"

	"github.com/seine-go/seine/proxy"
)

// Route is the way a request takes to its host. Connections are shared only by requests whose routes are equal in all
// but Session.
type Route struct {
	Proxy      proxy.Route // zero: direct; plain HTTP is forwarded by a proxy of HTTP, unless it is WithTunnels or Dial is set
	ServerName ServerName
	Session    string // a name for whatever belongs together: jar, exit, identity
}

// ServerName states names that differ from the host of the URL. Each is independent of the others and defaults to
// that host. They do not survive a redirect to another host.
type ServerName struct {
	Dial     string         // host, or host:port, that is dialled
	SNI      string         // name in the TLS hello
	OmitSNI  bool           // no name in the TLS hello
	Verify   string         // name that the certificate must have
	ECH      []byte         // ECHConfigList for an encrypted hello
	RootCAs  *x509.CertPool // nil: the system's
	Insecure bool           // the certificate is not checked at all
}

// isZero reports whether no name differs from the host of the URL.
func (n *ServerName) isZero() bool {
	return n.Dial == "" && n.SNI == "" && n.Verify == "" && !n.OmitSNI && !n.Insecure && len(n.ECH) == 0 && n.RootCAs == nil
}
