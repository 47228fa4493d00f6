package css

import (
	"strings"

	"golang.org/x/net/html"
)

// typeIs tests the name of an element: in lower case for those of HTML, as it stands for those of SVG and MathML.
func typeIs(name string) test {
	lower := strings.ToLower(name)
	return func(_ *matcher, n *html.Node) bool {
		if n.Namespace == "" {
			return n.Data == lower
		}
		return n.Data == name
	}
}

// attr finds an attribute by its name as a selector gives it.
func attr(n *html.Node, name, lower string, anyNamespace bool) (string, bool) {
	if n.Namespace == "" {
		name = lower
	}
	for _, a := range n.Attr {
		if a.Key == name && (a.Namespace == "" || anyNamespace) {
			return a.Val, true
		}
		if a.Namespace != "" && len(name) == len(a.Namespace)+1+len(a.Key) && name == a.Namespace+":"+a.Key {
			return a.Val, true
		}
	}
	return "", false
}

// value makes a test of a condition on the value of an attribute.
func value(name string, anyNamespace bool, holds func(string) bool) test {
	lower := strings.ToLower(name)
	return func(_ *matcher, n *html.Node) bool {
		v, ok := attr(n, name, lower, anyNamespace)
		return ok && holds(v)
	}
}

func attrIs(name, want string, fold bool) test {
	return value(name, false, func(v string) bool { return v == want || fold && equalFold(v, want) })
}

func attrHasWord(name, word string, fold bool) test {
	return value(name, false, func(v string) bool { return hasWord(v, word, fold) })
}

// hasWord reports whether word is one of those that v lists between blanks.
func hasWord(v, word string, fold bool) bool {
	if word == "" || strings.ContainsAny(word, " \t\n\r\f") {
		return false
	}
	for w := range strings.FieldsFuncSeq(v, func(r rune) bool { return r < 0x80 && isBlank(byte(r)) }) {
		if w == word || fold && equalFold(w, word) {
			return true
		}
	}
	return false
}

// equalFold compares without regard to ASCII case.
func equalFold(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		if lowerByte(a[i]) != lowerByte(b[i]) {
			return false
		}
	}
	return true
}

func lowerByte(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

// lowerASCII leaves what is not ASCII as it is.
func lowerASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, s)
}

// attribute reads what stands between [ and ].
func (p *parser) attribute() (test, error) {
	p.blanks()
	name, anyNamespace, err := p.attributeName()
	if err != nil {
		return nil, err
	}
	p.blanks()
	if p.peek() == ']' {
		p.i++
		return value(name, anyNamespace, func(string) bool { return true }), nil
	}
	op := p.peek()
	if p.i++; op != '=' {
		if strings.IndexByte("~|^$*", op) < 0 || p.peek() != '=' {
			p.i--
			return nil, p.fail("not an operator of attributes")
		}
		p.i++
	}
	p.blanks()
	var want string
	if c := p.peek(); c == '"' || c == '\'' {
		want, err = p.str()
	} else {
		want, err = p.ident()
	}
	if err != nil {
		return nil, err
	}
	p.blanks()
	fold := foldedValues[strings.ToLower(name)] && !anyNamespace
	switch p.peek() | 0x20 {
	case 'i':
		fold = true
		p.i++
	case 's':
		fold = false
		p.i++
	}
	if p.blanks(); p.peek() != ']' {
		return nil, p.fail("an attribute is not closed")
	}
	p.i++
	return value(name, anyNamespace, compare(op, want, fold)), nil
}

// foldedValues are the attributes whose values are compared without case unless a selector says otherwise (WHATWG HTML
// 4.16.2).
var foldedValues = func() map[string]bool {
	names := map[string]bool{}
	for name := range strings.FieldsSeq("accept accept-charset align alink axis bgcolor charset checked clear codetype color compact declare " +
		"defer dir direction disabled enctype face frame hreflang http-equiv lang language link media method multiple nohref noresize noshade " +
		"nowrap readonly rel rev rules scope scrolling selected shape target text type valign valuetype vlink") {
		names[name] = true
	}
	return names
}()

func (p *parser) attributeName() (name string, anyNamespace bool, err error) {
	switch {
	case strings.HasPrefix(p.s[p.i:], "*|"):
		p.i += 2
		anyNamespace = true
	case p.peek() == '|':
		p.i++
	}
	if name, err = p.ident(); err != nil {
		return "", false, err
	}
	if p.peek() == '|' && !strings.HasPrefix(p.s[p.i:], "|=") {
		return "", false, p.fail("the namespace " + name + " is not declared")
	}
	return name, anyNamespace, nil
}

// compare is the condition of an operator.
func compare(op byte, want string, fold bool) func(string) bool {
	if fold {
		want = lowerASCII(want)
		inner := compare(op, want, false)
		return func(v string) bool { return inner(lowerASCII(v)) }
	}
	switch op {
	case '=':
		return func(v string) bool { return v == want }
	case '~':
		return func(v string) bool { return hasWord(v, want, false) }
	case '|':
		return func(v string) bool { return v == want || strings.HasPrefix(v, want) && v[len(want)] == '-' }
	case '^':
		return func(v string) bool { return want != "" && strings.HasPrefix(v, want) }
	case '$':
		return func(v string) bool { return want != "" && strings.HasSuffix(v, want) }
	}
	return func(v string) bool { return want != "" && strings.Contains(v, want) }
}
