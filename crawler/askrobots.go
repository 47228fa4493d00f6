package crawler

import (
	"context"
	"errors"
	"maps"
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

// keepDelay has the host's crawl-delay kept: by the frontier, or, where that has no room for the pace of one more host,
// by leaving the host alone for so long after each page.
func (v *visit) keepDelay(ctx context.Context, host string, d time.Duration) error {
	if host == v.host && !v.first() {
		return &heldError{host, d}
	}
	err := v.e.setCrawlDelay(ctx, host, d)
	if !errors.Is(err, ErrFull) {
		return err
	}
	if !v.r.claimRest(v, host, d) {
		return &heldError{host, d}
	}
	if host == v.host && !v.hasBegun() {
		return nil // the visit before has seen to it
	}
	return v.block(ctx, host, d) // for the page, which follows robots.txt
}

// first reports whether the visit is the one of its host that goes on, of several that were leased before the host was
// known to want a delay: the one that has asked it for something, else the first.
func (v *visit) first() bool {
	if v.e.cfg.PerHost == 1 {
		return true
	}
	v.r.mu.Lock()
	defer v.r.mu.Unlock()
	begun := v.hasBegun()
	for other := range v.r.held {
		if other == v || other.host != v.host {
			continue
		}
		if theirs := other.hasBegun(); theirs && !begun || theirs == begun && other.lease.Epoch < v.lease.Epoch {
			return false
		}
	}
	return true
}

// hasBegun reports whether the visit has had an exchange with its host, or has one.
func (v *visit) hasBegun() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.begun > 0
}

// heldError says that a page waits until another one of its host is done.
type heldError struct {
	host string
	in   time.Duration
}

// Error names the host.
func (e *heldError) Error() string {
	return "seine: " + e.host + " is being visited, and wants a delay"
}

// claimRest notes that a visit keeps the delay of a host by itself, unless another one of the host does.
func (r *run) claimRest(v *visit, host string, d time.Duration) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for other := range r.held {
		if other != v && other.rests[host] > 0 {
			return false
		}
	}
	if v.rests == nil {
		v.rests = map[string]time.Duration{}
	}
	v.rests[host] = d
	return true
}

// rest leaves hosts alone whose pace the frontier does not keep.
func (v *visit) rest() {
	v.r.mu.Lock()
	rests := maps.Clone(v.rests)
	v.r.mu.Unlock()
	for host, d := range rests {
		if err := v.block(context.WithoutCancel(v.ctx), host, d); err != nil {
			v.e.log.Warn("block", "host", host, "err", err)
		}
	}
}

func (v *visit) block(ctx context.Context, host string, d time.Duration) error {
	return v.e.cfg.Frontier.(HostSetter).SetHost(ctx, host, HostPolicy{Block: d})
}

// setCrawlDelay tells the frontier of a crawl-delay, once.
func (e *Engine) setCrawlDelay(ctx context.Context, host string, d time.Duration) error {
	e.mu.Lock()
	known := e.delays[host] == d
	e.mu.Unlock()
	if known {
		return nil
	}
	if setter, ok := e.cfg.Frontier.(HostSetter); ok {
		if err := setter.SetHost(ctx, host, HostPolicy{Delay: d}); err != nil {
			return err
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.delays) >= maxDelays {
		clear(e.delays)
	}
	e.delays[host] = d
	return nil
}

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
