package extract

import "bytes"

// flush resolves the references that wait and hands them out. Their URLs are parts of one string.
func (c *collector) flush() {
	links := 0
	for i := range c.found {
		r := &c.found[i]
		if r.role&roleLink != 0 && c.links+links >= c.max() {
			c.hints.LinksCut++
			r.role &^= roleLink
		}
		if r.role != 0 && len(c.hrefs) > maxURLBytes {
			c.cut(r)
		}
		if r.role == 0 || !c.resolve(r) {
			r.role = 0
			continue
		}
		if r.role&roleLink != 0 {
			links++
		}
	}
	c.links += links
	if c.yield == nil && links > 0 && c.hints.Links == nil {
		c.hints.Links = make([]Link, 0, links)
	}
	hrefs := string(c.hrefs)
	for i := range c.found {
		if r := &c.found[i]; r.role != 0 {
			c.hand(r, hrefs[r.start:r.end])
		}
	}
	c.drop()
}

// cut drops a reference: a long base would make more of short ones than memory holds.
func (c *collector) cut(r *reference) {
	if r.role&roleLink != 0 {
		c.hints.LinksCut++
	} else {
		c.hints.HintsCut++
	}
	r.role = 0
}

func (c *collector) resolve(r *reference) bool {
	base := c.base
	if r.fromHeader {
		base = c.header
	}
	r.start = int32(len(c.hrefs))
	hrefs, err := base.AppendResolve(c.hrefs, r.text)
	if err != nil {
		c.skipURL(err)
		return false
	}
	r.end = int32(len(hrefs))
	if !isHTTP(hrefs[r.start:]) {
		return false
	}
	c.hrefs = hrefs
	return true
}

func isHTTP(href []byte) bool {
	return bytes.HasPrefix(href, []byte("http://")) || bytes.HasPrefix(href, []byte("https://"))
}

// hand gives a resolved reference its places in the hints.
func (c *collector) hand(r *reference, url string) {
	h := c.hints
	if r.role&roleLink != 0 {
		link := Link{URL: url, Kind: r.kind, NoFollow: r.noFollow}
		switch {
		case c.yield == nil:
			h.Links = append(h.Links, link)
		case !c.stopped:
			c.stopped = !c.yield(link)
		}
	}
	if r.role == roleLink {
		return
	}
	if r.role&roleCanonical != 0 && h.Canonical == "" {
		h.Canonical = url
	}
	if r.role&roleNext != 0 && h.Next == "" {
		h.Next = url
	}
	if r.role&rolePrev != 0 && h.Prev == "" {
		h.Prev = url
	}
	if r.role&roleRefresh != 0 && h.Refresh == nil {
		h.Refresh = &RefreshHint{Seconds: int(r.seconds), URL: url}
	}
	if r.role&roleFeed != 0 {
		h.Feeds = c.listOnce(h.Feeds, url, roleFeed)
	}
	if r.role&roleImage != 0 {
		h.Images = c.listOnce(h.Images, url, roleImage)
	}
	if r.role&roleAlternate != 0 {
		c.alternate(c.langs[r.lang], url)
	}
}

func (c *collector) alternate(lang, url string) {
	h := c.hints
	switch _, ok := h.Alternates[lang]; {
	case ok:
	case len(h.Alternates) >= c.max():
		h.HintsCut++
	default:
		if h.Alternates == nil {
			h.Alternates = map[string]string{}
		}
		h.Alternates[lang] = url
	}
}
