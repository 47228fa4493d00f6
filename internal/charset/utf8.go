package charset

import (
	"encoding/binary"
	"math"
	"unicode/utf8"
)

// shapeBytes is how many bytes beyond ASCII are looked at to tell what a text can be: more than a thousand characters
// of any script.
const shapeBytes = 4 << 10

// shape is what a sample of a body looks like when it is read as UTF-8.
type shape struct {
	first  int  // where the sample begins: at the first byte beyond ASCII, or the end
	end    int  // where it ends
	good   int  // sequences that are UTF-8
	weight int  // of these: a sequence of n bytes, which chance makes the less the longer it is, counts n-1
	bad    int  // bytes that belong to none
	ascii  bool // the whole body is
}

func measure(body []byte) shape {
	var s shape
	i := skipASCII(body, 0)
	s.first, s.ascii = i, i == len(body)
	for seen := 0; i < len(body) && seen < shapeBytes; {
		r, n := utf8.DecodeRune(body[i:])
		switch {
		case r != utf8.RuneError || n > 1:
			s.good++
			s.weight += n - 1
		case !utf8.FullRune(body[i:]): // cut at the end of the body
			n = len(body) - i
		default:
			s.bad++
		}
		seen += n
		i += n
		if i < len(body) && body[i] < utf8.RuneSelf {
			i = skipASCII(body, i)
		}
	}
	s.end = i
	return s
}

// skipASCII returns the index of the first byte beyond ASCII from i on, or the length.
func skipASCII(b []byte, i int) int {
	const high = 0x8080808080808080
	for ; i+32 <= len(b); i += 32 {
		p := b[i : i+32 : i+32]
		if (binary.NativeEndian.Uint64(p)|binary.NativeEndian.Uint64(p[8:])|
			binary.NativeEndian.Uint64(p[16:])|binary.NativeEndian.Uint64(p[24:]))&high != 0 {
			break
		}
	}
	for i < len(b) && b[i] < utf8.RuneSelf {
		i++
	}
	return i
}

// mostly reports whether the sample can be UTF-8 that a few bytes got lost in.
func (s *shape) mostly() bool { return s.bad == 0 || s.bad*10 <= s.good }

// Text in the encodings of East Asia, two bytes a character, is now and then valid UTF-8 by chance when it is short.
// What is declared to be in one of them needs more evidence of the contrary.
const (
	evidence         = 1
	evidenceEastAsia = 5
)

// surely reports whether the sample is UTF-8 whatever is said: at least 99.9 % of its sequences are, and there are enough
// of them.
func (s *shape) surely(said []Charset) bool {
	need := evidence
	for _, d := range said {
		switch d.Name {
		case "utf-8":
			return s.weight >= evidence && s.bad*1000 <= s.good
		case "gbk", "gb18030", "big5", "euc-kr", "euc-jp", "shift_jis":
			need = evidenceEastAsia
		}
	}
	return s.weight >= need && s.bad*1000 <= s.good
}

// confidence in UTF-8 that is not declared: each weight halves the doubt.
func (s *shape) confidence() float64 {
	return 1 - math.Pow(0.5, float64(min(s.weight, 20)))
}
