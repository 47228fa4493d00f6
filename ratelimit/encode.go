package ratelimit

import (
	"encoding"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"
)

// stateVersion is the first byte of an encoded State. It changes with the meaning of any byte.
const stateVersion = 1

// ErrState says that bytes are no encoded State, or one of a later version.
var ErrState = errors.New("seine: not a state of the rate controller")

var (
	_ encoding.BinaryAppender    = (*State)(nil)
	_ encoding.BinaryMarshaler   = (*State)(nil)
	_ encoding.BinaryUnmarshaler = (*State)(nil)
)

// AppendBinary appends the state in a fixed form of some 300 bytes, one byte for a host that was never asked. The error
// is always nil. Times stay those of the clock they were told on.
func (s *State) AppendBinary(b []byte) ([]byte, error) {
	b = append(b, stateVersion)
	if !s.begun {
		return b, nil
	}
	w := stateWriter{b}
	s.walk(&w)
	return w.b, nil
}

// MarshalBinary implements encoding.BinaryMarshaler.
func (s *State) MarshalBinary() ([]byte, error) { return s.AppendBinary(nil) }

// UnmarshalBinary reads what AppendBinary wrote. On any other input it returns an error that is ErrState and leaves the
// state as it is.
func (s *State) UnmarshalBinary(b []byte) error {
	if len(b) == 0 {
		return fmt.Errorf("%w: no bytes", ErrState)
	}
	if b[0] != stateVersion {
		return fmt.Errorf("%w: version %d", ErrState, b[0])
	}
	var n State
	if len(b) > 1 {
		r := stateReader{b: b[1:]}
		n.begun = true
		n.walk(&r)
		if r.fault == "" && len(r.b) > 0 {
			r.fault = "bytes left over"
		}
		if r.fault == "" {
			r.fault = n.check()
		}
		if r.fault != "" {
			return fmt.Errorf("%w: %s", ErrState, r.fault)
		}
	}
	*s = n
	return nil
}

// check says what is impossible in a state whose fields are all in range.
func (s *State) check() string {
	switch {
	case s.limit < 1:
		return "a limit below 1"
	case s.rate == 0 && s.clean > 0, s.rate > 0 && s.top == 0, s.rate > 0 && s.cuts == 0:
		return "half a ceiling"
	case s.raises > maxRaises:
		return "too many raises"
	}
	return ""
}

// stateFields is what goes through the fields of a state in their fixed order.
type stateFields interface {
	number(v *float64, low, high float64)      // 0, or from low to high
	span(v *time.Duration, most time.Duration) // from 0 to most; of a negative most, on either side of 0
	count(v *uint32)
	flags(v ...*bool)
}

// Bounds of what is read. Sums of times stay far from the range of int64.
const (
	anyTime   = math.MaxInt64 / 4   // that is told, 73 years: also since 1970
	nearTime  = anyTime + 3*maxTime // that follows from one
	lowRate   = floorRate / 4
	highRate  = 1e9
	highLimit = maxPlaces
)

func (s *State) walk(f stateFields) {
	f.number(&s.limit, 1, highLimit)
	f.number(&s.rate, lowRate, highRate)
	f.number(&s.top, lowRate, highRate)
	f.number(&s.clean, lowRate, highRate)
	f.span(&s.smooth, maxBusy)
	f.span(&s.base, maxBusy)
	f.span(&s.hold, maxHold)
	f.span(&s.lows[0], maxBusy)
	f.span(&s.lows[1], maxBusy)
	f.span(&s.failing, anyTime)
	f.span(&s.last, -anyTime)
	for _, t := range []*time.Duration{&s.blocked, &s.freshFrom, &s.holdUntil, &s.probeAt, &s.epoch.start} {
		f.span(t, -nearTime)
	}
	f.span(&s.epoch.busy, anyTime)
	for _, n := range []*uint32{&s.epoch.results, &s.epoch.good, &s.epoch.throttles, &s.epoch.failures, &s.samples, &s.number, &s.cuts} {
		f.count(n)
	}
	for _, w := range []*window{&s.recent, &s.before} {
		f.span(&w.length, anyTime)
		f.count(&w.results)
		f.count(&w.good)
	}
	for i := range s.refusals {
		f.count(&s.refusals[i].exit)
		f.span(&s.refusals[i].at, -nearTime)
	}
	raises := uint32(s.raises)
	f.count(&raises)
	s.raises = uint8(min(raises, math.MaxUint8))
	f.flags(&s.settled, &s.probing, &s.epoch.blocked, &s.refusals[0].set, &s.refusals[1].set)
}

// stateWriter appends fields, little end first.
type stateWriter struct{ b []byte }

func (w *stateWriter) number(v *float64, _, _ float64) {
	w.b = binary.LittleEndian.AppendUint64(w.b, math.Float64bits(*v))
}

func (w *stateWriter) span(v *time.Duration, _ time.Duration) {
	w.b = binary.LittleEndian.AppendUint64(w.b, uint64(*v))
}

func (w *stateWriter) count(v *uint32) { w.b = binary.LittleEndian.AppendUint32(w.b, *v) }

func (w *stateWriter) flags(v ...*bool) {
	var b byte
	for i, f := range v {
		if *f {
			b |= 1 << i
		}
	}
	w.b = append(w.b, b)
}

// stateReader takes fields off the front of b.
type stateReader struct {
	b     []byte
	fault string
}

func (r *stateReader) take(n int) []byte {
	if len(r.b) < n {
		r.fault, r.b = "too few bytes", nil
		return make([]byte, n)
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

func (r *stateReader) number(v *float64, low, high float64) {
	bits := binary.LittleEndian.Uint64(r.take(8))
	*v = math.Float64frombits(bits)
	if bits != 0 && !(*v >= low && *v <= high) {
		r.fault = "a number out of range"
	}
}

func (r *stateReader) span(v *time.Duration, most time.Duration) {
	*v = time.Duration(binary.LittleEndian.Uint64(r.take(8)))
	low := time.Duration(0)
	if most < 0 {
		low, most = most, -most
	}
	if *v < low || *v > most {
		r.fault = "a time out of range"
	}
}

func (r *stateReader) count(v *uint32) { *v = binary.LittleEndian.Uint32(r.take(4)) }

func (r *stateReader) flags(v ...*bool) {
	b := r.take(1)[0]
	for i, f := range v {
		*f = b>>i&1 == 1
	}
	if b>>len(v) != 0 {
		r.fault = "an unknown flag"
	}
}
