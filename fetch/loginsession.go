package fetch

import (
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"time"
)

// LoginError says that the session of a request could not be logged in. The request has not been sent, or its answer has said that
// the session is out.
type LoginError struct {
	Session string
	Fails   int           // logins that have failed in a row
	RetryIn time.Duration // until another one is tried; 0 if none is
	Err     error         // of the last
}

// Error says when another login is tried, and names the cause.
func (e *LoginError) Error() string {
	if e.RetryIn == 0 {
		return fmt.Sprintf("given up after %d in a row failed: %v", e.Fails, e.Err)
	}
	return fmt.Sprintf("tried again in %v: %v", e.RetryIn.Round(time.Millisecond), e.Err)
}

// Unwrap returns what came of the last login.
func (e *LoginError) Unwrap() error { return e.Err }

// failed notes that a login has failed; s.mu is held.
func (s *login) failed(err error) {
	pause := min(time.Second<<min(s.fails, 16), maxLoginPause)
	s.fails++
	s.err, s.until = err, time.Now().Add(pause)
}

// isGivenUp reports whether too many logins have failed; s.mu is held.
func (l *logins) isGivenUp(s *login) bool {
	tries := orDefault(l.policy.Tries, defaultLoginTries)
	return tries > 0 && s.fails >= tries
}

// failure is the error of a request whose session is not logged in; s.mu is held.
func (l *logins) failure(req *Request, s *login) *Error {
	why := &LoginError{Session: s.name, Fails: s.fails, Err: s.err}
	e := &Error{Op: "login", URL: req.URL, Kind: KindOf(s.err), Err: why}
	var known *Error
	if errors.As(s.err, &known) {
		e.Final = known.Final
	}
	if l.isGivenUp(s) {
		e.Final = true
	} else {
		why.RetryIn = max(time.Until(s.until), time.Millisecond)
	}
	return e
}

// judgeGood notes an answer that says that the session is logged in.
func (s *login) judgeGood(times int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if times < s.times {
		return // it tells nothing of the last login
	}
	s.judged, s.good = times, times
	if s.err == errStillOut {
		s.fails, s.err, s.until = 0, nil, time.Time{}
	}
}

// judgeOut notes an answer that says that the session is not logged in. Of the first one after a login it says that the login has
// failed, unless it is the request that is answered so.
func (s *login) judgeOut(req *Request, times int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.judged < times && !s.isOwn(req) {
		s.failed(errStillOut)
		s.judged = times
	}
}

// answersSo reports whether a request is known to be answered as if the session were out.
func (s *login) answersSo(req *Request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.isOwn(req)
}

// isOwn is answersSo with s.mu held: others have found the login good after which it was answered so.
func (s *login) isOwn(req *Request) bool {
	n, known := s.own[requestHash(req)]
	return known && (n < s.times || n == s.good)
}

// maxOwnAnswers bounds the requests of a session of which is known that they are answered as if it were out. Beyond it they are
// forgotten, and cost one login each again.
const maxOwnAnswers = 256

// doubt notes that a request was answered as if the session were out, right after it was logged in. If others find that it is in,
// that is the answer to the request and no word about the session.
func (s *login) doubt(req *Request, times int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.own == nil || len(s.own) >= maxOwnAnswers {
		s.own = map[uint64]int{}
	}
	s.own[requestHash(req)] = times
}

// forgetDoubts drops those of the last login if that has helped nobody; s.mu is held.
func (s *login) forgetDoubts() {
	if s.good != s.times {
		maps.DeleteFunc(s.own, func(_ uint64, n int) bool { return n == s.times })
	}
}

var requestSeed = maphash.MakeSeed()

// requestHash tells requests apart by what they ask for.
func requestHash(req *Request) uint64 {
	return maphash.String(requestSeed, RedirectMethod(0, req.Method)+" "+req.URL)
}
