package extract

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/net/html"

	"github.com/seine-go/seine/extract/internal/convert"
	"github.com/seine-go/seine/extract/structured"
)

// run is one extraction.
type run struct {
	ctx    context.Context
	doc    *Document
	report *Report
	errs   []error
	depth  int
	most   int
	steps  int // that are left
	limit  int
	found  int // fields that are not missing
	open   map[opened]bool

	hits  []hit // room that is used again
	nodes []*html.Node

	passed     [][]passHit // what simple selectors have found without a tree
	passedText string

	within *html.Node // the element whose structured data was read last
	data   *structured.Data
	faults []error // of such data
}

// end completes the report and returns the error of the extraction.
func (x *run) end() error {
	if tree, built := x.doc.builtTree(); built {
		x.report.Flattened = tree.flattened
	}
	x.report.Faults = slices.Concat(x.doc.faults(), x.faults)
	if err := x.ctx.Err(); err != nil {
		x.errs = append(x.errs, err)
	}
	if x.steps < 0 {
		x.errs = append(x.errs, &StepsError{x.limit})
	}
	x.report.Err = joined(x.errs)
	return x.report.Err
}

// tell adds what became of a field to the report, and to the errors if it is one.
func (x *run) tell(f *fieldPlan, at place, r FieldReport) {
	failed := r.Status == ConvertFailed || r.Status == Ambiguous && f.pick == pickOne || r.Status == Disagreed && f.merge == mergeAgree ||
		r.Status == Missing && (f.required || r.Err != nil)
	if r.Status != Missing {
		x.found++
	}
	if len(x.report.Fields) < maxReports && (r.Status == Missing || r.Status == ConvertFailed) {
		r.Snippet = x.snippet(f, at)
	}
	if len(r.Raw) > maxRaw {
		r.Raw = strings.Clone(strings.ToValidUTF8(r.Raw[:maxRaw], ""))
	}
	if failed {
		x.fail(r)
	}
	if len(x.report.Fields) >= maxReports {
		x.report.Cut++
		return
	}
	x.report.Fields = append(x.report.Fields, r)
}

// fail adds to the errors of the extraction; as many are told as fields.
func (x *run) fail(r FieldReport) {
	if len(x.errs) < maxReports {
		x.errs = append(x.errs, &FieldError{r})
	}
}

func (x *run) fill(p *plan, at place, dst reflect.Value, path string) {
	if x.depth >= maxNested {
		x.fail(FieldReport{Path: path, Status: ConvertFailed, Err: fmt.Errorf("deeper than %d structs", maxNested)})
		return
	}
	defer x.enter(p, at)()
	x.depth++
	for _, f := range p.fields {
		if x.steps -= fieldSteps; x.over() {
			break
		}
		name := f.name
		if path != "" {
			name = path + "." + f.name
		}
		x.field(f, at, dst.Field(f.index), name)
	}
	x.depth--
}

// field fills one field by its shape.
func (x *run) field(f *fieldPlan, at place, dst reflect.Value, path string) {
	s := f.shape
	if s.kind == isPointer {
		s = s.elem
	}
	r := FieldReport{Path: path, SourceIndex: -1, Status: Missing}
	switch {
	case s.kind == isStruct && f.sources == nil:
		x.embedded(s, at, dst, path)
		return
	case s.kind == isStruct:
		x.structField(f, s, at, dst, &r)
		return
	case s.kind == isList:
		x.list(f, s, at, dst, &r)
	case s.kind == isMap:
		x.mapField(f, s, at, dst, &r)
	default:
		x.scalar(f, s, at, dst, &r)
	}
	if (r.Status == Missing || r.Status == ConvertFailed) && f.def != nil {
		if err := s.to(settable(dst, s), *f.def, x.conversion(f, s, false)); err != nil {
			r.Status, r.Err = ConvertFailed, err
		} else {
			r.Status = Default
		}
	}
	x.tell(f, at, r)
}

// embedded fills a struct that looks where it stands itself. A pointer is nil when nothing of it is found.
func (x *run) embedded(s *shape, at place, dst reflect.Value, path string) {
	if dst.Kind() != reflect.Pointer {
		x.fill(s.plan, at, dst, path)
		return
	}
	before, v := x.found, reflect.New(s.typ)
	x.fill(s.plan, at, v.Elem(), path)
	if x.found > before {
		dst.Set(v)
	}
}

