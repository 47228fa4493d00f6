package jsonpath

import (
	"encoding/json"
	"strings"
)

// comparison compares two operands as RFC 9535, section 2.3.5.2.2 has it: nothing equals nothing, only numbers and texts have
// an order, and what is equal is also less or equal.
func comparison(op string, left, right *operand) (test, error) {
	var order func(order int) bool
	switch op {
	case "==":
		return equality(left, right), nil
	case "!=":
		return not(equality(left, right), nil)
	case "<", "<=":
		order = func(order int) bool { return order < 0 }
	case ">", ">=":
		order = func(order int) bool { return order > 0 }
	default:
		return nil, errUnread
	}
	ordered := func(v any, s *selection) bool {
		a, _ := left.value(v, s)
		b, _ := right.value(v, s)
		n, ok := compare(a, b)
		return ok && order(n)
	}
	if len(op) == 1 {
		return ordered, nil
	}
	return combine([]test{ordered, equality(left, right)}, true), nil
}

// equality is that of two operands.
func equality(left, right *operand) test {
	return func(v any, s *selection) bool {
		a, ok := left.value(v, s)
		b, other := right.value(v, s)
		return ok == other && (!ok || same(a, b, s))
	}
}

// same takes a step for each pair of values in the two.
func same(a, b any, s *selection) bool {
	if !s.take(1) {
		return false
	}
	switch a := a.(type) {
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !same(a[i], b[i], s) {
				return false
			}
		}
		return true
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for name, v := range a {
			if other, ok := b[name]; !ok || !same(v, other, s) {
				return false
			}
		}
		return true
	case bool:
		b, ok := b.(bool)
		return ok && a == b
	case nil:
		return b == nil
	}
	n, ok := compare(a, b)
	return ok && n == 0
}

// compare tells the order of two texts or two numbers; ok is false for all else.
func compare(a, b any) (order int, ok bool) {
	switch a := a.(type) {
	case string:
		if b, ok := b.(string); ok {
			return strings.Compare(a, b), true
		}
	case json.Number:
		if b, ok := b.(json.Number); ok {
			return numberOrder(string(a), string(b)), true
		}
	}
	return 0, false
}

// numberOrder is negative when a is less than b. Whole numbers are compared by their digits, others as float64.
func numberOrder(a, b string) int {
	if isWhole(a) && isWhole(b) {
		return wholeOrder(a, b)
	}
	x, _ := json.Number(a).Float64() // infinite beyond its range
	y, _ := json.Number(b).Float64()
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

func isWhole(s string) bool {
	for i := range len(s) {
		if c := s[i]; c-'0' > 9 && (c != '-' || i > 0) {
			return false
		}
	}
	return true
}

// wholeOrder is that of whole numbers as JSON has them.
func wholeOrder(a, b string) int {
	a, negative := strings.CutPrefix(a, "-")
	b, other := strings.CutPrefix(b, "-")
	negative, other = negative && a != "0", other && b != "0"
	order := len(a) - len(b)
	if order == 0 {
		order = strings.Compare(a, b)
	}
	switch {
	case negative && other:
		return -order
	case negative:
		return -1
	case other:
		return 1
	}
	return order
}
