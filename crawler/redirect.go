package crawler

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/seine-go/seine/fetch"
	"github.com/seine-go/seine/fetch/robots"
	"github.com/seine-go/seine/internal/weburl"
)

// checkHop is asked before each redirect hop. What the crawl must not go to is refused; a hop to a host that has no
// place now becomes a request of its own, so that no lease waits for another's. What a middleware fetches beside the page,
// such as a login, is not the page: where it leads is not what the page's redirects led to.
func (e *Engine) checkHop(ctx context.Context, first *fetch.Request, hops []fetch.Hop) error {
	v, next := visitOf(ctx), hops[len(hops)-1].To
	if v == nil || robots.IsRobots(ctx) {
		return nil // of robots.txt no robots are asked (RFC 9309 2.3.1.2)
	}
	u, err := v.mayHop(next)
	if err != nil {
		return err
	}
	own := first.URL == v.req.URL && fetch.RedirectMethod(0, first.Method) == fetch.RedirectMethod(0, v.req.Method)
	if own && v.req.Hops+len(hops) > e.cfg.MaxHops {
		return e.tooManyHops(next)
	}
	host := u.Host()
	if host != v.host {
		if _, err := v.reserve(ctx, host); own && errors.Is(err, ErrBusy) {
			return errMoved // where to, the error of the Transport tells
		} else if err != nil && !errors.Is(err, ErrBusy) { // for which the Gate waits
			return err
		}
	}
	return v.askRobots(ctx, next, host)
}

// mayHop asks scope and traps about the target of a redirect.
func (v *visit) mayHop(next string) (weburl.URL, error) {
	u, ok := weburl.Split(next)
	if !ok || !v.r.scope.holdsURL(u) {
		return u, v.r.scope.refuse(next)
	}
	if rule := v.e.cfg.Traps.check(u); rule != "" {
		return u, &TrapError{URL: next, Rule: rule}
	}
	return u, nil
}

// stored returns a URL as a request keeps it: without fragment, and without user info, which is a credential.
func stored(url string) string {
	url, _, _ = strings.Cut(url, "#")
	if u, ok := weburl.Split(url); ok && u.HasUserInfo() {
		return u.WithoutUserInfo().Href()
	}
	return url
}

// pass notes the key of a URL that a redirect on the way to the page led to; what a middleware has kept back, and asked for again, is
// none. It counts as fetched by a request without body alone: what came of another is not what a link to that URL asks for.
func (v *visit) pass(next string) error {
	if fetch.RedirectMethod(0, v.req.Method) != http.MethodGet || len(v.req.Body) > 0 {
		return nil
	}
	r := Request{URL: stored(next)}
	if _, err := v.e.setKey(&r, nil); err != nil {
		return err
	}
	v.passed = append(v.passed, r.key())
	return nil
}

// arrive is told of what a fetch came to. It makes a request of a redirect that was not followed, since its host is busy or
// the Fetcher does not, and ends the visit where the page is delivered by another.
func (v *visit) arrive(resp *fetch.Response, err error) error {
	if errors.Is(err, errMoved) {
		return v.moveOn(err)
	}
	if err != nil {
		return err
	}
	redirected := resp.URL != "" && resp.URL != v.req.URL && stored(resp.URL) != v.req.URL
	hops := resp.Redirects
	if redirected && len(hops) == 0 {
		hops = []fetch.Hop{{URL: v.req.URL, To: resp.URL}}
	}
	if _, is := v.e.own.(foreign); is {
		if err := v.arriveForeign(resp, hops); err != nil {
			return err
		}
	}
	for _, hop := range hops {
		if err := v.pass(hop.To); err != nil {
			return err
		}
	}
	return v.claim(resp.URL, redirected)
}

// moveOn makes a request of the redirect at which the Transport was stopped.
func (v *visit) moveOn(err error) error {
	if hops := fetch.RedirectsOf(err); len(hops) > 0 {
		return v.move(hops)
	}
	return &fetch.Error{Op: "redirect", URL: v.req.URL, Kind: fetch.ErrInvalid, Err: errNoRedirects}
}

