package extract

import (
	"bytes"
	"net/http"
	"strings"
)

// readHeader takes what the header of the response says: Link (RFC 8288), Refresh, X-Robots-Tag and reservations of use.
// References in it are resolved against the page, whatever its base element says.
func (c *collector) readHeader(h http.Header) {
	if len(h) == 0 {
		return
	}
	for _, field := range h["Link"] {
		for l := range linkFields(field) {
			c.linked(reference{text: []byte(l.target), kind: Header, fromHeader: true}, parseRels([]byte(l.rel)),
				[]byte(l.mediaType), []byte(l.hreflang))
		}
	}
	for _, field := range h["Refresh"] {
		c.refresh([]byte(field), true)
	}
	for _, field := range h["X-Robots-Tag"] {
		c.robotsHeader(field)
	}
	for _, name := range [...]string{"Tdm-Reservation", "Tdm-Policy", "Content-Usage"} {
		for _, field := range h[name] {
			c.usage(strings.ToLower(name), field)
		}
	}
}

// meta takes a meta element.
func (c *collector) meta(a *attributes) {
	content := c.value(a, attrContent)
	if len(content) == 0 {
		return
	}
	if equalFold(c.value(a, attrHTTPEquiv), "refresh") {
		c.refresh(content, false)
	}
	name := trimBlanks(c.value(a, attrName))
	switch {
	case len(name) == 0:
	case equalFold(name, "robots"), strings.EqualFold(string(name), c.o.Agent):
		for d := range directives(string(content)) {
			c.directive(d)
		}
	case equalFold(name, "tdm-reservation"), equalFold(name, "tdm-policy"):
		c.usage(strings.ToLower(string(name)), string(content))
	}
}

func trimBlanks(b []byte) []byte { return bytes.Trim(b, " \t\n\r\f") }

func (c *collector) usage(name, value string) {
	c.hints.Usage = c.list(c.hints.Usage, name+": "+strings.TrimSpace(value))
}

func (c *collector) refresh(content []byte, fromHeader bool) {
	seconds, url, ok := parseRefresh(content)
	if !ok {
		return
	}
	r := reference{text: url, role: roleRefresh, kind: Refresh, seconds: int32(seconds), fromHeader: fromHeader || url == nil}
	if url != nil {
		r.role |= roleLink
	}
	c.add(r)
}

// robotsHeader reads an X-Robots-Tag. A name before a colon, unless it is a directive that takes a value, says for whom
// the directives up to the next name are.
func (c *collector) robotsHeader(field string) {
	forUs := true
	for d := range directives(field) {
		if name, rest, ok := strings.Cut(d, ":"); ok && !takesValue(strings.TrimSpace(name)) {
			forUs = strings.EqualFold(strings.TrimSpace(name), c.o.Agent)
			d = strings.TrimSpace(rest)
		}
		if forUs {
			c.directive(d)
		}
	}
}

// takesValue says whether a robots directive is written with a colon and a value.
func takesValue(name string) bool {
	switch name {
	case "unavailable_after", "max-snippet", "max-image-preview", "max-video-preview":
		return true
	}
	return false
}

// directives yields the robots directives of a text in lower case: they stand between commas, semicolons or blanks. A
// directive with a colon keeps its blanks, and a date the comma behind its weekday.
func directives(text string) func(func(string) bool) {
	return func(yield func(string) bool) {
		text = strings.ToLower(text)
		for text != "" {
			piece := text
			text = ""
			if end := directiveEnd(piece); end < len(piece) {
				piece, text = piece[:end], piece[end+1:]
			}
			if strings.Contains(piece, ":") {
				if !yield(strings.TrimSpace(piece)) {
					return
				}
				continue
			}
			for word := range strings.FieldsSeq(piece) {
				if !yield(word) {
					return
				}
			}
		}
	}
}

func directiveEnd(s string) int {
	end := strings.IndexAny(s, ",;")
	if end < 0 {
		return len(s)
	}
	colon := strings.LastIndexByte(s[:end], ':')
	if s[end] != ',' || colon < 0 || !isWeekday(strings.TrimSpace(s[colon+1:end])) ||
		!strings.HasSuffix(strings.TrimSpace(s[:colon]), "unavailable_after") {
		return end
	}
	if date := strings.IndexAny(s[end+1:], ",;"); date >= 0 {
		return end + 1 + date
	}
	return len(s)
}

func isWeekday(s string) bool {
	return len(s) >= 3 && len(s) <= len("wednesday") && strings.Contains("mon tue wed thu fri sat sun", s[:3])
}

// directive takes one robots directive that is for us.
func (c *collector) directive(d string) {
	switch d {
	case "", "index", "follow", "all":
		return
	case "noindex":
		c.hints.NoIndex = true
	case "nofollow":
		c.hints.NoFollow = true
	case "none":
		c.hints.NoIndex, c.hints.NoFollow = true, true
	}
	for _, have := range c.hints.Robots {
		if have == d {
			return
		}
	}
	if len(c.hints.Robots) >= maxDirectives {
		c.hints.HintsCut++
		return
	}
	c.hints.Robots = append(c.hints.Robots, d)
}

// linkField is one link of a Link header.
type linkField struct{ target, rel, mediaType, hreflang string }

// linkFields yields the links of a Link header field (RFC 8288, B.2). What is no link ends the field, links of another
// context (anchor) are left out.
func linkFields(field string) func(func(linkField) bool) {
	return func(yield func(linkField) bool) {
		for {
			field = strings.TrimLeft(field, " \t,")
			if field == "" || field[0] != '<' {
				return
			}
			target, rest, ok := strings.Cut(field[1:], ">")
			if !ok {
				return
			}
			l := linkField{target: target}
			var foreign bool
			field, foreign = l.params(rest)
			if !foreign && l.rel != "" && !yield(l) {
				return
			}
		}
	}
}

// params reads the parameters of a link and returns what stands behind them, and whether the link has a context of its
// own. Of parameters of one name the first counts.
func (l *linkField) params(s string) (rest string, foreign bool) {
	for {
		s = strings.TrimLeft(s, " \t")
		if s == "" || s[0] != ';' {
			return s, foreign
		}
		s = strings.TrimLeft(s[1:], " \t")
		end := strings.IndexAny(s, " \t=;,")
		if end < 0 {
			end = len(s)
		}
		name := strings.ToLower(s[:end])
		s = strings.TrimLeft(s[end:], " \t")
		var value string
		if s != "" && s[0] == '=' {
			value, s = paramValue(strings.TrimLeft(s[1:], " \t"))
		}
		switch name {
		case "rel":
			l.rel = first(l.rel, value)
		case "type":
			l.mediaType = first(l.mediaType, value)
		case "hreflang":
			l.hreflang = first(l.hreflang, value)
		case "anchor":
			foreign = true
		}
	}
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// paramValue reads a token or a quoted string.
func paramValue(s string) (value, rest string) {
	if s == "" || s[0] != '"' {
		end := strings.IndexAny(s, ";,")
		if end < 0 {
			end = len(s)
		}
		return strings.TrimSpace(s[:end]), s[end:]
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '"':
			return b.String(), s[i+1:]
		case s[i] == '\\' && i+1 < len(s):
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String(), ""
}
