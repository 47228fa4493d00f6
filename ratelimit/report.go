package ratelimit

import "time"

// Class is what an exchange says about the host's load.
type Class uint8

// The classes of exchanges.
const (
	None        Class = iota // nothing was exchanged; says nothing about the host
	OK                       // an answer that took its normal course, 404 included
	Throttle                 // 429, or 503 with Retry-After
	Block                    // 403, or a challenge
	ServerError              // any other 5xx
	NetError                 // no complete answer for a reason on the host's side
)

var classNames = [...]string{"none", "ok", "throttle", "block", "server-error", "net-error"}

// String returns the name of the class in lower case.
func (c Class) String() string {
	if int(c) < len(classNames) {
		return classNames[c]
	}
	return "unknown"
}

// Report tells what became of the exchanges with one host under one lease or reservation. Times are durations, never
// clock readings, so that a report can cross machines.
type Report struct {
	Class      Class
	Status     int           // of the last answer; 0 if there was none
	Latency    time.Duration // from the request written to the first byte of the answer, connecting excluded
	Elapsed    time.Duration // from dispatch to the end of the last exchange
	Sent       time.Duration // from the last request written to the end of its exchange; 0 if that is not known
	Since      time.Duration // from the end of the last exchange to this report
	RetryAfter time.Duration // what the host asked for; 0 if nothing
	Exchanges  int           // how many there were
	Bytes      int64         // body bytes received, as they came over the wire
	Proxy      string        // label of the exit; "" for a direct connection
}
