package jsonpath

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/theory/jsonpath/spec"
)

// filter says whether a value, one of the document root, is taken.
type filter struct {
	eval            func(v, root any) bool
	fromRoot, below bool // it may look at the whole document, at all that is in the value
}

var (
	// textComparison is the canonical text of the filter that is most common: whether a member is a text, or is not.
	textComparison = regexp.MustCompile(`^\?\(?@\["([^"\\]*)"\] (==|!=) "([^"\\]*)"\)?$`)
	// wholeComparison is that of one of a value, or of a member of a member of it, with a whole number.
	wholeComparison = regexp.MustCompile(`^\?\(?@((?:\["[^"\\]*"\])*) (==|!=|<=|>=|<|>) (-?\d+)\)?$`)
	memberName      = regexp.MustCompile(`\["([^"\\]*)"\]`)
)

// filterOf decides the most common comparison itself, without the values that the parser's package makes for each, and those of
// large whole numbers, which that package takes for the nearest float64.
func filterOf(f *spec.FilterSelector) *filter {
	text := f.String()
	made := &filter{eval: f.Eval, fromRoot: strings.Contains(text, "$"), below: strings.Contains(text, "..")}
	if m := textComparison.FindStringSubmatch(text); m != nil {
		name, text, equal := m[1], m[3], m[2] == "=="
		made.eval = func(v, _ any) bool {
			o, _ := v.(map[string]any)
			s, ok := o[name].(string)
			return (ok && s == text) == equal
		}
	} else if m := wholeComparison.FindStringSubmatch(text); m != nil {
		var names []string
		for _, name := range memberName.FindAllStringSubmatch(m[1], -1) {
			names = append(names, name[1])
		}
		made.eval = compareWhole(names, m[2], m[3], f.Eval)
	}
	return made
}

// compareWhole compares numbers that are written as whole ones digit by digit, and leaves all others to eval.
func compareWhole(names []string, op, want string, eval func(v, root any) bool) func(v, root any) bool {
	return func(v, root any) bool {
		at := v
		for _, name := range names {
			o, _ := at.(map[string]any)
			at = o[name]
		}
		n, _ := at.(json.Number)
		if !isWhole(string(n)) {
			return eval(v, root)
		}
		switch order := wholeOrder(string(n), want); op {
		case "==":
			return order == 0
		case "!=":
			return order != 0
		case "<":
			return order < 0
		case "<=":
			return order <= 0
		case ">":
			return order > 0
		default:
			return order >= 0
		}
	}
}

func isWhole(s string) bool {
	digits := strings.TrimPrefix(s, "-")
	return digits != "" && strings.Trim(digits, "0123456789") == ""
}

// wholeOrder is negative when a is less than b; both are written as JSON has whole numbers.
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
