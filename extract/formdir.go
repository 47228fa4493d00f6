package extract

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/text/unicode/bidi"

	"github.com/seine-go/seine/internal/htmltree"
)

// Directions of text (HTML 3.2.6.4).
const (
	leftToRight = "ltr"
	rightToLeft = "rtl"
	byContent   = "auto"
)

func dirOf(n *html.Node) string {
	switch dir := strings.ToLower(attrText(n, "dir")); dir {
	case leftToRight, rightToLeft, byContent:
		return dir
	}
	return ""
}

// direction returns the direction of a control, byContent where its value decides. What the text around it says is kept in known.
func direction(control *html.Node, kind string, known map[*html.Node]string) string {
	if dir := dirOf(control); dir != "" {
		return dir
	}
	if kind == "tel" {
		return leftToRight
	}
	for n := control.Parent; n != nil; n = n.Parent {
		dir := dirOf(n)
		if dir == "" && n.Data == "bdi" {
			dir = byContent
		}
		if dir == byContent {
			if known[n] == "" {
				known[n] = directionBelow(n)
			}
			dir = known[n]
		}
		if dir != "" {
			return dir
		}
	}
	return leftToRight
}

// directionBelow returns the direction of the first text in an element that has one.
func directionBelow(root *html.Node) string {
	for n := htmltree.Next(root, root); n != nil; {
		if n.Type == html.TextNode {
			if dir := directionOf(n.Data); dir != "" {
				return dir
			}
		}
		if n.Type == html.ElementNode && (dirOf(n) != "" || n.Data == "bdi" || n.Data == "script" || n.Data == "style" || n.Data == "textarea") {
			n = htmltree.After(n, root)
			continue
		}
		n = htmltree.Next(n, root)
	}
	return leftToRight
}

// directionOf returns the direction of the first character that has one, "" without any.
func directionOf(s string) string {
	for _, r := range s {
		switch p, _ := bidi.LookupString(string(r)); p.Class() {
		case bidi.L:
			return leftToRight
		case bidi.R, bidi.AL:
			return rightToLeft
		}
	}
	return ""
}
