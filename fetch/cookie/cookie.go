// Package cookie keeps cookies as browsers do: RFC 6265bis, with the bytes of names and values as they came.
//
//	jar := cookie.New(cookie.Options{})
//	jar.Set(cookie.Exchange{URL: "https://films.example/"}, "lang=中文; Path=/; Secure")
//	fmt.Println(jar.Header(cookie.Exchange{URL: "https://films.example/a"})) // lang=中文
//
// A Jar holds the cookies of one session; Jars opens one by the name of a session and keeps it in a Store. A
// fetch.Transport with such Jars stores and sends cookies by itself. Jars are saved as JSON without loss, and as a
// cookies.txt file; HTTP and Import lead to and from http.CookieJar.
//
// It differs from the draft where RFC 6265 and the public tests of that standard do: a line without a name sets nothing,
// and paths are compared after RFC 3986 6.2.2, so that /f%6Fo is /foo. Nothing but https counts as secure, not even
// loopback.
package cookie

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Bounds of what a Set-Cookie line may hold (RFC 6265bis 5.6). A longer pair sets nothing, a longer attribute is left out.
const (
	MaxPair      = 4096     // bytes of name and value
	MaxAttribute = 1024     // bytes of the value of an attribute
	MaxPath      = 16 << 10 // bytes of a path that was taken from the URL; a longer one sets nothing
)

// SameSite says which requests that come from other sites get a cookie.
type SameSite uint8

// The values of SameSite.
const (
	Default SameSite = iota // none was given, or one that is unknown: as Lax, and for POSTs too in the first two minutes
	None                    // every request
	Lax                     // pages that a user goes to, with a safe method
	Strict                  // requests of the same site alone
)

var sameSiteNames = [...]string{"", "None", "Lax", "Strict"}

// String returns the value as it stands in a Set-Cookie line, "" for Default.
func (s SameSite) String() string {
	if int(s) < len(sameSiteNames) {
		return sameSiteNames[s]
	}
	return fmt.Sprintf("SameSite(%d)", uint8(s))
}

func parseSameSite(s string) SameSite {
	for i, name := range sameSiteNames {
		if i > 0 && strings.EqualFold(s, name) {
			return SameSite(i)
		}
	}
	return Default
}

// Cookie is a cookie as a Jar keeps it.
type Cookie struct {
	Name, Value string // bytes as they came, quotation marks included

	Domain   string    // host that set it, or the domain that it set it for: as URLs have it, without a leading dot
	HostOnly bool      // no Domain was given: subdomains do not get it
	Path     string    // begins with a slash
	Expires  time.Time // zero: the cookie ends with the session
	Secure   bool      // https alone
	HTTPOnly bool      // kept from scripts
	SameSite SameSite

	// Partition is the site of the page on top ("https://films.example") beneath which alone the cookie is sent; "" for one
	// that is not partitioned.
	Partition string

	Created  time.Time // when the first cookie of its name, domain and path came
	Accessed time.Time // when it was last sent or set
}

// expired reports whether the cookie has come to its end.
func (c *Cookie) expired(now time.Time) bool { return !c.Expires.IsZero() && !c.Expires.After(now) }

// same reports whether one cookie replaces the other (RFC 6265bis 5.7).
func (c *Cookie) same(o *Cookie) bool {
	return c.Name == o.Name && c.Path == o.Path && c.Domain == o.Domain && c.HostOnly == o.HostOnly && c.Partition == o.Partition
}

// Matches reports whether the cookie belongs to the host and path of a URL, and may be sent to its scheme.
func (c *Cookie) Matches(url string) bool {
	x, err := Exchange{URL: url}.place()
	return err == nil && c.belongs(&x)
}

func (c *Cookie) belongs(p *place) bool {
	if c.Secure && !p.secure {
		return false
	}
	if c.HostOnly && c.Domain != p.host || !p.domainMatch(c.Domain) {
		return false
	}
	return pathMatch(p.path, plainPath(c.Path))
}

// check refuses what no Set-Cookie line could have brought.
func (c *Cookie) check() error {
	switch {
	case c.Name == "":
		return errNoName
	case len(c.Name)+len(c.Value) > MaxPair:
		return errTooLong
	case hasControl(c.Name) || hasControl(c.Value) || hasControl(c.Path):
		return errControl
	case strings.ContainsAny(c.Name, ";=") || strings.ContainsAny(c.Value, ";") || trim(c.Name) != c.Name || trim(c.Value) != c.Value:
		return errPair
	case c.Domain == "" || !c.HostOnly && c.Domain[0] == '.' || c.Domain != canonicalHost(c.Domain):
		return errDomain
	case !c.HostOnly && isSuffix(c.Domain):
		return errSuffix
	case !strings.HasPrefix(c.Path, "/") || len(c.Path) > MaxPath || trim(c.Path) != c.Path:
		return errPath
	case !c.Expires.IsZero() && (c.Expires.Year() < 1 || c.Expires.Year() > 9999):
		return errExpires
	case c.SameSite > Strict:
		return errSameSite
	}
	return c.checkPrefix(true)
}

// checkPrefix holds a cookie to what its name promises (RFC 6265bis 4.1.3).
func (c *Cookie) checkPrefix(pathGiven bool) error {
	secure, host := hasPrefixFold(c.Name, "__Secure-"), hasPrefixFold(c.Name, "__Host-")
	if (secure || host) && !c.Secure || host && (!c.HostOnly || c.Path != "/" || !pathGiven) {
		return errPrefix
	}
	if c.Partition != "" && !c.Secure {
		return errPartitioned
	}
	return nil
}

// Error says why a cookie is not taken. The value of the cookie is not in it.
type Error struct {
	Name string // of the cookie; "" where there is none
	Err  error
}

// Error returns "seine: cookie NAME: cause".
func (e *Error) Error() string { return fmt.Sprintf("seine: cookie %q: %v", e.Name, e.Err) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// The causes.
var (
	errControl     = errors.New("it holds a control character")
	errNoName      = errors.New("it has no name")
	errTooLong     = fmt.Errorf("name and value have more than %d bytes", MaxPair)
	errPair        = errors.New("name or value hold what no Set-Cookie line can bring")
	errPath        = fmt.Errorf("the path is not one, or has more than %d bytes", MaxPath)
	errExpires     = errors.New("the expiry is beyond the years 1 to 9999")
	errSameSite    = errors.New("the SameSite is none of the values")
	errDomain      = errors.New("the domain is not that of the host")
	errSuffix      = errors.New("the domain is a public suffix")
	errInsecure    = errors.New("a secure cookie came over an insecure connection")
	errPrefix      = errors.New("it is not what the prefix of its name promises")
	errNotSecure   = errors.New("SameSite=None is for secure cookies alone")
	errPartitioned = errors.New("partitioned cookies are secure")
	errCrossSite   = errors.New("a part of a page of another site set a cookie for its own site")
	errURL         = errors.New("the URL is not one of http or https")
)

func trim(s string) string { return strings.Trim(s, " \t") }

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// hasControl reports whether s holds a control character other than a tab.
func hasControl(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' && c != '\t' || c == 0x7f {
			return true
		}
	}
	return false
}
