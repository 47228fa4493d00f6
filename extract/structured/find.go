package structured

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Objects returns the objects of a type, "Movie" or "" for all, in the form of JSON-LD: those of JSON-LD (graphs and what
// is nested included), of Microdata, of RDFa. Types and properties of schema.org go without their prefix. Nobody may
// change them.
func (d *Data) Objects(kind string) (objects []map[string]any) {
	for _, list := range d.all() {
		for _, o := range list.objects {
			if kind == "" || HasType(o, kind) {
				objects = append(objects, o)
			}
		}
	}
	return objects
}

// Find looks up a path "Type.property[.property …]" and returns the first value of FindAll: of a property that has several
// the list of them.
func (d *Data) Find(path string) (value any, ok bool) {
	if values := d.FindAll(path); len(values) > 0 {
		return values[0], true
	}
	return nil, false
}

// FindAll looks up a path "Type.property[.property …]" and returns the value of each object of that type, in order: of JSON-LD,
// or else of Microdata, or of RDFa, whichever first has any. Objects within others count only where none of the type stands
// by itself, so that the films that a film is like are not taken for it. An object that several refer to counts once. "*"
// stands for any type.
func (d *Data) FindAll(path string) []any {
	kind, rest, _ := strings.Cut(path, ".")
	for _, list := range d.all() {
		for _, part := range [...][]map[string]any{list.objects[:list.top], list.objects[list.top:]} {
			var found []any
			for _, o := range part {
				if kind == "*" || HasType(o, kind) {
					found = append(found, o)
				}
			}
			if found = lookupAll(found, rest); len(found) > 0 {
				return found
			}
		}
	}
	return nil
}

// Lookup follows properties, "director.name", from an object: the first value of LookupAll.
func Lookup(object any, path string) (any, bool) {
	if values := LookupAll(object, path); len(values) > 0 {
		return values[0], true
	}
	return nil, false
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

// Text is what a value says as a text: an object where a text is wanted stands for its name, its value, or its URL or id;
// of a list the first member counts.
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
		for _, key := range [...]string{"name", "@value", "url", "contentUrl", "@id"} {
			member, ok := property(v, key)
			if _, nested := member.(map[string]any); ok && !nested && deep > 0 {
				return text(member, deep-1)
			}
		}
		return ""
	}
	return fmt.Sprint(v)
}

// objects are those of one kind of markup.
type objects struct {
	objects []map[string]any
	top     int // how many of them are in no other
}

func (d *Data) all() [3]objects {
	d.once.Do(func() {
		d.objects[0] = flatten(withContexts(d.JSONLD))
		var items []any
		made := map[*Item]map[string]any{}
		for _, item := range d.Microdata {
			items = append(items, item.object(made))
		}
		d.objects[1] = flatten(items)
		subjects := compactRDFa(d.RDFa)
		d.objects[2] = objects{subjects, len(subjects)}
	})
	return d.objects
}

// flatten lists the objects of all graphs, and behind them those that are nested. References to objects that are on the
// page lead to them.
func flatten(values []any) objects {
	found, byID := collect(values)
	for _, o := range found.objects {
		for _, v := range o {
			if refers(v, byID) { // what the page says itself stays as it is
				found, byID = collect(copied(values).([]any))
				link(found.objects, byID)
				return found
			}
		}
	}
	return found
}

func collect(values []any) (found objects, byID map[string]map[string]any) {
	objects := expand(nil, values)
	found.top = len(objects)
	for i := 0; i < len(objects); i++ {
		for _, key := range sortedKeys(objects[i]) {
			if key == "@graph" {
				continue
			}
			switch member := objects[i][key].(type) {
			case []any, map[string]any:
				objects = expand(objects, []any{member})
			}
		}
	}
	byID = map[string]map[string]any{}
	for _, o := range objects {
		if id, ok := o["@id"].(string); ok && len(o) > 1 && byID[id] == nil {
			byID[id] = o
		}
	}
	found.objects = objects
	return found, byID
}

