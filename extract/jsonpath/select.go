package jsonpath

import (
	"errors"
	"math"

	"github.com/theory/jsonpath/spec"
)

// Select returns the values that the path selects from a document as Parse returns it: of the types map[string]any, []any,
// string, json.Number, bool and nil. They are parts of the document. The order of the members of an object is free. Nothing
// bounds what it takes: "$..*..*" selects a value as often as there are ways to it. See SelectWithin.
func (p *Path) Select(doc any) []any {
	steps := math.MaxInt
	found, _ := p.SelectWithin(doc, &steps)
	return found
}

// ErrSteps says that a selection would take more steps than it may.
var ErrSteps = errors.New("seine: jsonpath: too many steps")

// SelectWithin is Select that takes a step for each value that it looks at, or selects on the way, from those that there are.
// When there are not enough the error is ErrSteps.
func (p *Path) SelectWithin(doc any, steps *int) ([]any, error) {
	s := selection{root: doc, steps: steps}
	found := []any{doc}
	for i := range p.segments {
		next := make([]any, 0, len(found))
		for _, v := range found {
			if next = p.segments[i].appendTo(next, v, &s); *steps < 0 {
				return nil, ErrSteps
			}
		}
		found = next
	}
	return found, nil
}

// selection is one call of Select.
type selection struct {
	root  any
	size  int // of the root, once it is known
	steps *int
}

// take takes steps, and reports whether there were enough.
func (s *selection) take(n int) bool {
	*s.steps -= n
	return *s.steps >= 0
}

// takes reports whether a filter takes a value. One that looks further than at the value's own names costs what it looks at.
func (s *selection) takes(f *filter, v any) bool {
	cost := 1
	if f.fromRoot {
		if s.size == 0 {
			s.size = size(s.root)
		}
		cost += s.size
	}
	if f.below {
		cost += size(v)
	}
	return s.take(cost) && f.eval(v, s.root)
}

// size counts the values in a value, itself included.
func size(v any) (n int) {
	switch v := v.(type) {
	case map[string]any:
		for _, member := range v {
			n += size(member)
		}
	case []any:
		for _, element := range v {
			n += size(element)
		}
	}
	return n + 1
}

// segment is a part of a path. The selectors are of the types spec.Name, spec.Index, spec.WildcardSelector,
// spec.SliceSelector and *filter.
type segment struct {
	selectors  []any
	descendant bool
}

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

// appendTo appends what the segment selects from a value, in the order of RFC 9535.
func (s *segment) appendTo(out []any, v any, run *selection) []any {
	before := len(out)
	if !run.take(1) {
		return out
	}
	switch v := v.(type) {
	case map[string]any:
		for _, selector := range s.selectors {
			out = appendMembers(out, selector, v, run)
		}
		run.take(len(out) - before)
		if s.descendant {
			for _, member := range v {
				out = s.appendTo(out, member, run)
			}
		}
	case []any:
		for _, selector := range s.selectors {
			out = appendElements(out, selector, v, run)
		}
		run.take(len(out) - before)
		if s.descendant {
			for _, element := range v {
				out = s.appendTo(out, element, run)
			}
		}
	}
	return out
}

func appendMembers(out []any, selector any, o map[string]any, run *selection) []any {
	switch s := selector.(type) {
	case spec.Name:
		if member, ok := o[string(s)]; ok {
			out = append(out, member)
		}
	case spec.WildcardSelector:
		for _, member := range o {
			out = append(out, member)
		}
	case *filter:
		for _, member := range o {
			if run.takes(s, member) {
				out = append(out, member)
			}
		}
	}
	return out
}

func appendElements(out []any, selector any, list []any, run *selection) []any {
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
	case *filter:
		for _, element := range list {
			if run.takes(s, element) {
				out = append(out, element)
			}
		}
	}
	return out
}
