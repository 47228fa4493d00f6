package bencode

import "bytes"

// Bounds of an input. They are those of libtorrent, but for the bytes.
const (
	DefaultMaxDepth  = 100
	DefaultMaxTokens = 2_500_000
	DefaultMaxBytes  = 64 << 20
)

// Options say how an input is read. The zero value is lenient within the default bounds.
type Options struct {
	Strict    bool // warnings are errors
	MaxDepth  int  // of nested lists and dictionaries; zero means DefaultMaxDepth, negative no limit
	MaxTokens int  // values and keys; zero means DefaultMaxTokens, negative no limit
	MaxBytes  int  // of the input; zero means DefaultMaxBytes, negative no limit
}

// unlimited is for bytes that were checked before, or are our own.
var unlimited = Options{MaxDepth: -1, MaxTokens: -1, MaxBytes: -1}

// Kind is the kind of a [Token].
type Kind uint8

// The kinds of tokens. None is given when there is no further token, or after a fault.
const (
	None Kind = iota
	Integer
	String
	Key // a string that is the key of a dictionary
	List
	Dict
	End // of the list or dictionary that is open
)

func (k Kind) String() string {
	return [...]string{"none", "integer", "string", "key", "list", "dict", "end"}[min(k, End)]
}

// A Token is a part of the input. The token of a list or dictionary spans its first byte alone when Next gives it, and
// the whole when Value gives it; the token End spans the whole that it ends.
type Token struct { // four fields: the compiler keeps larger structs out of registers
	Kind  Kind
	Start int   // offset of the first byte
	End   int   // offset behind the last byte
	extra int64 // value of an Integer; length of a String or Key
}

// Int is the value of an Integer, and of no use for other tokens.
func (t Token) Int() int64 { return t.extra }

// Body is the offset of the first byte of a String or Key behind its colon, and of no use for other tokens.
func (t Token) Body() int { return t.End - int(t.extra) }

// frame is an open list or dictionary.
type frame struct {
	start   int // offset of its first byte
	keyFrom int // the last key, as offsets; keyTo is 0 before the first
	keyTo   int
	dict    bool
	wantKey bool
}

// Scanner reads one value from the start of an input. It keeps the input and allocates for nesting deeper than a few
// levels and for warnings only. It is not safe for concurrent use.
type Scanner struct {
	data     []byte
	pos      int
	depth    int
	maxDepth int
	tokens   int // that may still be read; negative without limit
	err      *Error
	done     bool
	warnings Warnings
	warned   [5]uint8
	few      [8]frame // what is open, the outermost first
	more     []frame  // what is nested deeper
}

// NewScanner returns a Scanner over data, which must not change while it is used.
func NewScanner(data []byte, o Options) *Scanner {
	s := new(Scanner)
	s.Reset(data, o)
	return s
}

// Reset makes the scanner read data from its start.
func (s *Scanner) Reset(data []byte, o Options) {
	*s = Scanner{data: data, more: s.more}
	s.maxDepth = bound(o.MaxDepth, DefaultMaxDepth)
	s.tokens = bound(o.MaxTokens, DefaultMaxTokens)
	if limit := bound(o.MaxBytes, DefaultMaxBytes); limit >= 0 && len(data) > limit {
		s.fail(ErrBytes, limit)
	}
}

// top is what was opened last.
func (s *Scanner) top() *frame {
	if i := s.depth - 1; i < len(s.few) {
		return &s.few[i]
	}
	return &s.more[s.depth-1-len(s.few)]
}

// bound returns n, the default for zero, and -1 for no limit.
func bound(n, zero int) int {
	if n == 0 {
		return zero
	}
	return max(n, -1)
}

// Next gives the next token. After the value has ended, or a fault, it gives a token of kind None.
func (s *Scanner) Next() Token {
	if s.err != nil || s.done {
		return Token{}
	}
	start := s.pos
	if start >= len(s.data) {
		return s.fail(ErrUnexpectedEnd, start)
	}
	c := s.data[start]
	kind := String
	if s.depth > 0 {
		top := s.top()
		if c == 'e' {
			return s.end(top)
		}
		if top.wantKey {
			kind = Key
		}
		top.wantKey = top.dict && !top.wantKey
	}
	if s.tokens == 0 {
		return s.fail(ErrTokens, start)
	}
	s.tokens--
	switch {
	case '0' <= c && c <= '9':
		return s.text(kind)
	case kind == Key:
		return s.fail(ErrExpectedDigit, start)
	case c == 'i':
		return s.integer()
	case c == 'l':
		return s.open(List)
	case c == 'd':
		return s.open(Dict)
	}
	return s.fail(ErrExpectedValue, start)
}

// Value gives the next value whole: a list or dictionary is passed over, and its token spans it. In a dictionary it
// gives keys as well as values.
func (s *Scanner) Value() Token {
	t := s.Next()
	if t.Kind == List || t.Kind == Dict {
		t.End = s.Skip()
		if s.err != nil {
			return Token{}
		}
	}
	return t
}

// Skip passes over the rest of the list or dictionary that is open, and returns the offset behind it.
func (s *Scanner) Skip() int {
	if s.depth == 0 {
		return s.pos
	}
	for outer := s.depth - 1; s.depth > outer; {
		if s.Next().Kind == None {
			break
		}
	}
	return s.pos
}

