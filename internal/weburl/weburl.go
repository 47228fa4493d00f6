// Package weburl parses and resolves URLs as browsers do (the URL standard, https://url.spec.whatwg.org/).
//
//	u, err := weburl.Parse("HTTP://Example.com:80/a/../b?q#f") // http://example.com/b?q#f
//	links := weburl.NewBase(u, "utf-8")
//	href, err := links.AppendResolve(nil, []byte("../c"))      // http://example.com/c
//
// A URL is the href that the standard's serialiser writes, with the places of its parts. The common links of web pages
// take a path that copies bytes (fast.go); it answers only where the full parser (parse.go) would answer the same.
// Nothing is canonicalised beyond what the standard says: keys for comparing URLs are the matter of package dedupe.
package weburl

import "strings"

// MaxLength is the greatest length in bytes of an input and of the href made of it.
const MaxLength = 64 << 10

// URL is a parsed absolute URL: its href and where its parts lie in it. It is immutable and may be copied and used by
// many goroutines; its accessors do not allocate unless they say so. The zero value is no URL: all its parts are empty.
type URL struct {
	href string
	at   layout
}

// layout holds the ends of the parts of an href. Parts that are missing are empty.
//
//	https : // user : password @ host : port  /path ?query #fragment
//	      scheme   user       host^  hostEnd^  path  pathEnd queryEnd
type layout struct {
	scheme    int32 // the colon behind the scheme
	user      int32 // end of the user name
	host      int32 // start of the host; one behind the colon when there is no authority
	hostEnd   int32
	authority int32 // end of the port
	path      int32 // start of the path: authority, or two more for the "/." that keeps a path from reading as a host
	pathEnd   int32
	queryEnd  int32
}

// Parse parses an absolute URL. The error is an *Error.
func Parse(raw string) (URL, error) {
	if u, ok := parseFast(raw); ok {
		return u, nil
	}
	return parse("parse", raw, nil)
}

// Resolve parses ref with u as its base. The error is an *Error.
func (u URL) Resolve(ref string) (URL, error) { return parse("resolve", ref, &u) }

func parse(op, raw string, base *URL) (URL, error) {
	p := parser{base: base}
	if reason := p.run(raw); reason != 0 {
		return URL{}, newError(op, raw, reason)
	}
	return p.url(), nil
}

// Href returns the whole URL.
func (u URL) Href() string { return u.href }

// String returns the href without user info, so that a URL printed by accident shows no password. It is Redacted.
func (u URL) String() string { return u.Redacted() }

// Scheme returns the scheme in lower case, without its colon.
func (u URL) Scheme() string { return u.href[:u.at.scheme] }

// IsHTTP reports whether the scheme is http or https.
func (u URL) IsHTTP() bool { s := u.Scheme(); return s == "http" || s == "https" }

// IsPlain reports whether this is an http or https URL without user info, escapes and fragment: no two ways to write it
// are left.
func (u URL) IsPlain() bool {
	return u.IsHTTP() && !u.HasUserInfo() && !u.HasFragment() && strings.IndexByte(u.href, '%') < 0
}

// HasAuthority reports whether "//" and a host, which may be empty, follow the scheme.
func (u URL) HasAuthority() bool { return u.at.host > u.at.scheme+1 }

// HasUserInfo reports whether the URL holds a user name or a password.
func (u URL) HasUserInfo() bool { return u.at.host > u.at.scheme+3 }

// Username returns the user name as it is written, percent-encoded.
func (u URL) Username() string {
	if !u.HasUserInfo() {
		return ""
	}
	return u.href[u.at.scheme+3 : u.at.user]
}

// Password returns the password as it is written, percent-encoded.
func (u URL) Password() string {
	if !u.HasUserInfo() || u.href[u.at.user] != ':' {
		return ""
	}
	return u.href[u.at.user+1 : u.at.host-1]
}

