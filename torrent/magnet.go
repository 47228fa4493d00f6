package torrent

import (
	"fmt"
	"iter"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Magnet is a magnet link to a torrent (BEP 9, 46, 53). Lists hold each entry once, in the order of the link; entries of
// numbered keys come first, in the order of their numbers. At least one of the hashes is set in a valid link.
//
// It reads itself from text, so that a field of this type in JSON, or of a type that is extracted from a page, just works.
type Magnet struct {
	V1      HashV1 // xt=urn:btih
	V2      HashV2 // xt=urn:btmh
	Name    string // dn: valid UTF-8, not made safe as a file name; empty when there is none
	Length  int64  // xl, in bytes; zero when there is none
	Select  []Range
	Peers   []string // x.pe: host:port, where host is a name, an IPv4 address or a bracketed IPv6 address
	Nodes   []string // dht: nodes of the hash table, as Peers
	Keyword []string // kt

	Trackers []string // tr: http, https, udp, ws and wss URLs; each is a tier of its own
	WebSeeds []string // ws
	Sources  []string // xs: where the torrent file, or another link to it, is
	Fallback []string // as: where the content is
}

// Range is a run of indices of files, from First to Last (so; BEP 53).
type Range struct{ First, Last int }

// Bounds of magnet links.
const (
	MaxMagnetBytes = 256 << 10   // of a link, which bounds all lists in it
	MaxSelect      = 1<<20 - 1   // the largest index of a file that is read from so
	magnetScheme   = "magnet:"   // compared without case
	urnV1          = "urn:btih:" // compared without case
	urnV2          = "urn:btmh:" // compared without case
	sha256Prefix   = "1220"      // of a multihash: SHA2-256 of 32 bytes
)

// MagnetError is the fault of a magnet link.
type MagnetError struct {
	Kind  ErrorKind // ErrNotMagnet, ErrMissingInfoHash, ErrInvalidInfoHash, ErrTooLong
	Value string    // what is at fault, shortened; may be empty
}

func (e *MagnetError) Error() string {
	if e.Value == "" {
		return "seine: magnet: " + string(e.Kind)
	}
	return fmt.Sprintf("seine: magnet: %s: %.80q", string(e.Kind), e.Value)
}

// Unwrap gives the kind to errors.Is.
func (e *MagnetError) Unwrap() error { return e.Kind }

// Files gives the indices of the files that Select selects, in order.
func (m *Magnet) Files() iter.Seq[int] {
	return func(yield func(int) bool) {
		for _, r := range m.Select {
			for i := r.First; i <= r.Last; i++ {
				if !yield(i) {
					return
				}
			}
		}
	}
}

// Version tells which hashes the link has.
func (m *Magnet) Version() Version {
	var v Version
	if !m.V1.IsZero() {
		v |= V1
	}
	if !m.V2.IsZero() {
		v |= V2
	}
	return v
}

// ParseMagnet reads a magnet link as it is found in the wild: with blanks around it, separators escaped for HTML, slashes
// before the question mark, blanks and any characters in values. What is not understood is passed over, but for the hash:
// without a valid one there is an error, a *MagnetError. Of several different hashes of a kind the first counts. Escapes
// are decoded once, after the link was split.
func ParseMagnet(s string) (Magnet, error) {
	if len(s) > MaxMagnetBytes {
		return Magnet{}, &MagnetError{Kind: ErrTooLong}
	}
	s = trim(s)
	if len(s) < len(magnetScheme) || !strings.EqualFold(s[:len(magnetScheme)], magnetScheme) {
		return Magnet{}, &MagnetError{Kind: ErrNotMagnet, Value: s}
	}
	var p magnetParser
	p.query(s[len(magnetScheme):])
	return p.finish()
}

// magnetParser reads the parameters of a link.
type magnetParser struct {
	m       Magnet
	badHash string          // a hash that is none
	decoded strings.Builder // holds the decoded values, one behind the other

	trackers, webSeeds, sources, fallback, peers, nodes, keywords uniq
}

// numberedValue is a parameter whose key ends in a number.
type numberedValue struct {
	key, value string
	number     int
}

// query reads the parameters.
func (p *magnetParser) query(s string) {
	s = strings.TrimLeft(s, "/")
	if i := strings.IndexAny(s, "?=&"); i >= 0 && s[i] == '?' {
		s = s[i+1:]
	}
	p.decoded.Grow(len(s))
	numbered := p.unnumbered(s)
	if numbered == nil {
		return
	}
	*p = magnetParser{} // they come first: begin again
	slices.SortStableFunc(numbered, func(a, b numberedValue) int { return a.number - b.number })
	for _, v := range numbered {
		p.parameter(v.key, v.value)
	}
	p.unnumbered(s)
}

// unnumbered reads the parameters whose key has no number, and returns the others.
func (p *magnetParser) unnumbered(s string) (numbered []numberedValue) {
	for s != "" {
		var pair string
		pair, s = cutParameter(s)
		key, value, _ := strings.Cut(pair, "=")
		if value == "" {
			continue
		}
		if base, n, ok := cutNumber(key); ok {
			numbered = append(numbered, numberedValue{base, value, n})
		} else {
			p.parameter(key, value)
		}
	}
	return numbered
}

// cutParameter cuts at the next separator: an ampersand, which may be escaped for HTML, even several times.
func cutParameter(s string) (pair, rest string) {
	i := strings.IndexByte(s, '&')
	if i < 0 {
		return s, ""
	}
	pair, rest = s[:i], s[i+1:]
	for {
		n := escapedAmpersand(rest)
		if n == 0 {
			return pair, rest
		}
		rest = rest[n:]
	}
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

// parameter reads one parameter; its value is still escaped.
func (p *magnetParser) parameter(key, value string) {
	m := &p.m
	switch {
	case is(key, "xt"):
		p.topic(p.decode(value, false))
	case is(key, "tr"):
		if t := trim(p.decode(value, false)); trackerScheme(t) {
			p.trackers.add(&m.Trackers, t)
		}
	case is(key, "dn"):
		if m.Name == "" {
			m.Name = trim(p.decode(value, true))
			if !utf8.ValidString(m.Name) {
				m.Name = trim(strings.ToValidUTF8(m.Name, "\uFFFD"))
			}
		}
	case is(key, "xl"):
		if n, err := strconv.ParseInt(value, 10, 64); err == nil && n > 0 && m.Length == 0 && value[0] != '+' {
			m.Length = n
		}
	case is(key, "ws"):
		p.webSeeds.addTrimmed(&m.WebSeeds, p.decode(value, false))
	case is(key, "xs"):
		p.sources.addTrimmed(&m.Sources, p.decode(value, false))
	case is(key, "as"):
		p.fallback.addTrimmed(&m.Fallback, p.decode(value, false))
	case is(key, "kt"):
		for word := range strings.FieldsSeq(p.decode(value, true)) {
			p.keywords.add(&m.Keyword, word)
		}
	case is(key, "x.pe"):
		p.peers.addAddress(&m.Peers, p.decode(value, false))
	case is(key, "dht"):
		p.nodes.addAddress(&m.Nodes, p.decode(value, false))
	case is(key, "so"):
		p.selection(p.decode(value, false))
	}
}

// is compares keys without case; want is in lower case.
func is(key, want string) bool {
	return key == want || len(key) == len(want) && strings.EqualFold(key, want)
}

func (u *uniq) addTrimmed(list *[]string, s string) {
	if s = trim(s); s != "" {
		u.add(list, s)
	}
}

func (u *uniq) addAddress(list *[]string, s string) {
	if a, ok := hostPort(trim(s)); ok {
		u.add(list, a)
	}
}

// topic reads the hash of an xt.
func (p *magnetParser) topic(s string) {
	switch {
	case len(s) >= len(urnV1) && strings.EqualFold(s[:len(urnV1)], urnV1):
		var h HashV1
		if !decodeHashV1(&h, s[len(urnV1):]) {
			p.badHash = s
		} else if p.m.V1.IsZero() {
			p.m.V1 = h
		}
	case len(s) >= len(urnV2) && strings.EqualFold(s[:len(urnV2)], urnV2):
		var h HashV2
		if digits, ok := strings.CutPrefix(s[len(urnV2):], sha256Prefix); !ok || !decodeHashV2(&h, digits) {
			p.badHash = s
		} else if p.m.V2.IsZero() {
			p.m.V2 = h
		}
	}
}

// decode decodes escapes once; what is no escape stays as it is.
func (p *magnetParser) decode(s string, plus bool) string {
	if strings.IndexByte(s, '%') < 0 && (!plus || strings.IndexByte(s, '+') < 0) {
		return s
	}
	start := p.decoded.Len()
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '%' && i+2 < len(s) && hexDigit[s[i+1]]|hexDigit[s[i+2]] <= 15:
			c = hexDigit[s[i+1]]<<4 | hexDigit[s[i+2]]
			i += 2
		case c == '+' && plus:
			c = ' '
		}
		p.decoded.WriteByte(c)
	}
	return p.decoded.String()[start:]
}

