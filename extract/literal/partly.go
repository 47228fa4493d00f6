package literal

import "github.com/seine-go/seine/internal/jslex"

// ParsePartly is Parse for what scripts assign: members of objects and elements of arrays that are no literals, but expressions
// that would have to be evaluated, are passed over. Members are left out and elements are nil; leftOut is the *SyntaxError of the
// first, and nil when all is there. The value is nil when no literal is in it.
func ParsePartly(text []byte, l Limits) (value any, n int, leftOut, err error) {
	l = l.filled()
	r := reader{b: text[:min(len(text), l.Bytes)], limits: l, partly: true}
	value = r.document()
	r.i = min(r.i, len(r.b))
	switch {
	case r.err != nil && len(text) > l.Bytes && r.i >= l.Bytes:
		return nil, r.i, nil, &LimitError{"bytes", l.Bytes}
	case r.err != nil:
		return nil, r.i, nil, r.err
	case r.passed != nil && !r.kept:
		value = nil
	}
	return value, r.i, r.passed, nil
}

// leaveOut passes over the expression that begins at a place where no literal could be read, up to the comma or the bracket
// behind it; it reports whether it did.
func (r *reader) leaveOut(at int) bool {
	fault, broken := r.err.(*SyntaxError)
	if !r.partly || !broken || len(r.stack) == 0 {
		return false
	}
	end := jslex.Expression(r.b, at)
	if r.i = end; end == len(r.b) || r.b[end] == ';' {
		return false
	}
	if r.passed == nil {
		r.passed = fault
	}
	r.err, r.inner = nil, false
	return true
}
