package fetch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/seine-go/seine/fetch/internal/h1"
	"github.com/seine-go/seine/proxy"
)

// Bounds of the attempts to reach a host over several addresses.
const (
	maxDialAddrs = 16
	dialStagger  = 250 * time.Millisecond // RFC 8305 section 5
)

// dialHost returns the host without brackets and the port that the hop connects to.
func (f *flight) dialHost() (host, port string) {
	host, port = unbracket(f.url.Hostname()), f.url.PortOrDefault()
	if d := f.route.ServerName.Dial; d != "" {
		if h, p, err := net.SplitHostPort(d); err == nil {
			return h, p
		}
		host = unbracket(d)
	}
	return host, port
}

// checkDial refuses a ServerName.Dial that is neither host nor host:port.
func (n *ServerName) checkDial() error {
	if n.Dial == "" {
		return nil
	}
	host := unbracket(n.Dial)
	if h, p, err := net.SplitHostPort(n.Dial); err == nil {
		if port, err := strconv.ParseUint(p, 10, 16); err != nil || port == 0 {
			return fmt.Errorf("the port of the host to dial, %q, is none", n.Dial)
		}
		host = h
	}
	_, err := netip.ParseAddr(host)
	if err != nil && (host == "" || strings.ContainsAny(host, ":/@[]%\\ \t\r\n\x00")) {
		return fmt.Errorf("the host to dial, %q, is neither host nor host:port", n.Dial)
	}
	return nil
}

func unbracket(host string) string {
	return strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
}

// connect opens a connection for the hop and shakes hands over it.
func (t *Transport) connect(f *flight) (*conn, *Error) {
	c := &conn{}
	if err := t.dialHop(f, c); err != nil {
		return nil, err
	}
	if f.url.Scheme() == "https" {
		if err := t.handshake(f, c); err != nil {
			return nil, err
		}
	}
	if c.info.ALPN == "h2" {
		t.startH2(c, c.nc)
		return c, nil
	}
	c.h1 = h1.NewConn(c.nc, t.conf.limits, t.conf.timeouts)
	return c, nil
}

// dialHop opens the TCP connection of the hop, through its proxies.
func (t *Transport) dialHop(f *flight, c *conn) *Error {
	host, port := f.dialHost()
	start := time.Now()
	if f.route.Proxy.IsZero() {
		addrs, err := t.addresses(f.ctx, host)
		if err != nil {
			return err
		}
		c.took.dns = time.Since(start)
		ctx, cancel := withTimeout(f.ctx, t.conf.dialTimeout)
		defer cancel()
		nc, addr, cause := t.dialFirst(ctx, addrs, port)
		if cause != nil {
			return dialError(f.ctx, ctx, cause)
		}
		c.nc, c.addr, c.took.connect = nc, addr, time.Since(start)-c.took.dns
		return nil
	}
	if err := t.guardLiteral(host); err != nil {
		return err
	}
	ctx, cancel := withTimeout(f.ctx, t.conf.dialTimeout)
	defer cancel()
	dial := func(ctx context.Context, _, addr string) (net.Conn, error) {
		nc, first, err := t.dialProxy(ctx, addr)
		c.addr = first
		return nc, err
	}
	var cause error
	if f.forwarded() {
		c.nc, cause = f.route.Proxy.DialForward(ctx, dial)
	} else {
		c.nc, cause = f.route.Proxy.Dial(ctx, dial, net.JoinHostPort(host, port))
	}
	if cause != nil {
		return proxyError(f.ctx, cause)
	}
	c.took.connect = time.Since(start)
	return nil
}

// proxyError says why there is no way through the proxies of a route, and whether that is theirs or the host's doing.
func proxyError(ctx context.Context, cause error) *Error {
	if ctx.Err() != nil {
		return contextError(ctx, "proxy")
	}
	e := &Error{Op: "proxy", Kind: ErrProxy, Err: cause}
	var failed *proxy.Error
	if errors.As(cause, &failed) {
		if failed.Target {
			e.Kind = ErrConnect
		}
		e.Final = failed.Final()
	}
	return e
}

// addresses returns those of a host's addresses that may be dialled; without one there is an error.
func (t *Transport) addresses(ctx context.Context, host string) ([]netip.Addr, *Error) {
	addr, err := netip.ParseAddr(host)
	if err == nil {
		if err := t.guard(addr); err != nil {
			return nil, err
		}
		return []netip.Addr{addr.Unmap()}, nil
	}
	all, err := t.dns.lookup(ctx, host)
	if err != nil {
		if ctx.Err() != nil {
			return nil, contextError(ctx, "resolve")
		}
		return nil, &Error{Op: "resolve", Kind: ErrDNS, Final: isNotFound(err), Err: err}
	}
	allowed, refusal := all, (*Error)(nil)
	for i, addr := range all {
		err := t.guard(addr)
		switch {
		case err != nil && refusal == nil:
			allowed, refusal = append([]netip.Addr(nil), all[:i]...), err
		case err == nil && refusal != nil:
			allowed = append(allowed, addr)
		}
	}
	if len(allowed) == 0 {
		return nil, refusal
	}
	return allowed, nil
}

