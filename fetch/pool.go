package fetch

import (
	"context"
	"crypto/x509"
	"errors"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/seine-go/seine/fetch/internal/h1"
	"github.com/seine-go/seine/fetch/internal/h2"
)

var errClosed = errors.New("the transport is closed")

// poolKey is what two requests must have in common to share connections: where they lead, the proxies with their
// credentials, and every name. The session of a Route is no part of it, and the ALPN policy is one for a Transport.
type poolKey struct {
	tls        bool
	host, port string // of the URL
	proxy      string
	names      serverNames
	onlyH1     bool // the host wants to be spoken to in HTTP/1.1
}

// serverNames is a ServerName that can be compared.
type serverNames struct {
	dial, sni, verify, ech string
	omitSNI, insecure      bool
	roots                  *x509.CertPool
}

// key returns the pool key of a route to a host.
func (r *Route) key(scheme, host, port string) poolKey {
	n := &r.ServerName
	return poolKey{
		tls: scheme == "https", host: host, port: port, proxy: r.Proxy.Key(),
		names: serverNames{n.Dial, n.SNI, n.Verify, string(n.ECH), n.OmitSNI, n.Insecure, n.RootCAs},
	}
}

// conn is a connection with what the pool and an exchange need of it.
type conn struct {
	nc   net.Conn
	h1   *h1.Conn // nil for HTTP/2
	h2   *h2.Conn // nil for HTTP/1
	host *poolHost

	addr netip.AddrPort
	sni  string
	info ConnInfo
	took struct{ dns, connect, tls time.Duration }

	inFlight  int       // exchanges, guarded by the pool
	idleSince time.Time // guarded by the pool
	node      node[*conn]

	// Of the exchange under way on HTTP/1, kept so that they are allocated once.
	req   h1.Request
	resp  h1.Response
	clock *time.Timer // ends an exchange that takes too long in all
}

// poolHost is what the pool knows of one key. It is there as long as it has connections or handshakes.
type poolHost struct {
	key   poolKey
	idle  []*conn // HTTP/1, the most recently used last
	h2    []*conn
	open  int // connections, and attempts to open one
	isH1  bool
	first *handshake // under way while it is not known that the host speaks HTTP/1
}

// handshake is one attempt to connect that others wait for, since it may bring an HTTP/2 connection for all of them.
type handshake struct {
	done chan struct{}
	err  *Error // nil too when the context of the one who tried has ended: then another tries
}

// pool holds the connections of a Transport.
type pool struct {
	maxIdle, maxIdlePerHost int
	idleTimeout             time.Duration // 0: none

	mu     sync.Mutex
	closed bool
	hosts  map[poolKey]*poolHost
	idle   list[*conn] // without an exchange, the longest idle first
	timer  *time.Timer // runs while anything is idle
	open   int
	opened int64
}

func (p *pool) setup(maxIdle, maxIdlePerHost int, idleTimeout time.Duration) {
	p.maxIdle, p.maxIdlePerHost, p.idleTimeout = max(maxIdle, 0), max(maxIdlePerHost, 0), idleTimeout
	if maxIdle < 0 {
		p.maxIdle = int(^uint(0) >> 1)
	}
	if maxIdlePerHost < 0 {
		p.maxIdlePerHost = int(^uint(0) >> 1)
	}
	p.hosts = map[poolKey]*poolHost{}
}

// PoolStats counts the connections of a Transport.
type PoolStats struct {
	Open   int   // now
	Idle   int   // of those, without an exchange
	Opened int64 // so far
}

// Stats returns the counts of one moment.
func (t *Transport) Stats() PoolStats {
	p := &t.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	return PoolStats{Open: p.open, Idle: p.idle.len, Opened: p.opened}
}

// acquire returns a connection for the hop: an idle one, a shared one, or a new one; only a new or shared one when fresh is set.
func (t *Transport) acquire(f *flight, fresh bool) (c *conn, reused bool, err *Error) {
	key := f.route.key(f.url.Scheme(), f.url.Hostname(), f.url.PortOrDefault())
	p := &t.pool
	for {
		p.mu.Lock()
		if p.closed {
			p.mu.Unlock()
			return nil, false, &Error{Op: "connect", Kind: ErrInvalid, Err: errClosed}
		}
		key.onlyH1 = f.onlyH1
		if key.tls && !key.onlyH1 { // an earlier exchange may have learnt it
			key.onlyH1 = true
			_, key.onlyH1 = p.hosts[key]
			f.onlyH1 = key.onlyH1
		}
		h := p.hosts[key]
		if h == nil {
			h = &poolHost{key: key, isH1: !key.tls || t.DisableHTTP2 || key.onlyH1}
			p.hosts[key] = h
		}
		c, doomed := p.take(h, fresh)
		if c != nil {
			p.mu.Unlock()
			closeAll(doomed)
			return c, true, nil
		}
		if first := h.first; first != nil {
			p.mu.Unlock()
			closeAll(doomed)
			select {
			case <-first.done:
			case <-f.ctx.Done():
				return nil, false, contextError(f.ctx, "connect")
			}
			if first.err != nil {
				e := *first.err
				return nil, false, &e
			}
			continue
		}
		var first *handshake
		if !h.isH1 {
			first = &handshake{done: make(chan struct{})}
			h.first = first
		}
		h.open++
		p.mu.Unlock()
		closeAll(doomed)
		return t.connectFor(f, h, first)
	}
}

