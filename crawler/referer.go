package crawler

import (
	"maps"
	"net/http"
	"strings"

	"github.com/seine-go/seine/internal/weburl"
)

// maxReferer is the longest URL of a page that its requests keep, in bytes; of a longer one they keep the origin, as browsers send it
// (W3C Referrer Policy 8.4).
const maxReferer = 4096

// refer returns the header of a request that the page stages. Where a middleware wants it, as fetch.Referer does, its Referer is the
// page, unless the request has one; so that it outlives a restart, and needs no room where nobody wants it. How much of it each host is
// told is found when the request is sent.
func (p *Page) refer(header http.Header) http.Header {
	if !p.v.e.refers {
		return header
	}
	if p.referer == nil {
		p.referer = http.Header{}
		if url := refererOf(p.URL); url != "" {
			p.referer["Referer"] = []string{url}
		}
	}
	switch {
	case len(p.referer) == 0:
		return header
	case len(header) == 0:
		return p.referer
	}
	for name := range header {
		if strings.EqualFold(name, "referer") {
			return header
		}
	}
	header = maps.Clone(header)
	header["Referer"] = p.referer["Referer"]
	return header
}

// refererOf returns what of the URL of a page its requests keep, "" for nothing.
func refererOf(page string) string {
	page = stored(page)
	if len(page) <= maxReferer {
		return page
	}
	u, err := weburl.Parse(page)
	if err != nil || len(u.Origin()) >= maxReferer {
		return ""
	}
	return u.Origin() + "/"
}
