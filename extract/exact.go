package extract

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/seine-go/seine/extract/structured"
)

// isExact reports whether an attribute is for programs, whatever the language of the page: the content of meta elements and of
// Microdata, and the value of elements that have one beside their text.
func isExact(n *html.Node, attr string) bool {
	if attr == "value" {
		return n.DataAtom == atom.Data || n.DataAtom == atom.Meter || n.DataAtom == atom.Progress
	}
	return isExactAnywhere(attr)
}

// isExactAnywhere is isExact where the element does not count.
func isExactAnywhere(attr string) bool { return attr == "content" || strings.HasPrefix(attr, "data-") }

// exact reports whether what a hit says is a number as programs write it, so that the language of the field does not count:
// 7.125 in JSON is never 7125.
func (x *run) exact(h hit, text string) bool {
	if h.kind != hitJSON && !h.exact || !structured.IsNumber(strings.TrimSpace(text)) {
		return false
	}
	if !h.ld {
		return true
	}
	text = strings.TrimSpace(text)
	if page := x.doc.read.Load(); page != nil && page.Shown(text) {
		return false
	}
	return x.data == nil || !x.data.Shown(text)
}
