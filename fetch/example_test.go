package fetch_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/seine-go/seine/fetch"
	"github.com/seine-go/seine/fetch/cookie"
)

// site is a host for the examples.
func site() *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/old":
			http.Redirect(w, r, "/films", http.StatusMovedPermanently)
		case "/long":
			io.WriteString(w, strings.Repeat("film ", 1000))
		default:
			fmt.Fprintf(w, "You asked for %s", r.URL.Path)
		}
	}))
}

func ExampleTransport() {
	srv := site()
	defer srv.Close()
	tr := &fetch.Transport{AllowPrivate: true} // the example's host is on loopback
	defer tr.Close()
	resp, err := tr.Fetch(context.Background(), &fetch.Request{URL: srv.URL + "/old"})
	if err != nil {
		panic(err)
	}
	fmt.Println(resp.Status, string(resp.Body), len(resp.Redirects))
	// Output: 200 You asked for /films 1
}

// Each session has a jar of its own; what redirects and errors set is kept too.
func ExampleTransport_cookies() {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/login" {
			w.Header().Set("Set-Cookie", "user=眉; Path=/")
			http.Redirect(w, r, "/home", http.StatusSeeOther)
			return
		}
		fmt.Fprintf(w, "%q", r.Header.Get("Cookie"))
	}))
	defer srv.Close()
	jars := &cookie.Jars{} // with a Store, Save keeps them beyond the process
	tr := &fetch.Transport{Cookies: jars.Open, AllowPrivate: true}
	defer tr.Close()
	for _, step := range []struct{ session, path string }{{"one", "/login"}, {"one", "/home"}, {"two", "/home"}} {
		req := &fetch.Request{URL: srv.URL + step.path, Route: fetch.Route{Session: step.session}}
		resp, err := tr.Fetch(context.Background(), req)
		if err != nil {
			panic(err)
		}
		fmt.Println(step.session, step.path, string(resp.Body))
	}
	// Output:
	// one /login "user=眉"
	// one /home "user=眉"
	// two /home ""
}

func ExampleTransport_guard() {
	tr := &fetch.Transport{}
	defer tr.Close()
	_, err := tr.Fetch(context.Background(), &fetch.Request{URL: "http://169.254.169.254/latest/meta-data/"})
	fmt.Println(errors.Is(err, fetch.ErrRefused))
	fmt.Println(err)
	// Output:
	// true
	// seine: fetch guard http://169.254.169.254/latest/meta-data/: refused address: 169.254.169.254 is not a public address
}

func ExampleResponse_BodyErr() {
	srv := site()
	defer srv.Close()
	tr := &fetch.Transport{AllowPrivate: true, MaxBody: 1000}
	defer tr.Close()
	resp, err := tr.Fetch(context.Background(), &fetch.Request{URL: srv.URL + "/long"})
	if err != nil {
		panic(err)
	}
	fmt.Println(len(resp.Body), resp.Truncated, errors.Is(resp.BodyErr(), fetch.ErrBodyLimit))
	// Output: 1000 true true
}

func ExampleSink() {
	srv := site()
	defer srv.Close()
	tr := &fetch.Transport{AllowPrivate: true}
	defer tr.Close()
	var file strings.Builder
	resp, err := tr.Fetch(context.Background(), &fetch.Request{
		URL: srv.URL + "/long",
		Sink: func(head *fetch.Response) (io.Writer, error) {
			if head.Status != http.StatusOK {
				return nil, nil // error pages stay in memory
			}
			file.Reset() // for the case that a middleware tries again
			return &file, nil
		},
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(resp.Status, resp.Size(), file.Len(), resp.Body == nil)
	// Output: 200 5000 5000 true
}

func ExampleNewRequest() {
	req, err := fetch.NewRequest("GET", "HTTP://Films.Example:80/a b", nil)
	fmt.Println(req.URL, err)
	_, err = fetch.NewRequest("GET", "films.example", nil)
	fmt.Println(errors.Is(err, fetch.ErrInvalid))
	// Output:
	// http://films.example/a%20b <nil>
	// true
}

func ExampleChain() {
	stub := fetch.FetcherFunc(func(_ context.Context, req *fetch.Request) (*fetch.Response, error) {
		return &fetch.Response{Request: req, URL: req.URL, Status: 200}, nil
	})
	named := func(name string) fetch.Middleware {
		return func(next fetch.Fetcher) fetch.Fetcher {
			return fetch.FetcherFunc(func(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
				fmt.Println(name)
				return next.Fetch(ctx, req)
			})
		}
	}
	resp, err := fetch.Chain(stub, named("outer"), nil, named("inner")).Fetch(context.Background(), &fetch.Request{URL: "https://films.example/"})
	fmt.Println(resp.Status, err)
	// Output:
	// outer
	// inner
	// 200 <nil>
}

func ExampleRoundTripper() {
	srv := site()
	defer srv.Close()
	tr := &fetch.Transport{AllowPrivate: true}
	defer tr.Close()
	client := &http.Client{Transport: fetch.RoundTripper(tr)}
	resp, err := client.Get(srv.URL + "/old")
	if err != nil {
		panic(err)
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	fmt.Println(resp.StatusCode, string(body))
	// Output: 200 You asked for /films
}

func ExampleFromRoundTripper() {
	srv := site()
	defer srv.Close()
	f := fetch.FromRoundTripper(srv.Client().Transport)
	resp, err := f.Fetch(context.Background(), &fetch.Request{URL: srv.URL + "/old"})
	if err != nil {
		panic(err)
	}
	fmt.Println(resp.Status, resp.Header.Get("Location"))
	// Output: 301 /films
}

func ExampleRetryAfter() {
	now := time.Date(2027, 12, 31, 23, 58, 0, 0, time.UTC)
	wait, ok := fetch.RetryAfter(http.Header{"Retry-After": {"Fri, 31 Dec 2027 23:59:59 GMT"}}, 503, now, time.Minute)
	fmt.Println(wait, ok)
	// Output: 1m0s true
}
