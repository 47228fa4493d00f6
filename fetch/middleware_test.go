package fetch

import (
	"context"
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
