package fetch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seine-go/seine/internal/weburl"
)

// DefaultTimeout is how long a fetch may take where TimeoutPolicy does not say.
const DefaultTimeout = 2 * time.Minute

// TimeoutPolicy says how long a fetch may take, redirects and all that stands inside of the middleware included.
type TimeoutPolicy struct {
	// Limit bounds each fetch. Zero means 2 minutes, negative no bound.
	Limit time.Duration
	// Factor, where it is greater than zero, bounds each fetch by so many times the 99th percentile of the latest 128
	// fetches from its host as well, from 20 of them on. Those that ran into it count with the time they had, so that a host
	// that has become slower is given more.
	Factor float64
	// Least is what Factor leaves a fetch at least. Zero means 1 second.
	Least time.Duration
}

// TimeoutError is the cause of an error of kind ErrTimeout that Timeout makes.
type TimeoutError struct {
	After  time.Duration
	Factor bool // it was TimeoutPolicy.Factor that set it
}

// Error tells the time.
func (e *TimeoutError) Error() string { return fmt.Sprintf("no answer within %v", e.After) }

// Timeout bounds how long a fetch takes. It belongs inside of what tries again, so that each try has its time. In an engine
// the time includes the wait for a redirect's host.
func Timeout(p TimeoutPolicy) Middleware {
	limit, least := orNone(p.Limit, DefaultTimeout), orDefault(p.Least, time.Second)
	var seen latencies
	return middleware("timeout", func(ctx context.Context, next Fetcher, req *Request) (*Response, error) {
		host, end := "", &TimeoutError{After: limit}
		if p.Factor > 0 {
			u, err := weburl.Parse(req.URL)
			if err != nil {
				return nil, &Error{Op: "parse", URL: req.URL, Kind: ErrInvalid, Err: err}
			}
			host = u.Host()
			if p99, ok := seen.quantile(host, 0.99); ok {
				own := max(time.Duration(float64(p99)*p.Factor), least)
				if limit == 0 || own < limit {
					end = &TimeoutError{own, true}
				}
			}
		}
		if end.After > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeoutCause(ctx, end.After, end)
			defer cancel()
		}
		start := time.Now()
		resp, err := next.Fetch(ctx, req)
		ours := err != nil && context.Cause(ctx) == error(end)
		if p.Factor > 0 && (err == nil || ours) {
			seen.add(host, time.Since(start))
		}
		var known *Error
		if ours && !(errors.As(err, &known) && known.Kind == ErrTimeout) {
			err = &Error{Op: "fetch", URL: req.URL, Kind: ErrTimeout, Err: end}
		}
		return resp, err
	})
}
