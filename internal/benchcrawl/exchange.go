package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seine-go/seine/fetch"
)

// exchange fetches one URL again and again on kept connections. Each worker takes the bodies into one buffer, as the
// clients do that it is compared with.
func exchange(o options) error {
	t := &fetch.Transport{AllowPrivate: true, MaxIdlePerHost: max(o.c, 1)}
	defer t.Close()
	var next, done atomic.Int64
	var once sync.Once
	var failure error
	var group sync.WaitGroup
	start := time.Now()
	for range max(o.c, 1) {
		group.Go(func() {
			var body bytes.Buffer
			req := &fetch.Request{URL: o.url, Sink: func(*fetch.Response) (io.Writer, error) {
				body.Reset()
				return &body, nil
			}}
			for next.Add(1) <= int64(o.n) {
				if err := one(t, o, req, &body); err != nil {
					once.Do(func() { failure = err })
					return
				}
				done.Add(1)
			}
		})
	}
	group.Wait()
	if failure != nil {
		return failure
	}
	l := line{Pages: done.Load()}
	return l.print(start)
}

func one(t *fetch.Transport, o options, req *fetch.Request, body *bytes.Buffer) error {
	resp, err := t.Fetch(context.Background(), req)
	switch {
	case err != nil:
		return err
	case resp.Status != 200 || body.Len() != o.size || resp.Truncated:
		return fmt.Errorf("status %d with %d bytes, not 200 with %d", resp.Status, body.Len(), o.size)
	}
	return nil
}
