package jsonpath

// MaxDepth is how deep arrays and objects may be nested in a document, as in encoding/json.
const MaxDepth = 10_000

// reader goes through a document and checks it (RFC 8259). After an error it stands at the end.
type reader struct {
	walk
	err   error
	outer int // arrays and objects that were entered one by one and are open
}

func newReader(doc []byte) reader { return reader{walk: walk{b: doc}} }

func (r *reader) fail(reason fault) {
	if r.err == nil {
		r.err = &SyntaxError{Offset: r.i, Reason: faults[reason]}
	}
	r.i = len(r.b)
}

// peek returns the byte at hand, 0 at the end.
func (r *reader) peek() byte {
	if r.i < len(r.b) {
		return r.b[r.i]
	}
	return 0
}

func (r *reader) space() { r.i = skipSpace(r.b, r.i) }

func skipSpace(b []byte, i int) int {
	for i < len(b) && b[i] <= ' ' && (b[i] == ' ' || b[i] == '\n' || b[i] == '\r' || b[i] == '\t') {
		i++
	}
	return i
}

// document reads a whole document.
func (r *reader) document() error {
	r.space()
	r.value()
	if r.space(); r.err == nil && r.i < len(r.b) {
		r.fail(manyValues)
	}
	return r.err
}

// enter goes into the array or object at hand and reports whether there is something in it.
func (r *reader) enter(end byte) bool {
	r.i++
	if r.outer++; r.outer > MaxDepth {
		r.fail(tooDeep)
		return false
	}
	r.space()
	if r.peek() == end {
		r.i++
		r.outer--
		return false
	}
	return r.err == nil
}

// next goes behind an element or member and reports whether there is another.
func (r *reader) next(end byte) bool {
	if r.err != nil {
		return false
	}
	r.space()
	switch c := r.peek(); {
	case c == ',':
		r.i++
		r.space()
		return true
	case c == end:
		r.i++
		r.outer--
	default:
		r.fail(afterValue(end))
	}
	return false
}

// afterValue is what is wrong with what stands behind a value in an array or object with that end.
func afterValue(end byte) fault {
	if end == '}' {
		return afterMember
	}
	return afterElement
}

// key reads a name and the colon behind it.
func (r *reader) key() []byte {
	start := r.i + 1
	if r.peek() != '"' {
		r.fail(noName)
		return nil
	}
	end, reason := stringEnd(r.b, start)
	if reason != 0 {
		r.i = end
		r.fail(reason)
		return nil
	}
	r.i = skipSpace(r.b, end)
	if r.peek() != ':' {
		r.fail(noColon)
		return nil
	}
	r.i = skipSpace(r.b, r.i+1)
	return r.b[start : end-1]
}

// value reads the value at hand, without recursion.
func (r *reader) value() {
	if r.err != nil {
		return
	}
	r.depth, r.most = 0, MaxDepth-r.outer
	if reason := r.walk.value(); reason != 0 {
		r.fail(reason)
	}
}

// walk reads values, one after the other. open says of each open level of the one at hand whether it is an object.
type walk struct {
	b     []byte
	i     int
	depth int
	most  int
	open  [(MaxDepth + 63) / 64]uint64
}

func (w *walk) inObject() bool { return w.open[(w.depth-1)/64]>>((w.depth-1)%64)&1 != 0 }

// value returns why there is no value, and leaves i where the fault is.
func (w *walk) value() (reason fault) {
	for {
		opened, reason := w.scalar()
		if reason != 0 {
			return reason
		}
		if opened {
			continue
		}
		for { // behind a value
			if w.depth == 0 {
				return 0
			}
			if w.i < len(w.b) && w.b[w.i] <= ' ' {
				w.i = skipSpace(w.b, w.i)
			}
			if w.i == len(w.b) {
				return tooShort
			}
			c := w.b[w.i]
			object := w.inObject()
			if c == ',' {
				if w.i++; w.i < len(w.b) && w.b[w.i] <= ' ' {
					w.i = skipSpace(w.b, w.i)
				}
				if object {
					if reason := w.name(); reason != 0 {
						return reason
					}
				}
				break
			}
			if object && c != '}' || !object && c != ']' {
				if object {
					return afterMember
				}
				return afterElement
			}
			w.i++
			w.depth--
		}
	}
}

// scalar reads a value that is none of an array and an object, or enters one of these if it is not empty.
func (w *walk) scalar() (opened bool, reason fault) {
	if w.i == len(w.b) {
		return false, tooShort
	}
	switch c := w.b[w.i]; c {
	case '"':
		w.i, reason = stringEnd(w.b, w.i+1)
		return false, reason
	case '{', '[':
		if w.depth == w.most {
			return false, tooDeep
		}
		w.i = skipSpace(w.b, w.i+1)
		if w.i < len(w.b) && w.b[w.i] == c+2 { // the braces' and the brackets' codes are two apart
			w.i++
			return false, 0
		}
		bit := uint64(1) << (w.depth % 64)
		if c == '{' {
			w.open[w.depth/64] |= bit
			w.depth++
			return true, w.name()
		}
		w.open[w.depth/64] &^= bit
		w.depth++
		return true, 0
	case 't':
		return false, w.literal("true")
	case 'f':
		return false, w.literal("false")
	case 'n':
		return false, w.literal("null")
	}
	w.i, reason = numberEnd(w.b, w.i)
	return false, reason
}

func (w *walk) literal(s string) fault {
	if len(w.b)-w.i < len(s) || string(w.b[w.i:w.i+len(s)]) != s {
		return noValue
	}
	w.i += len(s)
	return 0
}

// name reads a name and its colon.
func (w *walk) name() (reason fault) {
	if w.i == len(w.b) || w.b[w.i] != '"' {
		return noName
	}
	if w.i, reason = stringEnd(w.b, w.i+1); reason != 0 {
		return reason
	}
	if w.i == len(w.b) || w.b[w.i] != ':' {
		if w.i = skipSpace(w.b, w.i); w.i == len(w.b) || w.b[w.i] != ':' {
			return noColon
		}
	}
	if w.i++; w.i < len(w.b) && w.b[w.i] <= ' ' {
		w.i = skipSpace(w.b, w.i)
	}
	return 0
}
