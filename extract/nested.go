package extract

import (
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/seine-go/seine/internal/htmltree"
)

// placeOf is where the fields of a struct look that stands for a hit; false when there is no such place.
func placeOf(h hit) (place, bool) {
	switch {
	case h.kind == hitLink:
		return place{node: h.node, link: h.text}, true
	case h.node != nil:
		return place{node: h.node}, true
	case h.kind == hitJSON:
		return place{json: h.json, isLD: h.ld, isRaw: true}, true
	}
	return place{}, false
}

// places are what the first source finds that finds any. They are the caller's.
func (x *run) places(sources []*source, at place) (found []place, failed error) {
	for _, src := range sources {
		hits, err := x.find(src, at, &shape{kind: isStruct})
		if err != nil {
			failed = err
		}
		for _, h := range hits {
			if p, ok := placeOf(h); ok {
				found = append(found, p)
			}
		}
		if len(found) > 0 {
			break
		}
	}
	return found, failed
}

func (x *run) structField(f *fieldPlan, s *shape, at place, dst reflect.Value, r *FieldReport) {
	var places []place
	for i, src := range f.sources {
		found, err := x.places(f.sources[i:i+1], at)
		if err != nil {
			r.Err = err
		}
		found = slices.DeleteFunc(found, func(p place) bool { return x.leadsBack(s.plan, p) })
		if len(found) > 0 {
			places = found
			r.Status, r.Source, r.SourceIndex, r.Matched = OK, src.text, i, len(found)
			break
		}
	}
	if len(places) == 0 {
		x.tell(f, at, *r)
		return
	}
	p := places[0]
	if f.pick == pickLast {
		p = places[len(places)-1]
	}
	if f.pick == pickOne && len(places) > 1 {
		r.Status, r.Err = Ambiguous, fmt.Errorf("%d values", len(places))
	}
	x.tell(f, at, *r)
	x.fill(s.plan, p, settable(dst, s), r.Path)
}

// list fills a list: of what the first source finds that finds any, or with the option all of what they all find. A source
// of which nothing converts is passed over.
func (x *run) list(f *fieldPlan, s *shape, at place, dst reflect.Value, r *FieldReport) {
	out := reflect.MakeSlice(s.typ, 0, 0)
	seen := map[any]bool{}
	for i, src := range f.sources {
		hits, err := x.find(src, at, s)
		if err != nil {
			r.Err = err
		}
		if len(hits) == 0 {
			continue
		}
		hits = slices.Clone(hits) // the room is used again by what is nested
		if f.merge != mergeAll && out.Len() > 0 {
			x.compareList(f, s, src, hits, out, r)
			continue
		}
		before := out.Len()
		told := FieldReport{Path: r.Path, Status: OK}
		if x.most >= 0 && before+len(hits) > x.most {
			hits = hits[:x.most-before]
			told.Status, told.Err = ConvertFailed, fmt.Errorf("more than %d values", x.most)
		}
		out = x.items(f, s.elem, src, hits, out, seen, &told)
		if told.Err != nil {
			r.Err = told.Err
		}
		if out.Len() == before && told.Err != nil {
			told.Status = ConvertFailed
		}
		switch hasAny := out.Len() > before; {
		case r.SourceIndex < 0 && (hasAny || told.Err != nil):
			r.Status, r.Raw, r.Source, r.Matched = told.Status, told.Raw, src.text, len(hits)
			if hasAny {
				r.SourceIndex = i
				r.amongRivals(hits)
			}
		case hasAny && told.Status == ConvertFailed:
			r.Status = ConvertFailed
		}
		if out.Len() > before && f.merge == mergeFirst {
			break
		}
	}
	if err := f.bounds(float64(out.Len())); err != nil && (out.Len() > 0 || f.required) {
		r.Status, r.Err = ConvertFailed, err
	}
	if out.Len() > 0 {
		settable(dst, s).Set(out)
	}
}

