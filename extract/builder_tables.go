package extract

import "golang.org/x/net/html/atom"

func (b *builder) inTable() bool {
	switch b.tok.kind {
	case textToken:
		if !b.tok.other && oneOf(b.top().atom, atom.Table, atom.Tbody, atom.Tfoot, atom.Thead, atom.Tr) {
			return true
		}
	case startToken:
		return b.startInTable()
	case endToken:
		return b.endInTable()
	}
	return b.inBody() // with foster parenting, which changes no stack
}

func (b *builder) startInTable() bool {
	switch b.tok.atom {
	case atom.Caption:
		b.clearTo(atom.Html, atom.Table, atom.Template)
		b.mark()
		b.insert(inHTML)
		b.mode = inCaption
		return true
	case atom.Colgroup:
		b.clearTo(atom.Html, atom.Table, atom.Template)
		b.insert(inHTML)
		b.mode = inColumnGroup
		return true
	case atom.Col:
		b.imply(startToken, atom.Colgroup)
		return false
	case atom.Tbody, atom.Tfoot, atom.Thead:
		b.clearTo(atom.Html, atom.Table, atom.Template)
		b.insert(inHTML)
		b.mode = inTableBody
		return true
	case atom.Td, atom.Th, atom.Tr:
		b.imply(startToken, atom.Tbody)
		return false
	case atom.Table:
		if !b.popUntil(tableScope, atom.Table) {
			return true
		}
		b.reset()
		return false
	case atom.Style, atom.Script, atom.Template:
		return b.inHead()
	case atom.Input:
		if b.tok.hidden {
			b.insertVoid()
			return true
		}
	case atom.Form:
		if !b.has(atom.Template) && b.form == 0 {
			b.form = b.insert(inHTML).id
			b.remove(b.form)
		}
		return true
	}
	return b.inBody()
}

func (b *builder) endInTable() bool {
	switch b.tok.atom {
	case atom.Table:
		if b.popUntil(tableScope, atom.Table) {
			b.reset()
		}
		return true
	case atom.Body, atom.Caption, atom.Col, atom.Colgroup, atom.Html, atom.Tbody, atom.Td, atom.Tfoot, atom.Th,
		atom.Thead, atom.Tr:
		return true
	case atom.Template:
		return b.inHead()
	}
	return b.inBody()
}

func (b *builder) inCaption() bool {
	switch {
	case b.isStart(atom.Caption, atom.Col, atom.Colgroup, atom.Tbody, atom.Td, atom.Tfoot, atom.Thead, atom.Tr),
		b.isEnd(atom.Caption, atom.Table):
		if !b.popUntil(tableScope, atom.Caption) {
			return true
		}
		b.clearFormatting()
		b.mode = inTable
		return b.isEnd(atom.Caption)
	case b.isEnd(atom.Body, atom.Col, atom.Colgroup, atom.Html, atom.Tbody, atom.Td, atom.Tfoot, atom.Th, atom.Thead,
		atom.Tr):
		return true
	}
	return b.inBody()
}

func (b *builder) inColumnGroup() bool {
	switch {
	case b.isBlank(), b.isStart(atom.Html), b.isEnd(atom.Col):
		return true
	case b.isStart(atom.Col):
		b.insertVoid()
		return true
	case b.isStart(atom.Template), b.isEnd(atom.Template):
		return b.inHead()
	}
	inGroup := b.top().atom == atom.Colgroup
	if inGroup {
		b.pop()
		b.mode = inTable
	}
	return !inGroup || b.isEnd(atom.Colgroup)
}

