package extract

import (
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/seine-go/seine/extract/css"
	"github.com/seine-go/seine/extract/jsonpath"
	"github.com/seine-go/seine/extract/structured"
	"github.com/seine-go/seine/extract/xpath"
	"github.com/seine-go/seine/internal/htmltree"
)

// source is a compiled source. It is safe for concurrent use.
type source struct {
	text string // as declared
	kind sourceKind

	css  *css.Selector // nil: the element itself
	slot int           // from 1: its place in a simple declaration
	take taking
	attr string
	expr *xpath.Expr
	path *jsonpath.Path
	name string // of a state, a property, a meta element, or a path of structured data
	re   *regexp.Regexp
	part int  // group of re
	all  bool // of structured data: of all objects of the type
}

type sourceKind uint8

const (
	fromCSS sourceKind = iota
	fromXPath
	fromJSON
	fromState
	fromLD
	fromOG
	fromMeta
	fromRE
	fromMagnet
	fromURL
)

var sourceKinds = map[string]sourceKind{
	"css": fromCSS, "xpath": fromXPath, "json": fromJSON, "state": fromState, "ld": fromLD, "og": fromOG, "meta": fromMeta,
	"re": fromRE, "magnet": fromMagnet, "url": fromURL,
}

// taking is what is taken of an element.
type taking uint8

const (
	takeText taking = iota
	takeOwn
	takeHTML
	takeOuter
	takeAttr
)

// compileSource reads one source; in is the option of that name.
func compileSource(p part, in string) (*source, *tagError) {
	kind, known := sourceKinds[p.key]
	if !known {
		return nil, faultAt(p.column, "no source is called %q", cut(p.key))
	}
	s := &source{text: p.key + "=" + p.value, kind: kind, name: p.value}
	var err error
	switch kind {
	case fromCSS:
		if word := optionIn(p.value); word != "" {
			return nil, faultAt(p.at+strings.LastIndex(p.value, word), "%q in a selector: options stand behind a semicolon", word)
		}
		err = s.compileCSS(p.value)
	case fromXPath:
		s.expr, err = xpath.Compile(p.value)
	case fromJSON:
		s.name = strings.TrimPrefix(strings.TrimPrefix(in, "js:"), "script#")
		if in != "" {
			s.kind = fromState
		}
		s.path, err = jsonpath.Compile(p.value)
	case fromState:
		name, path := p.value, ""
		if i := strings.Index(p.value, "$."); i >= 0 {
			name, path = p.value[:i], p.value[i:]
		} else if i := strings.Index(p.value, "$["); i >= 0 {
			name, path = p.value[:i], p.value[i:]
		} else if rest, ok := strings.CutSuffix(p.value, "$"); ok {
			name, path = rest, "$"
		}
		s.name = strings.TrimSpace(name)
		s.path, err = jsonpath.Compile(path)
	case fromRE:
		s.re, s.part, err = compilePattern(p.value)
	case fromLD, fromOG, fromMeta:
		if kind == fromLD {
			s.cutEvery()
		}
		if s.name == "" || kind == fromLD && (slices.Contains(strings.Split(s.name, "."), "") || strings.ContainsAny(s.name, "[]")) || strings.ContainsAny(p.value, " \t") {
			return nil, faultAt(p.at, "%q is no name", cut(p.value))
		}
	case fromMagnet:
		if p.value != "" && p.value != "magnet" && p.value != "torrent" {
			return nil, faultAt(p.at, "magnet takes nothing, or one of magnet and torrent, not %q", cut(p.value))
		}
	case fromURL:
		if p.value != "" {
			return nil, faultAt(p.at, "url takes nothing")
		}
	}
	if err != nil {
		return nil, &tagError{column: p.at + offsetIn(p.value, err), err: err}
	}
	return s, nil
}

// optionIn finds an option that stands behind a comma of a selector, as if it were an element: "h1, required".
func optionIn(selector string) string {
	for i, part := range strings.Split(selector, ",") {
		if word := strings.TrimSpace(part); i > 0 && flags[word] != nil {
			return word
		}
	}
	return ""
}

