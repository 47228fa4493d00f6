package fetch

import (
	"context"
	"net"
)

// trusting shakes hands with whoever answers.
type trusting struct{ *stdTLS }

func (h trusting) Handshake(ctx context.Context, conn net.Conn, to Target) (net.Conn, ConnInfo, error) {
	to.ServerName.Insecure = true
	return h.stdTLS.Handshake(ctx, conn, to)
}
