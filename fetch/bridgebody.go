package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
)

var errBodyReader = errors.New("the reader of the body ended its goroutine")

// bodyRead is what came of reading a body.
type bodyRead struct {
	data   []byte
	err    error
	panics any // what the reader panicked with
}

// requestBody reads the body of hr to its end, or to that of its context, and closes it. A Read that goes on in spite of that is
// left behind, and nothing is read after it.
func requestBody(hr *http.Request) ([]byte, error) {
	if hr.Body == nil || hr.Body == http.NoBody {
		return nil, nil
	}
	defer hr.Body.Close()
	ctx, url := hr.Context(), hr.URL.String()
	ended := make(chan bodyRead, 1)
	go func() {
		r := bodyRead{err: errBodyReader}
		defer func() {
			r.panics = recover()
			ended <- r
		}()
		r.data, r.err = io.ReadAll(io.LimitReader(whileReader{ctx, hr.Body}, MaxBridgeBody+1))
	}()
	var r bodyRead
	select {
	case r = <-ended:
	case <-ctx.Done():
	}
	fail := func(err error) error {
		return &Error{Op: "read request", URL: url, Kind: ErrInvalid, Err: err}
	}
	switch {
	case r.panics != nil:
		panic(r.panics)
	case ctx.Err() != nil:
		err := contextError(ctx, "read request")
		err.URL = url
		return nil, err
	case r.err != nil:
		return nil, fail(r.err)
	case len(r.data) > MaxBridgeBody:
		return nil, fail(errBridgeBody)
	case hr.ContentLength > 0 && hr.ContentLength != int64(len(r.data)):
		return nil, fail(fmt.Errorf("ContentLength is %d, but the body has %d bytes", hr.ContentLength, len(r.data)))
	}
	return r.data, nil
}

// whileReader reads while a context has not ended.
type whileReader struct {
	ctx context.Context
	r   io.Reader
}

// Read reads from below.
func (w whileReader) Read(p []byte) (int, error) {
	if w.ctx.Err() != nil {
		return 0, context.Cause(w.ctx)
	}
	return w.r.Read(p)
}
