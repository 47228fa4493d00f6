package readable

import (
	"bytes"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/seine-go/seine/internal/htmltree"
	"github.com/seine-go/seine/internal/weburl"
)

// maxDepth is how deep elements are followed; the text of deeper ones is left out. The parser of x/net/html gives no more.
const maxDepth = 600

// maxLevel is how many signs and links are written in each other; those deeper are left out, and their text is not.
const maxLevel = 8

// writer writes an element as text or as Markdown.
type writer struct {
	most     int
	base     weburl.URL
	aside    asides
	markdown bool
	cut      bool

	b      strings.Builder
	line   bytes.Buffer // the block that is being written, blanks run together
	start  int          // where in it the last line begins
	blank  bool         // a blank is due
	prefix []string     // what stands before each line: of quotes and lists
	marker string       // of the list item that begins
	tight  bool         // the next block follows without an empty line
	before []string     // prefix of the block before
	level  int          // signs and links that this stands in
	flat   bool         // all is written on one line: headings, cells, links round blocks
	cell   bool         // it is that of a cell
}

// inner is a writer for what stands in signs, links, headings and cells.
func (w *writer) inner(flat bool) *writer {
	return &writer{most: w.most, base: w.base, aside: w.aside, markdown: w.markdown, level: w.level + 1, flat: w.flat || flat, cell: w.cell}
}

// oneLine is what an element has, on one line.
func (w *writer) oneLine(n *html.Node, depth int) string {
	in := w.inner(true)
	in.level, in.cell = w.level, w.cell || n.DataAtom == atom.Td || n.DataAtom == atom.Th
	in.children(n, depth)
	return strings.TrimSpace(in.line.String())
}

func (w *writer) write(n *html.Node) string {
	w.children(n, 0)
	w.flush()
	s := strings.TrimSpace(w.b.String())
	if w.most >= 0 && len(s) > w.most {
		w.cut = true
		s = strings.ToValidUTF8(s[:w.most], "")
	}
	return s
}

// full reports whether nothing more need be written.
func (w *writer) full() bool { return w.most >= 0 && w.b.Len()+w.line.Len() > w.most }

func (w *writer) children(n *html.Node, depth int) {
	for c := n.FirstChild; c != nil && depth < maxDepth && !w.full(); c = c.NextSibling {
		w.node(c, depth+1)
	}
}

func (w *writer) node(n *html.Node, depth int) {
	switch {
	case n.Type == html.TextNode:
		w.text(n.Data)
	case n.Type != html.ElementNode || w.aside.has(n):
	default:
		w.element(n, depth)
	}
}

func (w *writer) element(n *html.Node, depth int) {
	switch n.DataAtom {
	case atom.Br:
		w.breakLine()
	case atom.Em, atom.I:
		w.around("*", n, depth)
	case atom.Strong, atom.B:
		w.around("**", n, depth)
	case atom.Code, atom.Kbd, atom.Samp:
		w.code(n, depth)
	case atom.A:
		w.link(n, depth)
	case atom.Img:
		w.image(n)
	default:
		switch {
		case isInline(n.DataAtom):
			w.children(n, depth)
		case w.flat:
			w.blank = true
			w.children(n, depth)
			w.blank = true
		default:
			w.block(n, depth)
		}
	}
}

func (w *writer) block(n *html.Node, depth int) {
	w.flush()
	switch n.DataAtom {
	case atom.Hr:
		if w.markdown {
			w.sign("---")
		}
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		w.heading(n, depth)
	case atom.Pre:
		w.pre(n)
	case atom.Blockquote:
		w.nested("> ", n, depth)
	case atom.Ul, atom.Ol, atom.Menu:
		w.list(n, depth)
	case atom.Table:
		w.table(n, depth)
	default:
		w.children(n, depth)
	}
	w.flush()
}

func isInline(a atom.Atom) bool {
	switch a {
	case atom.Span, atom.Abbr, atom.Cite, atom.Q, atom.Small, atom.Sub, atom.Sup, atom.Time, atom.Mark, atom.U, atom.S, atom.Del, atom.Ins,
		atom.Font, atom.Label, atom.Dfn, atom.Var, atom.Bdi, atom.Bdo, atom.Data, atom.Wbr, atom.Picture, atom.Source, atom.Ruby, atom.Rt, atom.Rp:
		return true
	}
	return false
}

// text writes a text, blanks run together, and its signs escaped.
func (w *writer) text(s string) {
	for i, word := range strings.FieldsFunc(s, isSpace) {
		if i > 0 || isSpace(rune(s[0])) {
			w.blank = true
		}
		w.space()
		if w.markdown {
			before := w.line.Bytes()[w.start:]
			word = escape(word, string(before[:min(len(before), maxNumber+1)]))
		}
		w.line.WriteString(word)
	}
	if s != "" && isSpace(rune(s[len(s)-1])) {
		w.blank = true
	}
}

func isSpace(r rune) bool { return r == ' ' || r == '\n' || r == '\t' || r == '\r' || r == '\f' }

