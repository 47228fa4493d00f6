package fetch

import (
	"net/http"
	"slices"

	"github.com/seine-go/seine/internal/weburl"
)

// maxFollowed is how many redirects are told of those that a RoundTripper has followed by itself.
const maxFollowed = 100

// followed finds out where a RoundTripper that was asked for u has come to, and over which redirects: as http.Client does,
// it tells by Response.Request, and by Request.Response in it. The user info of u went into the header.
func followed(u weburl.URL, asked *http.Request, resp *http.Response) (weburl.URL, []Hop, error) {
	at := u.WithoutUserInfo()
	last := resp.Request
	if last == nil || last.URL == nil || last == asked {
		return at, nil, nil
	}
	var chain []*http.Response // the latest first
	for r := last; r != nil && r.Response != nil && len(chain) < maxFollowed; r = r.Response.Request {
		chain = append(chain, r.Response)
	}
	var hops []Hop
	for _, hop := range slices.Backward(chain) {
		next, ok := target(at, hop.StatusCode, hop.Header)
		if !ok {
			break
		}
		hops = append(hops, Hop{URL: at.Href(), Status: hop.StatusCode, To: next.Href()})
		at = next
	}
	if len(hops) == 0 && last.URL.String() == asked.URL.String() { // also where what was asked is no URL to the standard library
		return at, nil, nil
	}
	end, err := weburl.Parse(last.URL.String())
	if err != nil {
		return at, hops, err
	}
	if bare(end) == bare(at) {
		return at, hops, nil
	}
	if !end.HasFragment() && at.HasFragment() {
		if with, ok := weburl.Split(end.Href() + "#" + at.Fragment()); ok {
			end = with
		}
	}
	if len(hops) > 0 {
		hops[len(hops)-1].To = end.Href()
	}
	return end, hops, nil
}

// bare is what of a URL goes over the wire.
func bare(u weburl.URL) string { return u.WithoutFragment().WithoutUserInfo().Href() }
