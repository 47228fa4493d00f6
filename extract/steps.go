package extract

import (
	"context"
	"fmt"
	"math"

	"golang.org/x/net/html"

	"github.com/seine-go/seine/extract/xpath"
)

const (
	// defaultSteps takes a second or some.
	defaultSteps = 1 << 27
	// fieldSteps is what filling a field counts for, beside what its sources look at.
	fieldSteps = 64
)

// StepsError says that an extraction would have taken more steps than it may; see Options.MaxSteps. What was filled before is.
type StepsError struct{ Limit int }

// Error gives the bound.
func (e *StepsError) Error() string {
	return fmt.Sprintf("seine: extract: more than %d steps", e.Limit)
}

// newRun starts an extraction.
func newRun(ctx context.Context, d *Document, o *Options, fields int) *run {
	x := &run{ctx: ctx, doc: d, report: &Report{Fields: make([]FieldReport, 0, fields)}, most: o.MaxItems, limit: o.MaxSteps}
	switch {
	case x.limit == 0:
		x.limit = defaultSteps
	case x.limit < 0:
		x.limit = math.MaxInt
	}
	x.steps = x.limit
	return x
}

// over says whether the extraction has to end: its context has, or its steps have been taken.
func (x *run) over() bool { return x.steps < 0 || x.ctx.Err() != nil }

// evaluate evaluates an expression within the steps that are left.
func (x *run) evaluate(e *xpath.Expr, n *html.Node) (any, error) {
	steps := min(x.steps, xpath.MaxSteps)
	before := steps
	value, err := e.EvaluateWithin(n, &steps)
	x.steps -= before - steps
	return value, err
}