// connectFor connects and enters the outcome, also that the caller's own code panicked.
func (t *Transport) connectFor(f *flight, h *poolHost, first *handshake) (*conn, bool, *Error) {
	entered := false
	defer func() {
		if !entered {
			t.pool.enterConn(f.ctx, h, first, nil, &Error{Op: "connect", Kind: ErrConnect, Err: errPanicked})
		}
	}()
	c, err := t.connect(f)
	entered = true
	return t.pool.enterConn(f.ctx, h, first, c, err)
}

var errPanicked = errors.New("the function that connects panicked")

// take returns a connection that can serve one more exchange, and those that it found dead.
func (p *pool) take(h *poolHost, fresh bool) (c *conn, doomed []*conn) {
	for i := 0; i < len(h.h2); {
		c := h.h2[i]
		if c.h2.Reserve() {
			p.idle.remove(&c.node)
			c.inFlight++
			return c, doomed
		}
		if c.inFlight == 0 {
			p.drop(c)
			doomed = append(doomed, c)
			continue
		}
		i++
	}
	if n := len(h.idle); n > 0 && !fresh {
		c := h.idle[n-1]
		h.idle[n-1] = nil
		h.idle = h.idle[:n-1]
		p.idle.remove(&c.node)
		c.inFlight++
		return c, doomed
	}
	return nil, doomed
}

// enterConn enters the outcome of an attempt to connect and wakes those who wait for it.
func (p *pool) enterConn(ctx context.Context, h *poolHost, first *handshake, c *conn, err *Error) (*conn, bool, *Error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if first != nil {
		h.first = nil
		if err != nil && ctx.Err() == nil {
			e := *err
			first.err = &e
		}
		close(first.done)
	}
	if err != nil {
		h.open--
		p.forget(h)
		return nil, false, err
	}
	c.host, c.inFlight = h, 1
	c.node.value = c
	if c.h2 != nil {
		h.h2 = append(h.h2, c)
	} else {
		h.isH1 = true
	}
	p.open++
	p.opened++
	return c, false, nil
}

// release ends an exchange on a connection, which is kept when it can serve another.
func (p *pool) release(c *conn, keep bool) {
	p.mu.Lock()
	c.inFlight--
	var doomed []*conn
	switch h := c.host; {
	case c.inFlight > 0: // HTTP/2: take finds out whether it is still of use
		p.mu.Unlock()
		return
	case c.h2 != nil && !c.h2.Usable():
		keep = false
	case c.h1 != nil && len(h.idle) >= p.maxIdlePerHost:
		keep = false
	}
	if !keep || p.closed || p.maxIdle == 0 {
		p.drop(c)
		doomed = append(doomed, c)
	} else {
		if c.h1 != nil {
			c.host.idle = append(c.host.idle, c)
		}
		c.idleSince = time.Now()
		p.idle.pushBack(&c.node)
		if p.idle.len > p.maxIdle {
			oldest := p.idle.front()
			p.drop(oldest)
			doomed = append(doomed, oldest)
		}
		p.arm()
	}
	p.mu.Unlock()
	closeAll(doomed)
}

// ended takes an HTTP/2 connection that can serve no more out of the pool, unless an exchange is under way on it: then the
// last one does.
func (p *pool) ended(c *conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.host != nil && c.inFlight == 0 && slices.Contains(c.host.h2, c) {
		p.drop(c)
	}
}

// drop takes a connection without an exchange out of the pool; the caller closes it when it has let go of the lock.
func (p *pool) drop(c *conn) {
	p.idle.remove(&c.node)
	h := c.host
	h.idle = without(h.idle, c)
	h.h2 = without(h.h2, c)
	h.open--
	p.open--
	p.forget(h)
}

func without(list []*conn, c *conn) []*conn {
	for i := len(list) - 1; i >= 0; i-- {
		if list[i] == c {
			copy(list[i:], list[i+1:])
			list[len(list)-1] = nil
			return list[:len(list)-1]
		}
	}
	return list
}

// forget takes a host without connections out.
func (p *pool) forget(h *poolHost) {
	if h.open == 0 && p.hosts[h.key] == h {
		delete(p.hosts, h.key)
	}
}

// arm starts the timer for the connection that is idle for the longest, unless it runs.
func (p *pool) arm() {
	if p.timer == nil && p.idleTimeout > 0 && p.idle.len > 0 {
		p.timer = time.AfterFunc(time.Until(p.idle.front().idleSince.Add(p.idleTimeout)), p.sweep)
	}
}

// sweep closes what has been idle for too long.
func (p *pool) sweep() {
	p.mu.Lock()
	p.timer = nil
	var doomed []*conn
	for limit := time.Now().Add(-p.idleTimeout); p.idle.len > 0 && !p.idle.front().idleSince.After(limit); {
		c := p.idle.front()
		p.drop(c)
		doomed = append(doomed, c)
	}
	if !p.closed {
		p.arm()
	}
	p.mu.Unlock()
	closeAll(doomed)
}

// CloseIdleConnections closes the kept connections that have no exchange. The Transport remains in use.
func (t *Transport) CloseIdleConnections() {
	t.once.Do(t.setup)
	t.pool.closeIdle(false)
}

func (p *pool) closeIdle(forGood bool) {
	p.mu.Lock()
	p.closed = p.closed || forGood
	if p.timer != nil {
		p.timer.Stop()
		p.timer = nil
	}
	var doomed []*conn
	for p.idle.len > 0 {
		c := p.idle.front()
		p.drop(c)
		doomed = append(doomed, c)
	}
	p.mu.Unlock()
	closeAll(doomed)
}

func closeAll(conns []*conn) {
	for _, c := range conns {
		c.close()
	}
}

func (c *conn) close() {
	if c.h2 != nil {
		c.h2.Close()
	} else {
		c.h1.Close()
	}
}
