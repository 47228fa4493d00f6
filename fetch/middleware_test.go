package fetch

import (
	"context"
	"errors"
	"reflect"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// through returns the request that comes out of a middleware.
func through(t *testing.T, m Middleware, req *Request) *Request {
	t.Helper()
	before := *req
	before.Header = req.Header.Clone()
	var got *Request
	_, err := m(FetcherFunc(func(_ context.Context, req *Request) (*Response, error) {
		got = req
		return &Response{Request: req}, nil
	})).Fetch(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(&before, req) {
		t.Errorf("the request has changed: %+v was %+v", req, before)
	}
	return got
}

func TestMiddlewaresTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tr, h := cookieSite(t, &Transport{})
		f := Chain(tr, MaxBody(1000), Hedge(HedgePolicy{After: time.Second}), Timeout(TimeoutPolicy{Factor: 5}), Referer(RefererOptions{}),
			Auth(map[string]Credential{"http://films.example": {Token: "t"}}), UserAgent(func(*Request) string { return "mine/1" }))
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				resp := wantAnswer(t, f, &Request{URL: "http://films.example/a?to=//other.example/b&status=302"})
				for _, field := range resp.Trace.Sent {
					if field.Name == "Authorization" {
						t.Error("a credential for another origin")
					}
				}
			})
		}
		wg.Wait()
		if n := len(h.take()); n != 100 {
			t.Errorf("asked %d times", n)
		}
	})
}

func TestMiddlewaresRefuseNil(t *testing.T) {
	t.Parallel()
	host := FetcherFunc(func(_ context.Context, req *Request) (*Response, error) { return &Response{Request: req}, nil })
	for name, m := range map[string]Middleware{
		"Auth": Auth(nil), "Hedge": Hedge(HedgePolicy{}), "Limit": Limit(newBuckets(t)), "Limit of nil": Limit(nil), "Login": Login(LoginPolicy{}),
		"MaxBody": MaxBody(0), "MaxBody without": MaxBody(-1), "Referer": Referer(RefererOptions{}), "Timeout": Timeout(TimeoutPolicy{Factor: 1}),
		"UserAgent": UserAgent(nil), "UserAgent of some": UserAgent(func(r *Request) string { return r.URL }),
	} {
		for what, f := range map[string]Fetcher{"nil request": m(host), "nil request for nobody": m(nil)} {
			resp, err := f.Fetch(t.Context(), nil)
			if resp != nil || !errors.Is(err, ErrInvalid) || !errors.Is(err, errNilRequest) {
				t.Errorf("%s, %s: %v, %v", name, what, resp, err)
			}
		}
		if _, err := m(nil).Fetch(t.Context(), &Request{URL: "https://films.example/"}); !errors.Is(err, ErrInvalid) || !errors.Is(err, errNilFetcher) {
			t.Errorf("%s, nil Fetcher: %v", name, err)
		}
		if resp, err := MaxBody(1)(FetcherFunc(func(context.Context, *Request) (*Response, error) { return nil, nil })).Fetch(t.Context(), &Request{}); resp != nil || err != nil {
			t.Errorf("neither response nor error: %v, %v", resp, err)
		}
	}
}