func (t *Transport) guard(addr netip.Addr) *Error {
	if t.conf.guard == nil {
		return nil
	}
	if err := t.conf.guard(addr); err != nil {
		return &Error{Op: "guard", Kind: ErrRefused, Err: err}
	}
	return nil
}

// guardLiteral asks the Guard about a host that a proxy is to resolve: an address, or the name that means the proxy itself.
func (t *Transport) guardLiteral(host string) *Error {
	if addr, err := netip.ParseAddr(host); err == nil {
		return t.guard(addr)
	}
	if isLocalhost(host) {
		return t.guard(netip.IPv6Loopback())
	}
	return nil
}

func (t *Transport) dialProxy(ctx context.Context, addr string) (net.Conn, netip.AddrPort, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, netip.AddrPort{}, err
	}
	var addrs []netip.Addr
	if literal, err := netip.ParseAddr(host); err == nil {
		addrs = []netip.Addr{literal}
	} else if addrs, err = t.dns.lookup(ctx, host); err != nil {
		return nil, netip.AddrPort{}, err
	}
	return t.dialFirst(ctx, addrs, port)
}

type dialled struct {
	nc   net.Conn
	addr netip.AddrPort
	err  error
}

// dialFirst dials the addresses in order, the next when one has failed or is slow, and returns the connection that is
// there first, else the first error.
func (t *Transport) dialFirst(ctx context.Context, addrs []netip.Addr, service string) (net.Conn, netip.AddrPort, error) {
	number, err := strconv.ParseUint(service, 10, 16)
	if err != nil {
		return nil, netip.AddrPort{}, err
	}
	port := uint16(number)
	addrs = addrs[:min(len(addrs), maxDialAddrs)]
	if len(addrs) == 1 {
		addr := netip.AddrPortFrom(addrs[0], port)
		nc, err := t.dialAddr(ctx, addr)
		return nc, addr, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	results := make(chan dialled)
	var first error
	timer := time.NewTimer(0)
	defer timer.Stop()
	for next, pending := 0, 0; ; {
		select {
		case <-timer.C:
			if next < len(addrs) {
				go t.dialOne(ctx, netip.AddrPortFrom(addrs[next], port), results)
				next++
				pending++
				timer.Reset(dialStagger)
			}
		case r := <-results:
			if r.err == nil {
				return r.nc, r.addr, nil
			}
			if pending--; first == nil {
				first = r.err
			}
			if next < len(addrs) {
				timer.Reset(0)
			} else if pending == 0 {
				return nil, netip.AddrPort{}, first
			}
		case <-ctx.Done():
			return nil, netip.AddrPort{}, context.Cause(ctx)
		}
	}
}

// dialOne dials one address. A connection that nobody waits for any more is closed, and a panic is an error.
func (t *Transport) dialOne(ctx context.Context, addr netip.AddrPort, results chan<- dialled) {
	r := dialled{addr: addr, err: errPanicked}
	defer func() {
		if value := recover(); value != nil {
			r.err = fmt.Errorf("%w: %v", errPanicked, value)
		}
		select {
		case results <- r:
		case <-ctx.Done():
			if r.err == nil {
				r.nc.Close()
			}
		}
	}()
	r.nc, r.err = t.dialAddr(ctx, addr)
}

var errNoConn = errors.New("neither a connection nor an error was returned")

func (t *Transport) dialAddr(ctx context.Context, addr netip.AddrPort) (net.Conn, error) {
	nc, err := t.conf.dial(ctx, "tcp", addr.String())
	if nc == nil && err == nil {
		err = errNoConn
	}
	return nc, err
}

// dialError says why a host could not be reached; ctx is that of the caller, limited the one with the timeout.
func dialError(ctx, limited context.Context, cause error) *Error {
	var timeout net.Error
	switch {
	case ctx.Err() != nil:
		return contextError(ctx, "dial")
	case limited.Err() != nil, errors.As(cause, &timeout) && timeout.Timeout():
		return &Error{Op: "dial", Kind: ErrTimeout, Err: cause}
	}
	return &Error{Op: "dial", Kind: ErrConnect, Err: cause}
}
