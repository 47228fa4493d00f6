package fetch

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seine-go/seine/internal/weburl"
)

// maxHopBody is how much of a redirect's body is read to keep the connection.
const maxHopBody = 64 << 10

var errLoop = errors.New("the redirects go round in a circle")

// visited is a URL that the flight has been at.
type visited struct {
	url    string // without fragment
	method string
	cookie bool // its answer set a cookie
}

// lead finds out where an answer leads, and whether the Transport goes there. A Location that is missing or cannot be
// parsed leads nowhere: the answer is delivered. The cookies that it sets are kept in either case.
func (f *flight) lead(a *answer) {
	a.misdirected = a.Status == http.StatusMisdirectedRequest && !f.fresh
	if f.req.MaxRedirects > 0 || f.req.MaxRedirects == 0 && f.t.MaxRedirects >= 0 {
		a.next, a.follow = target(f.url, a.Status, a.Header)
	}
	f.keepCookies(a)
}

// target returns the URL that an answer leads to.
func target(from weburl.URL, status int, header http.Header) (next weburl.URL, ok bool) {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
	default:
		return next, false
	}
	location := strings.Trim(header.Get("Location"), " \t\r\n\f")
	if location == "" {
		return next, false
	}
	next, err := from.Resolve(escapeBytes(location))
	if err != nil {
		return next, false
	}
	if !next.HasFragment() && from.HasFragment() {
		// RFC 9110 10.2.2: the target inherits the fragment.
		if u, ok := weburl.Split(next.Href() + "#" + from.Fragment()); ok {
			next = u
		}
	}
	return next, true
}

// Target returns the URL that the response leads to, if it is a redirect with a Location that can be parsed. It is for
// those who follow redirects by themselves; a Transport has done so.
func (r *Response) Target() (url string, ok bool) {
	from, err := weburl.Parse(r.URL)
	if err != nil {
		return "", false
	}
	next, ok := target(from, r.Status, r.Header)
	return next.Href(), ok
}

// RedirectMethod returns the method with which the target of a redirect is asked for, as RFC 9110 15.4 allows and the Fetch
// standard has browsers do it: after 301 and 302 a POST, after 303 all but HEAD becomes a GET. Where the method changes, the
// body and the header fields that tell of it (Content-…) stay behind.
func RedirectMethod(status int, method string) string {
	switch {
	case method == "":
		return http.MethodGet
	case status == http.StatusSeeOther && method != http.MethodHead,
		(status == http.StatusMovedPermanently || status == http.StatusFound) && method == http.MethodPost:
		return http.MethodGet
	}
	return method
}

// escapeBytes percent-encodes the bytes of a Location that are not UTF-8, as browsers do; the URL parser would replace them.
func escapeBytes(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i := range len(s) {
		if s[i] < utf8.RuneSelf {
			b.WriteByte(s[i])
		} else {
			fmt.Fprintf(&b, "%%%02X", s[i])
		}
	}
	return b.String()
}

// redirect turns the flight to where an answer leads, if it may go there.
func (f *flight) redirect(a *answer) *Error {
	next := a.next
	fail := func(kind ErrorKind, err error) *Error {
		return &Error{Op: "redirect", URL: next.Href(), Kind: kind, Redirects: f.hops, Err: err}
	}
	if f.hopsLeft == 0 {
		return fail(ErrRedirect, fmt.Errorf("stopped after %d redirects", len(f.hops)))
	}
	f.hopsLeft--
	f.hops = append(f.hops, Hop{URL: f.url.Href(), Status: a.Status, To: next.Href()})
	f.seen = append(f.seen, visited{f.url.WithoutFragment().Href(), f.method, len(a.Header["Set-Cookie"]) > 0})
	if !next.IsHTTP() {
		return fail(ErrRefused, errScheme)
	}
	method := RedirectMethod(a.Status, f.method)
	if f.inLoop(next, method) {
		return fail(ErrRedirect, errLoop)
	}
	if f.checkHop != nil {
		if err := f.checkHop(f.ctx, f.req, slices.Clip(f.hops)); err != nil {
			if f.ctx.Err() != nil {
				return contextError(f.ctx, "redirect")
			}
			return fail(ErrHopRefused, err)
		}
	}
	if method != f.method {
		f.method, f.body, f.withoutBody = method, nil, true
	}
	// As browsers do, who go on with credentials that an origin has been given.
	if basic := basicAuth(next.Username(), next.Password()); basic != "" || f.url.Origin() != next.Origin() {
		f.basic = basic
	}
	if f.url.Origin() != next.Origin() {
		f.foreign = true
	}
	if f.url.Host() != next.Host() {
		f.otherHost = true
	}
	if f.url.Hostname() != next.Hostname() {
		f.route.ServerName = ServerName{}
	}
	f.refererPolicy = f.refererPolicy.After(a.Header)
	f.url = next
	return nil
}

// inLoop reports whether the flight has asked for the URL before, and no cookie has been set since that could change the answer.
func (f *flight) inLoop(next weburl.URL, method string) bool {
	url := next.WithoutFragment().Href()
	for i := len(f.seen) - 1; i >= 0 && !f.seen[i].cookie; i-- {
		if f.seen[i].url == url && f.seen[i].method == method {
			return true
		}
	}
	return false
}
