// Package h1 is the client's side of HTTP/1.1 (RFC 9112) on one connection: one exchange at a time, driven by the calling
// goroutine, with no goroutine of its own.
//
//	c := h1.NewConn(conn, h1.Limits{}, h1.Timeouts{})
//	var resp h1.Response
//	if err := c.Do(ctx, &h1.Request{Method: "GET", Target: "/", Host: "films.example"}, &resp); err != nil { … }
//	body, err := io.ReadAll(c.Body())
//	keep := c.Reusable()
//
// Fields are written in the order and case in which they are listed. Responses are read as tolerantly as browsers read
// them; framing that two readers could understand in two ways is either refused or never followed by another exchange on
// the connection. It knows nothing of URLs, redirects, content codings or pools.
package h1

import (
	"net/http"
	"time"
)

// Field is one header field of a request.
type Field struct{ Name, Value string }

// Request is one request. It is only read, and not kept after Do.
//
// A part that would break the framing is refused before a byte is written, with an *[Error] of the kind [BadRequest]: CR,
// LF or NUL anywhere, a method or field name that is no token, a blank in the target, a second Host field, a Content-Length
// field that is not the length of the body, a Transfer-Encoding field, more than 1 MiB of head.
type Request struct {
	Method string // empty means GET
	Target string // the request target as it goes out: "/path?query", an absolute URL for a proxy, "host:port" for CONNECT, "*"
	Host   string // value of the Host field, which is written first unless one stands in Header

	// Header is written in this order and with this case. A Host field in it takes the place and the value of the one
	// above. An empty Content-Length field says where the length is to stand; otherwise it is written last.
	Header []Field

	// Body is written when it is not empty. Its length is told when Body is not nil or the method is POST, PUT or PATCH.
	Body []byte
}

// Limits bound what a response may make the client hold. Zero means the default, a negative value no limit.
type Limits struct {
	HeaderBytes   int // bytes of head: status lines and fields, with all 1xx before the response, its trailers and chunk extensions; zero means 2 MiB
	Fields        int // lines of header fields of one head, and of the trailers; zero means 10,000
	Informational int // 1xx responses before the response; zero means 100
}

// Timeouts bound each phase of an exchange by itself; the whole of it is bounded by the context. Zero means the default,
// a negative value none.
type Timeouts struct {
	Write      time.Duration // for the kernel to take each 64 KiB of the request; zero means 30 s
	Header     time.Duration // from the end of the request to the end of the response's head, 1xx included; zero means 30 s
	IdleRead   time.Duration // without a byte of the body while one is waited for; zero means 30 s
	MinRate    int           // bytes of body a second, averaged over RateWindow of waiting, from the first one on; zero means 64
	RateWindow time.Duration // zero means 30 s; negative: MinRate is not asked for
}

// Response is the head of a response, and its trailers once the body has ended. Nothing in it is used again by the
// connection: the caller may keep it all. While the body is read the connection writes to Trailer and the counters.
type Response struct {
	Major, Minor int    // the version as written; 1.0 when the status line tells none
	Status       int    // 100 to 999
	Reason       string // as received, without blanks around

	// Header has canonical keys where the name is a token, else the name as received. Values are the received bytes
	// without the blanks around; a folded value is joined by one blank. Lines that are no fields are left out.
	Header    http.Header
	RawHeader []byte      // the head as received, from the status line to the empty line
	Trailer   http.Header // after the end of a chunked body; nil without trailers

	// ContentLength is the length of the body, -1 when it is not known beforehand; of a response to HEAD the length that a
	// GET would find.
	ContentLength int64

	Start     time.Time // Do was called
	Written   time.Time // the request was handed to the kernel
	FirstByte time.Time // the first bytes came, of a 1xx response if there was one

	BytesRead    int64 // taken from the connection in this exchange so far
	BytesWritten int64 // handed to the connection in this exchange
}
