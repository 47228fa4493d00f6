package extract

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/net/html"

	"github.com/seine-go/seine/internal/htmltree"
)

// maxRendered is how many bytes of HTML @html and @outer give; more is an error.
const maxRendered = 16 << 20

// errFull ends the rendering of what is too long.
var errFull = errors.New("full")

// limitedWriter takes so many bytes.
type limitedWriter struct {
	b    strings.Builder
	left int
}

func (w *limitedWriter) Write(p []byte) (int, error) {
	n := min(len(p), w.left)
	w.b.Write(p[:n])
	if w.left -= n; n < len(p) {
		return n, errFull
	}
	return n, nil
}

// outerHTML is an element as HTML, at most so many bytes.
func outerHTML(n *html.Node, most int) string {
	w := limitedWriter{left: most}
	_ = rendererOf(n)(&w, n) // the only error is that it is full
	return w.b.String()
}

// innerHTML is what is in an element as HTML, at most so many bytes.
func innerHTML(n *html.Node, most int) string {
	w := limitedWriter{left: most}
	_ = renderChildren(&w, n, rendererOf(n))
	return w.b.String()
}

// tooLong is the error of HTML that was cut.
func (s *source) tooLong(text string) error {
	if (s.take == takeHTML || s.take == takeOuter) && len(text) > maxRendered {
		return fmt.Errorf("more than %d bytes of HTML", maxRendered)
	}
	return nil
}

// renderer writes a node as HTML.
type renderer func(w io.Writer, n *html.Node) error

// rendererOf is html.Render, or renderParts where that refuses elements of SVG that have the names of HTML's empty ones and are
// not empty.
func rendererOf(n *html.Node) renderer {
	for c := n; c != nil; c = htmltree.Next(c, n) {
		if isFilledVoid(c) {
			return renderParts
		}
	}
	return html.Render
}

func isFilledVoid(n *html.Node) bool {
	return n.FirstChild != nil && n.Type == html.ElementNode && n.Namespace != "" && isVoid[n.Data]
}

// renderParts renders an element by its tags and children.
func renderParts(w io.Writer, n *html.Node) error {
	hasElements := false
	for c := n.FirstChild; c != nil && !hasElements; c = c.NextSibling {
		hasElements = c.Type == html.ElementNode
	}
	if n.Type != html.ElementNode || !hasElements && !isFilledVoid(n) {
		return html.Render(w, n)
	}
	var b strings.Builder
	if err := html.Render(&b, &html.Node{Type: n.Type, DataAtom: n.DataAtom, Data: n.Data, Namespace: n.Namespace, Attr: n.Attr}); err != nil {
		return err
	}
	end := "</" + n.Data + ">"
	start := strings.TrimSuffix(strings.TrimSuffix(b.String(), end), "/>")
	if !strings.HasSuffix(start, ">") {
		start += ">"
	}
	if c := n.FirstChild; n.Data == "pre" && c.Type == html.TextNode && strings.HasPrefix(c.Data, "\n") {
		start += "\n"
	}
	if _, err := io.WriteString(w, start); err != nil {
		return err
	}
	if err := renderChildren(w, n, renderParts); err != nil {
		return err
	}
	_, err := io.WriteString(w, end)
	return err
}

func renderChildren(w io.Writer, n *html.Node, render renderer) error {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if err := render(w, c); err != nil {
			return err
		}
	}
	return nil
}

// isVoid has the names that html.Render takes for those of empty elements.
var isVoid = map[string]bool{
	"area": true, "base": true, "br": true, "col": true, "embed": true, "hr": true, "img": true, "input": true, "keygen": true, "link": true, "meta": true, "param": true,
	"source": true, "track": true, "wbr": true,
}
