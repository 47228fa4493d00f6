package weburl

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"
)

const (
	c0AndSpace = "\x00\x01\x02\x03\x04\x05\x06\x07\x08\t\n\x0b\x0c\r\x0e\x0f" +
		"\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f "
	tabAndNewline = "\t\n\r"
)

// parser is the basic URL parser of the standard (https://url.spec.whatwg.org/#url-parsing). Its states are methods that
// each take the rest of the input, instead of a loop over code points: the input is UTF-8 and all delimiters are ASCII,
// so that a state can cut its part out at once. The href is written to out as the parts are found.
type parser struct {
	base         *URL           // nil without one
	encoding     *queryEncoding // of the document; nil is UTF-8
	dropFragment bool

	scheme  string
	special bool
	out     []byte
	at      layout
}

// run parses raw. Reason 0 means that out and at are the URL.
func (p *parser) run(raw string) Reason {
	if len(raw) > MaxLength {
		return TooLong
	}
	if reason := p.start(tidy(raw)); reason != 0 {
		return reason
	}
	if len(p.out) > MaxLength {
		return TooLong
	}
	return 0
}

// url returns the URL that run has found.
func (p *parser) url() URL { return URL{href: string(p.out), at: p.at} }

// tidy takes off what the parser never sees: blanks and controls around, tabs and newlines within, broken UTF-8.
func tidy(raw string) string {
	s := strings.Trim(raw, c0AndSpace)
	if !utf8.ValidString(s) {
		// The decoder replaces each maximal subpart, as https://encoding.spec.whatwg.org/#utf-8-decoder does.
		s, _ = unicode.UTF8.NewDecoder().String(s)
	}
	if !strings.ContainsAny(s, tabAndNewline) {
		return s
	}
	clean := make([]byte, 0, len(s))
	for i := range len(s) {
		if strings.IndexByte(tabAndNewline, s[i]) < 0 {
			clean = append(clean, s[i])
		}
	}
	return string(clean)
}

// cutScheme cuts "scheme:" off.
func cutScheme(s string) (scheme, rest string, ok bool) {
	if s == "" || !isAlpha(s[0]) {
		return "", s, false
	}
	for i := range len(s) {
		switch b := s[i]; {
		case b == ':':
			return s[:i], s[i+1:], true
		case !isAlpha(b) && !isDigit(b) && b != '+' && b != '-' && b != '.':
			return "", s, false
		}
	}
	return "", s, false
}

