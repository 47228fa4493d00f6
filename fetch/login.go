package fetch

import (
	"context"
	"errors"
	"net/http"
	"slices"
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
	// a login says so, the login has failed: see Tries. A request to which the answer says so right after a login that others find
	// good is not the session's fault: no login is tried for it again. Of a redirect that was not followed, since something forbids
	// it, its target cannot be had, or who asked follows them by itself, Out is shown the URL that it leads to, the redirects with
	// this last one, and its status and Location. Of a request with a Sink it is asked about the head first, which has no body, and
	// what it says of that decides whether the Sink gets the body; a 2xx that is out after a login is an error there. Nil never does.
	Out func(*Response) bool
	// Late logs a session in when an answer says that it is not, and not before its first request: for jars that were saved.
	Late bool
	// Needs reports whether a request needs a login. Nil means those that have a session (Route.Session).
	Needs func(*Request) bool
	// Tries is how many logins of a session may fail in a row before it is given up. Zero means 10, negative no bound. After each
	// failure none is tried for a second, and twice as long each time, up to 10 minutes. An answer that says that the session is
	// logged in ends the row of logins that have worked and not helped.
	Tries int
}

var (
	errNoLogin  = errors.New("LoginPolicy.Login is nil")
	errStillOut = errors.New("the host says that the session is not logged in, though the login has worked")
)

// Login logs each session in before its first request; the others of the session wait. A login that fails fails all
// requests that wait for it, and those that come before another is tried, with an *Error of its kind that wraps a *LoginError with
// the cause; it is Final when the session is given up. A crawler sends such requests again when another login is tried. That the context of the request ended which logs in is no failure: the next one does it. A
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
	times  int            // that it was logged in
	judged int            // the latest login of which is known whether it helped
	good   int            // the latest with which an answer has said that the session is logged in
	fails  int            // logins in a row
	err    error          // of the last that failed
	until  time.Time      // no login is tried before
	own    map[uint64]int // requests whose answer said right after a login that the session is out, and the number of that login
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
	resp, out, asked := l.ask(ctx, next, req, session, times)
	switch {
	case !out:
		return resp, asked
	case session.answersSo(req):
		return deliverOut(req, resp, asked)
	}
	times, err = l.ensure(ctx, next, req, session, times+1)
	switch {
	case errors.Is(err, errStillOut):
		return deliverOut(req, resp, asked)
	case err != nil:
		return nil, err
	}
	resp, out, asked = l.ask(ctx, next, req, session, times)
	if !out {
		return resp, asked
	}
	session.doubt(req, times)
	return deliverOut(req, resp, asked)
}

// deliverOut delivers what came of a request of a session that is out, but not to a Sink as if it were what was asked for.
func deliverOut(req *Request, resp *Response, err error) (*Response, error) {
	if err == nil && req.Sink != nil && resp.StatusErr() == nil {
		return nil, &Error{Op: "login", URL: resp.URL, Kind: KindOf(errStillOut), Err: errStillOut}
	}
	return resp, err
}

// ask sends a request of a session that was logged in so many times. out says that the answer says that it is not.
func (l *logins) ask(ctx context.Context, next Fetcher, req *Request, s *login, times int) (resp *Response, out bool, err error) {
	if l.policy.Out != nil {
		req = req.ScreenSink(func(head *Response) bool { return !l.policy.Out(head) })
	}
	resp, err = next.Fetch(ctx, req)
	if l.policy.Out == nil || ctx.Err() != nil {
		return resp, false, err
	}
	shown := unfollowed(req, resp, err)
	if shown == nil {
		return resp, false, err
	}
	out = l.policy.Out(shown)
	switch {
	case out:
		s.judgeOut(req, times)
	case err == nil:
		s.judgeGood(times)
	}
	return resp, out, err
}

// unfollowed returns what Out is shown of an answer, or of an error: where a redirect was not followed, that with the URL to which
// it leads. It is nil for an error that came without one.
func unfollowed(req *Request, resp *Response, err error) *Response {
	if err != nil {
		hops := RedirectsOf(err)
		if len(hops) == 0 {
			return nil
		}
		last := hops[len(hops)-1]
		return &Response{Request: req, URL: last.To, Redirects: hops, Status: last.Status, Header: http.Header{"Location": {last.To}}}
	}
	if resp == nil || resp.Status/100 != 3 {
		return resp
	}
	to, ok := resp.Target()
	if !ok {
		return resp
	}
	hops := append(slices.Clone(resp.Redirects), Hop{URL: resp.URL, Status: resp.Status, To: to})
	return &Response{Request: resp.Request, URL: to, Redirects: hops, Status: resp.Status, Header: resp.Header, Body: resp.Body}
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
		s.forgetDoubts()
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
