package fetch

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// club is a host that answers 401 to sessions that are not logged in.
type club struct {
	mu     sync.Mutex
	inside map[string]bool
	logins []string
	fail   error
}

func (c *club) Fetch(_ context.Context, req *Request) (*Response, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if req.URL == "https://films.example/login" {
		if c.fail != nil {
			return nil, c.fail
		}
		c.inside[req.Route.Session] = true
		c.logins = append(c.logins, req.Route.Session)
	}
	if !c.inside[req.Route.Session] {
		return &Response{Status: 401}, nil
	}
	return &Response{Status: 200}, nil
}

func (c *club) policy() LoginPolicy {
	return LoginPolicy{
		Login: func(ctx context.Context, f Fetcher, session string) error {
			time.Sleep(time.Second)
			_, err := f.Fetch(ctx, &Request{URL: "https://films.example/login"})
			return err
		},
		Out: func(r *Response) bool { return r.Status == 401 },
	}
}

func TestLoginOncePerSession(t *testing.T) {
	t.Parallel()
	for _, late := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			c := &club{inside: map[string]bool{}}
			p := c.policy()
			p.Late = late
			f := Login(p)(c)
			ask := func() {
				var wg sync.WaitGroup
				for i := range 30 {
					wg.Go(func() {
						resp, err := f.Fetch(t.Context(), &Request{URL: "https://films.example/a", Route: Route{Session: fmt.Sprint(i % 3)}})
						if err != nil || resp.Status != 200 {
							t.Errorf("%v %v", resp, err)
						}
					})
				}
				wg.Wait()
			}
			ask()
			ask()
			if len(c.logins) != 3 {
				t.Errorf("late %v: logged in %q", late, c.logins)
			}
			clear(c.inside) // the host has forgotten them
			ask()
			if len(c.logins) != 6 {
				t.Errorf("late %v: logged in again %q", late, c.logins)
			}
			if resp, err := f.Fetch(t.Context(), &Request{URL: "https://films.example/a"}); err != nil || resp.Status != 401 || len(c.logins) != 6 {
				t.Errorf("without a session: %v %v", resp, err)
			}
		})
	}
}

func TestLoginThatFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &club{inside: map[string]bool{}, fail: &Error{Op: "dial", Kind: ErrConnect, Final: true}}
		f := Login(c.policy())(c)
		req := &Request{URL: "https://films.example/a", Route: Route{Session: "s"}}
		_, err := f.Fetch(t.Context(), req)
		var e *Error
		if !errors.As(err, &e) || e.Op != "login" || e.Kind != ErrConnect || e.Temporary() {
			t.Errorf("%v", err)
		}
		time.Sleep(2 * time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		go f.Fetch(t.Context(), req)
		synctest.Wait()
		if _, err := f.Fetch(ctx, req); !errors.Is(err, ErrTimeout) {
			t.Errorf("one that waits: %v", err)
		}
		time.Sleep(time.Minute)
		c.mu.Lock()
		c.fail = nil
		c.mu.Unlock()
		if resp, err := f.Fetch(t.Context(), req); err != nil || resp.Status != 200 {
			t.Errorf("afterwards: %v %v", resp, err)
		}
		if _, err := Login(LoginPolicy{})(c).Fetch(t.Context(), req); !errors.Is(err, ErrInvalid) {
			t.Errorf("without a Login: %v", err)
		}
	})
}

