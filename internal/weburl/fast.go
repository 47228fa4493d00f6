package weburl

// The fast path: links that need no change but joining. It proves byte by byte that the full parser would copy them, and
// gives up at the first doubt. Its functions take strings and bytes alike.

type text interface{ string | []byte }

// classes of bytes on the fast path
const (
	hostByte   = 1 << iota // stands for itself in a host name: lower case
	hostMark               // as well, but may begin a label or IDNA: . and -
	pathByte               // stands for itself in a path
	pathDot                // as well, but may belong to a dot segment: . and %
	queryByte              // stands for itself in a query
	schemeByte             // may belong to a scheme
)

var classOf = func() (table [256]uint8) {
	for i := range table {
		b := byte(i)
		if isAlpha(b) || isDigit(b) || b == '+' || b == '-' || b == '.' {
			table[i] |= schemeByte
		}
		switch {
		case b == '.' || b == '-':
			table[i] |= hostMark
		case 'a' <= b && b <= 'z' || isDigit(b) || b == '_':
			table[i] |= hostByte
		}
		if mustEncode[i]&specialQuerySet == 0 {
			table[i] |= queryByte
		}
		switch {
		case b == '.' || b == '%':
			table[i] |= pathDot
		case mustEncode[i]&pathSet == 0 && b != '\\':
			table[i] |= pathByte
		}
	}
	return table
}()

// parseFast parses an http or https URL that is an href already.
func parseFast(s string) (URL, bool) {
	scheme := httpPrefix(s)
	if scheme == 0 || len(s) > MaxLength {
		return URL{}, false
	}
	hostEnd, end := scanAuthority(s, scheme, scheme == len("https://"))
	if end < 0 || end == len(s) || s[end] != '/' {
		return URL{}, false
	}
	pathEnd, dots := scanPath(s, end+1)
	if pathEnd < 0 || dots {
		return URL{}, false
	}
	queryEnd := pathEnd
	if pathEnd < len(s) {
		if queryEnd = scanQuery(s, pathEnd); queryEnd < 0 {
			return URL{}, false
		}
		for i := queryEnd; i < len(s); i++ {
			if mustEncode[s[i]]&fragmentSet != 0 {
				return URL{}, false
			}
		}
	}
	return URL{href: s, at: layout{
		scheme: int32(scheme - 3), user: int32(scheme), host: int32(scheme), hostEnd: int32(hostEnd),
		authority: int32(end), path: int32(end), pathEnd: int32(pathEnd), queryEnd: int32(queryEnd),
	}}, true
}

// Clean reports whether s certainly is an http or https href without user info, fragment and escapes, as most links of
// most pages are. It does not allocate.
func Clean(s string) bool {
	scheme := httpPrefix(s)
	if scheme == 0 || len(s) > MaxLength {
		return false
	}
	_, i := scanAuthority(s, scheme, scheme == len("https://"))
	if i < 0 || i == len(s) || s[i] != '/' {
		return false
	}
	for i++; i < len(s) && s[i] != '?'; i++ {
		if classOf[s[i]]&pathByte == 0 && (s[i] != '.' || s[i-1] == '/') {
			return false
		}
	}
	for i++; i < len(s); i++ {
		if classOf[s[i]]&queryByte == 0 || s[i] == '%' {
			return false
		}
	}
	return true
}

// httpPrefix returns the length of "http://" or "https://" in front of s, 0 without.
func httpPrefix[T text](s T) int {
	switch {
	case len(s) >= 7 && string(s[:7]) == "http://":
		return 7
	case len(s) >= 8 && string(s[:8]) == "https://":
		return 8
	}
	return 0
}

// scanAuthority scans host and port of an http or https URL from start. It returns the ends of host and authority, −1
// where the full parser must decide: user info, upper case, IDNA, odd numbers, default ports.
func scanAuthority[T text](s T, start int, https bool) (hostEnd, end int) {
	i, label := start, start
	for ; i < len(s); i++ {
		class := classOf[s[i]]
		if class&hostByte != 0 {
			continue
		}
		if class&hostMark == 0 {
			break
		}
		if s[i] == '.' {
			label = i + 1
		} else if i >= start+3 && s[i-1] == '-' && s[i-2] == 'n' && s[i-3] == 'x' {
			return -1, -1
		}
	}
	if i == label || isDigit(s[label]) && !isPlainIPv4(s[start:i]) {
		return -1, -1
	}
	hostEnd = i
	if i < len(s) && s[i] == ':' {
		if i = scanPort(s, i+1, https); i < 0 {
			return -1, -1
		}
	}
	if i < len(s) && s[i] != '/' && s[i] != '?' && s[i] != '#' {
		return -1, -1
	}
	return hostEnd, i
}

// scanPort returns the end of a port that is written as the standard would.
func scanPort[T text](s T, i int, https bool) int {
	start, port := i, 0
	for ; i < len(s) && isDigit(s[i]) && i < start+6; i++ {
		port = port*10 + int(s[i]-'0')
	}
	if i == start || s[start] == '0' || port > 0xFFFF || !https && port == 80 || https && port == 443 {
		return -1
	}
	return i
}

// isPlainIPv4 reports whether s is four decimal numbers of a byte each without leading zeros.
func isPlainIPv4[T text](s T) bool {
	value, digits, dots := 0, 0, 0
	for i := range len(s) {
		digit := s[i] - '0'
		switch {
		case digit <= 9 && (digits == 0 || value > 0):
			value = value*10 + int(digit)
			digits++
			if value > 255 {
				return false
			}
		case s[i] == '.' && digits > 0:
			value, digits = 0, 0
			dots++
		default:
			return false
		}
	}
	return dots == 3 && digits > 0
}

// scanPath returns the end of the path that starts a segment at i, and whether it may hold dot segments; −1 when a byte
// of it would be encoded.
func scanPath[T text](s T, i int) (end int, dots bool) {
	for start := i; i < len(s); i++ {
		class := classOf[s[i]]
		if class&pathByte != 0 {
			continue
		}
		if class&pathDot == 0 {
			break
		}
		if s[i] == '.' {
			dots = dots || i == start || s[i-1] == '/'
		} else {
			dots = dots || i+2 < len(s) && s[i+1] == '2' && s[i+2]|0x20 == 'e'
		}
	}
	if i < len(s) && s[i] != '?' && s[i] != '#' {
		return -1, false
	}
	return i, dots
}

// scanQuery returns the end of the query at i, which may be missing.
func scanQuery[T text](s T, i int) int {
	if i == len(s) || s[i] == '#' {
		return i
	}
	for i++; i < len(s) && classOf[s[i]]&queryByte != 0; i++ {
	}
	if i < len(s) && s[i] != '#' {
		return -1
	}
	return i
}

// dotSegment returns 1 for ".", 2 for ".." and 0 for all other segments; %2e counts as a dot.
func dotSegment[T text](s T) int {
	n := 0
	for i := 0; i < len(s); n++ {
		switch {
		case n == 2:
			return 0
		case s[i] == '.':
			i++
		case len(s) >= i+3 && s[i] == '%' && s[i+1] == '2' && s[i+2]|0x20 == 'e':
			i += 3
		default:
			return 0
		}
	}
	return n
}
