package extract

import (
	"bytes"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// pass goes once through a page whose tree is what its tags say: every element ends with its own end tag, none closes another,
// nothing has to be moved. At the first thing that a tree builder would have to think about it stops, and the tree is built. It
// knows no mode of the tree builder's but those of the head and the body; that it finds what the tree has is tested on generated
// pages.
type pass struct {
	*simplePlan
	elements []passElement // that are open; the first stands for html, head and body
	hits     [][]passHit   // by selector
	found    int           // hits
	open     []openHit     // whose text is being read
	text     []byte        // what such hits say, one in the other

	at      mode // one of those around and in the head and the body
	hasHead bool // there is a start tag of the head
	inside  [kindCount]int
}

// passElement is an open element.
type passElement struct {
	tagName
	kind  passKind
	here  uint64 // the parts that it is
	above uint64 // the parts that it or an element around it is
	open  int    // hits that are open around it
}

// passHit is the text from start to end in pass.text, or if end is negative the value of an attribute.
type passHit struct {
	value      string
	start, end int
}

// openHit is a hit of a selector, by its number.
type openHit struct{ selector, hit int }

const (
	// maxPassDepth is how deep a page may be nested, below what the tree's parser takes.
	maxPassDepth = maxOpen - 16
	// maxPassHits bounds the elements that all selectors find.
	maxPassHits = 1 << 16
	// maxPassName is how long a tag name may be.
	maxPassName = 32
)

// run reports whether it came to the end. Each of its parts returns where it has come to, -1 for doubt.
func (p *pass) run(b []byte) bool {
	if bytes.IndexByte(b, 0) >= 0 {
		return false
	}
	for i := 0; i < len(b); {
		switch rest := b[i:]; {
		case rest[0] != '<':
			n := bytes.IndexByte(rest, '<')
			if n < 0 {
				n = len(rest)
			}
			if !p.mayHold(rest[:n]) {
				return false
			}
			p.take(rest[:n], true)
			i += n
		case len(rest) < 3:
			return false
		case class[rest[1]]&isLetter != 0:
			i = p.start(b, i)
		case rest[1] == '/' && class[rest[2]]&isLetter != 0:
			i = p.end(b, i)
		default:
			i = p.declaration(b, i)
		}
		if i < 0 {
			return false
		}
	}
	return len(p.elements) == 1
}

func (p *pass) top() *passElement { return &p.elements[len(p.elements)-1] }

// mayHold reports whether a text stays where it stands.
func (p *pass) mayHold(text []byte) bool {
	return p.at == inBody && p.top().kind != kindTable || skipSpace(text, 0) == len(text)
}

// take adds text to what open hits say.
func (p *pass) take(text []byte, decode bool) {
	if len(p.open) == 0 {
		return
	}
	text = newlines(text)
	if decode && bytes.IndexByte(text, '&') >= 0 {
		p.text = append(p.text, html.UnescapeString(string(text))...)
		return
	}
	p.text = append(p.text, text...)
}

// newlines makes newlines of what the tokenizer makes newlines of.
func newlines(text []byte) []byte {
	if bytes.IndexByte(text, '\r') < 0 {
		return text
	}
	return bytes.ReplaceAll(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), []byte("\r"), []byte("\n"))
}

// declaration passes over comments and a doctype that look as they should.
func (p *pass) declaration(b []byte, i int) int {
	const doctype = "<!doctype "
	rest := b[i:]
	if p.at == initial && len(rest) > len(doctype) && equalFold(rest[:len(doctype)], doctype) {
		n := bytes.IndexByte(rest, '>')
		if n < 0 {
			return -1
		}
		return i + n + 1
	}
	text, ok := bytes.CutPrefix(rest, []byte("<!--"))
	n := bytes.Index(text, []byte("-->"))
	if !ok || n < 0 || text[0] == '>' || bytes.HasPrefix(text, []byte("->")) || bytes.Contains(text[:n], []byte("--!>")) {
		return -1
	}
	return i + len("<!--") + n + len("-->")
}