// expand appends the objects in lists and graphs, in order.
func expand(objects []map[string]any, values []any) []map[string]any {
	stack := slices.Clone(values)
	slices.Reverse(stack)
	for len(stack) > 0 {
		last := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		switch v := last.(type) {
		case []any:
			for _, member := range slices.Backward(v) {
				stack = append(stack, member)
			}
		case map[string]any:
			graph, ok := v["@graph"]
			if ok {
				stack = append(stack, graph)
			}
			if !ok || len(v) > 3 { // a graph that says something of itself
				objects = append(objects, v)
			}
		}
	}
	return objects
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// link puts in place of {"@id": …} the object of that id. Objects may then lead in circles.
func link(objects []map[string]any, byID map[string]map[string]any) []map[string]any {
	for _, o := range objects {
		for key, v := range o {
			if refers(v, byID) {
				o[key] = target(v, byID)
			}
		}
	}
	return objects
}

// copied is a copy of a value, which is as deep as Limits.Depth allows.
func copied(v any) any {
	switch v := v.(type) {
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = copied(v[i])
		}
		return list
	case map[string]any:
		object := make(map[string]any, len(v))
		for key := range v {
			object[key] = copied(v[key])
		}
		return object
	}
	return v
}

// refers reports whether a value is a reference to an object of the page, or a list with one.
func refers(v any, byID map[string]map[string]any) bool {
	switch v := v.(type) {
	case map[string]any:
		id, ok := v["@id"].(string)
		return ok && len(v) == 1 && byID[id] != nil
	case []any:
		return slices.ContainsFunc(v, func(m any) bool { _, list := m.([]any); return !list && refers(m, byID) })
	}
	return false
}

func target(v any, byID map[string]map[string]any) any {
	switch v := v.(type) {
	case map[string]any:
		if id, ok := v["@id"].(string); ok && len(v) == 1 && byID[id] != nil {
			return byID[id]
		}
	case []any:
		list := make([]any, len(v))
		for i, m := range v {
			list[i] = m
			if _, nested := m.([]any); !nested {
				list[i] = target(m, byID)
			}
		}
		return list
	}
	return v
}

// object is an item in the form of JSON-LD, each made once.
func (i *Item) object(made map[*Item]map[string]any) map[string]any {
	if o := made[i]; o != nil {
		return o
	}
	o := map[string]any{}
	made[i] = o
	var types []any
	for _, t := range i.Type {
		types = append(types, short(t))
	}
	if types != nil {
		o["@type"] = types
	}
	if i.ID != "" {
		o["@id"] = i.ID
	}
	for name, values := range i.Properties {
		list := make([]any, len(values))
		for k, v := range values {
			list[k] = v
			if nested, ok := v.(*Item); ok {
				list[k] = nested.object(made)
			}
		}
		if len(list) == 1 {
			o[short(name)] = list[0]
		} else {
			o[short(name)] = list
		}
	}
	return o
}

// compactRDFa gives subjects the form that JSON-LD has in pages.
func compactRDFa(subjects []map[string]any) []map[string]any {
	objects := make([]map[string]any, 0, len(subjects))
	byID := map[string]map[string]any{}
	for _, s := range subjects {
		o := map[string]any{}
		for key, values := range s {
			list, ok := values.([]any)
			if !ok {
				o[key] = values
				continue
			}
			plain := make([]any, len(list))
			for i, v := range list {
				plain[i] = v
				if m, ok := v.(map[string]any); ok && m["@value"] != nil {
					plain[i] = m["@value"]
				}
			}
			o[short(key)] = any(plain)
			if len(plain) == 1 {
				o[short(key)] = plain[0]
			}
		}
		objects = append(objects, o)
		if id, ok := o["@id"].(string); ok && len(o) > 1 {
			byID[id] = o
		}
	}
	return link(objects, byID)
}
