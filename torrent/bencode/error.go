package bencode

import (
	"fmt"
	"slices"
	"strings"
)

// ErrorKind names a kind of fault. It is an error itself, so that errors.Is(err, bencode.ErrOverflow) finds it.
type ErrorKind string

// Error returns the name of the kind.
func (k ErrorKind) Error() string { return string(k) }

// What makes bytes unreadable.
const (
	ErrUnexpectedEnd ErrorKind = "unexpected_eof"  // the input ends inside a value
	ErrExpectedValue ErrorKind = "expected_value"  // neither i, l, d nor a digit where a value begins
	ErrExpectedDigit ErrorKind = "expected_digit"  // a number without digits, or a dictionary key that is no string
	ErrExpectedColon ErrorKind = "expected_colon"  // the length of a string does not end in a colon
	ErrOverflow      ErrorKind = "overflow"        // a number outside int64
	ErrDepth         ErrorKind = "depth_exceeded"  // nested deeper than Options.MaxDepth
	ErrTokens        ErrorKind = "too_many_tokens" // more values and keys than Options.MaxTokens
	ErrBytes         ErrorKind = "too_many_bytes"  // longer than Options.MaxBytes
)

// What is read leniently and told as a [Warning].
const (
	ErrUnsortedKeys ErrorKind = "unsorted_keys" // BEP 3: keys are sorted as raw strings
	ErrDuplicateKey ErrorKind = "duplicate_key" // a key stands twice in a row; the first one counts
	ErrLeadingZero  ErrorKind = "leading_zero"  // BEP 3: i03e is invalid; lengths of strings alike
	ErrNegativeZero ErrorKind = "negative_zero" // BEP 3: i-0e is invalid
	ErrTrailingData ErrorKind = "trailing_data" // bytes after the value
)

// What does not fit the Go value that is read into or written from.
const (
	ErrWrongType   ErrorKind = "wrong_type"  // a value does not fit the Go type
	ErrUnsupported ErrorKind = "unsupported" // a Go type has no bencode form
	ErrNotValid    ErrorKind = "not_valid"   // a Marshaler or a RawMessage holds no single bencode value
	ErrMisuse      ErrorKind = "misuse"      // calls of a Writer that make no value, or a target that is no pointer
)

// An Error is a fault at a place of the input.
type Error struct {
	Kind   ErrorKind
	Offset int    // in bytes from the start of the input; -1 when writing
	Detail string // of types and fields; may be empty
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("seine: bencode: ")
	b.WriteString(string(e.Kind))
	if e.Detail != "" {
		b.WriteString(": ")
		b.WriteString(e.Detail)
	}
	if e.Offset >= 0 {
		fmt.Fprintf(&b, " at byte %d", e.Offset)
	}
	return b.String()
}

// Unwrap gives the kind to errors.Is.
func (e *Error) Unwrap() error { return e.Kind }

// A Warning is a fault that lenient reading forgives.
type Warning struct {
	Kind   ErrorKind
	Offset int // in bytes from the start of the input
}

// MaxWarnings is how many warnings of one kind are kept; further ones of it are dropped.
const MaxWarnings = 16

// Warnings are the faults of an input in the order in which they were met, at most [MaxWarnings] of a kind. As an
// error, which strict reading makes of them, errors.Is finds each kind.
type Warnings []Warning

func (w Warnings) Error() string {
	var b strings.Builder
	b.WriteString("seine: bencode: strict:")
	for i, k := range w.Kinds() {
		if i > 0 {
			b.WriteByte(',')
		}
		at := slices.IndexFunc(w, func(x Warning) bool { return x.Kind == k })
		fmt.Fprintf(&b, " %s at byte %d", k, w[at].Offset)
	}
	return b.String()
}

// Unwrap gives the kinds to errors.Is.
func (w Warnings) Unwrap() []error {
	var errs []error
	for _, k := range w.Kinds() {
		errs = append(errs, k)
	}
	return errs
}

// Kinds lists each kind once, in the order of the first of it.
func (w Warnings) Kinds() []ErrorKind {
	var kinds []ErrorKind
	for _, x := range w {
		if !slices.Contains(kinds, x.Kind) {
			kinds = append(kinds, x.Kind)
		}
	}
	return kinds
}
