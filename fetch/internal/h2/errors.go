package h2

import (
	"errors"
	"strings"

	"golang.org/x/net/http2"
)

// Kind says what has gone wrong in an exchange.
type Kind uint8

const (
	BadRequest     Kind = iota + 1 // the request cannot be written as it stands; nothing was written
	Refused                        // the server has done nothing with the request, and says so or has not seen it (RFC 9113 8.7)
	Closed                         // the connection ended or broke before the head of the response came
	Reset                          // the server has ended the stream before the head of the response came
	WriteTimeout                   // Timeouts.Write has passed
	HeaderTimeout                  // Timeouts.Header has passed
	HeaderTooLarge                 // one of Limits was reached in a head or in trailers
	Malformed                      // what came on the stream is no response
	Protocol                       // the server has broken the rules of the connection, which is lost
	Truncated                      // the stream or the connection ended within the body
	IdleTimeout                    // Timeouts.IdleRead has passed
	TooSlow                        // the body came more slowly than Timeouts.MinRate
	Overdue                        // Request.Due has passed
	Cancelled                      // the context has ended, or the connection was closed by its owner
)

var kindNames = [...]string{
	BadRequest: "bad request", Refused: "request refused", Closed: "connection closed", Reset: "stream reset", WriteTimeout: "write timeout",
	HeaderTimeout: "header timeout", HeaderTooLarge: "header too large", Malformed: "malformed response", Protocol: "protocol error",
	Truncated: "truncated response", IdleTimeout: "idle timeout", TooSlow: "too slow", Overdue: "overdue", Cancelled: "cancelled",
}

func (k Kind) String() string {
	if int(k) < len(kindNames) && kindNames[k] != "" {
		return kindNames[k]
	}
	return "unknown"
}

const (
	opWrite = "write request"
	opHead  = "read head"
	opBody  = "read body"
)

// Error is every error of an exchange.
//
// A request may be sent again without harm when its kind is Refused or nothing of it was Written; and if it is idempotent,
// when its kind is Closed and the connection had served an exchange before (RFC 9110 9.2.2).
type Error struct {
	Kind    Kind
	Op      string // "write request", "read head" or "read body"
	Err     error  // the cause, nil where the kind says all; of Cancelled it satisfies errors.Is with the context's error
	Written bool   // a byte of the request may have been handed to the kernel
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("http/2: ")
	b.WriteString(e.Op)
	b.WriteString(": ")
	b.WriteString(e.Kind.String())
	if e.Err != nil {
		b.WriteString(": ")
		b.WriteString(e.Err.Error())
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Timeout reports whether a deadline has passed: one of Timeouts, the Request's, or the context's.
func (e *Error) Timeout() bool {
	switch e.Kind {
	case WriteTimeout, HeaderTimeout, IdleTimeout, TooSlow, Overdue:
		return true
	case Cancelled:
		var t interface{ Timeout() bool }
		return errors.As(e.Err, &t) && t.Timeout()
	}
	return false
}

// KindOf returns the kind of the first *Error in the chain of err, and 0 without one.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return 0
}

// ResetError is the cause of an error that the server has given a stream: the code of its RST_STREAM.
type ResetError struct{ Code http2.ErrCode }

func (e ResetError) Error() string { return "the server says " + e.Code.String() }

// GoAwayError is the cause of an error of a connection that the server has given up: what it said then.
type GoAwayError struct {
	Code  http2.ErrCode
	Debug string // at most 256 bytes
}

func (e *GoAwayError) Error() string {
	if e.Debug == "" {
		return "the server goes away: " + e.Code.String()
	}
	return "the server goes away: " + e.Code.String() + ": " + e.Debug
}

// breach is an error of the connection: what the server has done and the code that it is told.
type breach struct {
	code http2.ErrCode
	what string
	kind Kind // 0: Protocol
}

func (b *breach) Error() string { return b.what + " (" + b.code.String() + ")" }

// fault is an error of one stream.
type fault struct {
	kind Kind
	code http2.ErrCode // that the server is told
	err  error
}