func (p *pass) start(b []byte, i int) int {
	end := nameEnd(b[:min(len(b), i+maxPassName)], i+2)
	if end < 0 {
		return -1
	}
	name := nameOf(b[i+1 : end])
	kind := passKinds[name.atom]
	switch {
	case kind == kindRoot:
		return p.root(b, end, name.atom)
	case p.top().kind == kindSVG:
		if kind = kindDoubt; isShape[string(lower(nil, b[i+1:end]))] {
			kind = kindSVG
		}
	}
	if !p.enters(kind) || !p.fits(name.atom, kind) {
		return -1
	}
	p.line(kind, name.atom)
	around := len(p.open)
	here, next := p.match(b, end, name.atom)
	switch {
	case next < 0:
		return -1
	case kind == kindVoid || kind == kindMeta || kind == kindRule || kind == kindSVG && b[next-2] == '/':
		p.close(around)
		return next
	case kind == kindRaw || kind == kindHeadRaw:
		return p.raw(b, next, b[i+1:end], name.atom, around)
	case kind == kindPre && next < len(b) && (b[next] == '\n' || b[next] == '\r'): // the tree lacks the newline
		return -1
	}
	p.inside[kind]++
	p.elements = append(p.elements, passElement{tagName: name, kind: kind, here: here, above: p.top().above | here, open: around})
	return next
}

// root is for the start tags of html, head and body, each in its place, that are not looked for by class or id.
func (p *pass) root(b []byte, end int, name atom.Atom) int {
	classes, _ := passAttr(b, end, "class")
	id, _ := passAttr(b, end, "id")
	for k := range p.parts {
		if part := &p.parts[k]; part.tag == 0 && part.is(classes, id) {
			return -1
		}
	}
	switch {
	case name == atom.Html && p.at == initial:
		p.at = beforeHead
	case name == atom.Head && p.at < inHead:
		p.at, p.hasHead = inHead, true
	case name == atom.Body && (p.at < inHead || p.at == afterHead):
		p.at = inBody
	default:
		return -1
	}
	return tagEnd(b, end)
}

// enters goes where an element of the kind belongs, the head or the body, and reports whether it may.
func (p *pass) enters(kind passKind) bool {
	switch isOfHead := kind == kindMeta || kind == kindHeadRaw; {
	case p.at < inHead && isOfHead:
		p.at = inHead
	case p.at == inHead && !isOfHead && p.hasHead, p.at < inBody && kind == kindNoscript: // the head would end without its end tag
		return false
	case p.at < inBody && !isOfHead:
		p.at = inBody
	}
	return p.at <= inBody
}

// fits reports whether an element is put into the open one, and closes nothing.
func (p *pass) fits(name atom.Atom, kind passKind) bool {
	top := p.top()
	isPart := kind == kindCell || kind == kindTable && name != atom.Table
	if kind == kindDoubt || len(p.elements) > maxPassDepth || isPart != (top.kind == kindTable) {
		return false
	}
	switch kind {
	case kindPlain, kindVoid, kindMeta, kindRaw, kindHeadRaw, kindNoscript, kindSVG:
		return true
	case kindAnchor, kindButton:
		return p.inside[kind] == 0
	}
	if p.inside[kindParagraph] > 0 { // all others would close it
		return false
	}
	switch kind {
	case kindForm:
		return p.inside[kindForm] == 0
	case kindHeading:
		return top.kind != kindHeading
	case kindItem:
		return p.inside[kindItem] == 0 || top.atom == atom.Ul || top.atom == atom.Ol || top.atom == atom.Menu
	case kindTerm:
		return top.atom == atom.Dl
	case kindTable, kindCell:
		return p.inside[kindAnchor] == 0 && p.inside[kindButton] == 0 && standsInTable(name, top.atom)
	}
	return true
}

// standsInTable reports whether a part of a table stands where it says, so that nothing is implied.
func standsInTable(name, parent atom.Atom) bool {
	switch name {
	case atom.Thead, atom.Tbody, atom.Tfoot:
		return parent == atom.Table
	case atom.Tr:
		return parent == atom.Thead || parent == atom.Tbody || parent == atom.Tfoot
	case atom.Td, atom.Th:
		return parent == atom.Tr
	}
	return name == atom.Table
}