func (b *builder) inTableBody() bool {
	switch {
	case b.isStart(atom.Tr):
		b.clearTo(atom.Html, atom.Tbody, atom.Tfoot, atom.Thead, atom.Template)
		b.insert(inHTML)
		b.mode = inRow
		return true
	case b.isStart(atom.Td, atom.Th):
		b.imply(startToken, atom.Tr)
		return false
	case b.isStart(atom.Caption, atom.Col, atom.Colgroup, atom.Tbody, atom.Tfoot, atom.Thead), b.isEnd(atom.Table):
		if !b.popUntil(tableScope, atom.Tbody, atom.Thead, atom.Tfoot) {
			return true
		}
		b.mode = inTable
		return false
	case b.isEnd(atom.Tbody, atom.Tfoot, atom.Thead):
		if b.inScope(tableScope, b.tok.atom) {
			b.clearTo(atom.Html, atom.Tbody, atom.Tfoot, atom.Thead, atom.Template)
			b.pop()
			b.mode = inTable
		}
		return true
	case b.isEnd(atom.Body, atom.Caption, atom.Col, atom.Colgroup, atom.Html, atom.Td, atom.Th, atom.Tr):
		return true
	}
	return b.inTable()
}

func (b *builder) inRow() bool {
	switch {
	case b.isStart(atom.Td, atom.Th):
		b.clearTo(atom.Html, atom.Tr, atom.Template)
		b.insert(inHTML)
		b.mark()
		b.mode = inCell
		return true
	case b.isEnd(atom.Tbody, atom.Tfoot, atom.Thead) && !b.inScope(tableScope, b.tok.atom):
		return true
	case b.isStart(atom.Caption, atom.Col, atom.Colgroup, atom.Tbody, atom.Tfoot, atom.Thead, atom.Tr),
		b.isEnd(atom.Tr, atom.Table, atom.Tbody, atom.Tfoot, atom.Thead):
		if !b.inScope(tableScope, atom.Tr) {
			return true
		}
		b.clearTo(atom.Html, atom.Tr, atom.Template)
		b.pop()
		b.mode = inTableBody
		return b.isEnd(atom.Tr)
	case b.isEnd(atom.Body, atom.Caption, atom.Col, atom.Colgroup, atom.Html, atom.Td, atom.Th):
		return true
	}
	return b.inTable()
}

func (b *builder) inCell() bool {
	switch {
	case b.isStart(atom.Caption, atom.Col, atom.Colgroup, atom.Tbody, atom.Td, atom.Tfoot, atom.Th, atom.Thead, atom.Tr):
		if !b.popUntil(tableScope, atom.Td, atom.Th) {
			return true
		}
		b.clearFormatting()
		b.mode = inRow
		return false
	case b.isEnd(atom.Td, atom.Th):
		if b.popUntil(tableScope, b.tok.atom) {
			b.clearFormatting()
			b.mode = inRow
		}
		return true
	case b.isEnd(atom.Body, atom.Caption, atom.Col, atom.Colgroup, atom.Html):
		return true
	case b.isEnd(atom.Table, atom.Tbody, atom.Tfoot, atom.Thead, atom.Tr):
		if !b.inScope(tableScope, b.tok.atom) {
			return true
		}
		if b.popUntil(tableScope, atom.Td, atom.Th) {
			b.clearFormatting()
		}
		b.mode = inRow
		return false
	}
	return b.inBody()
}

func (b *builder) inTemplate() bool {
	switch b.tok.kind {
	case textToken:
		return b.inBody()
	case endToken:
		if b.tok.atom == atom.Template {
			return b.inHead()
		}
		return true
	}
	next := inBody
	switch b.tok.atom {
	case atom.Base, atom.Basefont, atom.Bgsound, atom.Link, atom.Meta, atom.Noframes, atom.Script, atom.Style,
		atom.Template, atom.Title:
		return b.inHead()
	case atom.Caption, atom.Colgroup, atom.Tbody, atom.Tfoot, atom.Thead:
		next = inTable
	case atom.Col:
		next = inColumnGroup
	case atom.Tr:
		next = inTableBody
	case atom.Td, atom.Th:
		next = inRow
	}
	if n := len(b.templates); n > 0 {
		b.templates[n-1] = next
	}
	b.mode = next
	return false
}
