package extract

import "bytes"

// attributes holds the values of one tag that are read, as they are written in it. Of attributes of one name the first
// counts.
type attributes struct {
	set     uint32
	value   [attrCount][]byte
	decoded bool // values hold no character references: they come from a tree

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
// -1 when it does not end in b (WHATWG HTML 13.2.5.32 to 40).
func (a *attributes) read(b []byte, i int) int {
	a.reset()
	for {
		for i < len(b) && class[b[i]]&betweenAttrs != 0 {
			i++
		}
		if i >= len(b) {
			return -1
		}
		if b[i] == '>' {
			return i + 1
		}
		start := i
		for i++; i < len(b) && class[b[i]]&endsAttr == 0; i++ { // "=" may start a name
		}
		name := b[start:i]
		value, next := a.readValue(b, i)
		if next < 0 {
			return -1
		}
		i = next
		if id, ok := lookupAttr(name); ok {
			a.put(id, value)
		}
	}
}

// readValue reads what follows the name of an attribute.
func (a *attributes) readValue(b []byte, i int) (value []byte, next int) {
	for i < len(b) && class[b[i]]&isSpace != 0 {
		i++
	}
	if i >= len(b) {
		return nil, -1
	}
	if b[i] != '=' {
		return nil, i
	}
	for i++; i < len(b) && class[b[i]]&isSpace != 0; i++ {
	}
	if i >= len(b) {
		return nil, -1
	}
	switch q := b[i]; q {
	case '"', '\'':
		i++
		n := bytes.IndexByte(b[i:], q)
		if n < 0 {
			return nil, -1
		}
		return b[i : i+n], i + n + 1
	case '>':
		return nil, i
	}
	start := i
	for i < len(b) && class[b[i]]&endsValue == 0 {
		i++
	}
	if i >= len(b) {
		return nil, -1
	}
	a.slashInValue = b[i] == '>' && b[i-1] == '/'
	return b[start:i], i
}

// tagEnd returns where the tag ends whose name ends before b[i], or -1: read without the reading.
func tagEnd(b []byte, i int) int {
	for {
		for i < len(b) && class[b[i]]&betweenAttrs != 0 {
			i++
		}
		if i >= len(b) {
			return -1
		}
		if b[i] == '>' {
			return i + 1
		}
		for i++; i < len(b) && class[b[i]]&endsAttr == 0; i++ {
		}
		for i < len(b) && class[b[i]]&isSpace != 0 {
			i++
		}
		if i >= len(b) {
			return -1
		}
		if b[i] != '=' {
			continue
		}
		for i++; i < len(b) && class[b[i]]&isSpace != 0; i++ {
		}
		if i >= len(b) {
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
