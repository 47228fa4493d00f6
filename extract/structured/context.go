package structured

import "strings"

// maxAliases is how many names a context may give: contexts in each other copy them.
const maxAliases = 100

// withContexts writes what stands under a name or prefix that an @context gives to a name of schema.org, or to a keyword, with
// the name itself: {"@context": {"s": "https://schema.org/", "type": "@type"}}. Values without such contexts stay as they are.
func withContexts(values []any) []any {
	for _, v := range values {
		if o, ok := v.(map[string]any); ok && len(aliases(nil, o["@context"])) > 0 {
			return renamed(values, nil).([]any)
		}
	}
	return values
}

// aliases adds to what holds already what a context says. A name that ends in ":" is a prefix.
func aliases(outer map[string]string, context any) map[string]string {
	var found map[string]string
	add := func(name, means string) {
		if found == nil {
			found = make(map[string]string, len(outer)+1)
			for k, v := range outer {
				found[k] = v
			}
		}
		if len(found) < maxAliases {
			found[name] = means
		}
	}
	list, isList := context.([]any)
	if !isList {
		list = []any{context}
	}
	for _, c := range list {
		terms, _ := c.(map[string]any)
		for _, name := range sortedKeys(terms) {
			v := terms[name]
			if o, ok := v.(map[string]any); ok {
				v = o["@id"]
			}
			iri, ok := v.(string)
			means := short(iri)
			switch {
			case !ok || name == "" || strings.HasPrefix(name, "@"):
			case iri == "@type" || iri == "@id" || iri == "@graph" || iri == "@value":
				add(name, iri)
			case iri != means && means == "":
				add(name+":", "")
			case iri != means && means != name:
				add(name, means)
			}
		}
	}
	if found == nil {
		return outer
	}
	return found
}

// renamed is a copy of a value with the names that its contexts stand for. It is as deep as Limits.Depth allows.
func renamed(v any, names map[string]string) any {
	switch v := v.(type) {
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = renamed(v[i], names)
		}
		return list
	case map[string]any:
		names = aliases(names, v["@context"])
		object := make(map[string]any, len(v))
		for _, key := range sortedKeys(v) {
			name := aliased(key, names)
			if _, said := v[name]; said && name != key {
				continue
			}
			switch name {
			case "@type":
				object[name] = renamedTypes(v[key], names)
			case "@context":
				object[name] = v[key]
			default:
				object[name] = renamed(v[key], names)
			}
		}
		return object
	}
	return v
}

func renamedTypes(v any, names map[string]string) any {
	switch v := v.(type) {
	case string:
		return aliased(v, names)
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = renamedTypes(v[i], names)
		}
		return list
	}
	return v
}

func aliased(name string, names map[string]string) string {
	if means, ok := names[name]; ok {
		return means
	}
	if prefix, rest, ok := strings.Cut(name, ":"); ok {
		if _, known := names[prefix+":"]; known {
			return rest
		}
	}
	return name
}
