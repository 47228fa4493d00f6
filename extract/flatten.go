package extract

import (
	"bytes"
	"fmt"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

const (
	// maxDepth is how deep the elements of a flattened page are nested, those counted that may be opened again. The parser
	// takes maxOpen; what it opens by itself (a tbody, a tr, a p for its end tag) needs room.
	maxDepth = maxOpen - 8
	// maxFormatting is how many formatting elements of a flattened page may be active at once.
	maxFormatting = 50
	// maxClones is how many elements a tree may have that stand for tags that others share: a formatting element that is
	// left open is opened again in every block that follows.
	maxClones = 500_000
	// maxRoots is how many start tags of html and body a flattened page has. The parser adds the attributes of each to those that
	// are there, and looks at all of them for that.
	maxRoots = 64
)

// parsePage parses a page, flattened where its tree would be too deep or too large.
func parsePage(text []byte) (parsed, error) {
	tags := bytes.Count(text, []byte("<"))
	formatting, roots := countStartTags(text, tags)
	if roots <= maxRoots && (tags*min(formatting, maxOpen) <= maxClones || fits(text)) {
		if root, err := parseTree(text); err == nil {
			return parsed{root: root}, nil
		}
	}
	root, err := parseTree(flatten(text, tags))
	if err != nil {
		return parsed{}, fmt.Errorf("seine: extract: parse: %w", err)
	}
	return parsed{root: root, flattened: true}, nil
}

func parseTree(text []byte) (*html.Node, error) {
	return html.ParseWithOptions(bytes.NewReader(text), html.ParseOptionEnableScripting(false))
}

// countStartTags counts what may be start tags of formatting elements, at most tags, and of html and body. Each of the former can
// be opened again at each tag, as far as they fit on the stack. Where there are too few tags to matter it counts nothing.
func countStartTags(text []byte, tags int) (formatting, roots int) {
	if tags*min(tags, maxOpen) <= maxClones {
		return tags, 0
	}
	for i := 0; ; i++ {
		next := bytes.IndexByte(text[i:], '<')
		if next < 0 {
			return formatting, roots
		}
		i += next
		end := nameEnd(text[:min(len(text), i+9)], i+1)
		if end <= 0 {
			continue
		}
		switch name := nameOf(text[i+1 : end]).atom; {
		case isFormatting(name):
			formatting++
		case isRoot(name):
			roots++
		}
	}
}

// fits says whether the tree of a page is neither too deep nor too large. It reads no further than where it is.
func fits(text []byte) bool {
	s := scanner{window: len(text) + 1, builder: &builder{}, filter: &filter{depth: maxOpen, formatting: maxOpen, check: true}}
	s.run(text, true)
	return !s.builder.over()
}

// over says whether the parser would refuse the page, or make too much of it.
func (b *builder) over() bool { return b.overflows > 0 || b.clones > maxClones }

// flatten copies a page without the start tags that make it too deep or too large, and without their end tags.
func flatten(text []byte, tags int) []byte {
	f := &filter{depth: maxDepth, formatting: min(max(maxClones/(tags+1), 1), maxFormatting), dropped: map[uint64]int{}}
	s := scanner{window: len(text) + 1, builder: &builder{}, filter: f}
	s.run(text, true)
	return append(f.out, text[f.copied:]...)
}

// filter decides which tags of a page its tree is built of. The scanner asks it before its builder takes a tag, so that
// the builder follows the construction of the filtered page.
type filter struct {
	depth      int  // most open elements
	formatting int  // most active formatting elements
	roots      int  // start tags of html and body so far
	check      bool // the scan stops where the page is too deep or too large

	dropped map[uint64]int // start tags that are left out, by the hash of their name; nil: none are
	out     []byte         // the page up to copied without what is dropped
	copied  int
}

// drops says whether the tag b[start:end] is left out, and leaves it out.
func (f *filter) drops(t *token, b *builder, text []byte, start, end int) bool {
	if f == nil || f.dropped == nil {
		return false
	}
	if t.kind == endToken {
		if f.dropped[t.hash] == 0 {
			return false
		}
		f.dropped[t.hash]--
	} else {
		tooDeep := f.tooDeep(b) && (b.isForeign() || !closesAtOnce(t.atom))
		if isRoot(t.atom) {
			f.roots++
		}
		tooMany := isRoot(t.atom) && f.roots > maxRoots || isFormatting(t.atom) && b.active(f.formatting) >= f.formatting
		if !tooDeep && !tooMany {
			return false
		}
		f.dropped[t.hash]++
	}
	f.out = append(f.out, text[f.copied:start]...)
	f.copied = end
	return true
}

// tooDeep says whether one more element is too deep, now or once the formatting elements are opened again.
func (f *filter) tooDeep(b *builder) bool {
	room := f.depth - len(b.open)
	return room <= 0 || room <= maxFormatting && b.active(room) >= room
}

// active counts the active formatting elements, markers apart, up to a bound.
func (b *builder) active(most int) (n int) {
	for i := len(b.formatting) - 1; i >= 0 && n < most; i-- {
		if !b.formatting[i].isMarker() {
			n++
		}
	}
	return n
}

// closesAtOnce says whether an element of HTML has no content but text.
func closesAtOnce(a atom.Atom) bool {
	switch a {
	case atom.Area, atom.Base, atom.Basefont, atom.Bgsound, atom.Br, atom.Col, atom.Embed, atom.Frame, atom.Hr, atom.Image,
		atom.Img, atom.Input, atom.Keygen, atom.Link, atom.Meta, atom.Param, atom.Source, atom.Track, atom.Wbr,
		atom.Iframe, atom.Noembed, atom.Noframes, atom.Plaintext, atom.Script, atom.Style, atom.Textarea, atom.Title,
		atom.Xmp:
		return true
	}
	return false
}

func isRoot(a atom.Atom) bool { return a == atom.Html || a == atom.Body }

func isFormatting(a atom.Atom) bool {
	switch a {
	case atom.A, atom.B, atom.Big, atom.Code, atom.Em, atom.Font, atom.I, atom.Nobr, atom.S, atom.Small, atom.Strike,
		atom.Strong, atom.Tt, atom.U:
		return true
	}
	return false
}
