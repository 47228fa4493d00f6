package extract

import "bytes"

// The states for what is no markup: comments, the content of raw text elements and of scripts.

// until passes over everything up to and with end.
func (s *scanner) until(b []byte, i int, end string) (int, bool) {
	n := bytes.Index(b[i:], []byte(end))
	if n < 0 {
		next := max(i, len(b)-len(end)+1)
		s.section(b[i:next])
		return next, false
	}
	s.section(b[i : i+n])
	s.state = inData
	return i + n + len(end), true
}

// comment ends at "-->" or "--!>", or at ">" or "->" right at its start.
func (s *scanner) comment(b []byte, i int) (int, bool) {
	if s.fresh {
		switch {
		case b[i] == '>':
			s.state = inData
			return i + 1, true
		case b[i] == '-' && len(b)-i < 2:
			return i, false
		case b[i] == '-' && b[i+1] == '>':
			s.state = inData
			return i + 2, true
		}
		s.fresh = false
	}
	for from := i; ; {
		n := bytes.IndexByte(b[from:], '>')
		if n < 0 {
			return max(i, len(b)-len("--!")), false
		}
		end := from + n
		if text := b[i:end]; bytes.HasSuffix(text, []byte("--")) || bytes.HasSuffix(text, []byte("--!")) {
			s.state = inData
			return end + 1, true
		}
		from = end + 1
	}
}

// rawText looks for the end tag that ends the content of a raw text or RCDATA element. The tag is left to data.
func (s *scanner) rawText(b []byte, i int) (int, bool) {
	for {
		n := bytes.IndexByte(b[i:], '<')
		if n < 0 {
			return len(b), false
		}
		i += n
		switch isTag(b[i+1:], "/", s.raw) {
		case unknown:
			return i, false
		case yes:
			s.state = inData
			return i, true
		}
		i++
	}
}

// escape is how deep script data is escaped.
type escape uint8

const (
	notEscaped    escape = iota
	escapedOnce          // behind "<!--"
	escapedDouble        // behind "<!--" and "<script"
)

// script looks for the end of a script (WHATWG HTML 13.2.5.15 to 31).
func (s *scanner) script(b []byte, i int) (int, bool) {
	for i < len(b) {
		if s.escaped == notEscaped {
			n := bytes.IndexByte(b[i:], '<')
			if n < 0 {
				return len(b), false
			}
			i += n
		}
		c := b[i]
		if c != '<' {
			s.pass(c)
			i++
			continue
		}
		end, start, opens := isTag(b[i+1:], "/", "script"), isTag(b[i+1:], "", "script"), startsWith(b[i+1:], "!--")
		switch {
		case end == unknown, s.escaped == escapedOnce && start == unknown, s.escaped == notEscaped && opens == unknown:
			return i, false
		case end == yes && s.escaped != escapedDouble:
			s.state = inData
			return i, true
		case end == yes:
			s.escaped = escapedOnce
		case s.escaped == escapedOnce && start == yes:
			s.escaped = escapedDouble
		case s.escaped == notEscaped && opens == yes:
			s.escaped, s.dashes = escapedOnce, 2
			i += len("<!--")
			continue
		}
		s.dashes = 0
		i++
	}
	return i, false
}

// pass takes note of a byte of an escaped script: "-->" ends the escape.
func (s *scanner) pass(c byte) {
	switch {
	case c == '-':
		s.dashes = min(s.dashes+1, 2)
		return
	case c == '>' && s.dashes == 2:
		s.escaped = notEscaped
	}
	s.dashes = 0
}

// answer to a question about bytes of which the end may be missing.
type answer uint8

const (
	no answer = iota
	yes
	unknown
)

// startsWith says whether b starts with prefix.
func startsWith(b []byte, prefix string) answer {
	n := min(len(b), len(prefix))
	switch {
	case string(b[:n]) != prefix[:n]:
		return no
	case n < len(prefix):
		return unknown
	}
	return yes
}

// isTag says whether b, which stands behind a "<", goes on with slash, name in any case, and the end of the name.
func isTag(b []byte, slash, name string) answer {
	if slash != "" {
		if len(b) == 0 {
			return unknown
		}
		if b[0] != '/' {
			return no
		}
		b = b[1:]
	}
	n := min(len(b), len(name))
	if !equalFold(b[:n], name[:n]) {
		return no
	}
	if len(b) <= len(name) {
		return unknown
	}
	if class[b[len(name)]]&endsName == 0 {
		return no
	}
	return yes
}
