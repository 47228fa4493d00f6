package torrent

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
	"unsafe"
)

// ParseMagnet reads a magnet link as it is found in the wild: with blanks around it, separators escaped for HTML,
// slashes before the question mark, blanks and any characters in values. What is not understood is passed over, but
// for the hash: without a valid one there is an error, a *MagnetError. Of several different hashes of a kind the
// first counts. Escapes are decoded once, after the link was split.
func ParseMagnet(s string) (m Magnet, err error) {
	if len(s) > MaxMagnetBytes {
		return Magnet{}, &MagnetError{Kind: ErrTooLong}
	}
	query := trim(s)
	if len(query) < len(magnetScheme) || query[:len(magnetScheme)] != magnetScheme && !strings.EqualFold(query[:len(magnetScheme)], magnetScheme) {
		return Magnet{}, &MagnetError{Kind: ErrNotMagnet}
	}
	query = cutMark(query[len(magnetScheme):])
	var p magnetParser
	if numbered := p.unnumbered(&m, query); numbered != nil {
		// Entries of numbered keys come first; as they are rare, the others are read again behind them.
		m, p = Magnet{}, magnetParser{}
		p.numbered(&m, numbered)
		p.unnumbered(&m, query)
	}
	m.Select = mergeRanges(m.Select)
	switch {
	case p.hashed:
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
	case key == "x.pe", strings.EqualFold(key, "x.pe"):
		return keyPeer
	case strings.EqualFold(key, "dht"):
		return keyNode
	}
	return keyOther
}

// cutMark cuts up to the question mark before the parameters. Some links have slashes before it, and some have none.
func cutMark(s string) string {
	if s != "" && s[0] == '?' {
		return s[1:]
	}
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

// magnetParser is what it takes to fill a Magnet. It counts where it is rather than cutting its slices, as writing a
// pointer costs more while memory is collected.
type magnetParser struct {
	hashed  bool     // there is a hash
	badHash string   // a hash that is none
	link    string   // what is read
	at      int      // up to where it has been read
	space   []byte   // for the texts of the Magnet, which does not keep the page that its link stood on
	used    int      // of the space
	odd     bool     // the last text may hold control characters or bytes that are not ASCII
	lists   []string // what is left of the memory that the lists begin in

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
		p.link, p.at = v.value, 0
		p.parameter(m, v.key)
	}
}

// unnumbered reads the parameters whose key has no number, and returns the others.
func (p *magnetParser) unnumbered(m *Magnet, s string) (numbered []numberedValue) {
	for p.link, p.at = s, 0; p.at < len(s); p.skip() {
		rest := s[p.at:]
		if len(rest) > 3 && rest[:3] == "tr=" { // as most parameters begin
			p.at += 3
			p.tracker(m)
			continue
		}
		eq := 2 // as most keys are of two letters
		if len(rest) <= eq || rest[eq] != '=' {
			for eq = 0; eq < len(rest) && rest[eq] != '=' && rest[eq] != '&'; eq++ {
			}
			if eq == len(rest) || rest[eq] == '&' {
				continue
			}
		}
		name := rest[:eq]
		p.at += eq + 1
		if key := keyOf(name); key != keyOther {
			p.parameter(m, key)
		} else if base, n, ok := cutNumber(name); ok && keyOf(base) != keyOther {
			numbered = append(numbered, numberedValue{keyOf(base), n, p.raw()})
		}
	}
	return numbered
}