// Text returns the bytes of a String or Key of this scanner, which are a part of the input; nil for other tokens.
func (s *Scanner) Text(t Token) []byte {
	if t.Kind != String && t.Kind != Key {
		return nil
	}
	return s.data[t.Body():t.End:t.End]
}

// Raw returns the bytes of a token of this scanner as they stand in the input.
func (s *Scanner) Raw(t Token) []byte { return s.data[t.Start:t.End:t.End] }

// Offset is where the scanner stands, in bytes: behind the last token.
func (s *Scanner) Offset() int { return s.pos }

// Depth is the number of open lists and dictionaries.
func (s *Scanner) Depth() int { return s.depth }

// Err returns the fault that ended the scan, an *Error, or nil.
func (s *Scanner) Err() error {
	if s.err == nil {
		return nil
	}
	return s.err
}

// Warnings returns what was forgiven so far. Bytes after the value are known once it has ended.
func (s *Scanner) Warnings() Warnings { return s.warnings }

func (s *Scanner) fail(kind ErrorKind, at int) Token {
	s.err = &Error{Kind: kind, Offset: at}
	return Token{}
}

func (s *Scanner) warn(kind ErrorKind, at int) {
	var i int
	switch kind {
	case ErrDuplicateKey:
		i = 1
	case ErrLeadingZero:
		i = 2
	case ErrNegativeZero:
		i = 3
	case ErrTrailingData:
		i = 4
	}
	if s.warned[i] < MaxWarnings {
		s.warned[i]++
		s.warnings = append(s.warnings, Warning{Kind: kind, Offset: at})
	}
}

// closed ends the scan: the value is whole.
func (s *Scanner) closed() {
	s.done = true
	if s.pos < len(s.data) {
		s.warn(ErrTrailingData, s.pos)
	}
}

func (s *Scanner) open(kind Kind) Token {
	if s.depth == s.maxDepth {
		return s.fail(ErrDepth, s.pos)
	}
	if i := s.depth - len(s.few); i >= 0 && i == len(s.more) {
		s.more = append(s.more, make([]frame, max(len(s.more), len(s.few)))...)
	}
	s.depth++
	*s.top() = frame{start: s.pos, dict: kind == Dict, wantKey: kind == Dict}
	s.pos++
	return Token{Kind: kind, Start: s.pos - 1, End: s.pos}
}

func (s *Scanner) end(top *frame) Token {
	if top.dict && !top.wantKey {
		return s.fail(ErrExpectedValue, s.pos)
	}
	s.depth--
	s.pos++
	if s.depth == 0 {
		s.closed()
	}
	return Token{Kind: End, Start: top.start, End: s.pos}
}

// ordered compares the key that was just read with the one before it.
func (s *Scanner) ordered(start, body int) {
	top := s.top()
	if top.keyTo > 0 {
		switch bytes.Compare(s.data[top.keyFrom:top.keyTo], s.data[body:s.pos]) {
		case 0:
			s.warn(ErrDuplicateKey, start)
		case 1:
			s.warn(ErrUnsortedKeys, start)
		}
	}
	top.keyFrom, top.keyTo = body, s.pos
}

// safeDigits decimal digits always fit an int64.
const safeDigits = 18

// text reads a string or key, on whose first digit the scanner stands.
func (s *Scanner) text(kind Kind) Token {
	data, start := s.data, s.pos
	n := uint64(data[start] - '0')
	i := start + 1
	for ; i < len(data); i++ {
		c := data[i] - '0'
		if c > 9 {
			break
		}
		if i-start >= safeDigits && n > (1<<63-1-uint64(c))/10 {
			return s.fail(ErrOverflow, i)
		}
		n = n*10 + uint64(c)
	}
	if i == len(data) {
		return s.fail(ErrUnexpectedEnd, i)
	}
	if data[i] != ':' {
		return s.fail(ErrExpectedColon, i)
	}
	body := i + 1
	if n > uint64(len(data)-body) {
		return s.fail(ErrUnexpectedEnd, body)
	}
	if data[start] == '0' && body > start+2 {
		s.warn(ErrLeadingZero, start)
	}
	s.pos = body + int(n)
	if s.depth == 0 {
		s.closed()
	}
	if kind == Key {
		s.ordered(start, body)
	}
	return Token{Kind: kind, Start: start, End: s.pos, extra: int64(n)}
}

// integer reads a number, on whose i the scanner stands.
func (s *Scanner) integer() Token {
	data, start := s.data, s.pos
	i := start + 1
	limit := uint64(1<<63 - 1)
	negative := i < len(data) && data[i] == '-'
	if negative {
		i++
		limit++
	}
	first := i
	n := uint64(0)
	for ; i < len(data); i++ {
		c := data[i] - '0'
		if c > 9 {
			break
		}
		if i-first >= safeDigits && n > (limit-uint64(c))/10 {
			return s.fail(ErrOverflow, i)
		}
		n = n*10 + uint64(c)
	}
	if i == len(data) {
		return s.fail(ErrUnexpectedEnd, i)
	}
	if i == first || data[i] != 'e' {
		return s.fail(ErrExpectedDigit, i)
	}
	if data[first] == '0' && i > first+1 {
		s.warn(ErrLeadingZero, start)
	}
	s.pos = i + 1
	if negative && n == 0 {
		s.warn(ErrNegativeZero, start)
	}
	if s.depth == 0 {
		s.closed()
	}
	v := int64(n)
	if negative {
		v = -v
	}
	return Token{Kind: Integer, Start: start, End: s.pos, extra: v}
}
