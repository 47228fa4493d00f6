package extract

// maxForeign is how deep svg and math may be nested before the scanner is in doubt.
const maxForeign = 64

// foreignElement is an open element of SVG or MathML, as far as the scanner follows them by itself.
type foreignElement struct {
	name   [20]byte // in lower case
	length uint8
	svg    bool
}

func (e *foreignElement) text() string { return string(e.name[:e.length]) }

// holdsHTML says whether the content of an element is HTML (WHATWG HTML 13.2.6, "integration point"). Of annotation-xml
// an attribute decides; the scanner is in doubt either way.
func (e *foreignElement) holdsHTML() bool {
	switch string(e.name[:e.length]) {
	case "desc", "title", "foreignobject":
		return e.svg
	case "mi", "mo", "mn", "ms", "mtext", "annotation-xml":
		return !e.svg
	}
	return false
}

// newForeign makes an element. It fails for names that it cannot compare exactly.
func newForeign(name []byte, svg bool) (e foreignElement, ok bool) {
	if len(name) > len(e.name) {
		return e, false
	}
	for _, c := range name {
		if c == 0 || c >= 0x80 {
			return e, false
		}
	}
	e.svg, e.length = svg, uint8(len(name))
	lower(e.name[:0], name)
	return e, true
}

// foreignStart is for the start tag of name inside foreign content (WHATWG HTML 13.2.6.5); its name ends before b[i].
func (s *scanner) foreignStart(b, name []byte, i int) int {
	end := s.attr.read(b, i)
	if end < 0 {
		return -1
	}
	id := lookupTag(name)
	top := &s.foreign[len(s.foreign)-1]
	switch {
	case top.holdsHTML():
		s.doubt()
	case breakout(name) || equalFold(name, "font") && s.attr.has(attrFont):
		s.foreign = s.foreign[:0]
		s.htmlStart(id, b[end-2] == '/')
	default:
		if top.svg && id == tagA {
			s.element(id, &s.attr, true)
		}
		if b[end-2] != '/' || s.attr.slashInValue {
			s.openForeign(name, top.svg)
		}
	}
	return end
}

func (s *scanner) openForeign(name []byte, svg bool) {
	e, ok := newForeign(name, svg)
	if !ok || len(s.foreign) >= maxForeign {
		s.doubt()
		return
	}
	s.foreign = append(s.foreign, e)
}

// foreignEnd is for an end tag inside foreign content. When no foreign element has its name, HTML elements further down
// may, or it opens one, as </p> does.
func (s *scanner) foreignEnd(name []byte) {
	if e, ok := newForeign(name, false); ok {
		for i := len(s.foreign) - 1; i >= 0; i-- {
			if s.foreign[i].text() == e.text() {
				s.foreign = s.foreign[:i]
				return
			}
		}
	}
	s.doubt()
}
