package fetch

import (
	"context"
	"net/http"
	"strings"

	"github.com/seine-go/seine/internal/weburl"
)

// RefererPolicy says how much a host is told of the page that led to a request (W3C Referrer Policy 3).
type RefererPolicy uint8

// The policies.
const (
	StrictOriginWhenCrossOrigin RefererPolicy = iota // what browsers do: the URL within the origin, the origin for others, nothing from https to http
	SameOrigin                                       // the URL within the origin, nothing for others
	StrictOrigin                                     // the origin, nothing from https to http
	FullURL                                          // the URL always
	NoReferer                                        // nothing
	NoRefererWhenDowngrade                           // the URL, nothing from https to http
	OriginOnly                                       // the origin always
	OriginWhenCrossOrigin                            // the URL within the origin, the origin for others
)

// refererPolicies are the names of the policies in a Referrer-Policy field, in lower case.
var refererPolicies = map[string]RefererPolicy{
	"strict-origin-when-cross-origin": StrictOriginWhenCrossOrigin,
	"same-origin":                     SameOrigin,
	"strict-origin":                   StrictOrigin,
	"unsafe-url":                      FullURL,
	"no-referrer":                     NoReferer,
	"no-referrer-when-downgrade":      NoRefererWhenDowngrade,
	"origin":                          OriginOnly,
	"origin-when-cross-origin":        OriginWhenCrossOrigin,
}

// After returns the policy of what comes after an answer, from p: that of its Referrer-Policy field, the last that it names
// which is known, else p (Referrer Policy 8.1 and 8.2). It is for those who follow redirects by themselves; a Transport has done
// so.
func (p RefererPolicy) After(header http.Header) RefererPolicy {
	for _, value := range header["Referrer-Policy"] {
		for name := range strings.SplitSeq(value, ",") {
			if named, ok := refererPolicies[strings.ToLower(strings.Trim(name, " \t"))]; ok {
				p = named
			}
		}
	}
	return p
}

// RefererOptions are the settings of Referer. The zero value does what browsers do with the Referer that a request gives.
type RefererOptions struct {
	Policy RefererPolicy
	// From returns the URL of the page that led to a request, "" for none. It is asked where the request gives neither an
	// Initiator nor a Referer. Nil knows of none.
	From func(req *Request) string
}

// Referer writes the Referer of each request as a policy has it: without fragment and user info, and no more of it than the
// host of the request may know. A value that is no http or https URL is left out, and so is the field where the request has it
// without a value. The page that led to the request, and the policy, go on with it (Request.Initiator, RefererPolicy), so that a
// Transport tells the targets of redirects what they may know, by the policy that a redirect names where it does, and cookies go by
// what the page is and not by what is told of it. It can stand anywhere in a chain. A crawler that has it among its middlewares
// remembers which page each request came from.
func Referer(o RefererOptions) Middleware {
	m := middleware("referer", func(ctx context.Context, next Fetcher, req *Request) (*Response, error) {
		given, there := headerValues(req.Header, "Referer")
		page := req.initiator()
		if page == "" && !there && o.From != nil {
			page = o.From(req)
		}
		if page == "" || there && len(given) == 0 {
			return next.Fetch(ctx, req)
		}
		req = req.Clone()
		req.Initiator, req.RefererPolicy = page, o.Policy
		setHeader(req, "Referer", o.Policy.Referer(page, req.URL))
		return next.Fetch(ctx, req)
	})
	return func(next Fetcher) Fetcher { return referring{m(next)} }
}

// referring is a Fetcher that makes use of Request.Initiator.
type referring struct{ Fetcher }

// WantsInitiator tells who makes requests to say which page led to each.
func (referring) WantsInitiator() bool { return true }

// initiator returns the URL of the page that led to a request, "" for none.
func (r *Request) initiator() string {
	if r.Initiator != "" {
		return r.Initiator
	}
	if given, _ := headerValues(r.Header, "Referer"); len(given) > 0 {
		return given[0]
	}
	return ""
}

// refererField writes the Referer: to the host of the request what it gives, to others and where it gives none what they may
// know of the page that led to it.
func (w *fields) refererField(as string) {
	f := w.f
	if f.left("Referer") {
		return
	}
	from := len(w.out)
	there := w.given("Referer", as)
	if there && (len(f.hops) == 0 || len(w.out) == from) {
		return
	}
	if there {
		as, w.out = w.out[from].Name, w.out[:from]
	}
	if value := f.refererPolicy.Referer(f.req.initiator(), f.url.Href()); value != "" {
		w.add(as, value)
	}
}

// setHeader gives a cloned request one value of a field in place of all that it has, "" for none, in the spelling that it
// has.
func setHeader(req *Request, name, value string) {
	spelling := name
	for key := range req.Header {
		if len(key) == len(name) && strings.EqualFold(key, name) {
			spelling = key
			delete(req.Header, key)
		}
	}
	if value == "" {
		return
	}
	if req.Header == nil {
		req.Header = http.Header{}
	}
	req.Header[spelling] = []string{value}
}

// Referer returns what a request for a URL tells of the page that led to it, "" for nothing. It is for those who follow
// redirects by themselves; a Transport has done so.
func (p RefererPolicy) Referer(page, url string) string {
	if page == "" || p == NoReferer {
		return ""
	}
	from, err := weburl.Parse(page)
	if err != nil || !from.IsHTTP() {
		return ""
	}
	to, err := weburl.Parse(url)
	if err != nil {
		return ""
	}
	full, origin := from.WithoutUserInfo().WithoutFragment().Href(), from.Origin()+"/"
	same, down := from.Origin() == to.Origin(), from.Scheme() == "https" && to.Scheme() != "https"
	switch {
	case p == FullURL, p == NoRefererWhenDowngrade && !down, same && p != StrictOrigin && p != OriginOnly:
		return full
	case p == OriginOnly, p == OriginWhenCrossOrigin:
		return origin
	case p == SameOrigin, down:
		return ""
	}
	return origin
}
