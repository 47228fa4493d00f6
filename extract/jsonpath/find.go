package jsonpath

import "errors"

// ErrIndefinite says that a path may lead to more than one value, which Find and First do not take.
var ErrIndefinite = errors.New("seine: jsonpath: not a path of names and indexes alone")

// Find looks the path up in a document, which it checks from end to end, and returns the value as it stands there: a part
// of doc. Of names that repeat the last counts, as in Select. It allocates nothing unless names of the document have
// escapes or bytes that are not UTF-8. The error is ErrIndefinite or a *SyntaxError.
func (p *Path) Find(doc []byte) (raw []byte, ok bool, err error) {
	if !p.definite {
		return nil, false, ErrIndefinite
	}
	r := newReader(doc)
	r.space()
	start, end := r.find(p.steps)
	r.space()
	if r.err == nil && r.i < len(doc) {
		r.fail(manyValues)
	}
	if r.err != nil {
		return nil, false, r.err
	}
	if end == 0 {
		return nil, false, nil
	}
	return doc[start:end], true, nil
}

// find reads the value at hand to its end and returns where in it the steps lead; end is 0 when they lead nowhere.
func (r *reader) find(steps []step) (start, end int) {
	if len(steps) == 0 {
		start = r.i
		r.value()
		return start, r.i
	}
	switch c := r.peek(); {
	case c == '{' && !steps[0].isIndex:
		return r.findMember(steps)
	case c == '[' && steps[0].isIndex && steps[0].index >= 0:
		return r.findElement(steps, steps[0].index)
	case c == '[' && steps[0].isIndex:
		from := r.i
		n := r.count()
		if r.err != nil || n+steps[0].index < 0 {
			return 0, 0
		}
		r.i = from
		return r.findElement(steps, n+steps[0].index)
	}
	r.value()
	return 0, 0
}

// findMember goes through an object. A later member of the name takes the place of an earlier one.
func (r *reader) findMember(steps []step) (start, end int) {
	for more := r.into('}'); more; more = r.next('}') {
		key := r.key()
		if r.err != nil {
			return 0, 0
		}
		if isName(key, steps[0].name) {
			start, end = r.find(steps[1:])
		} else {
			r.value()
		}
	}
	return start, end
}

func (r *reader) findElement(steps []step, index int) (start, end int) {
	n := 0
	for more := r.into(']'); more; more = r.next(']') {
		if n == index {
			start, end = r.find(steps[1:])
		} else {
			r.value()
		}
		n++
	}
	return start, end
}

// count reads an array and returns how many elements it has.
func (r *reader) count() (n int) {
	for more := r.into(']'); more; more = r.next(']') {
		r.value()
		n++
	}
	return n
}