// TestLoginFailsOnceForAll has many requests wait for a login that fails, and more come while it is not tried again.
func TestLoginFailsOnceForAll(t *testing.T) {
	t.Parallel()
	for _, tries := range []int{0, 3, -1} {
		synctest.Test(t, func(t *testing.T) {
			wrong := errors.New("wrong password")
			var logins []time.Duration
			start := time.Now()
			f := Login(LoginPolicy{Tries: tries, Login: func(context.Context, Fetcher, string) error {
				logins = append(logins, time.Since(start))
				time.Sleep(time.Second)
				return wrong
			}})(&club{})
			req := &Request{URL: "https://films.example/a", Route: Route{Session: "s"}}
			most := 15 // with the hour that it goes on
			if tries >= 0 {
				most = orDefault(tries, defaultLoginTries)
			}
			var final atomic.Int32
			for range 3600 {
				var wg sync.WaitGroup
				for range 3 {
					wg.Go(func() {
						resp, err := f.Fetch(t.Context(), req)
						var e *Error
						if resp != nil || !errors.Is(err, wrong) || !errors.As(err, &e) || e.Op != "login" || e.URL != req.URL {
							t.Errorf("%v, %v", resp, err)
						} else if e.Final {
							final.Add(1)
						}
					})
				}
				wg.Wait()
				time.Sleep(time.Second)
			}
			if len(logins) < 3 || len(logins) > most || tries >= 0 && len(logins) != most || (final.Load() > 0) != (tries >= 0) {
				t.Errorf("Tries %d: %d logins at %v, final for %d", tries, len(logins), logins, final.Load())
			}
			for i := 1; i < len(logins); i++ {
				if gap := logins[i] - logins[i-1] - time.Second; gap < min(time.Second<<(i-1), maxLoginPause) {
					t.Errorf("login %d came %v after the one before had failed", i, gap)
				}
			}
		})
	}
}

// TestLoginOfACancelledRequest has the request that logs in end: it is not what the others fail by.
func TestLoginOfACancelledRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		logins := 0
		f := Login(LoginPolicy{Login: func(ctx context.Context, _ Fetcher, _ string) error {
			logins++
			select {
			case <-time.After(time.Minute):
				return nil
			case <-ctx.Done():
				return errors.New("no answer")
			}
		}})(FetcherFunc(func(context.Context, *Request) (*Response, error) { return &Response{Status: 200}, nil }))
		req := &Request{URL: "https://films.example/a", Route: Route{Session: "s"}}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := f.Fetch(ctx, req); !errors.Is(err, ErrTimeout) || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("the first: %v", err)
			}
		})
		synctest.Wait()
		for range 5 {
			wg.Go(func() {
				if resp, err := f.Fetch(t.Context(), req); err != nil || resp.Status != 200 {
					t.Errorf("one that waited: %v, %v", resp, err)
				}
			})
		}
		wg.Wait()
		if logins != 2 {
			t.Errorf("%d logins", logins)
		}
	})
}

// TestLoginThatDoesNotHelp logs in with success, but the host goes on to say that the session is out.
func TestLoginThatDoesNotHelp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var logins atomic.Int32
		var helps atomic.Bool
		f := Login(LoginPolicy{
			Late: true, Tries: 4, Login: func(context.Context, Fetcher, string) error { logins.Add(1); return nil },
			Out: func(r *Response) bool { return r.Status == 401 },
		})(FetcherFunc(func(context.Context, *Request) (*Response, error) {
			if helps.Load() {
				return &Response{Status: 200}, nil
			}
			return &Response{Status: 401}, nil
		}))
		ask := func(want int) {
			t.Helper()
			var wg sync.WaitGroup
			for range 10 {
				wg.Go(func() {
					if resp, err := f.Fetch(t.Context(), &Request{URL: "https://films.example/", Route: Route{Session: "s"}}); err != nil || resp.Status != want {
						t.Errorf("%v, %v", resp, err)
					}
				})
			}
			wg.Wait()
		}
		for i, want := range []int32{1, 1, 2, 2, 2, 3} { // after one second, and after two more
			if i == 2 || i == 5 {
				time.Sleep(2 * time.Second)
			}
			if ask(401); logins.Load() != want {
				t.Errorf("round %d: %d logins, want %d", i, logins.Load(), want)
			}
		}
		time.Sleep(time.Hour)
		if ask(401); logins.Load() != 4 {
			t.Errorf("%d logins", logins.Load())
		}
		time.Sleep(time.Hour)
		if ask(401); logins.Load() != 4 {
			t.Errorf("%d logins of a session that is given up", logins.Load())
		}
		helps.Store(true)
		ask(200)
	})
}

