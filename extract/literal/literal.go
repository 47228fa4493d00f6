package literal

import (
	"fmt"
)

// Limits bounds what is read. Zero means the default, negative no limit but that of memory; a depth below zero is the default.
type Limits struct {
	Bytes int // of the text; zero means DefaultBytes
	Depth int // of arrays and objects in each other; zero means DefaultDepth
	Nodes int // values, those in arrays and objects counted each; zero means DefaultNodes
}

// Defaults of Limits.
const (
	DefaultBytes = 16 << 20
	DefaultDepth = 512
	DefaultNodes = 1 << 20
)

func (l Limits) filled() Limits {
	const most = int(^uint(0) >> 1)
	for _, f := range []struct {
		field *int
		zero  int
		minus int
	}{{&l.Bytes, DefaultBytes, most}, {&l.Depth, DefaultDepth, DefaultDepth}, {&l.Nodes, DefaultNodes, most}} {
		switch {
		case *f.field == 0:
			*f.field = f.zero
		case *f.field < 0:
			*f.field = f.minus
		}
	}
	return l
}

// LimitError says that a text goes beyond a bound.
type LimitError struct {
	What  string // "bytes", "depth" or "nodes"; others say what else is bounded
	Limit int
}

// Error names the bound.
func (e *LimitError) Error() string {
	return fmt.Sprintf("seine: literal: more than %d %s", e.Limit, e.What)
}

// SyntaxError says where a text is no literal.
type SyntaxError struct {
	Offset int // of the byte at fault
	Reason string
}

// Error gives the place and the reason.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("seine: literal at byte %d: %s", e.Offset, e.Reason)
}

// Parse reads the value that text begins with, blanks and comments before it let aside, and returns it with the number of
// bytes up to its end. What follows is not looked at. The error is a *SyntaxError or a *LimitError.
func Parse(text []byte, l Limits) (value any, n int, err error) {
	l = l.filled()
	r := reader{b: text[:min(len(text), l.Bytes)], limits: l}
	value = r.document()
	r.i = min(r.i, len(r.b))
	if r.err != nil && len(text) > l.Bytes && r.i >= l.Bytes {
		r.err = &LimitError{"bytes", l.Bytes}
	}
	if r.err != nil {
		return nil, r.i, r.err
	}
	return value, r.i, nil
}

// ParseAll reads a text of values that may be parted by semicolons or commas. Of a text that is broken it returns the
// values before the fault beside the error, which is as Parse's.
func ParseAll(text []byte, l Limits) (values []any, err error) { return parseAll(text, l, false) }

// Salvage is ParseAll for texts that are likely to be broken. Of the value that has the fault it returns what was whole before
// it: a value that ends in the wrong place is no part of that. Members without a value are left out, and reading goes on behind
// them; the error tells of the first fault.
func Salvage(text []byte, l Limits) (values []any, err error) { return parseAll(text, l, true) }

// ParseUnique reads a text that is one value, in which no object has a name twice. The error is as Parse's.
func ParseUnique(text []byte, l Limits) (any, error) {
	l = l.filled()
	if len(text) > l.Bytes {
		return nil, &LimitError{"bytes", l.Bytes}
	}
	r := reader{b: text, limits: l, unique: true}
	value := r.document()
	if r.space(); r.err == nil && r.i < len(r.b) {
		r.fail("more than one value")
	}
	if r.err != nil {
		return nil, r.err
	}
	return value, nil
}

func parseAll(text []byte, l Limits, salvage bool) (values []any, err error) {
	l = l.filled()
	if len(text) > l.Bytes {
		return nil, &LimitError{"bytes", l.Bytes}
	}
	r := reader{b: text, limits: l, salvage: salvage}
	defer func() {
		if err == nil && r.passed != nil {
			err = r.passed
		}
	}()
	for {
		for r.space(); r.peek() == ';' || r.peek() == ',' && len(values) > 0; r.space() {
			r.i++
		}
		if r.i >= len(r.b) || r.err != nil {
			return values, r.err
		}
		value := r.document()
		if r.err != nil {
			if part := r.part(); part != nil {
				values = append(values, part)
			}
			return values, r.err
		}
		values = append(values, value)
	}
}

// undefined is what stands for a value that is none: members of it are left out.
type undefined struct{}

// frame is an array or object that is being read.
type frame struct {
	object map[string]any // nil: it is an array
	array  []any
	key    string
}

type reader struct {
	b      []byte
	i      int
	err    error
	limits Limits
	nodes  int
	stack  []frame
	inner  bool                // the text is that of a JSON.parse
	names  map[string]argument // of the parameters of the function that returns the value
	called bool                // such a function is being read

	partly  bool // what is no literal is left out, in arrays and objects
	kept    bool // a scalar has been read
	salvage bool
	unique  bool  // a name that an object has twice is a fault
	passed  error // the first fault that was passed over
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = &SyntaxError{min(r.i, len(r.b)), fmt.Sprintf(format, args...)}
	}
}

// peek returns the byte at hand, 0 at the end.
func (r *reader) peek() byte {
	if r.i < len(r.b) {
		return r.b[r.i]
	}
	return 0
}

// document reads one value. It keeps its place in arrays and objects on a stack of its own, not on the goroutine's.
func (r *reader) document() any {
	r.stack = r.stack[:0]
	for r.err == nil {
		value, opened := r.begin()
		for !opened && r.err == nil {
			if len(r.stack) == 0 {
				if (value == undefined{}) {
					return nil
				}
				return value
			}
			value, opened = r.attach(value)
		}
	}
	return nil
}

