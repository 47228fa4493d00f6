package proxy

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// DialFunc opens a connection. addr is host:port.
type DialFunc func(ctx context.Context, network, addr string) (net.Conn, error)

// Error is the failure of one proxy of a route.
type Error struct {
	Index  int    // of the proxy within the route, from 0
	Proxy  string // without user and password
	Op     string // "dial", "handshake", "connect" …
	Status int    // of the answer to CONNECT, 0 without one
	// Target says that the proxy, the last of its route, did its part and could not reach the target: a 502, 503 or 504, or that SOCKS
	// found network or host unreachable or the connection refused.
	Target bool
	Err    error
}

// Final reports whether the same will be refused again: since the credentials are wrong or missing, or by the rules of the proxy.
func (e *Error) Final() bool {
	switch e.Status {
	case 401, 403, 405, 407, 501:
		return true
	}
	var reply SOCKSReply
	if errors.As(e.Err, &reply) {
		return reply == 2 || reply == 7 || reply == 8
	}
	return errors.Is(e.Err, errSocksLogin) || errors.Is(e.Err, errSocksMethod)
}

// Error returns "seine: proxy INDEX URL: op: cause".
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("seine: proxy " + strconv.Itoa(e.Index) + " " + e.Proxy + ": " + e.Op)
	if e.Status != 0 {
		b.WriteString(": status " + strconv.Itoa(e.Status))
	}
	if e.Err != nil {
		b.WriteString(": " + e.Err.Error())
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// HandshakeTimeout bounds what each proxy may take between the connection to it and its leave to go on, TLS with it
// included. A context that ends earlier counts.
const HandshakeTimeout = 20 * time.Second

// Dial opens a tunnel to target, which is host:port, through all proxies of the route. dial opens the connection to the
// first one; a direct route calls it with the target. The names of the other proxies and of the target are not resolved
// here. It returns soon after ctx ends. Errors of a proxy are *Error; that of a target no proxy can be asked for too.
func (r Route) Dial(ctx context.Context, dial DialFunc, target string) (net.Conn, error) {
	if r.chain == nil {
		return dial(ctx, "tcp", target)
	}
	host, port, err := splitTarget(target)
	if err != nil {
		last := len(r.chain.hops) - 1
		return nil, &Error{Index: last, Proxy: r.chain.hops[last].label(), Op: "target", Err: err}
	}
	return r.chain.dial(ctx, dial, host, port)
}

// DialForward opens a connection to the last proxy of a route that Forwards, through the others: for requests with the whole URL
// in their first line, and with Authorization in Proxy-Authorization (RFC 9112 3.2.2). It is otherwise as Dial.
func (r Route) DialForward(ctx context.Context, dial DialFunc) (net.Conn, error) {
	if !r.Forwards() {
		return nil, errNotForward
	}
	return r.chain.dial(ctx, dial, "", 0)
}

var errNotForward = errors.New("seine: proxy: the route does not end at a proxy that forwards requests")

// dial leads through all proxies to a target, or to the last of them where the port is 0.
func (c *chain) dial(ctx context.Context, dial DialFunc, host string, port uint16) (net.Conn, error) {
	hops := c.hops
	fail := func(i int, op string, err error) error {
		return &Error{Index: i, Proxy: hops[i].label(), Op: op, Err: err}
	}
	conn, err := dial(ctx, "tcp", hops[0].addr())
	if err != nil {
		return nil, fail(0, "dial", err)
	}
	for i, h := range hops {
		toHost, toPort := host, port
		if i+1 < len(hops) {
			toHost, toPort, _ = splitTarget(hops[i+1].addr())
		}
		next, err := h.pass(ctx, conn, c.roots, toHost, toPort)
		if err != nil {
			conn.Close()
			e, ok := err.(*Error)
			if !ok {
				return nil, fail(i, "handshake", err)
			}
			e.Index, e.Proxy, e.Target = i, h.label(), e.Target && i+1 == len(hops)
			return nil, e
		}
		conn = next
	}
	return conn, nil
}

// pass leads conn, which ends at the proxy, on to host:port, or makes it one that the proxy takes requests on where the port is 0.
func (h hop) pass(ctx context.Context, conn net.Conn, roots *x509.CertPool, host string, port uint16) (net.Conn, error) {
	if err := conn.SetDeadline(time.Now().Add(HandshakeTimeout)); err != nil {
		return nil, err
	}
	// The end of ctx wakes up who waits on the connection, by a deadline in the past.
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	next, err := h.handshake(ctx, conn, roots, host, port)
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, err
	}
	return next, conn.SetDeadline(time.Time{})
}

func (h hop) handshake(ctx context.Context, conn net.Conn, roots *x509.CertPool, host string, port uint16) (net.Conn, error) {
	switch h.scheme {
	case "socks5", "socks5h":
		return conn, h.socks5(conn, host, port)
	case "https":
		// Only http/1.1 is offered: a proxy that chose h2 would not understand our CONNECT.
		tc := tls.Client(conn, &tls.Config{ServerName: h.host, RootCAs: roots, NextProtos: []string{"http/1.1"}})
		if err := tc.HandshakeContext(ctx); err != nil {
			return nil, &Error{Op: "tls", Err: err}
		}
		conn = tc
	}
	if port == 0 {
		return conn, nil
	}
	return h.connect(conn, host, port)
}

var errTarget = errors.New("the target must be host:port with a host of at most 255 bytes and no zone")

// splitTarget reads where a tunnel is to end. Unlike a proxy's own host it is already in the form of the wire.
func splitTarget(target string) (host string, port uint16, err error) {
	host, p, err := net.SplitHostPort(target)
	if err != nil {
		return "", 0, errTarget
	}
	n, err := strconv.ParseUint(p, 10, 16)
	if err != nil || n == 0 || host == "" || len(host) > maxHost {
		return "", 0, errTarget
	}
	for _, c := range []byte(host) {
		if c <= ' ' || c == 0x7f || c == '/' || c == '@' {
			return "", 0, errTarget
		}
	}
	if strings.Contains(host, ":") {
		addr, err := netip.ParseAddr(host)
		if err != nil || addr.Zone() != "" {
			return "", 0, errTarget
		}
	}
	return host, uint16(n), nil
}
