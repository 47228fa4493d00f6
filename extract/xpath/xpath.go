package xpath

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/antchfx/xpath"
	"golang.org/x/net/html"
)

// Expr is a compiled expression. It is safe for concurrent use.
type Expr struct {
	text string
	expr *xpath.Expr
}

// Error says what is wrong with an expression, or with its evaluation.
type Error struct {
	Expr   string
	Reason string
}

// Error quotes the expression.
func (e *Error) Error() string { return fmt.Sprintf("seine: xpath %q: %s", e.Expr, e.Reason) }

// Bounds of expressions, which are read by recursion.
const (
	MaxExpr    = 16 << 10 // bytes
	maxNesting = 200      // of parentheses and brackets
)

// Compile reads an expression. The error is an *Error. Variables and functions that are not known are errors.
func Compile(expr string) (e *Expr, err error) {
	if len(expr) > MaxExpr {
		return nil, &Error{expr[:64] + "…", fmt.Sprintf("longer than %d bytes", MaxExpr)}
	}
	if nesting(expr) > maxNesting {
		return nil, &Error{expr[:min(64, len(expr))], "nested too deep"}
	}
	defer guard(expr, &err)
	compiled, err := xpath.Compile(expr)
	if err != nil {
		return nil, &Error{expr, err.Error()}
	}
	return &Expr{expr, compiled}, nil
}

func nesting(expr string) (most int) {
	depth := 0
	for i := range len(expr) {
		switch expr[i] {
		case '(', '[':
			depth++
			most = max(most, depth)
		case ')', ']':
			depth--
		}
	}
	return max(most, strings.Count(expr, "-")) // signs nest too
}

// MustCompile is Compile for expressions that are known to be right; it panics when they are not.
func MustCompile(expr string) *Expr {
	e, err := Compile(expr)
	if err != nil {
		panic(err)
	}
	return e
}

// guard makes an error of a panic of the engine.
func guard(expr string, err *error) {
	if reason := recover(); reason != nil {
		*err = &Error{expr, fmt.Sprint(reason)}
	}
}

// String returns the expression as it was given.
func (e *Expr) String() string { return e.text }

// Node is a node that was selected: an element, a text, a comment or the document, or an attribute of an element.
type Node struct {
	*html.Node        // of an attribute its element
	Attr       string // name of the attribute, with its prefix; "" for none
	Value      string // of the attribute
}

// Text is the string value of a node (XPath 1.0, section 5).
func (n Node) Text() string {
	if n.Attr != "" {
		return n.Value
	}
	return text(n.Node)
}

// Select returns the nodes that the expression selects from n, each once, in document order. An expression whose value is
// no set of nodes is an error, as is what fails at evaluation; all errors are of type *Error.
func (e *Expr) Select(n *html.Node) (nodes []Node, err error) {
	defer guard(e.text, &err)
	value := e.expr.Evaluate(navigate(n))
	found, ok := value.(*xpath.NodeIterator)
	if !ok {
		return nil, &Error{e.text, "the value is no set of nodes"}
	}
	return collect(n, found), nil
}

// Evaluate returns the value of the expression at n: a string, a float64, a bool, or []Node.
func (e *Expr) Evaluate(n *html.Node) (value any, err error) {
	defer guard(e.text, &err)
	value = e.expr.Evaluate(navigate(n))
	if found, ok := value.(*xpath.NodeIterator); ok {
		return collect(n, found), nil
	}
	return value, nil
}

// Text is the value of the expression at n as the function string() gives it: of nodes that of the first one, "" when
// there is none.
func (e *Expr) Text(n *html.Node) (string, error) {
	value, err := e.Evaluate(n)
	if err != nil {
		return "", err
	}
	switch v := value.(type) {
	case string:
		return v, nil
	case bool:
		return strconv.FormatBool(v), nil
	case float64:
		return number(v), nil
	case []Node:
		if len(v) > 0 {
			return v[0].Text(), nil
		}
		return "", nil
	}
	return fmt.Sprint(value), nil
}

// number is the string of a number (XPath 1.0, section 4.2).
func number(f float64) string {
	switch {
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	case f == 0:
		return "0"
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}

// place is where a node stands: attributes stand behind their element, counted from 1.
type place struct {
	node *html.Node
	attr int
}

// collect takes each node once and brings them into document order.
func collect(n *html.Node, found *xpath.NodeIterator) (nodes []Node) {
	places := map[place]bool{}
	var list []place
	for found.MoveNext() {
		p := found.Current().(*navigator).place
		if !places[p] {
			places[p] = true
			list = append(list, p)
		}
	}
	if len(list) > 1 {
		sortPlaces(top(n), list)
	}
	for _, p := range list {
		node := Node{Node: p.node}
		if p.attr > 0 {
			a := p.node.Attr[p.attr-1]
			node.Attr, node.Value = a.Key, a.Val
			if a.Namespace != "" {
				node.Attr = a.Namespace + ":" + a.Key
			}
		}
		nodes = append(nodes, node)
	}
	return nodes
}

func sortPlaces(root *html.Node, list []place) {
	order := make(map[*html.Node]int, len(list))
	for _, p := range list {
		order[p.node] = 0
	}
	at, left := 0, len(order)
	for n := root; n != nil && left > 0; n = next(n, root) {
		at++
		if _, wanted := order[n]; wanted {
			order[n] = at
			left--
		}
	}
	slices.SortStableFunc(list, func(a, b place) int {
		if a.node == b.node {
			return a.attr - b.attr
		}
		return order[a.node] - order[b.node]
	})
}

// next is the node behind n in document order, within root.
func next(n, root *html.Node) *html.Node {
	if n.FirstChild != nil {
		return n.FirstChild
	}
	for n != root && n.NextSibling == nil {
		n = n.Parent
	}
	if n == root {
		return nil
	}
	return n.NextSibling
}
