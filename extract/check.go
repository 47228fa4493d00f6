package extract

import (
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/seine-go/seine/extract/internal/convert"
)

// rivals are options of which a declaration may have one.
var rivals = [][]string{
	{"first", "last", "one", "join"}, {"prefer", "agree", "all"}, {"trim", "raw"}, {"lower", "upper"}, {"required", "default"},
}

// rivalOf finds an option that one more must not stand beside; empty without one.
func rivalOf(key string, options []part) string {
	for _, p := range options {
		if p.key == key {
			return key
		}
		for _, set := range rivals {
			if slices.Contains(set, p.key) && slices.Contains(set, key) {
				return p.key
			}
		}
	}
	return ""
}

// check refuses sources and options that the type of the field, or one another, makes senseless.
func (f *fieldPlan) check(d *declaration) *tagError {
	last := f.shape
	if last.kind == isPointer {
		last = last.elem
	}
	for i, s := range f.sources {
		if fault := f.checkSource(s, last); fault != nil {
			if i < len(d.sources) {
				return faultAt(d.sources[i].column, "%w", fault).on(d.sources[i])
			}
			return faultAt(0, "%w", fault)
		}
	}
	for _, p := range d.options {
		if !f.allows(p.key, last, d) {
			return faultAt(p.column, "option %s does not go with a field of type %s", p.key, f.shape.typ).on(p)
		}
	}
	if fault := f.checkBounds(d, last); fault != nil {
		return fault
	}
	if f.def != nil {
		probe := reflect.New(last.typ).Elem()
		if err := last.to(probe, *f.def, &f.convert); err != nil {
			p := d.option("default")
			return faultAt(p.column, "default: %w", err).on(p)
		}
	}
	return nil
}

// checkSource refuses sources that can never fill a field of that shape.
func (f *fieldPlan) checkSource(s *source, last *shape) error {
	inPlaces := last.kind == isStruct || last.kind == isList && last.scalar().kind == isStruct
	ofData := s.kind == fromJSON || s.kind == fromState || s.kind == fromLD || s.kind == fromCSS && s.css == nil
	switch {
	case (inPlaces || f.key != nil) && (s.kind == fromOG || s.kind == fromRE || s.kind == fromURL):
		return fmt.Errorf("%s gives texts, in which the fields of a struct and the keys of a map have no place", s.text)
	case last.kind == isMap && f.key == nil && !ofData:
		return fmt.Errorf("%s gives no object of data: a map of elements needs the option key=", s.text)
	}
	return nil
}

// allows reports whether an option goes with a field of that shape.
func (f *fieldPlan) allows(key string, last *shape, d *declaration) bool {
	scalar := f.shape.scalar()
	isText := scalar.typ.Kind() == reflect.String || scalar.kind == isAny || convert.ReadsTexts(scalar.typ)
	if scalar.kind == isStruct && slices.Contains(ofTexts, key) {
		return false
	}
	switch key {
	case "each", "all":
		return last.kind == isList
	case "skip":
		return last.kind == isList && scalar.kind != isStruct
	case "prefer", "agree":
		return last.kind != isStruct && last.kind != isMap && scalar.kind != isStruct
	case "first", "last", "one", "join":
		return last.kind != isList && last.kind != isMap && (key != "join" || last.kind != isStruct)
	case "key", "value":
		return last.kind == isMap && f.key != nil
	case "default":
		return last.kind == isScalar
	case "in":
		return slices.ContainsFunc(d.sources, func(p part) bool { return p.key == "json" })
	case "min", "max":
		return last.kind == isList || isMeasured(last.typ)
	case "lower", "upper":
		return isText || len(f.funcs) > 0
	case "url":
		return isText && scalar.kind != isAny || scalar.typ == urlType || len(f.funcs) > 0
	case "layout", "tz":
		return scalar.typ == reflect.TypeFor[time.Time]()
	case "unit":
		return isNumber(scalar.typ) && (!f.convert.Unit.Bytes || scalar.typ != durationType)
	case "lang":
		return isNumber(scalar.typ) || scalar.typ == reflect.TypeFor[time.Time]()
	}
	return true
}

// ofTexts are the options of how texts become values.
var ofTexts = []string{"trim", "raw", "lower", "upper", "re", "map", "layout", "tz", "lang", "unit", "url"}

var (
	urlType      = reflect.TypeFor[url.URL]()
	durationType = reflect.TypeFor[time.Duration]()
)

func isMeasured(t reflect.Type) bool { return t.Kind() == reflect.String || isNumber(t) }

func isNumber(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Float32, reflect.Float64,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return !convert.ReadsTexts(t)
	}
	return t == reflect.TypeFor[json.Number]()
}

// checkBounds reads min and max in the measure of the field.
func (f *fieldPlan) checkBounds(d *declaration, last *shape) *tagError {
	for _, p := range d.options {
		if p.key != "min" && p.key != "max" {
			continue
		}
		n, err := f.bound(p.value, last)
		if err != nil {
			return faultAt(p.at, "%s: %w", p.key, err).on(p)
		}
		if p.key == "min" {
			f.min = &n
		} else {
			f.max = &n
		}
		if f.min != nil && f.max != nil && *f.min > *f.max {
			return faultAt(p.at, "min is more than max").on(p)
		}
	}
	return nil
}

// bound reads a bound: a number, or of durations and what counts them one with a unit, or of sizes one with a unit.
func (f *fieldPlan) bound(s string, last *shape) (float64, error) {
	isLength := last.kind == isList || last.typ.Kind() == reflect.String && !isNumber(last.typ)
	n, err := strconv.ParseFloat(s, 64)
	switch unit := f.convert.Unit; {
	case isLength && (err != nil || n < 0 || n != math.Trunc(n) || math.IsInf(n, 0)):
		return 0, fmt.Errorf("%q is no length", cut(s))
	case isLength:
	case err == nil && (math.IsNaN(n) || math.IsInf(n, 0)):
		return 0, fmt.Errorf("%q is no bound", cut(s))
	case err == nil && last.typ == durationType && unit.Duration == 0 && n != 0:
		return 0, fmt.Errorf("%q has no unit, as in 90s or 1h30m", cut(s))
	case err == nil && last.typ == durationType:
		n *= float64(unit.Duration)
	case err == nil:
	case unit.Bytes:
		var size convert.Decimal
		if size, err = convert.Size(s, ""); err == nil {
			n, err = strconv.ParseFloat(size.String(), 64)
		}
	case last.typ == durationType || unit.Duration > 0:
		var long time.Duration
		long, err = time.ParseDuration(s)
		n = float64(long)
		if last.typ != durationType {
			n /= float64(unit.Duration)
		}
	}
	return n, err
}
