package h1

import (
	"context"
	"errors"
	"net"
)

// Conn is one connection to a server or a proxy. All its methods but Abort belong to one goroutine at a time.
type Conn struct {
	nc   net.Conn
	body Body
}

// NewConn takes over a connection that is ready to carry requests.
func NewConn(nc net.Conn, l Limits, t Timeouts) *Conn { return &Conn{nc: nc} }

// Do writes a request and reads the head of its response.
func (c *Conn) Do(ctx context.Context, r *Request, into *Response) error {
	return errors.ErrUnsupported
}

// Body returns the body of the current response.
func (c *Conn) Body() *Body { return &c.body }

// Reusable reports whether another exchange may follow on the connection.
func (c *Conn) Reusable() bool { return false }

// Close closes the connection.
func (c *Conn) Close() error { return c.nc.Close() }

// Abort ends the exchange from any goroutine.
func (c *Conn) Abort() error { return c.nc.Close() }

// Body is the body of the current response.
type Body struct{}

// Read reads the body.
func (b *Body) Read(p []byte) (int, error) { return 0, errors.ErrUnsupported }
