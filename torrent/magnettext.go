package torrent

import (
	"encoding/binary"
	"math/bits"
)

// The texts and the lists of usual links lie in one piece of memory.
type (
	smallMagnet struct {
		lists [usualLists]string
		text  [160 - usualLists*16]byte
	}
	usualMagnet struct {
		lists [usualLists]string
		text  [384 - usualLists*16]byte
	}
)

const (
	fewTrackers = 4               // how many most links have at most
	usualLists  = fewTrackers + 1 // a few trackers and one entry of another list
)

// more makes space for n bytes of text.
func (p *magnetParser) more(n int) {
	p.used = 0
	switch {
	case p.lists != nil || n > len(usualMagnet{}.text):
		p.space = make([]byte, n)
	case n > len(smallMagnet{}.text):
		memory := new(usualMagnet)
		p.lists, p.space = memory.lists[:], memory.text[:]
	default:
		memory := new(smallMagnet)
		p.lists, p.space = memory.lists[:], memory.text[:]
	}
}

// decodeValue decodes up to the next ampersand into dst, which is at least as long as s. It takes eight bytes at a
// time as long as none of them is one of those that need a look, which are all below a comma or above a tilde. Odd
// tells whether there may be control characters or bytes that are not ASCII.
func decodeValue(dst []byte, s string, plus byte) (n, read int, odd bool) {
	for dst = dst[:len(s)]; read < len(s) && n < len(dst); n, read = n+1, read+1 {
		for len(s)-read >= 8 && len(dst)-n >= 8 {
			word := load8(s[read:])
			binary.LittleEndian.PutUint64(dst[n:], word) // what is too much is written over
			plain := bits.TrailingZeros64(((word-eachByte*',')&^word|(word+eachByte)|word)&(eachByte*0x80)) / 8
			n, read = n+plain, read+plain
			if plain < 8 {
				break
			}
		}
		if read == len(s) || n == len(dst) {
			break
		}
		c := s[read]
		switch c {
		case '&':
			return n, read, odd
		case '+':
			c = plus
		case '%':
			if len(s)-read >= 9 && len(dst)-n >= 3 && load8(s[read+1:]) == colonSlashes { // as it stands in most URLs
				dst[n], dst[n+1], dst[n+2] = ':', '/', '/'
				n, read = n+2, read+8
				continue
			}
			if read+2 < len(s) {
				if a, b := hexDigit[s[read+1]], hexDigit[s[read+2]]; a|b <= 15 {
					c = a<<4 | b
					read += 2
				}
			}
		}
		odd = odd || c < ' ' || c > '~'
		dst[n] = c
	}
	return n, read, odd
}

// colonSlashes is the eight bytes of "3A%2F%2F", which behind a percent sign are an escaped "://", in little-endian
// order.
const colonSlashes = '3' | 'A'<<8 | '%'<<16 | '2'<<24 | 'F'<<32 | '%'<<40 | '2'<<48 | 'F'<<56

// eachByte times a byte holds it eight times.
const eachByte = 0x01_01_01_01_01_01_01_01

// load8 returns the first eight bytes of s in little-endian order.
func load8(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}
