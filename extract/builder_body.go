package extract

import "golang.org/x/net/html/atom"

func (b *builder) inBody() bool {
	switch b.tok.kind {
	case textToken:
		if b.tok.newline && b.empty != 0 && b.empty == b.top().id || !b.tok.blank && !b.tok.other {
			return true
		}
		b.reconstruct()
		return true
	case startToken:
		return b.startInBody()
	}
	return b.endInBody()
}

func (b *builder) startInBody() bool {
	switch b.tok.atom {
	case atom.Html, atom.Body, atom.Frameset, atom.Caption, atom.Col, atom.Colgroup, atom.Frame, atom.Head, atom.Tbody,
		atom.Td, atom.Tfoot, atom.Th, atom.Thead, atom.Tr:
		return true
	case atom.Base, atom.Basefont, atom.Bgsound, atom.Link, atom.Meta, atom.Noframes, atom.Script, atom.Style,
		atom.Template, atom.Title:
		return b.inHead()
	case atom.Image:
		b.tok.tagName = atomName(atom.Img)
		return false
	case atom.Textarea, atom.Iframe, atom.Noembed:
		b.insertRaw()
	case atom.Param, atom.Source, atom.Track:
		b.insertVoid()
	case atom.Hr:
		b.startHr()
	case atom.Rb, atom.Rtc:
		if b.inScope(defaultScope, atom.Ruby) {
			b.closeImplied(0)
		}
		b.insert(inHTML)
	case atom.Rp, atom.Rt:
		if b.inScope(defaultScope, atom.Ruby) {
			b.closeImplied(atom.Rtc)
		}
		b.insert(inHTML)
	default:
		if !b.startBlock() {
			b.startPhrasing()
		}
	}
	return true
}

func (b *builder) startHr() {
	if b.inScope(buttonScope, atom.P) {
		b.closeImplied(atom.P)
		b.popUntil(defaultScope, atom.P)
	}
	if b.inScope(defaultScope, atom.Select) {
		b.closeImplied(0)
	}
	b.insertVoid()
}

// startBlock is for start tags that close a paragraph.
func (b *builder) startBlock() bool {
	switch b.tok.atom {
	case atom.Address, atom.Article, atom.Aside, atom.Blockquote, atom.Center, atom.Details, atom.Dialog, atom.Dir,
		atom.Div, atom.Dl, atom.Fieldset, atom.Figcaption, atom.Figure, atom.Footer, atom.Header, atom.Hgroup, atom.Main,
		atom.Menu, atom.Nav, atom.Ol, atom.P, atom.Search, atom.Section, atom.Summary, atom.Ul, atom.Plaintext:
		b.popUntil(buttonScope, atom.P)
		b.insert(inHTML)
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		b.popUntil(buttonScope, atom.P)
		if oneOf(b.top().atom, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6) {
			b.pop()
		}
		b.insert(inHTML)
	case atom.Pre, atom.Listing:
		b.popUntil(buttonScope, atom.P)
		b.empty = b.insert(inHTML).id
	case atom.Form:
		inTemplate := b.has(atom.Template)
		if b.form != 0 && !inTemplate {
			return true
		}
		b.popUntil(buttonScope, atom.P)
		e := b.insert(inHTML)
		if !inTemplate {
			b.form = e.id
		}
	case atom.Li:
		b.startItem(atom.Li)
	case atom.Dd, atom.Dt:
		b.startItem(atom.Dd, atom.Dt)
	case atom.Table:
		if !b.quirks {
			b.popUntil(buttonScope, atom.P)
		}
		b.insert(inHTML)
		b.mode = inTable
	case atom.Xmp:
		b.popUntil(buttonScope, atom.P)
		b.reconstruct()
		b.insertRaw()
	default:
		return false
	}
	return true
}

// startItem opens an item of a list. It closes the one before, unless the list is another.
func (b *builder) startItem(items ...atom.Atom) {
	for i := len(b.open) - 1; i >= 0; i-- {
		e := b.open[i]
		if oneOf(e.atom, items...) {
			b.open = b.open[:i]
			break
		}
		if e.special && !oneOf(e.atom, atom.Address, atom.Div, atom.P) {
			break
		}
	}
	b.popUntil(buttonScope, atom.P)
	b.insert(inHTML)
}

