package proxy

import (
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// Bounds of a proxy's parts.
const (
	maxHost     = 255 // of a name in SOCKS5 and in DNS
	maxUserInfo = 255 // of user and of password in SOCKS5; more is of no use to Basic either
)

// ParseError says what is wrong with the text of a proxy. It holds neither user name nor password.
type ParseError struct {
	Index  int    // of the proxy within the route, from 0
	Scheme string // of the proxy; empty when it has none
	Reason string
}

// Error returns "seine: proxy INDEX: reason".
func (e *ParseError) Error() string {
	s := "seine: proxy " + strconv.Itoa(e.Index)
	if e.Scheme != "" {
		s += " (" + e.Scheme + ")"
	}
	return s + ": " + e.Reason
}

// hop is one proxy of a chain.
type hop struct {
	scheme         string
	host, port     string // host without brackets
	user, password string
	auth           bool // there is user info, be it empty
}

var defaultPorts = map[string]string{"http": "80", "https": "443", "socks5": "1080", "socks5h": "1080"}

// parseHop reads a proxy. It is written by hand since passwords of real proxies hold what a URL parser refuses, and since
// a parser's error would repeat them.
func parseHop(raw string) (hop, *ParseError) {
	scheme, rest, found := strings.Cut(strings.TrimSpace(raw), "://")
	if !found {
		return hop{}, &ParseError{Reason: "not of the form scheme://host:port"}
	}
	h := hop{scheme: strings.ToLower(scheme)}
	fail := func(reason string) (hop, *ParseError) {
		return hop{}, &ParseError{Scheme: safeScheme(h.scheme), Reason: reason}
	}
	port, known := defaultPorts[h.scheme]
	if !known {
		return fail("unknown kind of proxy; known are http, https, socks5 and socks5h")
	}
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		user, password, _ := strings.Cut(rest[:at], ":")
		h.user, h.password, h.auth = unescape(user), unescape(password), true
		if len(h.user) > maxUserInfo || len(h.password) > maxUserInfo {
			return fail("user or password is longer than 255 bytes")
		}
		rest = rest[at+1:]
	}
	rest = strings.TrimSuffix(rest, "/")
	var ok bool
	if h.host, h.port, ok = splitHostPort(rest, port); !ok {
		return fail("the host or the port is not valid")
	}
	return h, nil
}

// safeScheme returns a scheme for an error text, unless it is no scheme and may be part of a secret.
func safeScheme(s string) string {
	for _, c := range []byte(s) {
		if !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.') {
			return ""
		}
	}
	if len(s) > 32 {
		return ""
	}
	return s
}

// unescape takes percent-encoding away where it is one, and leaves any other text as it stands.
func unescape(s string) string {
	if t, err := url.PathUnescape(s); err == nil {
		return t
	}
	return s
}

// splitHostPort reads host[:port] with IPv6 addresses in brackets. A name is returned in the form in which it is asked
// for, an address in its canonical one.
func splitHostPort(s, defaultPort string) (host, port string, ok bool) {
	host, port = s, defaultPort
	if strings.HasPrefix(s, "[") {
		end := strings.IndexByte(s, ']')
		if end < 0 {
			return "", "", false
		}
		addr, err := netip.ParseAddr(s[1:end])
		if err != nil || addr.Zone() != "" || !addr.Is6() {
			return "", "", false
		}
		host = addr.String()
		if tail := s[end+1:]; tail != "" {
			if tail[0] != ':' {
				return "", "", false
			}
			port = tail[1:]
		}
	} else if before, after, found := strings.Cut(s, ":"); found {
		host, port = before, after
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 || port[0] == '+' {
		return "", "", false
	}
	if !strings.Contains(host, ":") {
		host, ok = asciiHost(host)
		if !ok {
			return "", "", false
		}
	}
	return host, strconv.FormatUint(n, 10), true
}

// asciiHost returns a name in the form of the wire.
func asciiHost(host string) (string, bool) {
	ascii := strings.ToLower(host)
	if !isPlainName(ascii) { // a plain one may hold what IDNA refuses: an underscore
		var err error
		if ascii, err = idna.Lookup.ToASCII(host); err != nil || !isPlainName(ascii) {
			return "", false
		}
	}
	return ascii, ascii != "" && len(ascii) <= maxHost
}

func isPlainName(s string) bool {
	for _, c := range []byte(s) {
		if !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.') {
			return false
		}
	}
	return true
}

func (h hop) addr() string { return net.JoinHostPort(h.host, h.port) }

// label names the proxy without its credentials.
func (h hop) label() string { return h.scheme + "://" + h.addr() }

// key is the label with the credentials; escaped, so that no two proxies can have the same.
func (h hop) key() string {
	if !h.auth {
		return h.label()
	}
	return h.scheme + "://" + url.QueryEscape(h.user) + ":" + url.QueryEscape(h.password) + "@" + h.addr()
}
