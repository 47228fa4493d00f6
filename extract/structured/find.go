package structured

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Objects returns the objects of a type, "Movie" or "" for all, in the form of JSON-LD: those of JSON-LD (graphs and what
// is nested included), of Microdata, of RDFa. Types and properties of schema.org go without their prefix; value objects, lists and
// sets are what they hold; references are resolved in url, sameAs, image, logo, contentUrl, embedUrl, thumbnailUrl,
// mainEntityOfPage and @id. Nobody may change them.
func (d *Data) Objects(kind string) (objects []map[string]any) {
	for _, list := range d.all() {
		objects = append(objects, ofType(list.objects, kind)...)
	}
	return objects
}

// Main returns the objects of a type that a page has by themselves: of JSON-LD, or else of Microdata, or of RDFa, whichever has any
// of the type. Objects within others count only where none stands by itself, so that the films that a film is like are not taken
// for it. The first is what the page is taken to be about, by Decode and by Find. Nobody may change them.
func (d *Data) Main(kind string) []map[string]any {
	for _, list := range d.all() {
		for _, part := range [...][]map[string]any{list.objects[:list.top], list.objects[list.top:]} {
			if found := ofType(part, kind); len(found) > 0 {
				return found
			}
		}
	}
	return nil
}

func ofType(objects []map[string]any, kind string) (found []map[string]any) {
	for _, o := range objects {
		if kind == "" || HasType(o, kind) {
			found = append(found, o)
		}
	}
	return found
}

// Find looks up a path "Type.property[.property …]" in the first object of the type (see Main) and returns the first value of
// LookupAll: of a property that has several the list of them. Of the type "*" it is the first value of FindAll.
func (d *Data) Find(path string) (value any, ok bool) {
	kind, rest, _ := strings.Cut(path, ".")
	if kind == "*" {
		values := d.findAnywhere(rest)
		return first(values), len(values) > 0
	}
	main := d.Main(kind)
	if len(main) == 0 {
		return nil, false
	}
	return Lookup(main[0], rest)
}

// FindAll looks up a path "Type.property[.property …]" and returns the value of each object of that type (see Main) that has one,
// in order. An object that several refer to counts once. "*" stands for any type: then the objects count that have the property,
// where Main would choose among those of the type.
func (d *Data) FindAll(path string) []any {
	kind, rest, _ := strings.Cut(path, ".")
	if kind == "*" {
		return d.findAnywhere(rest)
	}
	return lookupAll(anys(d.Main(kind)), rest)
}

func (d *Data) findAnywhere(path string) []any {
	for _, list := range d.all() {
		for _, part := range [...][]map[string]any{list.objects[:list.top], list.objects[list.top:]} {
			if found := lookupAll(anys(part), path); len(found) > 0 {
				return found
			}
		}
	}
	return nil
}

func anys(objects []map[string]any) []any {
	values := make([]any, len(objects))
	for i, o := range objects {
		values[i] = o
	}
	return values
}

func first(values []any) any {
	if len(values) == 0 {
		return nil
	}
	return values[0]
}

// Lookup follows properties, "director.name", from an object: the first value of LookupAll.
func Lookup(object any, path string) (any, bool) {
	values := LookupAll(object, path)
	return first(values), len(values) > 0
}

// LookupAll follows properties, "director.name", from an object, through all members of lists on the way. An empty path is the
// object itself.
func LookupAll(object any, path string) []any { return lookupAll([]any{object}, path) }

// lookupAll takes one property at a time from all that was found, each object once: lists of references to each other would
// have it visit each object in many ways.
func lookupAll(values []any, path string) []any {
	for path != "" && len(values) > 0 {
		var name string
		name, path, _ = strings.Cut(path, ".")
		var next []any
		seen := map[uintptr]bool{}
		for _, o := range expand(nil, values) {
			at := reflect.ValueOf(o).Pointer()
			if seen[at] {
				continue
			}
			seen[at] = true
			if member, ok := property(o, name); ok {
				next = append(next, member)
			}
		}
		values = next
	}
	return slices.DeleteFunc(values, func(v any) bool {
		list, isList := v.([]any)
		return v == nil || isList && len(list) == 0
	})
}

// property returns a property by its name at schema.org, however it is written.
func property(o map[string]any, name string) (any, bool) {
	if v, ok := o[name]; ok {
		return v, true
	}
	for _, prefix := range schemaOrg {
		if v, ok := o[prefix+name]; ok {
			return v, true
		}
	}
	return nil, false
}

// HasType reports whether an object of JSON-LD is of a type. Case does not count: pages write "movie".
func HasType(object map[string]any, kind string) bool {
	switch t := object["@type"].(type) {
	case string:
		return strings.EqualFold(short(t), kind)
	case []any:
		for _, one := range t {
			if s, ok := one.(string); ok && strings.EqualFold(short(s), kind) {
				return true
			}
		}
	}
	return false
}

// schemaOrg are the prefixes of names of schema.org.
var schemaOrg = [...]string{"schema:", "http://schema.org/", "https://schema.org/", "http://www.schema.org/", "https://www.schema.org/"}

// short is a name without the prefix of schema.org.
func short(name string) string {
	for _, prefix := range schemaOrg {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			return rest
		}
	}
	return name
}

// Text is what a value says as a text: an object where a text is wanted stands for its name, its value or its URL, and says nothing
// without one, as does a reference to what the page has not; of a list the first member counts.
func Text(v any) string { return text(v, 8) } // objects may lead in circles

func text(v any, deep int) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case json.Number:
		return v.String()
	case []any:
		if len(v) > 0 && deep > 0 {
			return text(v[0], deep-1)
		}
		return ""
	case map[string]any:
		for _, key := range [...]string{"name", "@value", "url", "contentUrl"} {
			member, ok := property(v, key)
			if _, nested := member.(map[string]any); ok && !nested && deep > 0 {
				return text(member, deep-1)
			}
		}
		return ""
	}
	return fmt.Sprint(v)
}
