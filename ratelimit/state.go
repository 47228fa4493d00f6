package ratelimit

import "time"

// State is what the controller knows of one host: a small plain value that can be copied, compared, and kept anywhere
// (see AppendBinary). The zero value is a host that was never asked. A State is not safe for concurrent use.
type State struct {
	limit  float64       // L, exchanges under way
	rate   float64       // R, the ceiling, exchanges a second; 0: none
	top    float64       // what the host was held to bear at the last cut
	clean  float64       // the highest ceiling that went well since the last cut; 0: none
	smooth time.Duration // s, mean of latencies
	base   time.Duration // b, latency of the host when it is not pressed; 0: unknown

	epoch  epoch
	recent window // epochs that are being gathered
	before window // those gathered last

	last      time.Duration // the latest time told
	blocked   time.Duration // nothing is to be asked before
	freshFrom time.Duration // requests begun before it saw the pace before the last cut
	hold      time.Duration // how long the rate is not raised after the last cut
	holdUntil time.Duration
	probeAt   time.Duration // when the probe of the baseline began, or the next one is due
	failing   time.Duration // of asking without an answer of class OK

	lows     [2]time.Duration // the smallest latencies sampled for the baseline
	samples  uint32           // how many there were
	number   uint32           // of the epoch
	cuts     uint32           // of the rate, in all
	refusals [blockedBy - 1]refusal
	raises   uint8 // m, in a row
	begun    bool
	settled  bool // slow start is over
	probing  bool
}

// epoch counts the results since the controller acted last.
type epoch struct {
	start     time.Duration
	busy      time.Duration // sum of the times that exchanges took
	results   uint32
	good      uint32
	throttles uint32
	failures  uint32
	blocked   bool // by so many exits that the host itself must mean it
}

// window is a number of epochs in a row.
type window struct {
	length  time.Duration
	results uint32
	good    uint32
}

func (w window) add(o window) window {
	return window{min(w.length+o.length, anyTime), w.results + o.results, w.good + o.good}
}

// rate of n in the window, a second.
func (w window) rate(n uint32) float64 { return float64(n) / max(w.length, minEpoch).Seconds() }

// refusal is an exit that was blocked.
type refusal struct {
	exit uint32 // hash of its label
	set  bool
	at   time.Duration
}

// BlockedUntil returns the time before which nothing is to be asked: zero, or one gone by, for none.
func (s *State) BlockedUntil() time.Duration { return s.blocked }

// Rate returns the ceiling in exchanges a second; zero for none.
func (s *State) Rate() float64 { return s.rate }

// Cuts returns how often the rate was cut.
func (s *State) Cuts() uint32 { return s.cuts }

// Epoch returns how often the controller has acted, modulo 2^32.
func (s *State) Epoch() uint32 { return s.number }

// Interval returns the pause from start to start that the ceiling asks for; zero for none.
func (s *State) Interval() time.Duration { return s.interval() }

func (s *State) interval() time.Duration {
	if s.rate == 0 {
		return 0
	}
	return time.Duration(float64(time.Second) / s.rate)
}

// keepLearned is how long what a host was found to bear is worth knowing.
const keepLearned = 10 * time.Minute

// KeepUntil returns until when the state is worth keeping, though nothing is asked of the host: ten minutes from the last
// report where there is a ceiling or the host does not answer; else the time of the last report, since the rest is soon
// found again.
func (s *State) KeepUntil() time.Duration {
	if s.rate > 0 || s.failing > 0 {
		return max(s.last, s.blocked) + keepLearned
	}
	return s.last
}