// start is the scheme and no scheme states and those that only choose the next one.
func (p *parser) start(s string) Reason {
	scheme, rest, ok := cutScheme(s)
	if !ok {
		return p.noScheme(s)
	}
	p.setScheme(strings.ToLower(scheme))
	switch {
	case p.scheme == "file":
		return p.file(rest)
	case p.special && p.base != nil && p.base.Scheme() == p.scheme && !strings.HasPrefix(rest, "//"):
		return p.relative(rest)
	case p.special:
		return p.authority(strings.TrimLeft(rest, `/\`))
	case strings.HasPrefix(rest, "//"):
		return p.authority(rest[2:])
	case strings.HasPrefix(rest, "/"):
		p.noAuthority()
		return p.path(rest[1:])
	}
	return p.opaquePath(rest)
}

func (p *parser) noScheme(s string) Reason {
	if p.base == nil {
		return NoBase
	}
	p.setScheme(p.base.Scheme())
	switch {
	case p.base.hasOpaquePath():
		if !strings.HasPrefix(s, "#") {
			return OpaqueBase
		}
		p.copyBase(p.base.at.queryEnd)
		return p.fragment(s)
	case p.scheme == "file":
		return p.file(s)
	}
	return p.relative(s)
}

func (p *parser) setScheme(scheme string) {
	p.scheme, p.special = scheme, isSpecial(scheme)
}

// relative is the relative and relative slash states.
func (p *parser) relative(s string) Reason {
	switch {
	case p.startsWithSlash(s):
		s = s[1:]
		if p.special && p.startsWithSlash(s) {
			return p.authority(strings.TrimLeft(s, `/\`))
		}
		if strings.HasPrefix(s, "/") {
			return p.authority(s[1:])
		}
		p.copyBase(p.base.at.authority)
		return p.path(s)
	case s == "" || s[0] == '#':
		p.copyBase(p.base.at.queryEnd)
		return p.fragment(s)
	case s[0] == '?':
		p.copyBase(p.base.at.pathEnd)
		return p.query(s)
	}
	p.copyBase(p.base.at.pathEnd)
	p.openPath()
	p.shorten()
	return p.path(s)
}

// copyBase takes over the base up to an end of one of its parts.
func (p *parser) copyBase(end int32) {
	p.out = append(p.out[:0], p.base.href[:end]...)
	p.at = p.base.at
	p.at.path = min(p.at.path, end)
	p.at.pathEnd = min(p.at.pathEnd, end)
	p.at.queryEnd = min(p.at.queryEnd, end)
}

// openPath takes the "/." off a copied path that is going to change; closePath sets it again where it is still due.
func (p *parser) openPath() {
	if p.at.path > p.at.authority {
		p.out = append(p.out[:p.at.authority], p.out[p.at.path:]...)
		p.at.path = p.at.authority
	}
}

func (p *parser) noAuthority() {
	p.out = append(append(p.out[:0], p.scheme...), ':')
	end := int32(len(p.out))
	p.at = layout{scheme: end - 1, user: end, host: end, hostEnd: end, authority: end, path: end}
}

// openAuthority writes the scheme and "//".
func (p *parser) openAuthority() {
	p.out = append(append(p.out[:0], p.scheme...), "://"...)
	end := int32(len(p.out))
	p.at = layout{scheme: end - 3, user: end, host: end}
}

func (p *parser) closeAuthority() {
	p.at.authority = int32(len(p.out))
	p.at.path = p.at.authority
}

// authority is the authority, host and port states.
func (p *parser) authority(s string) Reason {
	end := p.delimiter(s)
	authority, rest := s[:end], s[end:]
	p.openAuthority()
	at := strings.LastIndexByte(authority, '@')
	if at >= 0 {
		p.userInfo(authority[:at])
		authority = authority[at+1:]
	}
	host, port, hasPort := cutPort(authority)
	if host == "" && (p.special || hasPort || at >= 0) {
		return HostMissing
	}
	if reason := p.writeHost(host); reason != 0 {
		return reason
	}
	if reason := p.writePort(port); reason != 0 {
		return reason
	}
	return p.pathStart(rest)
}

func (p *parser) userInfo(s string) {
	user, password, _ := strings.Cut(s, ":")
	p.out = appendEncoded(p.out, user, userInfoSet)
	p.at.user = int32(len(p.out))
	if password != "" {
		p.out = appendEncoded(append(p.out, ':'), password, userInfoSet)
	}
	if user != "" || password != "" {
		p.out = append(p.out, '@')
	}
	p.at.host = int32(len(p.out))
}

// cutPort cuts at the first colon outside brackets.
func cutPort(s string) (host, port string, hasPort bool) {
	brackets := false
	for i := range len(s) {
		switch s[i] {
		case '[':
			brackets = true
		case ']':
			brackets = false
		case ':':
			if !brackets {
				return s[:i], s[i+1:], true
			}
		}
	}
	return s, "", false
}

func (p *parser) writeHost(host string) (reason Reason) {
	p.out, reason = appendHost(p.out, host, p.special)
	p.at.hostEnd = int32(len(p.out))
	return reason
}

func (p *parser) writePort(port string) Reason {
	value := 0
	for i := range len(port) {
		if !isDigit(port[i]) {
			return PortInvalid
		}
		if value = value*10 + int(port[i]-'0'); value > 0xFFFF {
			return PortInvalid
		}
	}
	if port != "" {
		for len(port) > 1 && port[0] == '0' {
			port = port[1:]
		}
		if port != defaultPort(p.scheme) {
			p.out = append(append(p.out, ':'), port...)
		}
	}
	p.closeAuthority()
	return 0
}

func (p *parser) pathStart(s string) Reason {
	if p.startsWithSlash(s) {
		return p.path(s[1:])
	}
	if p.special {
		return p.path(s)
	}
	p.at.pathEnd = int32(len(p.out))
	return p.query(s)
}

// path appends the segments of s to the path in out.
func (p *parser) path(s string) Reason {
	for {
		end := p.delimiter(s)
		segment := s[:end]
		more := end < len(s) && s[end] != '?' && s[end] != '#'
		dots := dotSegment(segment)
		if dots == 2 {
			p.shorten()
		}
		switch {
		case dots > 0 && !more:
			p.out = append(p.out, '/')
		case dots > 0:
		case p.scheme == "file" && int(p.at.path) == len(p.out) && isDrive(segment):
			p.out = append(p.out, '/', segment[0], ':')
		default:
			p.out = appendEncoded(append(p.out, '/'), segment, pathSet)
		}
		if !more {
			p.closePath()
			return p.query(s[end:])
		}
		s = s[end+1:]
	}
}

// closePath puts "/." before a path that would read as an authority where there is none.
func (p *parser) closePath() {
	if p.at.host == p.at.scheme+1 && bytes.HasPrefix(p.out[p.at.path:], []byte("//")) {
		p.out = append(p.out, "/."...)
		copy(p.out[p.at.path+2:], p.out[p.at.path:])
		copy(p.out[p.at.path:], "/.")
		p.at.path += 2
	}
	p.at.pathEnd = int32(len(p.out))
}

// shorten takes the last segment off, but not the drive letter of a file.
func (p *parser) shorten() {
	path := p.out[p.at.path:]
	if p.scheme == "file" && len(path) == 3 && startsWithDrivePath(string(path)) {
		return
	}
	if slash := bytes.LastIndexByte(path, '/'); slash >= 0 {
		p.out = p.out[:int(p.at.path)+slash]
	}
}

// opaquePath takes s up to the query as it stands. A blank at its end would be lost when the href is parsed again.
func (p *parser) opaquePath(s string) Reason {
	p.noAuthority()
	end := strings.IndexAny(s, "?#")
	if end < 0 {
		end = len(s)
	}
	if path, trailing := s[:end], s[end:]; trailing != "" && strings.HasSuffix(path, " ") {
		p.out = append(appendEncoded(p.out, path[:end-1], controlSet), "%20"...)
	} else {
		p.out = appendEncoded(p.out, path, controlSet)
	}
	p.at.pathEnd = int32(len(p.out))
	return p.query(s[end:])
}

// query takes s, which is empty or starts with a question mark or a number sign.
func (p *parser) query(s string) Reason {
	if strings.HasPrefix(s, "?") {
		query, rest := s[1:], ""
		if hash := strings.IndexByte(query, '#'); hash >= 0 {
			query, rest = query[:hash], query[hash:]
		}
		p.out = append(p.out, '?')
		switch {
		case !p.special:
			p.out = appendEncoded(p.out, query, querySet)
		case p.encoding == nil || p.scheme == "ws" || p.scheme == "wss":
			p.out = appendEncoded(p.out, query, specialQuerySet)
		default:
			p.out = p.encoding.appendEncoded(p.out, query)
		}
		s = rest
	}
	p.at.queryEnd = int32(len(p.out))
	return p.fragment(s)
}

// fragment takes s, which is empty or starts with a number sign.
func (p *parser) fragment(s string) Reason {
	if s != "" && !p.dropFragment {
		p.out = appendEncoded(append(p.out, '#'), s[1:], fragmentSet)
	}
	return 0
}

// delimiter returns where the next of / ? # and, for special schemes, \ is; len(s) without one.
func (p *parser) delimiter(s string) int {
	for i := range len(s) {
		switch s[i] {
		case '/', '?', '#':
			return i
		case '\\':
			if p.special {
				return i
			}
		}
	}
	return len(s)
}

func (p *parser) startsWithSlash(s string) bool {
	return s != "" && (s[0] == '/' || s[0] == '\\' && p.special)
}
