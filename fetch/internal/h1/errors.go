package h1

import (
	"errors"
	"strings"
)

// Kind says what has gone wrong in an exchange.
type Kind uint8

const (
	BadRequest     Kind = iota + 1 // the request cannot be written as it stands; nothing was written
	Closed                         // the connection ended or broke before a byte of the response came, or could not be used again
	WriteTimeout                   // Timeouts.Write has passed
	HeaderTimeout                  // Timeouts.Header has passed
	HeaderTooLarge                 // one of Limits was reached in a head or in trailers
	Malformed                      // what came is not HTTP/1, or its framing contradicts itself
	Truncated                      // the connection ended within the head or within the body
	BadChunk                       // the chunked coding is broken
	IdleTimeout                    // Timeouts.IdleRead has passed
	TooSlow                        // the body came more slowly than Timeouts.MinRate
	Cancelled                      // the context has ended, or the connection was aborted
)

var kindNames = [...]string{
	BadRequest: "bad request", Closed: "connection closed", WriteTimeout: "write timeout", HeaderTimeout: "header timeout",
	HeaderTooLarge: "header too large", Malformed: "malformed response", Truncated: "truncated response", BadChunk: "bad chunk",
	IdleTimeout: "idle timeout", TooSlow: "too slow", Cancelled: "cancelled",
}

func (k Kind) String() string {
	if int(k) < len(kindNames) && kindNames[k] != "" {
		return kindNames[k]
	}
	return "unknown"
}

// Error is every error of an exchange. The connection is not reusable after one.
//
// A request may be sent again on another connection without harm when nothing of it was Written; and if it is idempotent,
// when its kind is Closed, nothing was Answered and the connection had served an exchange before (RFC 9110 9.2.2).
type Error struct {
	Kind     Kind
	Op       string // "write request", "read head" or "read body"
	Err      error  // the cause, nil where the kind says all; of Cancelled it satisfies errors.Is with the context's error
	Written  bool   // a byte of the request may have been handed to the kernel
	Answered bool   // a byte of a response has come
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("http/1: ")
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

// Timeout reports whether a deadline has passed: one of Timeouts, or the context's.
func (e *Error) Timeout() bool {
	switch e.Kind {
	case WriteTimeout, HeaderTimeout, IdleTimeout, TooSlow:
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
