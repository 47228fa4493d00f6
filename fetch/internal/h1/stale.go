package h1

import (
	"net"
	"syscall"
	"time"
)

// probe looks at an idle connection without taking anything from it. Go's sockets have no call for that, and a
// goroutine that reads while nothing is asked for would cost every connection a stack.
type probe struct {
	found   bool
	wrapped bool // something lies between us and the socket: what waits there need not be for us
	raw     syscall.RawConn
	pending interface{ Pending() bool }
	look    func(fd uintptr) bool // bound once
	waiting bool                  // what look saw
	one     [1]byte
}

// find looks for the socket under a connection.
func (p *probe) find(nc net.Conn) {
	if p.found {
		return
	}
	p.found = true
	for range maxLayers {
		switch layer := nc.(type) {
		case interface{ Pending() bool }: // a connection in memory
			p.pending = layer
			return
		case syscall.Conn:
			if raw, err := layer.SyscallConn(); err == nil {
				p.raw, p.look = raw, p.peek
			}
			return
		case interface{ NetConn() net.Conn }:
			p.wrapped, nc = true, layer.NetConn()
		default:
			p.wrapped = true
			return
		}
	}
}

// plain reports whether what a Write counts is exactly what the kernel has taken.
func (p *probe) plain(nc net.Conn) bool {
	p.find(nc)
	return !p.wrapped
}

// waits reports whether a read from the socket would not wait.
func (p *probe) waits() bool {
	if p.pending != nil {
		return p.pending.Pending()
	}
	p.waiting = false
	if p.raw != nil && p.raw.Read(p.look) != nil {
		return true
	}
	return p.waiting
}

// stale reports whether an idle connection has ended or sent something that belongs to no response. A layer such as TLS
// may hold bytes of its own that are nobody's business: there it is read through.
func (c *Conn) stale() bool {
	p := &c.probe
	p.find(c.nc)
	waits := p.waits()
	if !p.wrapped {
		return waits
	}
	due := past
	if waits {
		due = time.Now().Add(staleRead) // long enough for a busy machine: what waits is there at once
	}
	c.arm(due)
	n, err := c.nc.Read(p.one[:])
	return n > 0 || err != nil && !isTimeout(err)
}

// Bottom returns the connection under all wrappers that tell what they wrap.
func Bottom(nc net.Conn) net.Conn {
	for range maxLayers {
		layer, ok := nc.(interface{ NetConn() net.Conn })
		if !ok || layer.NetConn() == nil {
			break
		}
		nc = layer.NetConn()
	}
	return nc
}
