package crawler

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seine-go/seine/internal/weburl"
)

// A page is delivered once, however it was come by: redirects may lead to what another request fetches, or has fetched.
// Who comes there first has it. It is settled, or tried again, as its own request is, so that nothing depends on the others.

// claims are the keys of pages under way in a run that redirects led to.
type claims struct {
	n    atomic.Int64 // so that who has none needs no lock
	mu   sync.Mutex
	keys map[string]struct{}
}

func (c *claims) take(key string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, taken := c.keys[key]; taken {
		return false
	}
	if c.keys == nil {
		c.keys = map[string]struct{}{}
	}
	c.keys[key] = struct{}{}
	c.n.Store(int64(len(c.keys)))
	return true
}

func (c *claims) has(key string) bool {
	if c.n.Load() == 0 {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_, taken := c.keys[key]
	return taken
}

func (c *claims) drop(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.keys, key)
	c.n.Store(int64(len(c.keys)))
}

var (
	// errTwice ends a visit whose redirects led to the page of another.
	errTwice = fmt.Errorf("%w; its page is delivered by another request", errMoved)
	// errUnderWay hands a request back whose page redirects of another led to: it is dropped when that is done.
	errUnderWay = errors.New("seine: its page is under way, for a request that redirects led there")
)

// underWayDelay is how long a request waits for the one that has its page.
const underWayDelay = 10 * time.Second

// claim makes the page at a URL that of the visit, unless another one has it. A request with a Key of its own, or a body,
// wants its answer whatever others had. Of two that see each other here the one that was redirected ends and the other
// comes again.
func (v *visit) claim(url string, redirected bool) error {
	key, hop := v.req.key(), strings.HasPrefix(v.req.Key, hopKey)
	if !redirected && !hop {
		v.arrived.Store(true)
		if v.r.claims.has(key) {
			return errUnderWay
		}
		return nil
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
	if v.r.arrivedAt(at.key()) || v.req.Hops == 0 && v.deliveredBefore(&at) {
		return errTwice
	}
	return nil
}

// unclaim ends the claim of a visit, once it is settled.
func (v *visit) unclaim() {
	if v.claimed != "" {
		v.r.claims.drop(v.claimed)
	}
}

// arrivedAt reports whether the request of a key itself has its page and is not settled yet.
func (r *run) arrivedAt(key string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for v := range r.held {
		if v.arrived.Load() && v.req.key() == key {
			return true
		}
	}
	return false
}

// deliveredBefore asks the frontier, if it is an Inspector, whether a request is done. One that was moved does not ask: it
// may have come back to where its chain began, which is done.
func (v *visit) deliveredBefore(at *Request) bool {
	inspector, ok := v.e.cfg.Frontier.(Inspector)
	if !ok {
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
