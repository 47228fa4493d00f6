package cookie

import (
	"net/netip"
	"strings"

	"golang.org/x/net/publicsuffix"

	"github.com/seine-go/seine/internal/weburl"
)

// Exchange is what decides which cookies go with a request, and which its answer may set. With a URL alone it is a page
// that a user has typed the address of.
type Exchange struct {
	URL    string // http or https
	Method string // "" is GET
	// From is the URL of the page that led to the request, by a link, a form or because it embeds the answer. "" means that
	// none did.
	From string
	// Embedded says that the answer is a part of the page From (an image, a script, a frame, what a script asks for), not a
	// page by itself.
	Embedded bool
}

// place is an Exchange looked at.
type place struct {
	host, path string // path with its unreserved characters plain
	given      string // the path as the URL has it
	secure     bool
	top        string // site of the page on top
	cross      bool   // the request comes from another site
	navigation bool
	safe       bool // the method changes nothing
}

func (x Exchange) place() (p place, err error) {
	u, err := weburl.Parse(x.URL)
	if err != nil || !u.IsHTTP() {
		return p, errURL
	}
	p.host, p.given, p.path = u.Hostname(), u.Path(), plainPath(u.Path())
	p.secure = u.Scheme() == "https"
	p.navigation = !x.Embedded
	switch x.Method {
	case "", "GET", "HEAD", "OPTIONS", "TRACE":
		p.safe = true
	}
	if x.From != "" {
		from := siteOf(x.From)
		p.cross = from != site(u)
		if x.Embedded {
			p.top = from
		}
	}
	return p, nil
}

// partition is the key of partitioned cookies: the site of the page on top.
func (p *place) partition() string {
	if p.top != "" {
		return p.top
	}
	scheme := "http"
	if p.secure {
		scheme = "https"
	}
	return scheme + "://" + registrable(p.host)
}

// admits reports whether a request of the kind gets cookies of a SameSite (RFC 6265bis 5.8.3). young says that the cookie
// was set less than two minutes ago.
func (p *place) admits(s SameSite, young bool) bool {
	switch {
	case !p.cross || s == None:
		return true
	case s == Strict || !p.navigation:
		return false
	}
	return p.safe || s == Default && young
}

// domainMatch is RFC 6265bis 5.1.3 for a domain in its canonical form.
func (p *place) domainMatch(domain string) bool {
	if p.host == domain {
		return true
	}
	rest, ok := strings.CutSuffix(p.host, domain)
	return ok && domain != "" && strings.HasSuffix(rest, ".") && !isIP(p.host)
}

// defaultPath is RFC 6265bis 5.1.4.
func (p *place) defaultPath() string {
	if i := strings.LastIndexByte(p.given, '/'); i > 0 {
		return p.given[:i]
	}
	return "/"
}

// pathMatch is RFC 6265bis 5.1.4.
func pathMatch(path, cookie string) bool {
	rest, ok := strings.CutPrefix(path, cookie)
	return ok && (rest == "" || rest[0] == '/' || strings.HasSuffix(cookie, "/"))
}

// plainPath brings a path into the form in which RFC 3986 6.2.2 compares them: what needs no percent sign has none, and
// the others have their digits in upper case.
func plainPath(path string) string {
	i := strings.IndexByte(path, '%')
	if i < 0 {
		return path
	}
	out := append(make([]byte, 0, len(path)), path[:i]...)
	for ; i < len(path); i++ {
		c, ok := escaped(path[i:])
		switch {
		case !ok:
			out = append(out, path[i])
			continue
		case isUnreserved(c):
			out = append(out, c)
		default:
			out = append(out, '%', upperHex[c>>4], upperHex[c&15])
		}
		i += 2
	}
	return string(out)
}

const upperHex = "0123456789ABCDEF"

// escaped returns the byte that s begins with in percent-encoded form.
func escaped(s string) (byte, bool) {
	if len(s) < 3 || s[0] != '%' {
		return 0, false
	}
	hi, lo := unhex(s[1]), unhex(s[2])
	return byte(hi<<4 | lo), hi >= 0 && lo >= 0
}

func unhex(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}

func isUnreserved(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '.' || c == '_' || c == '~'
}

// siteOf returns the site of a URL, or "null" where it has none.
func siteOf(url string) string {
	u, err := weburl.Parse(url)
	if err != nil || !u.IsHTTP() {
		return "null"
	}
	return site(u)
}

// site is the scheme with the registrable domain: two URLs are of the same site when theirs are equal.
func site(u weburl.URL) string { return u.Scheme() + "://" + registrable(u.Hostname()) }

// registrable returns the public suffix of a host with one label more, or the host where there is no such. Whatever a host is
// called, the domains that cookies can be set for have the same as it has.
func registrable(host string) string {
	if isIP(host) {
		return host
	}
	host = strings.TrimSuffix(host, ".")
	suffix, _ := publicsuffix.PublicSuffix(host)
	above := len(host) - len(suffix) - 1 // bytes before the dot
	if above < 0 {
		return host
	}
	return host[strings.LastIndexByte(host[:above], '.')+1:]
}

// isSuffix reports whether nobody owns the whole of a domain.
func isSuffix(domain string) bool {
	if isIP(domain) {
		return false
	}
	domain = strings.TrimSuffix(domain, ".")
	suffix, _ := publicsuffix.PublicSuffix(domain)
	return suffix == domain
}

func isIP(host string) bool {
	if strings.HasPrefix(host, "[") {
		return true
	}
	if host == "" || host[len(host)-1] < '0' || host[len(host)-1] > '9' {
		return false // an address ends in a digit, a domain as URLs have them does not
	}
	_, err := netip.ParseAddr(host)
	return err == nil
}

// canonicalHost returns a host as URLs have it, "" for what is none.
func canonicalHost(host string) string {
	u, err := weburl.Parse("http://" + host + "/")
	if err != nil || u.Path() != "/" || u.HasUserInfo() || u.Host() != u.Hostname() || u.HasQuery() || u.HasFragment() {
		return ""
	}
	return u.Hostname()
}