// raw passes over the content of an element that has no markup in it, and over its end tag.
func (p *pass) raw(b []byte, i int, name []byte, element atom.Atom, around int) int {
	for from := i; ; {
		n := bytes.Index(b[from:], []byte("</"))
		if n < 0 {
			return -1
		}
		from += n + len("</")
		end := from + len(name)
		if len(b) <= end || !bytes.EqualFold(b[from:end], name) || class[b[end]]&endsName == 0 {
			continue
		}
		content := b[i : from-len("</")]
		if element == atom.Script && bytes.Contains(content, []byte("<!--")) || element == atom.Textarea && len(content) > 0 && (content[0] == '\n' || content[0] == '\r') {
			return -1
		}
		switch own := len(p.open) > around; {
		case !isUnread(element):
			p.take(content, element == atom.Title || element == atom.Textarea)
		case own && around > 0: // what one hit says, the other does not
			return -1
		case own:
			p.take(content, false)
		}
		p.close(around)
		return tagEnd(b, end)
	}
}

func (p *pass) end(b []byte, i int) int {
	end := nameEnd(b[:min(len(b), i+maxPassName)], i+3)
	if end < 0 {
		return -1
	}
	name, top, alone := nameOf(b[i+2:end]), p.top(), len(p.elements) == 1
	switch {
	case alone && name.atom == atom.Head && p.at == inHead && p.hasHead:
		p.at = afterHead
	case alone && name.atom == atom.Body && p.at == inBody:
		p.at = afterBody
	case alone && name.atom == atom.Html && p.at == afterBody:
		p.at = afterAfterBody
	case alone || top.hash != name.hash:
		return -1
	default:
		p.close(top.open)
		p.inside[top.kind]--
		p.line(top.kind, top.atom)
		p.elements = p.elements[:len(p.elements)-1]
	}
	return tagEnd(b, end)
}

// close ends the hits that are open beyond some.
func (p *pass) close(around int) {
	for len(p.open) > around {
		h := p.open[len(p.open)-1]
		p.hits[h.selector][h.hit].end = len(p.text)
		p.open = p.open[:len(p.open)-1]
	}
}

// match finds the parts that an element is, and where its start tag ends. Attributes are read only if something else fits.
func (p *pass) match(b []byte, end int, name atom.Atom) (here uint64, next int) {
	top, may := p.top(), uint64(0)
	for k := range p.parts {
		part := &p.parts[k]
		if part.tag != 0 && part.tag != name {
			continue
		}
		around := top.above
		if part.child {
			around = top.here
		}
		if part.before < 0 || around>>part.before&1 != 0 {
			may |= 1 << k
		}
	}
	if may == 0 {
		return 0, tagEnd(b, end)
	}
	classes, _ := passAttr(b, end, "class")
	id, _ := passAttr(b, end, "id")
	for k := range p.parts {
		part := &p.parts[k]
		if may>>k&1 == 0 || !part.is(classes, id) {
			continue
		}
		here |= 1 << k
		if part.of >= 0 && !p.hit(b, end, part.of) {
			return 0, -1
		}
	}
	return here, tagEnd(b, end)
}

// passAttr returns the value of an attribute in the tag whose name ends before b[i]; of several the first.
func passAttr(b []byte, i int, wanted string) (value []byte, ok bool) {
	for {
		name, value, next, ok := attribute(b, i)
		if !ok {
			return nil, false
		}
		if len(name) == len(wanted) && equalFold(name, wanted) {
			if bytes.IndexByte(value, '&') >= 0 || bytes.IndexByte(value, '\r') >= 0 {
				value = appendDecoded(nil, newlines(value))
			}
			return value, true
		}
		i = next
	}
}

// is reports whether an element of the tag is the part by its attributes.
func (part *simplePart) is(classes, id []byte) bool {
	for _, name := range part.classes {
		if !hasWord(classes, name) {
			return false
		}
	}
	return part.id == "" || string(id) == part.id
}

func hasWord(text []byte, word string) bool {
	for i := skipSpace(text, 0); i < len(text); i = skipSpace(text, i) {
		start := i
		for i < len(text) && class[text[i]]&isSpace == 0 {
			i++
		}
		if string(text[start:i]) == word {
			return true
		}
	}
	return false
}

// hit notes an element that a selector finds, and reports whether there are not too many.
func (p *pass) hit(b []byte, end, selector int) bool {
	if p.found++; p.found > maxPassHits {
		return false
	}
	s := p.selectors[selector]
	if s.take == takeAttr {
		if value, ok := passAttr(b, end, s.attr); ok {
			p.hits[selector] = append(p.hits[selector], passHit{value: string(value), end: -1})
		}
		return true
	}
	p.open = append(p.open, openHit{selector, len(p.hits[selector])})
	p.hits[selector] = append(p.hits[selector], passHit{start: len(p.text)})
	return true
}
