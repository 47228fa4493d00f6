package ratelimit

import (
	"fmt"
	"math"
	"time"
)

// The pace of a host that nobody configured.
const (
	DefaultInFlight    = 1                      // exchanges under way at first
	DefaultMaxInFlight = 4                      // exchanges under way at most
	DefaultSpacing     = 500 * time.Millisecond // from start to start
)

// Bounds of what hosts can bring about.
const (
	MaxRetryAfter = time.Hour        // that a host can keep us away by a header
	StallAfter    = 15 * time.Minute // of asking without success, after which Policy.Stalled says so
)

// Policy is how a host may be asked, and the adaptive controller that finds the pace within these bounds. It has no
// state: a State belongs to each host, and every method is a pure function of its arguments, cheap, without allocation
// and safe for concurrent calls. The policy may change between calls.
//
// The controller turns two knobs: how many exchanges may be under way, and a ceiling on the rate, which does not exist
// until the host throttles. Latency moves the first by the gradient to a baseline, as in Netflix's concurrency-limits,
// throttling answers set the second from the rate that the host bore, and it is probed again after a hold.
//
// Times are durations on a clock that whoever keeps the state chooses: since any fixed moment, never running back. A time
// before one that was told already counts as that one.
type Policy struct {
	// InFlight is how many exchanges may be under way at first. Zero means DefaultInFlight.
	InFlight int
	// MaxInFlight bounds them later. Zero means DefaultMaxInFlight, negative no bound.
	MaxInFlight int
	// Spacing is the least time from start to start. Zero means DefaultSpacing, negative none.
	Spacing time.Duration
	// Delay is the least time from the end of an exchange to the start of the next, such as a crawl-delay; with one,
	// a single exchange is under way. Zero and negative mean none.
	Delay time.Duration
}

// Places returns how many exchanges may be under way, at least 1.
func (p Policy) Places(s *State) int {
	if p.Delay > 0 {
		return 1
	}
	limit := s.limit
	if limit == 0 {
		limit = p.first()
	}
	if s.probing {
		limit = probeCap(limit)
	}
	return int(min(limit, p.most()))
}

// Pause returns the least time from start to start; zero for none.
func (p Policy) Pause(s *State) time.Duration {
	d := p.Spacing
	if d == 0 {
		d = DefaultSpacing
	}
	return max(d, s.interval(), 0)
}

// Rest returns the least time from the end of an exchange to the start of the next; zero for none, as always without
// Delay. Under a ceiling that is slower than Delay, exchanges that take as long as the latest answers come at its rate.
func (p Policy) Rest(s *State) time.Duration {
	if p.Delay <= 0 {
		return 0
	}
	return max(p.Delay, s.interval()-s.smooth)
}

// Stalled returns a *StallError when the host has been asked for StallAfter without an answer of class OK, else nil.
// Times when nothing was asked of it, or when it had asked to be left alone, do not count.
func (p Policy) Stalled(s *State) error {
	if s.failing < StallAfter {
		return nil
	}
	return &StallError{For: s.failing}
}

// first is L at the start.
func (p Policy) first() float64 {
	n := p.InFlight
	if n <= 0 {
		n = DefaultInFlight
	}
	return min(float64(n), p.most())
}

// maxPlaces stands for no bound.
const maxPlaces = 1 << 20

// most is L_max.
func (p Policy) most() float64 {
	switch {
	case p.MaxInFlight == 0:
		return DefaultMaxInFlight
	case p.MaxInFlight < 0:
		return maxPlaces
	}
	return float64(min(p.MaxInFlight, maxPlaces))
}

func probeCap(limit float64) float64 { return max(1, math.Floor(limit/4)) }

// StallError says that a host was asked for long and gave no answer of class OK.
type StallError struct{ For time.Duration }

// Error says for how long.
func (e *StallError) Error() string {
	return fmt.Sprintf("seine: the host has not given one proper answer in %v of asking", e.For.Round(time.Second))
}
