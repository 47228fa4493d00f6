package jsonpath

import (
	"fmt"

	"github.com/theory/jsonpath/spec"
)

// test says whether a filter, or a part of one, takes a value.
type test func(v any, s *selection) bool

// filterOf takes a filter to pieces that are decided here: exactly, within the steps of a selection, and without the values that
// the parser's package makes for each.
func filterOf(or spec.LogicalOr) (test, error) {
	var tests []test
	for _, and := range or {
		one, err := allOf(and)
		if err != nil {
			return nil, err
		}
		tests = append(tests, one)
	}
	return combine(tests, true), nil
}

func allOf(and spec.LogicalAnd) (test, error) {
	var tests []test
	for _, part := range and {
		one, err := testOf(part)
		if err != nil {
			return nil, err
		}
		tests = append(tests, one)
	}
	return combine(tests, false), nil
}

// combine answers decided as soon as one test does, and the opposite when none does.
func combine(tests []test, decided bool) test {
	if len(tests) == 1 {
		return tests[0]
	}
	return func(v any, s *selection) bool {
		for _, t := range tests {
			if t(v, s) == decided {
				return decided
			}
		}
		return !decided
	}
}

func testOf(part spec.BasicExpr) (test, error) {
	switch part := part.(type) {
	case *spec.ParenExpr:
		return filterOf(part.LogicalOr)
	case *spec.NotParenExpr:
		return not(filterOf(part.LogicalOr))
	case *spec.ExistExpr:
		return exists(part.PathQuery)
	case *spec.NonExistExpr:
		return not(exists(part.PathQuery))
	case spec.NotFuncExpr:
		return not(readTest(part.FuncExpr.String()))
	case *spec.FuncExpr:
		return readTest(part.String())
	case *spec.CompExpr:
		return readTest(part.String())
	}
	return nil, fmt.Errorf("a filter with %T", part)
}

func not(t test, err error) (test, error) {
	return func(v any, s *selection) bool { return !t(v, s) }, err
}

func exists(path *spec.PathQuery) (test, error) {
	q, err := queryOf(path, path.String()[0] == '$')
	if err != nil {
		return nil, err
	}
	if q.singular {
		return func(v any, s *selection) bool {
			_, ok := q.value(v, s)
			return ok
		}, nil
	}
	return func(v any, s *selection) bool { return len(q.nodes(v, s)) > 0 }, nil
}

// query is a path in a filter.
type query struct {
	segments []segment
	steps    []step // if it is singular
	singular bool
	fromRoot bool
}

func queryOf(path *spec.PathQuery, fromRoot bool) (*query, error) {
	q := &query{fromRoot: fromRoot}
	if q.steps, q.singular = stepsOf(path); q.singular {
		return q, nil
	}
	var err error
	q.segments, err = segmentsOf(path)
	return q, err
}

// nodes returns all that the query selects. They are overwritten by what is selected next.
func (q *query) nodes(v any, s *selection) []any {
	if q.singular {
		if v, ok := q.value(v, s); ok {
			return []any{v}
		}
		return nil
	}
	if q.fromRoot {
		v = s.root
	}
	before := len(s.found)
	s.walk(q.segments, v)
	nodes := s.found[before:]
	s.found = s.found[:before]
	return nodes
}

// value returns what a singular query leads to.
func (q *query) value(v any, s *selection) (any, bool) {
	if q.fromRoot {
		v = s.root
	}
	for i := range q.steps {
		ok := false
		if v, ok = q.steps[i].from(v); !ok {
			return nil, false
		}
	}
	return v, true
}

// from takes the step from a value.
func (s *step) from(v any) (any, bool) {
	if !s.isIndex {
		o, _ := v.(map[string]any)
		member, ok := o[s.name]
		return member, ok
	}
	list, _ := v.([]any)
	i := s.index
	if i < 0 {
		i += len(list)
	}
	if i < 0 || i >= len(list) {
		return nil, false
	}
	return list[i], true
}
