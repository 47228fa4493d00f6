// Package fetch gets resources over HTTP the way a crawler needs it: one exchange at a time with a deadline for each
// phase, limits on all that comes in, redirects that are checked hop by hop, and errors that tell the host's faults
// from the proxy's, the session's and the caller's.
//
//	var f fetch.Fetcher = &fetch.Transport{}
//	resp, err := f.Fetch(ctx, &fetch.Request{URL: "https://films.example/"})
//	if err != nil {
//		return err // *fetch.Error
//	}
//	fmt.Println(resp.Status, len(resp.Body), resp.Truncated)
//
// A status code is never an error of a Fetcher. The package does not cache, does not render and does not decide what
// to fetch.
package fetch

import "context"

// Fetcher gets the answer to a request.
//
// An implementation obeys these rules:
//
//  1. It returns a Response or an error, never both and never neither.
//  2. A status code is not an error. A body that is cut is a Response with Truncated set.
//  3. It is safe for concurrent use.
//  4. It does not change the request, nor keep it after it returns except as Response.Request.
//  5. It returns soon after ctx ends, with an error that wraps the cause of ctx.
//  6. Errors are *Error or wrap one.
//  7. The Response belongs to the caller: its body and headers are never reused.
type Fetcher interface {
	Fetch(ctx context.Context, req *Request) (*Response, error)
}

// FetcherFunc makes a Fetcher of a function.
type FetcherFunc func(ctx context.Context, req *Request) (*Response, error)

// Fetch calls f.
func (f FetcherFunc) Fetch(ctx context.Context, req *Request) (*Response, error) { return f(ctx, req) }

// Middleware wraps a Fetcher in another.
type Middleware func(Fetcher) Fetcher

// middleware makes a Middleware of what it does with a request. A nil request, and any for a nil Fetcher, is an error of kind
// ErrInvalid.
func middleware(op string, fetch func(ctx context.Context, next Fetcher, req *Request) (*Response, error)) Middleware {
	return func(next Fetcher) Fetcher {
		return FetcherFunc(func(ctx context.Context, req *Request) (*Response, error) {
			switch {
			case req == nil:
				return nil, &Error{Op: op, Kind: ErrInvalid, Err: errNilRequest}
			case next == nil:
				return nil, &Error{Op: op, URL: req.URL, Kind: ErrInvalid, Err: errNilFetcher}
			}
			return fetch(ctx, next, req)
		})
	}
}

// Chain wraps f in the middlewares, of which the first is the outermost. Nil middlewares are left out.
func Chain(f Fetcher, middlewares ...Middleware) Fetcher {
	for i := len(middlewares) - 1; i >= 0; i-- {
		if m := middlewares[i]; m != nil {
			f = m(f)
		}
	}
	return f
}
