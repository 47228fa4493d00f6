package jsonpath

import (
	"regexp"
	"strings"
)

// matching is match (of the whole text) or search, of regular expressions as RFC 9485 has them. What is no text does not match,
// and nothing matches what is no regular expression. One that is written in the path is compiled once, with it.
func matching(text, pattern *operand, whole bool) test {
	if pattern.take == nil {
		written, _ := pattern.literal.(string)
		re := compilePattern(written, whole)
		if _, ok := pattern.literal.(string); !ok || re == nil {
			return func(any, *selection) bool { return false }
		}
		return func(v any, s *selection) bool { return matches(re, text, v, s) }
	}
	return func(v any, s *selection) bool {
		found, _ := pattern.value(v, s)
		written, ok := found.(string)
		if !ok || !s.take(len(written)*patternSteps) {
			return false
		}
		if s.pattern != written || s.whole != whole || s.re == nil {
			s.pattern, s.whole, s.re = written, whole, compilePattern(written, whole)
		}
		return s.re != nil && matches(s.re, text, v, s)
	}
}

// patternSteps is what a byte of a pattern counts for that a document brings: of the costliest classes it takes that long.
const patternSteps = 128

// matches takes a step for some bytes of the text and of the pattern, as their product bounds the time.
func matches(re *regexp.Regexp, text *operand, v any, s *selection) bool {
	found, _ := text.value(v, s)
	subject, ok := found.(string)
	return ok && s.take(len(subject)*len(re.String())/64) && re.MatchString(subject)
}

// compilePattern returns nil for what is no regular expression.
func compilePattern(pattern string, whole bool) *regexp.Regexp {
	written := dots(pattern)
	if whole {
		if _, err := regexp.Compile(written); err != nil { // what is wrong by itself may be right in a group: a)(b
			return nil
		}
		written = `\A(?:` + written + `)\z`
	}
	re, _ := regexp.Compile(written)
	return re
}

// dots writes dots as what RFC 9485 says that they are: anything but line ends.
func dots(pattern string) string {
	if strings.IndexByte(pattern, '.') < 0 {
		return pattern
	}
	var b strings.Builder
	inClass := false
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '\\' && i+1 < len(pattern):
			b.WriteString(pattern[i : i+2])
			i++
			continue
		case c == '.' && !inClass:
			b.WriteString(`[^\n\r]`)
			continue
		case c == '[':
			inClass = true
		case c == ']':
			inClass = false
		}
		b.WriteByte(pattern[i])
	}
	return b.String()
}
