package structured

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/seine-go/seine/internal/htmltree"
)

// usesVocabulary is what tells that a page names a vocabulary (RDFa Core 1.1, 9).
const usesVocabulary = "http://www.w3.org/ns/rdfa#usesVocabulary"

// prefixes are those that need no declaration (RDFa Core Initial Context), as far as pages use them.
var prefixes = map[string]string{
	"schema": "http://schema.org/", "og": "http://ogp.me/ns#", "dc": "http://purl.org/dc/terms/", "dcterms": "http://purl.org/dc/terms/",
	"dc11": "http://purl.org/dc/elements/1.1/", "foaf": "http://xmlns.com/foaf/0.1/", "cc": "http://creativecommons.org/ns#",
	"rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#", "rdfs": "http://www.w3.org/2000/01/rdf-schema#", "xsd": "http://www.w3.org/2001/XMLSchema#",
	"owl": "http://www.w3.org/2002/07/owl#", "skos": "http://www.w3.org/2004/02/skos/core#", "vcard": "http://www.w3.org/2006/vcard/ns#",
	"gr": "http://purl.org/goodrelations/v1#", "sioc": "http://rdfs.org/sioc/ns#", "v": "http://rdf.data-vocabulary.org/#", "xhv": "http://www.w3.org/1999/xhtml/vocab#",
}

// scope is what holds inside an element.
type scope struct {
	vocab    string
	prefixes map[string]string
	subject  string
	lang     string
}

type rdfa struct {
	*page
	subjects []map[string]any
	byID     map[string]map[string]any
	blanks   int
}

// rdfa reads RDFa Lite 1.1 by the steps of RDFa Core 1.1 (7.5) that it needs.
func (p *page) rdfa() []map[string]any {
	if !p.hasRDFa {
		return nil
	}
	r := rdfa{page: p, byID: map[string]map[string]any{}}
	s := scope{subject: p.base.url.Href()}
	if p.root.Parent != nil {
		s = r.outside(p.root.Parent, s)
	}
	r.walk(p.root, s, 0)
	return r.subjects
}

// outside is what holds at an element: vocabulary and prefixes may be declared far outside of what is read.
func (r *rdfa) outside(n *html.Node, s scope) scope {
	var outer []*html.Node
	for ; n != nil; n = n.Parent {
		outer = append(outer, n)
	}
	said := r.subjects
	for _, n := range slices.Backward(outer) {
		s = r.context(n, s)
	}
	r.subjects = said
	clear(r.byID)
	return s
}

func (r *rdfa) walk(n *html.Node, s scope, depth int) {
	if !r.visit() {
		return
	}
	if depth > 2*r.limits.Depth {
		r.errs = append(r.errs, &LimitError{What: "depth", Limit: 2 * r.limits.Depth})
		return
	}
	if n.Type == html.ElementNode {
		s = r.element(n, s)
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type == html.ElementNode {
			r.walk(c, s, depth+1)
		}
	}
}

// element takes the statements of an element and returns what holds inside.
func (r *rdfa) element(n *html.Node, s scope) scope {
	s = r.context(n, s)
	property, hasProperty := attr(n, "property")
	types, hasType := attr(n, "typeof")
	resource, hasResource := r.resource(n, s)
	typed := ""
	inside := s.subject
	switch {
	case hasType && hasResource:
		typed = resource
	case hasType && (n.DataAtom == atom.Html || n.DataAtom == atom.Body || n.DataAtom == atom.Head) && !hasProperty:
		typed = s.subject
	case hasType:
		r.blanks++
		typed = fmt.Sprintf("_:b%d", r.blanks)
	case hasResource && !hasProperty:
		if _, named := attr(n, "resource"); named {
			inside = resource
		}
	}
	if typed != "" {
		inside = typed
		for t := range strings.FieldsSeq(types) {
			if iri, ok := s.iri(t); ok {
				r.add(typed, "@type", iri)
			}
		}
	}
	if hasProperty {
		value := r.value(n, s, typed, resource, hasResource)
		for name := range strings.FieldsSeq(property) {
			if iri, ok := s.iri(name); ok {
				r.add(s.subject, iri, value)
			}
		}
	}
	s.subject = inside
	return s
}

