package extract

import (
	"bytes"
	"errors"
	"strings"

	"github.com/seine-go/seine/internal/weburl"
)

// collector takes the elements of a page from the scanner and makes hints of them. References wait
// until the end of the window, since a base further down counts for all of them.
type collector struct {
	o       ScanOptions
	page    weburl.URL
	hints   *Hints
	yield   func(Link) bool // nil: links go to hints
	stopped bool            // yield returned false

	header  *weburl.Base // what references of the header are resolved against: the page
	base    *weburl.Base // what the others are
	bases   int          // how many base[href] there were
	found   []reference
	links   int             // links kept so far
	langs   []string        // of alternates that wait
	decoded []byte          // values with their character references decoded
	hrefs   []byte          // resolved references of a window
	seen    map[string]role // in which lists of images and feeds a URL stands
}

// reference is a reference of a page and what it is there.
type reference struct {
	text       []byte
	role       role
	kind       LinkKind
	noFollow   bool
	fromHeader bool
	seconds    int32 // roleRefresh
	lang       int32 // roleAlternate: in langs
	start, end int32 // in hrefs, once it is resolved
}

// role is a set of uses of one reference.
type role uint16

const (
	roleLink role = 1 << iota
	roleCanonical
	roleNext
	rolePrev
	roleRefresh
	roleAlternate
	roleFeed
	roleImage
)

func (c *collector) start(o ScanOptions, page weburl.URL, yield func(Link) bool) {
	if o.Agent == "" {
		o.Agent = "seine"
	}
	c.o, c.page, c.yield = o, page, yield
	c.header = weburl.NewBase(page, o.Encoding)
	c.restart()
}

// restart forgets everything that was collected.
func (c *collector) restart() {
	c.hints = &Hints{}
	c.base, c.bases, c.links, c.seen = c.header, 0, 0, nil
	c.drop()
	c.readHeader(c.o.Header)
}

// drop forgets the references that wait.
func (c *collector) drop() {
	clear(c.found)
	c.found, c.langs, c.decoded, c.hrefs = c.found[:0], nil, c.decoded[:0], c.hrefs[:0]
}

// max is the bound of one list.
func (c *collector) max() int {
	switch {
	case c.o.MaxLinks == 0:
		return DefaultMaxLinks
	case c.o.MaxLinks < 0:
		return int(^uint(0) >> 1)
	}
	return c.o.MaxLinks
}

// value returns an attribute without character references, nil when it is absent.
func (c *collector) value(a *attributes, id attrID) []byte {
	if !a.has(id) {
		return nil
	}
	v := a.value[id]
	if v == nil {
		return []byte{}
	}
	if bytes.IndexByte(v, '&') < 0 && bytes.IndexByte(v, 0) < 0 {
		return v
	}
	start := len(c.decoded)
	c.decoded = appendDecoded(c.decoded, v)
	return c.decoded[start:len(c.decoded):len(c.decoded)]
}

// element takes an element; in svg only the anchor is one.
func (c *collector) element(id tagID, a *attributes, svg bool) {
	switch id {
	case tagA:
		c.anchor(a, Anchor, svg)
	case tagArea:
		c.anchor(a, Area, false)
	case tagFrame, tagIframe:
		if src := c.value(a, attrSrc); len(src) > 0 {
			c.add(reference{text: src, role: roleLink, kind: Frame})
		}
	case tagBase:
		if href := c.value(a, attrHref); href != nil {
			c.setBase(href)
		}
	case tagLink:
		c.linkElement(a)
	case tagMeta:
		c.meta(a)
	case tagImg:
		if c.o.Want&WantImages != 0 {
			c.image(c.value(a, attrSrc))
			c.images(a)
		}
	case tagSource:
		if c.o.Want&WantImages != 0 {
			c.images(a)
		}
	}
}

func (c *collector) anchor(a *attributes, kind LinkKind, svg bool) {
	href := c.value(a, attrHref)
	if href == nil && svg {
		href = c.value(a, attrXlinkHref)
	}
	if href == nil {
		return
	}
	r := reference{text: href, role: roleLink, kind: kind}
	if a.has(attrRel) {
		rels := parseRels(c.value(a, attrRel))
		r.noFollow = rels&relNoFollow != 0
		r.role |= rels.roles() & (roleNext | rolePrev)
	}
	c.add(r)
}