func TestLoginDoesNotGoRound(t *testing.T) {
	t.Parallel()
	var asked, logins atomic.Int32
	f := Login(LoginPolicy{
		Login: func(context.Context, Fetcher, string) error { logins.Add(1); return nil },
		Out:   func(*Response) bool { return true },
		Needs: func(*Request) bool { return true },
	})(FetcherFunc(func(context.Context, *Request) (*Response, error) {
		asked.Add(1)
		return &Response{Status: 401}, nil
	}))
	resp, err := f.Fetch(t.Context(), &Request{URL: "https://films.example/"})
	if err != nil || resp.Status != 401 || asked.Load() != 1 || logins.Load() != 1 {
		t.Errorf("%v %v, asked %d times, logged in %d times", resp, err, asked.Load(), logins.Load())
	}
}

func TestLoginsAreBounded(t *testing.T) {
	t.Parallel()
	l := &logins{sessions: map[string]*login{}}
	first := l.session("first")
	for i := range maxLogins {
		l.session(fmt.Sprint(i))
		l.session("first")
	}
	if len(l.sessions) != maxLogins || l.session("first") != first || l.recent.len != maxLogins {
		t.Errorf("%d sessions", len(l.sessions))
	}
}

// TestLoginIsNotSpentOnAPage has requests that a session may never make among others: each costs one login at the most, whatever the
// bound, and the session is not given up. Logins that help nobody are no word about a request.
func TestLoginIsNotSpentOnAPage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		inside, logins := false, 0
		f := Login(LoginPolicy{
			Tries: 3, Out: func(r *Response) bool { return r.Status == 401 },
			Login: func(context.Context, Fetcher, string) error { inside, logins = true, logins+1; return nil },
		})(FetcherFunc(func(_ context.Context, req *Request) (*Response, error) {
			if !inside || strings.Contains(req.URL, "admin") {
				return &Response{Status: 401}, nil
			}
			return &Response{Status: 200}, nil
		}))
		ask := func(path string, want int) {
			t.Helper()
			resp, err := f.Fetch(t.Context(), &Request{URL: "https://films.example/" + path, Route: Route{Session: "s"}})
			if err != nil || resp.Status != want {
				t.Errorf("%s: %v, %v", path, resp, err)
			}
		}
		for round := range 3 {
			for i := range 20 {
				ask(fmt.Sprintf("admin%d", i), 401)
				ask(fmt.Sprint(i), 200)
			}
			if logins > 21 {
				t.Fatalf("round %d: %d logins", round, logins)
			}
		}
		before := logins
		inside = false
		ask("20", 200)
		if logins != before+1 {
			t.Errorf("the session has expired: %d logins", logins-before)
		}
	})
}

// TestOwnAnswersAreBounded: at the bound, and one past it.
func TestOwnAnswersAreBounded(t *testing.T) {
	t.Parallel()
	s := &login{times: 1, good: 1}
	request := func(i int) *Request { return &Request{URL: fmt.Sprintf("https://films.example/%d", i)} }
	for i := range maxOwnAnswers {
		s.doubt(request(i), 1)
	}
	if !s.answersSo(request(0)) || len(s.own) != maxOwnAnswers {
		t.Errorf("%d are known", len(s.own))
	}
	s.doubt(request(maxOwnAnswers), 1)
	if s.answersSo(request(0)) || len(s.own) != 1 {
		t.Errorf("%d are known", len(s.own))
	}
}

// TestLoginErrorTellsWhenToComeAgain has the login fail: the error says how long none is tried.
func TestLoginErrorTellsWhenToComeAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := Login(LoginPolicy{Tries: 3, Login: func(context.Context, Fetcher, string) error {
			return &StatusError{Status: 503}
		}})(&club{})
		for i, want := range []time.Duration{time.Second, time.Second / 2, 2 * time.Second, time.Second, 0, 0} {
			_, err := f.Fetch(t.Context(), &Request{URL: "https://films.example/", Route: Route{Session: "s"}})
			var login *LoginError
			var status *StatusError
			if !errors.As(err, &login) || login.RetryIn != want || login.Fails != i/2+1 || login.Session != "s" || !errors.As(err, &status) {
				t.Errorf("request %d: %v, %+v", i, err, login)
			}
			time.Sleep(time.Second << (i / 2) / 2)
		}
	})
}
