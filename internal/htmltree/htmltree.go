// Package htmltree walks the trees of golang.org/x/net/html without recursion.
//
//	for n := root; n != nil; n = htmltree.Next(n, root) {
//		…
//	}
package htmltree

import (
	"strings"

	"golang.org/x/net/html"
)

// Next is the node behind n in document order, within root; nil behind the last.
func Next(n, root *html.Node) *html.Node {
	if n.FirstChild != nil {
		return n.FirstChild
	}
	return After(n, root)
}

// After is the first node behind n that is not in n, within root.
func After(n, root *html.Node) *html.Node {
	for n != root && n.NextSibling == nil {
		n = n.Parent
	}
	if n == root {
		return nil
	}
	return n.NextSibling
}

// Text is all text in a node, as it stands.
func Text(n *html.Node) string {
	if c := n.FirstChild; c != nil && c.NextSibling == nil && c.Type == html.TextNode {
		return c.Data
	}
	var b strings.Builder
	for c := Next(n, n); c != nil; c = Next(c, n) {
		if c.Type == html.TextNode {
			b.WriteString(c.Data)
		}
	}
	return b.String()
}
