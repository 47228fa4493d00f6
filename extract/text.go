package extract

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// elementText is the text in a node as people read it: without that of scripts, styles and templates in it, and with a newline
// where an element begins a line and nothing else parts what stands before from what stands behind. Of a script itself it is
// what it says.
func elementText(n *html.Node) string {
	if c := n.FirstChild; c != nil && c.NextSibling == nil && c.Type == html.TextNode {
		return c.Data
	}
	var b strings.Builder
	last, broken := byte(0), 0 // the last byte, and how long the text was with the last newline that was put in
	line := func(e *html.Node) {
		if b.Len() > 0 && !isBlank(last) && beginsLine(e) {
			last = '\n'
			b.WriteByte(last)
			broken = b.Len()
		}
	}
	for c := n.FirstChild; c != nil; {
		switch c.Type {
		case html.TextNode:
			if c.Data != "" {
				b.WriteString(c.Data)
				last = c.Data[len(c.Data)-1]
			}
		case html.ElementNode:
			line(c)
			if c.FirstChild != nil && !isUnread(c.DataAtom) {
				c = c.FirstChild
				continue
			}
		}
		for c != n && c.NextSibling == nil {
			if c = c.Parent; c != n {
				line(c)
			}
		}
		if c == n {
			break
		}
		c = c.NextSibling
	}
	text := b.String()
	if broken == len(text) && broken > 0 {
		text = text[:broken-1]
	}
	return text
}

// ownText is the text of a node without that of its elements, with a newline where one of them begins a line, as in elementText.
func ownText(n *html.Node) string {
	if c := n.FirstChild; c != nil && c.NextSibling == nil && c.Type == html.TextNode {
		return c.Data
	}
	var b strings.Builder
	last, broken := byte(' '), false // the last byte, and whether a line ends before what comes
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch {
		case c.Type == html.TextNode && c.Data != "":
			if broken {
				b.WriteByte('\n')
			}
			b.WriteString(c.Data)
			last, broken = c.Data[len(c.Data)-1], false
		case c.Type == html.ElementNode && beginsLine(c):
			broken = !isBlank(last)
		}
	}
	return b.String()
}

// isUnread reports whether nobody reads what is in an element.
func isUnread(name atom.Atom) bool {
	return name == atom.Script || name == atom.Style || name == atom.Template
}

func isBlank(c byte) bool { return class[c]&isSpace != 0 }

// beginsLine reports whether an element stands on lines of its own, or breaks one.
func beginsLine(n *html.Node) bool {
	return n.Namespace == "" && (passKinds[n.DataAtom].beginsLine() || n.DataAtom == atom.Br || n.DataAtom == atom.Option || n.DataAtom == atom.Optgroup || n.DataAtom == atom.Caption)
}

// line has a mark put into the text where an element begins a line, as in elementText: lineMark, which no page has in it.
func (p *pass) line(kind passKind, name atom.Atom) {
	if n := len(p.text); len(p.open) > 0 && n > 0 && (kind.beginsLine() || name == atom.Br) && p.text[n-1] != lineMark && !isBlank(p.text[n-1]) {
		p.text = append(p.text, lineMark)
	}
}

const lineMark = 0