// selection reads the indices and ranges of an so; what is none of these is passed over.
func (p *magnetParser) selection(s string) {
	for part := range strings.SplitSeq(s, ",") {
		from, to, ranged := strings.Cut(part, "-")
		first, ok := digits(from)
		last := first
		if ranged && ok {
			last, ok = digits(to)
		}
		if ok && first <= last && last <= MaxSelect {
			p.m.Select = append(p.m.Select, Range{first, last})
		}
	}
}

func (p *magnetParser) finish() (Magnet, error) {
	m := &p.m
	if m.Version() == 0 {
		if p.badHash != "" {
			return Magnet{}, &MagnetError{Kind: ErrInvalidInfoHash, Value: strings.ToValidUTF8(p.badHash, "\uFFFD")}
		}
		return Magnet{}, &MagnetError{Kind: ErrMissingInfoHash}
	}
	m.Select = mergeRanges(m.Select)
	return *m, nil
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
	} else if len(host) > maxHost || strings.ContainsFunc(host, notOfHost) {
		return "", false
	}
	if strconv.Itoa(n) != port || !strings.HasPrefix(s, host) {
		return host + ":" + strconv.Itoa(n), true
	}
	return s, true
}

// maxHost is the greatest length of a host name, in bytes.
const maxHost = 253

// notOfHost tells the characters that no host name has; letters of any script may stand in one.
func notOfHost(r rune) bool {
	return r <= ' ' || r == 0x7f || r == utf8.RuneError || strings.ContainsRune("/\\?#@:[]<>\"'%", r)
}
