package ratelimit

import (
	"context"
	"io"
)

// Traffic is a Limiter of requests that keeps a limit of bytes beside it: a request waits until the bytes of those
// before it are paid for. Either member may be nil.
type Traffic struct {
	Requests Limiter
	Bytes    Booker
}

// ByteBooker is a Limiter of requests that wants to be told how many bytes each brought.
type ByteBooker interface {
	Limiter
	BookBytes(ctx context.Context, key string, n int) error
}

var _ ByteBooker = Traffic{}

// Wait waits until the bytes are paid for, and then for n requests.
func (t Traffic) Wait(ctx context.Context, key string, n int) error {
	if t.Bytes != nil {
		if err := t.Bytes.Wait(ctx, key, 0); err != nil {
			return err
		}
	}
	if t.Requests == nil {
		return nil
	}
	return t.Requests.Wait(ctx, key, n)
}

// Reserve books n requests. They are due when the bytes booked before are paid for too.
func (t Traffic) Reserve(ctx context.Context, key string, n int) (Reservation, error) {
	var booked reservations
	if t.Bytes != nil {
		r, err := t.Bytes.Reserve(ctx, key, 0)
		if err != nil {
			return nil, err
		}
		booked = append(booked, r)
	}
	if t.Requests != nil {
		r, err := t.Requests.Reserve(ctx, key, n)
		if err != nil {
			return nil, err
		}
		booked = append(booked, r)
	}
	return booked, nil
}

// BookBytes books what a request has brought.
func (t Traffic) BookBytes(ctx context.Context, key string, n int) error {
	if t.Bytes == nil {
		return nil
	}
	return t.Bytes.Book(ctx, key, n)
}

// ReadBuffer is how many bytes a limited reader reads at once, and so how far it can be ahead of its limit.
const ReadBuffer = 32 << 10

// NewReader returns a Reader that reads from r no faster than l allows: each time at most ReadBuffer bytes, which are
// booked, and returned when they are due. When the wait fails, the bytes are returned with its error.
func NewReader(ctx context.Context, r io.Reader, l Booker, key string) io.Reader {
	return &limitedReader{ctx, r, l, key}
}

type limitedReader struct {
	ctx context.Context
	r   io.Reader
	l   Booker
	key string
}

// Read implements io.Reader.
func (r *limitedReader) Read(p []byte) (int, error) {
	if len(p) > ReadBuffer {
		p = p[:ReadBuffer]
	}
	n, err := r.r.Read(p)
	if n <= 0 {
		return n, err
	}
	wait := r.l.Book(r.ctx, r.key, n)
	if wait == nil {
		wait = r.l.Wait(r.ctx, r.key, 0)
	}
	if wait != nil && err == nil {
		err = wait
	}
	return n, err
}
