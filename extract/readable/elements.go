package readable

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/seine-go/seine/internal/htmltree"
)

// How elements are written that are more than their content.

func (w *writer) code(n *html.Node, depth int) {
	text := plain(n)
	if !w.markdown || text == "" {
		w.children(n, depth)
		return
	}
	ticks := fence(text, 1)
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		text = " " + text + " "
	}
	w.sign(ticks + text + ticks)
}

// fence is a row of backticks longer than any in the text.
func fence(text string, least int) string {
	run := 0
	for _, r := range text {
		if r != '`' {
			run = 0
			continue
		}
		if run++; run >= least {
			least = run + 1
		}
	}
	return strings.Repeat("`", least)
}

func (w *writer) link(n *html.Node, depth int) {
	href := w.resolve(attr(n, "href"))
	if !w.markdown || href == "" || w.level >= maxLevel || hasBlocks(n) {
		w.children(n, depth)
		return
	}
	inner := writer{most: w.most, base: w.base, markdown: true, level: w.level + 1}
	inner.children(n, depth)
	if text := strings.TrimSpace(inner.line.String()); text != "" {
		w.blank = w.blank || startsBlank(n)
		w.sign("[" + text + "](" + href + ")")
		w.blank = inner.blank
	}
}

// resolve makes a URL of a reference that may stand in Markdown; scripts give none.
func (w *writer) resolve(ref string) string {
	ref = strings.TrimSpace(ref)
	if ref == "" {
		return ""
	}
	if u, err := w.base.Resolve(ref); err == nil && w.base.Href() != "" {
		ref = u.Href()
	}
	if lower := strings.ToLower(ref); strings.HasPrefix(lower, "javascript:") || strings.HasPrefix(lower, "data:") {
		return ""
	}
	return strings.NewReplacer("(", "%28", ")", "%29", " ", "%20", "<", "%3C", ">", "%3E", "\n", "", "\\", "%5C").Replace(ref)
}

func (w *writer) image(n *html.Node) {
	src := w.resolve(attr(n, "src"))
	if !w.markdown || src == "" {
		return
	}
	w.sign("![" + escape(strings.Join(strings.Fields(attr(n, "alt")), " "), false) + "](" + src + ")")
}

func (w *writer) pre(n *html.Node) {
	w.flush()
	var b strings.Builder
	for c := htmltree.Next(n, n); c != nil; c = htmltree.Next(c, n) {
		if c.Type == html.TextNode {
			b.WriteString(c.Data)
		}
	}
	text := strings.Trim(b.String(), "\n")
	if text == "" {
		return
	}
	if w.markdown {
		ticks := fence(text, 3)
		text = ticks + "\n" + text + "\n" + ticks
	}
	w.line.WriteString(text)
	w.flush()
}

// nested writes an element with a prefix before each of its lines.
func (w *writer) nested(prefix string, n *html.Node, depth int) {
	w.flush()
	if w.markdown {
		w.prefix = append(w.prefix, prefix)
	}
	w.children(n, depth)
	w.flush()
	if w.markdown {
		w.prefix = w.prefix[:len(w.prefix)-1]
	}
}

func (w *writer) list(n *html.Node, depth int) {
	w.flush()
	number := 1
	if start, err := strconv.Atoi(attr(n, "start")); err == nil && start >= 0 && start < 1e6 {
		number = start
	}
	for c := n.FirstChild; c != nil && !w.full(); c = c.NextSibling {
		if c.Type != html.ElementNode || isAside(c) {
			continue
		}
		marker := "- "
		if n.DataAtom == atom.Ol {
			marker = strconv.Itoa(number) + ". "
			number++
		}
		w.marker = marker
		w.prefix = append(w.prefix, strings.Repeat(" ", len(marker)))
		w.children(c, depth+1)
		w.flush()
		w.prefix = w.prefix[:len(w.prefix)-1]
		w.marker = ""
		w.tight = true
	}
	w.tight = false
}

// table writes a row on each line; in Markdown the first is the head.
func (w *writer) table(n *html.Node, depth int) {
	w.flush()
	rows := 0
	for c := htmltree.Next(n, n); c != nil && !w.full(); {
		if c.DataAtom != atom.Tr {
			c = htmltree.Next(c, n)
			continue
		}
		var cells []string
		for cell := c.FirstChild; cell != nil; cell = cell.NextSibling {
			if cell.DataAtom == atom.Td || cell.DataAtom == atom.Th {
				inner := writer{most: w.most, base: w.base, markdown: w.markdown}
				cells = append(cells, strings.Join(strings.Fields(inner.write(cell)), " "))
			}
		}
		c = htmltree.After(c, n)
		if len(cells) == 0 || depth > maxDepth/2 {
			continue
		}
		row := strings.Join(cells, "\t")
		if w.markdown {
			row = "| " + strings.Join(cells, " | ") + " |"
			if rows == 0 {
				row += "\n|" + strings.Repeat(" --- |", len(cells))
			}
		}
		w.line.WriteString(row)
		w.tight = rows > 0
		w.flush()
		rows++
	}
	w.tight = false
}
