package bencode

import (
	"fmt"
	"reflect"
)

// RawMessage is one value as it stands in the input. It delays decoding, and keeps bytes that must not change.
type RawMessage []byte

// Unmarshaler is a type that reads itself from one bencode value. The bytes belong to the input: who keeps them copies.
type Unmarshaler interface {
	UnmarshalBencode(b []byte) error
}

// maxRecursion bounds the recursion of Unmarshal and Marshal where Options set no limit of depth.
const maxRecursion = 10_000

// Unmarshal reads the value at the start of b into v, a pointer, leniently within the default bounds. Bytes after the
// value are allowed.
//
// Integers fit all integer types that hold them, and a bool (zero is false); strings fit string, []byte and an array
// of bytes of just that length; lists fit slices, and arrays of just that length; dictionaries fit structs and maps
// whose key is a string type. Pointers are allocated. An any becomes int64, string, []any or map[string]any. A
// struct's field takes the key of its tag `bencode:"key"`, else its name, compared exactly; a tag of "-" leaves it
// out, and the fields of embedded structs, and of embedded pointers to structs, count as its own. Keys without a
// field are passed over; a field without a key keeps its value. What is decoded shares no memory with b.
//
// A value that does not fit its Go type is left out and decoding goes on; the first such fault is returned at the
// end.
func Unmarshal(b []byte, v any) error {
	_, _, err := Options{}.Unmarshal(b, v)
	return err
}

// Unmarshal is like the function of that name. It also returns how many bytes the value takes, and what was forgiven.
// When strict, v is not touched if there is anything to forgive.
func (o Options) Unmarshal(b []byte, v any) (n int, w Warnings, err error) {
	target := reflect.ValueOf(v)
	if target.Kind() != reflect.Pointer || target.IsNil() {
		return 0, nil, &Error{Kind: ErrMisuse, Detail: fmt.Sprintf("target %T is no pointer", v), Offset: -1}
	}
	n, w, err = o.Check(b)
	if err != nil {
		return n, w, err
	}
	d := decoder{}
	d.Reset(b[:n], unlimited)
	d.value(d.Next(), target.Elem())
	if d.err != nil {
		return n, w, d.err
	}
	return n, w, d.fault
}

// Check reads the value at the start of b without decoding it, and returns how many bytes it takes.
func (o Options) Check(b []byte) (n int, w Warnings, err error) {
	var s Scanner
	s.Reset(b, o)
	s.Value()
	switch {
	case s.err != nil:
		return s.pos, s.warnings, s.err
	case o.Strict && len(s.warnings) > 0:
		return s.pos, s.warnings, s.warnings
	}
	return s.pos, s.warnings, nil
}

// decoder fills Go values. Its input has been checked, so that the scanner fails no more.
type decoder struct {
	Scanner
	fault error // the first value that did not fit
	level int
}

func (d *decoder) misfit(t Token, typ reflect.Type) {
	if t.Kind == List || t.Kind == Dict {
		d.Skip()
	}
	d.note(&Error{Kind: ErrWrongType, Offset: t.Start, Detail: fmt.Sprintf("%s into %s", t.Kind, typ)})
}

func (d *decoder) note(err error) {
	if d.fault == nil {
		d.fault = err
	}
}

var (
	unmarshalerType = reflect.TypeFor[Unmarshaler]()
	rawType         = reflect.TypeFor[RawMessage]()
)

// value decodes the value that begins with t into v, which can be set.
func (d *decoder) value(t Token, v reflect.Value) {
	if d.level == maxRecursion {
		d.fail(ErrDepth, t.Start)
		return
	}
	d.level++
	defer func() { d.level-- }()
	if v.Type() == rawType || v.CanAddr() && v.Addr().Type().Implements(unmarshalerType) {
		d.own(t, v)
		return
	}
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		d.value(t, v.Elem())
		return
	}
	if v.Kind() == reflect.Interface && v.NumMethod() == 0 {
		if x := d.any(t); x != nil {
			v.Set(reflect.ValueOf(x))
		}
		return
	}
	switch t.Kind {
	case Integer:
		d.integer(t, v)
	case String:
		d.text(t, v)
	case List:
		d.list(t, v)
	case Dict:
		d.dict(t, v)
	}
}

// own decodes into a type that takes raw bytes.
func (d *decoder) own(t Token, v reflect.Value) {
	end := t.End
	if t.Kind == List || t.Kind == Dict {
		end = d.Skip()
	}
	raw := d.data[t.Start:end:end]
	if v.Type() == rawType {
		v.SetBytes(append([]byte(nil), raw...))
		return
	}
	if err := v.Addr().Interface().(Unmarshaler).UnmarshalBencode(raw); err != nil {
		d.note(err)
	}
}

func (d *decoder) integer(t Token, v reflect.Value) {
	switch {
	case v.CanInt() && !v.OverflowInt(t.Int()):
		v.SetInt(t.Int())
	case v.CanUint() && t.Int() >= 0 && !v.OverflowUint(uint64(t.Int())):
		v.SetUint(uint64(t.Int()))
	case v.Kind() == reflect.Bool:
		v.SetBool(t.Int() != 0)
	default:
		d.misfit(t, v.Type())
	}
}

