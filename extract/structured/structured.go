package structured

import (
	"fmt"
	"strings"
	"sync"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/seine-go/seine/extract/literal"
	"github.com/seine-go/seine/internal/htmltree"
)

// Limits bounds what is read of a page: each block of JSON-LD by itself, and of the tree the visits of nodes. Zero fields
// mean the defaults of package literal.
type Limits = literal.Limits

// LimitError says that a page goes beyond a bound.
type LimitError = literal.LimitError

// Options says how a page is read.
type Options struct {
	URL    string // of the page, which references are resolved against; empty leaves them as they are
	Limits Limits
}

// BlockError says that a block of JSON-LD cannot be read.
type BlockError struct {
	Block int // counted from 0
	Err   error
}

// Error names the block.
func (e *BlockError) Error() string {
	return fmt.Sprintf("seine: json-ld block %d: %v", e.Block, e.Err)
}

// Unwrap returns the cause: a *literal.SyntaxError or a *LimitError.
func (e *BlockError) Unwrap() error { return e.Err }

// Data is what a page says. It may be used by many goroutines as long as nobody changes it.
type Data struct {
	JSONLD    []any            // the values of all blocks, in order; null is left out
	Microdata []*Item          // the items that are no property of others
	RDFa      []map[string]any // subjects in the expanded form of JSON-LD
	OpenGraph []Property
	Errors    []error // what could not be read: *BlockError, *LimitError

	base    base
	once    sync.Once
	objects [3]objects // of JSON-LD, Microdata, RDFa
	shown   map[string]bool
}

// Property is a pair of OpenGraph.
type Property struct{ Name, Content string }

// Read reads the tree of a page, or an element of it, of which then only what lies in it counts.
func Read(root *html.Node, o Options) *Data {
	p := survey(root, o)
	d := ReadBlocks(p.blocks, o)
	d.readTree(p)
	return d
}

// ReadWith is Read for a page whose blocks of JSON-LD have been found already.
func ReadWith(root *html.Node, blocks []string, o Options) *Data {
	d := ReadBlocks(blocks, o)
	d.readTree(survey(root, o))
	return d
}

// ReadBlocks reads blocks of JSON-LD alone. Of a page with a base element the URL has to be that of the base.
func ReadBlocks(blocks []string, o Options) *Data {
	d := &Data{base: baseOf(o.URL)}
	for i, block := range blocks {
		values, err := Block([]byte(block), o.Limits)
		d.JSONLD = append(d.JSONLD, values...)
		if err != nil {
			d.Errors = append(d.Errors, &BlockError{i, err})
		}
	}
	return d
}

func (d *Data) readTree(p *page) {
	d.base = p.base
	d.OpenGraph = p.openGraph
	d.Microdata = p.microdata()
	d.RDFa = p.rdfa()
	d.shown = p.shown
	d.Errors = append(d.Errors, p.errs...)
}

// page is what one walk finds in a tree.
type page struct {
	root *html.Node
	base
	visits    int // that are left
	limits    Limits
	blocks    []string
	openGraph []Property
	ids       map[string]*html.Node
	items     []*html.Node       // elements with itemscope
	order     map[*html.Node]int // of elements with itemprop
	hasRDFa   bool
	errs      []error
	shown     map[string]bool // numbers in texts of elements
}

func survey(root *html.Node, o Options) *page {
	p := &page{root: root, base: baseOf(o.URL), limits: o.Limits, ids: map[string]*html.Node{}, order: map[*html.Node]int{}}
	if p.limits.Nodes == 0 {
		p.limits.Nodes = literal.DefaultNodes
	}
	if p.limits.Depth <= 0 {
		p.limits.Depth = literal.DefaultDepth
	}
	p.visits = p.limits.Nodes
	var metas []*html.Node
	baseSeen := false
	for n := root; n != nil; n = htmltree.Next(n, root) {
		if n.Type != html.ElementNode {
			continue
		}
		switch n.DataAtom {
		case atom.Base:
			if href, ok := attr(n, "href"); ok && !baseSeen {
				baseSeen = true
				p.rebase(href)
			}
		case atom.Script:
			if kind, _ := attr(n, "type"); isJSONLD(kind) {
				p.blocks = append(p.blocks, htmltree.Text(n))
			}
		case atom.Meta:
			metas = append(metas, n)
		}
		p.note(n)
	}
	for _, n := range metas {
		p.meta(n)
	}
	return p
}

// note keeps an element that the other passes need.
func (p *page) note(n *html.Node) {
	for _, a := range n.Attr {
		switch a.Key {
		case "id":
			if _, taken := p.ids[a.Val]; !taken && a.Val != "" {
				p.ids[a.Val] = n
			}
		case "itemscope":
			p.items = append(p.items, n)
		case "itemprop":
			p.order[n] = len(p.order)
		case "vocab", "typeof", "property":
			p.hasRDFa = true
		}
	}
}

// visit counts a node; it reports false when there were too many.
func (p *page) visit() bool {
	switch {
	case p.limits.Nodes < 0 || p.visits > 0:
		p.visits--
		return true
	case p.visits == 0:
		p.visits = -1
		p.errs = append(p.errs, &LimitError{What: "nodes", Limit: p.limits.Nodes})
	}
	return false
}

func attr(n *html.Node, name string) (string, bool) {
	for _, a := range n.Attr {
		if a.Key == name && a.Namespace == "" {
			return a.Val, true
		}
	}
	return "", false
}

// shownText is the text in an element without that of scripts and styles, each run of blanks one.
func shownText(n *html.Node) string {
	var b strings.Builder
	for c := n.FirstChild; c != nil; {
		switch {
		case c.Type == html.TextNode:
			b.WriteString(c.Data)
		case c.DataAtom == atom.Script || c.DataAtom == atom.Style:
			c = htmltree.After(c, n)
			continue
		}
		c = htmltree.Next(c, n)
	}
	return strings.Join(strings.Fields(b.String()), " ")
}