// settable is dst, or what it then points to.
func settable(dst reflect.Value, s *shape) reflect.Value {
	if dst.Kind() == reflect.Pointer && dst.Type() != s.typ {
		if dst.IsNil() {
			dst.Set(reflect.New(dst.Type().Elem()))
		}
		return dst.Elem()
	}
	return dst
}

// find asks a source. Lists of JSON count as their members unless anything will do; nulls count in lists that have other values.
func (x *run) find(s *source, at place, sh *shape) ([]hit, error) {
	hits, err := s.find(x, at, x.hits[:0])
	x.hits = hits
	if sh.kind != isAny {
		hits = membersOf(hits)
	}
	if sh.kind != isList || !slices.ContainsFunc(hits, func(h hit) bool { return !h.isNull() }) {
		hits = slices.DeleteFunc(hits, hit.isNull)
	}
	if sh.kind == isAny {
		return hits, err
	}
	if sh.scalar().kind == isScalar {
		hits = slices.DeleteFunc(hits, hit.isNameless)
	}
	return hits, err
}

// membersOf puts the members of lists in the place of the lists.
func membersOf(hits []hit) []hit {
	if !slices.ContainsFunc(hits, func(h hit) bool { _, ok := h.json.([]any); return ok }) {
		return hits
	}
	members := make([]hit, 0, 2*len(hits))
	for _, h := range hits {
		if list, ok := h.json.([]any); ok && h.kind == hitJSON {
			members = appendJSON(members, list, h.ld)
		} else {
			members = append(members, h)
		}
	}
	for i := range members {
		members[i].rivals = hits[0].rivals
	}
	return members
}

// scalar fills a field of one value.
func (x *run) scalar(f *fieldPlan, s *shape, at place, dst reflect.Value, r *FieldReport) {
	empty := -1
	for i, src := range f.sources {
		hits, err := x.find(src, at, s)
		if err != nil {
			r.Err = err
		}
		if len(hits) == 0 {
			continue
		}
		if r.SourceIndex >= 0 { // a value is there: this source is asked whether it agrees
			x.compare(f, s, src, hits, dst, r)
			continue
		}
		value := reflect.New(s.typ).Elem()
		raw, ok, err := x.pick(f, s, src, hits, value)
		switch {
		case err != nil:
			r.Status, r.Err, r.Raw, r.Source, r.Matched = ConvertFailed, err, raw, src.text, len(hits)
			continue
		case !ok:
			if empty < 0 && s.typ.Kind() == reflect.String && f.re == nil {
				empty = i
			}
			if r.Status == Missing {
				r.Matched = len(hits)
			}
			continue
		}
		settable(dst, s).Set(value)
		r.Status, r.Raw, r.Source, r.SourceIndex, r.Matched = OK, raw, src.text, i, len(hits)
		if f.pick == pickOne && len(hits) > 1 {
			r.Status, r.Err = Ambiguous, fmt.Errorf("%d values", len(hits))
		} else {
			r.amongRivals(hits)
		}
		if f.merge == mergeFirst {
			return
		}
	}
	if r.SourceIndex < 0 && r.Status == Missing && empty >= 0 && !f.required { // an empty text is a text
		settable(dst, s).SetZero()
		r.Status, r.SourceIndex, r.Source = OK, empty, f.sources[empty].text
	}
}

// compare notes when another source has another value.
func (x *run) compare(f *fieldPlan, s *shape, src *source, hits []hit, dst reflect.Value, r *FieldReport) {
	other := reflect.New(s.typ).Elem()
	raw, ok, err := x.pick(f, s, src, hits, other)
	if err != nil || !ok {
		return
	}
	if !same(settable(dst, s), other) && (r.Status == OK || r.Status == Ambiguous && f.pick != pickOne) {
		r.Status, r.Err = Disagreed, fmt.Errorf("%s has %q", cut(src.text), cut(raw))
	}
}

func same(a, b reflect.Value) bool {
	if a.Kind() == reflect.Pointer && !a.IsNil() && !b.IsNil() {
		a, b = a.Elem(), b.Elem()
	}
	if t, ok := a.Interface().(time.Time); ok {
		return t.Equal(b.Interface().(time.Time))
	}
	return reflect.DeepEqual(a.Interface(), b.Interface())
}

