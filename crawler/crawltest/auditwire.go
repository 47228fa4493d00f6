package crawltest

import (
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
)

// ConnAudit counts the connections that were accepted at an address.
type ConnAudit struct {
	Opened  int64 // so far
	Open    int   // now
	MaxOpen int   // at a time
	Unused  int64 // of those that have ended: no byte came over them
}

// Listener returns a listener that accepts what l does and keeps account of the connections themselves: those that a
// Handler never sees too, because no request came over them. They are counted under the address of l as it writes
// itself. What comes over a connection is not looked at: l may speak TLS, or anything else.
func (a *Auditor) Listener(l net.Listener) net.Listener {
	return &auditListener{Listener: l, a: a, name: l.Addr().String()}
}

type auditListener struct {
	net.Listener
	a    *Auditor
	name string
}

// Accept waits for the next connection.
func (l *auditListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	l.a.mu.Lock()
	defer l.a.mu.Unlock()
	if l.a.conns == nil {
		l.a.conns = map[string]*ConnAudit{}
	}
	c := l.a.conns[l.name]
	if c == nil {
		c = new(ConnAudit)
		l.a.conns[l.name] = c
	}
	c.Opened++
	c.Open++
	c.MaxOpen = max(c.MaxOpen, c.Open)
	return &auditConn{Conn: conn, a: l.a, c: c}, nil
}

type auditConn struct {
	net.Conn
	a    *Auditor
	c    *ConnAudit
	used atomic.Bool
	once sync.Once
}

// Read notes that something came.
func (c *auditConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.used.Store(true)
	}
	return n, err
}

// Close counts the connection off.
func (c *auditConn) Close() error {
	c.once.Do(func() {
		c.a.mu.Lock()
		defer c.a.mu.Unlock()
		if c.c.Open--; !c.used.Load() {
			c.c.Unused++
		}
	})
	return c.Conn.Close()
}

// contentLength is the length that a header promises.
func contentLength(h http.Header) (int64, bool) {
	n, err := strconv.ParseInt(h.Get("Content-Length"), 10, 64)
	return n, err == nil && n >= 0
}
