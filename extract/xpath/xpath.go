package xpath

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/antchfx/xpath"
	"golang.org/x/net/html"
)

// Expr is a compiled expression. It is safe for concurrent use.
type Expr struct {
	text   string
	engine string    // text in the form that the engine is given
	free   sync.Pool // of *xpath.Expr, each of which takes one user at a time: the engine changes it as it evaluates
}

// Error says what is wrong with an expression, or with its evaluation.
type Error struct {
	Expr   string
	Reason string
	Err    error // the cause: ErrSteps or nil
}

// Error quotes the expression.
func (e *Error) Error() string { return fmt.Sprintf("seine: xpath %q: %s", e.Expr, e.Reason) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// ErrSteps says that an evaluation would take more steps than it may.
var ErrSteps = errors.New("seine: xpath: too many steps")

const (
	// MaxSteps is how many steps from node to node one evaluation may take, 64 bytes of text that is looked at counted as one. It
	// takes a second or two to get there. Of last() and position() each node goes through its siblings: these take some 5,000.
	MaxSteps = 1 << 25

	// Bounds of expressions, which are read by recursion.
	MaxExpr    = 16 << 10 // bytes
	maxNesting = 200      // of parentheses and brackets
)

// Compile reads an expression. The error is an *Error. Variables and functions that are not known are errors.
func Compile(expr string) (e *Expr, err error) {
	if len(expr) > MaxExpr {
		return nil, &Error{Expr: expr[:64] + "…", Reason: fmt.Sprintf("longer than %d bytes", MaxExpr)}
	}
	if nesting(expr) > maxNesting {
		return nil, &Error{Expr: expr[:min(64, len(expr))], Reason: "nested too deep"}
	}
	defer guard(expr, &err)
	compiled, err := xpath.Compile(expr)
	if err != nil {
		return nil, &Error{Expr: expr, Reason: err.Error()}
	}
	e = &Expr{text: expr, engine: expr}
	if f := kindOf(compiled); f != "" {
		// Functions evaluate a copy of their argument: what is no function by itself would keep what it has counted.
		e.engine = f + "(" + expr + ")"
	} else {
		e.free.Put(compiled)
	}
	return e, nil
}

// kindOf is the function that makes what an expression makes anyway: an expression has one kind, whatever it is asked of. Of
// sets of nodes, and of what fails, it is empty.
func kindOf(e *xpath.Expr) string {
	var value any
	func() {
		defer func() { _ = recover() }()
		steps := MaxSteps
		value = e.Evaluate(navigate(&html.Node{Type: html.DocumentNode}, &steps))
	}()
	switch value.(type) {
	case string:
		return "string"
	case bool:
		return "boolean"
	case float64:
		return "number"
	}
	return ""
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
	switch reason := recover(); {
	case reason == nil:
	case reason == ErrSteps:
		*err = &Error{expr, "more steps than it may take", ErrSteps}
	default:
		*err = &Error{Expr: expr, Reason: fmt.Sprint(reason)}
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
// no set of nodes is an error, as is what fails at evaluation or takes more than MaxSteps; all errors are of type *Error.
func (e *Expr) Select(n *html.Node) (nodes []Node, err error) {
	value, err := e.Evaluate(n)
	if err != nil {
		return nil, err
	}
	nodes, ok := value.([]Node)
	if !ok {
		return nil, &Error{Expr: e.text, Reason: "the value is no set of nodes"}
	}
	return nodes, nil
}

// Evaluate returns the value of the expression at n: a string, a float64, a bool, or []Node. What takes more than MaxSteps
// is an error.
func (e *Expr) Evaluate(n *html.Node) (value any, err error) {
	steps := MaxSteps
	return e.EvaluateWithin(n, &steps)
}

// EvaluateWithin is Evaluate for callers that have a number of steps for several evaluations: it takes those that it needs
// from them, and is an error that wraps ErrSteps when there are not enough.
func (e *Expr) EvaluateWithin(n *html.Node, steps *int) (value any, err error) {
	defer guard(e.text, &err)
	engine, ok := e.free.Get().(*xpath.Expr)
	if !ok {
		engine = xpath.MustCompile(e.engine)
	}
	result := engine.Evaluate(navigate(n, steps)) // what fails when it is collected must leave no value
	if found, ok := result.(*xpath.NodeIterator); ok {
		result = collect(n, found)
	}
	e.free.Put(engine) // not after a panic, which may leave it in any state
	return result, nil
}

// Text is the value of the expression at n as the function string() gives it: of nodes that of the first one, "" when
// there is none.
func (e *Expr) Text(n *html.Node) (string, error) {
	value, err := e.Evaluate(n)
	if err != nil {
		return "", err
	}
	return TextOf(value), nil
}

// TextOf is the text of a value that Evaluate has returned, as Expr.Text gives it.
func TextOf(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case float64:
		return formatNumber(v)
	case []Node:
		if len(v) > 0 {
			return v[0].Text()
		}
		return ""
	}
	return fmt.Sprint(value)
}

// formatNumber is the string of a number (XPath 1.0, section 4.2).
func formatNumber(f float64) string {
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
		sortPlaces(n, list)
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

// sortPlaces brings places into document order. Most are below the node at which the expression was evaluated.
func sortPlaces(n *html.Node, list []place) {
	order := make(map[*html.Node]int, len(list))
	for _, p := range list {
		order[p.node] = 0
	}
	if !number(order, n) {
		number(order, top(n))
	}
	slices.SortStableFunc(list, func(a, b place) int {
		if a.node == b.node {
			return a.attr - b.attr
		}
		return order[a.node] - order[b.node]
	})
}

// number numbers nodes as a walk through root comes to them, and reports whether it came to all.
func number(order map[*html.Node]int, root *html.Node) bool {
	at, left := 0, len(order)
	for n := root; n != nil && left > 0; n = next(n, root) {
		at++
		if _, wanted := order[n]; wanted {
			order[n] = at
			left--
		}
	}
	return left == 0
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
