package h2

import (
	"encoding/binary"
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/seine-go/seine/fetch/internal/h1"
)

var (
	errDataFirst    = errors.New("a body without a head")
	errBeyondWindow = errors.New("more than the window of the stream")
	errLongBody     = errors.New("more body than the head tells")
	errFieldBytes   = errors.New("too many bytes")
	errFields       = errors.New("too many fields")
	errEarly        = errors.New("too many 1xx responses")
	errName         = errors.New("a field name that is no token in lower case")
	errValue        = errors.New("a field value with a CR, LF or NUL")
	errPseudo       = errors.New("a pseudo-header field that does not belong there")
	errStatus       = errors.New("the status is not a number from 100 to 999")
	errEarlyEnd     = errors.New("a 1xx response that ends the stream")
	errTrailers     = errors.New("a second head")
	errLengths      = errors.New("Content-Length fields contradict each other")
)

// headerBlock is a header block that comes in pieces.
type headerBlock struct {
	stream    uint32
	end       bool
	fragments int
	b         []byte
}

// readHeaders reads a HEADERS or CONTINUATION frame (RFC 9113 6.2, 6.10). Their order is the Framer's business.
func (c *Conn) readHeaders(fh http2.FrameHeader) error {
	p, err := c.payload(int(fh.Length))
	if err != nil {
		return err
	}
	if fh.Type == http2.FrameHeaders {
		if fh.StreamID == 0 {
			return &breach{code: http2.ErrCodeProtocol, what: "HEADERS on stream 0"}
		}
		if p, err = fragment(fh, p); err != nil {
			return err
		}
		if fh.Flags.Has(http2.FlagHeadersEndHeaders) {
			return c.takeBlock(fh.StreamID, p, fh.Flags.Has(http2.FlagHeadersEndStream))
		}
		c.block = headerBlock{stream: fh.StreamID, end: fh.Flags.Has(http2.FlagHeadersEndStream)}
	}
	b := &c.block
	b.fragments++
	if limit := c.fields.blockLimit(); len(p) > limit-len(b.b) || b.fragments-fewFragments > limit/perFragment {
		return &breach{code: http2.ErrCodeEnhanceYourCalm, what: "a header block without end", kind: HeaderTooLarge}
	}
	b.b = append(b.b, p...)
	if !fh.Flags.Has(http2.FlagContinuationEndHeaders) {
		return nil
	}
	whole := b.b
	b.b = nil
	return c.takeBlock(b.stream, whole, b.end)
}

// fragment is the part of a HEADERS frame that belongs to the header block.
func fragment(fh http2.FrameHeader, p []byte) ([]byte, error) {
	pad, prefix := 0, 0
	if fh.Flags.Has(http2.FlagHeadersPadded) {
		if len(p) == 0 {
			return nil, &breach{code: http2.ErrCodeFrameSize, what: "a padded HEADERS frame without its length"}
		}
		pad, prefix = int(p[0]), 1
	}
	if fh.Flags.Has(http2.FlagHeadersPriority) {
		prefix += 5
		if len(p) >= prefix && binary.BigEndian.Uint32(p[prefix-5:])&maxStream == fh.StreamID {
			return nil, &breach{code: http2.ErrCodeProtocol, what: "a stream that depends on itself"}
		}
	}
	if len(p) < prefix+pad {
		return nil, &breach{code: http2.ErrCodeProtocol, what: "a HEADERS frame that is shorter than it says"}
	}
	return p[prefix : len(p)-pad], nil
}

// takeBlock decodes a header block, which has to be done also where nobody wants it, and gives it to its stream.
func (c *Conn) takeBlock(id uint32, block []byte, end bool) error {
	c.mu.Lock()
	s, err := c.stream(id, 0)
	left, trailers := 0, false
	if s != nil {
		left, trailers = s.fieldsLeft, s.headed
	}
	c.mu.Unlock()
	if err != nil {
		return err
	}
	if len(block) > c.fields.blockLimit() {
		return &breach{code: http2.ErrCodeEnhanceYourCalm, what: "a header block that is too large", kind: HeaderTooLarge}
	}
	if err := c.fields.decode(block, left, s != nil); err != nil {
		return &breach{code: http2.ErrCodeCompression, what: err.Error()}
	}
	if s == nil {
		return nil
	}
	h, bad := c.fields.head(trailers)
	c.fields.forget()
	c.mu.Lock()
	defer c.unlock()
	defer c.kick(false)
	if c.streams[id] != s {
		return nil
	}
	s.bytesIn += int64(len(block))
	s.fieldsLeft = c.fields.left
	if bad == nil {
		bad = s.takeHead(h, end)
	}
	if bad != nil {
		s.reset(bad)
		return nil
	}
	if h.status != 0 && h.status < 200 {
		return c.bore()
	}
	c.useless = 0
	return nil
}

