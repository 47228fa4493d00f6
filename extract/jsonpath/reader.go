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

// into goes into the array or object at hand and reports whether there is something in it.
func (r *reader) into(end byte) bool {
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

// enter goes one level down.
func (w *walk) enter(object bool) {
	bit := uint64(1) << (w.depth % 64)
	if object {
		w.open[w.depth/64] |= bit
	} else {
		w.open[w.depth/64] &^= bit
	}
	w.depth++
}

// leave goes one level up and returns whether there it is in an object.
func (w *walk) leave() bool {
	w.depth--
	return w.depth > 0 && w.open[(w.depth-1)/64]>>((w.depth-1)%64)&1 != 0
}

// value returns why there is no value, and leaves i behind the value or where the fault is.
func (w *walk) value() (reason fault) {
	b, i, object := w.b, w.i, false
	for {
		if i < len(b) && (b[i] == '{' || b[i] == '[') {
			c := b[i]
			if w.depth == w.most {
				return w.stop(i, tooDeep)
			}
			i = skipSpace(b, i+1)
			if i < len(b) && b[i] == c+2 { // the braces' and the brackets' codes are two apart
				i++
			} else {
				object = c == '{'
				w.enter(object)
				if object {
					if i, reason = nameEnd(b, i); reason != 0 {
						return w.stop(i, reason)
					}
				}
				continue
			}
		} else if i, reason = scalarEnd(b, i); reason != 0 {
			return w.stop(i, reason)
		}
		for { // behind a value
			if w.depth == 0 {
				return w.stop(i, 0)
			}
			if i = skipSpace(b, i); i == len(b) {
				return w.stop(i, tooShort)
			}
			c := b[i]
			if c == ',' {
				i = skipSpace(b, i+1)
				if object {
					if i, reason = nameEnd(b, i); reason != 0 {
						return w.stop(i, reason)
					}
				}
				break
			}
			if object && c != '}' {
				return w.stop(i, afterMember)
			}
			if !object && c != ']' {
				return w.stop(i, afterElement)
			}
			i++
			object = w.leave()
		}
	}
}

func (w *walk) stop(i int, reason fault) fault {
	w.i = i
	return reason
}

// scalarEnd returns where the value at b[i] ends, which is no array and no object.
func scalarEnd(b []byte, i int) (end int, reason fault) {
	if i == len(b) {
		return i, tooShort
	}
	switch b[i] {
	case '"':
		return stringEnd(b, i+1)
	case 't':
		return wordEnd(b, i, "true")
	case 'f':
		return wordEnd(b, i, "false")
	case 'n':
		return wordEnd(b, i, "null")
	}
	return numberEnd(b, i)
}

func wordEnd(b []byte, i int, word string) (end int, reason fault) {
	if len(b)-i < len(word) || string(b[i:i+len(word)]) != word {
		return i, noValue
	}
	return i + len(word), 0
}

// nameEnd returns where the value begins of the member whose name is at b[i].
func nameEnd(b []byte, i int) (end int, reason fault) {
	if i == len(b) || b[i] != '"' {
		return i, noName
	}
	if i, reason = stringEnd(b, i+1); reason != 0 {
		return i, reason
	}
	if i = skipSpace(b, i); i == len(b) || b[i] != ':' {
		return i, noColon
	}
	return skipSpace(b, i+1), 0
}
