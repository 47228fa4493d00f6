package fetch

import "context"

// MaxBody bounds the decoded bodies of a chain in bytes; the stricter of it and Request.MaxBody counts. Zero means
// DefaultMaxBody, negative no bound of its own. What is longer is cut and marked, as by a Transport, also where another
// Fetcher has brought all of it. It belongs outside of everything that asks for other bodies than the caller's.
func MaxBody(bytes int64) Middleware {
	bytes = orDefault(bytes, DefaultMaxBody)
	return middleware("max body", func(ctx context.Context, next Fetcher, req *Request) (*Response, error) {
		if bytes < 0 {
			return next.Fetch(ctx, req)
		}
		limit := bytes
		if req.MaxBody > 0 {
			limit = min(limit, req.MaxBody)
		}
		if limit != req.MaxBody {
			req = req.Clone()
			req.MaxBody = limit
		}
		resp, err := next.Fetch(ctx, req)
		if err != nil || resp == nil || int64(len(resp.Body)) <= limit {
			return resp, err
		}
		cut := resp.CutBody(&Error{Op: "read body", URL: resp.URL, Kind: ErrBodyLimit})
		cut.Body = resp.Body[:limit:limit]
		return cut, nil
	})
}
