package cookie

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

const (
	netscapeHead = "# Netscape HTTP Cookie File\n"
	httpOnlyMark = "#HttpOnly_" // as curl writes it

	maxNetscapeLine = 32 << 10 // bytes
	maxFormFaults   = 16       // that a FormError lists
)

// maxExpires is the last second that a cookie can end.
var maxExpires = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)

// FormError lists what of a cookies.txt, or of a jar as JSON, was left out, at most 16 of it. All else was written or read.
type FormError struct {
	Count  int // of all that was left out
	Faults []error
}

// Error tells how many there are, and the first.
func (e *FormError) Error() string {
	return fmt.Sprintf("seine: cookie: %d left out, first: %v", e.Count, e.Faults[0])
}

// Unwrap returns the faults.
func (e *FormError) Unwrap() []error { return e.Faults }

func (e *FormError) add(err error) {
	if e.Count++; len(e.Faults) < maxFormFaults {
		e.Faults = append(e.Faults, err)
	}
}

func (e *FormError) orNil() error {
	if e.Count == 0 {
		return nil
	}
	return e
}

var (
	errTab          = errors.New("a tab in the name or the path cannot be written")
	errForPartition = errors.New("a partition cannot be written")
	errFields       = errors.New("not seven fields with tabs between them")
	errFlag         = errors.New("neither TRUE nor FALSE")
	errSeconds      = errors.New("the expiry is no number of seconds")
	errLongLine     = fmt.Errorf("longer than %d bytes", maxNetscapeLine)
)

// WriteNetscape writes a cookies.txt as curl, wget and browser tools read it: the cookies that have not expired, those that
// end with the session with an expiry of 0. The form has no place for SameSite and times of creation; cookies that it cannot
// carry at all (partitioned, or with a tab in name or path) are left out and named in a *FormError.
func (j *Jar) WriteNetscape(w io.Writer) error {
	var b strings.Builder
	var left FormError
	b.WriteString(netscapeHead)
	for _, c := range j.All() {
		switch {
		case c.Partition != "":
			left.add(&Error{c.Name, errForPartition})
			continue
		case strings.ContainsRune(c.Name+c.Path, '\t'):
			left.add(&Error{c.Name, errTab})
			continue
		}
		if c.HTTPOnly {
			b.WriteString(httpOnlyMark)
		}
		domain, expires := c.Domain, int64(0)
		if !c.HostOnly {
			domain = "." + domain
		}
		if !c.Expires.IsZero() {
			expires = max(c.Expires.Unix(), 1)
		}
		fmt.Fprintf(&b, "%s\t%s\t%s\t%s\t%d\t%s\t%s\n", domain, flag(!c.HostOnly), c.Path, flag(c.Secure), expires, c.Name, c.Value)
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("seine: cookies.txt: %w", err)
	}
	return left.orNil()
}

func flag(b bool) string {
	if b {
		return "TRUE"
	}
	return "FALSE"
}

// ReadNetscape adds the cookies of a cookies.txt. Lines that hold none are left out and named in a *FormError; expired
// cookies end those of the same name, domain and path.
func (j *Jar) ReadNetscape(r io.Reader) error {
	var left FormError
	in := bufio.NewReaderSize(r, maxNetscapeLine)
	for n := 1; ; n++ {
		raw, err := in.ReadSlice('\n')
		text := string(raw)
		tooLong := err == bufio.ErrBufferFull
		for err == bufio.ErrBufferFull {
			_, err = in.ReadSlice('\n')
		}
		if err != nil && err != io.EOF {
			return fmt.Errorf("seine: cookies.txt: %w", err)
		}
		fault := errLongLine
		if !tooLong {
			fault = j.addNetscape(strings.TrimRight(text, "\r\n"))
		}
		if fault != nil {
			left.add(fmt.Errorf("line %d: %w", n, fault))
		}
		if err == io.EOF {
			return left.orNil()
		}
	}
}

// addNetscape adds the cookie of a line, if it holds one.
func (j *Jar) addNetscape(text string) error {
	var c Cookie
	text, c.HTTPOnly = strings.CutPrefix(text, httpOnlyMark)
	if strings.TrimSpace(text) == "" || text[0] == '#' {
		return nil
	}
	fields := strings.SplitN(text, "\t", 7)
	if len(fields) == 6 {
		fields = append(fields, "") // curl writes an empty value so
	}
	if len(fields) != 7 {
		return errFields
	}
	subdomains, ok := parseFlag(fields[1])
	var secureOK bool
	if c.Secure, secureOK = parseFlag(fields[3]); !ok || !secureOK {
		return errFlag
	}
	seconds, err := strconv.ParseInt(fields[4], 10, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return errSeconds
	}
	switch {
	case seconds < 0:
		c.Expires = time.Unix(0, 0)
	case seconds > maxExpires.Unix():
		c.Expires = maxExpires
	case seconds > 0:
		c.Expires = time.Unix(seconds, 0).UTC()
	}
	c.Domain, c.HostOnly = lowerASCII(strings.TrimPrefix(fields[0], ".")), !subdomains
	c.Path, c.Name, c.Value = fields[2], fields[5], fields[6]
	return j.Add(c)
}

func parseFlag(s string) (value, ok bool) {
	return strings.EqualFold(s, "TRUE"), strings.EqualFold(s, "TRUE") || strings.EqualFold(s, "FALSE")
}
