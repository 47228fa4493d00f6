package robots

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/seine-go/seine/fetch"
)

// op is the Op of this package's errors.
const op = "robots"

type contextKey struct{}

// IsRobots reports whether ctx is that of a request for robots.txt which a Cache makes. Such requests, redirect hops
// included, are not to be checked against robots.txt themselves (RFC 9309 2.3.1.2): two hosts that redirect to each other
// would wait for each other.
func IsRobots(ctx context.Context) bool {
	marked, _ := ctx.Value(contextKey{}).(bool)
	return marked
}

// PanicError is what a panic of a Fetcher becomes for all who wait for it.
type PanicError struct {
	Value any
	Stack []byte
}

// Error returns the panic's value.
func (e *PanicError) Error() string { return fmt.Sprintf("fetcher panicked: %v", e.Value) }

// Unwrap returns the value where it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

var errGoexit = errors.New("fetcher ended its goroutine")

// flight is one fetch of a robots.txt, for all who wait for it.
type flight struct {
	waiters int // guarded by the cache's mu
	cancel  context.CancelFunc
	done    chan struct{} // closed when state or err is set
	state   *state
	err     error
}

// state returns what holds of an origin now, and has it fetched when nothing does.
func (c *Cache) state(ctx context.Context, origin string) (*state, error) {
	c.mu.Lock()
	e := c.origins[origin]
	if e != nil && e.state != nil && time.Now().Before(e.state.due) {
		if e.place != nil {
			c.idle.MoveToFront(e.place)
		}
		s := e.state
		c.mu.Unlock()
		return s, nil
	}
	if ctx.Err() != nil {
		c.mu.Unlock()
		return nil, ended(ctx, origin)
	}
	if e == nil {
		e = &entry{origin: origin}
		c.origins[origin] = e
	}
	f := e.flight
	if f == nil {
		f = c.start(ctx, e)
	}
	f.waiters++
	c.mu.Unlock()

	select {
	case <-f.done:
		return f.state, f.err
	case <-ctx.Done():
		c.leave(e, f)
		return nil, ended(ctx, origin)
	}
}

// start begins a flight. The caller holds mu.
func (c *Cache) start(ctx context.Context, e *entry) *flight {
	ctx = context.WithValue(context.WithoutCancel(ctx), contextKey{}, true)
	f := &flight{done: make(chan struct{})}
	if c.set.timeout > 0 {
		ctx, f.cancel = context.WithTimeout(ctx, c.set.timeout)
	} else {
		ctx, f.cancel = context.WithCancel(ctx)
	}
	c.takeOut(e)
	e.flight = f
	go c.fly(ctx, e, f, e.state)
	return f
}

// fly is the goroutine of a flight. It ends soon after nobody waits any more, as a Fetcher does when its context ends.
func (c *Cache) fly(ctx context.Context, e *entry, f *flight, before *state) {
	var s *state
	err := errGoexit
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{Value: v, Stack: debug.Stack()}
		}
		c.land(e, f, s, err)
	}()
	s = c.refresh(ctx, e.origin, before)
	err = nil
}

// land ends a flight. What nobody waited for is dropped, since it may be no more than the end of the flight itself.
func (c *Cache) land(e *entry, f *flight, s *state, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f.cancel()
	if err != nil {
		f.err = &fetch.Error{Op: op, URL: e.origin + Path, Kind: fetch.ErrUnknown, Err: err}
	}
	f.state = s
	if e.flight == f {
		e.flight = nil
		if err == nil {
			e.state = s
		}
		c.keep(e)
	}
	close(f.done)
}

// leave takes a waiter from a flight, and ends the flight with the last one.
func (c *Cache) leave(e *entry, f *flight) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f.waiters--
	if f.waiters > 0 || e.flight != f {
		return
	}
	f.cancel()
	e.flight = nil
	c.keep(e)
}

func ended(ctx context.Context, origin string) error {
	return &fetch.Error{Op: op, URL: origin + Path, Kind: fetch.KindOf(ctx.Err()), Err: context.Cause(ctx)}
}
