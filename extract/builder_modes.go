package extract

import "golang.org/x/net/html/atom"

// mode is an insertion mode (WHATWG HTML 13.2.4.1). The text mode is builder.inText, those of framesets are left out.
type mode uint8

const (
	initial mode = iota
	beforeHTML
	beforeHead
	inHead
	inHeadNoscript
	afterHead
	inBody
	inTable
	inCaption
	inColumnGroup
	inTableBody
	inRow
	inCell
	inTemplate
	afterBody
	afterAfterBody
)

// step takes the token by the rules of the mode. It reports whether the token is done; else it is looked at again.
func (b *builder) step() bool {
	switch b.mode {
	case initial:
		if b.isBlank() {
			return true
		}
		b.quirks = true
		b.mode = beforeHTML
		return false
	case beforeHTML:
		return b.beforeHTML()
	case beforeHead:
		return b.beforeHead()
	case inHead:
		return b.inHead()
	case inHeadNoscript:
		return b.inHeadNoscript()
	case afterHead:
		return b.afterHead()
	case inTable:
		return b.inTable()
	case inCaption:
		return b.inCaption()
	case inColumnGroup:
		return b.inColumnGroup()
	case inTableBody:
		return b.inTableBody()
	case inRow:
		return b.inRow()
	case inCell:
		return b.inCell()
	case inTemplate:
		return b.inTemplate()
	case afterBody, afterAfterBody:
		return b.afterBody()
	}
	return b.inBody()
}

// isBlank says whether the token is text that is nothing but whitespace.
func (b *builder) isBlank() bool { return b.tok.kind == textToken && !b.tok.nul && !b.tok.other }

func (b *builder) isStart(atoms ...atom.Atom) bool {
	return b.tok.kind == startToken && oneOf(b.tok.atom, atoms...)
}

func (b *builder) isEnd(atoms ...atom.Atom) bool {
	return b.tok.kind == endToken && oneOf(b.tok.atom, atoms...)
}

// ignoresEnd says whether the token is an end tag that means nothing before there is a body.
func (b *builder) ignoresEnd() bool {
	return b.tok.kind == endToken && !oneOf(b.tok.atom, atom.Head, atom.Body, atom.Html, atom.Br)
}

func (b *builder) beforeHTML() bool {
	switch {
	case b.isBlank(), b.ignoresEnd():
		return true
	case b.isStart(atom.Html):
		b.insert(inHTML)
		b.mode = beforeHead
		return true
	}
	b.imply(startToken, atom.Html)
	return false
}

func (b *builder) beforeHead() bool {
	switch {
	case b.isBlank(), b.ignoresEnd(), b.isStart(atom.Html):
		return true
	case b.isStart(atom.Head):
		b.head = b.insert(inHTML).id
		b.mode = inHead
		return true
	}
	b.imply(startToken, atom.Head)
	return false
}

func (b *builder) inHead() bool {
	switch b.tok.kind {
	case textToken:
		if b.isBlank() {
			return true
		}
	case startToken:
		switch b.tok.atom {
		case atom.Html, atom.Head:
			return true
		case atom.Base, atom.Basefont, atom.Bgsound, atom.Link, atom.Meta:
			b.insertVoid()
			return true
		case atom.Noscript:
			b.insert(inHTML)
			b.markup = true
			b.mode = inHeadNoscript
			return true
		case atom.Script, atom.Title, atom.Noframes, atom.Style:
			b.insertRaw()
			return true
		case atom.Template:
			b.insert(inHTML)
			b.mark()
			b.mode = inTemplate
			if len(b.templates) < maxOpen {
				b.templates = append(b.templates, inTemplate)
			}
			return true
		}
	case endToken:
		switch b.tok.atom {
		case atom.Head:
			b.pop()
			b.mode = afterHead
			return true
		case atom.Body, atom.Html, atom.Br:
			b.imply(endToken, atom.Head)
			return false
		case atom.Template:
			b.endTemplate()
		}
		return true
	}
	b.imply(endToken, atom.Head)
	return false
}

func (b *builder) endTemplate() {
	if !b.has(atom.Template) {
		return
	}
	b.closeImplied(0)
	for i := len(b.open) - 1; i >= 0; i-- {
		if e := b.open[i]; e.space == inHTML && e.atom == atom.Template {
			b.open = b.open[:i]
			break
		}
	}
	b.clearFormatting()
	if len(b.templates) > 0 {
		b.templates = b.templates[:len(b.templates)-1]
	}
	b.reset()
}

func (b *builder) inHeadNoscript() bool {
	switch b.tok.kind {
	case textToken:
		if b.isBlank() {
			return true
		}
	case startToken:
		switch b.tok.atom {
		case atom.Html, atom.Head:
			return true
		case atom.Basefont, atom.Bgsound, atom.Link, atom.Meta, atom.Noframes, atom.Style:
			return b.inHead()
		case atom.Noscript:
			b.markup = true
			return true
		}
	case endToken:
		if !oneOf(b.tok.atom, atom.Noscript, atom.Br) {
			return true
		}
	}
	b.pop()
	b.mode = inHead
	return b.isEnd(atom.Noscript)
}

func (b *builder) afterHead() bool {
	switch b.tok.kind {
	case textToken:
		if b.isBlank() {
			return true
		}
	case startToken:
		switch b.tok.atom {
		case atom.Html, atom.Head, atom.Frameset:
			return true
		case atom.Body:
			b.insert(inHTML)
			b.mode = inBody
			return true
		case atom.Base, atom.Basefont, atom.Bgsound, atom.Link, atom.Meta, atom.Noframes, atom.Script, atom.Style,
			atom.Template, atom.Title:
			b.push(element{tagName: atomName(atom.Head), id: b.head, special: true})
			done := b.inHead()
			b.remove(b.head)
			return done
		}
	case endToken:
		switch b.tok.atom {
		case atom.Body, atom.Html, atom.Br:
		case atom.Template:
			return b.inHead()
		default:
			return true
		}
	}
	b.imply(startToken, atom.Body)
	return false
}

// afterBody is for the modes after the body and after that.
func (b *builder) afterBody() bool {
	switch {
	case b.isBlank():
		return b.inBody()
	case b.isStart(atom.Html):
		return true
	case b.mode == afterBody && b.isEnd(atom.Html):
		b.mode = afterAfterBody
		return true
	}
	b.mode = inBody
	return false
}

// reset resets the insertion mode to what the open elements say.
func (b *builder) reset() {
	for i := len(b.open) - 1; i >= 0; i-- {
		switch e := b.open[i]; e.atom {
		case atom.Td, atom.Th:
			b.mode = inCell
		case atom.Tr:
			b.mode = inRow
		case atom.Tbody, atom.Thead, atom.Tfoot:
			b.mode = inTableBody
		case atom.Caption:
			b.mode = inCaption
		case atom.Colgroup:
			b.mode = inColumnGroup
		case atom.Table:
			b.mode = inTable
		case atom.Template:
			if e.space != inHTML {
				continue
			}
			b.mode = inBody
			if n := len(b.templates); n > 0 {
				b.mode = b.templates[n-1]
			}
		case atom.Head:
			b.mode = inHead
		case atom.Body:
			b.mode = inBody
		case atom.Html:
			b.mode = afterHead
			if b.head == 0 {
				b.mode = beforeHead
			}
		default:
			if i > 0 {
				continue
			}
			b.mode = inBody
		}
		return
	}
}