var errNoRedirects = errors.New("a middleware has left the redirects out of the Transport's error")

// arriveForeign does what checkHop does, of the redirects that a foreign Fetcher has followed, and makes a request of the
// one that it has not.
func (v *visit) arriveForeign(resp *fetch.Response, hops []fetch.Hop) error {
	for i := range hops {
		if err := v.followed(hops[:i+1]); err != nil {
			return err
		}
	}
	next, ok := resp.Target()
	if !ok || v.e.cfg.MaxHops == 0 {
		return nil
	}
	if _, err := v.mayHop(next); err != nil {
		return err
	}
	hops = append(slices.Clone(resp.Redirects), fetch.Hop{URL: resp.URL, Status: resp.Status, To: next})
	if v.req.Hops+len(hops) > v.e.cfg.MaxHops {
		return v.e.tooManyHops(next)
	}
	return v.move(hops)
}

// followed does what checkHop does, of the last of some hops that a foreign Fetcher has taken.
func (v *visit) followed(hops []fetch.Hop) error {
	to := hops[len(hops)-1].To
	u, err := v.mayHop(to)
	if err != nil {
		return err
	}
	if most := v.e.cfg.MaxHops; most > 0 && v.req.Hops+len(hops) > most {
		return v.e.tooManyHops(to)
	}
	if host := u.Host(); v.e.robots != nil {
		if host != v.host {
			if _, err := v.reserve(v.ctx, host); errors.Is(err, ErrBusy) {
				return v.move(hops)
			} else if err != nil {
				return err
			}
		}
		return v.askRobots(v.ctx, to, host)
	}
	return nil
}

// hopKey begins the keys of redirect targets that are fetched though their URL may have been seen on the way. No other key
// begins so.
const hopKey = "hop "

// move makes a request of its own of the target of the last of some redirects.
func (v *visit) move(hops []fetch.Hop) error {
	r := *v.req
	last := hops[len(hops)-1].To
	r.URL, r.Key, r.Hops = stored(last), "", v.req.Hops+len(hops)
	for _, hop := range hops {
		r.Method = fetch.RedirectMethod(hop.Status, r.Method)
	}
	r.Header = v.e.hopHeader(v.req, r.Method, hops)
	if changed := r.Method != fetch.RedirectMethod(0, v.req.Method); changed {
		r.Body = nil
	} else {
		r.Method = v.req.Method // which may be empty
	}
	if _, err := v.e.setKey(&r, nil); err != nil {
		return err
	}
	if r.key() == v.req.key() || v.req.Hops > 0 { // the chain may come back to where it was; the hops bound it
		r.Key = fmt.Sprintf("%s%d %s", hopKey, r.Hops, r.key())
	}
	v.mu.Lock()
	v.moved = &r
	v.mu.Unlock()
	return errMoved
}

// hopHeader is the header of a request without what another origin must not get, if the redirects left its own, and
// without what tells of its body, if they changed its method: as the Transport does it at a hop that it takes by itself.
func (e *Engine) hopHeader(r *Request, method string, hops []fetch.Hop) http.Header {
	changed := method != fetch.RedirectMethod(0, r.Method)
	foreign := false
	from, ok := weburl.Split(r.URL)
	for _, hop := range hops {
		to, also := weburl.Split(hop.To)
		foreign = foreign || !ok || !also || from.Origin() != to.Origin()
	}
	if len(r.Header) == 0 || !changed && !foreign {
		return r.Header
	}
	header := r.Header.Clone()
	for name := range header {
		if foreign && (e.transport.IsSecret(name) || strings.EqualFold(name, "host")) ||
			changed && len(name) > len("content-") && strings.EqualFold(name[:len("content-")], "content-") {
			delete(header, name)
		}
	}
	return header
}
