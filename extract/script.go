package extract

import "bytes"

// isNameByte reports whether c may stand in a name.
func isNameByte(c byte) bool {
	return c == '_' || c == '$' || c >= 0x80 || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

func passBlanks(js []byte, i int) int {
	for i < len(js) && bytes.IndexByte([]byte(" \t\r\n"), js[i]) >= 0 {
		i++
	}
	return i
}

// passWrappers returns where the value begins of "S = S || {…}", "S = Object.freeze({…})" and "S = ({…})"; before is what stands
// before the equals sign.
func passWrappers(js []byte, i int, before []byte) int {
	if name := nameBefore(before); name != "" {
		end := i
		for end < len(js) && end-i < maxName && (js[end] == '.' || isNameByte(js[end])) {
			end++
		}
		if op := passBlanks(js, end); end > i && op+2 < len(js) && (string(js[op:op+2]) == "||" || string(js[op:op+2]) == "??") && plainName(string(js[i:end])) == name {
			i = passBlanks(js, op+2)
			if end := passBlanks(js, i+1); end < len(js) && (js[i] == '{' && js[end] == '}' || js[i] == '[' && js[end] == ']') { // S = S || {} has nothing
				return len(js)
			}
		}
	}
	for _, wrapper := range [...]string{"Object.freeze(", "Object.seal(", "("} {
		rest := js[i:]
		if at := passBlanks(rest, len(wrapper)); bytes.HasPrefix(rest, []byte(wrapper)) && at < len(rest) && (rest[at] == '{' || rest[at] == '[') {
			return i + at
		}
	}
	return i
}

const (
	// maxName is how long a name is that is taken for one, in bytes.
	maxName = 256
	// maxPattern is how long a regular expression may be that is passed over.
	maxPattern = 4 << 10
)

// passPattern returns the last byte of the regular expression that begins at a slash, or the slash where it divides (ECMA-262,
// 12.9.5: that depends on what stands before).
func passPattern(js []byte, i int) int {
	if !beginsPattern(js[max(0, i-maxName):i]) {
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
	switch string(identifier(js)) {
	case "return", "typeof", "case", "in", "of", "void", "delete", "else", "do":
		return true
	}
	return false
}
