package h1

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

var (
	errNotHTTP       = errors.New("what came does not begin with a status line")
	errStatus        = errors.New("the status is not a number from 100 to 999")
	errUnasked       = errors.New("the server switches protocols without being asked")
	errHeadBytes     = errors.New("too many bytes")
	errFields        = errors.New("too many fields")
	errInformational = errors.New("too many 1xx responses")
	errEmptyReads    = errors.New("reads bring nothing")
)

func isTimeout(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }

// receive reads heads up to that of the response and prepares its body.
func (c *Conn) receive(due time.Time) error {
	for informational := 0; ; informational++ {
		head, err := c.readHead(due)
		if err != nil {
			return err
		}
		line := head[:bytes.IndexByte(head, '\n')]
		status, ok := parseStatusLine(line)
		if !ok {
			return c.fail(opHead, Malformed, errStatus)
		}
		if status.code == http.StatusSwitchingProtocols && !c.asked.upgrade {
			return c.fail(opHead, Malformed, errUnasked)
		}
		if status.code >= 200 || status.code == http.StatusSwitchingProtocols {
			return c.respond(head, len(line)+1, status)
		}
		if informational == c.limits.Informational {
			return c.fail(opHead, HeaderTooLarge, errInformational)
		}
	}
}

// respond fills in the response from its head.
func (c *Conn) respond(head []byte, fields int, status statusLine) error {
	text := string(head)
	r := c.resp
	r.RawHeader = bytes.Clone(head)
	r.Major, r.Minor, r.Status, r.Reason = status.major, status.minor, status.code, text[status.reason:status.end]
	var ok bool
	if r.Header, ok = parseFields(text[fields:], c.limits.Fields); !ok {
		return c.fail(opHead, HeaderTooLarge, errFields)
	}
	if err := c.frame(); err != nil {
		return c.fail(opHead, Malformed, err)
	}
	return nil
}

// readHead reads from the status line to the empty line. What it returns lies in the buffer until the next read.
func (c *Conn) readHead(due time.Time) ([]byte, error) {
	read := func(p []byte) (int, error) { return c.read(p, c.resp.Written, due) }
	var scan headScan
	for begun := false; ; {
		if !begun {
			skip, found := findStatusLine(c.buf[c.r:c.w], c.served)
			c.r += skip
			c.headLeft -= skip
			if found == notHTTP {
				return nil, c.fail(opHead, Malformed, errNotHTTP)
			}
			begun = found == isHTTP
		}
		if begun {
			if end := scan.end(c.buf[c.r:c.w]); end > 0 && end <= c.headLeft {
				head := c.buf[c.r : c.r+end]
				c.r += end
				c.headLeft -= end
				return head, nil
			}
		}
		if c.w-c.r >= c.headLeft {
			return nil, c.fail(opHead, HeaderTooLarge, errHeadBytes)
		}
		if err := c.more(read); err != nil {
			return nil, c.failHead(err)
		}
	}
}

// failHead says what an error of reading a head means.
func (c *Conn) failHead(err error) error {
	switch {
	case isTimeout(err):
		return c.fail(opHead, HeaderTimeout, nil)
	case !c.answered:
		return c.fail(opHead, Closed, err)
	case err == io.EOF:
		err = io.ErrUnexpectedEOF
	}
	return c.fail(opHead, Truncated, err)
}

// headScan finds the end of a head that comes in pieces; no byte is looked at twice.
type headScan struct{ line, seen int }

// end returns the length of the head in b, its empty line included, or 0 when b does not hold its end. Lines end in LF,
// and CRs before it belong to the line end.
func (s *headScan) end(b []byte) int {
	for {
		i := bytes.IndexByte(b[s.seen:], '\n')
		if i < 0 {
			s.seen = len(b)
			return 0
		}
		line := b[s.line : s.seen+i]
		s.seen += i + 1
		s.line = s.seen
		if len(line) == 0 || line[0] == '\r' && len(bytes.TrimRight(line, "\r")) == 0 {
			return s.seen
		}
	}
}

type found uint8

const (
	tooShort found = iota // to decide
	isHTTP
	notHTTP
)

