package structured

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/seine-go/seine/extract/internal/convert"
)

// ErrNotFound says that a page has no object of the wanted type.
var ErrNotFound = errors.New("seine: structured: no object of that type")

// FieldError says which property could not become a field.
type FieldError struct {
	Path string // of Go fields: "Actor[1].Born"
	Err  error
}

// Error names the field.
func (e *FieldError) Error() string { return fmt.Sprintf("seine: structured: %s: %v", e.Path, e.Err) }

// Unwrap returns the cause.
func (e *FieldError) Unwrap() error { return e.Err }

// maxDecode is how deep objects of Go types are in each other.
const maxDecode = 32

// Decode fills dst, a pointer to a struct, from the first object of its type that the page has; see DecodeObject. Without
// one the error is ErrNotFound.
func (d *Data) Decode(dst any) error {
	v := reflect.ValueOf(dst)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		return fmt.Errorf("seine: structured: %T is no pointer to a struct", dst)
	}
	objects := d.Objects(typeName(v.Elem().Type()))
	if len(objects) == 0 {
		return ErrNotFound
	}
	return DecodeObject(objects[0], dst)
}

// DecodeObject fills the fields of dst that have a tag schema:"property" from an object of JSON-LD. The type of the object
// is the name of the Go type, or what a field _ struct{} `schema:"Type"` says. Fields are texts, numbers, booleans,
// time.Time, time.Duration (ISO 8601), *url.URL or url.URL, types with UnmarshalText, structs, and pointers and slices of
// those. A text is wanted where an object stands: its name is taken; a single value becomes a slice of one. Properties that
// are missing leave their field alone. All fields that can be are filled; the error joins a *FieldError for each other.
func DecodeObject(object map[string]any, dst any) error {
	v := reflect.ValueOf(dst)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		return fmt.Errorf("seine: structured: %T is no pointer to a struct", dst)
	}
	var errs []error
	decodeStruct(v.Elem(), object, "", 0, &errs)
	return errors.Join(errs...)
}

func typeName(t reflect.Type) string {
	if f, ok := t.FieldByName("_"); ok && f.Tag.Get("schema") != "" {
		return f.Tag.Get("schema")
	}
	return t.Name()
}

func decodeStruct(dst reflect.Value, object map[string]any, path string, depth int, errs *[]error) {
	if depth > maxDecode {
		*errs = append(*errs, &FieldError{path, &LimitError{What: "depth", Limit: maxDecode}})
		return
	}
	t := dst.Type()
	for i := range t.NumField() {
		f := t.Field(i)
		name := f.Tag.Get("schema")
		switch {
		case f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct:
			decodeStruct(dst.Field(i), object, path, depth+1, errs)
		case name == "" || name == "-" || !f.IsExported():
		default:
			if value, ok := Lookup(object, name); ok {
				decodeValue(dst.Field(i), value, join(path, f.Name), depth, errs)
			}
		}
	}
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func decodeValue(dst reflect.Value, value any, path string, depth int, errs *[]error) {
	t := dst.Type()
	list, isList := value.([]any)
	to := convert.For(t)
	switch {
	case value == nil:
	case t.Kind() == reflect.Pointer:
		if dst.IsNil() {
			dst.Set(reflect.New(t.Elem()))
		}
		decodeValue(dst.Elem(), value, path, depth, errs)
	case to == nil && t.Kind() == reflect.Slice:
		if !isList {
			list = []any{value}
		}
		out := reflect.MakeSlice(t, len(list), len(list))
		for i, member := range list {
			decodeValue(out.Index(i), member, fmt.Sprintf("%s[%d]", path, i), depth, errs)
		}
		dst.Set(out)
	case isList && len(list) == 0:
	case isList:
		decodeValue(dst, list[0], path, depth, errs)
	case to == nil && t.Kind() == reflect.Struct:
		object, ok := value.(map[string]any)
		if !ok { // a text stands for an object of that name
			object = map[string]any{"name": value}
		}
		decodeStruct(dst, object, path, depth+1, errs)
	case to == nil:
		*errs = append(*errs, &FieldError{path, fmt.Errorf("%s cannot hold a property", t)})
	default:
		if err := to(dst, Text(value), &convert.Options{}); err != nil {
			*errs = append(*errs, &FieldError{path, err})
		}
	}
}

// Marshal returns a value as JSON-LD of schema.org: the fields that have a tag schema:"property", but for those that are
// zero. It takes the types that DecodeObject fills.
func Marshal(v any) ([]byte, error) {
	object, err := encodeStruct(reflect.ValueOf(v), 0)
	if err != nil {
		return nil, err
	}
	object = append([]member{{"@context", "https://schema.org"}}, object...)
	return json.Marshal(ordered(object))
}

// member is a member of an object that keeps the order of the fields.
type member struct {
	key   string
	value any
}

type ordered []member

// MarshalJSON writes the members in their order.
func (o ordered) MarshalJSON() ([]byte, error) {
	var b strings.Builder
	for i, m := range o {
		key, err := json.Marshal(m.key)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		b.WriteByte("{,"[min(i, 1)])
		b.Write(key)
		b.WriteByte(':')
		b.Write(value)
	}
	if len(o) == 0 {
		b.WriteByte('{')
	}
	return []byte(b.String() + "}"), nil
}

func encodeStruct(v reflect.Value, depth int) (ordered, error) {
	for v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		return nil, fmt.Errorf("seine: structured: %s is no struct", v.Kind())
	}
	if depth > maxDecode {
		return nil, &LimitError{What: "depth", Limit: maxDecode}
	}
	object := ordered{{"@type", typeName(v.Type())}}
	fields, err := encodeFields(v, depth)
	return append(object, fields...), err
}

