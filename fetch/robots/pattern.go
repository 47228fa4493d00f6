package robots

import "strings"

// pattern is the path of a rule, ready to be matched: literals with a wildcard between each two of them.
type pattern struct {
	literals []string // canonical, never empty as a list; the first must begin the target
	anchored bool     // the last literal must end the target
	length   int      // octets, by which the most specific rule is found (RFC 9309 2.2.2)
	allow    bool
	rule     Rule
}

// compile reads the path of a rule: "*" stands for any octets, "$" at the end for the end (RFC 9309 2.2.3).
func compile(r rule) pattern {
	p := pattern{allow: r.allow, rule: Rule{r.Line, strings.Clone(r.Text)}}
	text := r.pattern
	if strings.HasSuffix(text, "$") {
		text, p.anchored = text[:len(text)-1], true
		p.length++
	}
	var lit []byte
	for i := 0; i < len(text); {
		if text[i] == '*' {
			if len(lit) > 0 || len(p.literals) == 0 { // "**" is "*"
				p.literals = append(p.literals, string(lit))
			}
			lit = lit[:0]
			p.length++
			i++
			continue
		}
		octet, escaped, width := nextOctet(text, i)
		lit = appendOctet(lit, octet, escaped)
		p.length += octetLength(octet, escaped)
		i += width
	}
	p.literals = append(p.literals, string(lit))
	return p
}

// isPrefix reports whether the pattern matches all that begins with its only literal.
func (p *pattern) isPrefix() bool { return len(p.literals) == 1 && !p.anchored }

// match reports whether the pattern matches a canonical target. Each literal is sought behind the one before, once, where
// it comes first: that is never worse than further on. So the work is one pass over the target.
func (p *pattern) match(target string) bool {
	rest, ok := strings.CutPrefix(target, p.literals[0])
	if !ok {
		return false
	}
	last := len(p.literals) - 1
	for i := 1; i <= last; i++ {
		lit := p.literals[i]
		if i == last && p.anchored {
			return strings.HasSuffix(rest, lit)
		}
		at := strings.Index(rest, lit)
		if at < 0 {
			return false
		}
		rest = rest[at+len(lit):]
	}
	return !p.anchored || rest == ""
}

// beats reports whether p is to be obeyed rather than q when both match: the longer, and among equals the one that
// allows. A nil q is beaten.
func (p *pattern) beats(q *pattern) bool {
	return q == nil || p.length > q.length || p.length == q.length && p.allow && !q.allow
}

// kept are the octets whose escape differs from the octet itself: the reserved ones of RFC 3986 2.2, and the percent
// sign. Brackets are not among them, which no path or query may hold raw; neither are "*" and "$", which are raw in URLs
// but can be meant in rules only by their escape (RFC 9309 2.2.3).
const kept = ":/?#@!&'()+,;=%"

// stray are octets that no URL holds raw, though in ASCII and printable.
const stray = " \"<>[\\]^`{|}"

const (
	isKept uint8 = 1 << iota
	isStray
)

// octets holds what is to be known of each octet.
var octets = func() (t [256]uint8) {
	for i := range t {
		if i <= ' ' || i >= 0x7F || strings.IndexByte(stray, byte(i)) >= 0 {
			t[i] |= isStray
		}
		if strings.IndexByte(kept, byte(i)) >= 0 {
			t[i] |= isKept
		}
	}
	return t
}()

// canonical returns the form of a target in which it is compared. RFC 9309 2.2.2 escapes on both sides what no URL holds
// raw and unescapes what need not be escaped; here both are unescaped, which makes the same targets equal and leaves a
// target without escapes as it is. Escapes of kept octets remain, in upper case; a percent sign that begins no escape
// becomes one.
func canonical(target string) string {
	first := strings.IndexByte(target, '%')
	if first < 0 {
		return target
	}
	out := make([]byte, 0, len(target)+8)
	out = append(out, target[:first]...)
	for i := first; i < len(target); {
		octet, escaped, width := nextOctet(target, i)
		out = appendOctet(out, octet, escaped)
		i += width
	}
	return string(out)
}

// nextOctet reads the octet at i, which may be written as an escape, and says whether it remains one.
func nextOctet(s string, i int) (octet byte, escaped bool, width int) {
	if s[i] != '%' {
		return s[i], false, 1
	}
	if i+2 < len(s) {
		high, low := unhex(s[i+1]), unhex(s[i+2])
		if high < 16 && low < 16 {
			octet = high<<4 | low
			return octet, octets[octet]&isKept != 0, 3
		}
	}
	return '%', true, 1
}

func appendOctet(dst []byte, octet byte, escaped bool) []byte {
	if !escaped {
		return append(dst, octet)
	}
	const digits = "0123456789ABCDEF"
	return append(dst, '%', digits[octet>>4], digits[octet&15])
}

// octetLength is how many octets the canonical form of the RFC has for one of ours.
func octetLength(octet byte, escaped bool) int {
	if escaped || octets[octet]&isStray != 0 {
		return len("%XX")
	}
	return 1
}

// unhex returns the value of a digit, 16 or more for what is none.
func unhex(b byte) byte {
	switch {
	case '0' <= b && b <= '9':
		return b - '0'
	case 'a' <= b|0x20 && b|0x20 <= 'f':
		return (b | 0x20) - 'a' + 10
	}
	return 0xFF
}

// unescapeQuery unescapes in a canonical query what separates nothing there, so that raw and escaped are the same, as in
// the second example of RFC 9309 2.2.2 ("?baz=https://foo.bar").
func unescapeQuery(query string) string {
	i := strings.IndexByte(query, '%')
	if i < 0 {
		return query
	}
	var out []byte // nil until something differs
	from := 0      // what is before is in out
	for ; i+2 < len(query); i++ {
		if query[i] != '%' {
			continue
		}
		octet := unhex(query[i+1])<<4 | unhex(query[i+2])
		switch octet {
		case '/', ':', '?', '@':
			if out == nil {
				out = make([]byte, 0, len(query))
			}
			out = append(append(out, query[from:i]...), octet)
			from = i + len("%XX")
		}
		i += 2
	}
	if out == nil {
		return query
	}
	return string(append(out, query[from:]...))
}

// loosen applies unescapeQuery behind the first question mark of a canonical target.
func loosen(target string) string {
	i := strings.IndexByte(target, '?')
	if i < 0 {
		return target
	}
	query := unescapeQuery(target[i:])
	if len(query) == len(target)-i {
		return target
	}
	return target[:i] + query
}

// loosened returns the pattern for targets that are loosened. It is the matter only of a pattern that names a question
// mark, which ok says: others mean paths, and a path within a query is none.
func (p *pattern) loosened() (q pattern, changed, ok bool) {
	q = *p
	q.literals = make([]string, len(p.literals))
	for i, lit := range p.literals {
		switch {
		case ok:
			q.literals[i] = unescapeQuery(lit)
		default:
			q.literals[i] = loosen(lit)
			ok = strings.IndexByte(lit, '?') >= 0
		}
		q.length -= len(lit) - len(q.literals[i])
		changed = changed || q.literals[i] != lit
	}
	return q, changed, ok
}
