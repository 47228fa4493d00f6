package dedupe

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/seine-go/seine/internal/weburl"
)

var (
	errScheme = errors.New("none of the schemes http, https, ftp and file with a path")
	// What crawler-commons escapes in paths and queries, and backslashes, which it refuses.
	commonsEscapes = allBut(strings.NewReplacer(`"`, "", "#", "", "<", "", ">", "", "[", "", "]", "", "^", "", "`", "",
		"{", "", "|", "", "}", "", `\`, "").Replace(printable))
)

func (c *Canonicalizer) appendCrawlerCommons(dst []byte, url string) ([]byte, error) {
	url, _, _ = strings.Cut(strings.Trim(url, c0AndBlank), "#")
	scheme, rest, ok := cutScheme(url)
	switch {
	case !ok || rest != "" && isDigit[rest[0]]: // no scheme, or what reads as one is a host with a port
		scheme, rest = "http", "//"+url
	case !strings.HasPrefix(rest, "/"):
		return dst, errScheme
	}
	scheme = strings.ToLower(scheme)
	if scheme != "http" && scheme != "https" && scheme != "ftp" && scheme != "file" {
		return dst, errScheme
	}
	dst = append(append(dst, scheme...), ':')
	if authority, ok := strings.CutPrefix(rest, "//"); ok {
		end := strings.IndexAny(authority, `/?\`)
		if end < 0 {
			end = len(authority)
		}
		authority, rest = authority[:end], authority[end:]
		var err error
		if dst, err = appendCommonsAuthority(dst, scheme, authority, rest); err != nil {
			return dst, err
		}
	}
	path, query, _ := strings.Cut(rest, "?")
	path = string(appendUnreserved(nil, escapeStray(path), false))
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	dst = append(dst, removeDotSegments(collapseSlashes(path))...)
	return c.appendCommonsQuery(dst, query), nil
}

// appendCommonsAuthority appends "//", host and port, without user info. Without a host an http URL has no "//" either,
// and needs a path.
func appendCommonsAuthority(dst []byte, scheme, authority, rest string) ([]byte, error) {
	if authority == "" {
		if !strings.HasPrefix(rest, "/") {
			return dst, weburl.HostMissing
		}
		if scheme == "file" {
			dst = append(dst, "//"...)
		}
		return dst, nil
	}
	u := looseURL{scheme: scheme}
	u.cutAuthority(authority)
	host, err := commonsHost(u.host)
	if err != nil {
		return dst, err
	}
	dst = append(append(dst, "//"...), host...)
	if u.port == "" {
		return dst, nil
	}
	port, err := strconv.ParseUint(u.port, 10, 16)
	if err != nil {
		return dst, weburl.PortInvalid
	}
	if digits := strconv.FormatUint(port, 10); digits != loosePorts[scheme] {
		dst = append(append(dst, ':'), digits...)
	}
	return dst, nil
}

// commonsHost decodes and maps a host. It does not read numbers as addresses, as browsers do.
func commonsHost(host string) (string, error) {
	if strings.HasPrefix(host, "[") {
		ip, ok := address(host)
		if !ok {
			return "", weburl.IPv6Invalid
		}
		return ip, nil
	}
	mapped, ok := weburl.ToASCII(unescape(host))
	if !ok {
		return "", weburl.IDNAInvalid
	}
	mapped = strings.TrimRight(mapped, ".")
	if mapped == "" {
		return "", weburl.HostMissing
	}
	for i := range len(mapped) {
		if !isUnreserved[mapped[i]] && strings.IndexByte("!$&'()*+,;=", mapped[i]) < 0 {
			return "", weburl.HostInvalid
		}
	}
	return mapped, nil
}

// escapeStray escapes what may not stand in a URL, and percent signs that begin no escape.
func escapeStray(s string) string {
	out := make([]byte, 0, len(s))
	for i := range len(s) {
		escape := commonsEscapes[s[i]]
		if s[i] == '%' {
			_, ok := escapeAt(s, i)
			escape = !ok
		}
		out = appendByte(out, s[i], escape)
	}
	return string(out)
}

// appendCommonsQuery appends the arguments sorted by name, without those that are to be removed and those without a name.
func (c *Canonicalizer) appendCommonsQuery(dst []byte, query string) []byte {
	type argument struct{ name, value string }
	var arguments []argument
	query = string(appendUnreserved(nil, escapeStray(query), false))
	for field := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(field, "=")
		if name != "" && !c.remove[name] {
			arguments = append(arguments, argument{name, value})
		}
	}
	slices.SortStableFunc(arguments, func(a, b argument) int { return cmp.Compare(a.name, b.name) })
	mark := byte('?')
	for _, a := range arguments {
		dst = append(append(dst, mark), a.name...)
		if a.value != "" {
			dst = append(append(dst, '='), a.value...)
		}
		mark = '&'
	}
	return dst
}
