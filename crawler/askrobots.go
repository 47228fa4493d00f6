package crawler

import (
	"context"
	"errors"
	"time"

	"github.com/seine-go/seine/fetch"
	"github.com/seine-go/seine/fetch/robots"
	"github.com/seine-go/seine/internal/weburl"
)

// robotsError is a line of robots.txt against a URL.
type robotsError struct{ rule string }

func (e *robotsError) Error() string { return ErrRobotsDisallowed.Error() + ": " + e.rule }

func (e *robotsError) Is(target error) bool { return target == ErrRobotsDisallowed }

// RobotsError says that a page was not asked for because the robots.txt of its host cannot be had: the host did not
// answer, or with a server error, which forbids everything for as long as it lasts (RFC 9309 2.3.1.4). errors.Is finds
// ErrRobotsUnavailable in it. Such a page has failed, and can be driven again by a DeadLister.
type RobotsError struct {
	Host string
	For  time.Duration // since that was first seen in the run
	Err  error         // what came of asking for it last

	retryIn time.Duration // until it is asked for again
	waits   bool          // the page is to wait for that
}

// Error names the host.
func (e *RobotsError) Error() string {
	s := ErrRobotsUnavailable.Error() + ": " + weburl.Redact(e.Host)
	if e.For > 0 {
		s += " for " + e.For.Round(time.Second).String()
	}
	return s + ": " + e.Err.Error()
}

// Unwrap returns what came of asking for it.
func (e *RobotsError) Unwrap() error { return e.Err }

// Is reports whether target is ErrRobotsUnavailable.
func (e *RobotsError) Is(target error) bool { return target == ErrRobotsUnavailable }

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
	if d.Err == nil || d.Allowed {
		v.r.outages.over(v.e.log, outageOf{"robots.txt", host})
	}
	if d.Allowed {
		return nil
	}
	if d.Err == nil || d.Source != robots.SourceDisallowAll { // rules from before go on in an outage
		return &robotsError{rule: d.Rule.String()}
	}
	var limited *limitedError
	if errors.As(d.Err, &limited) { // it was not asked for
		return &heldError{host, max(d.RetryIn, limited.in)}
	}
	var failure *fetch.Error
	if errors.As(d.Err, &failure) && !failure.Temporary() {
		return d.Err // the page would fare as robots.txt did, now and later
	}
	lasts, waits := v.r.outages.at(v.e.log, outageOf{"robots.txt", host}, v.e.cfg.RobotsPatience, d.RetryIn, d.Err)
	return &RobotsError{Host: host, For: lasts, Err: d.Err, retryIn: d.RetryIn, waits: waits}
}

// How long pages wait for a robots.txt that cannot be had. It is asked for again after 5, 10, 20 and 40 seconds, then
// later and later.
const (
	DefaultRobotsPatience = 2 * time.Minute
	robotsRetry           = 5 * time.Second
)

// maxDelays bounds the crawl-delays that an engine remembers having told, and the outages of a run; beyond it they are
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
