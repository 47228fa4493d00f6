package extract

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/seine-go/seine/extract/internal/convert"
)

// plan is how a struct is filled. It is compiled once for each type and may lead in circles, as types may.
type plan struct {
	typ    reflect.Type
	fields []*fieldPlan
	simple *simplePlan // of a whole declaration, if it is one
}

// fieldPlan is how a field is filled.
type fieldPlan struct {
	name    string
	index   int
	shape   *shape
	sources []*source // none: a struct whose fields look where it stands itself
	options
}

// options are those of a declaration.
type options struct {
	required, each, skip, spaces, raw, lower, upper, isURL bool

	untyped bool // the type of the field is made of a rule

	pick    picking
	sep     string // of pickJoin
	merge   merging
	re      *regexp.Regexp
	part    int
	funcs   []func(string) (any, error)
	convert convert.Options
	min     *float64
	max     *float64
	def     *string
	key     []*source // of a map
	value   []*source
}

type picking uint8

const (
	pickFirst picking = iota
	pickLast
	pickOne
	pickJoin
)

type merging uint8

const (
	mergeFirst  merging = iota // the first source that has a value counts
	mergePrefer                // so it does, and it is told when others differ
	mergeAgree                 // all that have a value must have the same
	mergeAll                   // a list of what all have
)

// shape is what a Go type is to an extraction.
type shape struct {
	kind shapeKind
	typ  reflect.Type
	to   convert.Func // of scalars
	elem *shape       // of pointers, lists and maps
	plan *plan        // of structs
}

type shapeKind uint8

const (
	isScalar shapeKind = iota
	isAny
	isPointer
	isList
	isStruct
	isMap
)

// scalar is what the values of a shape are made of in the end.
func (s *shape) scalar() *shape {
	for s.kind == isPointer || s.kind == isList || s.kind == isMap {
		s = s.elem
	}
	return s
}

// TagError says what is wrong with a declaration.
type TagError struct {
	Type   string // the Go type
	Field  string // the path from that type
	Tag    string
	Line   int // in the text of rules, from 1; 0 in a tag, and where it is not known
	Column int // in bytes from 1, in characters of a Line; 0 when it is the field itself
	Err    error
}

// Error names the field and the column.
func (e *TagError) Error() string {
	at := ""
	if e.Line > 0 {
		at = fmt.Sprintf(", line %d", e.Line)
	}
	if e.Column > 0 {
		at += fmt.Sprintf(", column %d", e.Column)
	}
	return fmt.Sprintf("seine: extract: %s.%s%s: %v", e.Type, e.Field, at, e.Err)
}

// Unwrap returns the cause.
func (e *TagError) Unwrap() error { return e.Err }

type compiler struct {
	o       Options
	root    string
	plans   map[reflect.Type]*plan
	path    []string
	here    []reflect.Type // structs that look at one and the same place
	untyped bool           // the types are made of rules
}

func (c *compiler) fault(tag string, column int, err error) error {
	return &TagError{Type: c.root, Field: strings.Join(c.path, "."), Tag: tag, Column: column, Err: err}
}

func (c *compiler) faultIn(tag string, fault *tagError) error {
	return &TagError{c.root, strings.Join(c.path, "."), tag, fault.line, fault.column, fault.err}
}

// compile makes the plan of a struct. Types that hold themselves have one plan.
func (c *compiler) compile(t reflect.Type, rules Rules) (*plan, error) {
	if p := c.plans[t]; p != nil && rules == nil {
		return p, nil
	}
	p := &plan{typ: t}
	if rules == nil {
		c.plans[t] = p
	}
	own, embedded, err := c.promoted(t, rules)
	if err != nil {
		return nil, err
	}
	c.here = append(c.here, t)
	defer func() { c.here = c.here[:len(c.here)-1] }()
	for i := range t.NumField() {
		f := t.Field(i)
		c.path = append(c.path, fieldName(f))
		field, err := c.field(f, own, embedded[f.Name])
		if err != nil {
			return nil, err
		}
		c.path = c.path[:len(c.path)-1]
		if field != nil {
			field.index = i
			p.fields = append(p.fields, field)
		}
	}
	return p, nil
}

