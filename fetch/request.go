package fetch

import (
	"net/http"
	"net/url"

	"github.com/seine-go/seine/fetch/identity"
	"github.com/seine-go/seine/internal/weburl"
)

// Kind is what a browser would be doing when it sends the request.
type Kind = identity.Kind

// Request is what to fetch and how. The zero value of every field but URL is a good default. A Request is not changed
// by a Fetcher, and may be used again.
type Request struct {
	URL    string      // absolute, http or https; sent as the URL standard serialises it
	Method string      // "" is GET; sent as it stands
	Header http.Header // names are sent as they stand here; nil is fine

	// HeaderOrder lists header names in the order in which they are to be sent, in the spelling to be sent. Names that
	// are not in Header are those that the Transport adds by itself (Host, Connection, User-Agent, Accept-Encoding,
	// Content-Length …). Headers that it does not list follow in alphabetical order.
	HeaderOrder []string

	// Initiator is the URL of the page that led to the request: that links to it, sends a form to it or embeds it. Empty leaves it
	// to the Referer in Header, or says that no page did, as when a user types the address. Cookies with SameSite go by it, and a
	// Transport tells each host on the way as much of it as RefererPolicy allows, or the policy that a redirect names. A Referer in Header is told the host of the URL as
	// it stands, and those that redirects lead to by the policy; one without values is told nobody.
	Initiator     string
	RefererPolicy RefererPolicy

	Body  []byte
	Kind  Kind
	Route Route

	// Sink takes the body as it comes. Nil keeps it in memory. Fetchers other than a Transport may know of no Sink; then
	// the body is in the Response.
	Sink Sink

	// KeepPacked delivers documents that are packed by themselves (sitemap.xml.gz) as they are. Content codings are taken off
	// all the same, but for those that are not known, and for a single one that is that of a packed file by its media type
	// (application/gzip, application/x-gzip, application/x-tar.gz …) or its name (.gz, .tgz, .zst, .br), as browsers and curl save
	// archives of hosts that take the packing of a file for a content coding.
	KeepPacked bool

	// Charset is the label of an encoding that counts for more than what the answer says of its own, but for a byte order mark.
	// Empty leaves it to the answer; see Response.Charset.
	Charset string

	// MaxBody bounds the decoded body in bytes. Zero means the bound of the Transport, negative none.
	MaxBody int64
	// MaxRedirects bounds the hops that are followed. Zero means the bound of the Transport; negative follows none and
	// delivers the redirect itself.
	MaxRedirects int
}

// NewRequest returns a request for a URL that is parsed as browsers do. The error, of kind ErrInvalid, names the URL.
func NewRequest(method, rawURL string, body []byte) (*Request, error) {
	u, err := weburl.Parse(rawURL)
	if err != nil {
		return nil, &Error{Op: "parse", URL: rawURL, Kind: ErrInvalid, Err: err}
	}
	return &Request{Method: method, URL: u.Href(), Body: body}, nil
}

// URLValue returns the URL as net/url knows it, which cannot carry every URL of the web: then there is an error.
func (r *Request) URLValue() (*url.URL, error) { return url.Parse(r.URL) }

// Clone returns a copy whose headers can be changed. Body and Route are shared.
func (r *Request) Clone() *Request {
	c := *r
	c.Header = r.Header.Clone()
	return &c
}
