package extract

import (
	"context"
	"reflect"
	"strings"

	"github.com/seine-go/seine/extract/structured"
)

// target is what sources are wanted for: a text, or the value that a field had on a page that was kept.
type target struct {
	want  string     // on one line
	field *fieldPlan // nil: a text alone
	shape *shape     // of the field, without its pointer
	value reflect.Value
	first reflect.Value // of a list a value that is not zero, by which its elements are looked for
	kept  *Document     // that references of value are of

	x    *run // on the page as it is now
	left int  // texts that may still be converted
}

// fieldValue is what an extraction has put into a field.
type fieldValue struct {
	field *fieldPlan
	value reflect.Value
}

// values extracts a page, and returns the values of all fields that have sources of their own, by path, with their reports.
func (s *Schema[T]) values(ctx context.Context, d *Document) (map[string]fieldValue, map[string]FieldReport) {
	x := newRun(ctx, d, &s.o, len(s.plan.fields))
	v := reflect.New(s.plan.typ).Elem()
	x.fill(s.plan, place{}, v, "")
	reports := map[string]FieldReport{}
	for _, r := range x.report.Fields {
		reports[r.Path] = r
	}
	values := map[string]fieldValue{}
	s.plan.values(v, "", values)
	return values, reports
}

func (p *plan) values(v reflect.Value, prefix string, values map[string]fieldValue) {
	for _, f := range p.fields {
		value := reflect.Indirect(v.Field(f.index))
		inner := f.shape
		if inner.kind == isPointer {
			inner = inner.elem
		}
		switch {
		case inner.kind == isStruct && f.sources == nil:
			if !value.IsValid() { // nothing of it is on the page
				value = reflect.Zero(inner.typ)
			}
			if strings.Count(prefix, ".") < maxNested {
				inner.plan.values(value, prefix+f.name+".", values)
			}
		case inner.kind != isStruct && inner.kind != isMap && inner.scalar().kind != isStruct:
			values[prefix+f.name] = fieldValue{f, value}
		}
	}
}

// targetOf makes a target of what a field had; ok is false when it had nothing that can be looked for.
func targetOf(v fieldValue, r FieldReport, kept *Document) (t *target, ok bool) {
	if r.SourceIndex < 0 || r.Raw == "" || !v.value.IsValid() {
		return nil, false
	}
	t = &target{want: oneLine(r.Raw), field: v.field, shape: v.field.shape, value: v.value, first: v.value, kept: kept}
	if t.shape.kind == isPointer {
		t.shape = t.shape.elem
	}
	if t.shape.kind == isList {
		t.first = reflect.Value{}
		for i := 0; i < v.value.Len() && (!t.first.IsValid() || t.first.IsZero()); i++ {
			t.first = reflect.Indirect(v.value.Index(i)) // invalid for a nil
		}
	}
	if t.field.pick == pickJoin {
		t.want, _, _ = strings.Cut(t.want, t.field.sep)
		t.first = reflect.Value{}
	}
	return t, t.want != ""
}

// isList reports whether several values are wanted.
func (t *target) isList() bool {
	return t.field != nil && (t.shape.kind == isList || t.field.pick == pickJoin)
}

// is reports whether a text is the one that is wanted, or of the same value.
func (t *target) is(text string) bool {
	return saysSame(text, t.want) || t.converts() && len(text) <= maxRaw && t.isValue(text)
}

// converts reports whether there are texts that are not the same and have the same value. What is true is so in too many places.
func (t *target) converts() bool {
	return t.field != nil && t.first.IsValid() && t.first.Kind() != reflect.Bool && t.first.Kind() != reflect.Interface
}

func (t *target) isValue(text string) bool {
	if t.left--; t.left < 0 || strings.TrimSpace(text) == "" {
		return false
	}
	text, ok := t.field.clean(text)
	if !ok || text == "" {
		return false
	}
	s, made := t.shape, reflect.New(t.first.Type()).Elem()
	if s.kind == isList {
		if s = s.elem; s.kind == isPointer {
			s = s.elem
		}
	}
	exact := t.field.convert.Lang != "" && structured.IsNumber(text)
	return t.x.convert(t.field, s, text, made, exact) == nil && t.same(t.x.doc, t.first, made)
}

// found returns how many values a source finds on the page, 0 when they are not those that are wanted, and what it costs that they
// are written in another way.
func (t *target) found(text string) (n, cost int) {
	sources, fault := compileSources(text)
	if fault != nil {
		return 0, 0
	}
	if t.field == nil {
		hits, err := t.x.find(sources[0], place{}, &shape{})
		if err != nil || len(hits) == 0 || !saysSame(sources[0].textOf(hits[0]), t.want) {
			return 0, 0
		}
		return len(hits), 0
	}
	f := *t.field
	f.sources, f.def = sources, nil
	r := FieldReport{SourceIndex: -1, Status: Missing}
	made := reflect.New(t.shape.typ).Elem()
	if t.shape.kind == isList {
		t.x.list(&f, t.shape, place{}, made, &r)
	} else {
		t.x.scalar(&f, t.shape, place{}, made, &r)
	}
	if r.SourceIndex < 0 || r.Status != OK && (r.Status != Ambiguous || f.pick == pickOne) || !t.equal(t.x.doc, made, r.Raw) {
		return 0, 0
	}
	if !saysSame(r.Raw, t.want) && !t.isList() {
		cost = 200
	}
	return r.Matched, cost
}

// equal reports whether what the field has on a page is what is wanted.
func (t *target) equal(d *Document, v reflect.Value, raw string) bool {
	switch {
	case !v.IsValid():
		return false
	case t.shape.kind != isList:
		return t.field.pick != pickJoin && saysSame(raw, t.want) || t.same(d, t.value, v)
	case v.Len() != t.value.Len():
		return false
	}
	for i := range v.Len() {
		if !t.same(d, t.value.Index(i), v.Index(i)) {
			return false
		}
	}
	return true
}

// same is the function same, for texts but for blanks, and for references of the kept page and one of d what they are of.
func (t *target) same(d *Document, kept, now reflect.Value) bool {
	for (kept.Kind() == reflect.Pointer || kept.Kind() == reflect.Interface) && kept.Kind() == now.Kind() && !kept.IsNil() && !now.IsNil() {
		kept, now = kept.Elem(), now.Elem()
	}
	if kept.Kind() != reflect.String || now.Kind() != reflect.String {
		return same(kept, now)
	}
	a, b := kept.String(), now.String()
	if saysSame(a, oneLine(b)) {
		return true
	}
	name := a[strings.LastIndexByte(a, '/')+1:]
	if name == "" || !strings.HasSuffix(b, name) || strings.IndexByte(a, '/') < 0 && strings.IndexByte(b, '/') < 0 {
		return false
	}
	was, ok := t.kept.resolveRef(a)
	is, isRef := d.resolveRef(b)
	return ok && isRef && was == is
}

// saysSame reports whether a text is another, which is on one line, but for blanks.
func saysSame(text, line string) bool {
	rest, ok := line, true
	for word := range strings.FieldsSeq(text) {
		if len(rest) < len(line) {
			if rest, ok = strings.CutPrefix(rest, " "); !ok {
				return false
			}
		}
		if rest, ok = strings.CutPrefix(rest, word); !ok {
			return false
		}
	}
	return rest == ""
}