// length reads a number of bytes: decimal digits alone.
func length(s string) (n int64, ok bool) {
	if n, ok := digits(s); ok {
		return int64(n), true
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil && n > 0 && s[0] != '+'
}

// skip passes over what is left of a parameter and the separator behind it: an ampersand, which may be escaped for
// HTML, even several times.
func (p *magnetParser) skip() {
	if p.at+1 < len(p.link) && p.link[p.at] == '&' && p.link[p.at+1] > '#' && p.link[p.at+1]|0x20 != 'a' {
		p.at++ // as it usually is
		return
	}
	p.skipSlow()
}

func (p *magnetParser) skipSlow() {
	if p.at < len(p.link) && p.link[p.at] != '&' {
		p.raw()
	}
	for p.at++; p.at < len(p.link) && (p.link[p.at] == '#' || p.link[p.at]|0x20 == 'a'); {
		n := escapedAmpersand(p.link[p.at:])
		if n == 0 {
			return
		}
		p.at += n
	}
}

// raw reads a value as it stands in the link.
func (p *magnetParser) raw() string {
	value := p.link[p.at:]
	if i := strings.IndexByte(value, '&'); i >= 0 {
		value = value[:i]
	}
	p.at += len(value)
	return value
}

// text reads a value and decodes its escapes once; what is no escape stays as it is. A plus sign becomes the byte
// given.
func (p *magnetParser) text(plus byte) string {
	rest := p.link[p.at:]
	if len(p.space)-p.used < len(rest) {
		p.more(len(rest))
	}
	dst := p.space[p.used:]
	n, read, odd := decodeValue(dst, rest, plus)
	p.odd = odd
	p.at += read
	p.used += n
	if n == 0 {
		return ""
	}
	return unsafe.String(&dst[0], n) // these bytes are not written again
}

// short reads a value that is not kept, and decodes it if it has escapes.
func (p *magnetParser) short() string {
	from := p.at
	value := p.raw()
	if strings.IndexByte(value, '%') >= 0 {
		p.at = from
		value = p.text('+')
	}
	return value
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

// parameter takes over the parameter whose value comes next.
func (p *magnetParser) parameter(m *Magnet, key magnetKey) {
	switch key {
	case keyTopic:
		p.topic(m)
	case keyTracker:
		p.tracker(m)
	case keyName:
		p.name(m)
	case keyLength:
		if n, ok := length(p.short()); ok && m.Length == 0 {
			m.Length = n
		}
	case keyWebSeed:
		p.add(&p.webSeeds, &m.WebSeeds)
	case keySource:
		p.add(&p.sources, &m.Sources)
	case keyFallback:
		p.add(&p.fallback, &m.Fallback)
	case keyWords:
		for word := range strings.FieldsSeq(p.text(' ')) {
			p.begin(&m.Keywords, 1)
			p.words.add(&m.Keywords, word)
		}
	case keyPeer:
		p.address(&p.peers, &m.Peers)
	case keyNode:
		p.address(&p.nodes, &m.Nodes)
	case keySelect:
		m.Select = appendRanges(m.Select, p.text('+'))
	}
}

func (p *magnetParser) name(m *Magnet) {
	if m.Name != "" {
		return
	}
	m.Name = trim(p.text(' '))
	if p.odd && !utf8.ValidString(m.Name) {
		m.Name = trim(strings.ToValidUTF8(m.Name, "\uFFFD"))
	}
}

func (p *magnetParser) tracker(m *Magnet) {
	if t := trim(p.text('+')); trackerScheme(t) && (!p.odd || isClean(t)) {
		p.begin(&m.Trackers, fewTrackers)
		p.trackers.add(&m.Trackers, t)
	}
}

// begin gives a list its first n places.
func (p *magnetParser) begin(list *[]string, n int) {
	if *list != nil {
		return
	}
	if len(p.lists) < n {
		p.lists = make([]string, usualLists)
	}
	*list, p.lists = p.lists[:0:n], p.lists[n:]
}

func (p *magnetParser) add(seen *uniq, list *[]string) {
	if value := trim(p.text('+')); value != "" && (!p.odd || isClean(value)) {
		p.begin(list, 1)
		seen.add(list, value)
	}
}

func (p *magnetParser) address(seen *uniq, list *[]string) {
	if a, ok := hostPort(trim(p.text('+'))); ok {
		p.begin(list, 1)
		seen.add(list, a)
	}
}

// topic reads the hash of an xt. Of several of a kind the first counts.
func (p *magnetParser) topic(m *Magnet) {
	if p.plainTopic(m) {
		p.hashed = true
		return
	}
	s, _, _ := strings.Cut(p.short(), "#") // behind it is a fragment (RFC 3986, 3.5)
	ok := true
	if digits, v1 := cutURN(s, urnV1); v1 {
		ok = !m.V1.IsZero() || decodeHashV1(&m.V1, digits)
	} else if multihash, v2 := cutURN(s, urnV2); v2 {
		digits, sha256 := strings.CutPrefix(multihash, sha256Prefix)
		ok = !m.V2.IsZero() || sha256 && decodeHashV2(&m.V2, digits)
	} else {
		return
	}
	if ok {
		p.hashed = true
	} else {
		p.badHash = s
	}
}

// plainTopic reads the first hash of a kind as it is usually written, up to the end of its parameter.
func (p *magnetParser) plainTopic(m *Magnet) (ok bool) {
	const v1, v2 = len(urnV1) + 2*len(m.V1), len(urnV2+sha256Prefix) + 2*len(m.V2)
	n := 0
	switch s := p.link[p.at:]; {
	case len(s) >= v1 && s[:len(urnV1)] == urnV1 && (len(s) == v1 || s[v1] == '&') && m.V1.IsZero():
		n, ok = v1, decodeHashV1(&m.V1, s[len(urnV1):v1])
	case len(s) >= v2 && s[:len(urnV2+sha256Prefix)] == urnV2+sha256Prefix && (len(s) == v2 || s[v2] == '&') && m.V2.IsZero():
		n, ok = v2, decodeHashV2(&m.V2, s[len(urnV2+sha256Prefix):v2])
	}
	if ok {
		p.at += n
	}
	return ok
}

// cutURN cuts off a prefix that is compared without case.
func cutURN(s, urn string) (rest string, ok bool) {
	if len(s) < len(urn) || s[:len(urn)] != urn && !strings.EqualFold(s[:len(urn)], urn) {
		return "", false
	}
	return s[len(urn):], true
}
