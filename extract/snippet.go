package extract

import (
	"encoding/json"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"github.com/seine-go/seine/extract/css"
)

const (
	// snippetSteps is how many nodes are looked at for a snippet.
	snippetSteps = 1 << 14
	// snippetNames is how many members of an object, and elements of a list, a snippet may show.
	snippetNames = 16
)

// snippet shows where a field that has no value was looked for: the nearest element that a part of its selector finds, or
// the place itself.
func (x *run) snippet(f *fieldPlan, at place) string {
	if at.isRaw {
		return clip(string(appendBrief(nil, at.json, 4*maxSnippet)))
	}
	node := at.node
	for _, src := range f.sources {
		if src.kind != fromCSS || src.css == nil {
			continue
		}
		root := node
		if root == nil {
			if root, _ = x.doc.Tree(); root == nil {
				return ""
			}
		}
		if found := x.nearest(src.css.String(), root); found != nil {
			return clip(outerHTML(found, 4*maxSnippet))
		}
	}
	if node != nil {
		return clip(outerHTML(node, 4*maxSnippet))
	}
	text, _ := x.doc.text()
	return clip(string(text[:min(len(text), 4*maxSnippet)]))
}

// nearest finds what a selector finds whose last parts are left out, as few as can be.
func (x *run) nearest(selector string, root *html.Node) *html.Node {
	steps := min(snippetSteps, x.steps)
	defer func(before int) { x.steps -= before - steps }(steps)
	for range 16 {
		i := strings.LastIndexAny(selector, " >+~")
		if i <= 0 || steps < 0 {
			return nil
		}
		selector = strings.TrimRight(selector[:i], " >+~")
		if s, err := css.Compile(selector); err == nil {
			if x.nodes = s.AppendSelectWithin(x.nodes[:0], root, &steps); len(x.nodes) > 0 {
				return x.nodes[0]
			}
		}
	}
	return nil
}

// appendBrief appends the beginning of a value as JSON, which takes no longer than what is written of it; of objects the first
// names.
func appendBrief(b []byte, v any, most int) []byte {
	switch v := v.(type) {
	case map[string]any:
		b = append(b, '{')
		for i, name := range firstNames(v) {
			if i > 0 {
				b = append(b, ',')
			}
			if len(b) >= most {
				break
			}
			b = append(appendBrief(b, name, most), ':')
			b = appendBrief(b, v[name], most)
		}
		return append(b, '}')
	case []any:
		b = append(b, '[')
		for i, element := range v[:min(len(v), snippetNames)] {
			if i > 0 {
				b = append(b, ',')
			}
			if len(b) >= most {
				break
			}
			b = appendBrief(b, element, most)
		}
		return append(b, ']')
	case string:
		text, _ := json.Marshal(strings.ToValidUTF8(v[:min(len(v), most)], ""))
		return append(b, text...)
	}
	text, _ := json.Marshal(v)
	return append(b, text[:min(len(text), most)]...)
}

// firstNames are the first names of an object in their order, without the others being sorted.
func firstNames(o map[string]any) []string {
	first := make([]string, 0, snippetNames+1)
	for name := range o {
		i, _ := slices.BinarySearch(first, name)
		if i < snippetNames {
			first = slices.Insert(first, i, name)
			first = first[:min(len(first), snippetNames)]
		}
	}
	return first
}

// clip shortens a text to the length of a snippet.
func clip(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > maxSnippet {
		s = strings.ToValidUTF8(s[:maxSnippet-3], "") + "…"
	}
	return s
}
