package extract

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html/atom"
)

// builder follows the construction of a tree without building it: it keeps the stack of open elements and the list of
// active formatting elements (WHATWG HTML 13.2.4), which decide what a tag means, and no nodes. It takes the tokens of
// golang.org/x/net/html and does what that package does with them, framesets apart, which it ignores.
//
// The work for one token is bounded by maxOpen.
type builder struct {
	mode       mode
	open       []element    // stack of open elements
	formatting []formatting // list of active formatting elements
	templates  []mode       // stack of template insertion modes
	head, form uint32       // ids of the elements; zero: none
	lastID     uint32
	clones     int // how often a formatting element was opened again
	overflows  int // how often an element was one too many
	quirks     bool
	inText     bool   // in the text mode: what comes is the end tag of a raw text element
	empty      uint32 // id of a pre that has nothing in it yet

	tok     token
	implied int  // how many tokens that are not in the page are in work
	kept    bool // the start tag of the page has made an element
	space   space
	markup  bool // the content of the element is markup, whatever its name says
}

// maxOpen is how many elements x/net/html lets be open. Elements beyond are taken as closed at once.
const maxOpen = 512

// maxSteps bounds how often one token is looked at again.
const maxSteps = 2 * maxOpen

// space is a namespace.
type space uint8

const (
	inHTML space = iota
	inSVG
	inMath
)

// element is an open element.
type element struct {
	tagName
	id      uint32
	space   space
	special bool // WHATWG HTML 13.2.4.2
	html    bool // HTML integration point
	text    bool // MathML text integration point
	attrs   uint64
}

// formatting is an entry of the list of active formatting elements: an element, or a marker, whose id is zero.
type formatting struct{ element }

// tagName is a name in lower case. Names are equal when their hashes are.
type tagName struct {
	atom atom.Atom // zero for names that HTML does not know
	hash uint64
	fold uint64 // of foreign elements: the name without regard to case in all of Unicode
}

type tokenKind uint8

const (
	startToken tokenKind = iota
	endToken
	textToken
)

// token is what the builder has to know of a token.
type token struct {
	kind tokenKind
	tagName
	attrs       uint64 // equal for equal attributes: formatting elements
	selfClosing bool
	hidden      bool // type=hidden
	font        bool // one of color, face, size
	html        bool // encoding=text/html, or XHTML

	blank, nul, other bool // text: what it holds: whitespace, NUL, other
	newline           bool // text: it is one newline
}

// FNV-1a, 64 bits.
const (
	fnvStart = 14695981039346656037
	fnvPrime = 1099511628211
)

// hashOf hashes bytes behind what h is the hash of.
func hashOf[T string | []byte](h uint64, text T) uint64 {
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * fnvPrime
	}
	return h
}

func nameOf(name []byte) tagName {
	var buf [32]byte
	low := lower(buf[:0], name)
	if bytes.IndexByte(low, 0) >= 0 {
		low = bytes.ReplaceAll(low, []byte{0}, []byte("\uFFFD")) // as the tokenizer does
	}
	if a := atom.Lookup(low); a != 0 {
		return tagName{atom: a, hash: uint64(a)}
	}
	return tagName{hash: hashOf(fnvStart, low)}
}

// foldHash hashes a name so that names that strings.EqualFold takes for equal have one hash.
func foldHash(name []byte) uint64 {
	h := uint64(fnvStart)
	for len(name) > 0 {
		r, size := utf8.DecodeRune(name)
		name = name[size:]
		if r == 0 {
			r = utf8.RuneError
		}
		least := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		h = (h ^ uint64(least)) * fnvPrime
	}
	return h
}

func atomName(a atom.Atom) tagName { return tagName{atom: a, hash: uint64(a)} }

// isForeign says whether the current node is foreign.
func (b *builder) isForeign() bool { return b.top().space != inHTML }

// process takes a token of the page.
func (b *builder) process(t token) {
	b.tok, b.kept, b.markup = t, false, false
	if b.inText {
		b.inText = t.kind != endToken
		return
	}
	b.dispatch()
	if t.kind == textToken {
		b.empty = 0
	}
}

// comment takes a comment.
func (b *builder) comment() { b.empty = 0 }

// doctype takes a doctype that makes the page one of quirks mode, or not.
func (b *builder) doctype(quirks bool) {
	if b.mode == initial {
		b.quirks, b.mode = quirks, beforeHTML
	}
}

// imply takes a token that is not in the page.
func (b *builder) imply(kind tokenKind, a atom.Atom) {
	tok := b.tok
	b.implied++
	b.tok = token{kind: kind, tagName: atomName(a)}
	b.dispatch()
	b.implied--
	b.tok = tok
}

func (b *builder) dispatch() {
	for range maxSteps {
		done := false
		if b.inForeign() {
			done = b.foreign()
		} else {
			done = b.step()
		}
		if done {
			return
		}
	}
}

// insert opens an element for the token.
func (b *builder) insert(s space) element {
	b.empty = 0
	e := element{tagName: b.tok.tagName, space: s, attrs: b.tok.attrs}
	switch s {
	case inHTML:
		e.special = isSpecial(e.atom)
	case inSVG:
		e.html = e.atom == atom.Desc || e.atom == atom.Title || e.atom == atom.Foreignobject
		e.special = e.html
	case inMath:
		switch e.atom {
		case atom.Mi, atom.Mo, atom.Mn, atom.Ms, atom.Mtext:
			e.text, e.special = true, true
		case atom.AnnotationXml:
			e.html, e.special = b.tok.html, true
		}
	}
	if b.implied == 0 {
		b.kept, b.space = true, s
	}
	return b.push(e)
}

