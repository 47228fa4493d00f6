// Package charset finds out how the text of a page is encoded, and decodes it.
//
//	found := charset.Find(body, header["Content-Type"])
//	text, err := charset.Decode(body, found.Name)
//
// What a page says of itself is believed as long as its bytes do not tell otherwise: servers declare one encoding for
// all that they have, and templates are copied with their meta elements.
package charset

import (
	"bytes"
	"strings"
)

// Source says what an encoding was found by.
type Source string

// The sources of an encoding.
const (
	BOM      Source = "bom"      // the byte order mark
	Header   Source = "header"   // Content-Type
	Meta     Source = "meta"     // a meta element
	XML      Source = "xml"      // the XML declaration
	Detected Source = "detected" // the bytes themselves
	Default  Source = "default"  // nothing: what the kind of content has by default
	Caller   Source = "caller"   // told by the caller
)

// Charset is an encoding and how it was found.
type Charset struct {
	Name       string // of the Encoding standard, in lower case: "utf-8", "gbk", "windows-1252"
	Source     Source
	Confidence float64 // 0 to 1: 1 where the bytes agree with what is declared, 0 where nothing speaks for the name
}

const (
	// believed is the confidence in a declaration that the bytes contradict, where nothing better is found.
	believed = 0.3
	// minDetected is the confidence below which a detection is not used.
	minDetected = 0.4
)

// Find finds the encoding of a body. contentType holds the values of its Content-Type; nil is fine. The order is: byte
// order mark; text that is UTF-8 beyond doubt, whatever it is declared to be; the declarations (header, then meta
// element or XML declaration) of which the first counts that the bytes do not contradict; detection; the first
// declaration all the same; the default, which is UTF-8 for JSON and XML and windows-1252 for the rest. A header that says UTF-16
// of bytes without zeros, nearly all of ASCII, says nothing.
//
// It looks at a sample of long bodies: the first 16 KiB for declarations, the first 4 KiB of bytes beyond ASCII for
// what the text can be. It allocates nothing for a body that is declared to be UTF-8 in the header, and is.
func Find(body []byte, contentType []string) Charset {
	if name, _ := mark(body); name != "" {
		return Charset{name, BOM, 1}
	}
	shape := measure(body)
	header := HeaderLabel(contentType)
	if header == "utf-8" && shape.mostly() {
		return Charset{header, Header, 1}
	}
	if isUTF16(header) && !maybeUTF16(body) {
		header = "" // any encoding of bytes is nearer to it
	}
	said := declarations(body, header, contentType)
	if shape.surely(said) {
		c := Charset{"utf-8", Detected, shape.confidence()}
		for _, d := range said {
			if d.Name == c.Name {
				return d
			}
		}
		return c
	}
	for _, d := range said {
		if fits(d.Name, body, &shape) {
			return d
		}
	}
	if c := detect(body, &shape); c.Confidence >= minDetected {
		return c
	}
	if len(said) > 0 {
		said[0].Confidence = believed
		return said[0]
	}
	if isJSON(contentType) || isXML(body, contentType) {
		return Charset{Name: "utf-8", Source: Default}
	}
	return Charset{Name: "windows-1252", Source: Default}
}

// declarations lists what a page is declared to be, the header's word first.
func declarations(body []byte, header string, contentType []string) []Charset {
	var said []Charset
	if header != "" {
		said = append(said, Charset{header, Header, 1})
	}
	if isJSON(contentType) {
		return said
	}
	if name, source := prescan(body); name != "" {
		said = append(said, Charset{name, source, 1})
	}
	return said
}

// Declared returns the encoding that the bytes of a page declare: by their mark, a meta element or an XML declaration.
// It is "" where there is none.
func Declared(body []byte) string {
	if name, _ := mark(body); name != "" {
		return name
	}
	name, _ := prescan(body)
	return name
}

// marks are the byte order marks and the encodings they stand for (Encoding standard, "BOM sniff").
var marks = [...]struct{ bytes, name string }{
	{"\xEF\xBB\xBF", "utf-8"}, {"\xFE\xFF", "utf-16be"}, {"\xFF\xFE", "utf-16le"},
}

// mark returns the encoding of a byte order mark and the length of the mark.
func mark(body []byte) (name string, length int) {
	for _, m := range marks {
		if bytes.HasPrefix(body, []byte(m.bytes)) {
			return m.name, len(m.bytes)
		}
	}
	return "", 0
}

func isJSON(contentType []string) bool {
	for _, value := range contentType {
		if essence, _, _ := strings.Cut(value, ";"); hasSuffixFold(strings.TrimSpace(essence), "json") {
			return true
		}
	}
	return false
}

func isXML(body []byte, contentType []string) bool {
	if bytes.HasPrefix(trimBlanks(body), []byte("<?xml")) {
		return true
	}
	for _, value := range contentType {
		essence, _, _ := strings.Cut(value, ";")
		if essence = strings.TrimSpace(essence); hasSuffixFold(essence, "/xml") || hasSuffixFold(essence, "+xml") {
			return true
		}
	}
	return false
}

func hasSuffixFold(s, suffix string) bool {
	return len(s) >= len(suffix) && strings.EqualFold(s[len(s)-len(suffix):], suffix)
}
