package fetch

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// maxLogins is how many sessions a Login remembers to be logged in; the one that was used least recently is forgotten, and
// logged in again when it comes back.
const maxLogins = 4096

const (
	defaultLoginTries = 10
	maxLoginPause     = 10 * time.Minute
)

// LoginPolicy says how sessions are logged in.
type LoginPolicy struct {
	// Login logs a session in by requests of its own: typically the page with the form, and what the form sends. f sends them
	// over the route of the session and stands where Login stands. It is called once at a time for a session.
	Login func(ctx context.Context, f Fetcher, session string) error
	// Out reports whether an answer says that its session is not logged in: a redirect to the login, a 401. The session is
	// logged in anew then, once for all requests that find out, and the request is sent again, once. Where the first answer after
	// a login says so, the login has failed: see Tries. Of a request with a Sink it is asked about the head first, which has no body,
	// and what it says of that decides whether the Sink gets the body; a 2xx that is out after a login is an error there. Nil
	// never does.
	Out func(*Response) bool
	// Late logs a session in when an answer says that it is not, and not before its first request: for jars that were saved.
	Late bool
	// Needs reports whether a request needs a login. Nil means those that have a session (Route.Session).
	Needs func(*Request) bool
	// Tries is how many logins of a session may fail in a row before it is given up. Zero means 10, negative no bound. After each
	// failure none is tried for a second, and twice as long each time, up to 10 minutes.
	Tries int
}

var (
	errNoLogin  = errors.New("LoginPolicy.Login is nil")
	errStillOut = errors.New("the host says that the session is not logged in, though the login has worked")
)

// Login logs each session in before its first request; the others of the session wait. A login that fails fails all
// requests that wait for it, and those that come before another is tried, with an *Error of its kind that wraps the cause; it is
// Final when the session is given up. That the context of the request ended which logs in is no failure: the next one does it. A
// login after which a session is still out counts as one too, but the answers are delivered as they are. The cookies of a login
// are kept by the Transport (Transport.Cookies), so it belongs outside of whatever picks the session of a request and inside
// of a cache.
func Login(p LoginPolicy) Middleware {
	l := &logins{policy: p, sessions: map[string]*login{}}
	return middleware("login", l.fetch)
}

// logins are the sessions of a Login.
type logins struct {
	policy   LoginPolicy
	mu       sync.Mutex
	sessions map[string]*login
	recent   list[*login]
}

// login is one session.
type login struct {
	name string
	node node[*login]
	turn chan struct{} // held by who logs in

	mu     sync.Mutex
	times  int       // that it was logged in
	judged int       // the latest login of which is known whether it helped
	fails  int       // logins in a row
	err    error     // of the last that failed
	until  time.Time // no login is tried before
}

func (l *logins) fetch(ctx context.Context, next Fetcher, req *Request) (*Response, error) {
	needs := req.Route.Session != ""
	if l.policy.Needs != nil {
		needs = l.policy.Needs(req)
	}
	if !needs {
		return next.Fetch(ctx, req)
	}
	if l.policy.Login == nil {
		return nil, &Error{Op: "login", URL: req.URL, Kind: ErrInvalid, Err: errNoLogin}
	}
	session := l.session(req.Route.Session)
	least := 1
	if l.policy.Late {
		least = 0
	}
	times, err := l.ensure(ctx, next, req, session, least)
	if err != nil {
		return nil, err
	}
	resp, out, err := l.ask(ctx, next, req, session, times)
	if err != nil || !out {
		return resp, err
	}
	times, err = l.ensure(ctx, next, req, session, times+1)
	switch {
	case errors.Is(err, errStillOut):
		return deliverOut(req, resp)
	case err != nil:
		return nil, err
	}
	if resp, out, err = l.ask(ctx, next, req, session, times); err != nil || !out {
		return resp, err
	}
	return deliverOut(req, resp)
}

// deliverOut delivers an answer of a session that is out, but not to a Sink as if it were what was asked for.
func deliverOut(req *Request, resp *Response) (*Response, error) {
	if req.Sink != nil && resp.StatusErr() == nil {
		return nil, &Error{Op: "login", URL: resp.URL, Kind: KindOf(errStillOut), Err: errStillOut}
	}
	return resp, nil
}

// ask sends a request of a session that was logged in so many times. out says that the answer says that it is not.
func (l *logins) ask(ctx context.Context, next Fetcher, req *Request, s *login, times int) (resp *Response, out bool, err error) {
	if l.policy.Out != nil {
		req = req.ScreenSink(func(head *Response) bool { return !l.policy.Out(head) })
	}
	resp, err = next.Fetch(ctx, req)
	if err == nil && l.policy.Out != nil {
		out = l.policy.Out(resp)
		s.judge(times, out)
	}
	return resp, out, err
}

// session returns what is known of a session.
func (l *logins) session(name string) *login {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.sessions[name]
	if s == nil {
		if len(l.sessions) >= maxLogins {
			oldest := l.recent.front()
			l.recent.remove(&oldest.node)
			delete(l.sessions, oldest.name)
		}
		s = &login{name: name, turn: make(chan struct{}, 1)}
		s.node.value = s
		l.sessions[name] = s
		l.recent.pushBack(&s.node)
	}
	l.recent.moveToBack(&s.node)
	return s
}

// ensure logs a session in unless it was logged in so many times, and returns how often it was.
func (l *logins) ensure(ctx context.Context, next Fetcher, req *Request, s *login, times int) (int, error) {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		err := contextError(ctx, "login")
		err.URL = req.URL
		return 0, err
	}
	if done, err := l.settled(req, s, times); done > 0 || err != nil || times == 0 {
		return done, err
	}
	f := FetcherFunc(func(ctx context.Context, r *Request) (*Response, error) {
		if r != nil && r.Route.Session == "" {
			r = r.Clone()
			r.Route = req.Route
		}
		return next.Fetch(ctx, r)
	})
	err := l.policy.Login(ctx, f, s.name)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err == nil:
		s.times++
		if s.err != errStillOut { // else the next answer tells
			s.fails, s.err = 0, nil
		}
		return s.times, nil
	case ctx.Err() != nil:
		err := contextError(ctx, "login")
		err.URL = req.URL
		return 0, err
	}
	s.failed(err)
	return 0, l.failure(req, s)
}

// settled returns how often a session was logged in if that is often enough, and an error where no login is to be tried.
func (l *logins) settled(req *Request, s *login, times int) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.times >= times:
		return s.times, nil
	case l.isGivenUp(s) || time.Now().Before(s.until):
		return 0, l.failure(req, s)
	}
	return 0, nil
}

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
	e := &Error{Op: "login", URL: req.URL, Kind: KindOf(s.err), Err: s.err}
	var known *Error
	if errors.As(s.err, &known) {
		e.Final = known.Final
	}
	if l.isGivenUp(s) {
		e.Final, e.Err = true, fmt.Errorf("given up after %d in a row failed: %w", s.fails, s.err)
	}
	return e
}

// judge notes what the first answer after a login says of it.
func (s *login) judge(times int, out bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.judged >= times:
		return
	case out:
		s.failed(errStillOut)
	default:
		s.fails, s.err = 0, nil
	}
	s.judged = times
}
