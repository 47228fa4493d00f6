package crawler

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seine-go/seine/fetch"
)

// Hooks are called as the crawl goes on, from many goroutines; they should return soon. A nil hook costs nothing. A panic
// in a hook that belongs to the work on a page costs the page, in any other it ends the run; so does the end of its
// goroutine.
type Hooks struct {
	// Visit stands round all work on a request, from when it was leased to when it was settled. Its context is that of the
	// fetchers, of the handler and of the hooks below.
	Visit StageHook
	// Fetch stands round the fetch of the page: the request is about to be sent, and has been answered. robots.txt has
	// been asked before; a Middleware sees its fetches too.
	Fetch StageHook
	// Handle stands round the handler, while it has a place among those that use the CPU.
	Handle StageHook
	// Settle stands round the moment at which the request ends: items are stored, and links and the outcome go to the
	// frontier.
	Settle StageHook

	// Retry is told of each try that failed and is repeated in a while.
	Retry func(ctx context.Context, err *PageError, in time.Duration)
	// Failed is told of each request that has ended without its page being done, refused ones included.
	Failed func(ctx context.Context, err *PageError)
	// Changed is told of each pace, and of each scope, that is changed while the crawl runs.
	Changed func(ctx context.Context, c Change)
}

// StageHook is called when a stage begins, and what it returns when the stage ends: on the same goroutine, unless its
// handler was left behind. The context
// that it returns, which has to come from the one that it got, is that of the stage, so that a span reaches whatever the
// stage does. Either may be nil.
type StageHook func(ctx context.Context, s Stage) (context.Context, func(StageEnd))

// Stage is what a stage is about. What it points to belongs to the crawl, and must not be changed.
type Stage struct {
	Request  *Request
	Attempt  int             // counted from 1
	Response *fetch.Response // for Handle; for Settle if there was one
}

// StageEnd is how a stage ended.
type StageEnd struct {
	Err      error           // nil if all went well
	Response *fetch.Response // if there was one

	// Of Settle and Visit; zero if the lease was lost before.
	Outcome      Outcome
	Delay        time.Duration // until the request is due again
	Links, Items int           // that the page leaves, if it is done
}

var (
	errHookContext = Permanent(errors.New("seine: a hook returned a context that does not come from the one that it got"))
	errUnwound     = errors.New("seine: a panic, or the end of the goroutine")
)

// enter calls the hook of a stage.
func (v *visit) enter(h StageHook, s Stage) (context.Context, func(StageEnd), error) {
	if h == nil {
		return v.ctx, endNothing, nil
	}
	s.Request, s.Attempt = v.req, v.lease.Attempt
	ctx, end := h(v.ctx, s)
	if ctx == nil {
		ctx = v.ctx
	}
	if end == nil {
		end = endNothing
	}
	if visitOf(ctx) != v {
		return v.ctx, end, errHookContext
	}
	return ctx, end, nil
}

func endNothing(StageEnd) {}

// fetch sends the request through the chain.
func (v *visit) fetch() (*fetch.Response, error) {
	ctx, end, err := v.enter(v.e.cfg.Hooks.Fetch, Stage{})
	result := StageEnd{Err: first(err, errUnwound)}
	defer func() { end(result) }()
	if err != nil {
		return nil, err
	}
	v.at = "the Fetcher or a middleware"
	if len(v.e.cfg.Middleware) == 0 {
		v.at = "the Fetcher"
	}
	result.Response, result.Err = v.e.fetcher.Fetch(ctx, v.req.fetchRequest(v.e.cfg.MaxHops, v.e.refers))
	if result.Response == nil && result.Err == nil {
		result.Err = &fetch.Error{Op: "fetch", URL: v.req.URL, Kind: fetch.ErrInvalid, Err: fmt.Errorf("%s %w", v.at, errNothing)}
	}
	v.at = ""
	return result.Response, result.Err
}

var errNothing = errors.New("returned neither a response nor an error")

// handle calls the handler, with a place among those that may use the CPU.
func (v *visit) handle(p *Page) error {
	if err := v.enterCPU(); err != nil {
		return err
	}
	defer v.leaveCPU()
	ctx, end, err := v.enter(v.e.cfg.Hooks.Handle, Stage{Response: p.Response})
	result := StageEnd{Err: errUnwound}
	defer func() { end(result) }()
	if err == nil {
		err = v.call(ctx, p)
	}
	result = StageEnd{Err: err, Response: p.Response}
	return err
}

// call calls the handler, and notes for how long.
func (v *visit) call(ctx context.Context, p *Page) error {
	v.handles(time.Now())
	defer v.handles(time.Time{})
	err := v.r.handler.HandlePage(ctx, p)
	v.over.Store(true)
	switch {
	case err == nil:
		if fault := v.fault.Load(); fault != nil {
			return *fault
		}
		return nil
	case errors.Is(context.Cause(v.ctx), ErrHandlerTimeout) && !errors.Is(err, ErrHandlerTimeout):
		err = fmt.Errorf("%w: %w", ErrHandlerTimeout, err)
	}
	return handled(err)
}

func (v *visit) handles(since time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.handling = since
}