func encodeFields(v reflect.Value, depth int) (object ordered, err error) {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		name := f.Tag.Get("schema")
		switch {
		case f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct:
			inner, err := encodeFields(v.Field(i), depth+1)
			if err != nil {
				return nil, err
			}
			object = append(object, inner...)
		case name == "" || name == "-" || !f.IsExported() || v.Field(i).IsZero():
		default:
			value, err := encodeValue(v.Field(i), depth)
			if err != nil {
				return nil, &FieldError{f.Name, err}
			}
			object = append(object, member{name, value})
		}
	}
	return object, nil
}

func encodeValue(v reflect.Value, depth int) (any, error) {
	for v.Kind() == reflect.Pointer && !v.IsNil() {
		if _, ok := v.Interface().(*url.URL); ok {
			break
		}
		v = v.Elem()
	}
	switch value := v.Interface().(type) {
	case time.Time:
		if h, m, s := value.Clock(); h == 0 && m == 0 && s == 0 && value.Location() == time.UTC {
			return value.Format(time.DateOnly), nil
		}
		return value.Format(time.RFC3339), nil
	case time.Duration:
		return isoDuration(value), nil
	case *url.URL:
		return value.String(), nil
	case url.URL:
		return value.String(), nil
	case encoding.TextMarshaler, json.Number:
		return value, nil
	}
	switch {
	case v.Kind() == reflect.Struct:
		return encodeStruct(v, depth+1)
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() != reflect.Uint8:
		list := make([]any, v.Len())
		for i := range list {
			var err error
			if list[i], err = encodeValue(v.Index(i), depth); err != nil {
				return nil, err
			}
		}
		return list, nil
	}
	return v.Interface(), nil
}

// isoDuration writes hours, minutes and seconds (ISO 8601, 5.5.2).
func isoDuration(d time.Duration) string {
	sign := ""
	if d < 0 {
		sign, d = "-", -d
	}
	text := ""
	if h := d / time.Hour; h > 0 {
		text += fmt.Sprintf("%dH", h)
	}
	if m := d % time.Hour / time.Minute; m > 0 {
		text += fmt.Sprintf("%dM", m)
	}
	if s := (d % time.Minute).Seconds(); s > 0 || text == "" {
		text += strconv.FormatFloat(s, 'f', -1, 64) + "S"
	}
	return sign + "PT" + text
}
