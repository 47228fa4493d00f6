package charset

import "bytes"

// prescanBytes is how much of a page is searched for declarations. The HTML standard asks for 1,024 bytes and allows
// more; pages declare themselves behind scripts and comments.
const prescanBytes = 16 << 10

// scan is a prescan of a page under way (WHATWG HTML 13.2.3.2, "prescan a byte stream to determine its encoding").
type scan struct {
	b    []byte
	i    int
	over bool // the sample ended inside a tag
}

// prescan returns the encoding that a page declares in a meta element or, failing that, in its XML declaration.
func prescan(body []byte) (string, Source) {
	s := scan{b: body[:min(len(body), prescanBytes)]}
	switch {
	case bytes.HasPrefix(s.b, []byte("<\x00?\x00x\x00")):
		return "utf-16le", XML
	case bytes.HasPrefix(s.b, []byte("\x00<\x00?\x00x")):
		return "utf-16be", XML
	}
	for s.next() {
		if name := s.tag(); name != "" {
			return name, Meta
		}
	}
	if name := xmlEncoding(s.b); name != "" {
		return name, XML
	}
	return "", ""
}

// next goes to the next "<".
func (s *scan) next() bool {
	at := bytes.IndexByte(s.b[min(s.i, len(s.b)):], '<')
	if at < 0 {
		s.i = len(s.b)
		return false
	}
	s.i += at
	return true
}

// tag reads what begins at a "<" and returns the encoding if it is a meta element that declares one.
func (s *scan) tag() string {
	rest := s.b[s.i:]
	switch {
	case bytes.HasPrefix(rest, []byte("<!--")):
		s.skip("-->", 2) // the dashes that open a comment may close it
	case len(rest) > 5 && isWord(rest[:5], "<meta") && (isBlank(rest[5]) || rest[5] == '/'):
		s.i += 5
		return s.meta()
	case len(rest) > 1 && isLetter(rest[1]), len(rest) > 2 && rest[1] == '/' && isLetter(rest[2]):
		for s.i < len(s.b) && !isBlank(s.b[s.i]) && s.b[s.i] != '>' {
			s.i++
		}
		for {
			if _, _, ok := s.attribute(); !ok {
				break
			}
		}
	case len(rest) > 1 && (rest[1] == '!' || rest[1] == '/' || rest[1] == '?'):
		s.skip(">", 0)
	default:
		s.i++
	}
	return ""
}

// skip goes behind the next end, searched for from a place behind the current one.
func (s *scan) skip(end string, from int) {
	from = min(s.i+from, len(s.b))
	if at := bytes.Index(s.b[from:], []byte(end)); at >= 0 {
		s.i = from + at + len(end)
	} else {
		s.i = len(s.b)
	}
}

// meta reads the attributes of a meta element. An element that the sample cuts declares nothing.
func (s *scan) meta() string {
	const (
		httpEquiv = 1 << iota
		content
		charset
	)
	var seen int
	var name string
	var declared, byPragma, pragma bool
	for {
		attr, value, ok := s.attribute()
		if !ok {
			break
		}
		var bit int
		switch {
		case isWord(attr, "http-equiv"):
			bit = httpEquiv
		case isWord(attr, "content"):
			bit = content
		case isWord(attr, charsetName):
			bit = charset
		}
		if bit == 0 || seen&bit != 0 {
			continue
		}
		seen |= bit
		switch bit {
		case httpEquiv:
			pragma = isWord(value, "content-type")
		case content:
			if found := Lookup(string(labelInContent(value))); found != "" && !declared {
				name, declared, byPragma = found, true, true
			}
		case charset:
			name, declared, byPragma = Lookup(string(value)), true, false
		}
	}
	if s.over || byPragma && !pragma {
		return ""
	}
	return asDeclared(name)
}

// asDeclared is what a declaration inside the page means: one that can be read byte by byte is not in UTF-16.
func asDeclared(name string) string {
	switch {
	case isUTF16(name):
		return "utf-8"
	case name == "x-user-defined":
		return "windows-1252"
	}
	return name
}

