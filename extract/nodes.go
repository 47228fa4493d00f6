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

func topOf(n *html.Node) *html.Node {
	for n.Parent != nil {
		n = n.Parent
	}
	return n
}

// ownText is the text of a node without that of its elements.
func ownText(n *html.Node) string {
	if c := n.FirstChild; c != nil && c.NextSibling == nil && c.Type == html.TextNode {
		return c.Data
	}
	var b strings.Builder
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type == html.TextNode {
			b.WriteString(c.Data)
		}
	}
	return b.String()
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
