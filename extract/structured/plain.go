package structured

import (
	"maps"
	"slices"
	"strings"

	"github.com/seine-go/seine/internal/weburl"
)

// base is what references are resolved against.
type base struct {
	url   weburl.URL
	known bool
}

func baseOf(url string) base {
	u, err := weburl.Parse(url)
	return base{u, err == nil}
}

// rebase takes a base element into account.
func (b *base) rebase(href string) {
	if !b.known {
		*b = baseOf(href)
	} else if u, err := b.url.Resolve(href); err == nil {
		b.url = u
	}
}

// resolve makes a URL of a relative reference. What is absolute stays as the page has it, and so does what is no reference.
func (b *base) resolve(ref string) string {
	ref = strings.TrimSpace(ref)
	if _, err := weburl.Parse(ref); err != nil && b.known {
		if u, err := b.url.Resolve(ref); err == nil {
			return u.Href()
		}
	}
	return ref
}

// plain brings JSON-LD into the form in which Microdata and RDFa have the same: what stands for a list or a value (JSON-LD 1.1,
// 4.2.1, 4.3) is that, and references are resolved in properties that hold URLs. Nothing that is given is changed; it says
// whether something differs.
func (b *base) plain(v any, isURL bool) (any, bool) {
	switch v := v.(type) {
	case string:
		if !isURL || v == "" || strings.HasPrefix(v, "https://") || strings.HasPrefix(v, "http://") || strings.HasPrefix(v, "_:") {
			return v, false
		}
		url := b.resolve(v)
		return url, url != v
	case []any:
		return b.plainList(v, isURL)
	case map[string]any:
		if inner, ok := standsFor(v); ok {
			inner, _ = b.plain(inner, isURL)
			return inner, true
		}
		return b.plainObject(v)
	}
	return v, false
}

func (b *base) plainList(list []any, isURL bool) (any, bool) {
	changed := false
	for i, member := range list {
		made, differs := b.plain(member, isURL)
		if !differs {
			continue
		}
		if !changed {
			list, changed = slices.Clone(list), true
		}
		list[i] = made
	}
	return list, changed
}

func (b *base) plainObject(o map[string]any) (any, bool) {
	var made map[string]any
	for name, member := range o {
		if name == "@context" {
			continue
		}
		value, differs := b.plain(member, holdsURL(name))
		if !differs {
			continue
		}
		if made == nil {
			made = maps.Clone(o)
		}
		made[name] = value
	}
	if made == nil {
		return o, false
	}
	return made, true
}

// standsFor returns what a value object, a list object or a set is there for.
func standsFor(o map[string]any) (any, bool) {
	for name := range o {
		if !strings.HasPrefix(name, "@") {
			return nil, false
		}
	}
	for _, name := range [...]string{"@value", "@list", "@set"} {
		if v, ok := o[name]; ok {
			return v, true
		}
	}
	return nil, false
}

// holdsURL reports whether a property of schema.org is a URL, or a thing that stands for one.
func holdsURL(name string) bool {
	switch short(name) {
	case "@id", "url", "sameAs", "image", "logo", "contentUrl", "embedUrl", "thumbnailUrl", "mainEntityOfPage":
		return true
	}
	return false
}