// promoted parts the rules of fields that embedded structs have, by those structs, from the type's own.
func (c *compiler) promoted(t reflect.Type, rules Rules) (own Rules, embedded map[string]Rules, _ error) {
	own, embedded = rules, map[string]Rules{}
	if c.untyped { // the rules' names are no names of fields
		return own, nil, nil
	}
	for _, name := range slices.Sorted(maps.Keys(rules)) {
		f, ok := t.FieldByName(name)
		if !ok {
			c.path = append(c.path, name)
			return nil, nil, c.fault("", 0, fmt.Errorf("%s has no such field", t))
		}
		if len(f.Index) == 1 {
			continue
		}
		outer := t.Field(f.Index[0]).Name
		if _, twice := rules[outer].Fields[name]; twice {
			c.path = append(c.path, name)
			return nil, nil, c.fault("", 0, fmt.Errorf("the rule of %s has it too", outer))
		}
		if embedded[outer] == nil {
			embedded[outer] = maps.Clone(rules[outer].Fields)
		}
		if embedded[outer] == nil {
			embedded[outer] = Rules{}
		}
		embedded[outer][name] = rules[name]
	}
	return own, embedded, nil
}

// field compiles one field; inner are rules of its own fields. It returns nil when the field is none of ours.
func (c *compiler) field(f reflect.StructField, rules, inner Rules) (*fieldPlan, error) {
	tag, declared := f.Tag.Lookup("extract")
	rule, ruled := rules[fieldName(f)]
	if inner == nil {
		inner = rule.Fields
	}
	d, fault := &declaration{}, (*tagError)(nil)
	switch {
	case ruled:
		tag, declared = cmp.Or(rule.Tag, rule.text), true
		d, fault = rule.declaration()
	case tag == "-" && inner == nil:
		return nil, nil
	case declared:
		d, fault = parseTag(tag)
	}
	switch {
	case fault != nil:
		return nil, c.faultIn(tag, fault)
	case !declared:
		return c.embedded(f, inner)
	case !isOpen(f):
		return nil, c.fault(tag, 0, errors.New("the field is not exported"))
	}
	here := c.here
	c.here = nil
	shape, err := c.shape(f.Type, inner)
	c.here = here
	if err != nil {
		return nil, withTag(err, tag)
	}
	if inner != nil && shape.scalar().kind != isStruct {
		return nil, c.fault(tag, 0, errors.New("fields are for structs"))
	}
	field := &fieldPlan{name: fieldName(f), shape: shape}
	field.untyped = c.untyped
	if fault := field.declare(d, c.o); fault != nil {
		return nil, c.faultIn(tag, fault)
	}
	return field, nil
}

// withTag adds the tag to the error of a field's type.
func withTag(err error, tag string) error {
	if e, ok := err.(*TagError); ok && e.Tag == "" {
		e.Tag = tag
	}
	return err
}

// isOpen reports whether a field can be set, or is an embedded struct whose exported fields can, as encoding/json does.
func isOpen(f reflect.StructField) bool {
	return f.IsExported() || f.Anonymous && f.Type.Kind() == reflect.Struct && convert.For(f.Type) == nil
}

// embedded compiles a field without a declaration: a struct, or a pointer to one, that has declarations, or rules for its
// fields.
func (c *compiler) embedded(f reflect.StructField, rules Rules) (*fieldPlan, error) {
	t := f.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case rules == nil && !declares(t, map[reflect.Type]bool{}):
		return nil, nil
	case !isOpen(f) && rules != nil:
		return nil, c.fault("", 0, errors.New("the field is not exported"))
	case !isOpen(f):
		return nil, nil
	case slices.Contains(c.here, t):
		return nil, c.fault("", 0, fmt.Errorf(`a %s in a %[1]s needs a source, or the tag extract:"-"`, t))
	}
	shape, err := c.shape(f.Type, rules)
	if err != nil {
		return nil, err
	}
	return &fieldPlan{name: f.Name, shape: shape}, nil
}

