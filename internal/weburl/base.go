package weburl

import (
	"bytes"
	"strings"
)

// Base resolves the references of one page. It is immutable and safe for concurrent use.
type Base struct {
	url      URL
	encoding *queryEncoding

	// Prefixes of the href, for the fast path; empty when the base is no http URL.
	scheme    string // "http:"
	origin    string // without user info
	root      string // with user info
	directory string // up to the last slash of the path
	page      string // up to the end of the path
	whole     string // up to the end of the query
}

// NewBase returns the base u of a document in the encoding of the given label of the Encoding standard. Queries of
// links are percent-encoded in it; "" and labels that nobody knows mean UTF-8. The references themselves are UTF-8.
func NewBase(u URL, encoding string) *Base {
	b := &Base{url: u}
	if encoding != "" {
		b.encoding = newQueryEncoding(encoding)
	}
	if !u.IsHTTP() {
		return b
	}
	directory := strings.LastIndexByte(u.Path(), '/') + 1
	b.scheme = u.href[:u.at.scheme+1]
	b.origin = u.Origin()
	b.root = u.href[:u.at.authority]
	b.directory = u.href[:int(u.at.path)+directory]
	b.page = u.href[:u.at.pathEnd]
	b.whole = u.href[:u.at.queryEnd]
	return b
}

// URL returns the base itself.
func (b *Base) URL() URL { return b.url }

// AppendResolve appends the href of ref resolved against the base, without a fragment, to dst, and returns dst as it was
// with the error, an *Error, when there is none. It keeps neither dst nor ref. Common references allocate nothing but
// what dst needs to grow.
func (b *Base) AppendResolve(dst, ref []byte) ([]byte, error) {
	if out, ok := b.appendFast(dst, ref); ok {
		return out, nil
	}
	return b.appendFull(dst, ref)
}

func (b *Base) appendFull(dst, ref []byte) ([]byte, error) {
	p := parser{base: &b.url, encoding: b.encoding, dropFragment: true}
	if reason := p.run(string(ref)); reason != 0 {
		return dst, newError("resolve", string(ref), reason)
	}
	return append(dst, p.out...), nil
}

// appendFast resolves a reference that needs no change but joining; false means that the full parser must see it.
func (b *Base) appendFast(dst, ref []byte) ([]byte, bool) {
	start := len(dst)
	dst, ok := b.appendJoined(dst, ref)
	return dst, ok && len(ref) <= MaxLength && len(dst)-start <= MaxLength
}

func (b *Base) appendJoined(dst, ref []byte) ([]byte, bool) {
	if prefix := httpPrefix(ref); prefix > 0 {
		return b.appendAbsolute(dst, ref, prefix)
	}
	if b.root == "" {
		return dst, false
	}
	if len(ref) == 0 {
		return append(dst, b.whole...), true
	}
	root := len(dst) + len(b.root)
	switch ref[0] {
	case '#':
		return append(dst, b.whole...), true
	case '?':
		return appendQuery(append(dst, b.page...), ref, 0)
	case '/':
		if len(ref) == 1 || ref[1] != '/' {
			return appendPath(append(append(dst, b.root...), '/'), ref, 1, root)
		}
		_, end := scanAuthority(ref, 2, b.scheme == "https:")
		if end < 0 {
			return dst, false
		}
		return appendRooted(append(append(dst, b.scheme...), ref[:end]...), ref, end)
	}
	if hasScheme(ref) {
		return dst, false
	}
	directory, i := b.climb(ref)
	return appendPath(append(dst, directory...), ref, i, root)
}

// climb takes the dot segments off the front of a relative reference: it returns the directory that they lead to and
// where the rest begins.
func (b *Base) climb(ref []byte) (directory string, i int) {
	directory = b.directory
	for i < len(ref) && ref[i] == '.' {
		switch {
		case len(ref) > i+1 && ref[i+1] == '/':
			i += 2
		case len(ref) > i+2 && ref[i+1] == '.' && ref[i+2] == '/':
			i += 3
			if slash := strings.LastIndexByte(directory[:len(directory)-1], '/'); slash >= len(b.root) {
				directory = directory[:slash+1]
			}
		default:
			return directory, i
		}
	}
	return directory, i
}

// appendAbsolute resolves a reference that starts with "http://" or "https://". The origin of most is that of the page.
func (b *Base) appendAbsolute(dst, ref []byte, prefix int) ([]byte, bool) {
	if n := len(b.origin); n > 0 && len(ref) > n && ref[n] == '/' && string(ref[:n]) == b.origin {
		return appendRooted(append(dst, b.origin...), ref, n)
	}
	_, end := scanAuthority(ref, prefix, prefix == len("https://"))
	if end < 0 {
		return dst, false
	}
	return appendRooted(append(dst, ref[:end]...), ref, end)
}

// appendRooted appends what stands behind an authority.
func appendRooted(dst, ref []byte, i int) ([]byte, bool) {
	root := len(dst)
	dst = append(dst, '/')
	if i < len(ref) && ref[i] == '/' {
		i++
	}
	return appendPath(dst, ref, i, root)
}

// appendPath appends the path and query of ref from i, the start of a segment; dst ends with the slash before it, and
// its own path starts at root.
func appendPath(dst, ref []byte, i, root int) ([]byte, bool) {
	end, dots := scanPath(ref, i)
	if end < 0 {
		return dst, false
	}
	if dots {
		dst = appendSegments(dst, ref[i:end], root)
	} else {
		dst = append(dst, ref[i:end]...)
	}
	return appendQuery(dst, ref, end)
}

func appendQuery(dst, ref []byte, i int) ([]byte, bool) {
	end := scanQuery(ref, i)
	if end < 0 {
		return dst, false
	}
	return append(dst, ref[i:end]...), true
}

// appendSegments appends a path segment by segment, taking dot segments out.
func appendSegments(dst, path []byte, root int) []byte {
	for {
		segment, more := path, false
		if slash := bytes.IndexByte(path, '/'); slash >= 0 {
			segment, path, more = path[:slash], path[slash+1:], true
		}
		switch dotSegment(segment) {
		case 0:
			dst = append(dst, segment...)
			if more {
				dst = append(dst, '/')
			}
		case 2:
			if slash := bytes.LastIndexByte(dst[root:len(dst)-1], '/'); slash >= 0 {
				dst = dst[:root+slash+1]
			}
		}
		if !more {
			return dst
		}
	}
}

// hasScheme reports whether ref starts with a scheme and a colon.
func hasScheme(ref []byte) bool {
	if !isAlpha(ref[0]) {
		return false
	}
	i := 1
	for i < len(ref) && classOf[ref[i]]&schemeByte != 0 {
		i++
	}
	return i < len(ref) && ref[i] == ':'
}
