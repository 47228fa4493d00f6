package bencode

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// field is a member of a struct that has a key.
type field struct {
	key       string
	index     []int
	omitEmpty bool
}

// fieldsOf lists the fields of a struct type, sorted by key. Of several with one key the shallowest counts, and of
// those of one depth the first.
func fieldsOf(t reflect.Type) []field {
	if f, ok := fieldCache.Load(t); ok {
		return f.([]field)
	}
	var list []field
	for _, sf := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(sf.Tag.Get("bencode"), ",")
		if name == "-" || flattened(sf) || behindOther(t, sf.Index) || !sf.IsExported() {
			continue
		}
		if name == "" {
			name = sf.Name
		}
		list = append(list, field{key: name, index: sf.Index, omitEmpty: options == "omitempty"})
	}
	slices.SortStableFunc(list, func(a, b field) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(len(a.index), len(b.index)))
	})
	list = slices.CompactFunc(list, func(a, b field) bool { return a.key == b.key })
	f, _ := fieldCache.LoadOrStore(t, list)
	return f.([]field)
}

// fieldCache holds a []field for each reflect.Type of a struct that was met.
var fieldCache sync.Map

// flattened tells whether a field is an embedded struct, or a pointer to one, whose fields count as those of the
// outer one.
func flattened(sf reflect.StructField) bool {
	t := sf.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return sf.Anonymous && t.Kind() == reflect.Struct && sf.Tag.Get("bencode") == ""
}

// behindOther tells whether the path to a field leads through something that is not flattened.
func behindOther(t reflect.Type, index []int) bool {
	for i := 1; i < len(index); i++ {
		if !flattened(t.FieldByIndex(index[:i])) {
			return true
		}
	}
	return false
}

func find(fields []field, key []byte) (int, bool) {
	return slices.BinarySearchFunc(fields, key, func(f field, k []byte) int { return cmp.Compare(f.key, string(k)) })
}

// reach returns a field, and allocates embedded pointers on the way to it. It is false behind a nil pointer to a type
// that is not exported, which cannot be set.
func reach(v reflect.Value, index []int) (reflect.Value, bool) {
	for i, n := range index {
		if i > 0 && v.Kind() == reflect.Pointer {
			if v.IsNil() {
				if !v.CanSet() {
					return v, false
				}
				v.Set(reflect.New(v.Type().Elem()))
			}
			v = v.Elem()
		}
		v = v.Field(n)
	}
	return v, true
}
