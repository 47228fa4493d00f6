package css

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"
)

// nth selects by the place among siblings: the (an+b)th, counted from 1.
type nth struct {
	a, b   int
	of     []*chain // siblings that count; nil: all
	last   bool     // counted from the end
	ofType bool     // siblings of the same type count
}

var anyChild = nth{a: 1}

func (t *nth) test() test {
	return func(m *matcher, n *html.Node) bool {
		at := m.place(t, n)
		if at == 0 {
			return false
		}
		if t.a == 0 {
			return at == t.b
		}
		return (at-t.b)%t.a == 0 && (at-t.b)/t.a >= 0
	}
}

// counts reports whether s counts for the place of n.
func (m *matcher) counts(t *nth, s, n *html.Node) bool {
	return s.Type == html.ElementNode && (!t.ofType || s.Data == n.Data && s.Namespace == n.Namespace) && (t.of == nil || m.any(t.of, s))
}

// place is the place of n among its siblings, 0 when it does not count itself. Where only one place is asked for, those
// beyond it are all alike.
func (m *matcher) place(t *nth, n *html.Node) int {
	if at, known := m.places[t][n]; known {
		return at
	}
	if !m.counts(t, n, n) {
		return 0
	}
	at, steps := 1, 0
	for s := t.before(n); s != nil; s = t.before(s) {
		if steps++; steps > few && n.Parent != nil {
			m.remember(t, n.Parent)
			return m.places[t][n]
		}
		if !m.counts(t, s, n) {
			continue
		}
		if at++; t.a == 0 && at > t.b {
			break
		}
	}
	return at
}

func (t *nth) before(n *html.Node) *html.Node {
	if t.last {
		return n.NextSibling
	}
	return n.PrevSibling
}

// remember counts all children of a parent at once, since one by one that is the square of their number.
func (m *matcher) remember(t *nth, parent *html.Node) {
	if m.places == nil {
		m.places = map[*nth]map[*html.Node]int{}
	}
	places := m.places[t]
	if places == nil {
		places = map[*html.Node]int{}
		m.places[t] = places
	}
	type kind struct{ namespace, name string }
	counts := map[kind]int{}
	n := parent.FirstChild
	if t.last {
		n = parent.LastChild
	}
	for n != nil {
		if n.Type == html.ElementNode {
			var k kind
			if t.ofType {
				k = kind{n.Namespace, n.Data}
			}
			places[n] = 0
			if m.counts(t, n, n) {
				counts[k]++
				places[n] = counts[k]
			}
		}
		if t.last {
			n = n.PrevSibling
		} else {
			n = n.NextSibling
		}
	}
}

// nth reads an argument: an+b, odd, even, and for children "of" selectors.
func (p *parser) nth(last, ofType bool) (test, error) {
	t := &nth{last: last, ofType: ofType}
	p.blanks()
	start := p.i
	for p.i < len(p.s) && (strings.IndexByte("+- \t\n\r\f", p.s[p.i]) >= 0 || isName(p.s[p.i])) {
		if rest := p.s[p.i:]; len(rest) > 3 && isBlank(rest[0]) && equalFold(rest[1:3], "of") && !isName(rest[3]) {
			break
		}
		p.i++
	}
	var ok bool
	if t.a, t.b, ok = parseNth(p.s[start:p.i]); !ok {
		p.i = start
		return nil, p.fail("not of the form an+b")
	}
	p.blanks()
	if !ofType && len(p.s)-p.i > 2 && equalFold(p.s[p.i:p.i+2], "of") {
		p.i += 2
		list, err := p.selectors(')')
		if err != nil {
			return nil, err
		}
		t.of = list
	}
	return t.test(), nil
}

// maxNth bounds the numbers of an+b, beyond which no page has siblings.
const maxNth = 1 << 30

func parseNth(s string) (a, b int, ok bool) {
	s = strings.ToLower(strings.Trim(s, " \t\n\r\f"))
	switch s {
	case "odd":
		return 2, 1, true
	case "even":
		return 2, 0, true
	}
	left, right, isN := strings.Cut(s, "n")
	if !isN {
		b, ok = parseInt(s)
		return 0, b, ok
	}
	switch left {
	case "", "+":
		a = 1
	case "-":
		a = -1
	default:
		if a, ok = parseInt(left); !ok {
			return 0, 0, false
		}
	}
	right = strings.TrimLeft(right, " \t\n\r\f")
	if right == "" {
		return a, 0, true
	}
	sign := right[0]
	digits := strings.TrimLeft(right[1:], " \t\n\r\f")
	if sign != '+' && sign != '-' || digits == "" || digits[0] < '0' || digits[0] > '9' {
		return 0, 0, false
	}
	b, ok = parseInt(digits)
	if sign == '-' {
		b = -b
	}
	return a, b, ok
}

func parseInt(s string) (int, bool) {
	digits := strings.TrimLeft(s, "+-")
	if digits == "" || len(s)-len(digits) > 1 || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		n = maxNth
		if s[0] == '-' {
			n = -maxNth
		}
	}
	return min(max(n, -maxNth), maxNth), true
}
