// Package proxy leads connections through other hosts.
//
//	route, err := proxy.Parse("http://user:secret@127.0.0.1:3128", "socks5://10.0.0.7:1080")
//	if err != nil {
//		return err
//	}
//	conn, err := route.Dial(ctx, (&net.Dialer{}).DialContext, "films.example:443")
//
// A route is a chain of proxies of any kinds, asked one through the other. Dial opens tunnels, DialForward connections for requests that
// the last proxy forwards; names are resolved by the last proxy. The package does not pool, does not rotate and does not read the environment.
package proxy

import (
	"crypto/x509"
	"fmt"
	"strings"
)

// MaxHops bounds the proxies of one route.
const MaxHops = 16

// Route is a chain of proxies. The zero value is a direct connection. It is immutable and safe for concurrent use. Two
// routes lead the same way when their keys are equal.
type Route struct{ chain *chain }

type chain struct {
	hops       []hop
	key, label string
	roots      *x509.CertPool // nil: the system's
	tunnels    bool           // nothing is forwarded
}

// Parse returns the route that leads through the given proxies in order. Without any it is the direct connection.
//
// A proxy is written scheme://[user[:password]@]host[:port]. User and password may be percent-encoded. The kinds are:
//
//	http     port 80; plain HTTP is forwarded, all else goes by CONNECT; user and password go as Basic credentials
//	https    the same over TLS, port 443; the certificate must be that of host
//	socks5   RFC 1928, port 1080; user and password as in RFC 1929; the proxy resolves names
//	socks5h  another name for it
//
// The error is a *ParseError and does not repeat user or password.
func Parse(urls ...string) (Route, error) {
	if len(urls) == 0 {
		return Route{}, nil
	}
	if len(urls) > MaxHops {
		return Route{}, &ParseError{Index: MaxHops, Reason: "more proxies than a route may have"}
	}
	c := chain{hops: make([]hop, len(urls))}
	labels := make([]string, len(urls))
	for i, raw := range urls {
		h, err := parseHop(raw)
		if err != nil {
			err.Index = i
			return Route{}, err
		}
		c.hops[i], labels[i] = h, h.label()
	}
	c.label = strings.Join(labels, " ")
	return c.keyed(), nil
}

// WithRootCAs returns the route with other roots for the certificates of its https proxies. Nil are the system's. Routes
// with different pools have different keys.
func (r Route) WithRootCAs(roots *x509.CertPool) Route {
	if r.chain == nil {
		return r
	}
	c := *r.chain
	c.roots = roots
	return c.keyed()
}

// WithTunnels returns the route with a tunnel for every connection, those of plain HTTP too: for proxies that forward nothing, or change what
// they forward. Many allow tunnels to port 443 alone. The key is another one.
func (r Route) WithTunnels() Route {
	if r.chain == nil {
		return r
	}
	c := *r.chain
	c.tunnels = true
	return c.keyed()
}

// Forwards reports whether the last proxy is one to which requests of plain HTTP are sent themselves: of the kinds http and
// https, unless the route is one WithTunnels.
func (r Route) Forwards() bool {
	if r.chain == nil || r.chain.tunnels {
		return false
	}
	last := r.chain.last().scheme
	return last == "http" || last == "https"
}

// Authorization returns what is to stand in Proxy-Authorization of requests that the last proxy forwards, "" for nothing. It is secret.
func (r Route) Authorization() string {
	if !r.Forwards() {
		return ""
	}
	return r.chain.last().authorization()
}

func (c *chain) last() hop { return c.hops[len(c.hops)-1] }

// IsZero reports whether the route is a direct connection.
func (r Route) IsZero() bool { return r.chain == nil }

// Key returns a string that is equal for routes that are: it holds the credentials, so it must not be shown. The key of
// a direct connection is empty.
func (r Route) Key() string {
	if r.chain == nil {
		return ""
	}
	return r.chain.key
}

// keyed returns the route of a chain, with the key that it has: a blank stands in no key of a proxy.
func (c chain) keyed() Route {
	keys := make([]string, len(c.hops))
	for i, h := range c.hops {
		keys[i] = h.key()
	}
	c.key = strings.Join(keys, " ")
	if c.roots != nil {
		c.key += fmt.Sprintf(" roots=%p", c.roots)
	}
	if c.tunnels {
		c.key += " tunnels"
	}
	return Route{chain: &c}
}

// String returns the proxies without user names and passwords, or "direct".
func (r Route) String() string {
	if r.chain == nil {
		return "direct"
	}
	return r.chain.label
}
