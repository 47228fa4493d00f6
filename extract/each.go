package extract

import (
	"context"
	"errors"
	"iter"
	"reflect"
)

// ScopePath is the Path of the FieldReport that tells what became of a scope.
const ScopePath = "(scope)"

// Each fills a T from each place that sources find, "css=li.film || json=$.films[*]": the first source that finds any counts.
// The error of each stands in Report.Err. Bad sources give one zero T, and so does a scope that is required, "css=li ; required",
// and finds nothing. Without that option a scope that finds nothing gives nothing: EachIn tells.
func (s *Schema[T]) Each(ctx context.Context, d *Document, scope string) iter.Seq2[T, *Report] {
	return func(yield func(T, *Report) bool) {
		report, values := s.EachIn(ctx, d, scope)
		if report.Err != nil {
			var zero T
			yield(zero, report)
			return
		}
		values(yield)
	}
}

// EachIn is Each for those who want to know of the scope too, since a site that has changed shows there: the report has one
// field, ScopePath, with the source that counts and how many places it finds, or Missing. Its Err says why there are no values;
// that nothing was found is an error only of a scope that is required. The values may be read once.
func (s *Schema[T]) EachIn(ctx context.Context, d *Document, scope string) (*Report, iter.Seq2[T, *Report]) {
	none := func(func(T, *Report) bool) {}
	sources, required, fault := compileScope(scope)
	if fault != nil {
		err := &TagError{Type: reflect.TypeFor[T]().String(), Field: ScopePath, Tag: scope, Column: fault.column, Err: fault.err}
		return &Report{Err: err}, none
	}
	finder := newRun(ctx, d, &s.o, 1)
	finder.most = -1 // values come one by one
	places := finder.scope(sources, required)
	if err := finder.end(); err != nil && len(places) == 0 {
		return finder.report, none
	}
	finder.report.Err = nil // what ended the search comes behind the values
	return finder.report, func(yield func(T, *Report) bool) {
		for _, at := range places {
			var v T
			x := newRun(ctx, d, &s.o, len(s.plan.fields))
			s.fillAt(x, at, reflect.ValueOf(&v).Elem())
			_ = x.end() // it stands in the report
			if !yield(v, x.report) || ctx.Err() != nil {
				return
			}
		}
		if finder.steps < 0 { // there may be more places
			var zero T
			yield(zero, &Report{Err: &StepsError{finder.limit}})
		}
	}
}

// scope finds the places of a scope, and tells of it.
func (x *run) scope(sources []*source, required bool) []place {
	r := FieldReport{Path: ScopePath, SourceIndex: -1, Status: Missing}
	var places []place
	for i, src := range sources {
		found, err := x.places(sources[i:i+1], place{})
		if err != nil {
			r.Err = err
		}
		if len(found) > 0 {
			places = found
			r.Status, r.Source, r.SourceIndex, r.Matched = OK, src.text, i, len(found)
			break
		}
	}
	x.tell(&fieldPlan{sources: sources, options: options{required: required}}, place{}, r)
	return places
}

// compileScope compiles the sources of a scope, which may have the option required.
func compileScope(scope string) (sources []*source, required bool, _ *tagError) {
	d, fault := parseTag(scope)
	if fault != nil {
		return nil, false, fault
	}
	for _, p := range d.options {
		if p.key != "required" || p.hasValue || required {
			return nil, false, &tagError{column: p.column, err: errors.New("a scope has no option but required")}
		}
		required = true
	}
	d.options = nil
	sources, fault = d.compile()
	return sources, required, fault
}
