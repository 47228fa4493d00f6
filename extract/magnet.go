package extract

import (
	"html"
	"net/url"
	"path"
	"strings"

	xhtml "golang.org/x/net/html"

	"github.com/seine-go/seine/internal/htmltree"
)

// findMagnets finds magnet links, in any attribute and in texts, and links to .torrent files; each link once. What it finds
// reads as the link; in a nested struct the sources look at the element of the link, and magnet= is the link.
func (s *source) findMagnets(x *run, root *xhtml.Node, hits []hit) []hit {
	seen := map[string]bool{}
	add := func(n *xhtml.Node, link string) {
		if !seen[link] && (x.most < 0 || len(seen) <= x.most) { // one too many is an error of the list
			seen[link] = true
			hits = append(hits, hit{node: n, text: link, kind: hitLink})
		}
	}
	for n := root; n != nil; n = htmltree.Next(n, root) {
		x.steps--
		switch n.Type {
		case xhtml.TextNode:
			if s.name != "torrent" {
				magnetsIn(n.Data, func(link string) { add(n.Parent, link) })
			}
		case xhtml.ElementNode:
			for _, a := range n.Attr {
				switch value := strings.TrimSpace(a.Val); {
				case s.name != "magnet" && a.Key == "href" && isTorrent(value):
					if abs, ok := x.doc.resolveRef(value); ok {
						value = abs
					}
					add(n, value)
				case s.name == "torrent":
				case isMagnet(value):
					add(n, value)
				default: // as in onclick="copy('magnet:?…')"
					magnetsIn(value, func(link string) { add(n, link) })
				}
			}
		}
	}
	return hits
}

const magnetScheme = "magnet:?"

func isMagnet(s string) bool {
	return len(s) > len(magnetScheme) && strings.EqualFold(s[:len(magnetScheme)], magnetScheme)
}

func isTorrent(ref string) bool {
	if !strings.Contains(strings.ToLower(ref), ".torrent") {
		return false
	}
	u, err := url.Parse(ref)
	return err == nil && strings.EqualFold(path.Ext(u.Path), ".torrent")
}

// magnetsIn finds the magnet links in a text; one ends at a blank, a quote or a bracket, but square brackets round a part of a
// name, dn=[Group]Title, are its own.
func magnetsIn(text string, yield func(link string)) {
	for {
		i := indexMagnet(text)
		if i < 0 {
			return
		}
		text = text[i:]
		end := magnetEnd(text)
		if link := strings.TrimRight(text[:end], ".,;:!?"); len(link) > len(magnetScheme) {
			yield(html.UnescapeString(link))
		}
		text = text[end:]
	}
}

// indexMagnet finds where a magnet link begins, in any case; -1 without one.
func indexMagnet(text string) int {
	const name = len(magnetScheme) - len(":?")
	for from := 0; ; {
		i := strings.Index(text[from:], ":?")
		if i < 0 {
			return -1
		}
		if i += from; i >= name && strings.EqualFold(text[i-name:i], magnetScheme[:name]) {
			return i - name
		}
		from = i + len(":?")
	}
}

// magnetEnd is where the magnet link ends that a text begins with.
func magnetEnd(text string) int {
	const ends = " \t\r\n\f\"'<>(){}，。、）】"
	for i := 0; ; {
		n := strings.IndexAny(text[i:], ends+"[]")
		if n < 0 {
			return len(text)
		}
		i += n
		closing := strings.IndexAny(text[i+1:], ends+"[]")
		if text[i] != '[' || closing < 1 || text[i+1] == '/' || text[i+1+closing] != ']' || !strings.Contains(text[:i], "dn=") {
			return i
		}
		i += 1 + closing + 1
	}
}
