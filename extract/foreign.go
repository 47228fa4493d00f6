package extract

// maxForeign is how deep svg and math may be nested before only the tree knows.
const maxForeign = 64

// foreignElement is an open element of SVG or MathML. The name is in lower case and cut to what the array holds.
type foreignElement struct {
	name        [20]byte
	length      uint8
	svg         bool
	integration bool // its content is HTML: an HTML or MathML text integration point
}

func (e foreignElement) named(name string) foreignElement {
	e.length = uint8(copy(e.name[:], name))
	return e
}

func (e *foreignElement) is(name string) bool { return string(e.name[:e.length]) == name }

// foreignStack holds the open foreign elements. Below the first one lies HTML. It holds no HTML elements: those inside
// an integration point make the scan unsure.
type foreignStack []foreignElement

func (f foreignStack) push(e foreignElement) foreignStack { return append(f, e) }

var rootNames = [...]string{tagSVG: "svg", tagMath: "math"}

// isIntegration says whether the content of an element is HTML (WHATWG HTML 13.2.6, "integration point"). For
// annotation-xml it depends on an attribute; the scan is unsure of its content anyway.
func (e *foreignElement) isIntegration() bool {
	switch string(e.name[:e.length]) {
	case "desc", "title", "foreignobject":
		return e.svg
	case "mi", "mo", "mn", "ms", "mtext", "annotation-xml":
		return !e.svg
	}
	return false
}

// foreignStart is for the start tag of name inside foreign content (WHATWG HTML 13.2.6.5); its name ends before b[i].
func (s *scanner) foreignStart(b []byte, name []byte, i int) int {
	end := s.attr.read(b, i)
	if end < 0 {
		return -1
	}
	id := lookupTag(name)
	slash := b[end-2] == '/'
	top := s.foreign[len(s.foreign)-1]
	switch {
	case top.integration:
		s.unsure = true // HTML elements stand on the stack from now on
		s.treeGivesUp = s.treeGivesUp || id == tagTemplate
		s.htmlStart(id, slash)
	case breakout(name) || equalFold(name, "font") && s.attr.has(attrFont):
		s.foreign = s.foreign.toIntegration()
		s.htmlStart(id, slash)
	default:
		if top.svg && id == tagA {
			s.element(id, &s.attr, true)
		}
		s.pushForeign(name, top.svg, slash)
	}
	return end
}

// toIntegration pops to HTML.
func (f foreignStack) toIntegration() foreignStack {
	for len(f) > 0 && !f[len(f)-1].integration {
		f = f[:len(f)-1]
	}
	return f
}

func (s *scanner) pushForeign(name []byte, svg, slash bool) {
	if s.attr.slashInValue {
		// The standard and x/net/html disagree on <path d=z/> when an attribute comes twice.
		s.unsure = true
		slash = false
	}
	e, exact := newForeign(name, svg)
	if !exact || len(s.foreign) >= maxForeign {
		s.unsure = true
	}
	if !slash && len(s.foreign) < maxForeign {
		s.foreign = s.foreign.push(e)
	}
}

// newForeign makes an element. Names that are long or that have bytes beyond ASCII are not compared exactly.
func newForeign(name []byte, svg bool) (e foreignElement, exact bool) {
	e.svg = svg
	e.length = uint8(len(lower(e.name[:0], name[:min(len(name), len(e.name))])))
	e.integration = e.isIntegration()
	exact = len(name) <= len(e.name)
	for _, c := range name {
		exact = exact && 0 < c && c < 0x80
	}
	return e, exact
}

// foreignEnd is for an end tag inside foreign content. When no foreign element has its name, HTML elements further down
// the stack may, or it opens one, as </p> does.
func (s *scanner) foreignEnd(name []byte) {
	e, exact := newForeign(name, false)
	s.unsure = s.unsure || !exact
	for i := len(s.foreign) - 1; i >= 0; i-- {
		if s.foreign[i].is(string(e.name[:e.length])) {
			s.foreign = s.foreign[:i]
			return
		}
	}
	s.unsure = true
	if !s.foreign[len(s.foreign)-1].integration && breakout(name) {
		s.foreign = s.foreign.toIntegration()
	}
}