// attribute reads an attribute ("get an attribute" there). It is not ok at the end of the tag, which is passed, or of the
// sample.
func (s *scan) attribute() (name, value []byte, ok bool) {
	for s.i < len(s.b) && (isBlank(s.b[s.i]) || s.b[s.i] == '/') {
		s.i++
	}
	if s.i >= len(s.b) {
		return s.end()
	}
	if s.b[s.i] == '>' {
		s.i++
		return nil, nil, false
	}
	from := s.i
	for s.i < len(s.b) {
		switch c := s.b[s.i]; {
		case c == '=' && s.i > from:
			name = s.b[from:s.i]
			return s.value(name)
		case isBlank(c):
			name = s.b[from:s.i]
			s.blanks()
			if s.i < len(s.b) && s.b[s.i] == '=' {
				return s.value(name)
			}
			if s.i >= len(s.b) {
				return s.end()
			}
			return name, nil, true
		case c == '/' || c == '>':
			return s.b[from:s.i], nil, true
		}
		s.i++
	}
	return s.end()
}

// end is where the sample ends inside a tag.
func (s *scan) end() (name, value []byte, ok bool) {
	s.i, s.over = len(s.b), true
	return nil, nil, false
}

// value reads the value of an attribute from its equals sign on.
func (s *scan) value(name []byte) (_, value []byte, ok bool) {
	s.i++
	s.blanks()
	if s.i >= len(s.b) {
		return s.end()
	}
	if quote := s.b[s.i]; quote == '"' || quote == '\'' {
		s.i++
		end := bytes.IndexByte(s.b[s.i:], quote)
		if end < 0 {
			return s.end()
		}
		value = s.b[s.i : s.i+end]
		s.i += end + 1
		return name, value, true
	}
	from := s.i
	for s.i < len(s.b) && !isBlank(s.b[s.i]) && s.b[s.i] != '>' {
		s.i++
	}
	if s.i >= len(s.b) {
		return s.end()
	}
	return name, s.b[from:s.i], true
}

func (s *scan) blanks() {
	for s.i < len(s.b) && isBlank(s.b[s.i]) {
		s.i++
	}
}

// labelInContent returns the label in the content of a meta element (WHATWG HTML 2.4.6).
func labelInContent(content []byte) []byte {
	for {
		at := indexFold(content, charsetName)
		if at < 0 {
			return nil
		}
		content = bytes.TrimLeft(content[at+len(charsetName):], blanks)
		if len(content) == 0 || content[0] != '=' {
			continue
		}
		content = bytes.TrimLeft(content[1:], blanks)
		if len(content) == 0 {
			return nil
		}
		if quote := content[0]; quote == '"' || quote == '\'' {
			end := bytes.IndexByte(content[1:], quote)
			if end < 0 {
				return nil
			}
			return content[1 : 1+end]
		}
		if end := bytes.IndexAny(content, ";"+blanks); end >= 0 {
			content = content[:end]
		}
		return content
	}
}

// xmlEncoding returns the encoding of an XML declaration (WHATWG HTML 13.2.3.2, "get an XML encoding"); blanks before it,
// which XML forbids, are fine.
func xmlEncoding(b []byte) string {
	b = trimBlanks(b)
	if !bytes.HasPrefix(b, []byte("<?xml")) {
		return ""
	}
	end := bytes.IndexByte(b, '>')
	if end < 0 {
		return ""
	}
	_, value, found := bytes.Cut(b[:end], []byte("encoding"))
	value = trimBlanks(value)
	if !found || len(value) == 0 || value[0] != '=' {
		return ""
	}
	value = trimBlanks(value[1:])
	if len(value) == 0 || value[0] != '"' && value[0] != '\'' {
		return ""
	}
	label, _, closed := bytes.Cut(value[1:], value[:1])
	if !closed {
		return ""
	}
	return asDeclared(Lookup(string(label)))
}

// indexFold is bytes.Index for an ASCII word in any case.
func indexFold(b []byte, word string) int {
	for i := 0; i+len(word) <= len(b); i++ {
		if isWord(b[i:i+len(word)], word) {
			return i
		}
	}
	return -1
}

// isWord reports whether b is a word, which is in lower case, in any case of ASCII.
func isWord(b []byte, word string) bool {
	if len(b) != len(word) {
		return false
	}
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		if c != word[i] {
			return false
		}
	}
	return true
}

func trimBlanks(b []byte) []byte { return bytes.TrimLeft(b, blanks) }

func isBlank(c byte) bool {
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
