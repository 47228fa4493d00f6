package extract

import (
	"bytes"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// This file is how the scanner feeds its builder, when it has one.

// buildStart is for the start tag of name at b[start]; the name ends before b[i].
func (s *scanner) buildStart(b, name []byte, start, i int) int {
	end := s.attr.read(b, i)
	if end < 0 {
		return -1
	}
	t := token{
		kind: startToken, tagName: s.buildName(name),
		selfClosing: b[end-2] == '/' && !s.attr.slashInValue,
		hidden:      equalFold(s.value(&s.attr, attrType), "hidden"),
		font:        s.attr.has(attrFont),
	}
	if encoding := s.value(&s.attr, attrEncoding); encoding != nil {
		t.html = equalFold(encoding, "text/html") || equalFold(encoding, "application/xhtml+xml")
	}
	if isFormatting(t.atom) {
		t.attrs = attributesHash(b, i)
	}
	if s.filter.drops(&t, s.builder, b, start, end) {
		return end
	}
	s.builder.process(t)
	if s.enough() {
		return end
	}
	if s.forms != nil && s.builder.kept && s.builder.space == inHTML {
		s.forms.start(s.builder, t.atom, i)
	}
	id := lookupTag(name)
	svg := s.builder.space == inSVG && id == tagA
	kept := s.builder.kept && (s.builder.space == inHTML || svg) || id == tagFrame && s.frameset
	if kept && s.filter == nil {
		s.element(id, &s.attr, svg)
	}
	if !s.builder.markup {
		s.enterText(id)
	}
	return end
}

// buildEnd is for the end tag b[start:end] of name.
func (s *scanner) buildEnd(b, name []byte, start, end int) {
	t := token{kind: endToken, tagName: s.buildName(name)}
	if !s.filter.drops(&t, s.builder, b, start, end) {
		s.builder.process(t)
		s.enough()
	}
}

// enough stops a scan that is to tell whether the page is too deep or too large, once it is.
func (s *scanner) enough() bool {
	if s.filter == nil || !s.filter.check || !s.builder.over() {
		return false
	}
	s.doubt()
	return true
}

func (s *scanner) buildName(name []byte) tagName {
	n := nameOf(name)
	if s.builder.isForeign() || n.atom == atom.Svg || n.atom == atom.Math {
		n.fold = foldHash(lower(nil, name))
	}
	return n
}

// attributesHash hashes the attributes of the tag whose name ends before b[i], so that tags with equal ones, in any
// order, have one hash.
func attributesHash(b []byte, i int) (sum uint64) {
	seen := map[uint64]bool{}
	for {
		name, value, next, ok := attribute(b, i)
		if !ok {
			return sum
		}
		i = next
		var buf [32]byte
		h := hashOf(fnvStart, lower(buf[:0], name))
		if seen[h] {
			continue
		}
		seen[h] = true
		sum += hashOf(h*fnvPrime, normalized(value))
	}
}

// normalized gives an attribute value as a tree has it.
func normalized(value []byte) []byte {
	if !bytes.ContainsAny(value, "\r&\x00") {
		return value
	}
	value = bytes.ReplaceAll(value, []byte("\r\n"), []byte("\n"))
	value = bytes.ReplaceAll(value, []byte("\r"), []byte("\n"))
	return appendDecoded(nil, value)
}

// text takes text between tags.
func (s *scanner) text(text []byte) {
	if s.builder == nil || len(text) == 0 {
		return
	}
	t := token{kind: textToken}
	for i := 0; i < len(text) && !t.other; i++ { // behind what is no whitespace nothing counts
		switch c := text[i]; {
		case class[c]&isSpace != 0:
			t.blank = true
		case c == 0:
			t.nul = true
		case c == '&':
			t.other = !isBlankReference(text[i:])
			if !t.other {
				t.blank = true
				i += referenceLen(text[i:]) - 1
			}
		default:
			t.other = true
		}
	}
	t.newline = string(text) == "\n" || string(text) == "\r" || string(text) == "\r\n"
	s.builder.process(t)
}

// isBlankReference says whether text starts with a reference to whitespace.
func isBlankReference(text []byte) bool {
	ref := string(text[:referenceLen(text)])
	c := html.UnescapeString(ref)
	return c != ref && len(c) == 1 && class[c[0]]&isSpace != 0
}

// section takes what stands in a CDATA section; of other declarations it takes nothing.
func (s *scanner) section(text []byte) {
	if s.builder == nil || s.state != inCDATA || len(text) == 0 {
		return
	}
	t := token{kind: textToken}
	t.blank = bytes.ContainsAny(text, " \t\n\r\f")
	t.other = len(bytes.Trim(text, " \t\n\r\f")) > 0
	s.builder.process(t)
}

// comments takes a comment.
func (s *scanner) comments() {
	if s.builder != nil {
		s.builder.comment()
	}
}

// declared takes what starts with "<!" and is no comment: a doctype, or a comment after all.
func (s *scanner) declared(b []byte) {
	const doctype = "<!doctype"
	if s.builder == nil {
		return
	}
	if len(b) < len(doctype) || !equalFold(b[:len(doctype)], doctype) {
		s.builder.comment()
		return
	}
	if end := bytes.IndexByte(b, '>'); end >= 0 {
		b = b[:end]
	}
	s.builder.doctype(isQuirks(b[:min(len(b), maxDoctype)]))
}

// maxDoctype is how many bytes of a doctype are read.
const maxDoctype = 1 << 10

// isQuirks says whether a doctype, which ends before its ">", puts a page into quirks mode (WHATWG HTML 13.2.6.4.1): then
// a table does not close a paragraph.
func isQuirks(doctype []byte) bool {
	probe := append(bytes.Clone(doctype), "><p><table>"...)
	root, err := html.Parse(bytes.NewReader(probe))
	if err != nil {
		return false
	}
	for n := range root.Descendants() {
		if n.DataAtom == atom.Table {
			return n.Parent.DataAtom == atom.P
		}
	}
	return false
}