// begin reads a scalar, or the bracket that opens a container and what stands before its first value. Of an empty
// container it reads all.
func (r *reader) begin() (value any, opened bool) {
	r.space()
	if r.nodes++; r.nodes > r.limits.Nodes {
		r.err = &LimitError{"nodes", r.limits.Nodes}
		return nil, false
	}
	switch c := r.peek(); {
	case r.salvage && (c == ',' || c == '}') && len(r.stack) > 0 && r.stack[len(r.stack)-1].object != nil:
		if r.passed == nil {
			r.passed = &SyntaxError{r.i, "a member without a value"}
		}
		return undefined{}, false
	case c == '{':
		return r.open(frame{object: map[string]any{}})
	case c == '[':
		return r.open(frame{})
	}
	at := r.i
	value = r.scalar()
	if r.leaveOut(at) {
		return undefined{}, false
	}
	r.kept = r.kept || value != any(undefined{})
	return value, false
}

// part is what was read of the value in which reading failed: all that is open is closed. It is nil when there is nothing in it.
func (r *reader) part() any {
	if _, broken := r.err.(*SyntaxError); !r.salvage || !broken || r.called {
		return nil
	}
	var value any
	for len(r.stack) > 0 {
		top := &r.stack[len(r.stack)-1]
		if value != nil && top.object != nil {
			top.object[top.key] = value
		} else if value != nil {
			top.array = append(top.array, value)
		}
		value = nil
		if len(top.object)+len(top.array) > 0 {
			value, _ = r.close()
		} else {
			r.stack = r.stack[:len(r.stack)-1]
		}
	}
	return value
}

func (r *reader) open(f frame) (any, bool) {
	if len(r.stack) >= r.limits.Depth {
		r.err = &LimitError{"depth", r.limits.Depth}
		return nil, false
	}
	r.i++
	r.stack = append(r.stack, f)
	return r.proceed()
}

// attach puts a value into the container at hand and goes on to its next value, or to its end.
func (r *reader) attach(value any) (any, bool) {
	top := &r.stack[len(r.stack)-1]
	missing := value == undefined{}
	switch {
	case top.object == nil && missing:
		top.array = append(top.array, nil)
	case top.object == nil:
		top.array = append(top.array, value)
	case missing:
		delete(top.object, top.key)
	default:
		top.object[top.key] = value
	}
	r.space()
	if c := r.peek(); r.partly && c != ',' && c != '}' && c != ']' { // the value is but the first of an expression
		r.drop(top)
		if top.object == nil {
			top.array = append(top.array, nil)
		}
		r.fail("an expression, which would have to be evaluated")
		r.leaveOut(r.i)
	}
	switch c := r.peek(); {
	case r.err != nil:
		return nil, false
	case c == ',':
		r.i++
		return r.proceed()
	case c == '}' && top.object != nil, c == ']' && top.object == nil:
		return r.close()
	}
	if r.i < len(r.b) { // what ends in the wrong place may have begun there
		r.drop(top)
	}
	r.fail("neither a comma nor the end of what is open")
	return nil, false
}

// drop takes back the last value of a container.
func (r *reader) drop(f *frame) {
	if f.object != nil {
		delete(f.object, f.key)
	} else if n := len(f.array); n > 0 {
		f.array = f.array[:n-1]
	}
}

// proceed comes before the next value of the container at hand; where there is none it closes it.
func (r *reader) proceed() (any, bool) {
	top := &r.stack[len(r.stack)-1]
	r.space()
	for top.object != nil {
		if r.peek() == '}' {
			return r.close()
		}
		at := r.i
		r.key(top)
		if !r.leaveOut(at) {
			return nil, true
		}
		if r.peek() == ',' {
			r.i++
			r.space()
		} else if r.peek() != '}' {
			r.fail("neither a comma nor the end of what is open")
			return nil, true
		}
	}
	for r.peek() == ',' { // holes
		if r.nodes++; r.nodes > r.limits.Nodes {
			r.err = &LimitError{"nodes", r.limits.Nodes}
			return nil, true
		}
		top.array = append(top.array, nil)
		r.i++
		r.space()
	}
	if r.peek() == ']' {
		return r.close()
	}
	return nil, true
}

func (r *reader) close() (any, bool) {
	r.i++
	last := len(r.stack) - 1
	top := r.stack[last]
	r.stack[last] = frame{}
	r.stack = r.stack[:last]
	if top.object != nil {
		return top.object, false
	}
	if top.array == nil {
		return []any{}, false
	}
	return top.array, false
}

// key reads the name of a member and the colon.
func (r *reader) key(top *frame) {
	at := r.i
	switch c := r.peek(); {
	case c == '"' || c == '\'':
		top.key = r.text()
	case isName(c):
		start := r.i
		for isName(r.peek()) {
			r.i++
		}
		top.key = valid(r.b[start:r.i])
	default:
		r.fail("not the name of a member")
		return
	}
	if _, twice := top.object[top.key]; twice && r.unique {
		r.i = at
		r.fail("the name %q stands twice", top.key)
		return
	}
	r.space()
	if r.peek() != ':' {
		r.fail("no colon behind a name")
		return
	}
	r.i++
}

// isName reports whether a byte may stand in a name or number without quotes.
func isName(c byte) bool {
	return c == '_' || c == '$' || c >= 0x80 || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}