// offsetIn is where in a source a fault stands, if the error tells.
func offsetIn(text string, err error) int {
	fault, ok := err.(*css.Error)
	switch {
	case !ok:
		return 0
	case strings.HasPrefix(text, ":self") && fault.Offset > len(":self"): // it was read as :scope
		return fault.Offset - 1
	}
	return fault.Offset
}

// compileCSS reads a selector and what is taken: "a.x@href", "h1::text", "::attr(src)". Without a selector, or with :self
// in its place, it is the element itself.
func (s *source) compileCSS(text string) error {
	selector := text
	if i := strings.LastIndexByte(text, '@'); i >= 0 && isAttrName(text[i+1:]) {
		selector, s.attr = text[:i], text[i+1:]
		switch s.attr {
		case "text":
			s.take = takeText
		case "own":
			s.take = takeOwn
		case "html":
			s.take = takeHTML
		case "outer":
			s.take = takeOuter
		default:
			s.take = takeAttr
		}
	} else if before, ok := strings.CutSuffix(text, "::text"); ok {
		selector, s.take = before, takeOwn
	} else if i := strings.LastIndex(text, "::attr("); i >= 0 && strings.HasSuffix(text, ")") && isAttrName(text[i+7:len(text)-1]) {
		selector, s.take, s.attr = text[:i], takeAttr, text[i+7:len(text)-1]
	}
	s.attr = strings.ToLower(s.attr)
	selector = strings.TrimSpace(selector)
	if selector == "" || selector == ":self" {
		return nil
	}
	if rest, ok := strings.CutPrefix(selector, ":self"); ok {
		selector = ":scope" + rest
	}
	var err error
	s.css, err = css.Compile(selector)
	return err
}

func isAttrName(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c != '-' && c != '_' && c != ':' && c != '.' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
			return false
		}
	}
	return s != ""
}

// place is where sources look: a page, an element of it, or a value of its data.
type place struct {
	node  *html.Node // nil: the page
	json  any
	isLD  bool   // json is of structured data
	isRaw bool   // the place is json
	link  string // of the source magnet, where it found node
}

// hit is what a source has found: an element or attribute, a value, or a text.
type hit struct {
	node  *html.Node
	json  any
	text  string
	kind  hitKind
	ld    bool
	exact bool // text is of an attribute that programs read
	// rivals is how many objects of structured data there are beside the one that it is of.
	rivals int32
}

type hitKind uint8

const (
	hitText hitKind = iota
	hitNode
	hitJSON
	hitLink   // text is a link of node
	hitPassed // text is a part of the page's
)

// find appends what the source finds at a place.
func (s *source) find(x *run, at place, hits []hit) ([]hit, error) {
	if at.isRaw {
		return s.findInData(x, at, hits)
	}
	if s.kind == fromMagnet && at.link != "" {
		if s.name == "" || isMagnet(at.link) == (s.name == "magnet") {
			hits = append(hits, hit{node: at.node, text: at.link, kind: hitLink})
		}
		return hits, nil
	}
	switch s.kind {
	case fromCSS, fromXPath, fromMeta, fromMagnet:
		node := at.node
		if node == nil && x.passed != nil && s.slot > 0 {
			return x.appendPassed(hits, s), nil
		}
		if node == nil {
			root, err := x.doc.Tree()
			if err != nil {
				return hits, err
			}
			node = root
		}
		return s.findInTree(x, node, hits)
	case fromJSON:
		values, err := x.doc.lookupBody(s.path, &x.steps)
		return appendJSON(hits, values, false), err
	case fromState:
		return s.findState(x, hits)
	case fromLD:
		return s.findLD(x, at, hits)
	case fromOG:
		data, err := x.doc.Structured()
		if err != nil {
			return hits, err
		}
		for _, content := range data.Content(s.name) {
			hits = append(hits, hit{text: content, exact: true})
		}
	case fromURL:
		return append(hits, hit{text: x.doc.URL()}), nil
	case fromRE:
		return s.findPattern(x, at, hits)
	}
	return hits, nil
}

func (s *source) findState(x *run, hits []hit) ([]hit, error) {
	var failed error
	for _, state := range x.doc.States() {
		if s.name != "" && s.name != state.Name {
			continue
		}
		values, err := state.lookup(s.path, &x.steps)
		if err != nil {
			failed = err
		}
		if state.LeftOut != nil && (s.name != "" || len(values) > 0) {
			x.fault(&StateError{state.Name, state.LeftOut})
		}
		if len(values) > 0 {
			return appendJSON(hits, values, false), nil
		}
	}
	return hits, failed
}

