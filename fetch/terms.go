package fetch

import (
	"context"

	"golang.org/x/net/http/httpguts"

	"github.com/seine-go/seine/fetch/cookie"
)

// Terms are what a user of a Transport asks of each exchange beside the Transport's own settings.
type Terms struct {
	Gate      Gate                                                        // as Transport.Gate
	CheckHop  func(ctx context.Context, first *Request, hops []Hop) error // as Transport.CheckHop
	UserAgent string                                                      // where the Transport has none; empty means DefaultUserAgent

	// Cookies are used where the Transport has none; as Transport.Cookies.
	Cookies func(ctx context.Context, session string) (*cookie.Jar, error)
}

// Under returns a Fetcher that fetches with the Transport on terms of its own, in place of its Gate and its CheckHop. The
// connections, the limits and whatever else the Transport has are shared, and nothing of it is changed.
func (t *Transport) Under(terms Terms) Fetcher {
	if t.UserAgent != "" {
		terms.UserAgent = t.UserAgent
	}
	if t.Cookies != nil {
		terms.Cookies = t.Cookies
	}
	return &underTerms{t: t, terms: terms.compiled()}
}

type underTerms struct {
	t     *Transport
	terms terms
}

// Fetch implements Fetcher.
func (u *underTerms) Fetch(ctx context.Context, req *Request) (*Response, error) {
	u.t.once.Do(u.t.setup)
	return u.t.fetch(ctx, req, &u.terms)
}

// CloseIdleConnections is that of the Transport.
func (u *underTerms) CloseIdleConnections() { u.t.CloseIdleConnections() }

// terms are Terms that have been looked at.
type terms struct {
	gate      Gate
	checkHop  func(ctx context.Context, first *Request, hops []Hop) error
	cookies   func(ctx context.Context, session string) (*cookie.Jar, error)
	userAgent string
	bad       error // why nothing can be sent
}

func (t Terms) compiled() terms {
	c := terms{gate: t.Gate, checkHop: t.CheckHop, cookies: t.Cookies, userAgent: t.UserAgent}
	if c.userAgent == "" {
		c.userAgent = DefaultUserAgent
	}
	if !httpguts.ValidHeaderFieldValue(c.userAgent) {
		c.bad = &HeaderError{"User-Agent", "the value of the Transport holds a control character"}
	}
	return c
}
