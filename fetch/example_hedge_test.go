package fetch_test

import (
	"context"
	"time"

	"github.com/seine-go/seine/fetch"
)

func ExampleHedge() {
	tries := make(chan int, 2)
	tries <- 1
	tries <- 2
	f := fetch.Chain(fetch.FetcherFunc(func(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
		if <-tries == 1 {
			<-ctx.Done() // the first is stuck
			return nil, ctx.Err()
		}
		return &fetch.Response{Body: []byte("the second")}, nil
	}), fetch.Hedge(fetch.HedgePolicy{After: time.Millisecond}))
	show(f, &fetch.Request{URL: "https://films.example/"})
	// Output: the second false
}
