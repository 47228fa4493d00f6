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
)

// RefererOptions are the settings of Referer. The zero value does what browsers do with the Referer that a request gives.
type RefererOptions struct {
	Policy RefererPolicy
	// From returns the URL of the page that led to a request, "" for none. It is asked where the request gives no Referer. Nil
	// knows of none.
	From func(req *Request) string
}

// Referer writes the Referer of each request as a policy has it: without fragment and user info, and no more of it than the
// host of the request may know. A value that is no http or https URL is left out. It can stand anywhere in a chain. The
// targets of redirects are told what the first host was told.
func Referer(o RefererOptions) Middleware {
	return func(next Fetcher) Fetcher {
		return FetcherFunc(func(ctx context.Context, req *Request) (*Response, error) {
			given, there := headerValues(req.Header, "Referer")
			from := ""
			switch {
			case len(given) > 0:
				from = given[0]
			case !there && o.From != nil:
				from = o.From(req)
			}
			value := o.Policy.referer(from, req.URL)
			if value == "" && !there || len(given) == 1 && value == given[0] {
				return next.Fetch(ctx, req)
			}
			req = req.Clone()
			setHeader(req, "Referer", value)
			return next.Fetch(ctx, req)
		})
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

// referer returns what a request for a URL tells of the page that led to it.
func (p RefererPolicy) referer(page, url string) string {
	from, err := weburl.Parse(page)
	if page == "" || err != nil || !from.IsHTTP() || p == NoReferer {
		return ""
	}
	to, err := weburl.Parse(url)
	if err != nil {
		return ""
	}
	full, origin := from.WithoutUserInfo().WithoutFragment().Href(), from.Origin()+"/"
	same, down := from.Origin() == to.Origin(), from.Scheme() == "https" && to.Scheme() != "https"
	switch {
	case p == FullURL, same && p != StrictOrigin:
		return full
	case p == SameOrigin, down:
		return ""
	}
	return origin
}
