// Package ratelimit paces requests: limiters that the caller sets, and a controller that finds the pace of a host from
// what its answers tell.
//
//	limits, err := ratelimit.NewTokenBucket(ratelimit.BucketConfig{Rules: []ratelimit.Rule{
//		{Match: "*", Rate: ratelimit.Every(time.Second)},
//		{Match: "api.films.example", Rate: ratelimit.PerSecond(20), Burst: 40},
//	}})
//	err = limits.Wait(ctx, "films.example:8080", 1)
//
//	state = policy.Step(state, report, now) // after each exchange with a host
//	places, pause := policy.Places(&state), policy.Pause(&state)
//
// It measures nothing and sends nothing, keeps no clock of its own but that of Go, and starts no goroutine.
package ratelimit

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Limiter lets so many requests or bytes pass in a time, for each key by itself. The key is a host as "host" or
// "host:port", or any other name of what is limited.
//
// An implementation obeys these rules:
//
//  1. Permits are given in the order in which they were asked for.
//  2. Wait returns soon after ctx ends, with an error that wraps its cause; what it had booked goes back if nothing was
//     booked after it.
//  3. A wait that the limiter or the deadline of ctx does not allow fails at once with a *WaitError and books nothing.
//  4. Zero permits wait until all that is booked already is due; fewer are an error.
//  5. It is safe for concurrent use.
type Limiter interface {
	// Wait books n permits and returns when they are due.
	Wait(ctx context.Context, key string, n int) error
	// Reserve books n permits and returns at once.
	Reserve(ctx context.Context, key string, n int) (Reservation, error)
}

// Reservation is n permits that are booked. It is safe for concurrent use.
type Reservation interface {
	// Delay is how long it is until they are due, by the rules of now.
	Delay() time.Duration
	// Cancel gives them back if nothing was booked after them. It is for permits that were not used; a second call has no
	// effect.
	Cancel(ctx context.Context)
}

// Booker is a Limiter that can be told of permits that were used without asking, such as bytes that have come. What is
// booked is never refused for its size: who waits next waits for it too.
type Booker interface {
	Limiter
	Book(ctx context.Context, key string, n int) error
}

// ErrTooManyKeys says that a limiter cannot take another key.
var ErrTooManyKeys = errors.New("seine: the limiter has as many keys in use as it may")

// WaitError says that permits would be due too late. It is context.DeadlineExceeded where the deadline of the context is
// what does not allow the wait.
type WaitError struct {
	Key       string
	Wait, Max time.Duration
	Err       error // context.DeadlineExceeded or nil
}

// Error names the key, the wait and its bound.
func (e *WaitError) Error() string {
	bound := "bound"
	if e.Err != nil {
		bound = "deadline"
	}
	return fmt.Sprintf("seine: %q may be asked in %v, beyond the %s of %v", e.Key, e.Wait, bound, e.Max)
}

// Unwrap returns context.DeadlineExceeded or nil.
func (e *WaitError) Unwrap() error { return e.Err }

// late returns a *WaitError unless the deadline of ctx comes after a wait is over.
func late(ctx context.Context, key string, wait time.Duration) error {
	if deadline, ok := ctx.Deadline(); ok && wait > 0 {
		if left := time.Until(deadline); left <= wait {
			return &WaitError{Key: key, Wait: wait, Max: max(left, 0), Err: context.DeadlineExceeded}
		}
	}
	return nil
}

// ended is the error of a context that has.
func ended(ctx context.Context, key string) error {
	return fmt.Errorf("seine: waiting for %q: %w", key, context.Cause(ctx))
}

// All is a Limiter that keeps several at once, such as one for each host and one for all together: permits are booked
// with each, and due when they are with the last. Nil members are left out.
type All []Limiter

// Wait implements Limiter.
func (a All) Wait(ctx context.Context, key string, n int) error {
	r, err := a.Reserve(ctx, key, n)
	if err != nil {
		return err
	}
	for d := r.Delay(); d > 0; d = r.Delay() {
		if err := late(ctx, key, d); err != nil {
			r.Cancel(context.WithoutCancel(ctx))
			return err
		}
		if err := sleep(ctx, d); err != nil {
			r.Cancel(context.WithoutCancel(ctx))
			return ended(ctx, key)
		}
	}
	return nil
}

// Reserve implements Limiter.
func (a All) Reserve(ctx context.Context, key string, n int) (Reservation, error) {
	var booked reservations
	for _, l := range a {
		if l == nil {
			continue
		}
		r, err := l.Reserve(ctx, key, n)
		if err != nil {
			booked.Cancel(context.WithoutCancel(ctx))
			return nil, err
		}
		booked = append(booked, r)
	}
	return booked, nil
}

// Book implements Booker: it tells the members that are Bookers.
func (a All) Book(ctx context.Context, key string, n int) error {
	var err error
	for _, l := range a {
		if b, ok := l.(Booker); ok {
			err = errors.Join(err, b.Book(ctx, key, n))
		}
	}
	return err
}

var _ Booker = All(nil)

// reservations are due when the last is.
type reservations []Reservation

// Delay implements Reservation.
func (r reservations) Delay() (d time.Duration) {
	for _, one := range r {
		d = max(d, one.Delay())
	}
	return d
}

// Cancel implements Reservation.
func (r reservations) Cancel(ctx context.Context) {
	for _, one := range r {
		one.Cancel(ctx)
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
