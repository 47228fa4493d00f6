package cookie

import (
	"strconv"
	"strings"
	"time"
)

// line is a Set-Cookie line, parsed.
type line struct {
	name, value string

	domain, path       string
	hasDomain, hasPath bool
	expires            time.Time
	hasExpires         bool
	maxAge             int64 // seconds
	hasMaxAge          bool
	secure, httpOnly   bool
	partitioned        bool
	sameSite           SameSite
}

// parseLine is RFC 6265bis 5.6, but that a pair without a name is refused as in RFC 6265 5.2. Of attributes that are
// repeated the last one counts.
func parseLine(s string) (l line, err error) {
	if hasControl(s) {
		return l, errControl
	}
	pair, rest, _ := strings.Cut(s, ";")
	name, value, ok := strings.Cut(pair, "=")
	if l.name, l.value = trim(name), trim(value); !ok || l.name == "" {
		return line{}, errNoName
	}
	if len(l.name)+len(l.value) > MaxPair {
		return l, errTooLong
	}
	for rest != "" {
		var attribute string
		attribute, rest, _ = strings.Cut(rest, ";")
		name, value, _ := strings.Cut(attribute, "=")
		if value = trim(value); len(value) <= MaxAttribute {
			l.attribute(trim(name), value)
		}
	}
	return l, nil
}

func (l *line) attribute(name, value string) {
	switch {
	case strings.EqualFold(name, "expires"):
		if t, ok := parseDate(value); ok {
			l.expires, l.hasExpires = t, true
		}
	case strings.EqualFold(name, "max-age"):
		if n, ok := parseMaxAge(value); ok {
			l.maxAge, l.hasMaxAge = n, true
		}
	case strings.EqualFold(name, "domain"):
		l.domain, l.hasDomain = lowerASCII(strings.TrimPrefix(value, ".")), true
	case strings.EqualFold(name, "path"):
		l.path, l.hasPath = value, true
	case strings.EqualFold(name, "secure"):
		l.secure = true
	case strings.EqualFold(name, "httponly"):
		l.httpOnly = true
	case strings.EqualFold(name, "samesite"):
		l.sameSite = parseSameSite(value)
	case strings.EqualFold(name, "partitioned"):
		l.partitioned = true
	}
}

func lowerASCII(s string) string {
	for i := range len(s) {
		if s[i] >= 'A' && s[i] <= 'Z' || s[i] >= 0x80 {
			b := []byte(s)
			for i, c := range b {
				if c >= 'A' && c <= 'Z' {
					b[i] = c + 'a' - 'A'
				}
			}
			return string(b)
		}
	}
	return s
}

// parseMaxAge takes digits, maybe behind a minus sign; more than an int64 holds are as many as it holds.
func parseMaxAge(s string) (int64, bool) {
	digits := strings.TrimPrefix(s, "-")
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	n, _ := strconv.ParseInt(s, 10, 64) // saturates
	return n, true
}

// cookie makes the cookie that a line sets in an exchange.
func (l *line) cookie(p *place, now time.Time, maxAge time.Duration) (Cookie, error) {
	c := Cookie{
		Name: l.name, Value: l.value, Domain: p.host, HostOnly: true, Path: p.defaultPath(), Expires: l.expiry(now, maxAge),
		Secure: l.secure, HTTPOnly: l.httpOnly, SameSite: l.sameSite, Created: now, Accessed: now,
	}
	if strings.HasPrefix(l.path, "/") {
		c.Path = l.path
	}
	if l.partitioned {
		c.Partition = p.partition()
	}
	if l.domain != "" {
		switch {
		case isSuffix(l.domain) && l.domain != p.host:
			return c, errSuffix
		case l.domain[0] == '.' || !p.domainMatch(l.domain):
			return c, errDomain
		case !isSuffix(l.domain):
			c.Domain, c.HostOnly = l.domain, isIP(l.domain)
		}
	}
	switch {
	case len(c.Path) > MaxPath:
		return c, errPath
	case c.Secure && !p.secure:
		return c, errInsecure
	case c.SameSite == None && !c.Secure:
		return c, errNotSecure
	case c.SameSite != None && p.cross && !p.navigation:
		return c, errCrossSite
	}
	return c, c.checkPrefix(l.hasPath)
}

// expiry is the end of a cookie in the caller's time, zero for the end of the session. maxAge bounds it; negative: no bound.
func (l *line) expiry(now time.Time, maxAge time.Duration) time.Time {
	end := l.expires
	switch {
	case l.hasMaxAge && l.maxAge <= 0:
		return now
	case l.hasMaxAge:
		end = now.Add(time.Duration(min(l.maxAge, maxSeconds)) * time.Second)
	case !l.hasExpires:
		return time.Time{}
	}
	if most := now.Add(maxAge); maxAge >= 0 && end.After(most) {
		return most
	}
	return end.Round(0) // without the monotonic clock, which files do not keep
}

// maxSeconds is the longest Max-Age that is reckoned with, in seconds: 200 years.
const maxSeconds = 200 * 366 * 86400

// Parse returns the cookie that a Set-Cookie line would set at the given time if a Jar without settings were asked, or an
// *Error that says why it would set none. A cookie that has ended already is one that deletes.
func Parse(x Exchange, setCookie string, now time.Time) (Cookie, error) {
	l, err := parseLine(setCookie)
	if err != nil {
		return Cookie{}, &Error{l.name, err}
	}
	p, err := x.place()
	if err != nil {
		return Cookie{}, &Error{l.name, err}
	}
	c, err := l.cookie(&p, now, DefaultMaxAge)
	if err != nil {
		return Cookie{}, &Error{l.name, err}
	}
	return c, nil
}
