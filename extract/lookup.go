package extract

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/seine-go/seine/extract/jsonpath"
	"github.com/seine-go/seine/extract/structured"
	"github.com/seine-go/seine/internal/htmltree"
	"github.com/seine-go/seine/internal/weburl"
)

// lookupBody finds what a path leads to in a body of JSON; a body that does not begin like JSON has nothing.
func (d *Document) lookupBody(p *jsonpath.Path, steps *int) ([]any, error) {
	text, err := d.text()
	if err != nil {
		return nil, err
	}
	if !looksJSON(text) {
		return nil, nil
	}
	return lookupJSON(text, d.value, p, steps)
}

func looksJSON(text []byte) bool {
	for _, c := range text {
		if !strings.ContainsRune(" \t\r\n", rune(c)) {
			return c == '{' || c == '['
		}
	}
	return false
}

// everyObject behind a type says that a path is of all objects of it.
const everyObject = "[*]"

// cutEvery takes everyObject off the type.
func (s *source) cutEvery() {
	kind, rest, _ := strings.Cut(s.name, ".")
	if kind, s.all = strings.CutSuffix(kind, everyObject); s.all {
		s.name = kind
		if rest != "" {
			s.name += "." + rest
		}
	}
}

// findLD looks up a path of structured data: properties of the first object of the type, so that all fields of a struct are of
// one, or the objects themselves.
func (s *source) findLD(x *run, at place, hits []hit) ([]hit, error) {
	data, err := x.structured(at, s.name)
	if err != nil {
		return hits, err
	}
	kind, path, _ := strings.Cut(s.name, ".")
	if s.all || kind == "*" {
		return appendJSON(hits, data.FindAll(s.name), true), nil
	}
	main := data.Main(kind)
	switch {
	case len(main) == 0:
	case path == "":
		for _, o := range main {
			hits = append(hits, hit{json: o, kind: hitJSON, ld: true})
		}
	default:
		for _, v := range structured.LookupAll(main[0], path) {
			hits = append(hits, hit{json: v, kind: hitJSON, ld: true, rivals: int32(len(main) - 1)})
		}
	}
	return hits, nil
}

// amongRivals notes that what was found is of one of several objects.
func (r *FieldReport) amongRivals(hits []hit) {
	if n := hits[0].rivals; n > 0 && r.Status == OK {
		r.Status, r.Err = Ambiguous, fmt.Errorf("of the first of %d objects", n+1)
	}
}

// dataFor returns the structured data in which a path of it is looked up: without building the tree when JSON-LD has the type.
func (d *Document) dataFor(path string) (*structured.Data, error) {
	p := d.data()
	if len(p.blocks) > 0 {
		data := p.objects()
		kind, _, _ := strings.Cut(path, ".")
		if kind == "*" {
			kind = path
		}
		if _, ok := data.Find(kind); ok {
			return data, nil
		}
	}
	return d.Structured()
}

// structured returns the structured data of a place: of the page, or of what lies in an element. That of the element at hand
// is kept, since all fields of a struct ask for it.
func (x *run) structured(at place, path string) (*structured.Data, error) {
	if at.node == nil {
		return x.doc.dataFor(path)
	}
	if x.within != at.node {
		for n := at.node; n != nil; n = htmltree.Next(n, at.node) {
			x.steps--
		}
		o := structured.Options{URL: x.doc.baseURL(), Limits: x.doc.o.Limits}
		x.within, x.data = at.node, structured.Read(at.node, o)
		if len(x.data.Errors) > 0 && len(x.faults) < maxFaults {
			x.faults = append(x.faults, x.data.Errors...)
		}
	}
	return x.data, nil
}

// fault keeps a fault of the page, once.
func (x *run) fault(err *StateError) {
	for _, known := range x.faults {
		if e, ok := known.(*StateError); ok && *e == *err {
			return
		}
	}
	if len(x.faults) < maxFaults {
		x.faults = append(x.faults, err)
	}
}

// maxFaults bounds what is told of elements whose data cannot be read.
const maxFaults = 100

// findBase finds what references of the page are resolved against; nil when the page has no URL and names none.
func (d *Document) findBase() *weburl.URL {
	if text, err := d.text(); err == nil && mentionsBase(text) {
		if h, err := d.Hints(0); err == nil && h.Base != "" {
			if u, err := weburl.Parse(h.Base); err == nil {
				return &u
			}
		}
	}
	if u, err := weburl.Parse(d.o.URL); err == nil {
		return &u
	}
	return nil
}

// mentionsBase reports whether a page may have a base element, for which alone it would have to be scanned.
func mentionsBase(text []byte) bool {
	for {
		i := bytes.IndexByte(text, '<')
		if i < 0 {
			return false
		}
		if text = text[i+1:]; isTag(text, "", "base") != no {
			return true
		}
	}
}

// baseURL is what references of the page are resolved against; empty where nothing is known.
func (d *Document) baseURL() string {
	if u := d.base(); u != nil {
		return u.Href()
	}
	return d.o.URL
}

// resolveRef makes a URL of a reference of the page.
func (d *Document) resolveRef(ref string) (string, bool) {
	if base := d.base(); base != nil {
		u, err := base.Resolve(ref)
		return u.Href(), err == nil
	}
	u, err := weburl.Parse(ref)
	return u.Href(), err == nil
}
