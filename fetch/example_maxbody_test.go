package fetch_test

import (
	"context"

	"github.com/seine-go/seine/fetch"
)

func ExampleMaxBody() {
	whole := fetch.FetcherFunc(func(_ context.Context, req *fetch.Request) (*fetch.Response, error) {
		return &fetch.Response{Body: []byte("twelve bytes")}, nil
	})
	show(fetch.Chain(whole, fetch.MaxBody(6)), &fetch.Request{URL: "https://films.example/"})
	// Output: twelve true
}
