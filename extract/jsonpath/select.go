package jsonpath

import (
	"errors"
	"math"
	"regexp"
	"slices"

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

// SelectWithin is Select that takes a step for each value that it looks at, selects on the way, or compares, from those that
// there are. When there are not enough the error is ErrSteps.
func (p *Path) SelectWithin(doc any, steps *int) ([]any, error) {
	s := selection{root: doc, steps: steps}
	if s.walk(p.segments, doc); *steps < 0 {
		return nil, ErrSteps
	}
	return s.found, nil
}

// selection is one call of Select.
type selection struct {
	root  any
	found []any // what was selected; queries in filters add theirs for as long as they are looked at
	steps *int

	pattern string // the last one that the document brought, and what it means
	whole   bool
	re      *regexp.Regexp
}

// take takes steps, and reports whether there were enough.
func (s *selection) take(n int) bool {
	*s.steps -= n
	return *s.steps >= 0
}

// segment is a part of a path. The selectors are of the types spec.Name, spec.Index, spec.WildcardSelector,
// spec.SliceSelector and test.
type segment struct {
	selectors  []any
	descendant bool
}

func segmentsOf(query *spec.PathQuery) (segments []segment, err error) {
	for _, s := range query.Segments() {
		made := segment{descendant: s.IsDescendant()}
		for _, selector := range s.Selectors() {
			one := any(selector)
			if f, ok := selector.(*spec.FilterSelector); ok {
				if one, err = filterOf(f.LogicalOr); err != nil {
					return nil, err
				}
			}
			made.selectors = append(made.selectors, one)
		}
		segments = append(segments, made)
	}
	return segments, nil
}

// walk finds what segments select from a value, in the order of RFC 9535: as each segment is done with what it selects before
// the next selector is asked, nothing is kept but what is found.
func (s *selection) walk(segments []segment, v any) {
	if !s.take(1) {
		return
	}
	if len(segments) == 0 {
		s.found = append(s.found, v)
		return
	}
	first, rest := &segments[0], segments[1:]
	switch v := v.(type) {
	case map[string]any:
		for _, selector := range first.selectors {
			s.members(selector, v, rest)
		}
		if first.descendant {
			for _, member := range v {
				s.walk(segments, member)
			}
		}
	case []any:
		for _, selector := range first.selectors {
			s.elements(selector, v, rest)
		}
		if first.descendant {
			for _, element := range v {
				s.walk(segments, element)
			}
		}
	}
}

// members goes on with those that a selector takes.
func (s *selection) members(selector any, o map[string]any, rest []segment) {
	switch selector := selector.(type) {
	case spec.Name:
		if member, ok := o[string(selector)]; ok {
			s.walk(rest, member)
		}
	case spec.WildcardSelector:
		for _, member := range o {
			s.walk(rest, member)
		}
	case test:
		for _, member := range o {
			if s.take(1) && selector(member, s) {
				s.walk(rest, member)
			}
		}
	}
}

// elements goes on with those that a selector takes.
func (s *selection) elements(selector any, list []any, rest []segment) {
	switch selector := selector.(type) {
	case spec.Index:
		at := step{index: int(selector), isIndex: true}
		if element, ok := at.from(list); ok {
			s.walk(rest, element)
		}
	case spec.WildcardSelector:
		if len(rest) == 0 {
			s.take(len(list))
			s.found = append(s.found, list...)
			return
		}
		s.found = slices.Grow(s.found, len(list))
		for _, element := range list {
			s.walk(rest, element)
		}
	case spec.SliceSelector:
		lower, upper := selector.Bounds(len(list))
		by := min(max(selector.Step(), -len(list)-1), len(list)+1) // the sum of an index and a step is an int
		s.found = slices.Grow(s.found, max(upper-lower, 0)/max(by, -by, 1))
		for i := lower; by > 0 && i < upper; i += by {
			s.walk(rest, list[i])
		}
		for i := upper; by < 0 && i > lower; i += by {
			s.walk(rest, list[i])
		}
	case test:
		for _, element := range list {
			if s.take(1) && selector(element, s) {
				s.walk(rest, element)
			}
		}
	}
}