func (c *collector) linkElement(a *attributes) {
	href := c.value(a, attrHref)
	if len(href) == 0 {
		return
	}
	c.linked(reference{text: href, kind: LinkElement}, parseRels(c.value(a, attrRel)), c.value(a, attrType),
		c.value(a, attrHreflang))
}

// linked adds the target of a link element or of a Link header.
func (c *collector) linked(r reference, rels rels, mediaType, lang []byte) {
	r.role = rels.roles()
	r.noFollow = rels&relNoFollow != 0
	if rels&relAlternate != 0 && rels&relStylesheet == 0 {
		switch kindOfType(mediaType) {
		case typeFeed:
			r.role |= roleFeed
		case typePage:
			r.role |= roleLink
			if len(lang) > 0 {
				r.role |= roleAlternate
				r.lang = int32(len(c.langs))
				c.langs = append(c.langs, string(lang))
			}
		}
	}
	if c.o.Want&WantFeeds == 0 {
		r.role &^= roleFeed
	}
	if c.o.Want&WantAlternates == 0 {
		r.role &^= roleAlternate
	}
	if r.role != 0 {
		c.add(r)
	}
}

// images adds what may stand in place of the src of an image.
func (c *collector) images(a *attributes) {
	for _, id := range [...]attrID{attrSrcset, attrDataSrcset} {
		n := 0
		for url := range srcsetURLs(c.value(a, id)) {
			if n++; n > maxCandidates {
				c.hints.HintsCut++
				continue
			}
			c.image(url)
		}
	}
	for _, id := range [...]attrID{attrDataSrc, attrDataOriginal, attrDataLazySrc} {
		c.image(c.value(a, id))
	}
}

func (c *collector) image(url []byte) {
	if len(url) > 0 {
		c.add(reference{text: url, role: roleImage})
	}
}

// setBase takes the href of a base element: the first counts, even where it is invalid, or is data or a script (WHATWG
// HTML 4.2.3).
func (c *collector) setBase(href []byte) {
	c.bases++
	if c.bases > 1 {
		return
	}
	resolved, err := c.header.AppendResolve(nil, href)
	if err != nil {
		c.skipURL(err)
		return
	}
	u, err := weburl.Parse(string(resolved))
	if err != nil || u.Scheme() == "data" || u.Scheme() == "javascript" {
		return
	}
	c.base = weburl.NewBase(u, c.o.Encoding)
	c.hints.Base = u.Href()
}

// add queues a reference if it may lead to http or https. Of the others, magnets of anchors are kept.
func (c *collector) add(r reference) {
	switch schemeOf(r.text) {
	case schemeMagnet:
		if r.kind <= Area && r.role&roleLink != 0 {
			c.hints.Magnets = c.list(c.hints.Magnets, magnetText(r.text))
		}
		return
	case schemeOther:
		return
	}
	c.found = append(c.found, r)
}

// list appends to a list of hints, within its bound.
func (c *collector) list(list []string, s string) []string {
	if len(list) >= c.max() {
		c.hints.HintsCut++
		return list
	}
	return append(list, s)
}

// listOnce is list for what may be there already, in the list of that role.
func (c *collector) listOnce(list []string, s string, as role) []string {
	if c.seen[s]&as != 0 {
		return list
	}
	if c.seen == nil {
		c.seen = map[string]role{}
	}
	if len(list) < c.max() {
		c.seen[s] |= as
	}
	return c.list(list, s)
}

// skip notes something that is passed over.
func (c *collector) skip(ref []byte, reason string) {
	c.skipText(strings.ToValidUTF8(string(ref[:min(len(ref), maxSkipRef)]), "\uFFFD"), reason)
}

// skipURL notes a reference that is no URL.
func (c *collector) skipURL(err error) {
	var e *weburl.Error
	if errors.As(err, &e) {
		c.skipText(e.Input, e.Reason.Error())
	}
}

func (c *collector) skipText(ref, reason string) {
	if len(c.hints.Skipped) >= MaxSkips {
		c.hints.SkippedCut++
		return
	}
	c.hints.Skipped = append(c.hints.Skipped, Skip{Ref: ref, Reason: reason})
}