// findStatusLine looks for the beginning of a status line and says how many bytes before it to skip. Empty lines may stand
// before it (RFC 9112 2.2), and on a new connection up to maxJunk bytes of anything, as in Chromium: between two responses
// such bytes might belong to the first one.
func findStatusLine(b []byte, served bool) (skip int, f found) {
	for skip < len(b) && (b[skip] == '\r' || b[skip] == '\n') {
		skip++
	}
	junk := maxJunk
	if served {
		junk = 0
	}
	for at := 0; at <= junk; at++ {
		switch rest := b[min(skip+at, len(b)):]; {
		case len(rest) < 5:
			if len(rest) == 0 || strings.HasPrefix("http/", lowered(string(rest))) || strings.HasPrefix("http ", lowered(string(rest))) ||
				strings.HasPrefix("icy ", lowered(string(rest))) {
				return skip, tooShort
			}
		case isProtocol(rest):
			return skip + at, isHTTP
		}
	}
	return skip, notHTTP
}

// isProtocol reports whether b, of five bytes at least, begins with the name of a protocol: that of HTTP in any case, or
// the one that SHOUTcast servers write in its place.
func isProtocol(b []byte) bool {
	if b[0]|0x20 == 'h' {
		return b[1]|0x20 == 't' && b[2]|0x20 == 't' && b[3]|0x20 == 'p' && (b[4] == '/' || b[4] == ' ')
	}
	return b[0]|0x20 == 'i' && b[1]|0x20 == 'c' && b[2]|0x20 == 'y' && b[3] == ' '
}

type statusLine struct {
	major, minor, code int
	reason, end        int // where the reason stands in the line
}

// parseStatusLine reads a line that isProtocol has accepted. As browsers do, it takes a version it cannot read as 1.0 and,
// where one is well-formed, a status that is missing as 200.
func parseStatusLine(line []byte) (s statusLine, ok bool) {
	s = statusLine{major: 1, end: len(line)}
	for s.end > 0 && isBlank(line[s.end-1]) {
		s.end--
	}
	line = line[:s.end]
	at := bytes.IndexAny(line, "/ ")
	versioned := false
	if at >= 0 && line[at] == '/' {
		major, next := number(line, at+1)
		minor, last := number(line, min(next+1, len(line)))
		if next > at+1 && next < len(line) && line[next] == '.' && last > next+1 {
			s.major, s.minor, versioned, at = major, minor, true, last
		}
		for at < len(line) && !isBlank(line[at]) {
			at++
		}
	}
	at = skipBlanks(line, max(at, 0))
	code, next := number(line, at)
	s.code, s.reason = code, skipBlanks(line, next)
	if next == at && versioned {
		s.code = http.StatusOK
	}
	return s, s.code >= 100 && s.code <= 999
}

// maxNumber is what number does not go beyond.
const maxNumber = 1 << 16

// number reads the decimal digits of b from at on and returns where they end.
func number(b []byte, at int) (n, next int) {
	for next = at; next < len(b) && b[next] >= '0' && b[next] <= '9'; next++ {
		n = min(n*10+int(b[next]-'0'), maxNumber)
	}
	return n, next
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }

func skipBlanks(b []byte, at int) int {
	for at < len(b) && isBlank(b[at]) {
		at++
	}
	return at
}

// parseFields reads lines of header fields up to the empty line. It returns false when there are more than limit lines.
func parseFields(s string, limit int) (http.Header, bool) {
	lines := strings.Count(s, "\n") - 1
	if lines > limit {
		return nil, false
	}
	header := make(http.Header, lines)
	values := make([]string, 0, lines) // backs the values of all fields
	last := ""                         // the name of the line before, if it was a field
	for s != "" {
		line, rest, _ := strings.Cut(s, "\n")
		s = rest
		if line != "" && (line[0] == ' ' || line[0] == '\t') {
			if v := header[last]; last != "" { // obs-fold (RFC 9112 5.2)
				v[len(v)-1] = fold(v[len(v)-1], trimBlanks(line))
			}
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		name = trimBlanks(name)
		if !ok || name == "" {
			last = ""
			continue
		}
		name = CanonicalName(name)
		value = trimBlanks(value)
		if strings.IndexByte(value, '\r') >= 0 { // a bare CR is read as a blank (RFC 9112 2.2)
			value = strings.ReplaceAll(value, "\r", " ")
		}
		if v, seen := header[name]; seen {
			header[name] = append(v, value)
		} else {
			n := len(values)
			values = append(values, value)
			header[name] = values[n : n+1 : n+1]
		}
		last = name
	}
	return header, true
}

func fold(value, more string) string {
	if value == "" || more == "" {
		return value + more
	}
	return value + " " + more
}

func trimBlanks(s string) string {
	for s != "" && isBlank(s[0]) {
		s = s[1:]
	}
	for s != "" && isBlank(s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	return s
}
