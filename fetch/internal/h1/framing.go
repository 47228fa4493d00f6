package h1

import (
	"errors"
	"io"
	"net/http"
	"strings"
)

var errLengths = errors.New("Content-Length fields contradict each other")

// frame finds out how long the body of the response is (RFC 9112 6.3) and whether another exchange may follow it.
//
// What the standard calls unrecoverable and browsers read in one way is read in that way, and the connection is then not
// used again; lengths that contradict each other are refused by browsers too.
func (c *Conn) frame() error {
	r, b := c.resp, &c.body
	modern := r.Major > 1 || r.Major == 1 && r.Minor >= 1
	connection := r.Header["Connection"]
	c.keep = !c.asked.close && r.Major == 1 && !anyToken(connection, "close") && (modern || anyToken(connection, "keep-alive"))

	length, sound, err := contentLength(r.Header["Content-Length"])
	if err != nil {
		return err
	}
	codings := r.Header["Transfer-Encoding"]
	chunked, plain := transferCodings(codings)
	chunked = chunked && modern // an older version has no such thing
	*b = Body{c: c}
	switch {
	case r.Status == http.StatusSwitchingProtocols, c.asked.connect && r.Status/100 == 2:
		b.mode, c.keep = toClose, false
	case c.asked.head:
		if !chunked {
			r.ContentLength = length
		}
		b.finish()
	case r.Status == http.StatusNoContent, r.Status == http.StatusNotModified:
		r.ContentLength = 0
		b.finish()
	case chunked:
		b.mode = inChunks
		c.keep = c.keep && plain && len(r.Header["Content-Length"]) == 0
	case length >= 0:
		b.mode, b.left, r.ContentLength = byLength, length, length
		c.keep = c.keep && sound && len(codings) == 0
		if length == 0 {
			b.finish()
		}
	default:
		b.mode, c.keep = toClose, false
	}
	return nil
}

// contentLength reads Content-Length fields, each of which may be a list: equal lengths are one (RFC 9112 6.3), those that
// differ are an error. What is no number counts as absent when it stands alone, as in browsers. The length is -1 without
// one, and sound is false where another reader might see another length.
func contentLength(fields []string) (length int64, sound bool, err error) {
	length, sound = -1, true
	invalid := false
	for _, field := range fields {
		for item := range strings.SplitSeq(field, ",") {
			item = trimBlanks(item)
			switch n, ok := parseLength(item); {
			case item == "":
				sound = false
			case !ok:
				invalid = true
			case length >= 0 && n != length:
				return 0, false, errLengths
			default:
				length = n
			}
		}
	}
	if invalid && length >= 0 {
		return 0, false, errLengths
	}
	return length, sound && !invalid, nil
}

// parseLength reads a decimal number that an int64 can hold.
func parseLength(s string) (int64, bool) {
	if s == "" {
		return 0, false
	}
	var n int64
	for i := range len(s) {
		d := int64(s[i]) - '0'
		if d < 0 || d > 9 || n > (1<<63-1-d)/10 {
			return 0, false
		}
		n = n*10 + d
	}
	return n, true
}

// transferCodings reads Transfer-Encoding fields. The body is chunked when one of the codings is: a coding that is told
// twice is applied once, and others are left to whoever reads the body, as in browsers. plain is true when chunked is the
// only one and told once.
func transferCodings(fields []string) (chunked, plain bool) {
	n := 0
	for _, field := range fields {
		for item := range strings.SplitSeq(field, ",") {
			name, _, _ := strings.Cut(item, ";")
			if name = trimBlanks(name); name != "" {
				n++
				chunked = chunked || strings.EqualFold(name, "chunked")
			}
		}
	}
	return chunked, n == 1
}

func anyToken(fields []string, token string) bool {
	for _, field := range fields {
		if hasToken(field, token) {
			return true
		}
	}
	return false
}

// hasToken reports whether a comma-separated list has a member, in any case.
func hasToken(list, token string) bool {
	for list != "" {
		item, rest, _ := strings.Cut(list, ",")
		if strings.EqualFold(trimBlanks(item), token) {
			return true
		}
		list = rest
	}
	return false
}

// finish is the proper end of the body.
func (b *Body) finish() {
	b.err = io.EOF
	b.c.finish()
}
