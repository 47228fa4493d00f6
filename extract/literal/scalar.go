package literal

import (
	"bytes"
	"encoding/json"
	"math/big"
	"net/url"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// maxInteger is how many digits a number in another base than ten may have; such are converted.
const maxInteger = 1024

func (r *reader) scalar() any {
	switch c := r.peek(); {
	case c == '"' || c == '\'' || c == '`':
		return r.text()
	case c == '-' || c == '+' || c == '.' || '0' <= c && c <= '9':
		return r.number()
	case c == '!':
		r.i++
		r.space()
		return r.not()
	case c == '(':
		return r.call()
	case isName(c):
		return r.word()
	case r.i >= len(r.b):
		r.fail("the text ends where a value is due")
	default:
		r.fail("not a literal")
	}
	return nil
}

// not reads what follows a "!": how minifiers write true and false.
func (r *reader) not() any {
	switch rest := r.b[r.i:]; {
	case hasWord(rest, "0"), hasWord(rest, "false"):
		r.pass()
		return true
	case hasWord(rest, "1"), hasWord(rest, "true"):
		r.pass()
		return false
	}
	r.fail("not a literal")
	return nil
}

// pass goes to the end of a name.
func (r *reader) pass() {
	for isName(r.peek()) {
		r.i++
	}
}

func hasWord(b []byte, word string) bool {
	return len(b) >= len(word) && string(b[:len(word)]) == word && (len(b) == len(word) || !isName(b[len(word)]) && b[len(word)] != '.')
}

func (r *reader) word() any {
	start := r.i
	for isName(r.peek()) || r.peek() == '.' {
		r.i++
	}
	if value, ok := r.names[string(r.b[start:r.i])]; ok {
		return value
	}
	switch string(r.b[start:r.i]) {
	case "true":
		return true
	case "false":
		return false
	case "null", "NaN", "Infinity": // as JSON.stringify writes them
		return nil
	case "undefined":
		return undefined{}
	case "void":
		r.space()
		if r.number() != nil {
			return undefined{}
		}
	case "JSON.parse":
		return r.parsed()
	case "decodeURIComponent":
		return r.decoded()
	}
	if r.err == nil {
		r.i = start
		r.fail("a name, which would have to be evaluated")
	}
	return nil
}

// argument reads a string in parentheses, which decodeURIComponent may be applied to.
func (r *reader) argument() (s string) {
	r.space()
	if r.peek() != '(' {
		r.fail("no parenthesis")
		return ""
	}
	r.i++
	r.space()
	switch c := r.peek(); {
	case c == '"' || c == '\'' || c == '`':
		s = r.text()
	case hasWord(r.b[r.i:], "decodeURIComponent") && !r.inner:
		r.i += len("decodeURIComponent")
		r.inner = true
		s = r.decoded()
		r.inner = false
	default:
		r.fail("not a string, which would have to be evaluated")
	}
	if r.space(); r.err == nil && r.peek() != ')' {
		r.fail("no closing parenthesis")
	}
	r.i++
	return s
}

func (r *reader) decoded() string {
	at := r.i
	s := r.argument()
	out, err := url.PathUnescape(s)
	if err != nil && r.err == nil {
		r.i = at
		r.fail("no URI component")
	}
	return valid([]byte(out))
}

// parsed reads the JSON in the string that JSON.parse is given. The value counts as one part of the whole.
func (r *reader) parsed() any {
	at := r.i
	if r.inner {
		r.fail("JSON.parse in JSON")
		return nil
	}
	s := r.argument()
	if r.err != nil {
		return nil
	}
	in := reader{b: []byte(s), nodes: r.nodes, limits: r.limits, inner: true}
	in.limits.Depth -= len(r.stack)
	value := in.document()
	if in.space(); in.err == nil && in.i < len(in.b) {
		in.fail("more than one value")
	}
	r.nodes = in.nodes
	if in.err != nil {
		if _, beyond := in.err.(*LimitError); beyond {
			r.err = in.err
		} else {
			r.i = at
			r.fail("in JSON.parse: %v", in.err)
		}
		return nil
	}
	return value
}

// number reads a number and gives it the form of JSON, digit by digit.
func (r *reader) number() any {
	start := r.i
	sign := ""
	if c := r.peek(); c == '-' || c == '+' {
		if c == '-' {
			sign = "-"
		}
		r.i++
	}
	from := r.i
	for c := r.peek(); isName(c) || c == '.' || (c == '-' || c == '+') && r.b[r.i-1]|0x20 == 'e' && !isHex(r.b[from:r.i]); c = r.peek() {
		r.i++
	}
	digits := strings.TrimSuffix(strings.ReplaceAll(string(r.b[from:r.i]), "_", ""), "n")
	if digits == "Infinity" {
		return nil
	}
	if len(digits) > 2 && digits[0] == '0' && strings.ContainsRune("xXoObB", rune(digits[1])) && len(digits) <= maxInteger {
		if n, ok := new(big.Int).SetString(digits, 0); ok {
			return json.Number(sign + n.String())
		}
	}
	if strings.HasPrefix(digits, ".") {
		digits = "0" + digits
	}
	if whole, rest, ok := strings.Cut(digits, "."); ok && (rest == "" || rest[0]|0x20 == 'e') {
		digits = whole + rest
	}
	if !isNumber(digits) {
		r.i = start
		r.fail("not a number")
		return nil
	}
	return json.Number(sign + digits)
}

func isHex(b []byte) bool { return len(b) > 1 && b[0] == '0' && b[1]|0x20 == 'x' }

// isNumber reports whether s is a number of JSON without a sign.
func isNumber(s string) bool {
	whole := skipDigits(s)
	if whole == 0 || whole > 1 && s[0] == '0' {
		return false
	}
	s = s[whole:]
	if strings.HasPrefix(s, ".") {
		n := skipDigits(s[1:])
		if n == 0 {
			return false
		}
		s = s[1+n:]
	}
	if s != "" && s[0]|0x20 == 'e' {
		s = s[1:]
		if s != "" && (s[0] == '+' || s[0] == '-') {
			s = s[1:]
		}
		n := skipDigits(s)
		return n > 0 && n == len(s)
	}
	return s == ""
}

func skipDigits(s string) (n int) {
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	return n
}

// text reads a string in any quotes.
func (r *reader) text() string {
	quote := r.b[r.i]
	r.i++
	start := r.i
	for i := start; i < len(r.b); i++ {
		switch c := r.b[i]; {
		case c == quote:
			r.i = i + 1
			return valid(r.b[start:i])
		case c == '\\', c == '$' && quote == '`':
			r.i = i
			return r.escaped(quote, append([]byte(nil), r.b[start:i]...))
		}
	}
	r.i = len(r.b)
	r.fail("a string without end")
	return ""
}

// escaped reads on where the first escape of a string stands.
func (r *reader) escaped(quote byte, out []byte) string {
	for r.i < len(r.b) && r.err == nil {
		c := r.b[r.i]
		r.i++
		switch {
		case c == quote:
			return valid(out)
		case c == '\\':
			out = r.escape(out)
		case c == '$' && quote == '`' && r.peek() == '{':
			r.fail("a template with an expression")
		default:
			out = append(out, c)
		}
	}
	r.fail("a string without end")
	return ""
}

// single are the escapes of one character (ECMA-262, 12.9.4); others stand for themselves.
var single = [256]byte{'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', 'v': '\v'}

func (r *reader) escape(out []byte) []byte {
	c := r.peek()
	r.i++
	switch {
	case c == 'u':
		return utf8.AppendRune(out, r.unicode())
	case c == 'x':
		return utf8.AppendRune(out, r.hex(2))
	case c == '0' && !('0' <= r.peek() && r.peek() <= '9'):
		return append(out, 0)
	case c == '\n':
		return out
	case c == '\r':
		if r.peek() == '\n' {
			r.i++
		}
		return out
	case single[c] != 0:
		return append(out, single[c])
	case r.i > len(r.b):
		return out
	}
	return append(out, c)
}

// unicode reads what follows "\u". Halves of surrogates that are alone become U+FFFD.
func (r *reader) unicode() rune {
	if r.peek() == '{' {
		r.i++
		end := bytes.IndexByte(r.b[r.i:min(len(r.b), r.i+9)], '}')
		if end < 1 {
			r.fail("not an escape")
			return 0
		}
		c := r.hex(end)
		r.i++
		return c
	}
	c := r.hex(4)
	if utf16.IsSurrogate(c) && bytes.HasPrefix(r.b[min(r.i, len(r.b)):], []byte(`\u`)) {
		at := r.i
		r.i += 2
		if pair := utf16.DecodeRune(c, r.hex(4)); pair != utf8.RuneError {
			return pair
		}
		r.i = at
	}
	return c
}

func (r *reader) hex(n int) (c rune) {
	for range n {
		d := r.peek()
		switch {
		case '0' <= d && d <= '9':
			c = c<<4 | rune(d-'0')
		case 'a' <= d|0x20 && d|0x20 <= 'f':
			c = c<<4 | rune(d|0x20-'a'+10)
		default:
			r.fail("not an escape")
			return 0
		}
		r.i++
	}
	return c
}

func valid(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	return string([]rune(string(b))) // U+FFFD for each byte that is part of no character, as encoding/json does
}
