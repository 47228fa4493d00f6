package weburl

import "strings"

// Split finds the parts of a string that already is an href, as Href or AppendResolve gave it: the URL is the one that
// Parse returns. It does not validate and does not allocate; of a string that cannot be an href it reports false, of any
// other string that is none it may return a URL with odd parts, but never with parts beyond the string.
func Split(href string) (URL, bool) {
	scheme, rest, ok := cutScheme(href)
	if !ok || len(href) > MaxLength {
		return URL{}, false
	}
	at := layout{scheme: int32(len(scheme))}
	pos := at.scheme + 1
	at.user, at.host, at.hostEnd = pos, pos, pos
	special := isSpecial(scheme)
	switch {
	case strings.HasPrefix(rest, "//"):
		pos = splitAuthority(href, &at)
		if special && scheme != "file" && at.hostEnd == at.host {
			return URL{}, false
		}
	case special:
		return URL{}, false
	}
	at.authority, at.path = pos, pos
	if !strings.HasPrefix(rest, "//") && strings.HasPrefix(rest, "/.//") {
		at.path += 2
	}
	tail := href[at.path:]
	if special && (tail == "" || tail[0] != '/') {
		return URL{}, false
	}
	at.queryEnd = int32(len(href))
	if hash := strings.IndexByte(tail, '#'); hash >= 0 {
		at.queryEnd = at.path + int32(hash)
		tail = tail[:hash]
	}
	at.pathEnd = at.queryEnd
	if mark := strings.IndexByte(tail, '?'); mark >= 0 {
		at.pathEnd = at.path + int32(mark)
	}
	return URL{href: href, at: at}, true
}

// splitAuthority fills in the parts of the authority and returns its end.
func splitAuthority(href string, at *layout) int32 {
	start := int(at.scheme) + 3
	end, sign := start, -1
scan:
	for ; end < len(href); end++ {
		switch href[end] {
		case '/', '?', '#':
			break scan
		case '@':
			if sign < 0 {
				sign = end
			}
		}
	}
	at.user, at.host = int32(start), int32(start)
	if sign >= 0 {
		user, _, _ := strings.Cut(href[start:sign], ":")
		at.user = int32(start + len(user))
		at.host = int32(sign + 1)
	}
	authority := href[at.host:end]
	host, _, _ := cutPort(authority)
	at.hostEnd = at.host + int32(len(host))
	return int32(end)
}
