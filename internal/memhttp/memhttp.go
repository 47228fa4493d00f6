// Package memhttp is HTTP over connections in memory, for tests that run in a testing/synctest bubble: nothing here waits
// on a socket, so a bubble sees every wait as durable and moves its clock on.
//
//	var network memhttp.Network
//	network.Serve(t, "films.example:80", handler)
//	transport := &http.Transport{DialContext: network.DialContext}
//
// Connections behave as TCP ones: a writer runs ahead of its reader by at most Window bytes, deadlines are obeyed, and what
// came before the peer closed can still be read. It is used by tests only.
package memhttp

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strconv"
	"sync"
	"syscall"
)

// backlog is how many dialled connections a listener holds that nobody has accepted; further dials wait.
const backlog = 128

// firstPort is the first of the ports that the dialling side of a connection gets.
const firstPort = 32768

// firstAddr is where the addresses of hosts that are named and not numbered begin: 198.18.0.0/15, set apart for tests by RFC 2544.
var firstAddr = netip.AddrFrom4([4]byte{198, 18, 0, 1})

// Network is a set of listeners, each known by its "host:port". The zero value is an empty network; it must not be copied.
// Its methods may be called concurrently.
type Network struct {
	mu        sync.Mutex
	listeners map[string]*listener // by "host:port" as listened on
	hosts     map[string]netip.Addr
	names     map[netip.Addr]string // of assigned addresses only
	lastAddr  netip.Addr
	dialled   int
	open      int
}

// Listen opens a listener at a host (a name or an IP address) and port. A name gets an address of 198.18.0.0/15, in the order of the calls.
func (n *Network) Listen(addr string) (net.Listener, error) {
	host, port, err := splitAddr(addr)
	if err != nil {
		return nil, &net.OpError{Op: "listen", Net: "tcp", Err: err}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	key := net.JoinHostPort(host, strconv.Itoa(port))
	if n.listeners[key] != nil {
		return nil, &net.OpError{Op: "listen", Net: "tcp", Err: os.NewSyscallError("bind", syscall.EADDRINUSE)}
	}
	if n.listeners == nil {
		n.listeners = map[string]*listener{}
	}
	l := &listener{
		network: n, key: key, addr: net.TCPAddrFromAddrPort(netip.AddrPortFrom(n.assign(host), uint16(port))),
		queue: make(chan *Conn, backlog), done: make(chan struct{}),
	}
	n.listeners[key] = l
	return l, nil
}

// assign returns the address of a host, a new one for a name that has none yet. The caller holds mu.
func (n *Network) assign(host string) netip.Addr {
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip
	}
	if ip, ok := n.hosts[host]; ok {
		return ip
	}
	if n.hosts == nil {
		n.hosts, n.names, n.lastAddr = map[string]netip.Addr{}, map[netip.Addr]string{}, firstAddr.Prev()
	}
	n.lastAddr = n.lastAddr.Next()
	n.hosts[host], n.names[n.lastAddr] = n.lastAddr, host
	return n.lastAddr
}

// LookupNetIP answers as [net.Resolver.LookupNetIP] does: with the address of a host that somebody listens or has listened at.
func (n *Network) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	if ip, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{ip}, nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if ip, ok := n.hosts[host]; ok {
		return []netip.Addr{ip}, nil
	}
	return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
}

// DialContext connects to the listener at addr, by its name or its address. Without one the connection is refused.
// It returns at once unless the listener's backlog is full. The connection is a *[Conn].
func (n *Network) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	l, client, server, err := n.connect(addr)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: network, Err: err}
	}
	select {
	case l.queue <- server:
		if l.closed() { // it may have been closed before it saw the connection
			l.drain()
		}
		return client, nil
	case <-l.done:
		err = os.NewSyscallError("connect", syscall.ECONNREFUSED)
	case <-ctx.Done():
		err = ctx.Err()
	}
	_ = client.Close()
	_ = server.Close()
	return nil, &net.OpError{Op: "dial", Net: network, Addr: l.addr, Err: err}
}

// connect makes the two ends of a connection to addr.
func (n *Network) connect(addr string) (*listener, *Conn, *Conn, error) {
	host, port, err := splitAddr(addr)
	if err != nil {
		return nil, nil, nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	l := n.listeners[net.JoinHostPort(host, strconv.Itoa(port))]
	if l == nil {
		if ip, err := netip.ParseAddr(host); err == nil {
			l = n.listeners[net.JoinHostPort(n.names[ip], strconv.Itoa(port))]
		}
	}
	if l == nil {
		return nil, nil, nil, os.NewSyscallError("connect", syscall.ECONNREFUSED)
	}
	from := netip.AddrFrom4([4]byte{127, 0, 0, 1})
	if l.addr.IP.To4() == nil {
		from = netip.IPv6Loopback()
	}
	client, server := Pipe()
	client.local = net.TCPAddrFromAddrPort(netip.AddrPortFrom(from, uint16(firstPort+n.dialled%(1<<16-firstPort))))
	client.remote, server.local, server.remote = l.addr, l.addr, client.local
	client.onClose = func() {
		n.mu.Lock()
		n.open--
		n.mu.Unlock()
	}
	n.dialled++
	n.open++
	return l, client, server, nil
}

// Open is the number of dialled connections that the dialling side has not closed.
func (n *Network) Open() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.open
}

// Dialled is the number of connections dialled so far.
func (n *Network) Dialled() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.dialled
}

// TB is what Serve needs of a [testing.TB].
type TB interface {
	Helper()
	Cleanup(func())
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
}

// Serve runs a net/http server with the handler at addr and closes it, with its connections, when the test ends.
func (n *Network) Serve(t TB, addr string, handler http.Handler) *http.Server {
	t.Helper()
	l, err := n.Listen(addr)
	if err != nil {
		t.Fatalf("memhttp: %v", err)
	}
	server := &http.Server{Handler: handler}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	t.Cleanup(func() {
		_ = server.Close()
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("memhttp: server at %s: %v", addr, err)
		}
	})
	return server
}

func splitAddr(addr string) (host string, port int, err error) {
	host, service, err := net.SplitHostPort(addr)
	if err != nil {
		return "", 0, err
	}
	p, err := strconv.ParseUint(service, 10, 16)
	if err != nil {
		return "", 0, &net.AddrError{Err: "port must be a number", Addr: addr}
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		host = ip.String()
	}
	return host, int(p), nil
}

type listener struct {
	network *Network
	key     string
	addr    *net.TCPAddr
	queue   chan *Conn
	done    chan struct{}
	once    sync.Once
}

func (l *listener) Accept() (net.Conn, error) {
	if !l.closed() {
		select {
		case c := <-l.queue:
			return c, nil
		case <-l.done:
		}
	}
	return nil, &net.OpError{Op: "accept", Net: "tcp", Addr: l.addr, Err: net.ErrClosed}
}

func (l *listener) Addr() net.Addr { return l.addr }

func (l *listener) Close() error {
	l.once.Do(func() {
		l.network.mu.Lock()
		delete(l.network.listeners, l.key)
		l.network.mu.Unlock()
		close(l.done)
		l.drain()
	})
	return nil
}

func (l *listener) closed() bool {
	select {
	case <-l.done:
		return true
	default:
		return false
	}
}

// drain resets what was dialled and never accepted.
func (l *listener) drain() {
	for {
		select {
		case c := <-l.queue:
			_ = c.Reset()
		default:
			return
		}
	}
}