// compareList notes when another source has another list.
func (x *run) compareList(f *fieldPlan, s *shape, src *source, hits []hit, out reflect.Value, r *FieldReport) {
	if x.most >= 0 && len(hits) > x.most {
		hits = hits[:x.most]
	}
	var told FieldReport
	other := x.items(f, s.elem, src, hits, reflect.MakeSlice(s.typ, 0, 0), map[any]bool{}, &told)
	if other.Len() == 0 || r.Status != OK && r.Status != Ambiguous {
		return
	}
	differs := other.Len() != out.Len()
	for i := 0; !differs && i < out.Len(); i++ {
		differs = !same(out.Index(i), other.Index(i))
	}
	if differs {
		r.Status, r.Err = Disagreed, fmt.Errorf("%s has a list of %d, %q first", cut(src.text), other.Len(), cut(told.Raw))
	}
}

// items appends the values of hits to a list. Those that do not convert are told, and left out; so are nulls, unless the list can
// hold them.
func (x *run) items(f *fieldPlan, elem *shape, src *source, hits []hit, out reflect.Value, seen map[any]bool, r *FieldReport) reflect.Value {
	inner := elem
	if elem.kind == isPointer {
		inner = elem.elem
	}
	before, nulls := out.Len(), 0
	for _, h := range hits {
		if x.over() {
			break
		}
		value := reflect.New(elem.typ).Elem()
		if h.isNull() {
			if nulls++; (elem.kind == isPointer || elem.kind == isAny) && f.merge != mergeAll {
				out = reflect.Append(out, value)
				nulls--
			}
			continue
		}
		if inner.kind == isStruct {
			p, ok := placeOf(h)
			if !ok || x.leadsBack(inner.plan, p) {
				continue
			}
			x.fill(inner.plan, p, settable(value, inner), fmt.Sprintf("%s[%d]", r.Path, out.Len()))
			out = reflect.Append(out, value)
			continue
		}
		made := reflect.New(inner.typ).Elem()
		raw, ok, err := x.one(f, inner, src, h, made)
		switch {
		case err != nil && f.skip:
			r.Err = fmt.Errorf("%q was left out: %w", cut(raw), err)
			continue
		case err != nil:
			r.Status, r.Err, r.Raw = ConvertFailed, err, raw
			continue
		case !ok && (inner.typ.Kind() != reflect.String || f.re != nil || f.required): // an empty text is a text, unless one is required
			continue
		case f.merge == mergeAll:
			id := identity(made, raw)
			if seen[id] {
				continue
			}
			seen[id] = true
		}
		if r.Raw == "" {
			r.Raw = raw
		}
		settable(value, inner).Set(made)
		out = reflect.Append(out, value)
	}
	if nulls > 0 && out.Len() > before && r.Err == nil && f.merge != mergeAll {
		r.Err = fmt.Errorf("%d of %d values are null and were left out", nulls, len(hits))
	}
	return out
}

// identity is the same for values that are the same; of those that cannot be compared their text counts.
func identity(v reflect.Value, raw string) any {
	switch v := v.Interface().(type) {
	case time.Time:
		return v.UTC().Format(time.RFC3339Nano)
	case url.URL:
		return v.String()
	}
	if v.Comparable() {
		return v.Interface()
	}
	return raw
}

// mapField fills a map: from the members of an object, or from elements that have a key and a value each.
func (x *run) mapField(f *fieldPlan, s *shape, at place, dst reflect.Value, r *FieldReport) {
	out := reflect.MakeMap(s.typ)
	for i, src := range f.sources {
		places, err := x.places(f.sources[i:i+1], at)
		if err != nil {
			r.Err = err
		}
		told := FieldReport{Path: r.Path, Status: OK, Source: src.text, SourceIndex: i, Matched: len(places)}
		for _, p := range places {
			if x.over() {
				break
			}
			if f.key != nil {
				x.entry(f, s, p, out, &told)
				continue
			}
			if o, ok := p.json.(map[string]any); ok {
				x.members(f, s, p, o, out, &told)
			}
		}
		switch {
		case out.Len() > 0: // what sources before it lack is told, as of other fields, and no fault
			if told.Err == nil {
				told.Err = r.Err
			}
			*r = told
			settable(dst, s).Set(out)
			return
		case told.Status == ConvertFailed && r.Status == Missing:
			told.SourceIndex = -1
			*r = told
		case told.Err != nil:
			r.Err = told.Err
		}
	}
}

