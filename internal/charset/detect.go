package charset

import (
	"bytes"
	"strings"

	"github.com/wlynxg/chardet"
)

// detect guesses an encoding from the bytes. The confidence is 0 where there is nothing to go by.
func detect(body []byte, s *shape) Charset {
	if name := utf16Order(body); name != "" {
		return Charset{name, Detected, 0.9}
	}
	if !s.ascii && s.weight >= evidence && s.mostly() {
		return Charset{"utf-8", Detected, 0.9 * s.confidence()}
	}
	if s.ascii && bytes.IndexByte(body, 0x1b) < 0 { // ISO-2022-JP goes without bytes beyond ASCII
		return Charset{}
	}
	sample := text(body)
	if c := shiftJIS(sample); c > 0 && fits("shift_jis", body, s) {
		return Charset{"shift_jis", Detected, c}
	}
	guess := chardet.Detect(sample)
	name := Lookup(labelOf(guess.Encoding))
	switch {
	case name == "utf-8":
		return Charset{}
	case name == "", name == "windows-1252", guess.Confidence < minDetected, !fits(name, body, s):
		return byAlphabet(sample)
	}
	return Charset{name, Detected, min(guess.Confidence, 0.99)}
}

// labelOf is a label of the Encoding standard for a name of the detector, where it has another.
func labelOf(name string) string {
	switch strings.ToLower(name) {
	case "ascii":
		return ""
	case "cp949":
		return "euc-kr"
	case "cp932":
		return "shift_jis"
	case "maccyrillic":
		return "x-mac-cyrillic"
	case "macroman":
		return "macintosh"
	}
	return name
}

// textBytes is how much text the detector is given: it needs little, and its time grows with it.
const textBytes = 16 << 10

// text takes tags, scripts and styles from a page, as far as can be done without knowing its encoding: their letters
// would drown a short text. A body without text beyond ASCII is returned as it is, for its attributes.
func text(body []byte) []byte {
	out := make([]byte, 0, min(len(body), textBytes))
	rest := body
	for len(rest) > 0 && len(out) < textBytes {
		open := bytes.IndexByte(rest, '<')
		if open < 0 {
			open = len(rest)
		}
		out = append(out, rest[:min(open, textBytes-len(out))]...)
		rest = rest[open:]
		if end := skipTag(rest); end > 0 {
			rest = rest[end:]
			out = append(out, ' ')
		} else if len(rest) > 0 {
			out = append(out, rest[0])
			rest = rest[1:]
		}
	}
	if isASCII(out) && bytes.IndexByte(out, 0x1b) < 0 {
		from := skipASCII(body, 0)
		return body[from:min(len(body), from+textBytes)]
	}
	return out
}

// skipTag returns the length of the tag, comment, script or style that begins at a "<"; 0 for none.
func skipTag(b []byte) int {
	if len(b) < 2 || !isLetter(b[1]) && b[1] != '/' && b[1] != '!' && b[1] != '?' {
		return 0
	}
	for _, raw := range [...]string{"script", "style"} {
		if len(b) <= len(raw)+1 || !isWord(b[1:1+len(raw)], raw) || isLetter(b[1+len(raw)]) {
			continue
		}
		if end := indexFold(b, "</"+raw); end >= 0 {
			return end + 2
		}
		return len(b)
	}
	end := bytes.IndexByte(b, '>')
	if end < 0 {
		return len(b)
	}
	return end + 1
}

// shiftJIS measures how much a text looks like Japanese in Shift_JIS, which the detector often does not know: 0 where a byte
// contradicts it, or where there is little kana, which no Japanese text goes without.
func shiftJIS(b []byte) (confidence float64) {
	const leastPairs, leastKana = 4, 0.2
	pairs, kana := 0, 0
	for i := 0; i < len(b); i++ {
		lead := b[i]
		switch {
		case lead < 0x80 || lead >= 0xa1 && lead <= 0xdf: // ASCII, katakana of half width
			continue
		case lead == 0x80 || lead == 0xa0 || lead > 0xfc:
			return 0
		}
		if i++; i == len(b) {
			break // cut in the middle of a character
		}
		trail := b[i]
		if trail < 0x40 || trail == 0x7f || trail > 0xfc {
			return 0
		}
		pairs++
		if lead == 0x82 && trail >= 0x9f && trail <= 0xf1 || lead == 0x83 && trail <= 0x96 { // hiragana, katakana
			kana++
		}
	}
	if pairs < leastPairs || float64(kana) < leastKana*float64(pairs) {
		return 0
	}
	return 0.9
}
