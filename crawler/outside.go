package crawler

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seine-go/seine/internal/weburl"
)

// What a run calls belongs to others: Frontier, Store, Site, Hooks, Fetcher, Limiter. It is never called under a lock. A
// panic becomes an error, the end of the goroutine ends the run, and what does not return is left behind.

// errGoexit is what becomes of a call that ended its goroutine.
var errGoexit = errors.New("seine: it ended its goroutine")

// safely makes an error of a panic of the application's own code. If that ends the goroutine, nobody is left to be told:
// the run ends.
func (r *run) safely(what string, f func() error) (err error) {
	returned := false
	defer func() {
		if !returned {
			err = r.unwound(what, recover())
		}
	}()
	err = f()
	returned = true
	return err
}

// unwound is the error of a call that did not return. value is what it panicked with, nil if it ended its goroutine.
func (r *run) unwound(what string, value any) error {
	r.e.count.panics.Add(1)
	if value == nil {
		err := fmt.Errorf("seine: %s: %w", what, errGoexit)
		r.end(err, false)
		return err
	}
	return fmt.Errorf("seine: %s: %w", what, &PanicError{Value: value, Stack: debug.Stack()})
}

// foreign is safely for a call that is named if it is left behind.
func (r *run) foreign(what string, f func() error) error {
	r.calling(what, 1)
	defer r.calling(what, -1)
	return r.safely(what, f)
}

func (r *run) calling(what string, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls[what] += n
}

// bounded runs f on a goroutine of its own, and waits for it until a moment after late has ended.
func (r *run) bounded(late context.Context, f func() error) error {
	var group sync.WaitGroup
	var err error
	group.Go(func() { err = r.safely("start", f) })
	if !wait(&group, late) {
		return nil // leftBehind tells
	}
	return err
}

// moment is how long what obeys its context may take to return once that has ended, at the end of Grace.
const moment = 100 * time.Millisecond

// wait waits for a group until a moment after late has ended, and reports whether it is done.
func wait(group *sync.WaitGroup, late context.Context) bool {
	done := make(chan struct{})
	go func() {
		group.Wait()
		close(done)
	}()
	select {
	case <-done:
		return true
	case <-late.Done():
	}
	last := time.NewTimer(moment)
	defer last.Stop()
	select {
	case <-done:
		return true
	case <-last.C:
		return false
	}
}

// graceAfter returns a context with the values of ctx that ends Grace after it, or when it is stopped. before is called
// when ctx ends, and may wait.
func graceAfter(ctx context.Context, grace time.Duration, before func()) (late context.Context, stop func()) {
	late, end := context.WithCancel(context.WithoutCancel(ctx))
	unwatch := context.AfterFunc(ctx, func() {
		before()
		timer := time.NewTimer(grace)
		defer timer.Stop()
		select {
		case <-timer.C:
			end()
		case <-late.Done():
		}
	})
	return late, func() {
		unwatch()
		end()
	}
}

// lasting is a context with the values of one and the end of another.
type lasting struct {
	context.Context
	values context.Context
}

// Value implements context.Context.
func (l lasting) Value(key any) any { return l.values.Value(key) }

// lasting returns a context that goes on when the run is cancelled, until Grace is over: for what ends a page.
func (v *visit) lasting(ctx context.Context) context.Context {
	if ctx == v.base {
		return v.r.after
	}
	return lasting{v.r.after, context.WithoutCancel(ctx)}
}

// AbandonedError says what did not return within Config.Grace after it had to end, and was left behind: its goroutines
// go on.
type AbandonedError struct {
	Grace time.Duration
	Pages []string // URLs of pages that were being worked on
	Calls []string // what was being called beside them: "Frontier.Lease", "Site.Seeds" …
}

// Error names the first few.
func (e *AbandonedError) Error() string {
	var parts []string
	if n := len(e.Pages); n > 0 {
		const most = 3
		names := strings.Join(e.Pages[:min(n, most)], ", ")
		if n > most {
			names += ", …"
		}
		parts = append(parts, fmt.Sprintf("the work on %d pages (%s)", n, names))
	}
	parts = append(parts, e.Calls...)
	return fmt.Sprintf("seine: did not end within %v and was left behind: %s", e.Grace, strings.Join(parts, ", "))
}

// leftBehind names what goes on after the end of the run.
func (r *run) leftBehind() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := &AbandonedError{Grace: r.e.cfg.Grace}
	settling := false
	for v := range r.held {
		e.Pages = append(e.Pages, weburl.Redact(v.req.URL))
		settling = settling || v.settling
	}
	for what, n := range r.calls {
		if n > 0 {
			e.Calls = append(e.Calls, what)
		}
	}
	if r.leasing {
		e.Calls = append(e.Calls, "Frontier.Lease")
	}
	if settling {
		e.Calls = append(e.Calls, "the settlement of a page")
	}
	if len(e.Pages)+len(e.Calls) == 0 {
		return nil
	}
	slices.Sort(e.Pages)
	slices.Sort(e.Calls)
	r.e.count.abandoned.Add(int64(len(e.Pages)))
	return e
}
