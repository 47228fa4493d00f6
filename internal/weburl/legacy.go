package weburl

import (
	"strconv"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/width"
)

// queryEncoding percent-encodes the queries of links in documents of an old encoding
// (https://url.spec.whatwg.org/#string-percent-encode-after-encoding). It keeps no state and is safe for concurrent use.
type queryEncoding struct {
	name     string // of the Encoding standard, in lower case
	encoding encoding.Encoding
}

// newQueryEncoding returns nil when queries are written in UTF-8: for UTF-8, UTF-16, the replacement encoding (these by
// https://encoding.spec.whatwg.org/#get-an-output-encoding) and labels that nobody knows.
func newQueryEncoding(label string) *queryEncoding {
	e, err := htmlindex.Get(label)
	if err != nil {
		return nil
	}
	name, err := htmlindex.Name(e)
	if err != nil {
		return nil
	}
	switch name = strings.ToLower(name); name {
	case "utf-8", "utf-16be", "utf-16le", "replacement":
		return nil
	case "iso-2022-jp":
		e = japanese.EUCJP // the same character set, see appendISO2022JP
	}
	return &queryEncoding{name: name, encoding: e}
}

// appendEncoded appends s, which is UTF-8. Characters that the encoding lacks become numeric references.
func (q *queryEncoding) appendEncoded(dst []byte, s string) []byte {
	encoder := q.encoding.NewEncoder()
	if q.name == "iso-2022-jp" {
		return q.appendISO2022JP(dst, s, encoder)
	}
	for _, r := range s {
		if encoded, ok := q.encode(encoder, r); ok {
			dst = appendEncoded(dst, encoded, specialQuerySet)
		} else {
			dst = appendReference(dst, r)
		}
	}
	return dst
}

func appendReference(dst []byte, r rune) []byte {
	dst = strconv.AppendInt(append(dst, "%26%23"...), int64(r), 10)
	return append(dst, "%3B"...)
}

// encode encodes one character. It holds what the standard's encoders do otherwise than those of x/text.
func (q *queryEncoding) encode(encoder *encoding.Encoder, r rune) (string, bool) {
	switch q.name {
	case "euc-jp", "shift_jis", "iso-2022-jp":
		switch r {
		case '¥':
			return `\`, true
		case '‾':
			return "~", true
		case '−': // U+2212
			r = '－' // U+FF0D
		case 0x80:
			return "\x80", q.name == "shift_jis"
		}
	case "gb18030", "gbk":
		if r == 0xE5E5 {
			return "", false
		}
	}
	if r < 0x80 {
		return string(r), true
	}
	encoder.Reset()
	encoded, err := encoder.String(string(r))
	switch {
	case err != nil:
		return "", false
	case q.name == "big5" && encoded[0] < 0xA1: // the Hong Kong extension is only read
		return "", false
	case q.name == "euc-jp" && encoded[0] == 0x8F: // JIS X 0212 is only read
		return "", false
	}
	return encoded, true
}

// appendISO2022JP is https://encoding.spec.whatwg.org/#iso-2022-jp-encoder: escape sequences switch between ASCII, JIS
// X 0201 and JIS X 0208, whose codes are those of EUC-JP without the high bits.
func (q *queryEncoding) appendISO2022JP(dst []byte, s string, encoder *encoding.Encoder) []byte {
	const ascii, roman, jis0208 = "\x1b(B", "\x1b(J", "\x1b$B"
	state := ascii
	enter := func(next string) {
		if state != next {
			state = next
			dst = appendEncoded(dst, next, specialQuerySet)
		}
	}
	for _, r := range s {
		isYenOrOverline := r == '¥' || r == '‾'
		switch {
		case r == 0x0E || r == 0x0F || r == 0x1B:
			if state == jis0208 {
				enter(ascii)
			}
			dst = appendReference(dst, '\uFFFD')
			continue
		case r < 0x80 && state == roman && r != '\\' && r != '~':
			dst = appendEncoded(dst, string(r), specialQuerySet)
			continue
		case r < 0x80:
			enter(ascii)
			dst = appendEncoded(dst, string(r), specialQuerySet)
			continue
		case isYenOrOverline:
			enter(roman)
		}
		code, ok := q.encode(encoder, widen(r))
		switch {
		case isYenOrOverline:
			dst = appendEncoded(dst, code, specialQuerySet)
		case ok && len(code) == 2 && code[0] >= 0xA1:
			enter(jis0208)
			dst = appendEncoded(dst, string([]byte{code[0] & 0x7F, code[1] & 0x7F}), specialQuerySet)
		default:
			if state == jis0208 {
				enter(ascii)
			}
			dst = appendReference(dst, r)
		}
	}
	enter(ascii)
	return dst
}

// widen maps half-width katakana to the characters of JIS X 0208 (the standard's index ISO-2022-JP katakana).
func widen(r rune) rune {
	switch {
	case r == 0xFF9E:
		return '゛'
	case r == 0xFF9F:
		return '゜'
	case 0xFF61 <= r && r < 0xFF9E:
		if wide := width.LookupRune(r).Wide(); wide != 0 {
			return wide
		}
	}
	return r
}