// takeHead takes a head of the response, or trailers.
func (s *Stream) takeHead(h head, end bool) *fault {
	c := s.c
	switch {
	case s.ended:
		return &fault{Malformed, http2.ErrCodeStreamClosed, nil}
	case s.headed:
		if !end {
			return &fault{Malformed, http2.ErrCodeProtocol, errTrailers}
		}
		if len(h.header) > 0 {
			s.Response.Trailer = h.header
		}
		s.end()
		return nil
	case h.status < 200:
		switch s.informational++; {
		case end || h.status == statusSwitch:
			return &fault{Malformed, http2.ErrCodeProtocol, errEarlyEnd}
		case s.informational > c.conf.Limits.Informational:
			return &fault{HeaderTooLarge, http2.ErrCodeEnhanceYourCalm, errEarly}
		}
		return nil
	}
	r := &s.Response
	r.Status, r.Header, r.FirstByte = h.status, h.header, time.Now()
	if r.Written = s.written; r.Written.IsZero() { // whoever writes has not come to say so
		r.Written = r.FirstByte
	}
	r.ContentLength, s.left = h.length, h.length
	if s.bodiless = s.isHead || h.status == http.StatusNoContent || h.status == http.StatusNotModified; s.bodiless {
		s.left = -1 // what is told is the length of another response's body
	}
	c.seen = max(c.seen, s.mark)
	c.served = true
	s.headed = true
	if end {
		if r.ContentLength < 0 && !s.isHead {
			r.ContentLength = 0
		}
		s.end()
	}
	s.signal()
	return nil
}

// head is a header block that was understood.
type head struct {
	status int // 0 for trailers
	header http.Header
	length int64
}

// fieldReader decodes header blocks within limits.
type fieldReader struct {
	decoder *hpack.Decoder
	limits  Limits
	list    []hpack.HeaderField // of the block under way
	regular int                 // of them
	left    int                 // of Limits.HeaderBytes
	over    error
}

func (f *fieldReader) setup(table uint32, l Limits) {
	f.limits = l
	f.decoder = hpack.NewDecoder(4096, f.emit)
	f.decoder.SetAllowedMaxDynamicTableSize(max(table, 4096))
}

// blockLimit is how long a header block may be that holds no more fields than allowed.
func (f *fieldReader) blockLimit() int {
	return min(f.limits.HeaderBytes, math.MaxInt-blockSlack) + blockSlack
}

// decode reads a header block, of which the fields may count left bytes. The error is that of a connection whose table is lost.
func (f *fieldReader) decode(block []byte, left int, wanted bool) error {
	f.list, f.regular, f.left, f.over = f.list[:0], 0, left, nil
	f.decoder.SetEmitEnabled(wanted)
	if _, err := f.decoder.Write(block); err != nil {
		return err
	}
	return f.decoder.Close()
}

func (f *fieldReader) emit(field hpack.HeaderField) {
	size := len(field.Name) + len(field.Value) + fieldOverhead
	switch {
	case size > f.left:
		f.over = errFieldBytes
	case f.regular >= f.limits.Fields && !field.IsPseudo():
		f.over = errFields
	default:
		if !field.IsPseudo() {
			f.regular++
		}
		f.left -= size
		f.list = append(f.list, field)
		return
	}
	f.decoder.SetEmitEnabled(false)
}

// forget lets go of the decoded fields.
func (f *fieldReader) forget() {
	if cap(f.list) > keptFields {
		f.list = nil
	}
	clear(f.list)
}

// head makes a head of the decoded fields (RFC 9113 8.1 to 8.3).
func (f *fieldReader) head(trailers bool) (h head, bad *fault) {
	if f.over != nil {
		return h, &fault{HeaderTooLarge, http2.ErrCodeCancel, f.over}
	}
	malformed := func(err error) (head, *fault) { return head{}, &fault{Malformed, http2.ErrCodeProtocol, err} }
	h.length = -1
	regular := f.list
	if !trailers {
		if len(f.list) == 0 || f.list[0].Name != ":status" {
			return malformed(errPseudo)
		}
		if h.status = parseStatus(f.list[0].Value); h.status == 0 {
			return malformed(errStatus)
		}
		regular = f.list[1:]
	}
	h.header = make(http.Header, len(regular))
	values := make([]string, 0, len(regular)) // backs the values of all fields
	for i := range regular {
		field := &regular[i]
		if err := checkReceived(field); err != nil {
			return malformed(err)
		}
		if !trailers && field.Name == "content-length" && !h.addLength(field.Value) {
			return malformed(errLengths)
		}
		name := h1.CanonicalName(field.Name)
		value := strings.Trim(field.Value, " \t")
		if v, seen := h.header[name]; seen {
			h.header[name] = append(v, value)
		} else {
			n := len(values)
			values = append(values, value)
			h.header[name] = values[n : n+1 : n+1]
		}
	}
	return h, nil
}

// parseStatus returns 0 for what is no status of three digits.
func parseStatus(s string) int {
	if n, err := strconv.ParseUint(s, 10, 16); err == nil && len(s) == 3 && n >= 100 {
		return int(n)
	}
	return 0
}

// checkReceived refuses what other readers might read in other ways. Fields that only HTTP/1 has are let through, as
// browsers do: servers send them, and they mean nothing here.
func checkReceived(f *hpack.HeaderField) error {
	switch {
	case f.IsPseudo():
		return errPseudo
	case !h1.ValidToken(f.Name):
		return errName
	}
	for i := range len(f.Name) {
		if c := f.Name[i]; c >= 'A' && c <= 'Z' {
			return errName
		}
	}
	for i := range len(f.Value) {
		if c := f.Value[i]; c == 0 || c == '\r' || c == '\n' {
			return errValue
		}
	}
	return nil
}

// addLength reads a Content-Length field. What is no number counts as absent; two numbers that differ are an error.
func (h *head) addLength(value string) bool {
	for item := range strings.SplitSeq(value, ",") {
		n, err := strconv.ParseUint(strings.Trim(item, " \t"), 10, 63)
		if err != nil {
			continue
		}
		if h.length >= 0 && h.length != int64(n) {
			return false
		}
		h.length = int64(n)
	}
	return true
}