// Hostname returns the host without its port, as it is serialised: IPv6 addresses in brackets, international names in
// their ASCII form.
func (u URL) Hostname() string { return u.href[u.at.host:u.at.hostEnd] }

// Host returns the host with ":port" when the port is not the default one.
func (u URL) Host() string { return u.href[u.at.host:u.at.authority] }

// Port returns the port in decimal digits, "" when it is the default one or none is written.
func (u URL) Port() string {
	if u.at.authority == u.at.hostEnd {
		return ""
	}
	return u.href[u.at.hostEnd+1 : u.at.authority]
}

// PortOrDefault returns the port, or the default port of the scheme; "" when there is neither.
func (u URL) PortOrDefault() string {
	if p := u.Port(); p != "" {
		return p
	}
	return defaultPort(u.Scheme())
}

// Path returns the path, percent-encoded. It starts with "/" for all http URLs.
func (u URL) Path() string { return u.href[u.at.path:u.at.pathEnd] }

// HasQuery reports whether the URL has a query, which may be empty.
func (u URL) HasQuery() bool { return u.at.queryEnd > u.at.pathEnd }

// Query returns the query without its question mark.
func (u URL) Query() string {
	if !u.HasQuery() {
		return ""
	}
	return u.href[u.at.pathEnd+1 : u.at.queryEnd]
}

// HasFragment reports whether the URL has a fragment, which may be empty.
func (u URL) HasFragment() bool { return int(u.at.queryEnd) < len(u.href) }

// Fragment returns the fragment without its number sign.
func (u URL) Fragment() string {
	if !u.HasFragment() {
		return ""
	}
	return u.href[u.at.queryEnd+1:]
}

// RequestTarget returns path and query as an HTTP request names them (RFC 9112, 3.2.1); "/" at least.
func (u URL) RequestTarget() string {
	if u.at.path == u.at.queryEnd {
		return "/"
	}
	return u.href[u.at.path:u.at.queryEnd]
}

// Origin returns "scheme://host[:port]", or "null" for schemes whose origin is opaque. It allocates for a URL with user
// info and for blob URLs, whose origin is that of the http URL inside.
func (u URL) Origin() string {
	switch s := u.Scheme(); s {
	case "http", "https", "ws", "wss", "ftp":
		if u.HasUserInfo() {
			return s + "://" + u.Host()
		}
		return u.href[:u.at.authority]
	case "blob":
		if inner, err := Parse(u.Path()); err == nil && inner.IsHTTP() {
			return inner.Origin()
		}
	}
	return "null"
}

// WithoutFragment returns the URL without its fragment.
func (u URL) WithoutFragment() URL {
	u.href = u.href[:u.at.queryEnd]
	return u
}

// WithoutUserInfo returns the URL without user name and password. It allocates when there are such.
func (u URL) WithoutUserInfo() URL {
	if !u.HasUserInfo() {
		return u
	}
	start := u.at.scheme + 3
	cut := u.at.host - start
	u.href = u.href[:start] + u.href[u.at.host:]
	u.at.user = start
	for _, end := range []*int32{&u.at.host, &u.at.hostEnd, &u.at.authority, &u.at.path, &u.at.pathEnd, &u.at.queryEnd} {
		*end -= cut
	}
	return u
}

// Redacted returns the href without user info, fit for errors and logs.
func (u URL) Redacted() string { return u.WithoutUserInfo().href }

// hasOpaquePath reports whether the path is a text without structure, as in "mailto:a@b".
func (u URL) hasOpaquePath() bool {
	return !u.HasAuthority() && !strings.HasPrefix(u.href[u.at.authority:], "/")
}

func defaultPort(scheme string) string {
	switch scheme {
	case "http", "ws":
		return "80"
	case "https", "wss":
		return "443"
	case "ftp":
		return "21"
	}
	return ""
}

// isSpecial reports whether the standard gives the scheme rules of its own.
func isSpecial(scheme string) bool { return scheme == "file" || defaultPort(scheme) != "" }