// pick chooses among what was found and converts it; ok is false when there is no text in it.
func (x *run) pick(f *fieldPlan, s *shape, src *source, hits []hit, dst reflect.Value) (raw string, ok bool, err error) {
	h := hits[0]
	switch f.pick {
	case pickLast:
		h = hits[len(hits)-1]
	case pickJoin:
		texts := make([]string, 0, len(hits))
		for _, h := range hits {
			if x.over() {
				break
			}
			text := src.textOf(h)
			x.steps -= len(text)
			if err := src.tooLong(text); err != nil {
				return text, true, err
			}
			if text, ok := f.clean(text); ok && text != "" {
				texts = append(texts, text)
			}
		}
		h = hit{text: strings.Join(texts, f.sep)}
		if s.kind == isScalar {
			raw = h.text
			return raw, raw != "", x.convert(f, s, raw, dst, false)
		}
	}
	return x.one(f, s, src, h, dst)
}

// one converts one hit.
func (x *run) one(f *fieldPlan, s *shape, src *source, h hit, dst reflect.Value) (raw string, ok bool, err error) {
	if s.kind == isAny && h.kind == hitJSON {
		raw = jsonText(h.json, h.ld)
		x.steps -= len(raw)
		made := x.copied(h.json, h.ld)
		if x.over() { // it is not whole
			return raw, false, nil
		}
		dst.Set(reflect.ValueOf(made))
		return raw, true, nil
	}
	raw = src.textOf(h)
	x.steps -= len(raw)
	if err := src.tooLong(raw); err != nil {
		return raw, true, err
	}
	text, ok := f.clean(raw)
	if !ok || text == "" {
		return raw, false, nil
	}
	return raw, true, x.convert(f, s, text, dst, f.convert.Lang != "" && x.exact(h, raw))
}

// clean brings a text into the form in which it is converted; ok is false when the pattern of the field does not match.
func (f *fieldPlan) clean(text string) (_ string, ok bool) {
	if f.re != nil {
		m := f.re.FindStringSubmatchIndex(text)
		if m == nil || m[2*f.part] < 0 {
			return "", false
		}
		text = strings.Clone(text[m[2*f.part]:m[2*f.part+1]]) // the rest is not kept with it
	}
	switch {
	case f.raw:
	case f.spaces:
		text = strings.Join(strings.Fields(text), " ")
	default:
		text = strings.TrimSpace(text)
	}
	if f.lower {
		text = strings.ToLower(text)
	}
	if f.upper {
		text = strings.ToUpper(text)
	}
	return text, true
}

// conversion returns how texts of the field are converted; exact ones are of no language.
func (x *run) conversion(f *fieldPlan, s *shape, exact bool) *convert.Options {
	isURL := f.isURL || s.typ == urlType
	if !isURL && !exact {
		return &f.convert
	}
	o := f.convert
	if exact {
		o.Lang = ""
	}
	if isURL {
		o.Resolve = x.doc.resolveRef
	}
	return &o
}

// convert puts a text into a value, within the bounds of the field; the value stays zero when it does not fit.
func (x *run) convert(f *fieldPlan, s *shape, text string, dst reflect.Value, exact bool) error {
	for _, fn := range f.funcs {
		made, err := fn(text)
		if err != nil {
			return err
		}
		next, isText := made.(string)
		if !isText {
			v := reflect.ValueOf(made)
			if !v.IsValid() || !v.Type().AssignableTo(s.typ) {
				return fmt.Errorf("a function made a %T, not a %s", made, s.typ)
			}
			dst.Set(v)
			return f.within(dst)
		}
		text = next
	}
	if err := s.to(dst, text, x.conversion(f, s, exact)); err != nil {
		return err
	}
	return f.within(dst)
}

func (f *fieldPlan) within(v reflect.Value) error {
	if f.min == nil && f.max == nil || f.shape.kind == isList {
		return nil
	}
	n, ok := measure(v)
	if !ok {
		return nil
	}
	err := f.bounds(n)
	if err != nil {
		v.SetZero()
	}
	return err
}

func (f *fieldPlan) bounds(n float64) error {
	switch {
	case f.min != nil && n < *f.min:
		return fmt.Errorf("%s is less than %s", number(n), number(*f.min))
	case f.max != nil && n > *f.max:
		return fmt.Errorf("%s is more than %s", number(n), number(*f.max))
	}
	return nil
}

func number(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// measure is what bounds are compared with.
func measure(v reflect.Value) (float64, bool) {
	switch {
	case v.Type() == reflect.TypeFor[json.Number]():
		n, err := strconv.ParseFloat(v.String(), 64)
		return n, err == nil
	case v.Kind() == reflect.String:
		return float64(utf8.RuneCountInString(v.String())), true
	case v.CanInt():
		return float64(v.Int()), true
	case v.CanUint():
		return float64(v.Uint()), true
	case v.CanFloat():
		return v.Float(), true
	}
	return 0, false
}
