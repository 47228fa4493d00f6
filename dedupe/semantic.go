package dedupe

import (
	"slices"
	"strings"

	"github.com/seine-go/seine/internal/weburl"
)

// What SemanticPrecise escapes. Beyond urlcanon's sets a host, user or port keeps the escapes of what would end it, so
// that a key is read again as what it was made of.
var (
	semanticEscapes = allBut(strings.NewReplacer("#", "", "%", "").Replace(printable))
	semanticHost    = allBut(strings.NewReplacer("#", "", "%", "", "/", "", `\`, "", "?", "", "@", "", ":", "", "[", "", "]", "").Replace(printable))
	semanticPath    = allBut(strings.NewReplacer("#", "", "%", "", "?", "").Replace(printable))
	semanticQuery   = allBut(strings.NewReplacer("#", "", "%", "", "&", "", "=", "").Replace(printable))
)

// maxHostRounds bounds how often a host is mapped again. Two rounds settle all but names that were made to need more.
const maxHostRounds = 8

func appendSemantic(dst []byte, url string) ([]byte, error) {
	url = tidy(url)
	if url == "" {
		return dst, weburl.HostMissing
	}
	u := parseLoose(url, "http")
	host, isAddress := u.semanticHost()
	if u.special && !u.file && host == "" {
		return dst, weburl.HostMissing
	}
	dst = append(append(dst, u.scheme...), ':')
	if u.hasAuthority || u.file {
		dst = append(dst, "//"...)
	}
	if isAddress {
		dst = append(dst, host...)
	} else {
		dst = appendEscaped(dst, host, semanticHost)
	}
	if port := unescapeFully(u.port); port != "" {
		if trimmed := strings.TrimLeft(port, "0"); trimmed != "" && strings.Trim(port, digits) == "" {
			port = trimmed
		}
		if port != loosePorts[u.scheme] {
			dst = appendEscaped(append(dst, ':'), port, semanticHost)
		}
	}
	dst = appendEscaped(dst, u.semanticPath(), semanticPath)
	if u.hasQuery {
		dst = append(append(dst, '?'), semanticArguments(u.query)...)
	}
	if u.hasFragment {
		dst = appendEscaped(append(dst, '#'), unescapeFully(u.fragment), semanticEscapes)
	}
	return dst, nil
}

// semanticHost decodes and maps the host until it stays the same, and says whether it is an address.
func (u *looseURL) semanticHost() (host string, isAddress bool) {
	host = u.host
	for range maxHostRounds {
		before := host
		host = unescapeFully(host)
		if ip, ok := address(host); ok {
			return ip, true
		}
		host = trimDots(host)
		if u.special {
			mapped, ok := weburl.ToASCII(host)
			if !ok {
				mapped = lowerASCII(host)
			}
			host = trimDots(mapped)
		}
		if host == before {
			break
		}
	}
	return host, false
}

// trimDots removes dots around a host and makes one of many within.
func trimDots(host string) string {
	host = strings.Trim(host, ".")
	for strings.Contains(host, "..") {
		host = strings.ReplaceAll(host, "..", ".")
	}
	return host
}

func lowerASCII(s string) string {
	out := []byte(s)
	for i, b := range out {
		if 'A' <= b && b <= 'Z' {
			out[i] = b | 0x20
		}
	}
	return string(out)
}

func (u *looseURL) semanticPath() string {
	path := unescapeFully(u.path)
	if u.special {
		path = strings.ReplaceAll(path, `\`, "/")
	}
	if u.special && !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	if strings.HasPrefix(path, "/") {
		path = removeDotSegments(path)
	}
	switch {
	case u.special:
		path = collapseSlashes(path)
	case !u.hasAuthority && strings.HasPrefix(path, "//"):
		path = "/." + path // else it would be read as a host
	}
	return path
}

// semanticArguments sorts the arguments of a query, each decoded and escaped anew.
func semanticArguments(query string) string {
	arguments := strings.Split(query, "&")
	for i, argument := range arguments {
		name, value, hasValue := strings.Cut(argument, "=")
		recoded := appendEscaped(nil, unescapeFully(name), semanticQuery)
		if hasValue {
			recoded = appendEscaped(append(recoded, '='), unescapeFully(value), semanticQuery)
		}
		arguments[i] = string(recoded)
	}
	slices.Sort(arguments)
	return strings.Join(arguments, "&")
}
