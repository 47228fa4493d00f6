package fetch

import (
	"context"
	"errors"
	"sync"
)

// maxLogins is how many sessions a Login remembers to be logged in; the one that was used least recently is forgotten, and
// logged in again when it comes back.
const maxLogins = 4096

// LoginPolicy says how sessions are logged in.
type LoginPolicy struct {
	// Login logs a session in by requests of its own: typically the page with the form, and what the form sends. f sends them
	// over the route of the session and stands where Login stands. It is called once at a time for a session.
	Login func(ctx context.Context, f Fetcher, session string) error
	// Out reports whether an answer says that its session is not logged in: a redirect to the login, a 401. The session is
	// logged in anew then, once for all requests that find out, and the request is sent again, once. Nil never does.
	Out func(*Response) bool
	// Late logs a session in when an answer says that it is not, and not before its first request: for jars that were saved.
	Late bool
	// Needs reports whether a request needs a login. Nil means those that have a session (Route.Session).
	Needs func(*Request) bool
}

var errNoLogin = errors.New("LoginPolicy.Login is nil")

// Login logs each session in before its first request; the others of the session wait. A login that fails fails the
// requests that wait for it, with an *Error of its kind that wraps the cause; the next one tries again. The cookies of a login
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
	name  string
	node  node[*login]
	turn  chan struct{} // held by who logs in
	times int           // that it was logged in; read and written with the turn
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
	resp, err := next.Fetch(ctx, req)
	if err != nil || l.policy.Out == nil || !l.policy.Out(resp) {
		return resp, err
	}
	if _, err := l.ensure(ctx, next, req, session, times+1); err != nil {
		return nil, err
	}
	return next.Fetch(ctx, req)
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
	if s.times >= times {
		return s.times, nil
	}
	f := FetcherFunc(func(ctx context.Context, r *Request) (*Response, error) {
		if r.Route.Session == "" {
			r = r.Clone()
			r.Route = req.Route
		}
		return next.Fetch(ctx, r)
	})
	if err := l.policy.Login(ctx, f, s.name); err != nil {
		var known *Error
		e := &Error{Op: "login", URL: req.URL, Kind: KindOf(err), Err: err}
		if errors.As(err, &known) {
			e.Final = known.Final
		}
		return 0, e
	}
	s.times++
	return s.times, nil
}
