package dedupe

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/seine-go/seine/internal/weburl"
)

var (
	errEmpty = errors.New("empty")
	// What w3lib leaves as it is in fragments and parameters, and in paths. Percent signs are looked at one by one.
	w3libEscapes     = allBut(reserved + unreserved + "|%")
	w3libPathEscapes = allBut(strings.ReplaceAll(reserved, "#", "") + unreserved + "|%")
)

func (c *Canonicalizer) appendW3lib(dst []byte, url string) ([]byte, error) {
	if url = tidy(url); url == "" {
		return dst, errEmpty
	}
	var u looseURL
	scheme, rest, hasScheme := cutScheme(url)
	if hasScheme {
		u.scheme = strings.ToLower(scheme)
		dst = append(append(dst, u.scheme...), ':')
	}
	rest = u.cutTail(rest)
	if authority, ok := strings.CutPrefix(rest, "//"); ok {
		end := strings.IndexByte(authority, '/')
		if end < 0 {
			end = len(authority)
		}
		authority, rest = authority[:end], authority[end:]
		u.hasAuthority = true
		dst = appendW3libAuthority(append(dst, "//"...), authority)
	}
	dst = u.appendW3libPath(dst, rest)
	dst = c.appendW3libQuery(dst, u.query)
	if c.options.KeepFragments && u.fragment != "" {
		dst = appendEscaped(append(dst, '#'), u.fragment, w3libEscapes)
	}
	return dst, nil
}

// appendW3libAuthority appends user info as it is, and the host in lower case and its ASCII form, where it has one.
func appendW3libAuthority(dst []byte, authority string) []byte {
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		dst = append(appendEscaped(dst, authority[:at], unprintable), '@')
		authority = authority[at+1:]
	}
	var u looseURL
	u.cutAuthority(authority)
	host, ok := weburl.ToASCII(u.host)
	if !ok {
		host = u.host
	}
	dst = appendW3libHost(dst, host)
	if port := strings.TrimRight(u.port, ":"); port != "" {
		dst = appendW3libHost(append(dst, ':'), port)
	}
	return dst
}

// appendW3libHost appends a host in lower case, but its escapes in upper case.
func appendW3libHost(dst []byte, host string) []byte {
	host = string(appendEscaped(nil, host, unprintable))
	for i := 0; i < len(host); i++ {
		if b, ok := escapeAt(host, i); ok {
			dst = appendByte(dst, b, true)
			i += 2
		} else {
			dst = append(dst, lowerASCII(host[i:i+1])...)
		}
	}
	return dst
}

// appendW3libPath decodes and escapes the path anew; parameters, which begin at the first semicolon, are only escaped.
func (u *looseURL) appendW3libPath(dst []byte, path string) []byte {
	parameters := ""
	if _, special := loosePorts[u.scheme]; special {
		if semicolon := strings.IndexByte(path, ';'); semicolon >= 0 {
			path, parameters = path[:semicolon], path[semicolon:]
		}
	}
	if path == "" && parameters == "" {
		return append(dst, '/')
	}
	start := len(dst)
	d := decoder{dst: dst}
	for i := 0; i < len(path); i++ {
		b, ok := escapeAt(path, i)
		switch {
		case ok:
			d.decoded(b, w3libPathEscapes[b] || b == '/' || b == '?' || b == '%')
			i += 2
		case w3libPathEscapes[path[i]]:
			d.decoded(path[i], true)
		default:
			d.literal(path[i])
		}
	}
	dst = appendEscaped(d.dst, parameters, w3libEscapes)
	if u.scheme == "" && !u.hasAuthority {
		if _, _, ok := cutScheme(string(dst[start:])); ok { // a decoded "a%3Ab" must not become a scheme (RFC 3986, 4.2)
			dst = slices.Insert(dst, start, '.', '/')
		}
	}
	return dst
}

// appendW3libQuery sorts the arguments by name and value and encodes them as HTML forms do.
func (c *Canonicalizer) appendW3libQuery(dst []byte, query string) []byte {
	type argument struct{ name, value string }
	separator := c.separator
	if c.encoding != nil {
		query = c.encoding.encode(query)
	}
	var arguments []argument
	for field := range strings.SplitSeq(query, string(separator)) {
		if field != "" {
			name, value, _ := strings.Cut(field, "=")
			arguments = append(arguments, argument{formDecode(name), formDecode(value)})
		}
	}
	slices.SortFunc(arguments, func(a, b argument) int {
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.value, b.value))
	})
	mark := byte('?')
	for _, a := range arguments {
		dst = append(appendForm(append(dst, mark), a.name), '=')
		dst = appendForm(dst, a.value)
		mark = separator
	}
	return dst
}

func formDecode(s string) string { return unescape(strings.ReplaceAll(s, "+", " ")) }

func appendForm(dst []byte, s string) []byte {
	for i := range len(s) {
		if s[i] == ' ' {
			dst = append(dst, '+')
		} else {
			dst = appendByte(dst, s[i], !isUnreserved[s[i]])
		}
	}
	return dst
}
