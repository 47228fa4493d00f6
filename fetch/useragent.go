package fetch

import "context"

// UserAgent gives requests that have none the User-Agent that choose returns for them; "" leaves it to the Transport, and
// so does a nil choose. It can
// stand anywhere in a chain. A crawler that obeys robots.txt asks by its Config.Agent, whatever is chosen here: what hosts
// read in one must be found in the other.
func UserAgent(choose func(req *Request) string) Middleware {
	return middleware("user agent", func(ctx context.Context, next Fetcher, req *Request) (*Response, error) {
		if _, there := headerValues(req.Header, "User-Agent"); there || choose == nil {
			return next.Fetch(ctx, req)
		}
		agent := choose(req)
		if agent == "" {
			return next.Fetch(ctx, req)
		}
		req = req.Clone()
		setHeader(req, "User-Agent", agent)
		return next.Fetch(ctx, req)
	})
}
