package extract

import (
	"bytes"
	"strconv"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/seine-go/seine/internal/htmltree"
)

// Controls belong to the form that was begun last and not ended, though broken nesting has closed that before and the control
// stands elsewhere in the tree: the form element pointer of WHATWG HTML 13.2.4.4. The tree does not show where a form ended, so
// that the page is followed once more, as it is built.

// formPass notes the tags of forms and their controls.
type formPass struct {
	tags  []formTag
	forms map[uint32]int // tags of forms by the ids of the builder
}

// formTag is the start tag of a form or a control.
type formTag struct {
	name  atom.Atom
	at    int // where its name ends in the page
	owner int // the tag of the form that was open for the parser; -1: none was
}

// start takes a start tag that has made an element of HTML. Its name ends before at.
func (p *formPass) start(b *builder, name atom.Atom, at int) {
	tag := formTag{name, at, -1}
	switch name {
	case atom.Form:
		p.forms[b.lastID] = len(p.tags)
	case atom.Input, atom.Button, atom.Select, atom.Textarea:
		if b.form != 0 && !b.has(atom.Template) {
			tag.owner = p.forms[b.form]
		}
	default:
		return
	}
	p.tags = append(p.tags, tag)
}

// formMark is the attribute by which elements of a tree are known by their tags. The first of a name counts, so that what a page
// brings of it does not.
const formMark = "seine-tag"

// mark copies a page with a mark in each tag.
func (p *formPass) mark(text []byte) []byte {
	out := make([]byte, 0, len(text)+len(p.tags)*(len(formMark)+len(` ="1000"`)))
	done := 0
	for i, tag := range p.tags {
		out = append(out, text[done:tag.at]...)
		out = append(out, " "+formMark+`="`+strconv.Itoa(i)+`"`...)
		done = tag.at
	}
	return append(out, text[done:]...)
}

// formOwners returns the forms of controls by the rule above. For controls that are not in the map the form around them counts.
func (d *Document) formOwners() (map[*html.Node]*html.Node, error) {
	tree, err := d.tree()
	if err != nil {
		return nil, err
	}
	text, err := d.text()
	if err != nil {
		return nil, err
	}
	if tree.flattened {
		text = flatten(text, bytes.Count(text, []byte("<")))
	}
	return passForms(text).owners(tree.root, text)
}

// passForms follows a page whose tree is neither too deep nor too large.
func passForms(text []byte) *formPass {
	pass := &formPass{forms: map[uint32]int{}}
	s := scanner{window: len(text) + 1, builder: &builder{}, filter: &filter{}, forms: pass}
	s.run(text, true)
	return pass
}

// owners finds the elements of the tags in the tree of the page: another tree is built of the page with marks, which change no
// shape. (The order of the tags does not do: tables and formatting elements move what stands in them.)
func (p *formPass) owners(root *html.Node, text []byte) (map[*html.Node]*html.Node, error) {
	marked, err := parseTree(p.mark(text))
	if err != nil {
		return nil, err
	}
	nodes := make([]*html.Node, len(p.tags))
	for n, m := root, marked; n != nil && m != nil; n, m = htmltree.Next(n, root), htmltree.Next(m, marked) {
		if i, err := strconv.Atoi(attrText(m, formMark)); err == nil && i >= 0 && i < len(nodes) && n.DataAtom == p.tags[i].name {
			nodes[i] = n
		}
	}
	owners := map[*html.Node]*html.Node{}
	for i, tag := range p.tags {
		if tag.owner >= 0 && nodes[i] != nil && nodes[tag.owner] != nil {
			owners[nodes[i]] = nodes[tag.owner]
		}
	}
	return owners, nil
}
