package literal

import (
	"bytes"
)

// argument is what stands for a parameter of a function until its arguments are read.
type argument int

// maxParameters is how many parameters a function may have.
const maxParameters = 1 << 16

// call reads a function that returns a literal, in which its parameters may stand, and is called at once with scalars or
// empty objects and arrays:
//
//	(function(a,b){return {x:a,list:[b]}}("text",null))
//
// A function that does anything else would have to be evaluated.
func (r *reader) call() any {
	at := r.i
	r.i++
	r.space()
	names, ok := r.parameters()
	if !ok || len(r.stack) > 0 || r.called {
		r.i = at
		r.fail("a parenthesis, which would have to be evaluated")
		return nil
	}
	r.names, r.called = names, true
	body := r.document()
	r.names = nil
	for r.space(); r.err == nil && r.peek() == ';'; r.space() {
		r.i++
	}
	if !r.passOne('}') {
		return nil
	}
	inside := r.peek() == '('
	if !inside && !r.passOne(')') { // (function(){…})(…)
		return nil
	}
	arguments := r.arguments()
	if inside {
		r.space()
		r.passOne(')')
	}
	if r.err != nil {
		return nil
	}
	r.called = false
	left := r.limits.Bytes
	return r.put(body, arguments, &left)
}

// passOne passes a byte that must be there, and blanks behind it.
func (r *reader) passOne(c byte) bool {
	if r.err == nil && r.peek() != c {
		r.fail("no %q behind what a function returns", c)
	}
	if r.err == nil {
		r.i++
		r.space()
	}
	return r.err == nil
}

// parameters reads "function(a,b){return" and returns what stands for each.
func (r *reader) parameters() (map[string]argument, bool) {
	if !hasWord(r.b[r.i:], "function") {
		return nil, false
	}
	r.i += len("function")
	r.space()
	if r.peek() != '(' {
		return nil, false
	}
	end := bytes.IndexByte(r.b[r.i:], ')')
	if end < 0 {
		return nil, false
	}
	names := map[string]argument{}
	list := bytes.TrimSpace(r.b[r.i+1 : r.i+end])
	for i, name := range bytes.Split(list, []byte(",")) {
		name = bytes.TrimSpace(name)
		if len(list) > 0 && (len(name) == 0 || bytes.ContainsFunc(name, func(c rune) bool { return c < 0x80 && !isName(byte(c)) })) || i >= maxParameters {
			return nil, false
		}
		names[string(name)] = argument(i)
	}
	r.i += end + 1
	r.space()
	if r.peek() != '{' {
		return nil, false
	}
	r.i++
	r.space()
	if !hasWord(r.b[r.i:], "return") {
		return nil, false
	}
	r.i += len("return")
	return names, true
}

// arguments reads the literals in parentheses that a function is called with.
func (r *reader) arguments() (values []any) {
	if r.err == nil && r.peek() != '(' {
		r.fail("a function that is not called")
		return nil
	}
	r.i++
	for r.space(); r.err == nil && r.peek() != ')'; r.space() {
		values = append(values, r.document())
		if r.space(); r.peek() != ',' {
			break
		}
		r.i++
	}
	if r.err == nil && r.peek() != ')' {
		r.fail("no closing parenthesis")
	}
	r.i++
	return values
}

// put puts arguments in the places of parameters. left is how many bytes of text may be put.
func (r *reader) put(v any, arguments []any, left *int) any {
	switch v := v.(type) {
	case argument:
		if int(v) >= len(arguments) {
			return nil
		}
		switch value := arguments[v].(type) {
		case string:
			if *left -= len(value); *left < 0 && r.err == nil {
				r.err = &LimitError{"bytes", r.limits.Bytes}
			}
			return value
		case map[string]any:
			if len(value) == 0 {
				return map[string]any{}
			}
			r.fail("an object as an argument")
			return nil
		case []any:
			if len(value) == 0 {
				return []any{}
			}
			r.fail("an array as an argument")
			return nil
		default:
			return value
		}
	case map[string]any:
		for key := range v {
			v[key] = r.put(v[key], arguments, left)
		}
	case []any:
		for i := range v {
			v[i] = r.put(v[i], arguments, left)
		}
	}
	return v
}
