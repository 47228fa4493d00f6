package release

import (
	"iter"
	"regexp"
	"strings"
	"unicode"
)

// form is a pattern that begins at a word: at a letter or digit with none before it. It is tried at words that begin
// with one of some bytes alone, and looks ahead by lookAhead, so that a name costs no more than its length.
type form struct {
	re     *regexp.Regexp
	starts string // first bytes of the pattern
	then   string // first bytes of what follows numbers that it begins with, and separators; empty means any
	first  bool   // only the first word of a name
}

const digit = "0123456789"

func newForm(starts, pattern string) form {
	return form{re: regexp.MustCompile(`^(?:` + pattern + `)`), starts: starts}
}

// newNumberForm makes a form of a number with something behind it.
func newNumberForm(then, pattern string) form {
	f := newForm(digit, pattern)
	f.then = then
	return f
}

// follows tells whether behind the numbers and separators at an offset there is one of some bytes. It is a short way
// past most numbers.
func (p *parser) follows(at int, then string) bool {
	rest := strings.TrimLeft(p.low[at:min(at+lookAhead, len(p.low))], digit+" .,_-\n\r\f")
	return rest != "" && strings.IndexByte(then, rest[0]) >= 0
}

// begin is where a word begins, and the separator before it.
type begin struct{ separator, at int }

// findBegins finds where words begin.
func (p *parser) findBegins() {
	inside, last := false, 0
	for i, r := range p.low {
		is := unicode.IsLetter(r) || unicode.IsNumber(r)
		if is && !inside {
			p.begins = append(p.begins, begin{last, i})
		}
		inside, last = is, i
	}
}

// each finds a form, without overlaps: matches share no separator either.
func (p *parser) each(f form) iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		end := 0
		for _, b := range p.begins {
			if f.first && b.at > 0 {
				return
			}
			if b.separator < end || strings.IndexByte(f.starts, p.low[b.at]) < 0 {
				continue
			}
			if f.then != "" && !p.follows(b.at, f.then) {
				continue
			}
			if m := p.match(f.re, b.at); m != nil {
				end = m[1]
				if !yield(m) {
					return
				}
			}
		}
	}
}

// find finds the first of a form, or nil.
func (p *parser) find(f form) []int {
	for m := range p.each(f) {
		return m
	}
	return nil
}

// everywhere finds a pattern at the offsets that begins tells, without overlaps.
func (p *parser) everywhere(re *regexp.Regexp, begins func(i int) bool) (all [][]int) {
	end := 0
	for i := range len(p.low) {
		if i < end || !begins(i) {
			continue
		}
		if m := p.match(re, i); m != nil {
			end = m[1]
			all = append(all, m)
		}
	}
	return all
}

// lookAhead is how far from its start a form is read: farther than any reaches, but for runs of blanks.
const lookAhead = 64

// match finds a form that begins at an offset.
func (p *parser) match(re *regexp.Regexp, at int) []int {
	ahead := p.low[at:min(at+lookAhead, len(p.low))]
	m := re.FindStringSubmatchIndex(ahead)
	if m == nil || m[1] == len(ahead) && at+m[1] < len(p.low) {
		return nil
	}
	for i := range m {
		if m[i] >= 0 {
			m[i] += at
		}
	}
	return m
}
