package extract

import (
	"bytes"
	"regexp"
	"strings"

	"golang.org/x/net/html/atom"
)

// simplePlan has the selectors of a declaration whose sources in the tree are all simple ones: of known tags, classes and ids, in each
// other or children of each other, of which the text is taken, or an attribute. Pages that are plain enough are asked for them in
// one pass, without a tree; see pass.
type simplePlan struct {
	parts     []simplePart
	selectors []*source
}

// maxParts is how many parts the selectors of a simple declaration have: one bit each.
const maxParts = 64

// simplePart is a compound selector, and what must be around its element.
type simplePart struct {
	tag     atom.Atom // zero: any
	id      string
	classes []string
	child   bool // the part before is the parent, not any ancestor
	before  int  // the part before; -1: none
	of      int  // the selector that ends with it; -1: none
}

var (
	simpleSelector = regexp.MustCompile(`^[A-Za-z0-9]*(?:[.#][A-Za-z_][A-Za-z0-9_-]*)*$`)
	simpleName     = regexp.MustCompile(`[.#][^.#]+`)
)

// simpleOf returns the simple form of a plan, nil if it has none.
func simpleOf(p *plan) *simplePlan {
	m := &simplePlan{}
	for _, f := range p.fields {
		if len(f.sources) == 0 || f.shape.scalar().kind == isStruct || f.key != nil || f.shape.kind == isMap {
			return nil
		}
		for _, s := range f.sources {
			switch {
			case s.kind == fromJSON, s.kind == fromState, s.kind == fromURL:
			case s.kind != fromCSS || s.css == nil || s.take != takeText && s.take != takeAttr || s.attr == "value" && f.convert.Lang != "" || !m.add(s):
				return nil
			}
		}
	}
	if len(m.selectors) == 0 || len(m.parts) > maxParts {
		return nil
	}
	for i, s := range m.selectors {
		s.slot = i + 1
	}
	return m
}

// add adds the parts of a selector, and reports whether it is simple.
func (m *simplePlan) add(s *source) bool {
	before, child := -1, false
	for _, word := range strings.Fields(strings.ReplaceAll(s.css.String(), ">", " > ")) {
		if word == ">" {
			child = true
			continue
		}
		tag := word[:len(word)-len(strings.TrimLeft(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"))]
		part := simplePart{tag: atom.Lookup(bytes.ToLower([]byte(tag))), child: child, before: before, of: -1}
		if !simpleSelector.MatchString(word) || tag != "" && (part.tag == 0 || part.tag == atom.Html || part.tag == atom.Head || part.tag == atom.Body) {
			return false
		}
		for _, name := range simpleName.FindAllString(word, -1) {
			switch {
			case name[0] == '.':
				part.classes = append(part.classes, name[1:])
			case part.id != "" && part.id != name[1:]:
				return false
			default:
				part.id = name[1:]
			}
		}
		before, child = len(m.parts), false
		m.parts = append(m.parts, part)
	}
	m.parts[before].of = len(m.selectors)
	m.selectors = append(m.selectors, s)
	return true
}

// pass answers the selectors of a simple plan from the text of a page without its tree, if the page is plain enough and nobody
// has asked for the tree yet.
func (x *run) pass(p *plan) {
	if p.simple == nil {
		return
	}
	if _, built := x.doc.builtTree(); built {
		return
	}
	text, err := x.doc.text()
	if err != nil || x.doc.checkSize(text) != nil {
		return
	}
	x.steps -= len(text) / bytesPerTag
	t := &pass{simplePlan: p.simple, elements: make([]passElement, 1, 64), hits: make([][]passHit, len(p.simple.selectors))}
	if t.run(text) {
		x.passed, x.passedText = t.hits, string(t.text)
	}
}

// appendPassed appends what the pass has found for a selector.
func (x *run) appendPassed(hits []hit, s *source) []hit {
	exact := s.take == takeAttr && isExactAnywhere(s.attr)
	for _, h := range x.passed[s.slot-1] {
		x.steps--
		text := h.value
		if h.end >= 0 {
			text = x.passedText[h.start:h.end]
			if strings.IndexByte(text, lineMark) >= 0 {
				text = strings.ReplaceAll(strings.Trim(text, "\x00"), "\x00", "\n")
			}
		}
		hits = append(hits, hit{text: text, kind: hitPassed, exact: exact})
	}
	return hits
}
