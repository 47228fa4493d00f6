package fetch_test

import (
	"context"
	"fmt"
	"time"

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

func ExampleReferer() {
	from := func(*fetch.Request) string { return "https://films.example/list?page=2" }
	f := fetch.Chain(echo("Referer"), fetch.Referer(fetch.RefererOptions{From: from}))
	show(f, &fetch.Request{URL: "https://films.example/film/7"})
	show(f, &fetch.Request{URL: "https://posters.example/7.jpg"})
	// Output:
	// https://films.example/list?page=2 false
	// https://films.example/ false
}

func ExampleAuth() {
	f := fetch.Chain(echo("Authorization"), fetch.Auth(map[string]fetch.Credential{
		"https://films.example":     {User: "ann", Password: "secret"},
		"https://api.films.example": {Token: "abc"},
	}))
	show(f, &fetch.Request{URL: "https://api.films.example/v1"})
	show(f, &fetch.Request{URL: "https://other.example/"})
	// Output:
	// Bearer abc false
	//  false
}

func ExampleUserAgent() {
	f := fetch.Chain(echo("User-Agent"), fetch.UserAgent(func(*fetch.Request) string { return "mybot/1.2 (+https://films.example/bot)" }))
	show(f, &fetch.Request{URL: "https://films.example/"})
	// Output: mybot/1.2 (+https://films.example/bot) false
}

func ExampleMaxBody() {
	whole := fetch.FetcherFunc(func(_ context.Context, req *fetch.Request) (*fetch.Response, error) {
		return &fetch.Response{Body: []byte("twelve bytes")}, nil
	})
	show(fetch.Chain(whole, fetch.MaxBody(6)), &fetch.Request{URL: "https://films.example/"})
	// Output: twelve true
}

func ExampleTimeout() {
	never := fetch.FetcherFunc(func(ctx context.Context, _ *fetch.Request) (*fetch.Response, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	f := fetch.Chain(never, fetch.Timeout(fetch.TimeoutPolicy{Limit: 10 * time.Millisecond, Factor: 4})) // or 4 times what its host takes
	show(f, &fetch.Request{URL: "https://films.example/"})
	// Output: seine: fetch fetch https://films.example/: timeout: no answer within 10ms
}

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