// space writes the blank that is due, unless the line begins.
func (w *writer) space() {
	if s := w.line.Bytes(); w.blank && len(s) > 0 && s[len(s)-1] != '\n' && s[len(s)-1] != ' ' {
		w.line.WriteByte(' ')
	}
	w.blank = false
}

// maxNumber is how many digits a number before a list item may have (CommonMark 5.2).
const maxNumber = 9

// reference matches what Markdown takes for a character reference.
var reference = regexp.MustCompile(`^&(#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]*);`)

// escape puts backslashes before what Markdown would take for its own; before is what stands before the word on its line.
func escape(word, before string) string {
	var b strings.Builder
	for i, r := range word {
		switch {
		case strings.ContainsRune("\\`*_[]<>|~", r),
			r == '&' && reference.MatchString(word[i:]),
			before == "" && i == 0 && strings.ContainsRune("#+-=", r),
			(r == '.' || r == ')') && before+word[:i] != "" && len(before)+i <= maxNumber && strings.Trim(before+word[:i], "0123456789") == "",
			r == '#' && strings.Trim(word, "#") == "": // at the end of a heading
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// sign writes what is Markdown's. A "!" before a link would make an image of it.
func (w *writer) sign(s string) {
	w.space()
	if line := w.line.Bytes(); s[0] == '[' && bytes.HasSuffix(line, []byte("!")) {
		w.line.Truncate(len(line) - 1)
		w.line.WriteString("\\!")
	}
	w.line.WriteString(s)
}

func (w *writer) breakLine() {
	if w.flat {
		w.blank = true
		return
	}
	if w.line.Len() > 0 {
		if w.markdown {
			w.line.WriteByte('\\')
		}
		w.line.WriteByte('\n')
		w.start = w.line.Len()
	}
	w.blank = false
}

// around writes what an element has between signs; nothing of them where it has nothing.
func (w *writer) around(sign string, n *html.Node, depth int) {
	if !w.markdown || w.level >= maxLevel || !w.flat && hasBlocks(n) {
		w.children(n, depth)
		return
	}
	inner := w.inner(false)
	inner.children(n, depth)
	text := strings.TrimSpace(inner.line.String())
	if text == "" {
		return
	}
	w.blank = w.blank || startsBlank(n)
	if !w.binds(n, text, inner.blank) {
		sign = ""
	}
	w.sign(sign + text + sign)
	w.blank = inner.blank
}

// binds reports whether signs round a text are taken for signs (CommonMark 6.2): not between a letter and punctuation.
func (w *writer) binds(n *html.Node, text string, blankBehind bool) bool {
	first, _ := utf8.DecodeRuneInString(text)
	last, _ := utf8.DecodeLastRuneInString(text)
	before, after := ' ', ' '
	if !w.blank && w.line.Len() > w.start {
		before, _ = utf8.DecodeLastRune(w.line.Bytes())
	}
	if next := n.NextSibling; !blankBehind && next != nil && next.Type == html.TextNode && next.Data != "" {
		after, _ = utf8.DecodeRuneInString(next.Data)
	}
	return !(isLetter(before) && !isLetter(first) || isLetter(after) && !isLetter(last))
}

func isLetter(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

func startsBlank(n *html.Node) bool {
	c := n.FirstChild
	return c != nil && c.Type == html.TextNode && c.Data != "" && isSpace(rune(c.Data[0]))
}

// hasBlocks reports whether an element has children that are written as blocks.
func hasBlocks(n *html.Node) bool {
	for c := htmltree.Next(n, n); c != nil; c = htmltree.Next(c, n) {
		if c.Type == html.ElementNode && !isInline(c.DataAtom) {
			switch c.DataAtom {
			case atom.A, atom.Em, atom.I, atom.Strong, atom.B, atom.Code, atom.Img, atom.Kbd, atom.Samp:
			default:
				return true
			}
		}
	}
	return false
}

// flush ends a block: it gets its prefixes, and an empty line before it.
func (w *writer) flush() {
	text := strings.TrimRight(w.line.String(), " \n")
	if w.markdown {
		text = strings.TrimRight(strings.TrimSuffix(text, "\\\n"), " ")
	}
	w.line.Reset()
	w.start, w.blank = 0, false
	if strings.Trim(text, "\\\n ") == "" {
		return
	}
	outer := strings.Join(w.prefix, "")
	if w.b.Len() > 0 {
		w.b.WriteByte('\n')
		if !w.tight {
			w.b.WriteString(strings.TrimRight(w.shared(), " ") + "\n")
		}
	}
	w.tight = false
	w.before = append(w.before[:0], w.prefix...)
	for i, line := range strings.Split(text, "\n") {
		lead := outer
		if i > 0 {
			w.b.WriteByte('\n')
		} else if w.marker != "" {
			lead = strings.TrimSuffix(outer, strings.Repeat(" ", len(w.marker))) + w.marker
			w.marker = ""
		}
		w.b.WriteString(lead + line)
	}
}

// shared is the prefix that a block has in common with the one before.
func (w *writer) shared() string {
	n := 0
	for n < len(w.before) && n < len(w.prefix) && w.before[n] == w.prefix[n] {
		n++
	}
	return strings.Join(w.prefix[:n], "")
}
