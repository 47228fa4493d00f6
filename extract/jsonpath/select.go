package jsonpath

import (
	"regexp"

	"github.com/theory/jsonpath/spec"
)

// Select returns the values that the path selects from a document as Parse returns it: of the types map[string]any, []any,
// string, json.Number, bool and nil. They are parts of the document. The order of the members of an object is free.
func (p *Path) Select(doc any) []any {
	found := []any{doc}
	for i := range p.segments {
		next := make([]any, 0, len(found))
		for _, v := range found {
			next = p.segments[i].appendTo(next, v, doc)
		}
		found = next
	}
	return found
}

// segment is a part of a path. The selectors are of the types spec.Name, spec.Index, spec.WildcardSelector,
// spec.SliceSelector and filter.
type segment struct {
	selectors  []any
	descendant bool
}

// filter says whether a value, one of the document root, is taken.
type filter func(v, root any) bool

func segmentsOf(query *spec.PathQuery) (segments []segment) {
	for _, s := range query.Segments() {
		made := segment{descendant: s.IsDescendant()}
		for _, selector := range s.Selectors() {
			if f, ok := selector.(*spec.FilterSelector); ok {
				made.selectors = append(made.selectors, filterOf(f))
			} else {
				made.selectors = append(made.selectors, selector)
			}
		}
		segments = append(segments, made)
	}
	return segments
}

// comparison is the canonical text of the filter that is most common: whether a member is a text, or is not.
var comparison = regexp.MustCompile(`^\?\(?@\["([^"\\]*)"\] (==|!=) "([^"\\]*)"\)?$`)

// filterOf decides the most common comparison itself, without the values that the parser's package makes for each.
func filterOf(f *spec.FilterSelector) filter {
	m := comparison.FindStringSubmatch(f.String())
	if m == nil {
		return f.Eval
	}
	name, text, equal := m[1], m[3], m[2] == "=="
	return func(v, _ any) bool {
		o, _ := v.(map[string]any)
		s, ok := o[name].(string)
		return (ok && s == text) == equal
	}
}

// appendTo appends what the segment selects from a value, in the order of RFC 9535.
func (s *segment) appendTo(out []any, v, root any) []any {
	switch v := v.(type) {
	case map[string]any:
		for _, selector := range s.selectors {
			out = appendMembers(out, selector, v, root)
		}
		if s.descendant {
			for _, member := range v {
				out = s.appendTo(out, member, root)
			}
		}
	case []any:
		for _, selector := range s.selectors {
			out = appendElements(out, selector, v, root)
		}
		if s.descendant {
			for _, element := range v {
				out = s.appendTo(out, element, root)
			}
		}
	}
	return out
}

func appendMembers(out []any, selector any, o map[string]any, root any) []any {
	switch s := selector.(type) {
	case spec.Name:
		if member, ok := o[string(s)]; ok {
			out = append(out, member)
		}
	case spec.WildcardSelector:
		for _, member := range o {
			out = append(out, member)
		}
	case filter:
		for _, member := range o {
			if s(member, root) {
				out = append(out, member)
			}
		}
	}
	return out
}

func appendElements(out []any, selector any, list []any, root any) []any {
	switch s := selector.(type) {
	case spec.Index:
		i := int(s)
		if i < 0 {
			i += len(list)
		}
		if i >= 0 && i < len(list) {
			out = append(out, list[i])
		}
	case spec.WildcardSelector:
		out = append(out, list...)
	case spec.SliceSelector:
		lower, upper := s.Bounds(len(list))
		step := min(max(s.Step(), -len(list)-1), len(list)+1) // the sum of an index and a step is an int
		for i := lower; step > 0 && i < upper; i += step {
			out = append(out, list[i])
		}
		for i := upper; step < 0 && i > lower; i += step {
			out = append(out, list[i])
		}
	case filter:
		for _, element := range list {
			if s(element, root) {
				out = append(out, element)
			}
		}
	}
	return out
}
