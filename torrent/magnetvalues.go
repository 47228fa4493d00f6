package torrent

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// appendRanges reads the indices and ranges of an so; what is none of these is passed over.
func appendRanges(list []Range, s string) []Range {
	for part := range strings.SplitSeq(s, ",") {
		from, to, ranged := strings.Cut(part, "-")
		first, ok := digits(from)
		last := first
		if ranged && ok {
			last, ok = digits(to)
		}
		if ok && first <= last && last <= MaxSelect {
			list = append(list, Range{first, last})
		}
	}
	return list
}

// mergeRanges sorts ranges and joins those that touch.
func mergeRanges(ranges []Range) []Range {
	if len(ranges) < 2 {
		return ranges
	}
	slices.SortFunc(ranges, func(a, b Range) int { return a.First - b.First })
	merged := ranges[:1]
	for _, r := range ranges[1:] {
		if last := &merged[len(merged)-1]; r.First <= last.Last+1 {
			last.Last = max(last.Last, r.Last)
		} else {
			merged = append(merged, r)
		}
	}
	return merged
}

// hostPort checks an address and brings it into its usual form.
func hostPort(s string) (string, bool) {
	i := strings.LastIndexByte(s, ':')
	if i <= 0 {
		return "", false
	}
	host, port := s[:i], s[i+1:]
	n, ok := digits(port)
	if !ok || n < 1 || n > 65535 {
		return "", false
	}
	if host[0] == '[' {
		addr, err := netip.ParseAddr(strings.TrimSuffix(host[1:], "]"))
		if err != nil || !addr.Is6() || addr.Zone() != "" || host[len(host)-1] != ']' {
			return "", false
		}
		host = "[" + addr.String() + "]"
	} else if !isHost(host) {
		return "", false
	}
	if port[0] != '0' && s[:i] == host {
		return s, true
	}
	return host + ":" + strconv.Itoa(n), true
}

// maxHost is the greatest length of a host name, in bytes.
const maxHost = 253

// maxLabel is the greatest length of a label of a host name, in bytes.
const maxLabel = 63

// isHost tells whether s may be a host name or an IPv4 address. Labels hold letters, digits, hyphens but at their
// ends (RFC 1123, 2.1), underscores as they are found, and letters of any script. A name whose last label is a number
// is an address, as the URL standard has it.
func isHost(s string) bool {
	if len(s) == 0 || len(s) > maxHost {
		return false
	}
	last := ""
	for label := range strings.SplitSeq(strings.TrimSuffix(s, "."), ".") {
		if !isLabel(label) {
			return false
		}
		last = label
	}
	if strings.Trim(last, "0123456789") == "" {
		addr, err := netip.ParseAddr(s)
		return err == nil && addr.Is4()
	}
	return true
}

func isLabel(s string) bool {
	if s == "" || s[0] == '-' || s[len(s)-1] == '-' {
		return false
	}
	ascii := true
	for i := range len(s) {
		switch c := s[i]; {
		case c >= utf8.RuneSelf:
			ascii = false
		case !('a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '_'):
			return false
		}
	}
	if ascii {
		return len(s) <= maxLabel
	}
	return utf8.ValidString(s) && !strings.ContainsFunc(s, isNoLetter)
}

// isNoLetter tells characters beyond ASCII that no host name holds.
func isNoLetter(r rune) bool {
	return r >= utf8.RuneSelf && !unicode.In(r, unicode.L, unicode.M, unicode.Nd)
}
