package crawltest

import (
	"bufio"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// Bounds of a Hostile server.
const (
	DefaultHostileConns = 1024
	DefaultBomb         = 256 << 20   // decoded bytes
	maxHostileHead      = 256 << 10   // of a request
	maxHostileBody      = 1 << 20     // of a request
	hostileIdle         = time.Minute // without a request
)

// Behaviour is one thing that a Hostile server does.
type Behaviour struct {
	Name string
	Doc  string // what the server does
	TLS  bool   // it is one of the handshake, and has a port of its own
}

type behaviour struct {
	Behaviour
	serve func(*reply)                      // answers a request; nil for a behaviour of the handshake
	shake func(*Hostile, net.Conn) net.Conn // makes what is then served on; nil ends the connection
}

// allBehaviours lists what a Hostile server can do.
func allBehaviours() []behaviour {
	return slices.Concat(slowBehaviours, headBehaviours, frameBehaviours, codingBehaviours(), charsetBehaviours(), redirectBehaviours,
		busyBehaviours, robotsBehaviours, pageBehaviours, trapBehaviours, tlsBehaviours, http2Behaviours)
}

// Behaviours lists what a Hostile server can do.
func Behaviours() []Behaviour {
	all := allBehaviours()
	out := make([]Behaviour, len(all))
	for i, b := range all {
		out[i] = b.Behaviour
	}
	return out
}

// HostileOptions say how a Hostile server behaves. The zero value is a good default.
type HostileOptions struct {
	// Robots is the Name of a behaviour by which /robots.txt is answered. Empty means 404.
	Robots string
	// Hosts are names that the certificates are made for, beside loopback addresses and localhost.
	Hosts []string
	// Elsewhere is the base URL of another origin, to which redirect-origin leads. Empty means the server itself, as
	// localhost, and is known only of a server that was started by Start.
	Elsewhere string
	// Interval is the time between two bytes of what drips. Zero means 1 s; negative none.
	Interval time.Duration
	// Bomb is the size of decompression bombs in decoded bytes. Zero means DefaultBomb.
	Bomb int64
	// MaxConns bounds the connections that are served at a time; others are closed. Zero means DefaultHostileConns.
	MaxConns int
}

// Hostile is a server that does to a client what servers of the web do by accident or on purpose: one behaviour for each
// path.
//
//	server, err := crawltest.NewHostile(crawltest.HostileOptions{})
//	if err != nil { … }
//	if err := server.Start(); err != nil { … }
//	defer server.Close()
//	resp, err := client.Get(server.URL("bomb-gzip"))
//
// /NAME has the behaviour, and so has all below it; Behaviours lists the names. A query n=NUMBER changes how many bytes,
// lines, links or answers there are, where a behaviour has such a number. / is a page of links to all that are not of
// the handshake, /echo shows the request, and other paths are 404.
//
// The server writes what it has to piece by piece: its memory does not grow with what it sends. It speaks HTTP/1.1, and
// HTTP/2 where the name of a behaviour says so. Nothing of it is meant for hosts that can be reached from elsewhere. Its
// methods are safe for concurrent use.
type Hostile struct {
	o          HostileOptions
	behaviours map[string]behaviour
	names      []string
	stop       chan struct{}
	group      sync.WaitGroup
	certs      certificates

	mu        sync.Mutex
	closed    bool
	base      string // of the listener of Start
	listeners []net.Listener
	tlsBases  map[string]string // by behaviour
	conns     map[net.Conn]struct{}
	visits    map[string]int64
	stats     HostileStats
}

// HostileStats counts what a Hostile server has done.
type HostileStats struct {
	Open      int   // connections, now
	Accepted  int64 // connections so far
	Refused   int64 // of those, closed because there were too many
	Exchanges int64 // requests read
}

// NewHostile returns a server that does not listen yet. The error names an option that cannot be.
func NewHostile(o HostileOptions) (*Hostile, error) {
	h := &Hostile{
		o: o, behaviours: map[string]behaviour{}, stop: make(chan struct{}), tlsBases: map[string]string{},
		conns: map[net.Conn]struct{}{}, visits: map[string]int64{},
	}
	h.certs.hosts = o.Hosts
	for _, b := range allBehaviours() {
		h.behaviours[b.Name] = b
		h.names = append(h.names, b.Name)
	}
	if b, ok := h.behaviours[o.Robots]; o.Robots != "" && (!ok || b.TLS) {
		return nil, fmt.Errorf("seine: hostile: no behaviour of a page is named %q", o.Robots)
	}
	if h.o.Interval == 0 {
		h.o.Interval = time.Second
	}
	if h.o.Bomb <= 0 {
		h.o.Bomb = DefaultBomb
	}
	if h.o.MaxConns <= 0 {
		h.o.MaxConns = DefaultHostileConns
	}
	return h, nil
}

// errHostileClosed is the error of a server that was closed.
var errHostileClosed = errors.New("seine: hostile: the server is closed")

// Start listens on a port of 127.0.0.1 and serves there until Close.
func (h *Hostile) Start() error {
	l, err := h.listen()
	if err != nil {
		return err
	}
	h.mu.Lock()
	h.base = "http://" + l.Addr().String()
	if h.o.Elsewhere == "" {
		_, port, _ := net.SplitHostPort(l.Addr().String())
		h.o.Elsewhere = "http://localhost:" + port
	}
	h.mu.Unlock()
	h.background(func() { _ = h.Serve(l) })
	return nil
}

func (h *Hostile) listen() (net.Listener, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("seine: hostile: %w", err)
	}
	return l, nil
}

