package fetch

import (
	"context"
	"errors"

	"github.com/seine-go/seine/internal/weburl"
	"github.com/seine-go/seine/ratelimit"
)

// Limit waits for a permit of l before each fetch; the key is the host, with its port where that is not the default of
// the scheme. If l is a ratelimit.ByteBooker, such as ratelimit.Traffic, the bytes of each body are booked when it has
// come, and the next fetch of the host waits for them too.
//
// It belongs innermost, before the Transport, so that what a cache answers costs nothing and each retry waits. Redirects
// that the Transport follows are not seen here: a Gate of the Transport sees each of them. A permit that cannot be had
// is an *Error of kind ErrTimeout, which wraps the *ratelimit.WaitError; the end of ctx is told as everywhere.
func Limit(l ratelimit.Limiter) Middleware {
	bytes, _ := l.(ratelimit.ByteBooker)
	return middleware("limit", func(ctx context.Context, next Fetcher, req *Request) (*Response, error) {
		if l == nil {
			return nil, &Error{Op: "limit", URL: req.URL, Kind: ErrInvalid, Err: errNilLimiter}
		}
		u, err := weburl.Parse(req.URL)
		if err != nil {
			return nil, &Error{Op: "parse", URL: req.URL, Kind: ErrInvalid, Err: err}
		}
		host := u.Host()
		if err := l.Wait(ctx, host, 1); err != nil {
			return nil, limitError(ctx, req.URL, err)
		}
		resp, err := next.Fetch(ctx, req)
		if bytes == nil || err != nil || resp == nil || resp.RawSize <= 0 {
			return resp, err
		}
		// The answer is there. That its bytes could not be booked is no reason to lose it.
		_ = bytes.BookBytes(context.WithoutCancel(ctx), host, int(min(resp.RawSize, maxBooked)))
		return resp, nil
	})
}

// maxBooked bounds what one body costs, in bytes, where an int is short.
const maxBooked = 1<<31 - 1

var errNilLimiter = errors.New("the Limiter is nil")

func limitError(ctx context.Context, url string, err error) *Error {
	var late *ratelimit.WaitError
	e := &Error{Op: "limit", URL: url, Kind: KindOf(err), Err: err}
	switch {
	case ctx.Err() != nil:
		e = contextError(ctx, "limit")
		e.URL = url
	case errors.As(err, &late):
		e.Kind = ErrTimeout
	}
	return e
}
