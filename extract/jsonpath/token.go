package jsonpath

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math/bits"
	"unicode/utf8"
)

const (
	ones  = 0x01_01_01_01_01_01_01_01
	highs = 0x80_80_80_80_80_80_80_80
)

// fault is what is wrong with a document; zero is nothing.
type fault uint8

const (
	tooShort fault = iota + 1
	tooDeep
	manyValues
	noValue
	noName
	noColon
	afterMember
	afterElement
	openString
	badEscape
	control
	noFraction
	noExponent
)

var faults = [...]string{
	tooShort: "unexpected end", tooDeep: "nested too deep", manyValues: "more than one value", noValue: "not a value",
	noName: "not a name of a member", noColon: "no colon after a name",
	afterMember: "neither a comma nor } after a value", afterElement: "neither a comma nor ] after a value",
	openString: "unexpected end of a string", badEscape: "not an escape", control: "a control character in a string",
	noFraction: "no digit after a decimal point", noExponent: "no digit in an exponent",
}

// stringEnd returns where a string ends whose first byte behind the quote is b[i], behind its last quote.
func stringEnd(b []byte, i int) (end int, reason fault) {
	for {
		for len(b)-i >= 8 { // eight bytes at a time: none a quote, a backslash or a control character
			w := binary.LittleEndian.Uint64(b[i:])
			quote, slash := w^ones*'"', w^ones*'\\'
			stop := ((quote-ones)&^quote | (slash-ones)&^slash | (w-ones*' ')&^w) & highs
			if stop != 0 {
				i += bits.TrailingZeros64(stop) / 8
				break
			}
			i += 8
		}
		if i >= len(b) {
			return len(b), openString
		}
		switch c := b[i]; {
		case c == '"':
			return i + 1, 0
		case c == '\\':
			n := escapeLen(b[i:])
			if n == 0 {
				return i, badEscape
			}
			i += n
		case c < ' ':
			return i, control
		default:
			i++
		}
	}
}

// escapeLen returns the length of the escape at the beginning of b, 0 for none.
func escapeLen(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(b) < 6 {
			return 0
		}
		for _, c := range b[2:6] {
			if !isHex(c) {
				return 0
			}
		}
		return 6
	}
	return 0
}

func isHex(c byte) bool {
	return c-'0' <= 9 || c|0x20 >= 'a' && c|0x20 <= 'f'
}

// numberEnd returns where the number at b[i] ends.
func numberEnd(b []byte, i int) (end int, reason fault) {
	if i < len(b) && b[i] == '-' {
		i++
	}
	switch {
	case i == len(b):
		return i, noValue
	case b[i] == '0':
		i++
	case b[i]-'1' <= 8:
		i = digits(b, i)
	default:
		return i, noValue
	}
	if i < len(b) && b[i] == '.' {
		from := i + 1
		if i = digits(b, from); i == from {
			return i, noFraction
		}
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		if i++; i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		from := i
		if i = digits(b, from); i == from {
			return i, noExponent
		}
	}
	return i, 0
}

func digits(b []byte, i int) int {
	for i < len(b) && b[i]-'0' <= 9 {
		i++
	}
	return i
}

// isName reports whether a name of a document, between its quotes, is the one that is looked for.
func isName(key []byte, name string) bool {
	if bytes.IndexByte(key, '\\') < 0 && (string(key) == name || utf8.Valid(key)) {
		return string(key) == name
	}
	return unquote(key) == name
}

// unquote returns what stands between the quotes of a string: escapes are read, and what is not UTF-8 is U+FFFD.
func unquote(s []byte) string {
	if bytes.IndexByte(s, '\\') < 0 && utf8.Valid(s) {
		return string(s)
	}
	quoted := make([]byte, 0, len(s)+2)
	quoted = append(append(append(quoted, '"'), s...), '"')
	var text string
	if json.Unmarshal(quoted, &text) != nil { // a document that First has not checked
		return string(bytes.ToValidUTF8(s, []byte("\uFFFD")))
	}
	return text
}
