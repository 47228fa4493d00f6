package fetch

import (
	"context"
	"errors"
	"fmt"
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
	if err != nil || resp.Status != 401 || asked.Load() != 2 || logins.Load() != 2 {
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
