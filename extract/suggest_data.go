package extract

import (
	"fmt"
	"slices"
	"strings"
)

const (
	// suggestValues is how many values of data are looked at for a text.
	suggestValues = 1 << 18
	// maxPaths is how many paths of a piece of data are kept.
	maxPaths = 4
)

// dataSources are sources that find what is wanted in the structured data of a page, in its states, or in it as JSON.
func (t *target) dataSources() (list []string) {
	d, left := t.x.doc, suggestValues
	if data, err := d.Structured(); err == nil {
		for _, o := range data.Objects("") {
			if left <= 0 {
				break
			}
			for _, path := range t.propertiesWith(o, &left) {
				list = append(list, "ld="+typeOf(o)+"."+path)
			}
		}
	}
	for _, state := range d.States() {
		if v, err := state.Value(); err == nil && !strings.ContainsAny(state.Name, ";|$") {
			for _, path := range t.pathsTo(v, &left) {
				list = append(list, "state="+state.Name+path)
			}
		}
	}
	if text, err := d.text(); err == nil && looksJSON(text) {
		if v, err := d.JSON(); err == nil {
			for _, path := range t.pathsTo(v, &left) {
				list = append(list, "json="+path)
			}
		}
	}
	return list
}

// typeOf is the first type of an object, "*" for none.
func typeOf(o map[string]any) string {
	kind, _ := o["@type"].(string)
	if kinds, ok := o["@type"].([]any); ok && len(kinds) > 0 {
		kind, _ = kinds[0].(string)
	}
	if !isPlain(kind) {
		return "*"
	}
	return kind
}

// propertiesWith are the properties of an object, and those of its objects, that have what is wanted; of lists the first counts.
func (t *target) propertiesWith(o map[string]any, left *int) (paths []string) {
	for _, name := range sortedNames(o) {
		if *left--; *left < 0 || !isPlain(name) {
			continue
		}
		value := firstOf(o[name])
		if inner, ok := value.(map[string]any); ok {
			for _, below := range sortedNames(inner) {
				if isPlain(below) && t.is(jsonText(firstOf(inner[below]), true)) {
					paths = append(paths, name+"."+below)
				}
			}
		}
		if t.is(jsonText(value, true)) {
			paths = append(paths, name)
		}
	}
	return paths[:min(len(paths), maxPaths)]
}

// firstOf is the first value of a list, or the value.
func firstOf(v any) any {
	if list, ok := v.([]any); ok && len(list) > 0 {
		return list[0]
	}
	return v
}

// pathsTo are the paths to the values of JSON that have what is wanted; for a list those to all members of the lists in which the
// first stands.
func (t *target) pathsTo(v any, left *int) (paths []string) {
	hits := 0
	var walk func(v any, path []string)
	walk = func(v any, path []string) {
		if *left--; *left < 0 || hits == maxPaths {
			return
		}
		switch v := v.(type) {
		case map[string]any:
			for _, name := range sortedNames(v) {
				walk(v[name], append(path, pathName(name)))
			}
		case []any:
			for i, element := range v {
				walk(element, append(path, fmt.Sprintf("[%d]", i)))
			}
		default:
			if len(path) == 0 || !t.is(jsonText(v, false)) {
				return
			}
			if hits++; t.isList() {
				paths = append(paths, everyMember(path)...)
			} else {
				paths = append(paths, "$"+strings.Join(path, ""))
			}
		}
	}
	walk(v, nil)
	return paths
}

// everyMember are paths with the last of their indexes, and with all of them, in the form that is of all members of a list.
func everyMember(path []string) (paths []string) {
	path = slices.Clone(path)
	for i := len(path) - 1; i >= 0; i-- {
		if c := path[i][1]; '0' <= c && c <= '9' {
			path[i] = "[*]"
			if text := "$" + strings.Join(path, ""); len(paths) < 2 {
				paths = append(paths, text)
			} else {
				paths[1] = text
			}
		}
	}
	return paths
}

func pathName(name string) string {
	if isPlain(name) {
		return "." + name
	}
	return "['" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(name) + "']"
}

// isPlain reports whether a name may stand in a path as it is.
func isPlain(name string) bool {
	for i := range len(name) {
		c := name[i]
		if c != '_' && (c|0x20 < 'a' || c|0x20 > 'z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}
