package fetch

import (
	"crypto/x509"
	"math"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/seine-go/seine/fetch/internal/h1"
	"github.com/seine-go/seine/fetch/internal/h2"
)

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
	used      bool      // it was given to an exchange, guarded by the pool
	gone      bool      // out of the pool, guarded by it
	idleSince time.Time // guarded by the pool
	node      node[*conn]

	// Of the exchange under way on HTTP/1, kept so that they are allocated once.
	req   h1.Request
	resp  h1.Response
	clock *time.Timer // ends an exchange that takes too long in all
}

// poolHost is what the pool knows of one key. It is there as long as it has connections or openings.
type poolHost struct {
	key  poolKey
	idle []*conn // HTTP/1, the most recently used last
	h2   []*conn
	open int // connections, and attempts to open one
	isH1 bool

	waiting list[*waiter] // for a place on a connection, or to be allowed to open one
	opening *opening      // one at a time
}

// pool holds the connections of a Transport.
type pool struct {
	maxIdle, maxIdlePerHost int
	maxH1, maxH2            int           // connections of a host, by what it speaks
	idleTimeout             time.Duration // 0: none

	mu     sync.Mutex
	closed bool
	hosts  map[poolKey]*poolHost
	idle   list[*conn] // without an exchange, the longest idle first
	timer  *time.Timer // runs while anything is idle
	open   int
	opened int64
}

func (p *pool) setup(t *Transport) {
	unbounded := func(n int) int {
		if n < 0 {
			return math.MaxInt
		}
		return n
	}
	p.maxIdle = unbounded(orDefault(t.MaxIdle, defaultMaxIdle))
	p.maxIdlePerHost = unbounded(orDefault(t.MaxIdlePerHost, defaultMaxIdlePerHost))
	p.maxH1 = unbounded(orDefault(t.MaxConnsPerHost, max(defaultMaxConnsH1, t.MaxIdlePerHost)))
	p.maxH2 = unbounded(orDefault(t.MaxConnsPerHost, defaultMaxConnsH2))
	p.idleTimeout = orNone(t.IdleTimeout, defaultIdleTimeout)
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

// take returns a connection that can serve one more exchange, and those that it found dead.
func (p *pool) take(h *poolHost, fresh bool) (c *conn, doomed []*conn) {
	for i := 0; i < len(h.h2); {
		c := h.h2[i]
		if (c.inFlight == 0 || c.h2.Said()) && c.h2.Reserve() { // more than one only when it is known how many may be
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
	switch n := len(h.idle); {
	case n == 0:
	case !fresh:
		c := h.idle[n-1]
		h.idle[n-1] = nil
		h.idle = h.idle[:n-1]
		p.idle.remove(&c.node)
		c.inFlight++
		return c, doomed
	case !p.room(h): // for one that nothing was asked over
		c := h.idle[0]
		p.drop(c)
		doomed = append(doomed, c)
	}
	return nil, doomed
}

// room reports whether a host may have another connection.
func (p *pool) room(h *poolHost) bool {
	if h.isH1 {
		return h.open < p.maxH1
	}
	return h.open < p.maxH2
}

// enter takes a new connection into the pool. It has no exchange yet.
func (p *pool) enter(h *poolHost, c *conn) {
	c.host = h
	c.node.value = c
	if c.h2 != nil {
		h.h2 = append(h.h2, c)
	} else {
		h.isH1 = true
	}
	p.open++
	p.opened++
}

// release ends an exchange on a connection, which is kept when it can serve another.
func (t *Transport) release(c *conn, keep bool) {
	p := &t.pool
	p.mu.Lock()
	doomed := p.park(c, keep)
	if c.host.waiting.len > 0 {
		doomed = append(doomed, t.serve(c.host)...)
	}
	p.mu.Unlock()
	closeAll(doomed)
}

// drop takes a connection without an exchange out of the pool; the caller closes it when it has let go of the lock.
func (p *pool) drop(c *conn) {
	if c.gone {
		return
	}
	c.gone = true
	p.idle.remove(&c.node)
	h := c.host
	if h.opening != nil && h.opening.c == c {
		h.opening = nil
	}
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

// forget takes a host out that has no connections and for which nobody waits.
func (p *pool) forget(h *poolHost) {
	if h.open == 0 && h.waiting.len == 0 && p.hosts[h.key] == h {
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
	for _, h := range p.hosts {
		if h.opening != nil && h.waiting.len == 0 {
			h.opening.cancel()
		}
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
