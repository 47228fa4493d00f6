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

// notOfHost tells the ASCII characters that no host name has.
var notOfHost = func() (t [utf8.RuneSelf]bool) {
	for c := range t {
		t[c] = c <= ' ' || c == 0x7f || strings.IndexByte("/\\?#@:[]<>\"'%", byte(c)) >= 0
	}
	return t
}()

// isHost tells whether s may be a host name or an IPv4 address; letters of any script may stand in it.
func isHost(s string) bool {
	ascii := true
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			ascii = false
		} else if notOfHost[s[i]] {
			return false
		}
	}
	return len(s) <= maxHost && (ascii || utf8.ValidString(s) && !strings.ContainsFunc(s, isHidden))
}

// isHidden tells characters that are not seen, or as a blank alone.
func isHidden(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) }
