package crawler

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"runtime/debug"
	"slices"
	"time"

	"github.com/seine-go/seine/internal/weburl"
)

// How seeds are added.
const (
	seedBatch  = 256                    // at a time
	seedsFirst = 10_000                 // of a Site, before anything is fetched
	fullPause  = 100 * time.Millisecond // before a producer tries a full frontier again
)

// begin checks and adds the seeds.
func (r *run) begin(seeds []string) error {
	if err := context.Cause(r.ctx); err != nil {
		return err
	}
	reqs, err := r.e.parse(seeds)
	if err != nil {
		return err
	}
	site, isSite := r.e.cfg.Handler.(Site)
	scope, err := r.e.scopeFor(reqs, site)
	if err != nil {
		return err
	}
	if err := r.resume(len(reqs) > 0 || isSite); err != nil {
		return err
	}
	if err := first(r.setScope(scope), r.setPace()); err != nil {
		return err
	}
	rest, err := r.offer(reqs)
	if err != nil {
		return err
	}
	if isSite {
		return r.siteSeeds(site, rest)
	}
	if len(rest) > 0 {
		r.produce(func() error { return r.add(rest) })
	}
	return nil
}

// parse makes requests of seeds.
func (e *Engine) parse(seeds []string) ([]*Request, error) {
	reqs := make([]*Request, 0, len(seeds))
	for _, raw := range seeds {
		req, err := e.seed(&Request{URL: raw})
		if err != nil {
			return nil, err
		}
		reqs = append(reqs, req)
	}
	return reqs, nil
}

// scopeFor returns the scope that the Config or the Site names, checked. Where they name none, the hosts of the seeds and
// of the Site are noted for it.
func (e *Engine) scopeFor(seeds []*Request, site Site) (Scope, error) {
	scope := e.namedScope()
	var hosts []string
	if site != nil {
		hosts = site.Hosts()
		if err := checkHosts("Site.Hosts", hosts); err != nil {
			return scope, err
		}
		if s, ok := site.(SiteScope); ok && scope.isZero() {
			own := s.Scope()
			if err := own.check("Site.Scope"); err != nil {
				return scope, err
			}
			scope = own.also(scope)
		}
	}
	for _, req := range seeds {
		if err := scope.checkSeed(req.URL); err != nil {
			return scope, err
		}
	}
	if scope.isZero() {
		e.know(hosts...)
		for _, req := range seeds {
			e.know(req.Host())
		}
	}
	return scope, nil
}

// setScope gives the run its scope: where nothing names one, the hosts of the seeds of this run and those before, so that
// what they left in the frontier stays in scope.
func (r *run) setScope(scope Scope) error {
	if scope.isZero() {
		scope.Hosts = slices.Collect(maps.Keys(r.e.hosts))
	}
	if scope.isZero() {
		return &ConfigError{Field: "Scope", Reason: "is needed to go on without seeds"}
	}
	scope = scope.indexed()
	e := r.e
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.replaced != nil { // meanwhile, perhaps
		scope = *e.replaced
	}
	e.scope = &scope
	r.scope.set(&scope)
	return nil
}

// setPace tells the frontier how hosts are visited that have no pace of their own.
func (r *run) setPace() error {
	c := &r.e.cfg
	p := defaultPace.with(HostPolicy{Delay: c.Delay, Spacing: c.Spacing, MaxInFlight: c.PerHost})
	if c.FixedPace {
		p.Adapt = Off
	}
	if l, ok := c.Handler.(SiteLimits); ok {
		p = p.with(l.Limits().HostPolicy)
	}
	if p.MaxInFlight != 1 {
		r.e.several.Store(true)
	}
	setter, ok := c.Frontier.(HostSetter)
	if !ok {
		return nil // the frontier keeps its own pace
	}
	return setter.SetHost(r.ctx, "", p)
}

// seed checks a seed and completes it.
func (e *Engine) seed(req *Request) (*Request, error) {
	c := *req
	u, err := weburl.Parse(c.URL)
	if err != nil {
		return nil, &RequestError{URL: c.URL, Err: err}
	}
	if !u.IsHTTP() {
		return nil, &RequestError{URL: c.URL, Reason: "is neither http nor https"}
	}
	if u.HasUserInfo() {
		return nil, &RequestError{URL: c.URL, Reason: "has user info, which is not stored"}
	}
	c.URL = u.WithoutFragment().Href()
	if _, err := e.setKey(&c, nil); err != nil {
		return nil, err
	}
	return &c, c.check()
}