// declares reports whether a type is a struct with declarations, in itself or in what it embeds.
func declares(t reflect.Type, seen map[reflect.Type]bool) bool {
	if t.Kind() != reflect.Struct || convert.For(t) != nil || seen[t] {
		return false
	}
	seen[t] = true
	for i := range t.NumField() {
		f := t.Field(i)
		tag, declared := f.Tag.Lookup("extract")
		inner := f.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		if declared && tag != "-" || !declared && isOpen(f) && declares(inner, seen) {
			return true
		}
	}
	return false
}

// shape finds out what a type is.
func (c *compiler) shape(t reflect.Type, rules Rules) (*shape, error) {
	s := &shape{typ: t}
	var err error
	switch {
	case t.Kind() == reflect.Interface && t.NumMethod() == 0:
		s.kind, s.to = isAny, convert.For(t)
	case convert.For(t) != nil:
		s.kind, s.to = isScalar, convert.For(t)
	case t.Kind() == reflect.Pointer && t.Elem().Kind() != reflect.Pointer:
		s.kind = isPointer
		s.elem, err = c.shape(t.Elem(), rules)
	case t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Slice && t.Elem().Kind() != reflect.Uint8 && t.Elem().Kind() != reflect.Map:
		s.kind = isList
		s.elem, err = c.shape(t.Elem(), rules)
	case t.Kind() == reflect.Map && t.Key().Kind() == reflect.String && t.Elem().Kind() != reflect.Slice && t.Elem().Kind() != reflect.Map:
		s.kind = isMap
		s.elem, err = c.shape(t.Elem(), rules)
	case t.Kind() == reflect.Struct:
		s.kind = isStruct
		s.plan, err = c.compile(t, rules)
	default:
		err = c.fault("", 0, fmt.Errorf("a field of type %s cannot be filled: it may be a text, a number, a struct …, a pointer to one, a list of them, or a map of them by texts", t))
	}
	return s, err
}

// declare compiles the sources and options of a field.
func (f *fieldPlan) declare(d *declaration, o Options) *tagError {
	in := ""
	for _, p := range d.options {
		if p.key == "in" {
			in = p.value
		}
	}
	for _, p := range d.sources {
		s, fault := compileSource(p, in)
		if fault != nil {
			return fault.on(p)
		}
		f.sources = append(f.sources, s)
	}
	if len(f.sources) == 0 { // the element itself
		f.sources = []*source{self}
	}
	for i, p := range d.options {
		if rival := rivalOf(p.key, d.options[:i]); rival == p.key {
			return faultAt(p.column, "option %s stands twice", p.key).on(p)
		} else if rival != "" {
			return faultAt(p.column, "option %s contradicts %s", p.key, rival).on(p)
		}
		if fault := f.option(p, o); fault != nil {
			return fault.on(p)
		}
	}
	return f.check(d)
}

// option returns the option of that name; the zero part without one.
func (d *declaration) option(key string) part {
	for _, p := range d.options {
		if p.key == key {
			return p
		}
	}
	return part{}
}

// compilePattern reads /pattern/group. Without a group it is the first, or all where there is none.
func compilePattern(s string) (*regexp.Regexp, int, error) {
	end := -1
	if strings.HasPrefix(s, "/") {
		end = closing(s[1:], '/')
	}
	if end < 0 {
		return nil, 0, errors.New("a pattern is written /pattern/ or /pattern/group")
	}
	re, err := regexp.Compile(strings.ReplaceAll(s[1:end+1], `\/`, `/`))
	if err != nil {
		return nil, 0, err
	}
	group := min(1, re.NumSubexp())
	if rest := s[end+2:]; rest != "" {
		n, err := strconv.Atoi(rest)
		if err != nil {
			n = re.SubexpIndex(rest)
		}
		if n < 0 || n > re.NumSubexp() {
			return nil, 0, fmt.Errorf("the pattern has no group %q", rest)
		}
		group = n
	}
	return re, group, nil
}
