package fetch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/seine-go/seine/internal/weburl"
)

// ErrorKind tells faults apart by what a caller can do about them.
type ErrorKind uint8

// The kinds of errors. Do not reorder: they are stored.
const (
	ErrUnknown     ErrorKind = iota
	ErrInvalid               // the request itself is wrong: URL, header, option
	ErrRefused               // the address guard forbids the address or the scheme
	ErrHopRefused            // a redirect leads where the crawl must not go
	ErrCanceled              // the caller's context ended
	ErrTimeout               // a deadline of this library, or of the context, passed
	ErrDNS                   // the name could not be resolved
	ErrConnect               // no connection
	ErrTLS                   // the handshake failed, or the certificate does not fit
	ErrProxy                 // a proxy on the way failed or refused; that it could not reach the host is ErrConnect
	ErrClosed                // the connection, or over HTTP/2 the stream, ended before an answer came
	ErrProtocol              // what came is not HTTP, or contradicts itself
	ErrHeaderLimit           // the head of the answer is larger than allowed
	ErrBodyLimit             // the decoded body is larger than allowed
	ErrTruncated             // the body ended early
	ErrTooSlow               // the body came below the minimum rate
	ErrEncoding              // the body's coding is unknown or damaged
	ErrRedirect              // too many redirects, or a loop
	ErrSink                  // the caller's Sink, or its writer, failed
	ErrCookies               // the jar of the session could not be opened
)

var kindNames = [...]string{
	"unknown", "invalid request", "refused address", "redirect refused", "canceled", "timeout", "dns", "connect", "tls", "proxy",
	"connection closed", "protocol", "header limit", "body limit", "truncated body", "too slow", "content coding", "redirect limit", "sink", "cookies",
}

// String returns the name of the kind.
func (k ErrorKind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "kind " + strconv.Itoa(int(k))
}

// Fault is whose doing an error is.
type Fault uint8

// The parties that can be at fault.
const (
	FaultNone   Fault = iota // nobody's: cancelled, or unknown
	FaultCaller              // asking again will not help
	FaultHost
	FaultProxy
)

// Fault says who is to blame for errors of the kind.
func (k ErrorKind) Fault() Fault {
	switch k {
	case ErrUnknown, ErrCanceled, ErrCookies:
		return FaultNone
	case ErrInvalid, ErrRefused, ErrHopRefused, ErrSink:
		return FaultCaller
	case ErrProxy:
		return FaultProxy
	}
	return FaultHost
}

// Temporary reports whether asking again later may help.
func (k ErrorKind) Temporary() bool {
	switch k {
	case ErrTimeout, ErrDNS, ErrConnect, ErrTLS, ErrProxy, ErrClosed, ErrTruncated, ErrTooSlow, ErrCookies:
		return true
	}
	return false
}

// Error is what goes wrong in fetching.
type Error struct {
	Op      string // what was being done: "dial", "handshake", "read head" …
	URL     string // that was asked; user info is not printed
	Kind    ErrorKind
	Attempt int  // counted from 1; 0 where nobody counts
	Final   bool // of a kind that is temporary as a rule, but not here: NXDOMAIN, a bad certificate
	// Redirects are the answers that led to URL, in order, where it is not the one of the request.
	Redirects []Hop
	Err       error
}

// Error returns "seine: fetch OP URL: KIND: cause".
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("seine: fetch")
	if e.Op != "" {
		b.WriteString(" " + e.Op)
	}
	if e.URL != "" {
		b.WriteString(" " + weburl.Redact(e.URL))
	}
	b.WriteString(": " + e.Kind.String())
	if e.Err != nil {
		b.WriteString(": " + e.Err.Error())
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target is the kind of the error, so that errors.Is(err, fetch.ErrTimeout) works, or
// context.DeadlineExceeded for ErrTimeout.
func (e *Error) Is(target error) bool {
	if k, ok := target.(ErrorKind); ok {
		return e.Kind == k
	}
	return target == context.DeadlineExceeded && e.Kind == ErrTimeout
}

// Timeout reports whether a deadline passed, as net.Error wants it: also one for a name or a handshake, whose errors are
// of the kinds ErrDNS and ErrTLS.
func (e *Error) Timeout() bool {
	return e.Kind == ErrTimeout || e.Kind == ErrTooSlow || errors.Is(e.Err, context.DeadlineExceeded)
}

// Temporary reports whether asking again later may help.
func (e *Error) Temporary() bool { return !e.Final && e.Kind.Temporary() }

// Error makes a kind usable as the target of errors.Is.
func (k ErrorKind) Error() string { return "seine: " + k.String() }

// KindOf returns the kind of err: that of the *Error it wraps, ErrCanceled for the end of a context, else ErrUnknown.
func KindOf(err error) ErrorKind {
	var e *Error
	switch {
	case errors.As(err, &e):
		return e.Kind
	case errors.Is(err, context.Canceled):
		return ErrCanceled
	case errors.Is(err, context.DeadlineExceeded):
		return ErrTimeout
	}
	return ErrUnknown
}

// RedirectsOf returns the redirects that led to an error: those of the outermost *Error that has any.
func RedirectsOf(err error) []Hop {
	for e := (*Error)(nil); errors.As(err, &e); err = e.Err {
		if len(e.Redirects) > 0 {
			return e.Redirects
		}
	}
	return nil
}

// StatusError is a status that a caller does not accept. No Fetcher returns it by itself.
type StatusError struct {
	Status int
	URL    string
}

// Error names the number always, and the standard text where there is one.
func (e *StatusError) Error() string {
	text := http.StatusText(e.Status)
	if text == "" {
		text = "no standard meaning"
	}
	return fmt.Sprintf("seine: status %d (%s) from %s", e.Status, text, weburl.Redact(e.URL))
}