// findInData looks at a value; sources of the page have nothing there.
func (s *source) findInData(x *run, at place, hits []hit) ([]hit, error) {
	switch {
	case s.kind == fromJSON:
		values, err := s.path.SelectWithin(at.json, &x.steps)
		return appendJSON(hits, values, at.isLD), err
	case s.kind == fromLD:
		hits = appendJSON(hits, structured.LookupAll(at.json, s.name), true)
	case s.kind == fromCSS && s.css == nil && s.take == takeText: // the value itself
		hits = appendJSON(hits, []any{at.json}, at.isLD)
	}
	return hits, nil
}

// appendJSON appends values. A null is one, so that lists keep their places; in structured data it says that there is none.
func appendJSON(hits []hit, values []any, ld bool) []hit {
	for _, v := range values {
		if v != nil || !ld {
			hits = append(hits, hit{json: v, kind: hitJSON, ld: ld})
		}
	}
	return hits
}

func (h hit) isNull() bool { return h.kind == hitJSON && h.json == nil }

func (s *source) findInTree(x *run, node *html.Node, hits []hit) ([]hit, error) {
	switch s.kind {
	case fromCSS:
		if s.css == nil {
			return s.appendNode(hits, node), nil
		}
		x.nodes = s.css.AppendSelectWithin(x.nodes[:0], node, &x.steps)
		for _, n := range x.nodes {
			hits = s.appendNode(hits, n)
		}
	case fromXPath:
		value, err := x.evaluate(s.expr, node)
		if err != nil {
			return hits, err
		}
		nodes, ok := value.([]xpath.Node)
		if !ok {
			return append(hits, hit{text: xpath.TextOf(value)}), nil
		}
		for _, n := range nodes {
			if n.Attr != "" {
				hits = append(hits, hit{text: n.Value, node: n.Node, exact: isExact(n.Node, n.Attr)})
			} else {
				hits = append(hits, hit{node: n.Node, kind: hitNode})
			}
		}
	case fromMeta:
		hits = s.findMeta(x, topOf(node), hits)
	case fromMagnet:
		hits = s.findMagnets(x, node, hits)
	}
	return hits, nil
}

// appendNode appends an element, unless the attribute that is wanted of it is not there.
func (s *source) appendNode(hits []hit, n *html.Node) []hit {
	if s.take == takeAttr {
		if _, ok := takenAttr(n, s.attr); !ok {
			return hits
		}
	}
	return append(hits, hit{node: n, kind: hitNode, exact: s.take == takeAttr && isExact(n, s.attr)})
}

// findMeta finds the content of meta elements by their name, property or http-equiv.
func (s *source) findMeta(x *run, root *html.Node, hits []hit) []hit {
	for n := root; n != nil; n = htmltree.Next(n, root) {
		if x.steps--; n.DataAtom != atom.Meta {
			continue
		}
		for _, key := range [...]string{"name", "property", "http-equiv", "itemprop"} {
			if v, ok := nodeAttr(n, key); ok && strings.EqualFold(v, s.name) {
				if content, ok := nodeAttr(n, "content"); ok {
					hits = append(hits, hit{text: content, node: n, exact: true})
				}
				break
			}
		}
	}
	return hits
}

// textOf is what a hit says, before it is trimmed.
func (s *source) textOf(h hit) string {
	switch h.kind {
	case hitNode:
		switch {
		case h.node.Type == html.TextNode || h.node.Type == html.CommentNode:
			return h.node.Data
		case s.take == takeAttr:
			v, _ := takenAttr(h.node, s.attr)
			return v
		case s.take == takeOwn:
			return ownText(h.node)
		case s.take == takeHTML:
			return innerHTML(h.node, maxRendered+1)
		case s.take == takeOuter:
			return outerHTML(h.node, maxRendered+1)
		}
		return elementText(h.node)
	case hitJSON:
		return jsonText(h.json, h.ld)
	case hitPassed:
		return strings.Clone(h.text)
	}
	return h.text
}
