package bencode

import (
	"strconv"
)

// AppendString appends s as a bencode string.
func AppendString[T ~string | ~[]byte](dst []byte, s T) []byte {
	dst = strconv.AppendInt(dst, int64(len(s)), 10)
	dst = append(dst, ':')
	return append(dst, s...)
}

// AppendInt appends n as a bencode integer.
func AppendInt(dst []byte, n int64) []byte {
	dst = append(dst, 'i')
	dst = strconv.AppendInt(dst, n, 10)
	return append(dst, 'e')
}

// Writer writes one value in canonical form. The caller gives the keys of a dictionary in the order of their bytes,
// each once; a call that breaks the form is kept as the fault that Bytes returns. The zero value is ready for use.
type Writer struct {
	buf   []byte
	stack []writing
	done  bool
	err   error
}

// writing is an open list or dictionary of a Writer.
type writing struct {
	dict    bool
	hasKey  bool // a key waits for its value
	keyFrom int  // the last key, as offsets into the output
	keyTo   int
}

func (w *Writer) misuse(detail string) {
	if w.err == nil {
		w.err = &Error{Kind: ErrMisuse, Offset: -1, Detail: detail}
	}
}

// begin makes sure that a value may stand here.
func (w *Writer) begin() bool {
	if w.err != nil {
		return false
	}
	if len(w.stack) == 0 {
		if w.done {
			w.misuse("a second value")
		}
		w.done = true
	} else if top := &w.stack[len(w.stack)-1]; top.dict {
		if !top.hasKey {
			w.misuse("a value without a key")
		}
		top.hasKey = false
	}
	return w.err == nil
}

// Int writes an integer.
func (w *Writer) Int(n int64) {
	if w.begin() {
		w.buf = AppendInt(w.buf, n)
	}
}

// String writes a string.
func (w *Writer) String(s string) {
	if w.begin() {
		w.buf = AppendString(w.buf, s)
	}
}

// Text writes a string of bytes.
func (w *Writer) Text(b []byte) {
	if w.begin() {
		w.buf = AppendString(w.buf, b)
	}
}

// Raw writes one value that is encoded already. It must be a value, canonical or not.
func (w *Writer) Raw(b []byte) {
	if n, _, err := unlimited.Check(b); err != nil || n != len(b) {
		w.misuse("raw bytes are no single value")
	}
	if w.begin() {
		w.buf = append(w.buf, b...)
	}
}

// List begins a list, which End ends.
func (w *Writer) List() {
	if w.begin() {
		w.buf = append(w.buf, 'l')
		w.stack = append(w.stack, writing{})
	}
}

// Dict begins a dictionary, which End ends.
func (w *Writer) Dict() {
	if w.begin() {
		w.buf = append(w.buf, 'd')
		w.stack = append(w.stack, writing{dict: true})
	}
}

// Key writes a key of the dictionary that is open; its value follows.
func (w *Writer) Key(key string) {
	if w.err != nil {
		return
	}
	if len(w.stack) == 0 || !w.stack[len(w.stack)-1].dict || w.stack[len(w.stack)-1].hasKey {
		w.misuse("a key in the wrong place")
		return
	}
	top := &w.stack[len(w.stack)-1]
	if top.keyTo > 0 && string(w.buf[top.keyFrom:top.keyTo]) >= key {
		w.misuse("keys out of order")
		return
	}
	w.buf = AppendString(w.buf, key)
	top.keyFrom, top.keyTo = len(w.buf)-len(key), len(w.buf)
	top.hasKey = true
}

// End ends the list or dictionary that is open.
func (w *Writer) End() {
	if w.err != nil {
		return
	}
	if len(w.stack) == 0 || w.stack[len(w.stack)-1].hasKey {
		w.misuse("an end in the wrong place")
		return
	}
	w.buf = append(w.buf, 'e')
	w.stack = w.stack[:len(w.stack)-1]
}

// Bytes returns the value, which belongs to the caller until the next call of the writer, or the first fault.
func (w *Writer) Bytes() ([]byte, error) {
	if w.err == nil && (!w.done || len(w.stack) > 0) {
		return nil, &Error{Kind: ErrMisuse, Offset: -1, Detail: "the value is not complete"}
	}
	return w.buf, w.err
}
