package fetch_test

import (
	"context"
	"fmt"

	"github.com/seine-go/seine/fetch"
)

// echo answers with a header field of the request.
func echo(name string) fetch.Fetcher {
	return fetch.FetcherFunc(func(_ context.Context, req *fetch.Request) (*fetch.Response, error) {
		return &fetch.Response{Request: req, URL: req.URL, Status: 200, Body: []byte(req.Header.Get(name))}, nil
	})
}

func show(f fetch.Fetcher, req *fetch.Request) {
	resp, err := f.Fetch(context.Background(), req)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(resp.Body), resp.Truncated)
}
