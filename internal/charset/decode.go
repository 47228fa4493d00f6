package charset

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"golang.org/x/text/encoding"
)

// Error says that nobody knows a label.
type Error struct{ Label string }

// Error returns "unknown encoding LABEL".
func (e *Error) Error() string { return fmt.Sprintf("unknown encoding %.64q", e.Label) }

// Decode turns a body into UTF-8. label is one of the Encoding standard; a byte order mark, which is taken off, counts for
// more. What is no text in the encoding becomes U+FFFD. A body that is UTF-8 already is returned itself, not a copy. The
// error is an *Error.
func Decode(body []byte, label string) ([]byte, error) {
	name, length := mark(body)
	if name == "" {
		if name = Lookup(label); name == "" {
			return nil, &Error{label}
		}
	}
	body = body[length:]
	if name == "utf-8" && utf8.Valid(body) || overASCII(name) && isASCII(body) {
		return body, nil
	}
	out, err := encodingOf(name).NewDecoder().Bytes(body)
	if err != nil {
		return nil, fmt.Errorf("decode %s: %w", name, err)
	}
	return out, nil
}

func isASCII(b []byte) bool { return skipASCII(b, 0) == len(b) }

// overASCII reports whether the bytes of ASCII stand for themselves in an encoding.
func overASCII(name string) bool {
	return name != "iso-2022-jp" && !isUTF16(name)
}

// sampleBytes is how much of a body is decoded to see whether an encoding fits it.
const sampleBytes = 16 << 10

// maxWrong is the share of characters that do not decode, in per cent, up to which an encoding fits.
const maxWrong = 2

// fits reports whether a body can be in an encoding.
func fits(name string, body []byte, s *shape) bool {
	switch {
	case name == "utf-8":
		return s.mostly()
	case isUTF16(name):
		return utf16Order(body) == name
	case s.ascii:
		return true
	}
	enc := encodingOf(name)
	if enc == nil {
		return false
	}
	// From the start of a line or tag, so that no character is cut in two.
	from := max(bytes.LastIndexAny(body[:s.first], "\n><"), 0)
	if name == "iso-2022-jp" {
		from = 0
	}
	return wrong(enc, body[from:min(len(body), max(s.end, from+1), from+sampleBytes)]) <= maxWrong
}

// wrong decodes a sample and returns how many in a hundred characters beyond ASCII are none.
func wrong(enc encoding.Encoding, sample []byte) int {
	out, err := enc.NewDecoder().Bytes(sample)
	if err != nil {
		return 100
	}
	bad, beyond := 0, 0
	for _, r := range string(out) {
		if r >= utf8.RuneSelf {
			beyond++
		}
		if r == utf8.RuneError {
			bad++
		}
	}
	if bad <= 1 { // the sample may end inside a character
		return 0
	}
	return bad * 100 / beyond
}

func isUTF16(name string) bool { return name == "utf-16le" || name == "utf-16be" }

// maybeUTF16 reports whether a body can be in UTF-16 as its header says. Markup, blanks and line breaks have a zero for every
// other byte there, and of Chinese characters, which have none, about half of the bytes are in the range of ASCII.
func maybeUTF16(body []byte) bool {
	sample := body[:min(len(body), sampleBytes)]
	if len(sample) == 0 || bytes.IndexByte(sample, 0) >= 0 {
		return true
	}
	beyond := 0
	for _, c := range sample {
		if c >= utf8.RuneSelf {
			beyond++
		}
	}
	return beyond*10 > len(sample)
}

// utf16Order tells the order of UTF-16 without a mark by the zeros of its ASCII characters, of which markup has many; ""
// if it is not UTF-16.
func utf16Order(body []byte) string {
	sample := body[:min(len(body), 1<<10)&^1]
	var zeros [2]int
	for i, c := range sample {
		if c == 0 {
			zeros[i&1]++
		}
	}
	half := len(sample) / 2
	switch {
	case zeros[1] > 0 && zeros[1]*5 >= half && zeros[0]*10 <= zeros[1]:
		return "utf-16le"
	case zeros[0] > 0 && zeros[0]*5 >= half && zeros[1]*10 <= zeros[0]:
		return "utf-16be"
	}
	return ""
}
