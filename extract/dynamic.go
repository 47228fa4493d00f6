package extract

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"
)

// Rules without a Go type: a struct type is made of them, whose fields have the rules' names as tags, and what has been filled
// is made a map.

// ruleName is the key of the tag that holds the name of a rule.
const ruleName = "seine-rule"

var mapType = reflect.TypeFor[map[string]any]()

// valueTypes are the types of values by the option type.
var valueTypes = map[string]reflect.Type{
	"text": reflect.TypeFor[string](), "int": reflect.TypeFor[int64](), "float": reflect.TypeFor[float64](), "bool": reflect.TypeFor[bool](),
	"time": reflect.TypeFor[time.Time](), "duration": reflect.TypeFor[time.Duration](), "any": reflect.TypeFor[any](),
}

// structOf makes a struct type of rules.
func (c *compiler) structOf(rules Rules) (reflect.Type, error) {
	if len(c.path) > maxNested {
		return nil, c.fault("", 0, fmt.Errorf("deeper than %d structs", maxNested))
	}
	names := make([]string, 0, len(rules))
	for name := range rules {
		names = append(names, name)
	}
	slices.Sort(names)
	fields := make([]reflect.StructField, 0, len(rules))
	for i, name := range names {
		c.path = append(c.path, name)
		t, err := c.typeOf(rules[name])
		if err != nil {
			return nil, err
		}
		c.path = c.path[:len(c.path)-1]
		fields = append(fields, reflect.StructField{Name: fmt.Sprintf("F%d", i), Type: t, Tag: reflect.StructTag(fmt.Sprintf("%s:%q", ruleName, name))})
	}
	return reflect.StructOf(fields), nil
}

// typeOf is the type of what a rule finds. What may be missing is a pointer, a list or a map, so that it is not the same as zero.
func (c *compiler) typeOf(r Rule) (reflect.Type, error) {
	d, fault := r.declaration()
	if fault != nil {
		return nil, c.faultIn(r.Tag, fault)
	}
	t, named := valueTypes["text"], d.option("type")
	if named.key != "" {
		if t = valueTypes[named.value]; t == nil {
			return nil, c.faultIn(r.Tag, faultAt(named.at, "no type is called %q", cut(named.value)).on(named))
		}
	}
	if r.Fields != nil {
		if named.key != "" {
			return nil, c.faultIn(r.Tag, faultAt(named.column, "what has fields has no other type").on(named))
		}
		var err error
		if t, err = c.structOf(r.Fields); err != nil {
			return nil, err
		}
	}
	switch {
	case d.option("key").key != "":
		return reflect.MapOf(reflect.TypeFor[string](), t), nil
	case d.option("each").key != "" || d.option("all").key != "":
		return reflect.SliceOf(t), nil
	case t.Kind() == reflect.Interface:
		return t, nil
	}
	return reflect.PointerTo(t), nil
}

// fieldName is the name of a field in rules and reports.
func fieldName(f reflect.StructField) string {
	if name, ok := f.Tag.Lookup(ruleName); ok {
		return name
	}
	return f.Name
}

// dynamic compiles rules without a type.
func (c *compiler) dynamic(rules Rules) (*plan, error) {
	if len(rules) == 0 {
		return nil, c.fault("", 0, errors.New("a map is made by Options.Rules alone"))
	}
	t, err := c.structOf(rules)
	if err != nil {
		return nil, err
	}
	c.untyped = true
	return c.compile(t, rules)
}

// object makes a map of a struct that was made of rules.
func (p *plan) object(v reflect.Value) map[string]any {
	o := make(map[string]any, len(p.fields))
	for _, f := range p.fields {
		if value, ok := f.shape.value(v.Field(f.index)); ok {
			o[f.name] = value
		}
	}
	return o
}

// value is what a field holds, in the types of encoding/json where there are such; ok is false when it is missing.
func (s *shape) value(v reflect.Value) (_ any, ok bool) {
	switch s.kind {
	case isStruct:
		return s.plan.object(v), true
	case isPointer:
		if v.IsNil() {
			return nil, false
		}
		return s.elem.value(v.Elem())
	case isList:
		list := make([]any, v.Len())
		for i := range list {
			list[i], _ = s.elem.value(v.Index(i))
		}
		return list, !v.IsNil()
	case isMap:
		o := make(map[string]any, v.Len())
		for key, member := range v.Seq2() {
			o[key.String()], _ = s.elem.value(member)
		}
		return o, !v.IsNil()
	case isAny:
		return v.Interface(), !v.IsNil()
	}
	return v.Interface(), true
}
