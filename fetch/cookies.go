package fetch

import (
	"net/http"
	"slices"
	"strings"

	"github.com/seine-go/seine/fetch/cookie"
	"github.com/seine-go/seine/fetch/identity"
)

// openJar opens the jar of the request's session.
func (f *flight) openJar() *Error {
	if f.cookies == nil {
		return nil
	}
	jar, err := f.cookies(f.ctx, f.route.Session)
	switch {
	case err == nil:
		f.jar = jar
		return nil
	case f.ctx.Err() != nil:
		return contextError(f.ctx, "cookies")
	}
	return &Error{Op: "cookies", URL: f.req.URL, Kind: ErrCookies, Err: err}
}

// keepCookies puts what an answer sets into the jar. Without a session there is one for the length of the flight, so that
// what a redirect sets comes to where it leads.
func (f *flight) keepCookies(a *answer) {
	lines := a.Header["Set-Cookie"]
	if len(lines) == 0 || a.misdirected {
		return
	}
	if f.jar == nil {
		if !a.follow {
			return
		}
		f.jar = new(cookie.Jar)
	}
	f.renewed = append(f.renewed, f.jar.Set(f.cookieExchange(), lines...)...)
}

// cookieExchange tells the jar of the hop under way what the request knows of where it comes from.
func (f *flight) cookieExchange() cookie.Exchange {
	x := cookie.Exchange{URL: f.url.Href(), Method: f.method, From: f.req.initiator()}
	x.Embedded = f.req.Kind != identity.Navigate && f.req.Kind != identity.Form
	return x
}

// headerValues returns the values of a field, whatever the case of its name, and whether it is there.
func headerValues(h http.Header, name string) ([]string, bool) {
	if values, ok := h[name]; ok {
		return values, true
	}
	for key, values := range h {
		if len(key) == len(name) && strings.EqualFold(key, name) {
			return values, true
		}
	}
	return nil, false
}

// cookieField writes the Cookie field: what the request gives, as long as no hop has set it anew, and what the jar has
// beside that.
func (w *fields) cookieField(as string) {
	f := w.f
	if f.jar == nil {
		w.given("Cookie", as)
		return
	}
	kept := f.jar.Cookies(f.cookieExchange())
	if len(kept) == 0 && len(f.renewed) == 0 {
		w.given("Cookie", as)
		return
	}
	if values, ok := headerValues(f.req.Header, "Cookie"); ok && len(values) == 0 {
		return // the request wants none
	}
	from := len(w.out)
	w.given("Cookie", as)
	var pairs, names []string
	for _, field := range w.out[from:] {
		as = field.Name
		for pair := range strings.SplitSeq(field.Value, ";") {
			name := pairName(pair)
			if pair = strings.Trim(pair, " \t"); pair != "" && !f.isRenewed(name) {
				pairs, names = append(pairs, pair), append(names, name)
			}
		}
	}
	w.out = w.out[:from]
	for i := range kept {
		if !slices.Contains(names, kept[i].Name) {
			pairs = append(pairs, cookie.Join(kept[i:i+1]))
		}
	}
	if len(pairs) > 0 {
		w.add(as, strings.Join(pairs, "; "))
	}
}

// pairName returns the name of a pair of a Cookie field.
func pairName(pair string) string {
	name, _, _ := strings.Cut(pair, "=")
	return strings.Trim(name, " \t")
}

// isRenewed reports whether a hop has set or deleted the cookie for where the flight is now.
func (f *flight) isRenewed(name string) bool {
	return slices.ContainsFunc(f.renewed, func(c cookie.Cookie) bool { return c.Name == name && c.Matches(f.url.Href()) })
}
