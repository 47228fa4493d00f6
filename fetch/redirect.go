package fetch

import (
	"errors"
	"fmt"
	"net/http"
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
// parsed leads nowhere: the answer is delivered.
func (f *flight) lead(a *answer) {
	switch a.Status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
	default:
		return
	}
	if f.req.MaxRedirects < 0 || f.req.MaxRedirects == 0 && f.t.MaxRedirects < 0 {
		return
	}
	location := strings.Trim(a.Header.Get("Location"), " \t\r\n\f")
	if location == "" {
		return
	}
	next, err := f.url.Resolve(escapeBytes(location))
	if err != nil {
		return
	}
	if !next.HasFragment() && f.url.HasFragment() {
		// RFC 9110 10.2.2: the target inherits the fragment.
		if u, ok := weburl.Split(next.Href() + "#" + f.url.Fragment()); ok {
			next = u
		}
	}
	a.next, a.follow = next, true
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
		return &Error{Op: "redirect", URL: next.Href(), Kind: kind, Err: err}
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
	method := f.method
	switch {
	case a.Status == http.StatusSeeOther && method != http.MethodGet && method != http.MethodHead,
		a.Status <= http.StatusFound && method == http.MethodPost:
		method = http.MethodGet
	}
	if f.inLoop(next, method) {
		return fail(ErrRedirect, errLoop)
	}
	if check := f.t.CheckHop; check != nil {
		if err := check(f.ctx, f.req, next.Href()); err != nil {
			if f.ctx.Err() != nil {
				return contextError(f.ctx, "redirect")
			}
			return fail(ErrHopRefused, err)
		}
	}
	if method != f.method {
		f.method, f.body, f.withoutBody = method, nil, true
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
