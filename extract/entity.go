package extract

import (
	"bytes"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// maxReference is the length of the longest named character reference with "&" and ";".
const maxReference = 33

// appendDecoded appends an attribute value with its character references decoded and NUL replaced (WHATWG HTML
// 13.2.5.72 to 80, "consumed as part of an attribute").
func appendDecoded(dst, src []byte) []byte {
	for len(src) > 0 {
		i := bytes.IndexAny(src, "&\x00")
		if i < 0 {
			return append(dst, src...)
		}
		dst = append(dst, src[:i]...)
		src = src[i:]
		if src[0] == 0 {
			dst = append(dst, "\uFFFD"...)
			src = src[1:]
			continue
		}
		n := referenceLen(src)
		text, ok := decodeReference(src, n)
		if !ok {
			dst = append(dst, '&')
			src = src[1:]
			continue
		}
		dst = append(dst, text...)
		src = src[n:]
	}
	return dst
}

// referenceLen returns how many bytes of b, which starts with "&", may be a character reference.
func referenceLen(b []byte) int {
	i := 1
	if i < len(b) && b[i] == '#' {
		i++
		hex := i < len(b) && b[i]|0x20 == 'x'
		if hex {
			i++
		}
		for i < len(b) && (isDigit(b[i]) || hex && 'a' <= b[i]|0x20 && b[i]|0x20 <= 'f') {
			i++
		}
	} else {
		for i < len(b) && (isDigit(b[i]) || class[b[i]]&isLetter != 0) {
			i++
		}
	}
	if i < len(b) && b[i] == ';' {
		i++
	}
	return i
}

// decodeReference decodes b[:n]. A name without ";" stands for a character only where no "=" follows; that no letter
// or digit follows is sure, for the name would hold it.
func decodeReference(b []byte, n int) (string, bool) {
	ref := b[:n]
	switch {
	case string(ref) == "&amp;":
		return "&", true
	case n < 3:
		return "", false
	case ref[1] == '#':
		text := html.UnescapeString(string(ref))
		return text, text != string(ref)
	case n > maxReference || ref[n-1] != ';' && n < len(b) && b[n] == '=':
		return "", false
	}
	// UnescapeString decodes a known name that starts the text, too, as is right outside of attributes. Then the rest
	// of the name stands behind the character.
	text := html.UnescapeString(string(ref))
	if ref[n-1] == ';' {
		whole := text != string(ref) && (text[len(text)-1] != ';' || string(ref) == "&semi;")
		return text, whole
	}
	return text, utf8.RuneCountInString(text) == 1
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
