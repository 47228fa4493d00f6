package readable

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/seine-go/seine/internal/htmltree"
)

// How elements are written that are more than their content.

func (w *writer) heading(n *html.Node, depth int) {
	if text := w.oneLine(n, depth); text != "" && w.markdown {
		w.line.WriteString(strings.Repeat("#", int(n.Data[1]-'0')) + " " + text)
	} else {
		w.line.WriteString(text)
	}
}

func (w *writer) code(n *html.Node, depth int) {
	if !w.markdown { // the text of code in code would be gathered again for each
		w.children(n, depth)
		return
	}
	text := plain(n)
	if text == "" {
		w.children(n, depth)
		return
	}
	if w.cell {
		text = strings.ReplaceAll(text, "|", `\|`)
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
	if !w.markdown || href == "" || w.level >= maxLevel {
		w.children(n, depth)
		return
	}
	if !w.flat && hasBlocks(n) {
		w.card(n, href, depth)
		return
	}
	inner := w.inner(false)
	inner.children(n, depth)
	if text := strings.TrimSpace(inner.line.String()); text != "" {
		w.blank = w.blank || startsBlank(n)
		w.sign("[" + text + "](" + href + ")")
		w.blank = inner.blank
	}
}

// maxCard is how long the text of a link round blocks is that is written on one line, in bytes.
const maxCard = 300

// card writes a link that has blocks in it: on one line, or, when they are long, behind them.
func (w *writer) card(n *html.Node, href string, depth int) {
	w.flush()
	in := w.inner(true)
	in.most = maxCard
	in.children(n, depth)
	text := strings.TrimSpace(in.line.String())
	switch {
	case text == "":
		return
	case len(text) <= maxCard:
		w.sign("[" + text + "](" + href + ")")
	default:
		w.children(n, depth)
		w.flush()
		w.sign("[" + escape(href, "") + "](" + href + ")")
	}
	w.flush()
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
	if lower := strings.ToLower(ref); strings.HasPrefix(lower, "javascript:") || strings.HasPrefix(lower, "vbscript:") || strings.HasPrefix(lower, "data:") {
		return ""
	}
	return strings.NewReplacer("(", "%28", ")", "%29", " ", "%20", "<", "%3C", ">", "%3E", "\n", "", "\\", "%5C", "|", "%7C").Replace(ref)
}

func (w *writer) image(n *html.Node) {
	src := w.resolve(imageOf(n))
	if !w.markdown || src == "" {
		return
	}
	w.sign("![" + escape(strings.Join(strings.Fields(attr(n, "alt")), " "), "x") + "](" + src + ")")
}

// imageOf is what an image shows in the end: pages that load it late have it elsewhere than in src.
func imageOf(n *html.Node) string {
	for _, name := range [...]string{"data-src", "data-original", "data-lazy-src", "src"} {
		if src := strings.TrimSpace(attr(n, name)); src != "" && !strings.HasPrefix(strings.ToLower(src), "data:") {
			return src
		}
	}
	for _, name := range [...]string{"data-srcset", "srcset"} {
		if urls := strings.Fields(attr(n, name)); len(urls) > 0 {
			return strings.TrimRight(urls[0], ",")
		}
	}
	return ""
}

func (w *writer) pre(n *html.Node) {
	w.flush()
	var b strings.Builder
	for c := htmltree.Next(n, n); c != nil; c = htmltree.Next(c, n) {
		switch {
		case c.Type == html.TextNode:
			b.WriteString(c.Data)
		case c.DataAtom == atom.Br:
			b.WriteByte('\n')
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
		if c.Type != html.ElementNode || w.aside.has(c) {
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

// table writes a row on each line; in Markdown the first is the head, which is as wide as the widest, since cells beyond it
// would be lost. A caption stands before it.
func (w *writer) table(n *html.Node, depth int) {
	rows := w.rows(n, depth)
	width := 0
	for _, cells := range rows {
		width = max(width, len(cells))
	}
	for i, cells := range rows {
		row := strings.Join(cells, "\t")
		if w.markdown {
			row = "| " + strings.Join(cells, " | ") + " |"
			if i == 0 {
				row += strings.Repeat(" |", width-len(cells)) + "\n|" + strings.Repeat(" --- |", width)
			}
		}
		w.line.WriteString(row)
		w.tight = i > 0
		w.flush()
	}
	w.tight = false
}

// rows writes the caption of a table and returns its cells.
func (w *writer) rows(n *html.Node, depth int) (rows [][]string) {
	size := 0
	for c := htmltree.Next(n, n); c != nil && (w.most < 0 || size <= w.most) && depth <= maxDepth/2; {
		switch {
		case c.Type == html.ElementNode && w.aside.has(c):
		case c.DataAtom == atom.Caption:
			w.line.WriteString(w.oneLine(c, depth))
			w.flush()
		case c.DataAtom == atom.Tr:
			var cells []string
			for cell := c.FirstChild; cell != nil; cell = cell.NextSibling {
				if (cell.DataAtom == atom.Td || cell.DataAtom == atom.Th) && !w.aside.has(cell) {
					cells = append(cells, w.oneLine(cell, depth))
					size += len(cells[len(cells)-1]) + len(" | ")
				}
			}
			if len(cells) > 0 {
				rows = append(rows, cells)
			}
		default:
			c = htmltree.Next(c, n)
			continue
		}
		c = htmltree.After(c, n)
	}
	return rows
}
