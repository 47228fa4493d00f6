package extract

import (
	"fmt"
	"strings"
)

// The grammar of a tag `extract:"…"`:
//
//	tag     = [source *("||" source)] *(";" option)
//	source  = kind "=" expression          css=h1@own   json=$.a[?@.b || @.c]   re=/S(\d+)/1
//	option  = key ["=" value]              required     default='a;b'
//
// "||" and ";" part only where they stand outside quotes, brackets, and the slashes of a pattern.

// maxTag is how long a declaration may be, in bytes.
const maxTag = 16 << 10

// declaration is a tag, or a rule, that has been read but not compiled.
type declaration struct {
	sources []part
	options []part
}

// part is a source or an option.
type part struct {
	key, value string
	hasValue   bool
	line       int // in the text of rules; 0 in a tag
	column     int // of the key, in bytes from 1
	at         int // of the value
}

// tagError is a fault at a place of a declaration.
type tagError struct {
	line, column int
	err          error
}

func (e *tagError) Error() string { return e.err.Error() }
func (e *tagError) Unwrap() error { return e.err }

func faultAt(column int, format string, args ...any) *tagError {
	return &tagError{column: column, err: fmt.Errorf(format, args...)}
}

// on is the fault in the line of the part that has it.
func (e *tagError) on(p part) *tagError {
	e.line = p.line
	return e
}

// parseTag reads a tag.
func parseTag(tag string) (*declaration, *tagError) {
	if len(tag) > maxTag {
		return nil, faultAt(maxTag, "longer than %d bytes", maxTag)
	}
	d := &declaration{}
	for i, inOptions := 0, false; i <= len(tag); {
		end, err := segmentEnd(tag, i)
		if err != nil {
			return nil, err
		}
		p, blank := readPart(tag, i, end)
		switch {
		case blank && (inOptions || end < len(tag) && tag[end] == '|' || len(d.sources) > 0 && !inOptions):
			return nil, faultAt(i+1, "nothing stands here")
		case blank:
		case inOptions:
			if p.value, err = unquote(p); err != nil {
				return nil, err
			}
			d.options = append(d.options, p)
		default:
			if !p.hasValue {
				return nil, faultAt(p.column, "%q is no source: kind=expression", cut(p.key))
			}
			d.sources = append(d.sources, p)
		}
		switch {
		case end >= len(tag):
			return d, nil
		case tag[end] == ';':
			inOptions, i = true, end+1
		case inOptions:
			return nil, faultAt(end+1, "a source among the options")
		default:
			i = end + 2
		}
	}
	return d, nil
}

// segmentEnd returns where the source or option ends that begins at i: at "||", ";" or the end.
func segmentEnd(tag string, i int) (int, *tagError) {
	start := i
	var open []int // where brackets stand that are to be closed
	for ; i < len(tag); i++ {
		switch c := tag[i]; {
		case c == '\\':
			i++
		case c == '"' || c == '\'':
			n := closing(tag[i+1:], c)
			if n < 0 {
				return 0, faultAt(i+1, "a quote without its other")
			}
			i += n + 1
		case c == '/' && strings.TrimSpace(tag[start:i]) == "re=":
			n := closing(tag[i+1:], '/')
			if n < 0 {
				return 0, faultAt(i+1, "a pattern without its closing slash")
			}
			i += n + 1
		case c == '(' || c == '[':
			open = append(open, i)
		case len(open) > 0 && (tag[open[len(open)-1]] == '(' && c == ')' || tag[open[len(open)-1]] == '[' && c == ']'):
			open = open[:len(open)-1]
		case len(open) > 0:
		case c == ';' || c == '|' && i+1 < len(tag) && tag[i+1] == '|':
			return i, nil
		}
	}
	if len(open) > 0 {
		last := open[len(open)-1]
		return 0, faultAt(last+1, "%q is open to the end", tag[last:last+1])
	}
	return len(tag), nil
}

// closing returns where the first c is that no backslash is before; -1 without one.
func closing(s string, c byte) int {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case c:
			return i
		}
	}
	return -1
}

// readPart reads tag[start:end] as key or key=value, blanks round both let aside.
func readPart(tag string, start, end int) (p part, blank bool) {
	text := strings.TrimRight(tag[start:end], " \t\n")
	trimmed := strings.TrimLeft(text, " \t\n")
	start += len(text) - len(trimmed)
	key, value, has := strings.Cut(trimmed, "=")
	p = part{key: strings.TrimSpace(key), hasValue: has, column: start + 1, at: start + len(key) + 2}
	p.value = strings.TrimSpace(value)
	return p, trimmed == ""
}

// unquote takes the quotes off a value that is quoted as a whole.
func unquote(p part) (string, *tagError) {
	v := p.value
	if len(v) < 2 || v[0] != '"' && v[0] != '\'' || closing(v[1:], v[0]) != len(v)-2 {
		return v, nil
	}
	var b strings.Builder
	for i := 1; i < len(v)-1; i++ {
		if v[i] == '\\' && i+1 < len(v)-1 && (v[i+1] == v[0] || v[i+1] == '\\') {
			i++
		}
		b.WriteByte(v[i])
	}
	return b.String(), nil
}
