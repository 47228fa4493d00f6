package extract

import (
	"net/http"
	"strconv"
)

// Bounds of a scan.
const (
	// DefaultMaxLinks is how many links of a page are kept when ScanOptions.MaxLinks is zero.
	DefaultMaxLinks = 6000
	// Window is the number of bytes that a scan looks at as one piece. A tag that is longer is skipped and reported.
	Window = 1 << 20
	// MaxSkips is how many entries Hints.Skipped holds at most.
	MaxSkips = 32
	// maxCandidates is how many candidates of one srcset are read.
	maxCandidates = 64
	// maxURLBytes is about how many bytes the URLs of one window may have.
	maxURLBytes = 16 * Window
	// maxDirectives is how many robots directives of a page are kept.
	maxDirectives = 64
	// maxSkipRef is how many bytes of a reference that was skipped are kept.
	maxSkipRef = 200
)

// LinkKind says what in a page a link came from.
type LinkKind uint8

// Kinds of links.
const (
	Anchor      LinkKind = iota // a[href], in HTML and in SVG
	Area                        // area[href]
	LinkElement                 // link[href] whose rel leads to another page (next, canonical, alternate in HTML, ...)
	Frame                       // iframe[src] or frame[src]
	Refresh                     // meta refresh or the Refresh header, with a URL
	Header                      // the Link header, with the same rels as LinkElement
)

var kindNames = [...]string{"anchor", "area", "link", "frame", "refresh", "header"}

// String gives the name of the kind in lower case.
func (k LinkKind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "LinkKind(" + strconv.Itoa(int(k)) + ")"
}

// Link is a reference to another page.
type Link struct {
	URL      string   // WHATWG href, without fragment; http or https
	Kind     LinkKind // what the link came from
	NoFollow bool     // its rel has nofollow
}

// Want names the hints that are collected on demand. Links, magnets, base, canonical, next, prev, refresh and robots
// directives are always collected.
type Want uint8

// What a scan collects on demand.
const (
	WantImages     Want = 1 << iota // Hints.Images
	WantFeeds                       // Hints.Feeds
	WantAlternates                  // Hints.Alternates

	WantAll = WantImages | WantFeeds | WantAlternates
)

// ScanOptions says what a page is and what to look for in it.
type ScanOptions struct {
	// URL is where the page was found, after redirects. It is required.
	URL string
	// Header is the header of the response: Link, Refresh, X-Robots-Tag and usage lines are read. Nil means none.
	Header http.Header
	// Agent is the product token that robots directives may name, in any case. Empty means "seine".
	Agent string
	// Encoding is the label of the encoding that the page came in, which is what the URL standard encodes queries of
	// links with. The bytes that are scanned are UTF-8 all the same. Empty means utf-8.
	Encoding string
	// MaxLinks bounds Hints.Links, and each other list of hints by itself. Zero means DefaultMaxLinks, negative no
	// limit.
	MaxLinks int
	// Want adds hints that are collected on demand. Zero means none of them.
	Want Want
}

// Hints is what a page tells a crawler. All URLs are WHATWG hrefs without fragment; they share one string, so that
// keeping one of them keeps them all. A Hints belongs to the caller.
type Hints struct {
	// Links holds the links in the order of the page, those of the header first; a page that has a link twice has it
	// twice here. References that are not http or https (mailto, javascript, tel, data, ...) give no link.
	Links []Link
	// LinksCut is how many links were found beyond MaxLinks.
	LinksCut int
	// HintsCut is how many entries of the other lists were found beyond MaxLinks, and how many candidates of a srcset
	// beyond the 64 that are read.
	HintsCut int

	Magnets    []string          // magnet URIs of a and area, as written
	Base       string            // what references are resolved against, when the page says so: the first base[href]
	Canonical  string            // first canonical link, the header's before the page's; empty when there is none
	Next, Prev string            // first link with that rel, the header's before the page's; empty when there is none
	Refresh    *RefreshHint      // first refresh, the header's before the page's; nil when there is none
	Images     []string          // of img and picture, srcset and lazy attributes included, each once (WantImages)
	Feeds      []string          // alternates of a feed type, each once (WantFeeds)
	Alternates map[string]string // hreflang, as written, to the first URL for it (WantAlternates)

	// Robots holds the directives of robots metas and X-Robots-Tag headers for the agent, lower case, each once. Those
	// that allow (index, follow, all) are left out.
	Robots []string
	// NoIndex and NoFollow say that a directive forbids to index the page, or to follow any of its links. Links are
	// collected all the same: whoever crawls decides.
	NoIndex, NoFollow bool
	// Usage holds reservations of use, as "name: value" with the name in lower case: TDM-Reservation and TDM-Policy
	// (W3C TDMRep) of header and meta, and the Content-Usage header.
	Usage []string

	// Skipped tells what was passed over and why, at most MaxSkips entries; SkippedCut counts those beyond.
	Skipped    []Skip
	SkippedCut int
}

// RefreshHint is a declared refresh (WHATWG HTML, "shared declarative refresh steps").
type RefreshHint struct {
	Seconds int    // full seconds to wait
	URL     string // where to; the page itself when it is only to be loaded again
}

// Skip is a reference, or a tag, that was passed over.
type Skip struct {
	Ref    string // its first 200 bytes, without user info; the start of a tag
	Reason string
}
