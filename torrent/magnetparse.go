package torrent

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
	"unsafe"
)

// ParseMagnet reads a magnet link as it is found in the wild: with blanks around it, separators escaped for HTML, slashes
// before the question mark, blanks and any characters in values. What is not understood is passed over, but for the hash:
// without a valid one there is an error, a *MagnetError. Of several different hashes of a kind the first counts. Escapes
// are decoded once, after the link was split.
func ParseMagnet(s string) (m Magnet, err error) {
	if len(s) > MaxMagnetBytes {
		return Magnet{}, &MagnetError{Kind: ErrTooLong}
	}
	query, ok := cutURN(trim(s), magnetScheme)
	if !ok {
		return Magnet{}, &MagnetError{Kind: ErrNotMagnet}
	}
	query = cutMark(query)
	var p magnetParser
	if numbered := p.unnumbered(&m, query); numbered != nil {
		// Entries of numbered keys come first; as they are rare, the others are read again behind them.
		m, p = Magnet{}, magnetParser{}
		p.numbered(&m, numbered)
		p.unnumbered(&m, query)
	}
	m.Select = mergeRanges(m.Select)
	switch {
	case m.Version() != 0:
		return m, nil
	case p.badHash != "":
		return Magnet{}, &MagnetError{Kind: ErrInvalidInfoHash, Value: shortened(p.badHash)}
	}
	return Magnet{}, &MagnetError{Kind: ErrMissingInfoHash}
}

// magnetKey is a key that is read.
type magnetKey uint8

const (
	keyOther magnetKey = iota
	keyTopic
	keyTracker
	keyName
	keyLength
	keyWebSeed
	keySource
	keyFallback
	keyWords
	keyPeer
	keyNode
	keySelect
)

// keyOf compares without case.
func keyOf(key string) magnetKey {
	if len(key) == 2 {
		switch uint16(key[0]|0x20)<<8 | uint16(key[1]|0x20) {
		case 'x'<<8 | 't':
			return keyTopic
		case 't'<<8 | 'r':
			return keyTracker
		case 'd'<<8 | 'n':
			return keyName
		case 'x'<<8 | 'l':
			return keyLength
		case 'w'<<8 | 's':
			return keyWebSeed
		case 'x'<<8 | 's':
			return keySource
		case 'a'<<8 | 's':
			return keyFallback
		case 'k'<<8 | 't':
			return keyWords
		case 's'<<8 | 'o':
			return keySelect
		}
	}
	switch {
	case strings.EqualFold(key, "x.pe"):
		return keyPeer
	case strings.EqualFold(key, "dht"):
		return keyNode
	}
	return keyOther
}

// cutMark cuts up to the question mark before the parameters. Some links have slashes before it, and some have none.
func cutMark(s string) string {
	s = strings.TrimLeft(s, "/")
	for i := range len(s) {
		switch s[i] {
		case '?':
			return s[i+1:]
		case '=', '&':
			return s
		}
	}
	return s
}

// magnetParser is what it takes to fill a Magnet.
type magnetParser struct {
	badHash string // a hash that is none
	rest    string // what has not been read
	space   []byte // what is left of the memory for the texts of the Magnet, which does not keep the page that its link stood on

	trackers, webSeeds, sources, fallback, peers, nodes, words uniq
}

// numberedValue is a parameter whose key ends in a number, such as tr.1.
type numberedValue struct {
	key    magnetKey
	number int
	value  string // as it stands in the link
}

// numbered takes over parameters in the order of their numbers.
func (p *magnetParser) numbered(m *Magnet, list []numberedValue) {
	slices.SortStableFunc(list, func(a, b numberedValue) int { return a.number - b.number })
	for _, v := range list {
		p.parameter(m, v.key, v.value)
	}
}

// unnumbered reads the parameters whose key has no number, and returns the others.
func (p *magnetParser) unnumbered(m *Magnet, s string) (numbered []numberedValue) {
	for p.rest = s; p.rest != ""; {
		var pair string
		pair, p.rest = cutParameter(p.rest)
		eq := 2 // as most keys are of two letters
		if len(pair) <= eq || pair[eq] != '=' {
			eq = strings.IndexByte(pair, '=')
		}
		if eq < 0 || eq == len(pair)-1 {
			continue
		}
		key, value := keyOf(pair[:eq]), pair[eq+1:]
		if key != keyOther {
			p.parameter(m, key, value)
		} else if base, n, ok := cutNumber(pair[:eq]); ok && keyOf(base) != keyOther {
			numbered = append(numbered, numberedValue{keyOf(base), n, value})
		}
	}
	return numbered
}

// decode decodes escapes once; what is no escape stays as it is.
func (p *magnetParser) decode(s string, plus bool) string {
	if len(p.space) < len(s) {
		p.space = make([]byte, len(s)+len(p.rest))
	}
	n := copyDecoded(p.space, s, plus)
	if n == 0 {
		return ""
	}
	text := unsafe.String(&p.space[0], n) // these bytes are not written again
	p.space = p.space[n:]
	return text
}

