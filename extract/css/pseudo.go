package css

import (
	"strings"

	"golang.org/x/net/html"
)

// pseudo reads what stands behind a colon.
func (p *parser) pseudo() (test, error) {
	if p.peek() == ':' {
		return nil, p.fail("a pseudo-element is no element")
	}
	start := p.i
	name, err := p.ident()
	if err != nil {
		return nil, err
	}
	name = lowerASCII(name)
	if p.peek() != '(' {
		if t, ok := pseudoClasses[name]; ok {
			return t, nil
		}
		p.i = start
		return nil, p.fail("the pseudo-class " + name + " is not known")
	}
	p.i++
	if p.depth == MaxNesting {
		return nil, p.fail("nested too deep")
	}
	p.depth++
	t, err := p.function(name, start)
	p.depth--
	if err != nil {
		return nil, err
	}
	if p.blanks(); p.peek() != ')' {
		return nil, p.fail("a parenthesis is not closed")
	}
	p.i++
	return t, nil
}

// function reads the argument of a pseudo-class.
func (p *parser) function(name string, start int) (test, error) {
	switch name {
	case "is", "where", "any", "-webkit-any", "-moz-any":
		list, err := p.forgiving()
		return func(m *matcher, n *html.Node) bool { return m.any(list, n) }, err
	case "not":
		list, err := p.selectors(')')
		return func(m *matcher, n *html.Node) bool { return !m.any(list, n) }, err
	case "has":
		return p.has()
	case "haschild":
		list, err := p.selectors(')')
		return func(m *matcher, n *html.Node) bool {
			for c := n.FirstChild; c != nil; c = c.NextSibling {
				if m.any(list, c) {
					return true
				}
			}
			return false
		}, err
	case "nth-child":
		return p.nth(false, false)
	case "nth-last-child":
		return p.nth(true, false)
	case "nth-of-type":
		return p.nth(false, true)
	case "nth-last-of-type":
		return p.nth(true, true)
	case "contains", "containsown":
		text, err := p.argument()
		if err != nil {
			return nil, err
		}
		return contains(lowerASCII(text), name == "containsown"), nil
	case "lang":
		return p.lang()
	}
	p.i = start
	return nil, p.fail("the pseudo-class " + name + "() is not known")
}

func (p *parser) has() (test, error) {
	if p.inHas {
		return nil, p.fail(":has within :has")
	}
	p.inHas = true
	list, err := p.list(')', true)
	p.inHas = false
	return func(m *matcher, n *html.Node) bool { return m.has(list, n) }, err
}

// argument reads a string, or whatever stands there up to the parenthesis.
func (p *parser) argument() (string, error) {
	p.blanks()
	if c := p.peek(); c == '"' || c == '\'' {
		return p.str()
	}
	start := p.i
	for p.i < len(p.s) && p.s[p.i] != ')' {
		p.i++
	}
	text := strings.TrimRight(p.s[start:p.i], " \t\n\r\f")
	if text == "" {
		return "", p.fail("a text is missing")
	}
	return text, nil
}

// lang reads language ranges.
func (p *parser) lang() (test, error) {
	var ranges []string
	for {
		p.blanks()
		var r string
		var err error
		switch c := p.peek(); {
		case c == '"' || c == '\'':
			r, err = p.str()
		case c == '*':
			p.i++
			r = "*"
			if p.peek() == '-' {
				var rest string
				rest, err = p.name()
				r += rest
			}
		default:
			r, err = p.ident()
		}
		if err != nil {
			return nil, err
		}
		ranges = append(ranges, lowerASCII(r))
		if p.blanks(); p.peek() != ',' {
			break
		}
		p.i++
	}
	return func(_ *matcher, n *html.Node) bool {
		lang := lowerASCII(language(n))
		for _, r := range ranges {
			if speaks(lang, r) {
				return true
			}
		}
		return false
	}, nil
}

// language is that of the nearest element that says it.
func language(n *html.Node) string {
	for ; n != nil; n = n.Parent {
		for _, a := range n.Attr {
			if a.Key == "lang" && (a.Namespace == "" || a.Namespace == "xml") {
				return a.Val
			}
		}
	}
	return ""
}

// speaks is extended filtering (RFC 4647, section 3.3.2).
func speaks(lang, want string) bool {
	if lang == "" || want == "" {
		return lang == want
	}
	tags, wants := strings.Split(lang, "-"), strings.Split(want, "-")
	if wants[0] != "*" && wants[0] != tags[0] {
		return false
	}
	tags, wants = tags[1:], wants[1:]
	for len(wants) > 0 {
		switch {
		case wants[0] == "*":
			wants = wants[1:]
		case len(tags) == 0:
			return false
		case tags[0] == wants[0]:
			tags, wants = tags[1:], wants[1:]
		case len(tags[0]) == 1:
			return false
		default:
			tags = tags[1:]
		}
	}
	return true
}
