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

const (
	// maxDecode is how deep objects of Go types are in each other.
	maxDecode = 32
	// maxDecoded is how many values one call decodes, 64 bytes of a text counting as one more: a few objects that refer to each
	// other hold each other in more ways than anybody waits for.
	maxDecoded = 1 << 18
	// maxDecodeErrors is how many errors are told one by one.
	maxDecodeErrors = 100
)

// Decode fills dst, a pointer to a struct, from the first object of its type that the page has (see Main and DecodeObject). Without
// one the error is ErrNotFound.
func (d *Data) Decode(dst any) error {
	v := reflect.ValueOf(dst)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		return fmt.Errorf("seine: structured: %T is no pointer to a struct", dst)
	}
	objects := d.Main(typeName(v.Elem().Type()))
	if len(objects) == 0 {
		return ErrNotFound
	}
	return DecodeObject(objects[0], dst)
}

// DecodeObject fills the fields of dst that have a tag schema:"property" from an object of JSON-LD. The type of the object
// is the name of the Go type, or what a field _ struct{} `schema:"Type"` says. Fields are texts, numbers, booleans,
// time.Time, time.Duration (ISO 8601), *url.URL or url.URL, types with UnmarshalText, structs, and pointers and slices of
// those. A text is wanted where an object stands: its name is taken, if it has one; a single value becomes a slice of one. Properties that
// are missing leave their field alone, and so do those that lead back to an object in which they stand, to be decoded into the
// same Go type: of an article and its page that name each other the second has no article; in a slice they are left out.
// All fields that can be are filled; the error joins a *FieldError for each other, of which the first 100 are told, and a
// *LimitError after 262,144 values.
func DecodeObject(object map[string]any, dst any) error {
	v := reflect.ValueOf(dst)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		return fmt.Errorf("seine: structured: %T is no pointer to a struct", dst)
	}
	d := decoder{left: maxDecoded, open: map[opened]bool{}}
	d.object(v.Elem(), object, "", 0)
	if d.untold > 0 {
		d.errs = append(d.errs, fmt.Errorf("seine: structured: %d more that could not become a field", d.untold))
	}
	if d.left < 0 {
		d.errs = append(d.errs, &LimitError{What: "decoded values", Limit: maxDecoded})
	}
	return errors.Join(d.errs...)
}

func typeName(t reflect.Type) string {
	if f, ok := t.FieldByName("_"); ok && f.Tag.Get("schema") != "" {
		return f.Tag.Get("schema")
	}
	return t.Name()
}

// decoder is one call of DecodeObject.
type decoder struct {
	left   int // values that may be decoded
	open   map[opened]bool
	errs   []error
	untold int // errors beyond maxDecodeErrors
}

// opened is an object that is being decoded, and into what.
type opened struct {
	object uintptr
	typ    reflect.Type
}

func openedOf(object map[string]any, t reflect.Type) opened {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return opened{reflect.ValueOf(object).Pointer(), t}
}

func (d *decoder) fail(path string, err error) {
	if len(d.errs) >= maxDecodeErrors {
		d.untold++
		return
	}
	d.errs = append(d.errs, &FieldError{path, err})
}

// leadsBack reports whether a value is an object that is being decoded into the same type.
func (d *decoder) leadsBack(value any, t reflect.Type) bool {
	object, ok := value.(map[string]any)
	return ok && d.open[openedOf(object, t)]
}

// object decodes an object, which is open meanwhile.
func (d *decoder) object(dst reflect.Value, object map[string]any, path string, depth int) {
	if depth > maxDecode {
		d.fail(path, &LimitError{What: "depth", Limit: maxDecode})
		return
	}
	at := openedOf(object, dst.Type())
	d.open[at] = true
	d.fields(dst, object, path, depth)
	delete(d.open, at)
}

func (d *decoder) fields(dst reflect.Value, object map[string]any, path string, depth int) {
	t := dst.Type()
	for i := range t.NumField() {
		f := t.Field(i)
		name := f.Tag.Get("schema")
		switch {
		case f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct:
			d.fields(dst.Field(i), object, path, depth)
		case name == "" || name == "-" || !f.IsExported():
		default:
			if value, ok := Lookup(object, name); ok {
				d.value(dst.Field(i), value, join(path, f.Name), depth)
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

func (d *decoder) value(dst reflect.Value, value any, path string, depth int) {
	t := dst.Type()
	list, isList := value.([]any)
	to := convert.For(t)
	if d.left--; d.left < 0 || value == nil {
		return
	}
	switch {
	case t.Kind() == reflect.Pointer:
		if !isList && d.leadsBack(value, t) || isList && d.first(list, t) == nil {
			return
		}
		if dst.IsNil() {
			dst.Set(reflect.New(t.Elem()))
		}
		d.value(dst.Elem(), value, path, depth)
	case to == nil && t.Kind() == reflect.Slice:
		if !isList {
			list = []any{value}
		}
		d.list(dst, list, path, depth)
	case isList:
		d.value(dst, d.first(list, t), path, depth)
	case to == nil && t.Kind() == reflect.Struct:
		object, ok := value.(map[string]any)
		if !ok { // a text stands for an object of that name
			object = map[string]any{"name": value}
		}
		if !d.leadsBack(object, t) {
			d.object(dst, object, path, depth+1)
		}
	case to == nil:
		d.fail(path, fmt.Errorf("%s cannot hold a property", t))
	case isNameless(value):
	default:
		text := Text(value)
		d.left -= len(text) / 64
		if err := to(dst, text, &convert.Options{}); err != nil {
			d.fail(path, err)
		}
	}
}

// isNameless reports whether a value is an object that says nothing as a text.
func isNameless(value any) bool {
	_, ok := value.(map[string]any)
	return ok && Text(value) == ""
}

// first is the first member of a list that is not null and does not lead back; nil if there is none.
func (d *decoder) first(list []any, t reflect.Type) any {
	for _, member := range list {
		if member != nil && !d.leadsBack(member, t) {
			return member
		}
	}
	return nil
}

func (d *decoder) list(dst reflect.Value, list []any, path string, depth int) {
	t := dst.Type()
	out := reflect.MakeSlice(t, 0, min(len(list), max(d.left, 0)))
	for i, member := range list {
		if d.left < 0 {
			break
		}
		if !d.leadsBack(member, t.Elem()) && (convert.For(t.Elem()) == nil || !isNameless(member)) {
			made := reflect.New(t.Elem()).Elem()
			d.value(made, member, fmt.Sprintf("%s[%d]", path, i), depth)
			out = reflect.Append(out, made)
		}
	}
	dst.Set(out)
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
