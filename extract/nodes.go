package extract

import (
	"encoding/json"
	"fmt"
	"strings"

	"golang.org/x/net/html"

	"github.com/seine-go/seine/extract/structured"
)

func nodeAttr(n *html.Node, name string) (string, bool) {
	for i := range n.Attr {
		if a := &n.Attr[i]; a.Key == name && a.Namespace == "" {
			return a.Val, true
		}
	}
	return "", false
}

// takenAttr is nodeAttr for names in lower case, and with prefixes, as sources have them: in SVG there are viewBox and xlink:href.
func takenAttr(n *html.Node, name string) (string, bool) {
	if n.Namespace == "" {
		return nodeAttr(n, name)
	}
	for i := range n.Attr {
		a := &n.Attr[i]
		local, ok := name, true
		if a.Namespace != "" {
			local, ok = strings.CutPrefix(name, a.Namespace+":")
		}
		if ok && strings.EqualFold(a.Key, local) {
			return a.Val, true
		}
	}
	return "", false
}

func topOf(n *html.Node) *html.Node {
	for n.Parent != nil {
		n = n.Parent
	}
	return n
}

// jsonText is what a value says as a text: a list or object as JSON, of structured data its name.
func jsonText(v any, ld bool) string {
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case bool:
		return fmt.Sprint(v)
	case nil:
		return ""
	}
	if ld {
		return structured.Text(v)
	}
	text, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(text)
}

// isNameless reports whether a hit is an object of structured data that says nothing as a text, such as a reference to what the
// page has not.
func (h hit) isNameless() bool {
	if _, ok := h.json.(map[string]any); !ok || !h.ld {
		return false
	}
	return structured.Text(h.json) == ""
}
