package crawler

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/seine-go/seine/internal/weburl"
)

// A page is delivered once, however it was come by: redirects may lead to what another request fetches, or has fetched.
// Who comes there first has it. It is settled, or tried again, as its own request is, so that nothing depends on the others.
// What is here lasts as long as the run. That a page was delivered is part of the settlement of who had it, and the frontier
// does not bring its own request back, not even when the process dies before that is settled.

// claims are the pages under way in a run that redirects led to, by their keys.
type claims struct {
	n     atomic.Int64 // so that who has none needs no lock
	mu    sync.Mutex
	byKey map[string]*claim
	moved map[string]struct{} // requests that are done since another was made of their redirect
}

// maxMoved bounds them; beyond it they are forgotten, and what comes back to them is taken for delivered.
const maxMoved = 100_000

func (c *claims) noteMoved(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.moved == nil || len(c.moved) >= maxMoved {
		c.moved = map[string]struct{}{}
	}
	c.moved[key] = struct{}{}
}

func (c *claims) wasMoved(key string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, moved := c.moved[key]
	return moved
}

type claim struct {
	over      chan struct{} // closed once the visit that took it is settled
	delivered bool          // by then
}

func (c *claims) take(key string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byKey[key] != nil {
		return false
	}
	if c.byKey == nil {
		c.byKey = map[string]*claim{}
	}
	c.byKey[key] = &claim{over: make(chan struct{})}
	c.n.Store(int64(len(c.byKey)))
	return true
}

func (c *claims) of(key string) *claim {
	if c.n.Load() == 0 {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.byKey[key]
}

// had reports whether the page of a key was delivered to the visit that claimed it.
func (c *claims) had(key string) bool {
	claim := c.of(key)
	if claim == nil {
		return false
	}
	select {
	case <-claim.over:
		return claim.delivered
	default:
		return false
	}
}

// end says what became of a claim. Of a page that was delivered it is kept as long as its own request is leased.
func (c *claims) end(key string, delivered, keep bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	claim := c.byKey[key]
	claim.delivered = delivered
	close(claim.over)
	if !delivered || !keep {
		c.drop(key)
	}
}

// settled forgets the claim of a page whose own request is settled.
func (c *claims) settled(key string) {
	if c.n.Load() == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if claim := c.byKey[key]; claim != nil && claim.delivered {
		c.drop(key)
	}
}

func (c *claims) drop(key string) {
	delete(c.byKey, key)
	c.n.Store(int64(len(c.byKey)))
}

// errTwice ends a visit whose page is that of another.
var errTwice = fmt.Errorf("%w; its page is delivered by another request", errMoved)

// claim makes the page at a URL that of the visit, unless another one has it: one that was redirected ends then, the page's
// own request waits for what becomes of it. A request with a Key of its own, or a body, wants its answer whatever others
// had.
func (v *visit) claim(url string, redirected bool) error {
	key, hop := v.req.key(), strings.HasPrefix(v.req.Key, hopKey)
	if !redirected && !hop {
		v.arrived.Store(true)
		return v.await(v.r.claims.of(key))
	}
	plain, at := Request{URL: v.req.URL}, Request{URL: stored(url)}
	for _, r := range [...]*Request{&plain, &at} {
		if _, err := v.e.setKey(r, nil); err != nil {
			return err
		}
	}
	if plain.key() != key && !hop || at.key() == key {
		return nil
	}
	if !v.r.claims.take(at.key()) {
		return errTwice
	}
	v.claimed = at.key()
	if _, arrived := v.r.leasedNow(at.key()); arrived || v.deliveredBefore(&at) {
		return errTwice
	}
	return nil
}

// await waits until the visit that claimed the page is settled.
func (v *visit) await(c *claim) error {
	if c == nil {
		return nil
	}
	select {
	case <-c.over:
	case <-v.ctx.Done():
		return context.Cause(v.ctx)
	}
	if c.delivered {
		return errTwice
	}
	return nil
}

// unclaim ends the claim of a visit that is settled.
func (v *visit) unclaim() {
	if v.claimed == "" {
		v.r.claims.settled(v.req.key())
		return
	}
	leased, _ := v.r.leasedNow(v.claimed)
	v.r.claims.end(v.claimed, v.result.Outcome == Done && v.result.Err == nil, leased)
}

// leasedNow reports whether the run holds the lease of a key, or may be about to, and whether that has its page.
func (r *run) leasedNow(key string) (leased, arrived bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	leased, arrived = r.holds(key)
	return leased || r.leasing, arrived
}

// holds is leasedNow for the leases that are there. r.mu is held.
func (r *run) holds(key string) (leased, arrived bool) {
	for v := range r.held {
		if v.req.key() == key {
			return true, v.arrived.Load()
		}
	}
	starting := r.busy > len(r.held) // a worker has a lease and nothing to show for it yet
	return starting || slices.ContainsFunc(r.ready, func(l Lease) bool { return l.Request.key() == key }), false
}

// forgetClaims drops those that were kept for a lease that has not come. r.mu is held.
func (r *run) forgetClaims() {
	c := &r.claims
	if c.n.Load() == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, claim := range c.byKey {
		if !claim.delivered {
			continue
		}
		if leased, _ := r.holds(key); !leased {
			c.drop(key)
		}
	}
}

// deliveredBefore asks the frontier, if it is an Inspector, whether a request is done. One that was moved may have come back
// to where its chain began, which is done and was not delivered.
func (v *visit) deliveredBefore(at *Request) bool {
	inspector, ok := v.e.cfg.Frontier.(Inspector)
	if !ok || v.req.Hops > 0 && v.r.claims.wasMoved(at.key()) {
		return false
	}
	var i Inspection
	if err := v.r.foreign("Frontier.Inspect", func() (err error) {
		i, err = inspector.Inspect(v.ctx, at.key(), at.Host())
		return err
	}); err != nil {
		v.e.log.Warn("inspect", "url", weburl.Redact(at.URL), "err", err)
		return false
	}
	return i.State == StateDone
}
