package fetch

import (
	"context"
	"net/http"
	"testing"
)

// TestHeadOverTheBridge has the lengths that net/http tells of answers to HEAD.
func TestHeadOverTheBridge(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		header http.Header
		want   int64
	}{
		{http.Header{}, -1},
		{http.Header{"Transfer-Encoding": {"chunked"}}, -1},
		{http.Header{"Content-Length": {"1234"}}, 1234},
		{http.Header{"Content-Length": {"0"}}, 0},
		{http.Header{"Content-Length": {"-1"}}, -1},
		{http.Header{"Content-Length": {"many"}}, -1},
	} {
		client := &http.Client{Transport: RoundTripper(FetcherFunc(func(_ context.Context, req *Request) (*Response, error) {
			return &Response{Request: req, URL: req.URL, Status: 200, Proto: "HTTP/1.1", Header: c.header}, nil
		}))}
		resp, err := client.Head("http://films.example/")
		if err != nil || resp.ContentLength != c.want {
			t.Errorf("%v: %+v, %v", c.header, resp, err)
		}
	}
}
