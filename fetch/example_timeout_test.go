package fetch_test

import (
	"context"
	"time"

	"github.com/seine-go/seine/fetch"
)

func ExampleTimeout() {
	never := fetch.FetcherFunc(func(ctx context.Context, _ *fetch.Request) (*fetch.Response, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	f := fetch.Chain(never, fetch.Timeout(fetch.TimeoutPolicy{Limit: 10 * time.Millisecond, Factor: 4})) // or 4 times what its host takes
	show(f, &fetch.Request{URL: "https://films.example/"})
	// Output: seine: fetch fetch https://films.example/: timeout: no answer within 10ms
}
