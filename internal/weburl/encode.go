package weburl

import "unicode/utf8"

// A percentSet is one of the standard's percent-encode sets (https://url.spec.whatwg.org/#percent-encoded-bytes), as a
// bit of the table below.
type percentSet uint8

const (
	controlSet percentSet = 1 << iota
	fragmentSet
	querySet
	specialQuerySet
	pathSet
	userInfoSet
)

// mustEncode says of each byte in which sets it is. Bytes of UTF-8 sequences are in all of them.
var mustEncode = func() (table [256]percentSet) {
	const all = controlSet | fragmentSet | querySet | specialQuerySet | pathSet | userInfoSet
	for b := range table {
		if b < 0x20 || b > 0x7E {
			table[b] = all
		}
	}
	add := func(set percentSet, bytes string) {
		for i := range len(bytes) {
			table[bytes[i]] |= set
		}
	}
	add(fragmentSet, " \"<>`")
	add(querySet|specialQuerySet|pathSet|userInfoSet, " \"#<>")
	add(specialQuerySet, "'")
	add(pathSet|userInfoSet, "?^`{}")
	add(userInfoSet, "/:;=@[\\]|")
	return table
}()

const upperHex = "0123456789ABCDEF"

// appendEncoded appends s with the bytes of the set percent-encoded.
func appendEncoded(dst []byte, s string, set percentSet) []byte {
	start := 0
	for i := range len(s) {
		if mustEncode[s[i]]&set != 0 {
			dst = append(dst, s[start:i]...)
			dst = append(dst, '%', upperHex[s[i]>>4], upperHex[s[i]&15])
			start = i + 1
		}
	}
	return append(dst, s[start:]...)
}

// percentDecode decodes every escape of s; what is none stays.
func percentDecode(s string) string {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]) {
			out = append(out, unhex(s[i+1])<<4|unhex(s[i+2]))
			i += 2
			continue
		}
		out = append(out, s[i])
	}
	return string(out)
}

func isAlpha(b byte) bool { b |= 0x20; return 'a' <= b && b <= 'z' }
func isDigit(b byte) bool { return '0' <= b && b <= '9' }
func isHex(b byte) bool   { return isDigit(b) || 'a' <= b|0x20 && b|0x20 <= 'f' }

func unhex(b byte) byte {
	if isDigit(b) {
		return b - '0'
	}
	return (b | 0x20) - 'a' + 10
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
