package torrent

import (
	"bytes"
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// rawElements walks over the strings of a path in bencode, which has been checked: a list of strings, or one string.
func rawElements(raw []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		if len(raw) > 0 && raw[0] == 'l' {
			raw = raw[1:]
		}
		for len(raw) > 0 && raw[0] != 'e' {
			var body []byte
			body, raw = cutElement(raw)
			if !yield(body) {
				return
			}
		}
	}
}

// cutElement cuts off the string that raw begins with.
func cutElement(raw []byte) (body, rest []byte) {
	n, i := 0, 0
	for ; raw[i] != ':'; i++ {
		n = n*10 + int(raw[i]-'0')
	}
	end := i + 1 + n
	return raw[i+1 : end : end], raw[end:]
}

// firstElement returns the first string of a list as it is encoded.
func firstElement(list []byte) []byte {
	_, rest := cutElement(list[1:])
	return list[1 : len(list)-len(rest)]
}

// padPrefix begins the name of a pad file of programs that know no attributes.
const padPrefix = "_____padding_file_"

// plain tells the bytes that need no care in a path element.
var plain = func() (t [256]bool) {
	for c := ' '; c <= '~'; c++ {
		t[c] = c != '/' && c != '\\'
	}
	return t
}()

// longElement is how many bytes of a path element are looked at, half at its start and half at its end.
const longElement = 16 * maxElement

// appendSafe appends the safe form of a path element. It appends nothing when nothing is left, as for ".".
func appendSafe(dst, raw []byte) []byte {
	if isPlain(raw) {
		return append(dst, raw...)
	}
	if len(raw) > longElement { // much more than what can be kept of it
		raw = slices.Concat(raw[:longElement/2], raw[len(raw)-longElement/2:])
	}
	start := len(dst)
	for i := 0; i < len(raw); {
		if plain[raw[i]] {
			dst = append(dst, raw[i])
			i++
			continue
		}
		r, size := utf8.DecodeRune(raw[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			dst = append(dst, '_')
		case r == '/' || r == '\\' || unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r):
		default:
			dst = append(dst, raw[i:i+size]...)
		}
		i += size
	}
	if name := dst[start:]; len(name) > maxElement {
		dst = append(dst[:start], shorten(name, maxElement)...)
	}
	switch name := string(dst[start:]); {
	case name != "." && name != "..":
	case len(raw) == len(name):
		return dst[:start]
	default:
		return append(dst[:start], '_')
	}
	return dst
}

// isSafe tells whether a path element is its own safe form.
func isSafe(raw []byte) bool {
	return isPlain(raw) || len(raw) > 0 && len(raw) <= maxElement && bytes.Equal(appendSafe(nil, raw), raw)
}

func isPlain(raw []byte) bool {
	if len(raw) > maxElement || len(raw) == 0 || raw[0] == '.' && (len(raw) == 1 || len(raw) == 2 && raw[1] == '.') {
		return false
	}
	for _, c := range raw {
		if !plain[c] {
			return false
		}
	}
	return true
}

// shorten cuts a name to at most limit bytes and keeps a short extension.
func shorten(name []byte, limit int) []byte {
	if len(name) <= limit {
		return name
	}
	stem, ext := splitExt(name)
	cut := limit - len(ext)
	for cut > 0 && !utf8.RuneStart(stem[cut]) {
		cut--
	}
	return append(bytes.Clone(stem[:cut]), ext...)
}

// splitExt cuts a name before its extension, the dot included. An extension has at most 16 bytes and a stem before it.
func splitExt(name []byte) (stem, ext []byte) {
	if i := bytes.LastIndexByte(name, '.'); i > 0 && len(name)-i <= 17 {
		return name[:i], name[i:]
	}
	return name, nil
}

// appendSafePath appends the safe form of a path in bencode and tells whether that is the path as stored. What is
// left of no element is "_", unless the element is empty, ".", ".." or control characters alone: that is left out. A
// path that would be too long loses folders before its last element.
func appendSafePath(dst, raw []byte) (safe []byte, same bool) {
	start := len(dst)
	last := start
	same = true
	if raw[0] == 'l' {
		raw = raw[1 : len(raw)-1]
	}
	for len(raw) > 0 {
		var e []byte
		e, raw = cutElement(raw)
		before := len(dst)
		if before > start {
			dst = append(dst, '/')
		}
		name := len(dst)
		dst = appendSafe(dst, e)
		same = same && string(dst[name:]) == string(e)
		if len(dst) == name {
			same = false
			if !leavesMark(e) {
				dst = dst[:before]
				continue
			}
			dst = append(dst, '_')
		}
		if len(dst)-start > maxPath-2*(maxElement+1) && last > start {
			same = false
			dst = dst[:last+copy(dst[last:], dst[name:])] // in place of the folder before it
			continue
		}
		last = name
	}
	if len(dst) == start {
		return append(dst, '_'), false
	}
	return dst, same
}

// leavesMark tells whether an element of which nothing is left is replaced rather than left out. Control characters
// count for nothing: some programs fill names up with them.
func leavesMark(e []byte) bool {
	e = bytes.TrimFunc(e, unicode.IsControl)
	return len(e) > 0 && string(e) != "." && string(e) != ".."
}

// paths gives every file its safe path. All paths share one string.
func (p *parser) paths() bool {
	files := p.m.Files
	if !p.m.Multi {
		files[0].Path = p.m.Name
		return true
	}
	var all strings.Builder // one piece of memory for all paths
	size := 0
	for i := range files {
		size += len(p.m.Name) + 1 + len(files[i].raw)
	}
	all.Grow(min(size, p.limits.PathBytes))
	path := append([]byte(p.m.Name), '/')
	elements := 0
	for i := range files {
		f := &files[i]
		safe, same := appendSafePath(path, f.raw)
		if !same {
			p.warnPath(f)
		}
		elements += bytes.Count(safe, []byte{'/'})
		if all.Len()+p.linkBytes+len(safe) > p.limits.PathBytes || elements > maxElements {
			return p.fault(ErrPathsTooLong, f.at, "path")
		}
		start := all.Len()
		all.Write(safe)
		f.Path = all.String()[start:]
		path = safe[:len(path)]
	}
	if len(files) > 1 && !p.makeUnique(files) {
		return false
	}
	if p.linkBytes > 0 {
		p.links(files)
	}
	return true
}

// warnPath tells that a path was changed, and blames its first unsafe element, or the last one when all are safe.
func (p *parser) warnPath(f *File) {
	kind, at := ErrUnsafePath, f.at
	unsafe := p.m.Version == V2 // the tree knows where it is
	for rest := f.raw[1 : len(f.raw)-1]; len(rest) > 0; {
		start := f.at + len(f.raw) - 1 - len(rest)
		var e []byte
		e, rest = cutElement(rest)
		if !utf8.Valid(e) {
			kind = ErrNotUTF8
		}
		if !unsafe {
			at, unsafe = start, !isSafe(e)
		}
	}
	p.warn(kind, at, "path")
}
