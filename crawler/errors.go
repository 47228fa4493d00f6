package crawler

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/seine-go/seine/internal/weburl"
)

// Errors of an engine.
var (
	ErrNoSeeds           = errors.New("seine: nothing to crawl: no seeds, no Site and nothing stored")
	ErrFinished          = errors.New("seine: the crawl is finished and there was nothing new to do; Config.Resume says what to do then")
	ErrRunning           = errors.New("seine: the engine is running already")
	ErrRobotsDisallowed  = errors.New("seine: disallowed by robots.txt")
	ErrRobotsUnavailable = errors.New("seine: robots.txt cannot be had")
	ErrOutOfScope        = errors.New("seine: out of scope")
	ErrTooDeep           = errors.New("seine: deeper than the depth limit")
	ErrTooManyHops       = errors.New("seine: too many redirects")
	ErrFrontier          = errors.New("seine: the frontier breaks its contract")
	ErrBudget            = errors.New("seine: the budget is spent") // of a host; that of a run ends it, see Stats.Spent
)

func (e *Engine) tooDeep(url string) error {
	return fmt.Errorf("%w: %s: Config.MaxDepth is %d", ErrTooDeep, weburl.Redact(url), e.cfg.MaxDepth)
}

func (e *Engine) tooManyHops(url string) error {
	return fmt.Errorf("%w: the next would be %s: Config.MaxHops is %d", ErrTooManyHops, weburl.Redact(url), e.cfg.MaxHops)
}

// ConfigError names the field of a Config that cannot be.
type ConfigError struct{ Field, Reason string }

// Error names the field.
func (e *ConfigError) Error() string { return "seine: config: " + e.Field + ": " + e.Reason }

// RequestError says why a request is not taken.
type RequestError struct {
	URL    string
	Field  string // "" for the URL itself
	Reason string
	Err    error
}

// Error names the URL and the field.
func (e *RequestError) Error() string {
	s := "seine: request " + fmt.Sprintf("%q", weburl.Redact(e.URL))
	if e.Field != "" {
		s += ": " + e.Field
	}
	if e.Reason != "" {
		s += ": " + e.Reason
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the cause.
func (e *RequestError) Unwrap() error { return e.Err }

// PageError is what became of a request that failed for good, or of one try.
type PageError struct {
	Request *Request
	Attempt int
	Refused bool // the request must not be sent: robots.txt, scope, depth, a trap, the budget of its host
	Err     error
}

// Class is what the try failed of.
func (e *PageError) Class() RetryClass { return classOf(e.Err) }

// Error names the URL, the cause and the attempt.
func (e *PageError) Error() string {
	url, cause := weburl.Redact(e.Request.URL), strings.TrimPrefix(e.Err.Error(), "seine: ")
	if strings.Contains(cause, url) { // the cause names it
		return fmt.Sprintf("seine: %s (attempt %d)", cause, e.Attempt)
	}
	return fmt.Sprintf("seine: %s: %s (attempt %d)", url, cause, e.Attempt)
}

// Unwrap returns the cause.
func (e *PageError) Unwrap() error { return e.Err }

// CrashError is why a request is given up that was never settled: each time somebody had it alone, that process died, or let
// its lease run out. It was not sent again.
type CrashError struct {
	Crashes int // those that count
}

// Error tells how often.
func (e *CrashError) Error() string {
	return fmt.Sprintf("seine: its holder died each time it was alone, %d times in a row", e.Crashes)
}

// PanicError is a panic in what the application brings. In a handler or a middleware it costs the page and nothing else; in
// a Frontier, a Site or a hook that is told of something it ends the run.
type PanicError struct {
	Value any
	Stack []byte
}

// Error returns the value of the panic.
func (e *PanicError) Error() string { return fmt.Sprintf("seine: panic: %v", e.Value) }

// Unwrap returns the value of the panic if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// Permanent makes an error that is not retried.
func Permanent(err error) error { return &handlerError{err: err, permanent: true} }

// RetryAfter makes an error whose request is tried again in d, as long as it has attempts left: as many as the rule for
// RetryHandler allows.
func RetryAfter(d time.Duration, err error) error {
	return &handlerError{err: err, delay: max(d, 0), timed: true}
}

type handlerError struct {
	err       error
	permanent bool
	timed     bool
	delay     time.Duration
}

func (e *handlerError) Error() string {
	if e.err == nil {
		return "seine: the handler gave no reason"
	}
	return e.err.Error()
}

func (e *handlerError) Unwrap() error { return e.err }
