package extract

import "golang.org/x/net/html/atom"

// inForeign says whether the token goes by the rules of foreign content (WHATWG HTML 13.2.6).
func (b *builder) inForeign() bool {
	top := b.top()
	switch t := &b.tok; {
	case top.space == inHTML:
		return false
	case t.kind == textToken:
		return !top.text && !top.html
	case t.kind == startToken && top.text:
		return t.atom == atom.Mglyph || t.atom == atom.Malignmark
	case t.kind == startToken && top.space == inMath && top.atom == atom.AnnotationXml && t.atom == atom.Svg:
		return false
	case t.kind == startToken:
		return !top.html
	}
	return true
}

// foreign goes by the rules of foreign content (WHATWG HTML 13.2.6.5). Like the functions of the modes it reports
// whether the token is done.
func (b *builder) foreign() bool {
	switch b.tok.kind {
	case startToken:
		if isBreakout(b.tok.atom) || b.tok.atom == atom.Font && b.tok.font {
			for i := len(b.open) - 1; i >= 0; i-- {
				if e := b.open[i]; e.space == inHTML || e.html || e.text {
					b.open = b.open[:i+1]
					break
				}
			}
			return b.step()
		}
		b.insertRoot(b.top().space)
		b.markup = true
	case endToken:
		for i := len(b.open) - 1; i >= 0; i-- {
			if b.open[i].fold == b.tok.fold {
				b.open = b.open[:i]
				return true
			}
			if i > 0 && b.open[i-1].space == inHTML {
				break
			}
		}
		return b.step()
	}
	return true
}

func isBreakout(a atom.Atom) bool { return a != 0 && breakout([]byte(a.String())) }