// copyDecoded decodes into dst, which is long enough, and returns how many bytes there are.
func copyDecoded(dst []byte, s string, plus bool) (n int) {
	if strings.IndexByte(s, '%') < 0 && (!plus || strings.IndexByte(s, '+') < 0) {
		return copy(dst, s)
	}
	dst = dst[:len(s)]
	for i := 0; i < len(s); {
		if s[i] != '%' {
			from := i // a run without escapes, at once
			for i++; i < len(s) && s[i] != '%'; i++ {
			}
			copied := copy(dst[n:], s[from:i])
			if plus {
				for j, c := range dst[n : n+copied] {
					if c == '+' {
						dst[n+j] = ' '
					}
				}
			}
			n += copied
			continue
		}
		c := byte('%')
		if i+2 < len(s) {
			if a, b := hexDigit[s[i+1]], hexDigit[s[i+2]]; a|b <= 15 {
				c = a<<4 | b
				i += 2
			}
		}
		dst[n] = c
		n++
		i++
	}
	return n
}

// cutParameter cuts at the next separator: an ampersand, which may be escaped for HTML, even several times.
func cutParameter(s string) (pair, rest string) {
	i := strings.IndexByte(s, '&')
	if i < 0 {
		return s, ""
	}
	pair, rest = s[:i], s[i+1:]
	for rest != "" && (rest[0] == '#' || rest[0]|0x20 == 'a') {
		n := escapedAmpersand(rest)
		if n == 0 {
			break
		}
		rest = rest[n:]
	}
	return pair, rest
}

// escapedAmpersand returns the length of what follows the ampersand of "&amp;" and its like.
func escapedAmpersand(s string) int {
	for _, tail := range [...]string{"amp;", "#38;", "#x26;", "#038;"} {
		if len(s) >= len(tail) && strings.EqualFold(s[:len(tail)], tail) {
			return len(tail)
		}
	}
	return 0
}

// cutNumber splits a key such as tr.1.
func cutNumber(key string) (base string, n int, ok bool) {
	i := strings.LastIndexByte(key, '.')
	if i < 0 {
		return key, 0, false
	}
	n, ok = digits(key[i+1:])
	return key[:i], n, ok
}

// digits reads a number of decimal digits alone, up to nine.
func digits(s string) (n int, ok bool) {
	if s == "" || len(s) > 9 {
		return 0, false
	}
	for i := range len(s) {
		c := s[i] - '0'
		if c > 9 {
			return 0, false
		}
		n = n*10 + int(c)
	}
	return n, true
}

// parameter takes over a parameter; its value is still escaped.
func (p *magnetParser) parameter(m *Magnet, key magnetKey, value string) {
	switch key {
	case keyTopic:
		p.topic(m, value)
	case keyTracker:
		if t := trim(p.decode(value, false)); trackerScheme(t) {
			p.trackers.add(&m.Trackers, t)
		}
	case keyName:
		if m.Name == "" {
			m.Name = trim(p.decode(value, true))
			if !utf8.ValidString(m.Name) {
				m.Name = trim(strings.ToValidUTF8(m.Name, "\uFFFD"))
			}
		}
	case keyLength:
		if n, err := strconv.ParseInt(value, 10, 64); err == nil && n > 0 && m.Length == 0 && value[0] != '+' {
			m.Length = n
		}
	case keyWebSeed:
		p.add(&p.webSeeds, &m.WebSeeds, value)
	case keySource:
		p.add(&p.sources, &m.Sources, value)
	case keyFallback:
		p.add(&p.fallback, &m.Fallback, value)
	case keyWords:
		for word := range strings.FieldsSeq(p.decode(value, true)) {
			p.words.add(&m.Keywords, word)
		}
	case keyPeer:
		p.address(&p.peers, &m.Peers, value)
	case keyNode:
		p.address(&p.nodes, &m.Nodes, value)
	case keySelect:
		m.Select = appendRanges(m.Select, p.decode(value, false))
	}
}

func (p *magnetParser) add(seen *uniq, list *[]string, value string) {
	if value = trim(p.decode(value, false)); value != "" {
		seen.add(list, value)
	}
}

func (p *magnetParser) address(seen *uniq, list *[]string, value string) {
	if a, ok := hostPort(trim(p.decode(value, false))); ok {
		seen.add(list, a)
	}
}

// topic reads the hash of an xt.
func (p *magnetParser) topic(m *Magnet, s string) {
	if strings.IndexByte(s, '%') >= 0 {
		s = p.decode(s, false)
	}
	if digits, ok := cutURN(s, urnV1); ok {
		if !m.V1.IsZero() {
			return
		}
		if !decodeHashV1(&m.V1, digits) {
			m.V1, p.badHash = HashV1{}, s
		}
	} else if multihash, ok := cutURN(s, urnV2); ok && m.V2.IsZero() {
		if digits, ok := strings.CutPrefix(multihash, sha256Prefix); !ok || !decodeHashV2(&m.V2, digits) {
			m.V2, p.badHash = HashV2{}, s
		}
	}
}

// cutURN cuts off a prefix that is compared without case.
func cutURN(s, urn string) (rest string, ok bool) {
	if len(s) < len(urn) || s[:len(urn)] != urn && !strings.EqualFold(s[:len(urn)], urn) {
		return "", false
	}
	return s[len(urn):], true
}

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
		if err != nil || !addr.Is6() || host[len(host)-1] != ']' {
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
	return len(s) <= maxHost && (ascii || utf8.ValidString(s))
}
