package css

import (
	"strings"
	"unicode/utf8"
)

// combinator stands before a compound.
type combinator uint8

const (
	none       combinator = iota // the first compound
	descendant                   // blanks
	child                        // >
	adjacent                     // +
	sibling                      // ~
)

// chain is a complex selector: compounds and what stands between them; the last one is the subject.
type chain struct {
	parts []part
}

type part struct {
	before combinator
	tests  []test // all of them must hold
}

// parser reads a selector list (Selectors Level 4, section 17; tokens as in CSS Syntax Level 3).
type parser struct {
	s     string
	i     int
	depth int  // of pseudo-classes
	inHas bool // within :has, which does not nest
}

func (p *parser) fail(reason string) error { return &Error{p.s, p.i, reason} }

func (p *parser) peek() byte {
	if p.i < len(p.s) {
		return p.s[p.i]
	}
	return 0
}

// blanks passes over whitespace and comments and reports whether there was whitespace.
func (p *parser) blanks() (blank bool) {
	for p.i < len(p.s) {
		switch {
		case isBlank(p.s[p.i]):
			blank = true
			p.i++
		case strings.HasPrefix(p.s[p.i:], "/*"):
			end := strings.Index(p.s[p.i+2:], "*/")
			if end < 0 {
				p.i = len(p.s)
				return blank
			}
			p.i += end + 4
		default:
			return blank
		}
	}
	return blank
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' }

// selectors reads a list up to the end or the byte given, which is left. relative ones may begin with a combinator.
func (p *parser) selectors(end byte) (list []*chain, err error) {
	return p.list(end, false)
}

func (p *parser) list(end byte, relative bool) (list []*chain, err error) {
	for {
		c, err := p.chain(end, relative)
		if err != nil {
			return nil, err
		}
		list = append(list, c)
		if p.peek() != ',' {
			return list, nil
		}
		p.i++
	}
}

// forgiving reads a list of which the selectors that are wrong are left out.
func (p *parser) forgiving() (list []*chain, err error) {
	for {
		p.blanks()
		if p.peek() == ')' {
			return list, nil
		}
		start := p.i
		c, err := p.chain(')', false)
		if err == nil {
			list = append(list, c)
		} else {
			p.i = start
			if err := p.pass(); err != nil {
				return nil, err
			}
		}
		if p.peek() == ',' {
			p.i++
			continue
		}
		if p.peek() != ')' {
			return nil, p.fail("a parenthesis is not closed")
		}
		return list, nil
	}
}

// pass goes to the comma or parenthesis that ends an argument.
func (p *parser) pass() error {
	for depth := 0; p.i < len(p.s); p.i++ {
		switch c := p.s[p.i]; c {
		case '\\':
			p.i++
		case '"', '\'':
			if _, err := p.str(); err != nil {
				return err
			}
			p.i--
		case '(', '[':
			depth++
		case ']':
			depth--
		case ')':
			if depth == 0 {
				return nil
			}
			depth--
		case ',':
			if depth == 0 {
				return nil
			}
		}
	}
	return p.fail("a parenthesis is not closed")
}

// chain reads a selector without commas.
func (p *parser) chain(end byte, relative bool) (*chain, error) {
	c := &chain{}
	before := none
	if p.blanks(); relative {
		before = descendant
		if b := p.combinator(); b != none {
			before = b
			p.blanks()
		}
	}
	for {
		tests, err := p.compound()
		if err != nil {
			return nil, err
		}
		c.parts = append(c.parts, part{before, tests})
		blank := p.blanks()
		if ch := p.peek(); ch == ',' || ch == end || p.i == len(p.s) {
			return c, nil
		}
		before = p.combinator()
		switch {
		case before != none:
			p.blanks()
		case blank:
			before = descendant
		default:
			return nil, p.fail("not part of a selector")
		}
	}
}

func (p *parser) combinator() combinator {
	b := none
	switch p.peek() {
	case '>':
		b = child
	case '+':
		b = adjacent
	case '~':
		b = sibling
	default:
		return none
	}
	p.i++
	return b
}

// compound reads simple selectors that stand together.
func (p *parser) compound() (tests []test, err error) {
	start := p.i
	if t, ok, err := p.typeSelector(); err != nil {
		return nil, err
	} else if ok && t != nil {
		tests = append(tests, t)
	}
	for {
		var t test
		switch p.peek() {
		case '#':
			p.i++
			t, err = p.id()
		case '.':
			p.i++
			t, err = p.class()
		case '[':
			p.i++
			t, err = p.attribute()
		case ':':
			p.i++
			t, err = p.pseudo()
		default:
			if p.i == start {
				return nil, p.fail("a selector is missing")
			}
			return tests, nil
		}
		if err != nil {
			return nil, err
		}
		tests = append(tests, t)
	}
}

// typeSelector reads a name or * with or without a namespace. t is nil for what holds of each element.
func (p *parser) typeSelector() (t test, ok bool, err error) {
	any := p.peek() == '*'
	name := ""
	switch {
	case any:
		p.i++
	case p.peek() == '|' && p.i+1 < len(p.s) && p.s[p.i+1] != '=':
	case p.startsIdent():
		if name, err = p.ident(); err != nil {
			return nil, false, err
		}
	default:
		return nil, false, nil
	}
	if p.peek() != '|' || p.i+1 < len(p.s) && (p.s[p.i+1] == '=' || p.s[p.i+1] == '|') {
		if any {
			return nil, true, nil
		}
		return typeIs(name), true, nil
	}
	bare := !any && name == "" // "|name": of no namespace, which elements of a page are not
	if !any && !bare {
		return nil, false, p.fail("the namespace " + name + " is not declared")
	}
	p.i++
	if p.peek() == '*' {
		p.i++
		t = nil
	} else if name, err = p.ident(); err != nil {
		return nil, false, err
	} else {
		t = typeIs(name)
	}
	if bare {
		t = never
	}
	return t, true, nil
}

// id reads what stands behind #.
func (p *parser) id() (test, error) {
	name, err := p.ident()
	return attrIs("id", name, false), err
}

func (p *parser) class() (test, error) {
	name, err := p.ident()
	return attrHasWord("class", name, false), err
}

// startsIdent reports whether an identifier begins here.
func (p *parser) startsIdent() bool {
	s := p.s[p.i:]
	s = strings.TrimPrefix(s, "-")
	if s == "" {
		return false
	}
	c := s[0]
	return isNameStart(c) || c == '-' && len(s) < len(p.s[p.i:]) || c == '\\' && len(s) > 1 && s[1] != '\n'
}

func isNameStart(c byte) bool {
	return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= utf8.RuneSelf
}

func isName(c byte) bool { return isNameStart(c) || c == '-' || c >= '0' && c <= '9' }

// ident reads an identifier and its escapes.
func (p *parser) ident() (string, error) {
	if !p.startsIdent() {
		return "", p.fail("a name is missing")
	}
	return p.name()
}

func (p *parser) name() (string, error) {
	start := p.i
	for p.i < len(p.s) && isName(p.s[p.i]) {
		p.i++
	}
	if p.peek() != '\\' {
		return p.s[start:p.i], nil
	}
	var b strings.Builder
	b.WriteString(p.s[start:p.i])
	for p.i < len(p.s) {
		switch c := p.s[p.i]; {
		case isName(c):
			b.WriteByte(c)
			p.i++
		case c == '\\':
			if p.i+1 == len(p.s) || p.s[p.i+1] == '\n' {
				return "", p.fail("not an escape")
			}
			b.WriteRune(p.escape())
		default:
			return b.String(), nil
		}
	}
	return b.String(), nil
}

// escape reads an escaped code point.
func (p *parser) escape() rune {
	p.i++
	n, r := 0, rune(0)
	for n < 6 && p.i+n < len(p.s) && isHex(p.s[p.i+n]) {
		r = r<<4 | hexValue(p.s[p.i+n])
		n++
	}
	if n == 0 {
		r, size := utf8.DecodeRuneInString(p.s[p.i:])
		p.i += size
		return r
	}
	p.i += n
	if p.i < len(p.s) && isBlank(p.s[p.i]) {
		if strings.HasPrefix(p.s[p.i:], "\r\n") {
			p.i++
		}
		p.i++
	}
	if r == 0 || r > utf8.MaxRune || !utf8.ValidRune(r) {
		return utf8.RuneError
	}
	return r
}

func isHex(c byte) bool { return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f' }

func hexValue(c byte) rune {
	if c <= '9' {
		return rune(c - '0')
	}
	return rune(c|0x20-'a') + 10
}

// str reads a quoted string.
func (p *parser) str() (string, error) {
	quote := p.s[p.i]
	p.i++
	var b strings.Builder
	for p.i < len(p.s) {
		switch c := p.s[p.i]; c {
		case quote:
			p.i++
			return b.String(), nil
		case '\n':
			return "", p.fail("a string ends with its line")
		case '\\':
			if p.i+1 == len(p.s) {
				return "", p.fail("a string is not closed")
			}
			if p.s[p.i+1] == '\n' {
				p.i += 2
				continue
			}
			b.WriteRune(p.escape())
		default:
			b.WriteByte(c)
			p.i++
		}
	}
	return "", p.fail("a string is not closed")
}
