package literal

import "bytes"

// space passes blanks (those of Unicode too), comments, and the marks that scripts are wrapped in.
func (r *reader) space() {
	for r.i < len(r.b) {
		rest := r.b[r.i:]
		switch c := rest[0]; {
		case c == ' ' || '\t' <= c && c <= '\r':
			r.i++
		case c == '/' || c == '<' || c == '-' || c == ']':
			n := r.mark(rest)
			if n == 0 {
				return
			}
			r.i += n
		case c == 0xC2 && has(rest, "\u00A0"):
			r.i += 2
		case c == 0xEF && has(rest, "\uFEFF"), c == 0xE2 && (has(rest, "\u2028") || has(rest, "\u2029")), c == 0xE3 && has(rest, "\u3000"):
			r.i += 3
		default:
			return
		}
	}
}

func has(b []byte, prefix string) bool {
	return len(b) >= len(prefix) && string(b[:len(prefix)]) == prefix
}

// mark returns how long the comment or wrapper is that b begins with; 0 means there is none.
func (r *reader) mark(b []byte) int {
	outside := len(r.stack) == 0
	switch {
	case has(b, "/*"):
		if end := bytes.Index(b[2:], []byte("*/")); end >= 0 {
			return end + 4
		}
		r.fail("a comment without end")
		return len(b)
	case has(b, "//"):
		if inner := bytes.TrimLeft(b[2:], " \t"); has(inner, cdata) {
			return len(b) - len(inner) + len(cdata)
		}
		return lineEnd(b)
	case has(b, "<!--"):
		return commentEnd(b)
	case outside && has(b, cdata):
		return len(cdata)
	case outside && (has(b, "-->") || has(b, "]]>")):
		return 3
	}
	return 0
}

const cdata = "<![CDATA["

func lineEnd(b []byte) int {
	if end := bytes.IndexAny(b, "\n\r"); end >= 0 {
		return end
	}
	return len(b)
}

// maxComment is how long an HTML comment may be; of a longer one only the line counts.
const maxComment = 16 << 10

// commentEnd returns how much of an HTML comment is to be passed: only its mark if it is there to hide the value from old
// browsers.
func commentEnd(b []byte) int {
	inner := bytes.TrimLeft(b[4:], " \t\r\n")
	if has(inner, "{") || has(inner, "[") || has(inner, "//") || has(inner, "/*") {
		return len(b) - len(inner)
	}
	if end := bytes.Index(b[:min(len(b), maxComment)], []byte("-->")); end >= 0 {
		return end + 3
	}
	return lineEnd(b)
}
