package dedupe

import (
	"bytes"
	"math"
	"strconv"
	"strings"

	"github.com/seine-go/seine/internal/weburl"
)

// looseURL is a URL cut into its parts without any judgement. Its parts are text as it stands in the URL.
type looseURL struct {
	scheme        string
	hasAuthority  bool
	hasUser       bool
	user          string
	hasPassword   bool
	password      string
	host          string
	hasPort       bool
	port          string
	path          string
	hasQuery      bool
	query         string
	hasFragment   bool
	fragment      string
	special, file bool
}

// loosePorts are the schemes with rules of their own, and their default ports.
var loosePorts = map[string]string{
	"http": "80", "https": "443", "ftp": "21", "ws": "80", "wss": "443", "gopher": "70", "file": "",
}

const c0AndBlank = "\x00\x01\x02\x03\x04\x05\x06\x07\x08\t\n\x0b\x0c\r\x0e\x0f" +
	"\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f "

// tidy drops what URL parsers drop: controls and blanks around, tabs and newlines within.
func tidy(url string) string {
	url = strings.Trim(url, c0AndBlank)
	if !strings.ContainsAny(url, "\t\n\r") {
		return url
	}
	return strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(url)
}

// cutScheme cuts "scheme:" off (RFC 3986, 3.1).
func cutScheme(s string) (scheme, rest string, ok bool) {
	colon := strings.IndexByte(s, ':')
	if colon <= 0 || !strings.Contains(letters, s[:1]) {
		return "", s, false
	}
	for i := range colon {
		if !isSchemeMember[s[i]] {
			return "", s, false
		}
	}
	return s[:colon], s[colon+1:], true
}

// cutTail cuts fragment and query off.
func (u *looseURL) cutTail(s string) (rest string) {
	s, u.fragment, u.hasFragment = strings.Cut(s, "#")
	s, u.query, u.hasQuery = strings.Cut(s, "?")
	return s
}

// parseLoose cuts a URL as urlcanon's parser does. An empty scheme becomes defaultScheme.
func parseLoose(url, defaultScheme string) looseURL {
	var u looseURL
	scheme, rest, ok := cutScheme(url)
	if !ok {
		scheme = defaultScheme
	}
	u.scheme = strings.ToLower(scheme)
	_, u.special = loosePorts[u.scheme]
	u.file = u.scheme == "file"
	rest = u.cutTail(rest)
	switch {
	case u.file:
		if len(rest) < 2 || strings.Trim(rest[:2], `/\`) != "" {
			u.path = rest
			return u
		}
		rest = rest[2:]
	case u.special:
		rest = strings.TrimLeft(rest, `/\`)
	case strings.HasPrefix(rest, "//"):
		rest = rest[2:]
	default:
		u.path = rest
		return u
	}
	u.hasAuthority = true
	end := strings.IndexByte(rest, '/')
	if u.special {
		end = strings.IndexAny(rest, `/\`)
	}
	if end < 0 {
		end = len(rest)
	}
	u.path = rest[end:]
	u.cutAuthority(rest[:end])
	return u
}

// cutAuthority cuts an authority; that of a file is all host.
func (u *looseURL) cutAuthority(s string) {
	if u.file {
		u.host = s
		return
	}
	if at := strings.LastIndexByte(s, '@'); at >= 0 {
		u.hasUser = true
		u.user, u.password, u.hasPassword = strings.Cut(s[:at], ":")
		s = s[at+1:]
	}
	colon := strings.IndexByte(s, ':')
	if strings.HasPrefix(s, "[") {
		if end := strings.IndexByte(s, ']'); end >= 0 {
			colon = end + 1
			if colon < len(s) && s[colon] != ':' {
				colon = -1
			}
		}
	}
	if colon < 0 || colon >= len(s) {
		u.host = s
		return
	}
	u.host, u.port, u.hasPort = s[:colon], s[colon+1:], true
}

// address returns a host that is an IP address in its usual form.
func address(host string) (string, bool) {
	if strings.HasPrefix(host, "[") {
		u, err := weburl.Parse("http://" + host + "/")
		if err != nil || u.Port() != "" || u.Path() != "/" || u.HasQuery() || u.HasFragment() || u.HasUserInfo() {
			return "", false
		}
		return u.Hostname(), true
	}
	return looseIPv4(host)
}

// looseIPv4 reads an IPv4 address of one to four numbers, decimal, octal or hexadecimal, of which the last fills what is
// left; an empty number is zero.
func looseIPv4(host string) (string, bool) {
	parts := strings.Split(strings.TrimSuffix(host, "."), ".")
	if host == "" || len(parts) > 4 {
		return "", false
	}
	var value uint64
	for i, part := range parts {
		n, ok := looseNumber(part)
		most := uint64(255)
		if i == len(parts)-1 {
			most = math.MaxUint32 >> (8 * (len(parts) - 1))
		}
		if !ok || n > most {
			return "", false
		}
		if i < len(parts)-1 {
			n <<= 8 * (3 - i)
		}
		value |= n
	}
	numbers := make([]byte, 0, len("255.255.255.255"))
	for shift := 24; shift >= 0; shift -= 8 {
		numbers = strconv.AppendUint(numbers, value>>shift&255, 10)
		if shift > 0 {
			numbers = append(numbers, '.')
		}
	}
	return string(numbers), true
}

func looseNumber(s string) (uint64, bool) {
	base := 10
	switch {
	case strings.HasPrefix(s, "0x") || strings.HasPrefix(s, "0X"):
		base, s = 16, s[2:]
	case len(s) > 1 && s[0] == '0':
		base, s = 8, s[1:]
	}
	if s == "" {
		return 0, true
	}
	if s[0] == '+' || s[0] == '-' {
		return 0, false
	}
	n, err := strconv.ParseUint(s, base, 64)
	return n, err == nil
}

// removeDotSegments is RFC 3986, 5.2.4, for a path that starts with a slash. It works in one pass.
func removeDotSegments(path string) string {
	if !strings.Contains(path, "/.") {
		return path
	}
	out := make([]byte, 0, len(path))
	for rest := path; rest != ""; {
		segment := rest[1:]
		if slash := strings.IndexByte(segment, '/'); slash >= 0 {
			segment = segment[:slash]
		}
		rest = rest[1+len(segment):]
		switch segment {
		case ".", "..":
			if segment == ".." {
				out = out[:max(0, bytes.LastIndexByte(out, '/'))]
			}
			if rest == "" {
				out = append(out, '/')
			}
		default:
			out = append(append(out, '/'), segment...)
		}
	}
	return string(out)
}

// collapseSlashes makes one slash of many.
func collapseSlashes(path string) string {
	if !strings.Contains(path, "//") {
		return path
	}
	out := make([]byte, 0, len(path))
	for i := range len(path) {
		if path[i] != '/' || len(out) == 0 || out[len(out)-1] != '/' {
			out = append(out, path[i])
		}
	}
	return string(out)
}
