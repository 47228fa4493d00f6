package h2

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/seine-go/seine/fetch/internal/h1"
)

// check refuses a request that would break the framing. How large a head the server says that it takes is advice, which it
// may not mean (RFC 9113 6.5.2): its answer to a larger one tells.
func (r *Request) check() error {
	size := 0
	if r.Method != "" && !h1.ValidToken(r.Method) {
		return fmt.Errorf("method %q is not a token", r.Method)
	}
	for _, part := range [...]struct{ name, value string }{{"scheme", r.Scheme}, {"authority", r.Authority}, {"path", r.Path}} {
		if part.value == "" {
			return fmt.Errorf("the %s is empty", part.name)
		}
		for i := range len(part.value) {
			if c := part.value[i]; c <= ' ' || c == 0x7f {
				return fmt.Errorf("the %s has a blank or control character %#02x at byte %d", part.name, c, i)
			}
		}
		size += len(part.value) + len(":authority") + fieldOverhead
	}
	lengths := 0
	for i := range r.Header {
		f := &r.Header[i]
		if err := checkField(f, len(r.Body), &lengths); err != nil {
			return err
		}
		size += len(f.Name) + len(f.Value) + fieldOverhead
	}
	if size > maxRequestHead {
		return fmt.Errorf("a head of %d bytes is over the limit of %d", size, maxRequestHead)
	}
	return nil
}

// checkField refuses a field that HTTP/2 has no place for (RFC 9113 8.2).
func checkField(f *Field, bodyLen int, lengths *int) error {
	if !h1.ValidToken(f.Name) { // pseudo-header fields are none
		return fmt.Errorf("field name %q is not a token", f.Name)
	}
	if v := f.Value; strings.IndexByte(v, '\r') >= 0 || strings.IndexByte(v, '\n') >= 0 || strings.IndexByte(v, 0) >= 0 {
		return fmt.Errorf("the value of field %q has a CR, LF or NUL", f.Name)
	}
	switch name := LowerName(f.Name); name {
	case "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade", "http2-settings", "host":
		return fmt.Errorf("HTTP/2 has no field %q", f.Name)
	case "te":
		if !strings.EqualFold(f.Value, "trailers") {
			return errors.New("HTTP/2 has no TE but trailers")
		}
	case "content-length":
		if *lengths++; *lengths > 1 || f.Value != strconv.Itoa(bodyLen) {
			return fmt.Errorf("the Content-Length field is %q and the body has %d bytes", f.Value, bodyLen)
		}
	}
	return nil
}

// encode writes the header block of a request to c.encoded.
func (c *Conn) encode(r *Request) {
	c.encoded.b = c.encoded.b[:0]
	for i := range len(c.conf.Params.Pseudo) {
		switch c.conf.Params.Pseudo[i] {
		case 'm':
			method := r.Method
			if method == "" {
				method = "GET"
			}
			_ = c.encoder.WriteField(hpack.HeaderField{Name: ":method", Value: method})
		case 'a':
			_ = c.encoder.WriteField(hpack.HeaderField{Name: ":authority", Value: r.Authority})
		case 's':
			_ = c.encoder.WriteField(hpack.HeaderField{Name: ":scheme", Value: r.Scheme})
		case 'p':
			c.encodePath(r.Path)
		}
	}
	for i := range r.Header {
		f := &r.Header[i]
		_ = c.encoder.WriteField(hpack.HeaderField{Name: LowerName(f.Name), Value: f.Value})
	}
}

// encodePath writes the path without entering it into the table, as browsers do: it would push out what comes again
// (RFC 7541 6.2.2; the static table has :path as 4 and 5).
func (c *Conn) encodePath(path string) {
	if path == "/" || len(c.encoded.b) == 0 { // the encoder must come first, since it may have to begin with the table's size
		_ = c.encoder.WriteField(hpack.HeaderField{Name: ":path", Value: path})
		return
	}
	b := append(c.encoded.b, 4)
	if n := hpack.HuffmanEncodeLength(path); n < uint64(len(path)) {
		b = hpack.AppendHuffmanString(appendLength(b, 0x80, n), path)
	} else {
		b = append(appendLength(b, 0, uint64(len(path))), path...)
	}
	c.encoded.b = b
}

// appendLength writes the length of a string: an integer with a prefix of 7 bits (RFC 7541 5.1).
func appendLength(b []byte, flag byte, n uint64) []byte {
	if n < 127 {
		return append(b, flag|byte(n))
	}
	b = append(b, flag|127)
	for n -= 127; n >= 128; n >>= 7 {
		b = append(b, byte(n)|128)
	}
	return append(b, byte(n))
}

// writeHead queues a header block as HEADERS and CONTINUATION.
func (c *Conn) writeHead(s *Stream, r *Request) {
	c.encode(r)
	block := c.encoded.b
	first := block[:min(len(block), frameSize-5)] // less what the priority takes
	block = block[len(first):]
	_ = c.framer.WriteHeaders(http2.HeadersFrameParam{
		StreamID: s.id, BlockFragment: first, EndStream: len(r.Body) == 0, EndHeaders: len(block) == 0, Priority: r.Priority.param(),
	})
	for len(block) > 0 {
		piece := block[:min(len(block), frameSize)]
		block = block[len(piece):]
		_ = c.framer.WriteContinuation(s.id, len(block) == 0, piece)
	}
	s.bytesOut = int64(len(c.encoded.b))
	if cap(c.encoded.b) > maxDataQueued {
		c.encoded.b = nil
	}
}

// LowerName returns a field name in lower case, as it is sent. It allocates only for rare names.
func LowerName(name string) string {
	for i := range len(name) {
		if c := name[i]; c >= 'A' && c <= 'Z' {
			if known, ok := lowerNames[name]; ok {
				return known
			}
			return strings.ToLower(name)
		}
	}
	return name
}

// lowerNames are the names of fields that requests often have.
var lowerNames = func() map[string]string {
	names := map[string]string{}
	for _, name := range []string{
		"Accept", "Accept-Encoding", "Accept-Language", "Authorization", "Cache-Control", "Connection", "Content-Length", "Content-Type",
		"Cookie", "Host", "If-Modified-Since", "If-None-Match", "If-Range", "Origin", "Pragma", "Priority", "Range", "Referer", "Te",
		"Upgrade-Insecure-Requests", "User-Agent", "Sec-Fetch-Dest", "Sec-Fetch-Mode", "Sec-Fetch-Site", "Sec-Fetch-User",
	} {
		names[name] = strings.ToLower(name)
	}
	return names
}()
