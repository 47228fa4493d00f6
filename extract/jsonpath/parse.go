package jsonpath

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Parse reads a document for Select. Numbers are json.Number, so that they keep their digits. The error is a *SyntaxError.
// Nesting deeper than MaxDepth is one.
func Parse(doc []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	if err == nil {
		if _, err = d.Token(); err == io.EOF {
			return v, nil
		}
		if err == nil {
			err = errTrailing
		}
	}
	return nil, syntaxError(doc, err)
}

// syntaxError finds where the fault is. Find tells that too, and by the same rules.
func syntaxError(doc []byte, err error) error {
	r := newReader(doc)
	if e := r.document(); e != nil {
		return e
	}
	return &SyntaxError{Offset: len(doc), Reason: err.Error()}
}

var errTrailing = errors.New(faults[manyValues])

// SyntaxError says where a document is not JSON (RFC 8259).
type SyntaxError struct {
	Offset int // of the byte at fault
	Reason string
}

// Error gives the place and the reason.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("seine: json at byte %d: %s", e.Offset, e.Reason)
}

// Text returns what a raw value says: a string without its quotes and escapes, anything else as it stands.
func Text(raw []byte) string {
	if len(raw) < 2 || raw[0] != '"' {
		return string(raw)
	}
	return unquote(raw[1 : len(raw)-1])
}
