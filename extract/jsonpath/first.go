package jsonpath

import (
	"encoding/binary"
	"math/bits"
)

// First looks the path up in a document that is known to be JSON, and stops at what it finds. What follows is not looked
// at, which is what makes it fast; so of names that repeat the first counts, where Find and Select take the last, as
// encoding/json does. For a document of which that may matter, and for one that nobody has checked, there is Find. What is no
// JSON gives a value that is none, or none; nothing worse. It allocates nothing unless names of the document have escapes.
// ok is false for a path that is not definite.
func (p *Path) First(doc []byte) (raw []byte, ok bool) {
	if !p.definite {
		return nil, false
	}
	i := skipSpace(doc, 0)
	for _, s := range p.steps {
		if i >= len(doc) {
			return nil, false
		}
		switch {
		case doc[i] == '{' && !s.isIndex:
			i, ok = seekMember(doc, i+1, s.name)
		case doc[i] == '[' && s.isIndex:
			i, ok = seekElement(doc, i+1, s.index)
		default:
			return nil, false
		}
		if !ok {
			return nil, false
		}
	}
	end := pass(doc, i)
	return doc[i:end], end > i
}

// seekMember returns where the value of a name begins in the object whose first member is at b[i] or behind blanks.
func seekMember(b []byte, i int, name string) (int, bool) {
	for {
		i = skipSpace(b, i)
		if i >= len(b) || b[i] != '"' {
			return i, false
		}
		end := passString(b, i+1)
		key := b[i+1 : max(end-1, i+1)]
		if i = skipSpace(b, end); i >= len(b) || b[i] != ':' {
			return i, false
		}
		i = skipSpace(b, i+1)
		if isName(key, name) {
			return i, i < len(b)
		}
		if i = skipSpace(b, pass(b, i)); i >= len(b) || b[i] != ',' {
			return i, false
		}
		i++
	}
}

// seekElement returns where an element begins in the array whose first one is at b[i] or behind blanks.
func seekElement(b []byte, i, index int) (int, bool) {
	if index < 0 {
		index += elements(b, i)
		if index < 0 {
			return i, false
		}
	}
	for ; ; index-- {
		i = skipSpace(b, i)
		if i >= len(b) || b[i] == ']' {
			return i, false
		}
		if index == 0 {
			return i, true
		}
		if i = skipSpace(b, pass(b, i)); i >= len(b) || b[i] != ',' {
			return i, false
		}
		i++
	}
}

// elements counts the elements of an array.
func elements(b []byte, i int) (n int) {
	for {
		i = skipSpace(b, i)
		if i >= len(b) || b[i] == ']' {
			return n
		}
		n++
		if i = skipSpace(b, pass(b, i)); i >= len(b) || b[i] != ',' {
			return n
		}
		i++
	}
}

// pass returns where the value at b[i] ends; it looks at no more than that takes.
func pass(b []byte, i int) int {
	if i >= len(b) {
		return i
	}
	switch b[i] {
	case '"':
		return passString(b, i+1)
	case '{', '[':
		return passNested(b, i)
	}
	for i < len(b) && !endsScalar[b[i]] {
		i++
	}
	return i
}

// passNested returns where the array or object ends that begins at b[i]. It goes by words of eight bytes and asks all bytes
// of one at once, so that it costs the same however short the strings and values are.
func passNested(b []byte, i int) int {
	depth, inside := 0, uint64(0) // inside: 1 while a string is open
	for i < len(b) {
		w := wordAt(b, i)
		marked := w & (w << 1) & (w >> 2) & marks
		if marked == 0 {
			inside ^= count(equal(w, '"')) & 1
			i += 8
			continue
		}
		n := 8
		if slash := equal(w, '\\'); slash != 0 { // what is escaped counts for nothing: go on behind it
			n = bits.TrailingZeros64(slash)/8 + 2
			w &= 1<<(8*n-16) - 1
			marked &= w
		}
		inString := spread(equal(w, '"')) ^ inside*ones
		inside = inString >> 56
		for brackets := marked >> 4 &^ inString; brackets != 0; brackets &= brackets - 1 {
			at := bits.TrailingZeros64(brackets)
			if w>>at&4 == 0 { // ] and } have a bit that [ and { have not
				depth++
			} else if depth--; depth <= 0 {
				return i + at/8 + 1
			}
		}
		i += n
	}
	return len(b)
}

// marks are the bits of which a word, and the word moved by one up and by two down, have one set in the bytes that have the
// bits of 0x58 set: brackets and backslashes, and of what may stand outside the strings of JSON nothing else.
const marks = ones * 0x10

// wordAt returns eight bytes, the first as the lowest; behind the end they are zero.
func wordAt(b []byte, i int) uint64 {
	if len(b)-i >= 8 {
		return binary.LittleEndian.Uint64(b[i:])
	}
	var rest [8]byte
	copy(rest[:], b[i:])
	return binary.LittleEndian.Uint64(rest[:])
}

// equal sets the lowest bit of each byte that is c.
func equal(w uint64, c byte) uint64 {
	w ^= ones * uint64(c)
	return ^((w&^highs + ^uint64(highs)) | w) & highs >> 7
}

// spread sets the lowest bit of each byte from each odd one that has it set up to, and without, the next.
func spread(w uint64) uint64 {
	w ^= w << 8
	w ^= w << 16
	return w ^ w<<32
}

// count counts the bytes whose lowest bit is set, of those that have no other.
func count(w uint64) uint64 { return w * ones >> 56 }

// passString returns where the string ends whose first byte behind the quote is b[i].
func passString(b []byte, i int) int {
	for len(b)-i >= 8 { // eight bytes at a time up to a quote or a backslash
		stop := stops(binary.LittleEndian.Uint64(b[i:]))
		if stop == 0 {
			i += 8
			continue
		}
		if i += bits.TrailingZeros64(stop) / 8; b[i] == '"' {
			return i + 1
		}
		i += 2
	}
	for ; i < len(b); i++ {
		switch b[i] {
		case '"':
			return i + 1
		case '\\':
			i++
		}
	}
	return len(b)
}

// stops tells where the first quote or backslash is: its lowest bit that is set is the high one of that byte.
func stops(w uint64) uint64 {
	quote, slash := w^ones*'"', w^ones*'\\'
	return ((quote-ones)&^quote | (slash-ones)&^slash) & highs
}

var endsScalar = [256]bool{',': true, '}': true, ']': true, ' ': true, '\t': true, '\n': true, '\r': true}
