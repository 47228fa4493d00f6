package dedupe

import "strings"

const (
	letters    = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits     = "0123456789"
	unreserved = letters + digits + "-._~"              // RFC 3986, 2.3
	reserved   = ":/?#[]@" + "!$&'()*+,;="              // RFC 3986, 2.2
	printable  = unreserved + reserved + "\"%<>\\^`{|}" // ASCII without the blank
	upperHex   = "0123456789ABCDEF"
)

type byteSet [256]bool

func setOf(members string) *byteSet {
	var set byteSet
	for i := range len(members) {
		set[members[i]] = true
	}
	return &set
}

// allBut returns the set of all bytes that are not in members.
func allBut(members string) *byteSet {
	set := setOf(members)
	for i := range set {
		set[i] = !set[i]
	}
	return set
}

var (
	isUnreserved   = setOf(unreserved)
	unprintable    = allBut(printable)
	isDigit        = setOf(digits)
	isHexDigit     = setOf(digits + "abcdefABCDEF")
	isSchemeMember = setOf(letters + digits + "+-.")
)

// appendEscaped appends s with the bytes of the set percent-encoded.
func appendEscaped(dst []byte, s string, set *byteSet) []byte {
	for i := range len(s) {
		dst = appendByte(dst, s[i], set[s[i]])
	}
	return dst
}

func appendByte(dst []byte, b byte, escape bool) []byte {
	if !escape {
		return append(dst, b)
	}
	return append(dst, '%', upperHex[b>>4], upperHex[b&15])
}

// escapeAt returns the byte that an escape at s[i] stands for.
func escapeAt(s string, i int) (byte, bool) {
	if s[i] != '%' || i+2 >= len(s) || !isHexDigit[s[i+1]] || !isHexDigit[s[i+2]] {
		return 0, false
	}
	return unhex(s[i+1])<<4 | unhex(s[i+2]), true
}

func unhex(b byte) byte {
	if b <= '9' {
		return b - '0'
	}
	return (b | 0x20) - 'a' + 10
}

// unescape decodes every escape of s once.
func unescape(s string) string {
	if strings.IndexByte(s, '%') < 0 {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		b, ok := escapeAt(s, i)
		if ok {
			i += 2
		} else {
			b = s[i]
		}
		out = append(out, b)
	}
	return string(out)
}

// unescapeFully decodes until no escape is left. It decodes an escape as soon as its last digit is out, which gives the
// same as decoding the whole again and again, for escapes do not overlap, but in one pass.
func unescapeFully(s string) string {
	if strings.IndexByte(s, '%') < 0 {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := range len(s) {
		out = append(out, s[i])
		for n := len(out); n >= 3; n = len(out) {
			b, ok := escapeAt(string(out[n-3:]), 0)
			if !ok {
				break
			}
			out = append(out[:n-3], b)
		}
	}
	return string(out)
}

// A decoder appends a text with some of its escapes decoded, such that doing it again changes nothing: a character is
// not decoded where it would complete a stray percent sign before it to a new escape, as in "%%34%31".
type decoder struct {
	dst   []byte
	stray int // how many digits the stray percent sign at the end of dst lacks
}

// literal appends a byte that was none of an escape.
func (d *decoder) literal(b byte) {
	switch {
	case b == '%':
		d.stray = 2
	case d.stray > 0 && isHexDigit[b]:
		d.stray--
	default:
		d.stray = 0
	}
	d.dst = append(d.dst, b)
}

// decoded appends the byte of an escape as itself, or as an escape still.
func (d *decoder) decoded(b byte, escape bool) {
	escape = escape || d.stray > 0 && isHexDigit[b]
	d.stray = 0
	d.dst = appendByte(d.dst, b, escape)
}

// appendUnreserved decodes escapes of unreserved characters and writes the others in upper case (RFC 3986, 6.2.2.1 and
// 6.2.2.2). With lower it sets letters outside escapes in lower case.
func appendUnreserved(dst []byte, s string, lower bool) []byte {
	d := decoder{dst: dst}
	for i := 0; i < len(s); i++ {
		b, ok := escapeAt(s, i)
		if !ok {
			b = s[i]
		}
		if lower && 'A' <= b && b <= 'Z' {
			b |= 0x20
		}
		if ok {
			d.decoded(b, !isUnreserved[b])
			i += 2
		} else {
			d.literal(b)
		}
	}
	return d.dst
}
