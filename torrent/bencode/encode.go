package bencode

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Marshaler is a type that writes itself as one bencode value.
type Marshaler interface {
	MarshalBencode() ([]byte, error)
}

// Marshal writes v in canonical form: the keys of structs and maps are sorted. It is the inverse of [Unmarshal]; a bool
// is written as 0 or 1. A nil pointer, interface or map in a struct is left out, as are the fields of an embedded nil
// pointer and an empty value of a field tagged "omitempty" (`bencode:"key,omitempty"`). Elsewhere a nil map is an empty
// dictionary, as a nil slice is an empty list; other nil is an error, as are floats, channels and functions. What a
// RawMessage or a Marshaler gives is written as it is, when it is one value.
func Marshal(v any) ([]byte, error) {
	e := encoder{}
	e.value(reflect.ValueOf(v), 0)
	if e.fault != nil {
		return nil, e.fault
	}
	return e.Bytes()
}

type encoder struct {
	Writer
	fault error
}

func (e *encoder) failed(kind ErrorKind, detail string) {
	if e.fault == nil {
		e.fault = &Error{Kind: kind, Offset: -1, Detail: detail}
	}
}

func (e *encoder) value(v reflect.Value, level int) {
	if level == maxRecursion {
		e.failed(ErrDepth, "")
	}
	if e.fault != nil {
		return
	}
	if !v.IsValid() {
		e.failed(ErrUnsupported, "nil")
		return
	}
	if raw, ok := v.Interface().(RawMessage); ok {
		e.raw(raw)
		return
	}
	if m, ok := marshalerOf(v); ok {
		b, err := m.MarshalBencode()
		if err != nil {
			e.fault = err
			return
		}
		e.raw(b)
		return
	}
	switch {
	case v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface:
		e.value(v.Elem(), level+1)
	case v.CanInt():
		e.Int(v.Int())
	case v.CanUint():
		e.unsigned(v.Uint())
	case v.Kind() == reflect.Bool:
		e.Int(map[bool]int64{true: 1}[v.Bool()])
	case v.Kind() == reflect.String:
		e.String(v.String())
	case v.Kind() == reflect.Slice || v.Kind() == reflect.Array:
		e.list(v, level)
	case v.Kind() == reflect.Map && v.Type().Key().Kind() == reflect.String:
		e.table(v, level)
	case v.Kind() == reflect.Struct:
		e.object(v, level)
	default:
		e.failed(ErrUnsupported, v.Type().String())
	}
}

// marshalerOf finds the method on the value, or on its address.
func marshalerOf(v reflect.Value) (Marshaler, bool) {
	if (v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface) && v.IsNil() {
		return nil, false
	}
	if m, ok := v.Interface().(Marshaler); ok {
		return m, true
	}
	if v.CanAddr() {
		m, ok := v.Addr().Interface().(Marshaler)
		return m, ok
	}
	return nil, false
}

func (e *encoder) raw(b []byte) {
	if n, _, err := unlimited.Check(b); err != nil || n != len(b) {
		e.failed(ErrNotValid, "")
		return
	}
	if e.begin() {
		e.buf = append(e.buf, b...)
	}
}

func (e *encoder) unsigned(n uint64) {
	if n > 1<<63-1 {
		e.failed(ErrOverflow, fmt.Sprint(n))
		return
	}
	e.Int(int64(n))
}

func (e *encoder) list(v reflect.Value, level int) {
	if v.Type().Elem().Kind() == reflect.Uint8 {
		b := make([]byte, v.Len())
		for i := range b { // the elements may be of a named type, which reflect.Copy does not take
			b[i] = byte(v.Index(i).Uint())
		}
		e.Text(b)
		return
	}
	e.List()
	for i := range v.Len() {
		e.value(v.Index(i), level+1)
	}
	e.End()
}

func (e *encoder) table(v reflect.Value, level int) {
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	e.Dict()
	for _, k := range keys {
		e.Key(k.String())
		e.value(v.MapIndex(k), level+1)
	}
	e.End()
}

func (e *encoder) object(v reflect.Value, level int) {
	e.Dict()
	for _, f := range fieldsOf(v.Type()) {
		x, err := v.FieldByIndexErr(f.index)
		if err != nil || absent(x) || f.omitEmpty && empty(x) {
			continue
		}
		e.Key(f.key)
		e.value(x, level+1)
	}
	e.End()
}

// absent tells whether a field has nothing that could be written.
func absent(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface, reflect.Map:
		return v.IsNil()
	case reflect.Slice:
		return v.IsNil() && v.Type() == rawType
	}
	return false
}

func empty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map, reflect.String:
		return v.Len() == 0
	}
	return v.IsZero()
}
