package torrent

import (
	"bytes"
	"unicode/utf8"

	"github.com/seine-go/seine/torrent/bencode"
)

// once reads a value by read, or passes over it if its key was there before.
func (p *parser) once(seen *bool, read func()) {
	if *seen {
		p.Value()
		return
	}
	*seen = true
	read()
}

// text takes a string over, unless it is empty.
func (p *parser) text(dst *string, t bencode.Token, key string) {
	if p.optional(t, bencode.String, key) && len(p.Text(t)) > 0 {
		*dst = string(p.Text(t))
	}
}

// optional warns of a value that is there and of another kind.
func (p *parser) optional(t bencode.Token, kind bencode.Kind, key string) bool {
	if t.Kind != kind && t.Kind != bencode.None {
		p.warn(ErrWrongType, t.Start, key)
	}
	return t.Kind == kind
}

// first reads a value and keeps it if it is the first one of its key.
func (p *parser) first(dst *bencode.Token) {
	if t := p.Value(); dst.Kind == bencode.None {
		*dst = t
	}
}

// name takes name.utf-8 if it is usable, else name.
func (p *parser) name() bool {
	in := &p.info
	if t := in.nameUTF8; p.optional(t, bencode.String, "name.utf-8") {
		if utf8.Valid(p.Text(t)) && p.takeName(t, "name.utf-8") {
			return true
		}
		p.warnName(t.Start, "name.utf-8", p.Text(t))
	}
	return in.name.Kind == bencode.String && p.takeName(in.name, "name") ||
		p.fault(ErrMissingName, max(in.name.Start, in.offset), "name")
}

// takeName takes a name, unless it is empty, of control characters alone, or a parent reference. What is left of no
// other name is "_", as it is with elements of paths.
func (p *parser) takeName(t bencode.Token, key string) bool {
	raw := p.Text(t)
	safe := appendSafe(nil, raw)
	if len(safe) == 0 {
		if string(raw) != "." && !leavesMark(raw) {
			return false
		}
		safe = append(safe, '_')
	}
	if string(safe) != string(raw) {
		p.warnName(t.Start, key, raw)
	}
	p.info.name, p.m.RawName, p.m.Name = t, raw, string(safe)
	return true
}

// warnName tells that a name was changed.
func (p *parser) warnName(at int, key string, raw []byte) {
	if utf8.Valid(raw) {
		p.warn(ErrUnsafePath, at, key)
	} else {
		p.warn(ErrNotUTF8, at, key)
	}
}

// sameRaw compares the stored path of a file of version 1 with that of version 2.
func sameRaw(v1, v2 []byte) bool {
	if v1[0] == 'l' {
		return bytes.Equal(v1, v2)
	}
	return bytes.Equal(v1, v2[1:len(v2)-1]) && bytes.Equal(v1, firstElement(v2))
}
