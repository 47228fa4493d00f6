package structured

import "slices"

// How what pages say becomes objects in the form of JSON-LD.

// objects are those of one kind of markup.
type objects struct {
	objects []map[string]any
	top     int // how many of them are in no other
}

func (d *Data) all() [3]objects {
	d.once.Do(func() {
		jsonLD, _ := d.base.plain(withContexts(d.JSONLD), false)
		d.objects[0] = flatten(jsonLD.([]any))
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
		for key, v := range o {
			if refers(v, byID, holdsURL(key)) { // what the page says itself stays as it is
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

// link puts in place of {"@id": …} the object of that id, or where a URL is meant, and there is no such object, the id. Objects
// may then lead in circles.
func link(objects []map[string]any, byID map[string]map[string]any) []map[string]any {
	for _, o := range objects {
		for key, v := range o {
			if refers(v, byID, holdsURL(key)) {
				o[key] = target(v, byID, holdsURL(key))
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

// refers reports whether a value is a reference that link replaces, or a list with one.
func refers(v any, byID map[string]map[string]any, isURL bool) bool {
	switch v := v.(type) {
	case map[string]any:
		id, ok := v["@id"].(string)
		return ok && len(v) == 1 && (isURL || byID[id] != nil)
	case []any:
		return slices.ContainsFunc(v, func(m any) bool { _, list := m.([]any); return !list && refers(m, byID, isURL) })
	}
	return false
}

func target(v any, byID map[string]map[string]any, isURL bool) any {
	switch v := v.(type) {
	case map[string]any:
		switch id, ok := v["@id"].(string); {
		case !ok || len(v) > 1:
		case byID[id] != nil:
			return byID[id]
		case isURL:
			return id
		}
	case []any:
		list := make([]any, len(v))
		for i, m := range v {
			list[i] = m
			if _, nested := m.([]any); !nested {
				list[i] = target(m, byID, isURL)
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
