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

// dataSources are sources that find a text in the structured data of a page, in its states, or in it as JSON.
func dataSources(d *Document, want string) (list []string) {
	left := suggestValues
	if data, err := d.Structured(); err == nil {
		for _, o := range data.Objects("") {
			if left <= 0 {
				break
			}
			for _, path := range propertiesWith(o, want, &left) {
				list = append(list, "ld="+typeOf(o)+"."+path)
			}
		}
	}
	for _, state := range d.States() {
		if v, err := state.Value(); err == nil && !strings.ContainsAny(state.Name, ";|$") {
			for _, path := range pathsTo(v, want, &left) {
				list = append(list, "state="+state.Name+path)
			}
		}
	}
	if text, err := d.text(); err == nil && looksJSON(text) {
		if v, err := d.JSON(); err == nil {
			for _, path := range pathsTo(v, want, &left) {
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

// propertiesWith are the properties of an object, and those of its objects, that have a text.
func propertiesWith(o map[string]any, want string, left *int) (paths []string) {
	for _, name := range sortedNames(o) {
		if *left--; *left < 0 || !isPlain(name) {
			continue
		}
		if inner, ok := o[name].(map[string]any); ok {
			for _, below := range sortedNames(inner) {
				if isPlain(below) && oneLine(jsonText(inner[below], true)) == want {
					paths = append(paths, name+"."+below)
				}
			}
		} else if oneLine(jsonText(o[name], true)) == want {
			paths = append(paths, name)
		}
	}
	return paths[:min(len(paths), maxPaths)]
}

// pathsTo are the paths to the values of JSON that have a text.
func pathsTo(v any, want string, left *int) (paths []string) {
	var walk func(v any, path string)
	walk = func(v any, path string) {
		if *left--; *left < 0 || len(paths) == maxPaths {
			return
		}
		switch v := v.(type) {
		case map[string]any:
			for _, name := range sortedNames(v) {
				walk(v[name], path+pathName(name))
			}
		case []any:
			for i, element := range v {
				walk(element, fmt.Sprintf("%s[%d]", path, i))
			}
		default:
			if oneLine(jsonText(v, false)) == want {
				paths = append(paths, path)
			}
		}
	}
	walk(v, "$")
	return slices.DeleteFunc(paths, func(path string) bool { return path == "$" })
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
