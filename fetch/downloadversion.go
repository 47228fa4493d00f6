package fetch

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/seine-go/seine/internal/weburl"
)

// version tells one state of a resource from another.
type version struct {
	Validator string `json:"validator"`          // strong: an ETag, or else a Last-Modified; "" if the rest cannot be asked for
	Modified  string `json:"modified,omitempty"` // Last-Modified
	Total     int64  `json:"total,omitempty"`    // bytes of the whole; 0 if the host did not tell
	Type      string `json:"type,omitempty"`     // media type, without parameters

	tagged bool // there was an ETag, of whatever kind
}

// versionOf returns what an answer tells of the version of its resource. A validator that is not strong (RFC 9110 8.8.1), or not
// that of the bytes which are kept, is none.
func versionOf(head *Response, total int64) version {
	h := head.Header
	tags := h["Etag"]
	v := version{Modified: h.Get("Last-Modified"), Total: max(total, 0), Type: mediaType(h), tagged: len(tags) > 0}
	switch {
	case isCoded(head), head.Status == http.StatusNonAuthoritativeInfo, strings.EqualFold(h.Get("Accept-Ranges"), "none"):
	case len(tags) == 1 && isStrongTag(tags[0]):
		v.Validator = tags[0]
	case len(tags) == 0 && isStrongDate(h):
		v.Validator = v.Modified
	}
	return v
}

// agrees reports whether an answer is of the version, as far as it tells. ranged says that it is a part which was asked for
// under that condition: one that was asked for by a date need not tell it again (RFC 9110 15.3.7), whereas an ETag stands in
// every part.
func (v version) agrees(got version, ranged bool) bool {
	switch {
	case v.Validator == "",
		v.Total > 0 && got.Total > 0 && v.Total != got.Total,
		v.Modified != "" && got.Modified != "" && v.Modified != got.Modified:
		return false
	case got.Validator == v.Validator:
		return true
	}
	return ranged && !isStrongTag(v.Validator) && !got.tagged
}

// isUnlike reports whether an answer that is not of the version is not of another one of the same resource either, as far as can
// be told: it is of another media type, or has nothing that tells versions apart, and neither the type nor the size of what is
// there. Such are the pages that hosts send, as if all were well, in place of what was asked for.
func (v version) isUnlike(got version) bool {
	switch {
	case v.Type != "" && got.Type != "" && v.Type != got.Type:
		return true
	case v.Validator == "", got.tagged, got.Modified != "":
		return false
	}
	return (v.Type == "" || got.Type == "") && (v.Total == 0 || v.Total != got.Total)
}

// isStrongTag reports whether s is an entity tag without the mark of a weak one (RFC 9110 8.8.3).
func isStrongTag(s string) bool {
	if len(s) < 2 || s[0] != '"' || s[len(s)-1] != '"' {
		return false
	}
	for i := 1; i < len(s)-1; i++ {
		if c := s[i]; c <= ' ' || c == '"' || c == 0x7f {
			return false
		}
	}
	return true
}

// isStrongDate reports whether a Last-Modified can be told from that of a change within the same second (RFC 9110 8.8.2.2).
func isStrongDate(h http.Header) bool {
	modified, ok := parseDate(h.Get("Last-Modified"))
	date, dated := parseDate(h.Get("Date"))
	return ok && dated && date.Sub(modified) >= time.Second
}

// isCoded reports whether the body has a content coding that is taken off, so that ranges are of other bytes than those that are
// kept.
func isCoded(head *Response) bool {
	path := ""
	if u, err := weburl.Parse(head.URL); err == nil {
		path = u.Path()
	}
	list, _ := bodyCodings(head.Header, path, true)
	return len(list) > 0
}

// isMultipart reports whether the body is ranges one after the other (RFC 9110 14.6), which only those get who ask for several.
func isMultipart(h http.Header) bool {
	return mediaType(h) == "multipart/byteranges"
}

// mediaType returns that of the body in lower case, without parameters.
func mediaType(h http.Header) string {
	kind, _, _ := strings.Cut(h.Get("Content-Type"), ";")
	return strings.ToLower(strings.TrimSpace(kind))
}

// contentLength returns the length that the head promises of a body without a content coding, or -1.
func contentLength(head *Response) int64 {
	n, err := strconv.ParseUint(head.Header.Get("Content-Length"), 10, 62)
	if err != nil || isCoded(head) {
		return -1
	}
	return int64(n)
}

// contentRange reads "bytes FIRST-LAST/TOTAL", where TOTAL may be "*" (-1), or "bytes */TOTAL", which is not ok. until is the
// byte behind the last.
func contentRange(h http.Header) (first, until, total int64, ok bool) {
	values := h["Content-Range"]
	if len(values) != 1 {
		return 0, 0, -1, false
	}
	unit, value, _ := strings.Cut(strings.TrimSpace(values[0]), " ")
	span, size, found := strings.Cut(strings.TrimSpace(value), "/")
	if total = -1; !found || !strings.EqualFold(unit, "bytes") {
		return 0, 0, -1, false
	}
	if n, err := strconv.ParseUint(size, 10, 63); err == nil {
		total = int64(n)
	} else if size != "*" {
		return 0, 0, -1, false
	}
	from, to, _ := strings.Cut(span, "-")
	a, errA := strconv.ParseUint(from, 10, 62)
	b, errB := strconv.ParseUint(to, 10, 62)
	ok = errA == nil && errB == nil && a <= b && (total < 0 || int64(b) < total)
	if !ok {
		return 0, 0, total, false
	}
	return int64(a), int64(b) + 1, total, true
}