// members takes the members of an object.
func (x *run) members(f *fieldPlan, s *shape, p place, o map[string]any, out reflect.Value, r *FieldReport) {
	for _, key := range sortedNames(o) {
		if x.over() {
			break
		}
		if o[key] != nil {
			x.put(f, s, key, self, hit{json: o[key], kind: hitJSON, ld: p.isLD}, out, r)
		}
	}
}

func sortedNames(o map[string]any) []string {
	names := make([]string, 0, len(o))
	for name := range o {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// entry takes the key and the value of an element. The first value of a key counts; that there are more makes the field ambiguous.
func (x *run) entry(f *fieldPlan, s *shape, p place, out reflect.Value, r *FieldReport) {
	key := ""
	for _, src := range f.key {
		hits, err := x.find(src, p, &shape{kind: isStruct})
		if err != nil {
			r.Err = err
		}
		if len(hits) > 0 {
			if key = strings.TrimSpace(src.textOf(hits[0])); key != "" {
				break
			}
		}
	}
	values := f.value
	if values == nil {
		values = []*source{self}
	}
	for _, src := range values {
		hits, err := x.find(src, p, s.elem)
		if err != nil {
			r.Err = err
		}
		if len(hits) > 0 && key != "" {
			x.put(f, s, key, src, hits[0], out, r)
			return
		}
	}
	if r.Err == nil && key != "" {
		r.Err = fmt.Errorf("%q has no value", cut(key))
	}
}

// put converts a value and puts it into the map.
func (x *run) put(f *fieldPlan, s *shape, key string, src *source, h hit, out reflect.Value, r *FieldReport) {
	name := reflect.ValueOf(key).Convert(s.typ.Key())
	switch {
	case out.MapIndex(name).IsValid():
		if r.Status == OK {
			r.Status, r.Err = Ambiguous, fmt.Errorf("%q stands twice", cut(key))
		}
		return
	case x.most >= 0 && out.Len() >= x.most:
		r.Status, r.Err = ConvertFailed, fmt.Errorf("more than %d values", x.most)
		return
	}
	inner := s.elem
	if inner.kind == isPointer {
		inner = inner.elem
	}
	value := reflect.New(s.elem.typ).Elem()
	if inner.kind == isStruct {
		if p, ok := placeOf(h); ok && !x.leadsBack(inner.plan, p) {
			x.fill(inner.plan, p, settable(value, inner), fmt.Sprintf("%s[%q]", r.Path, key))
			out.SetMapIndex(name, value)
		}
		return
	}
	made := reflect.New(inner.typ).Elem()
	raw, ok, err := x.one(f, inner, src, h, made)
	if err != nil {
		r.Status, r.Err, r.Raw = ConvertFailed, fmt.Errorf("%q: %w", key, err), raw
		return
	}
	if ok || inner.typ.Kind() == reflect.String {
		settable(value, inner).Set(made)
		out.SetMapIndex(name, value)
	}
}

// findPattern finds all matches of a pattern in the text of the place: the page as it came, or an element's text.
func (s *source) findPattern(x *run, at place, hits []hit) ([]hit, error) {
	var text []byte
	if at.node != nil {
		text = []byte(htmltree.Text(at.node))
	} else {
		page, err := x.doc.text()
		if err != nil {
			return hits, err
		}
		text = page
	}
	x.steps -= len(text) / scanStep
	most := x.most
	if most >= 0 {
		most++ // one too many is an error of the list
	}
	for _, m := range s.re.FindAllSubmatchIndex(text, most) {
		if m[2*s.part] >= 0 {
			hits = append(hits, hit{text: string(text[m[2*s.part]:m[2*s.part+1]])})
		}
	}
	return hits, nil
}
