// Package jslex passes over what stands in scripts, without reading it: strings, comments, regular expressions, expressions.
package jslex

import "bytes"

// IsName reports whether c may stand in a name.
func IsName(c byte) bool {
	return c == '_' || c == '$' || c >= 0x80 || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

// Identifier is what js ends with of names and dots.
func Identifier(js []byte) []byte {
	i := len(js)
	for i > 0 && (js[i-1] == '.' || IsName(js[i-1])) {
		i--
	}
	return js[i:]
}

// Comment returns the last byte of the comment that begins at i, or i when there is none.
func Comment(js []byte, i int) int {
	end, skip := -1, 0
	switch {
	case bytes.HasPrefix(js[i:], []byte("//")):
		end = bytes.IndexByte(js[i:], '\n')
	case bytes.HasPrefix(js[i:], []byte("/*")):
		end, skip = bytes.Index(js[i+2:], []byte("*/")), 3
	default:
		return i
	}
	if end < 0 {
		return len(js) - 1
	}
	return i + end + skip
}

const (
	// maxPattern is how long a regular expression may be that is passed over.
	maxPattern = 4 << 10
	// maxBefore is how much is looked at of what stands before it.
	maxBefore = 256
)

// Pattern returns the last byte of the regular expression that begins at a slash, or the slash where it divides (ECMA-262,
// 12.9.5: that depends on what stands before).
func Pattern(js []byte, i int) int {
	if !beginsPattern(js[max(0, i-maxBefore):i]) {
		return i
	}
	inClass := false
	for k := i + 1; k < len(js) && k < i+maxPattern; k++ {
		switch js[k] {
		case '\\':
			k++
		case '[':
			inClass = true
		case ']':
			inClass = false
		case '\n', '\r':
			return i
		case '/':
			if !inClass {
				return k
			}
		}
	}
	return i
}

// beginsPattern reports whether a slash behind js begins a pattern: behind a sign that awaits a value, or a word that does.
func beginsPattern(js []byte) bool {
	js = bytes.TrimRight(js, " \t\r\n")
	if len(js) == 0 {
		return true
	}
	if bytes.IndexByte([]byte("(,=:[!&|?{};+-*%~^<>"), js[len(js)-1]) >= 0 {
		return true
	}
	switch string(Identifier(js)) {
	case "return", "typeof", "case", "in", "of", "void", "delete", "else", "do":
		return true
	}
	return false
}

// Expression returns where the expression ends that begins at i: at the comma, the semicolon or the closing bracket that is
// none of its own; the length of js where it has no end.
func Expression(js []byte, i int) int {
	var open []byte // what closes the brackets, and ` for the text of a template around "${"
	for ; i < len(js); i++ {
		switch c := js[i]; c {
		case '"', '\'':
			i = quoted(js, i)
		case '`':
			i, open = template(js, i+1, open)
		case '/':
			if end := Comment(js, i); end > i {
				i = end
			} else {
				i = Pattern(js, i)
			}
		case '(':
			open = append(open, ')')
		case '[':
			open = append(open, ']')
		case '{':
			open = append(open, '}')
		case ')', ']', '}':
			switch last := len(open) - 1; {
			case last >= 0 && open[last] == c:
				open = open[:last]
			case last >= 0 && open[last] == '`' && c == '}':
				i, open = template(js, i+1, open[:last])
			default:
				return i
			}
		case ',', ';':
			if len(open) == 0 {
				return i
			}
		}
	}
	return len(js)
}

// quoted returns the last byte of a string; of one without an end on its line, the end of that.
func quoted(js []byte, i int) int {
	quote := js[i]
	for i++; i < len(js) && js[i] != quote && js[i] != '\n'; i++ {
		if js[i] == '\\' {
			i++
		}
	}
	return i
}

// template returns the last byte of the text of a template: its closing quote, or the "{" of an expression in it.
func template(js []byte, i int, open []byte) (int, []byte) {
	for ; i < len(js) && js[i] != '`'; i++ {
		switch {
		case js[i] == '\\':
			i++
		case js[i] == '$' && i+1 < len(js) && js[i+1] == '{':
			return i + 1, append(open, '`')
		}
	}
	return i, open
}
