package structured

import (
	"strings"

	"golang.org/x/net/html"
)

// isOpenGraph are the prefixes that are taken for OpenGraph (ogp.me) and what grew around it.
var isOpenGraph = map[string]bool{
	"og": true, "music": true, "video": true, "article": true, "book": true, "profile": true,
	"product": true, "fb": true, "twitter": true,
}

// meta takes the pairs of a meta element, whose name may stand in property or, as many write it, in name.
func (p *page) meta(n *html.Node) {
	content, ok := attr(n, "content")
	if !ok {
		return
	}
	names, ok := attr(n, "property")
	if !ok {
		names, _ = attr(n, "name")
	}
	for name := range strings.FieldsSeq(names) {
		prefix, rest, _ := strings.Cut(name, ":")
		if rest == "" || !isOpenGraph[strings.ToLower(prefix)] {
			continue
		}
		name = strings.ToLower(name)
		if isReference(name) {
			content = p.resolve(content)
		}
		p.openGraph = append(p.openGraph, Property{name, content})
	}
}

// isReference reports whether a property has a URL as its value.
func isReference(name string) bool {
	switch strings.TrimSuffix(strings.TrimSuffix(name, ":secure_url"), ":url") {
	case "og", "og:image", "og:video", "og:audio", "twitter:image", "twitter:player":
		return true
	}
	return false
}

// Content returns the content of an OpenGraph property, "og:title" or "title", as often as it is there.
func (d *Data) Content(name string) (contents []string) {
	name = strings.ToLower(name)
	for _, p := range d.OpenGraph {
		if p.Name == name || p.Name == "og:"+name {
			contents = append(contents, p.Content)
		}
	}
	return contents
}
