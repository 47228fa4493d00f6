package fetch

import (
	"net/http"
	"net/netip"
	"time"
)

// Response is an answer, read to its end. It is ordinary memory that the caller may keep.
type Response struct {
	Request   *Request // as it was given to the Fetcher
	URL       string   // that was answered at last, after redirects; with the fragment that a redirect or the request gave
	Redirects []Hop    // the answers that led here, in order

	Status    int
	Proto     string // "HTTP/1.1", "HTTP/2.0"
	Header    http.Header
	RawHeader []byte // head of the answer as it came, status line included; nil where the wire has no such form
	Trailer   http.Header

	Body      []byte // decoded; nil if a Sink took it
	RawSize   int64  // bytes of the body on the wire
	Truncated bool   // Body is not the whole; BodyErr says why

	FetchedAt time.Time // when the head of the answer had come
	Trace     *Trace    // nil where the Fetcher cannot tell

	bodyErr  *Error
	sunk     int64 // bytes of the body that a Sink took
	charsets *charsetMemo
}

// Size returns how many bytes the decoded body has, wherever it went.
func (r *Response) Size() int64 { return int64(len(r.Body)) + r.sunk }

// Hop is one redirect on the way to a Response.
type Hop struct {
	URL    string // that was asked
	Status int
	To     string // where it led, fragment included
}

// Trace tells how an answer was got. Durations are zero where the phase did not take place.
type Trace struct {
	Addr        netip.AddrPort // that was dialled; the first proxy's where there is one
	ServerName  string         // in the TLS hello
	ALPN        string
	TLSVersion  uint16
	Reused      bool    // the connection had served before
	Resumed     bool    // the TLS session was resumed
	Retried     bool    // a connection that was dead, or that the host said was the wrong one, was replaced
	Sent        []Field // without the credentials of a proxy
	BytesOut    int64   // on the wire, head and body
	BytesIn     int64
	Wait        time.Duration // for a connection, Gate included
	DNS         time.Duration
	Connect     time.Duration
	TLS         time.Duration
	FirstByte   time.Duration // from the request written to the first byte of the answer
	Body        time.Duration // from the first byte to the last
	Total       time.Duration // of the last hop
	Connections int           // opened for this answer, over all hops
}

// Field is a header field as it went over the wire.
type Field struct{ Name, Value string }

// BodyErr says why the body is not whole: an *Error. Of the kinds ErrTruncated (it broke off, or its framing did), ErrTooSlow,
// ErrTimeout and ErrClosed another try may bring it whole, of ErrBodyLimit, ErrEncoding and ErrHeaderLimit (of trailers) not.
// A body whose content coding is not known is not there at all, and BodyErr wraps a *CodingError; where it is text as it came, it
// has no coding.
// It is nil for a body that came to its proper end.
func (r *Response) BodyErr() error {
	if r.bodyErr == nil {
		return nil
	}
	return r.bodyErr
}

// CutBody returns a copy of the response whose body is marked as cut for the given reason. It is for Fetchers other
// than Transport.
func (r *Response) CutBody(why *Error) *Response {
	c := *r
	c.Truncated, c.bodyErr = true, why
	return &c
}

// StatusErr returns a *StatusError unless the status is 2xx or 304.
func (r *Response) StatusErr() error {
	if r.Status >= 200 && r.Status < 300 || r.Status == http.StatusNotModified {
		return nil
	}
	return &StatusError{Status: r.Status, URL: r.URL}
}
