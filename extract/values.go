package extract

import (
	"bytes"
	"iter"
)

// refScheme is what the start of a reference says about its scheme.
type refScheme uint8

const (
	schemeHTTP refScheme = iota // http, https, or none: the base decides
	schemeMagnet
	schemeOther
)

// schemeOf reads the scheme of a reference as the URL standard does: blanks and control characters before it do not
// count, nor do tabs and newlines in it.
func schemeOf(ref []byte) refScheme {
	if len(ref) > 0 && ref[0] == '/' {
		return schemeHTTP
	}
	i := 0
	for i < len(ref) && ref[i] <= ' ' {
		i++
	}
	var scheme [7]byte
	n := 0
	for ; i < len(ref); i++ {
		c := ref[i]
		switch {
		case class[c]&isLetter != 0, n > 0 && (isDigit(c) || c == '+' || c == '-' || c == '.'):
			if n < len(scheme) {
				scheme[n] = c | 0x20
			}
			n++
		case c == '\t' || c == '\n' || c == '\r':
		case c == ':' && n > 0:
			switch string(scheme[:min(n, len(scheme))]) {
			case "http", "https":
				return schemeHTTP
			case "magnet":
				return schemeMagnet
			}
			return schemeOther
		default:
			return schemeHTTP
		}
	}
	return schemeHTTP
}

// magnetText is a magnet reference without what the URL standard takes away.
func magnetText(ref []byte) string {
	ref = bytes.TrimFunc(ref, func(r rune) bool { return r <= ' ' })
	if bytes.ContainsAny(ref, "\t\n\r") {
		ref = bytes.Map(func(r rune) rune {
			if r == '\t' || r == '\n' || r == '\r' {
				return -1
			}
			return r
		}, ref)
	}
	return string(ref)
}

// rels is a set of link relations.
type rels uint16

const (
	relNoFollow rels = 1 << iota
	relCanonical
	relNext
	relPrev
	relAlternate
	relStylesheet
	relFeed
	relPage // another relation that leads to a page
)

// parseRels reads the value of a rel: names in any case between blanks. Relations that lead to no page (stylesheet,
// icon, preload, preconnect, ...) and unknown ones count for nothing.
func parseRels(v []byte) (r rels) {
	for token := range bytes.FieldsFuncSeq(v, func(c rune) bool { return c < 0x80 && class[c]&isSpace != 0 }) {
		var buf [16]byte
		if len(token) > len(buf) {
			continue
		}
		switch string(lower(buf[:0], token)) {
		case "nofollow":
			r |= relNoFollow
		case "canonical":
			r |= relCanonical
		case "next":
			r |= relNext
		case "prev", "previous":
			r |= relPrev
		case "alternate":
			r |= relAlternate
		case "stylesheet":
			r |= relStylesheet
		case "feed":
			r |= relFeed
		case "appendix", "amphtml", "archives", "author", "chapter", "contents", "copyright", "first", "glossary",
			"help", "home", "index", "last", "license", "privacy-policy", "section", "shortlink", "start", "subsection",
			"terms-of-service", "toc", "up":
			r |= relPage
		}
	}
	return r
}

// roles says what a target with these relations is, alternates apart: their type counts.
func (r rels) roles() (out role) {
	for _, t := range [...]struct {
		rel  rels
		role role
	}{
		{relCanonical, roleCanonical | roleLink},
		{relNext, roleNext | roleLink},
		{relPrev, rolePrev | roleLink},
		{relFeed, roleFeed},
		{relPage, roleLink},
	} {
		if r&t.rel != 0 {
			out |= t.role
		}
	}
	return out
}

// typeKind is what a media type says an alternate is.
type typeKind uint8

const (
	typeOther typeKind = iota
	typePage           // HTML, or nothing said
	typeFeed
)

func kindOfType(mediaType []byte) typeKind {
	essence, _, _ := bytes.Cut(mediaType, []byte(";"))
	switch string(bytes.ToLower(bytes.TrimSpace(essence))) {
	case "", "text/html", "application/xhtml+xml":
		return typePage
	case "application/rss+xml", "application/atom+xml", "application/feed+json", "application/rdf+xml":
		return typeFeed
	}
	return typeOther
}

// srcsetURLs yields the URLs of a srcset (WHATWG HTML 4.8.4.2.3).
func srcsetURLs(v []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for {
			v = bytes.TrimLeft(v, " \t\n\r\f,")
			if len(v) == 0 {
				return
			}
			end := bytes.IndexAny(v, " \t\n\r\f")
			if end < 0 {
				end = len(v)
			}
			url := v[:end]
			v = v[end:]
			if bare := bytes.TrimRight(url, ","); len(bare) < len(url) {
				url = bare // a comma ends the candidate
			} else {
				v = v[descriptorsEnd(v):]
			}
			if len(url) > 0 && !yield(url) {
				return
			}
		}
	}
}

// descriptorsEnd returns where the descriptors that v starts with end: at a comma outside of parentheses.
func descriptorsEnd(v []byte) int {
	inParens := false
	for i, c := range v {
		switch {
		case c == '(':
			inParens = true
		case c == ')':
			inParens = false
		case c == ',' && !inParens:
			return i
		}
	}
	return len(v)
}

// maxSeconds bounds the time of a refresh.
const maxSeconds = 1<<31 - 1

// parseRefresh reads a refresh (WHATWG HTML 4.2.5.3, "shared declarative refresh steps"). The URL is nil when there is
// none.
func parseRefresh(v []byte) (seconds int, url []byte, ok bool) {
	const blanks = " \t\n\r\f"
	v = bytes.TrimLeft(v, blanks)
	i := 0
	for ; i < len(v) && isDigit(v[i]); i++ {
		seconds = min(seconds*10+int(v[i]-'0'), maxSeconds)
	}
	if i == 0 && (len(v) == 0 || v[0] != '.') {
		return 0, nil, false
	}
	v = bytes.TrimLeft(v[i:], "0123456789.")
	if len(v) == 0 {
		return seconds, nil, true
	}
	if v[0] != ';' && v[0] != ',' && class[v[0]]&isSpace == 0 {
		return 0, nil, false
	}
	v = bytes.TrimLeft(v, blanks)
	if len(v) > 0 && (v[0] == ';' || v[0] == ',') {
		v = bytes.TrimLeft(v[1:], blanks)
	}
	if len(v) == 0 {
		return seconds, nil, true
	}
	return seconds, refreshURL(v), true
}

// refreshURL takes "url=" and quotes from the URL of a refresh.
func refreshURL(v []byte) []byte {
	const blanks = " \t\n\r\f"
	if len(v) >= 3 && equalFold(v[:3], "url") {
		rest := bytes.TrimLeft(v[3:], blanks)
		if len(rest) == 0 || rest[0] != '=' {
			return v
		}
		v = bytes.TrimLeft(rest[1:], blanks)
	}
	if len(v) > 0 && (v[0] == '"' || v[0] == '\'') {
		quote := v[0]
		v = v[1:]
		if end := bytes.IndexByte(v, quote); end >= 0 {
			v = v[:end]
		}
	}
	return v
}