func (d *decoder) text(t Token, v reflect.Value) {
	body := d.Text(t)
	switch {
	case v.Kind() == reflect.String:
		v.SetString(string(body))
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8:
		v.SetBytes(append(make([]byte, 0, len(body)), body...))
	case v.Kind() == reflect.Array && v.Type().Elem().Kind() == reflect.Uint8 && v.Len() == len(body):
		for i, c := range body { // the elements may be of a named type, which reflect.Copy does not take
			v.Index(i).SetUint(uint64(c))
		}
	default:
		d.misfit(t, v.Type())
	}
}

func (d *decoder) list(t Token, v reflect.Value) {
	if kind := v.Kind(); kind != reflect.Slice && kind != reflect.Array || v.Type().Elem().Kind() == reflect.Uint8 {
		d.misfit(t, v.Type())
		return
	}
	if v.Kind() == reflect.Array {
		d.array(t, v)
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), 0, 0))
	for {
		item := d.Next()
		if item.Kind == End || item.Kind == None {
			return
		}
		if v.Len() == v.Cap() {
			v.Grow(1)
		}
		v.SetLen(v.Len() + 1)
		last := v.Index(v.Len() - 1)
		last.SetZero()
		d.value(item, last)
	}
}

// array decodes a list, which has been entered, into an array that it must just fill.
func (d *decoder) array(t Token, v reflect.Value) {
	array := reflect.New(v.Type()).Elem()
	n := 0
	for item := d.Next(); item.Kind != End && item.Kind != None; item = d.Next() {
		if n == v.Len() {
			if item.Kind == List || item.Kind == Dict {
				d.Skip()
			}
			d.misfit(t, v.Type())
			return
		}
		d.value(item, array.Index(n))
		n++
	}
	if n < v.Len() {
		d.note(&Error{Kind: ErrWrongType, Offset: t.Start, Detail: fmt.Sprintf("%d members into %s", n, v.Type())})
		return
	}
	v.Set(array)
}

func (d *decoder) dict(t Token, v reflect.Value) {
	switch {
	case v.Kind() == reflect.Struct:
		d.object(v)
	case v.Kind() == reflect.Map && v.Type().Key().Kind() == reflect.String:
		d.table(v)
	default:
		d.misfit(t, v.Type())
	}
}

func (d *decoder) object(v reflect.Value) {
	fields := fieldsOf(v.Type())
	seen := make([]bool, len(fields))
	for {
		key := d.Next()
		if key.Kind != Key {
			return
		}
		i, known := find(fields, d.Scanner.Text(key))
		if !known || seen[i] {
			d.Value()
			continue
		}
		seen[i] = true
		value := d.Next()
		if x, ok := reach(v, fields[i].index); ok {
			d.value(value, x)
		} else {
			d.misfit(value, x.Type())
		}
	}
}

func (d *decoder) table(v reflect.Value) {
	typ := v.Type()
	m := reflect.MakeMap(typ)
	for {
		key := d.Next()
		if key.Kind != Key {
			break
		}
		k := reflect.New(typ.Key()).Elem()
		k.SetString(string(d.Scanner.Text(key)))
		if m.MapIndex(k).IsValid() {
			d.Value()
			continue
		}
		x := reflect.New(typ.Elem()).Elem()
		d.value(d.Next(), x)
		m.SetMapIndex(k, x)
	}
	v.Set(m)
}

// any decodes a value of unknown type.
func (d *decoder) any(t Token) any {
	switch t.Kind {
	case Integer:
		return t.Int()
	case String:
		return string(d.Scanner.Text(t))
	case List, Dict:
		return d.tree(t.Kind)
	}
	return nil
}

// open is a list or dictionary that is being filled.
type open struct {
	list []any
	dict map[string]any
	key  string
	drop bool // the value of a repeated key
}

func (o *open) put(x any) {
	switch {
	case o.dict == nil:
		o.list = append(o.list, x)
	case !o.drop:
		o.dict[o.key] = x
	}
}

func newOpen(kind Kind) open {
	if kind == Dict {
		return open{dict: map[string]any{}}
	}
	return open{list: []any{}}
}

// tree decodes a list or dictionary; its own stack stands in for recursion.
func (d *decoder) tree(kind Kind) any {
	stack := []open{newOpen(kind)}
	for {
		top := &stack[len(stack)-1]
		t := d.Next()
		switch {
		case t.Kind == Key:
			top.key = string(d.Scanner.Text(t))
			_, top.drop = top.dict[top.key]
		case t.Kind == List || t.Kind == Dict:
			stack = append(stack, newOpen(t.Kind))
		case t.Kind == End:
			var whole any = top.list
			if top.dict != nil {
				whole = top.dict
			}
			if len(stack) == 1 {
				return whole
			}
			stack = stack[:len(stack)-1]
			stack[len(stack)-1].put(whole)
		case t.Kind == None:
			return nil
		default:
			top.put(d.any(t))
		}
	}
}
