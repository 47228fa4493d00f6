package extract

import (
	"bytes"
	"strings"

	"github.com/seine-go/seine/extract/literal"
	"github.com/seine-go/seine/internal/jslex"
)

// assigned returns the name before an equals sign and where the object, the array, the string of JSON, the JSON.parse or the
// function begins that stands behind it; the name is empty when it is no such assignment.
func assigned(js []byte, i int) (name string, at int) {
	before := js[:i]
	for _, op := range [...]string{"||", "??"} { // S ||= {…}
		before = bytes.TrimSuffix(before, []byte(op))
	}
	if len(before) == 0 || bytes.IndexByte([]byte("=!<>+-*/%&|^?"), before[len(before)-1]) >= 0 {
		return "", 0
	}
	at = passWrappers(js, passBlanks(js, i+1), before)
	rest := js[at:]
	for _, start := range [...]string{"{", "[", "JSON.parse", "(function"} {
		if bytes.HasPrefix(rest, []byte(start)) {
			return nameBefore(before), at
		}
	}
	if holdsJSON(rest) {
		return nameBefore(before), at
	}
	return "", 0
}

// holdsJSON reports whether js begins with a string that begins like an object or an array of JSON.
func holdsJSON(js []byte) bool {
	if len(js) < 2 || js[0] != '"' && js[0] != '\'' && js[0] != '`' {
		return false
	}
	for _, start := range [...]string{"{", "[", `\x7b`, `\x5b`, `\u007b`, `\u005b`} {
		if rest := js[1:]; len(rest) >= len(start) && strings.EqualFold(string(rest[:len(start)]), start) {
			return true
		}
	}
	return false
}

// readAssigned reads what is assigned: the state is nil when it has no literal. read is how many bytes were looked at; done says
// that nothing in them is to be looked at again; whole that only whole literals count.
func readAssigned(js []byte, whole bool, l literal.Limits) (state *State, read int, done bool) {
	var value any
	var leftOut, err error
	switch c := js[0]; {
	case !whole && (c == '{' || c == '['):
		value, read, leftOut, err = literal.ParsePartly(js, l)
	case c == '"' || c == '\'' || c == '`':
		value, read, err = parseQuoted(js, l)
	default:
		value, read, err = literal.Parse(js, l)
	}
	_, beyond := err.(*literal.LimitError)
	switch {
	case beyond:
		return &State{value: func() (any, error) { return nil, err }}, read, false
	case err != nil:
		return nil, read, false
	case value == nil:
		return nil, read, true
	}
	return &State{LeftOut: leftOut, value: func() (any, error) { return value, nil }}, read, true
}

// parseQuoted reads a string that is an object or an array of JSON, and that nothing is done with.
func parseQuoted(js []byte, l literal.Limits) (any, int, error) {
	text, n, err := literal.Parse(js, l)
	if err != nil {
		return nil, n, err
	}
	if next := passBlanks(js, n); next < len(js) && bytes.IndexByte([]byte(".+?&|["), js[next]) >= 0 {
		return nil, n, nil
	}
	value, err := parseWhole([]byte(text.(string)), l)
	if _, broken := err.(*literal.SyntaxError); broken {
		return nil, n, nil
	}
	return value, n, err
}

// nameBefore returns the name at the end of js: a.b, a["b"].
func nameBefore(js []byte) string {
	js = bytes.TrimRight(js[max(0, len(js)-256):], " \t\r\n")
	end := len(js)
	if end > 3 && js[end-1] == ']' && (js[end-2] == '"' || js[end-2] == '\'') {
		quote := js[end-2]
		open := bytes.LastIndexByte(js[:end-2], quote)
		if open < 1 || js[open-1] != '[' {
			return ""
		}
		return plainName(string(jslex.Identifier(js[:open-1])) + "." + string(js[open+1:end-2]))
	}
	return plainName(string(jslex.Identifier(js)))
}

func plainName(name string) string {
	for _, global := range [...]string{"window.", "self.", "globalThis.", "this."} {
		if rest, ok := strings.CutPrefix(name, global); ok {
			name = rest
			break
		}
	}
	if name == "" || '0' <= name[0] && name[0] <= '9' {
		return ""
	}
	return name
}

// passQuoted returns the last byte of a string; where it has no end, or none on its line, its quote. Up to where there is none
// stands in open, by the quote: the same quote that stands before that has none either.
func passQuoted(js []byte, i int, open map[byte]int) int {
	quote := js[i]
	if i < open[quote] {
		return i
	}
	k := i + 1
	for ; k < len(js) && (js[k] != '\n' || quote == '`'); k++ {
		switch js[k] {
		case quote:
			return k
		case '\\':
			k++
		}
	}
	open[quote] = k
	return i
}

// passBlanks passes blanks and comments.
func passBlanks(js []byte, i int) int {
	for i < len(js) {
		switch c := js[i]; {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
		case c == '/' && jslex.Comment(js, i) > i:
			i = jslex.Comment(js, i)
		default:
			return i
		}
		i++
	}
	return i
}

// passWrappers returns where the value begins of "S = S || {…}", "S = Object.freeze({…})" and "S = ({…})"; before is what stands
// before the equals sign.
func passWrappers(js []byte, i int, before []byte) int {
	if name := nameBefore(before); name != "" {
		end := i
		for end < len(js) && end-i < maxName && (js[end] == '.' || jslex.IsName(js[end])) {
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

// maxName is how long a name is that is taken for one, in bytes.
const maxName = 256
