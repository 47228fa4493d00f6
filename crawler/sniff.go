package crawler

import (
	"bytes"
	"net/http"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// IsHTML reports whether the page is HTML: by its media type, or, without one, by its first bytes. Of several types the last
// that is one counts (Fetch standard, "extract a MIME type").
func (p *Page) IsHTML() bool {
	switch mediaType(p.Response.Header["Content-Type"]) {
	case "text/html", "application/xhtml+xml":
		return true
	case "":
		return looksHTML(p.Response.Body)
	}
	return false
}

func mediaType(values []string) (media string) {
	for _, v := range values {
		for part := range strings.SplitSeq(v, ",") {
			essence, _, _ := strings.Cut(part, ";")
			essence = strings.ToLower(strings.TrimSpace(essence))
			kind, sub, _ := strings.Cut(essence, "/")
			if httpguts.ValidHeaderFieldName(kind) && httpguts.ValidHeaderFieldName(sub) && essence != "*/*" {
				media = essence
			}
		}
	}
	return media
}

// maxSniff is how many bytes at the beginning of a body are looked at to tell what it is.
const maxSniff = 16 << 10

// looksHTML reports whether a body that has no type is HTML: by what the MIME Sniffing standard (7.1) takes for it, but that
// a byte order mark, comments of any form and an XML declaration may stand before it, and any element that HTML has at its
// beginning is one. Comments alone are HTML, as there.
func looksHTML(body []byte) bool {
	body = body[:min(len(body), maxSniff)]
	body = bytes.TrimPrefix(body, []byte("\xEF\xBB\xBF"))
	comment := false
	for {
		body = bytes.TrimLeft(body, " \t\r\n\f")
		end := ""
		switch {
		case bytes.HasPrefix(body, []byte("<!--")):
			comment, end = true, "-->"
		case bytes.HasPrefix(body, []byte("<?")):
			end = "?>"
		default:
			if name := tagName(body); name != "" {
				return htmlFirst[name]
			}
			return comment || strings.HasPrefix(http.DetectContentType(body), "text/html")
		}
		i := bytes.Index(body[2:], []byte(end))
		if i < 0 {
			return comment
		}
		body = body[2+i+len(end):]
	}
}

// tagName returns the name of the start tag, or "!doctype html", that b begins with, in lower case; "" if it begins with none.
func tagName(b []byte) string {
	const doctype = "<!doctype html"
	if len(b) >= len(doctype) && bytes.EqualFold(b[:len(doctype)], []byte(doctype)) {
		return doctype[1:]
	}
	if len(b) == 0 || b[0] != '<' {
		return ""
	}
	i := bytes.IndexAny(b, " \t\r\n\f/>")
	if i < 2 || i > 16 {
		return ""
	}
	return strings.ToLower(string(b[1:i]))
}

// htmlFirst are the elements with which pages without a doctype begin.
var htmlFirst = map[string]bool{
	"!doctype html": true, "html": true, "head": true, "body": true, "title": true, "meta": true, "link": true, "base": true,
	"script": true, "style": true, "noscript": true, "iframe": true, "frameset": true, "h1": true, "h2": true, "h3": true,
	"div": true, "p": true, "a": true, "b": true, "br": true, "font": true, "center": true, "table": true, "ul": true, "ol": true,
	"main": true, "header": true, "nav": true, "section": true, "article": true, "form": true, "img": true, "span": true,
}