// startPhrasing is for start tags that stand among text.
func (b *builder) startPhrasing() {
	switch b.tok.atom {
	case atom.Button:
		if b.inScope(defaultScope, atom.Button) {
			b.closeImplied(0)
			b.popUntil(defaultScope, atom.Button)
		}
	case atom.A:
		if f, ok := b.activeFormatting(atom.A); ok {
			b.adopt(b.tok.tagName)
			b.remove(f.id)
			b.unformat(f.id)
		}
	case atom.Nobr:
		b.reconstruct()
		if b.inScope(defaultScope, atom.Nobr) {
			b.adopt(b.tok.tagName)
		}
	case atom.Input:
		b.popUntil(defaultScope, atom.Select)
	case atom.Select:
		if b.popUntil(defaultScope, atom.Select) {
			return
		}
	case atom.Option, atom.Optgroup:
		b.startOption()
	}
	b.reconstruct()
	b.insertPhrasing()
}

func (b *builder) startOption() {
	switch {
	case b.inScope(defaultScope, atom.Select) && b.tok.atom == atom.Option:
		b.closeImplied(atom.Optgroup)
	case b.inScope(defaultScope, atom.Select):
		b.closeImplied(0)
	case b.top().atom == atom.Option:
		b.pop()
	}
}

func (b *builder) insertPhrasing() {
	switch b.tok.atom {
	case atom.A, atom.B, atom.Big, atom.Code, atom.Em, atom.Font, atom.I, atom.Nobr, atom.S, atom.Small, atom.Strike,
		atom.Strong, atom.Tt, atom.U:
		b.insertFormatting()
	case atom.Applet, atom.Marquee, atom.Object:
		b.insert(inHTML)
		b.mark()
	case atom.Area, atom.Br, atom.Embed, atom.Img, atom.Keygen, atom.Wbr, atom.Input:
		b.insertVoid()
	case atom.Noscript:
		b.insert(inHTML)
		b.markup = true
	case atom.Math:
		b.insertRoot(inMath)
	case atom.Svg:
		b.insertRoot(inSVG)
	default:
		b.insert(inHTML)
	}
}

// insertRoot opens foreign content.
func (b *builder) insertRoot(s space) {
	if e := b.insert(s); b.tok.selfClosing {
		b.remove(e.id)
	}
}

func (b *builder) endInBody() bool {
	switch a := b.tok.atom; a {
	case atom.Body:
		if b.inScope(defaultScope, atom.Body) {
			b.mode = afterBody
		}
	case atom.Html:
		if b.inScope(defaultScope, atom.Body) {
			b.imply(endToken, atom.Body)
			return false
		}
	case atom.Address, atom.Article, atom.Aside, atom.Blockquote, atom.Button, atom.Center, atom.Details, atom.Dialog,
		atom.Dir, atom.Div, atom.Dl, atom.Fieldset, atom.Figcaption, atom.Figure, atom.Footer, atom.Header, atom.Hgroup,
		atom.Listing, atom.Main, atom.Menu, atom.Nav, atom.Ol, atom.Pre, atom.Search, atom.Section, atom.Select,
		atom.Summary, atom.Ul:
		if b.inScope(defaultScope, a) {
			b.closeImplied(0)
			b.popUntil(defaultScope, a)
		}
	case atom.Form:
		b.endForm()
	case atom.P:
		if !b.inScope(buttonScope, atom.P) {
			b.imply(startToken, atom.P)
		}
		b.popUntil(buttonScope, atom.P)
	case atom.Li:
		b.popUntil(listItemScope, atom.Li)
	case atom.Dd, atom.Dt:
		b.popUntil(defaultScope, a)
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		b.popUntil(defaultScope, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6)
	case atom.A, atom.B, atom.Big, atom.Code, atom.Em, atom.Font, atom.I, atom.Nobr, atom.S, atom.Small, atom.Strike,
		atom.Strong, atom.Tt, atom.U:
		b.adopt(b.tok.tagName)
	case atom.Applet, atom.Marquee, atom.Object:
		if b.popUntil(defaultScope, a) {
			b.clearFormatting()
		}
	case atom.Br:
		b.tok.kind = startToken
		return false
	case atom.Template:
		return b.inHead()
	default:
		b.endOther(b.tok.tagName)
	}
	return true
}

func (b *builder) endForm() {
	i := b.find(defaultScope, atom.Form)
	if b.has(atom.Template) {
		if i < 0 {
			return
		}
		b.closeImplied(0)
		b.popUntil(defaultScope, atom.Form)
		return
	}
	form := b.form
	b.form = 0
	if form == 0 || i < 0 || b.open[i].id != form {
		return
	}
	b.closeImplied(0)
	b.remove(form)
}

// endOther is for any other end tag: it closes the element of its name unless a special one is inside.
func (b *builder) endOther(name tagName) {
	for i := len(b.open) - 1; i >= 0; i-- {
		e := b.open[i]
		if e.space == inHTML && e.hash == name.hash {
			b.open = b.open[:i]
			return
		}
		if e.special {
			return
		}
	}
}
