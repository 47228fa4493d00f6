package main

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seine-go/seine/fetch"
)

// exchange fetches one URL again and again on kept connections.
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
			for next.Add(1) <= int64(o.n) {
				if err := one(t, o); err != nil {
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

func one(t *fetch.Transport, o options) error {
	resp, err := t.Fetch(context.Background(), &fetch.Request{URL: o.url})
	switch {
	case err != nil:
		return err
	case resp.Status != 200 || len(resp.Body) != o.size || resp.Truncated:
		return fmt.Errorf("status %d with %d bytes, not 200 with %d", resp.Status, len(resp.Body), o.size)
	}
	return nil
}