// push opens an element. Without an id it is given one.
func (b *builder) push(e element) element {
	if e.id == 0 {
		b.lastID++
		e.id = b.lastID
	}
	if len(b.open) < maxOpen {
		b.open = append(b.open, e)
	} else {
		b.overflows++
	}
	return e
}

// insertRaw opens a raw text element. Nothing but its end tag can follow, so that it need not stay open.
func (b *builder) insertRaw() {
	b.insertVoid()
	b.inText = true
}

// insertVoid opens an element that closes at once.
func (b *builder) insertVoid() { b.remove(b.insert(inHTML).id) }

func (b *builder) pop() {
	if len(b.open) > 0 {
		b.open = b.open[:len(b.open)-1]
	}
}

// top is the current node; the zero element when there is none.
func (b *builder) top() element {
	if len(b.open) == 0 {
		return element{}
	}
	return b.open[len(b.open)-1]
}

func (b *builder) indexOf(id uint32) int {
	for i := len(b.open) - 1; i >= 0; i-- {
		if b.open[i].id == id {
			return i
		}
	}
	return -1
}

func (b *builder) remove(id uint32) {
	if i := b.indexOf(id); i >= 0 {
		b.open = append(b.open[:i], b.open[i+1:]...)
	}
}

// has says whether an HTML element of that name is open.
func (b *builder) has(a atom.Atom) bool {
	for _, e := range b.open {
		if e.atom == a && e.space == inHTML {
			return true
		}
	}
	return false
}

// scope is a kind of scope (WHATWG HTML 13.2.4.2).
type scope uint8

const (
	defaultScope scope = iota
	listItemScope
	buttonScope
	tableScope
)

// ends says whether an element bounds a scope.
func (s scope) ends(e element) bool {
	if s == tableScope {
		return e.space == inHTML && (e.atom == atom.Html || e.atom == atom.Table || e.atom == atom.Template)
	}
	if e.space != inHTML {
		return e.special
	}
	switch e.atom {
	case atom.Applet, atom.Caption, atom.Html, atom.Table, atom.Td, atom.Th, atom.Marquee, atom.Object, atom.Template,
		atom.Select:
		return true
	case atom.Ol, atom.Ul:
		return s == listItemScope
	case atom.Button:
		return s == buttonScope
	}
	return false
}

// find returns where the innermost of the elements in scope stands, or -1.
func (b *builder) find(s scope, atoms ...atom.Atom) int {
	for i := len(b.open) - 1; i >= 0; i-- {
		e := b.open[i]
		if e.space == inHTML && oneOf(e.atom, atoms...) {
			return i
		}
		if s.ends(e) {
			return -1
		}
	}
	return -1
}

func (b *builder) inScope(s scope, atoms ...atom.Atom) bool { return b.find(s, atoms...) >= 0 }

// popUntil closes the innermost of the elements in scope and those inside it.
func (b *builder) popUntil(s scope, atoms ...atom.Atom) bool {
	i := b.find(s, atoms...)
	if i < 0 {
		return false
	}
	b.open = b.open[:i]
	return true
}

// clearTo closes what is inside the innermost of the elements.
func (b *builder) clearTo(atoms ...atom.Atom) {
	for i := len(b.open) - 1; i >= 0; i-- {
		if oneOf(b.open[i].atom, atoms...) {
			b.open = b.open[:i+1]
			return
		}
	}
}

// closeImplied generates implied end tags, but for the element that is excepted.
func (b *builder) closeImplied(except atom.Atom) {
	for len(b.open) > 0 {
		switch a := b.top().atom; a {
		case atom.Dd, atom.Dt, atom.Li, atom.Optgroup, atom.Option, atom.P, atom.Rb, atom.Rp, atom.Rt, atom.Rtc:
			if a == except {
				return
			}
			b.pop()
		default:
			return
		}
	}
}

func oneOf(a atom.Atom, atoms ...atom.Atom) bool {
	for _, x := range atoms {
		if a == x {
			return a != 0
		}
	}
	return false
}

func isSpecial(a atom.Atom) bool {
	switch a {
	case atom.Address, atom.Applet, atom.Area, atom.Article, atom.Aside, atom.Base, atom.Basefont, atom.Bgsound,
		atom.Blockquote, atom.Body, atom.Br, atom.Button, atom.Caption, atom.Center, atom.Col, atom.Colgroup, atom.Dd,
		atom.Details, atom.Dir, atom.Div, atom.Dl, atom.Dt, atom.Embed, atom.Fieldset, atom.Figcaption, atom.Figure,
		atom.Footer, atom.Form, atom.Frame, atom.Frameset, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6,
		atom.Head, atom.Header, atom.Hgroup, atom.Hr, atom.Html, atom.Iframe, atom.Img, atom.Input, atom.Keygen, atom.Li,
		atom.Link, atom.Listing, atom.Main, atom.Marquee, atom.Menu, atom.Meta, atom.Nav, atom.Noembed, atom.Noframes,
		atom.Noscript, atom.Object, atom.Ol, atom.P, atom.Param, atom.Plaintext, atom.Pre, atom.Script, atom.Section,
		atom.Select, atom.Source, atom.Style, atom.Summary, atom.Table, atom.Tbody, atom.Td, atom.Template,
		atom.Textarea, atom.Tfoot, atom.Th, atom.Thead, atom.Title, atom.Tr, atom.Track, atom.Ul, atom.Wbr, atom.Xmp:
		return true
	}
	return false
}
