// Package proxy leads connections through other hosts.
//
//	route, err := proxy.Parse("http://user:secret@127.0.0.1:3128", "socks5://10.0.0.7:1080")
//	if err != nil {
//		return err
//	}
//	conn, err := route.Dial(ctx, (&net.Dialer{}).DialContext, "films.example:443")
//
// A route is a chain of proxies of any kinds, asked one through the other. Every connection is a tunnel; names are
// resolved by the last proxy. The package does not pool, does not rotate and does not read the environment.
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
}

// Parse returns the route that leads through the given proxies in order. Without any it is the direct connection.
//
// A proxy is written scheme://[user[:password]@]host[:port]. User and password may be percent-encoded. The kinds are:
//
//	http     CONNECT, port 80; user and password go as Basic credentials
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
	c := &chain{hops: make([]hop, len(urls))}
	keys, labels := make([]string, len(urls)), make([]string, len(urls))
	for i, raw := range urls {
		h, err := parseHop(raw)
		if err != nil {
			err.Index = i
			return Route{}, err
		}
		c.hops[i], keys[i], labels[i] = h, h.key(), h.label()
	}
	c.key, c.label = strings.Join(keys, " "), strings.Join(labels, " ")
	return Route{chain: c}, nil
}

// WithRootCAs returns the route with other roots for the certificates of its https proxies. Nil are the system's. Routes
// with different pools have different keys.
func (r Route) WithRootCAs(roots *x509.CertPool) Route {
	if r.chain == nil {
		return r
	}
	c := *r.chain
	c.key, _, _ = strings.Cut(c.key, rootsMark)
	if c.roots = roots; roots != nil {
		c.key += fmt.Sprintf(rootsMark+"%p", roots)
	}
	return Route{chain: &c}
}

const rootsMark = " roots=" // stands in no key of a proxy

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

// String returns the proxies without user names and passwords, or "direct".
func (r Route) String() string {
	if r.chain == nil {
		return "direct"
	}
	return r.chain.label
}
