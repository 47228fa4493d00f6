// Package h2 is the client's side of HTTP/2 (RFC 9113) on one connection, which any number of goroutines share: one stream
// for each exchange, one goroutine that reads, none for a stream.
//
//	c := h2.NewConn(conn, h2.Config{})
//	if c.Reserve() {
//		s, err := c.Do(ctx, &h2.Request{Scheme: "https", Authority: "films.example", Path: "/"})
//		if err != nil { … }
//		defer s.Close()
//		body, err := io.ReadAll(s)
//	}
//
// What a server can tell clients apart by is the caller's: settings, windows, priorities, the order of pseudo-header
// fields and of all others. Pushes are refused. It knows nothing of URLs, redirects, content codings or pools.
package h2

import (
	"net/http"
	"time"

	"github.com/seine-go/seine/fetch/internal/h1"
)

// Field is one header field of a request.
type Field = h1.Field

// Request is one request. It is only read, and Body is kept until the stream is closed.
//
// A part that would break the framing is refused before a byte is written, with an *[Error] of the kind [BadRequest]: CR,
// LF or NUL anywhere, a name that is no token, a pseudo-header field, a field that only HTTP/1 has (Connection,
// Transfer-Encoding, Host, a TE other than trailers …), a length that is not that of the body, more than 1 MiB of head.
type Request struct {
	Method    string // empty means GET
	Scheme    string
	Authority string
	Path      string // with the query

	Header   []Field  // sent in this order, names in lower case
	Priority Priority // zero: none is sent
	Body     []byte   // sent when it is not empty

	// Due is when the exchange must be over, its body included. Zero means never.
	Due time.Time
}

// Response is the head of a response, and its trailers once the body has ended. Header and Trailer are the caller's to keep.
type Response struct {
	Status int // 200 to 999

	// Header has canonical keys. Values are the received bytes without the blanks around.
	Header  http.Header
	Trailer http.Header // nil without trailers

	// ContentLength is the length of the body that the head tells, -1 without one; of a response to HEAD the length that a
	// GET would find.
	ContentLength int64

	Start     time.Time // Do was called
	Written   time.Time // the head of the request was handed to the kernel
	FirstByte time.Time // the head of the response had come
}
