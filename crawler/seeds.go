package crawler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seine-go/seine/internal/weburl"
)

// How seeds are added.
const (
	seedBatch = 256                    // at a time
	fullPause = 100 * time.Millisecond // before a producer tries a full frontier again
)

// begin checks the seeds and adds the first of them; the others are added beside the workers.
func (r *run) begin(seeds []string) error {
	if err := context.Cause(r.seeding); err != nil {
		return err
	}
	reqs, err := r.e.parse(seeds)
	if err != nil {
		return err
	}
	site, _ := r.e.cfg.Handler.(Site)
	scope, err := r.scopeFor(reqs, site)
	if err != nil {
		return err
	}
	if err := r.resume(len(reqs) > 0 || site != nil); err != nil {
		return err
	}
	if err := first(r.setScope(scope), r.setPace()); err != nil {
		return err
	}
	now := min(len(reqs), seedBatch)
	rest, err := r.offer(reqs[:now])
	if err != nil {
		return err
	}
	rest = append(rest, reqs[now:]...)
	if len(rest) > 0 || site != nil {
		r.produce(func() error { return r.sow(rest, site) })
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.leftSeeds = false
	return nil
}

// sow adds seeds, and then those of a Site as they come.
func (r *run) sow(rest []*Request, site Site) error {
	if err := r.add(rest); err != nil || site == nil {
		return err
	}
	return r.siteSeeds(site)
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
func (r *run) scopeFor(seeds []*Request, site Site) (Scope, error) {
	e := r.e
	scope := e.namedScope()
	var hosts []string
	if site != nil {
		if err := r.foreign("Site.Hosts", func() error { hosts = site.Hosts(); return nil }); err != nil {
			return scope, err
		}
		if err := checkHosts("Site.Hosts", hosts); err != nil {
			return scope, err
		}
		if s, ok := site.(SiteScope); ok && scope.isZero() {
			var own Scope
			if err := r.foreign("Site.Scope", func() error { own = s.Scope(); return nil }); err != nil {
				return scope, err
			}
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
		scope.Hosts = r.e.knownHosts()
	}
	if scope.isZero() {
		return &ConfigError{Field: "Scope", Reason: "is needed to go on without seeds, or the Site's Hosts"}
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
		p.Adapt = SwitchOff
	}
	if l, ok := c.Handler.(SiteLimits); ok {
		if err := r.foreign("Site.Limits", func() error { p = p.with(l.Limits().HostPolicy); return nil }); err != nil {
			return err
		}
	}
	if p.MaxInFlight != 1 {
		r.e.several.Store(true)
	}
	setter, ok := c.Frontier.(HostSetter)
	if !ok {
		return nil // the frontier keeps its own pace
	}
	return r.foreign("Frontier.SetHost", func() error { return setter.SetHost(r.seeding, "", p) })
}

// seed checks a seed and completes it.
func (e *Engine) seed(req *Request) (*Request, error) {
	c := *req
	u, err := weburl.Parse(c.URL)
	if err != nil {
		return nil, &RequestError{URL: c.URL, Reason: meant(c.URL), Err: err}
	}
	if !u.IsHTTP() {
		return nil, &RequestError{URL: c.URL, Reason: cmp.Or(meant(c.URL), "is neither http nor https")}
	}
	if u.HasUserInfo() {
		return nil, &RequestError{URL: c.URL, Reason: "has user info, which is not stored"}
	}
	c.URL = u.WithoutFragment().Href()
	if err := c.check(); err != nil {
		return nil, err
	}
	if _, err := e.setKey(&c, nil); err != nil {
		return nil, err
	}
	return &c, c.check() // its key may be too long
}

// meant suggests what a seed without scheme, such as "films.example/list", was meant to be; "" for anything else.
func meant(raw string) string {
	raw = strings.TrimPrefix(raw, "//")
	u, err := weburl.Parse("https://" + raw)
	name, _, _ := strings.Cut(u.Host(), ":")
	if err != nil || strings.Contains(raw, "://") || u.HasUserInfo() || !strings.Contains(name, ".") && name != "localhost" {
		return ""
	}
	return fmt.Sprintf("has no scheme; perhaps %q was meant", u.Href())
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
		var statuses []AddStatus
		err := r.foreign("Frontier.Add", func() (err error) {
			statuses, err = r.e.cfg.Frontier.Add(r.seeding, reqs[:n]...)
			return err
		})
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
		for taken < min(len(statuses), n) && statuses[taken] != Refused {
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
		reqs = rest
		if err := sleep(r.seeding, fullPause); err != nil {
			return err
		}
	}
}

// produce runs f, which adds requests, beside the workers. The run does not finish before it, and ends it when it ends
// otherwise.
func (r *run) produce(f func() error) {
	r.mu.Lock()
	r.open++
	r.mu.Unlock()
	r.seeders.Go(func() {
		defer r.poke()
		whole := false
		defer func() {
			r.mu.Lock()
			r.open--
			r.leftSeeds = !whole
			r.mu.Unlock()
		}()
		err := r.safely("seeds", f)
		if whole = err == nil; whole {
			return
		}
		if r.over() {
			r.e.log.Warn("seeds left out")
			return
		}
		r.end(err, false)
	})
}

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

// siteSeeds adds the seeds of a Site as they come: as many at a time as there are.
func (r *run) siteSeeds(site Site) error {
	seeds := make(chan *Request, seedBatch)
	failed := errGoexit
	r.seeders.Go(func() {
		defer close(seeds)
		failed = r.foreign("Site.Seeds", func() error { return r.pull(site, seeds) })
	})
	for req := range seeds {
		batch := []*Request{req}
		for more := true; more && len(batch) < seedBatch; {
			select {
			case req, ok := <-seeds:
				if more = ok; ok {
					batch = append(batch, req)
				}
			default:
				more = false
			}
		}
		if err := r.add(batch); err != nil {
			return err
		}
		r.poke()
	}
	return failed
}

// pull takes the seeds of a Site, and checks them.
func (r *run) pull(site Site, seeds chan<- *Request) error {
	all := site.Seeds(r.seeding)
	if all == nil {
		return errors.New("seine: seeds: the Site has none to range over: Seeds returned nil")
	}
	for req, err := range all {
		if err == nil && req == nil {
			err = errors.New("neither a request nor an error")
		}
		if err == nil {
			req, err = r.e.seed(req)
		}
		if err != nil {
			return fmt.Errorf("seine: seeds: %w", err)
		}
		select {
		case seeds <- req:
		case <-r.seeding.Done():
			return context.Cause(r.seeding)
		}
	}
	return context.Cause(r.seeding) // it may have ended for that
}