// setKey gives a request the key that its canonical URL, method and body make, unless it has one. The URL itself is
// left out. buf is scratch memory.
func (e *Engine) setKey(r *Request, buf []byte) ([]byte, error) {
	if r.Key != "" {
		return buf, nil
	}
	buf, err := e.cfg.Canonical.AppendRequestKey(buf[:0], r.Method, r.URL, r.Body)
	if err != nil {
		return buf, &RequestError{URL: r.URL, Reason: "has no canonical form", Err: err}
	}
	if string(buf) != r.URL {
		r.Key = string(buf)
	}
	return buf, nil
}

// offer adds requests in batches until the frontier is full, and returns what it did not take.
func (r *run) offer(reqs []*Request) ([]*Request, error) {
	for len(reqs) > 0 {
		n := min(len(reqs), seedBatch)
		statuses, err := r.e.cfg.Frontier.Add(r.ctx, reqs[:n]...)
		if slices.Contains(statuses, Added) {
			r.fresh.Store(true)
		}
		if err == nil {
			reqs = reqs[n:]
			continue
		}
		if !errors.Is(err, ErrFull) {
			return reqs, err
		}
		taken := 0
		for taken < len(statuses) && statuses[taken] != Refused {
			taken++
		}
		return reqs[taken:], nil
	}
	return nil, nil
}

// add adds requests, waiting while the frontier is full. What has no room when the run ends is left out: it is offered
// again by whoever starts the next.
func (r *run) add(reqs []*Request) error {
	for {
		rest, err := r.offer(reqs)
		if err != nil || len(rest) == 0 {
			return err
		}
		if r.over() {
			r.leaveSeeds()
			return nil
		}
		reqs = rest
		if err := r.pause(fullPause); err != nil {
			return err
		}
	}
}

// leaveSeeds notes that the run has ended before all seeds were added.
func (r *run) leaveSeeds() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.leftSeeds = true
	r.e.log.Warn("seeds left out")
}

// produce runs f, which adds requests, beside the workers; the run does not end before it.
func (r *run) produce(f func() error) {
	r.open++
	r.group.Add(1)
	go func() {
		defer r.group.Done()
		err := r.safely("seeds", f)
		r.mu.Lock()
		r.open--
		r.mu.Unlock()
		if err != nil {
			r.end(err, false)
		}
		r.poke()
	}()
}

// safely makes an error of a panic of the application's own code.
func (r *run) safely(what string, f func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			r.e.count.panics.Add(1)
			err = fmt.Errorf("seine: %s: %w", what, &PanicError{Value: value, Stack: debug.Stack()})
		}
	}()
	return f()
}

func (r *run) pause(d time.Duration) error { return sleep(r.ctx, d) }

// sleep waits for d, or for the end of ctx, whose cause it then returns.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return context.Cause(ctx)
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// siteSeeds adds the first seeds of a Site before anything is fetched, and the others, or what does not fit into the
// frontier yet, while the crawl goes on. rest are seeds that had no room.
func (r *run) siteSeeds(site Site, rest []*Request) error {
	next, stop := iter.Pull2(site.Seeds(r.ctx))
	more, err := true, error(nil)
	for n := 0; more && err == nil && n < seedsFirst && len(rest) == 0; {
		var batch []*Request
		if batch, more, err = r.pull(next); err == nil {
			n += len(batch)
			rest, err = r.offer(batch)
		}
	}
	if err != nil || !more && len(rest) == 0 {
		stop()
		return err
	}
	r.produce(func() error {
		defer stop()
		err := r.add(rest)
		for more && err == nil && !r.over() {
			var batch []*Request
			if batch, more, err = r.pull(next); err == nil {
				err = r.add(batch)
			}
			r.poke()
		}
		if more && err == nil {
			r.leaveSeeds()
		}
		return err
	})
	return nil
}

// pull takes the next seeds of a Site, and tells whether there may be more.
func (r *run) pull(next func() (*Request, error, bool)) (batch []*Request, more bool, err error) {
	for len(batch) < seedBatch {
		req, err, ok := next()
		if !ok {
			return batch, false, nil
		}
		if err == nil && req == nil {
			err = errors.New("neither a request nor an error")
		}
		if err == nil {
			req, err = r.e.seed(req)
		}
		if err != nil {
			return nil, false, fmt.Errorf("seine: seeds: %w", err)
		}
		batch = append(batch, req)
	}
	return batch, true, nil
}
