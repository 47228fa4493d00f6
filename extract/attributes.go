package extract

import "bytes"

// attributes holds the values of one tag that are read, as they are written in it. Of attributes of one name the first
// counts.
type attributes struct {
	set   uint32
	value [attrCount][]byte

	// slashInValue says that the "/" before the ">" belongs to an unquoted value, so that it closes nothing.
	slashInValue bool
}

func (a *attributes) reset()             { a.set, a.slashInValue = 0, false }
func (a *attributes) has(id attrID) bool { return a.set&(1<<id) != 0 }

func (a *attributes) put(id attrID, value []byte) {
	if !a.has(id) {
		a.set |= 1 << id
		a.value[id] = value
	}
}

// read reads the attributes of the tag whose name ends before b[i]; it returns where the tag ends, behind its ">", or
// -1 when it does not end in b.
func (a *attributes) read(b []byte, i int) int {
	a.reset()
	for {
		name, value, next, ok := attribute(b, i)
		if !ok {
			return next
		}
		a.slashInValue = len(value) > 0 && next < len(b) && b[next] == '>' && b[next-1] == '/'
		if id, known := lookupAttr(name); known {
			a.put(id, value)
		}
		i = next
	}
}

// tagEnd returns where the tag ends whose name ends before b[i], behind its ">", or -1. It is attribute, again and again,
// for the many tags of which nobody wants the attributes.
func tagEnd(b []byte, i int) int {
	for i < len(b) {
		switch c := class[b[i]]; {
		case b[i] == '>':
			return i + 1
		case c&betweenAttrs != 0:
			i++
			continue
		}
		for i++; i < len(b) && class[b[i]]&endsAttr == 0; i++ {
		}
		if i = skipSpace(b, i); i >= len(b) || b[i] != '=' {
			continue
		}
		if i = skipSpace(b, i+1); i >= len(b) {
			return -1
		}
		if q := b[i]; q == '"' || q == '\'' {
			n := bytes.IndexByte(b[i+1:], q)
			if n < 0 {
				return -1
			}
			i += n + 2
			continue
		}
		for i < len(b) && class[b[i]]&endsValue == 0 {
			i++
		}
	}
	return -1
}

// attribute reads the attribute that stands at b[i] or next (WHATWG HTML 13.2.5.32 to 39) and returns where it ends. Not
// ok means that there is none: next is where the tag ends, or -1 when b ends before.
func attribute(b []byte, i int) (name, value []byte, next int, ok bool) {
	for i < len(b) && class[b[i]]&betweenAttrs != 0 {
		i++
	}
	if i >= len(b) {
		return nil, nil, -1, false
	}
	if b[i] == '>' {
		return nil, nil, i + 1, false
	}
	start := i
	for i++; i < len(b) && class[b[i]]&endsAttr == 0; i++ { // "=" may start a name
	}
	name = b[start:i]
	if i = skipSpace(b, i); i >= len(b) {
		return nil, nil, -1, false
	}
	if b[i] != '=' {
		return name, nil, i, true
	}
	if i = skipSpace(b, i+1); i >= len(b) {
		return nil, nil, -1, false
	}
	if q := b[i]; q == '"' || q == '\'' {
		i++
		n := bytes.IndexByte(b[i:], q)
		if n < 0 {
			return nil, nil, -1, false
		}
		return name, b[i : i+n], i + n + 1, true
	}
	start = i
	for i < len(b) && class[b[i]]&endsValue == 0 {
		i++
	}
	return name, b[start:i], i, true
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && class[b[i]]&isSpace != 0 {
		i++
	}
	return i
}

// longTag goes through a tag that is longer than the window, any number of bytes at a time.
type longTag struct {
	id    tagID // tagOther for an end tag
	state longState
}

type longState uint8

const (
	longBeforeName longState = iota
	longTagName
	longName
	longAfterName
	longBeforeValue
	longUnquoted
	longSingle
	longDouble
)

// next returns where the tag ends in b, or -1. It is tagEnd, able to stop anywhere.
func (t *longTag) next(b []byte) int {
	for i, c := range b {
		switch t.state {
		case longTagName:
			if class[c]&endsName == 0 {
				continue
			}
		case longSingle, longDouble:
			if c == '\'' && t.state == longSingle || c == '"' && t.state == longDouble {
				t.state = longBeforeName
			}
			continue
		case longBeforeValue:
			switch {
			case class[c]&isSpace != 0:
				continue
			case c == '\'':
				t.state = longSingle
				continue
			case c == '"':
				t.state = longDouble
				continue
			case c != '>':
				t.state = longUnquoted
				continue
			}
		case longUnquoted:
			if class[c]&isSpace != 0 {
				t.state = longBeforeName
			}
			if c != '>' {
				continue
			}
		}
		switch { // in or around a name, or at the end
		case c == '>':
			return i + 1
		case c == '/':
			t.state = longBeforeName
		case class[c]&isSpace != 0:
			switch t.state {
			case longName:
				t.state = longAfterName
			case longTagName:
				t.state = longBeforeName
			}
		case c == '=' && t.state != longBeforeName:
			t.state = longBeforeValue
		default:
			t.state = longName
		}
	}
	return -1
}
