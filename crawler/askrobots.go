package crawler

import (
	"context"
	"errors"
	"time"

	"github.com/seine-go/seine/fetch"
	"github.com/seine-go/seine/fetch/robots"
)

// robotsError is what robots.txt says against a URL.
type robotsError struct {
	rule    string        // that forbids the URL
	err     error         // why robots.txt could not be had
	retryIn time.Duration // when it may say something else; 0 never
	outage  bool          // the host is there, but its robots.txt is not: a server error
}

func (e *robotsError) Error() string {
	if e.err != nil {
		return ErrRobotsDisallowed.Error() + ", which cannot be had: " + e.err.Error()
	}
	return ErrRobotsDisallowed.Error() + ": " + e.rule
}

func (e *robotsError) Unwrap() error { return e.err }

func (e *robotsError) Is(target error) bool { return target == ErrRobotsDisallowed }

// askRobots asks robots.txt, and tells the frontier of the host's crawl-delay.
func (v *visit) askRobots(ctx context.Context, url, host string) error {
	if v.e.robots == nil {
		return nil
	}
	d, err := v.e.robots.Check(ctx, url)
	if err != nil {
		var p *robots.PanicError
		if errors.As(err, &p) { // counted where it happened
			return &PanicError{Value: p.Value, Stack: p.Stack}
		}
		return err
	}
	if d.CrawlDelay > 0 {
		if err := v.keepDelay(ctx, host, max(d.CrawlDelay, v.e.cfg.Delay)); err != nil {
			return err
		}
	}
	if d.Err == nil {
		v.e.recovered(host)
	}
	if d.Allowed {
		return nil
	}
	var limited *limitedError
	if errors.As(d.Err, &limited) { // it was not asked for
		return &heldError{host, max(d.RetryIn, limited.in)}
	}
	var failure *fetch.Error
	if errors.As(d.Err, &failure) && !failure.Temporary() {
		return d.Err // the page would fare as robots.txt did, now and later
	}
	return &robotsError{rule: d.Rule.String(), err: d.Err, retryIn: d.RetryIn, outage: d.Status >= 500}
}

// robotsPatience is how long pages wait for a robots.txt that is answered with server errors; beyond it each such answer
// is a failed try.
const robotsPatience = time.Hour

// patient tells whether an outage of a host's robots.txt is still to be waited out.
func (e *Engine) patient(host string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	since, known := e.outages[host]
	if !known {
		if len(e.outages) >= maxDelays {
			clear(e.outages)
		}
		since = time.Now()
		e.outages[host] = since
	}
	return time.Since(since) < robotsPatience
}

func (e *Engine) recovered(host string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.outages, host)
}

// maxDelays bounds the crawl-delays that an engine remembers having told, and the outages it has seen; beyond it they are
// told again, and counted anew.
const maxDelays = 100_000

// counted is the fetch chain as it serves robots.txt: what does not return is counted. The cache makes an error of it.
type counted struct{ e *Engine }

// Fetch implements fetch.Fetcher.
func (c counted) Fetch(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
	returned := false
	defer func() {
		if !returned {
			c.e.count.panics.Add(1)
		}
	}()
	resp, err := c.e.fetcher.Fetch(ctx, req)
	returned = true
	return resp, err
}