// background runs f, for which Close waits.
func (h *Hostile) background(f func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.closed {
		h.group.Go(f)
	}
}

// URL returns the URL of a behaviour on a server that was started by Start. For one of the handshake a port is opened
// when it is first asked for. It is "" for a name that no behaviour has, and when there can be no port.
func (h *Hostile) URL(name string) string {
	b, ok := h.behaviours[name]
	if !ok && name != "" && name != "echo" {
		return ""
	}
	h.mu.Lock()
	base := h.base
	if b.TLS {
		base = h.tlsBases[name]
	}
	h.mu.Unlock()
	switch {
	case !b.TLS:
		return base + "/" + name
	case base != "":
		return base + "/"
	}
	l, err := h.listen()
	if err != nil {
		return ""
	}
	base = "https://" + l.Addr().String()
	h.mu.Lock()
	h.tlsBases[name] = base
	h.mu.Unlock()
	h.background(func() { _ = h.ServeTLS(l, name) })
	return base + "/"
}

// RootCAs holds the authority by which the certificates are issued, but for the self-signed one.
func (h *Hostile) RootCAs() (*x509.CertPool, error) { return h.certs.pool() }

// Serve serves the connections of a listener until Close, which closes it.
func (h *Hostile) Serve(l net.Listener) error {
	return h.accept(l, func(conn net.Conn) { h.requests(conn) })
}

// ServeTLS is Serve with a handshake as the named behaviour says. Every path is served behind it.
func (h *Hostile) ServeTLS(l net.Listener, name string) error {
	b, ok := h.behaviours[name]
	if !ok || !b.TLS {
		return fmt.Errorf("seine: hostile: no behaviour of the handshake is named %q", name)
	}
	if err := h.certs.make(); err != nil {
		return err
	}
	return h.accept(l, func(conn net.Conn) {
		if inner := b.shake(h, conn); inner != nil {
			h.requests(inner)
			_ = inner.Close()
		}
	})
}

func (h *Hostile) accept(l net.Listener, serve func(net.Conn)) error {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		_ = l.Close()
		return errHostileClosed
	}
	h.listeners = append(h.listeners, l)
	h.mu.Unlock()
	for {
		conn, err := l.Accept()
		if err != nil {
			select {
			case <-h.stop:
				return errHostileClosed
			default:
				return fmt.Errorf("seine: hostile: %w", err)
			}
		}
		if !h.enter(conn) {
			_ = conn.Close()
			continue
		}
		h.group.Go(func() {
			defer h.leave(conn)
			serve(conn)
		})
	}
}

// enter takes a connection in, or not when there are too many.
func (h *Hostile) enter(conn net.Conn) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stats.Accepted++
	if h.closed || len(h.conns) >= h.o.MaxConns {
		h.stats.Refused++
		return false
	}
	h.conns[conn] = struct{}{}
	return true
}

func (h *Hostile) leave(conn net.Conn) {
	_ = conn.Close()
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.conns, conn)
}

// Stats returns the counts of this moment.
func (h *Hostile) Stats() HostileStats {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.stats
	s.Open = len(h.conns)
	return s
}

// Close closes listeners and connections, and returns when nothing is served any more.
func (h *Hostile) Close() error {
	h.mu.Lock()
	if !h.closed {
		h.closed = true
		close(h.stop)
	}
	for _, l := range h.listeners {
		_ = l.Close()
	}
	for conn := range h.conns {
		_ = conn.Close()
	}
	h.mu.Unlock()
	h.group.Wait()
	return nil
}

// requests serves one request after the other.
func (h *Hostile) requests(conn net.Conn) {
	in := bufio.NewReader(conn)
	for {
		_ = conn.SetReadDeadline(time.Now().Add(hostileIdle))
		r := &reply{h: h, conn: conn, in: in}
		if !r.read() {
			return
		}
		_ = conn.SetReadDeadline(time.Time{})
		h.answer(r)
		if r.closeNext {
			_, _ = in.Peek(1) // the next request is about to be sent
			return
		}
		if !r.keep {
			return
		}
	}
}

// answer has the behaviour of the path answer.
func (h *Hostile) answer(r *reply) {
	name, _, _ := strings.Cut(strings.TrimPrefix(r.url.Path, "/"), "/")
	name, _, _ = strings.Cut(name, ";")
	if name == "robots.txt" {
		name = h.o.Robots
		if name == "" {
			name = "404"
		}
	}
	b, ok := h.behaviours[name]
	h.mu.Lock()
	h.stats.Exchanges++
	if ok {
		r.visit = h.visits[name]
		h.visits[name]++
	}
	h.mu.Unlock()
	switch {
	case ok && !b.TLS:
		b.serve(r)
	case name == "" || ok: // the one place of a port with a handshake of its own
		h.index(r)
	case name == "echo":
		r.page("text/plain", r.head)
	default:
		r.whole("404 Not Found", "", "text/plain", "nothing here\n")
	}
}

// index is a page of links to all behaviours.
func (h *Hostile) index(r *reply) {
	var b strings.Builder
	b.WriteString("<!doctype html><title>hostile</title>\n<ul>\n")
	for _, name := range h.names {
		if x := h.behaviours[name]; !x.TLS {
			fmt.Fprintf(&b, "<li><a href=\"/%s\">%s</a>: %s\n", name, name, x.Doc)
		}
	}
	r.page("text/html", b.String())
}

// parseTarget is the target of a request as a URL, whatever it is.
func parseTarget(target string) *url.URL {
	u, err := url.ParseRequestURI(target)
	if err != nil {
		path, query, _ := strings.Cut(target, "?")
		u = &url.URL{Path: path, RawQuery: query}
	}
	return u
}
