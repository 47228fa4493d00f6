package fetch

import (
	"context"
	"net/netip"

	"github.com/seine-go/seine/ratelimit"
)

// Gate is asked before every exchange: the first of a request, each redirect hop and each repetition. It waits until
// the host and the address may be visited.
//
// Enter returns soon after ctx ends. On success leave must be called exactly once, when the exchange is over; the
// Transport sees to that. host is host:port, without the port where it is the default of the scheme. addr is invalid
// where a proxy resolves the name.
type Gate interface {
	Enter(ctx context.Context, host string, addr netip.Addr) (leave func(ratelimit.Report), err error)
}