// context takes vocab, prefix and lang.
func (r *rdfa) context(n *html.Node, s scope) scope {
	if vocab, ok := attr(n, "vocab"); ok {
		if s.vocab = vocab; vocab != "" {
			s.vocab = r.resolve(vocab)
			r.add(r.base.url.Href(), usesVocabulary, map[string]any{"@id": s.vocab})
		}
	}
	if declared, ok := attr(n, "prefix"); ok {
		fields := strings.Fields(declared)
		if len(fields) > 1 {
			s.prefixes = maps.Clone(s.prefixes)
			if s.prefixes == nil {
				s.prefixes = map[string]string{}
			}
		}
		for i := 0; i+1 < len(fields); i += 2 {
			if len(s.prefixes) < maxPrefixes {
				s.prefixes[strings.ToLower(strings.TrimSuffix(fields[i], ":"))] = fields[i+1]
			}
		}
	}
	if lang, ok := attr(n, "lang"); ok {
		s.lang = lang
	}
	return s
}

// maxPrefixes is how many prefixes may hold at a place: elements in each other copy them.
const maxPrefixes = 100

// resource is what the element is about or leads to: resource, href, src.
func (r *rdfa) resource(n *html.Node, s scope) (string, bool) {
	if v, ok := attr(n, "resource"); ok {
		if safe, ok := strings.CutPrefix(v, "["); ok {
			return s.iri(strings.TrimSuffix(safe, "]"))
		}
		if iri, ok := s.compact(v); ok {
			return iri, true
		}
		return r.resolve(v), true
	}
	for _, name := range [...]string{"href", "src"} {
		if v, ok := attr(n, name); ok {
			return r.resolve(v), true
		}
	}
	return "", false
}

func (r *rdfa) value(n *html.Node, s scope, typed, resource string, hasResource bool) any {
	content, ok := attr(n, "content")
	if !ok && n.DataAtom == atom.Time {
		content, ok = attr(n, "datetime")
	}
	switch {
	case ok:
	case hasResource:
		return map[string]any{"@id": resource}
	case typed != "":
		return map[string]any{"@id": typed}
	default:
		content = htmltree.Text(n)
		r.show(strings.TrimSpace(content))
	}
	value := map[string]any{"@value": content}
	if s.lang != "" && n.DataAtom != atom.Time {
		value["@language"] = s.lang
	}
	return value
}

// compact reads prefix:name.
func (s scope) compact(name string) (string, bool) {
	prefix, rest, ok := strings.Cut(name, ":")
	if !ok || strings.HasPrefix(rest, "//") {
		return "", false
	}
	if prefix == "_" {
		return name, true
	}
	prefix = strings.ToLower(prefix)
	if iri, ok := s.prefixes[prefix]; ok {
		return iri + rest, true
	}
	if iri, ok := prefixes[prefix]; ok {
		return iri + rest, true
	}
	return "", false
}

// iri reads a term, a compact IRI or an IRI.
func (s scope) iri(name string) (string, bool) {
	if iri, ok := s.compact(name); ok {
		return iri, true
	}
	if strings.Contains(name, ":") {
		return name, true
	}
	return s.vocab + name, s.vocab != "" && name != ""
}

// add makes a statement, once.
func (r *rdfa) add(subject, property string, value any) {
	object := r.byID[subject]
	if object == nil {
		object = map[string]any{"@id": subject}
		r.byID[subject] = object
		r.subjects = append(r.subjects, object)
	}
	list, _ := object[property].([]any)
	if property == usesVocabulary || property == "@type" {
		for _, v := range list {
			if fmt.Sprint(v) == fmt.Sprint(value) {
				return
			}
		}
	}
	object[property] = append(list, value)
}
