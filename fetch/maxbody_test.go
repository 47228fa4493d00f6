package fetch

import (
	"context"
	"errors"
	"strings"
	"testing"
)

func TestMaxBody(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ bytes, own, want int64 }{
		{0, 0, DefaultMaxBody},
		{100, 0, 100},
		{100, -1, 100},
		{100, 50, 50},
		{100, 200, 100},
		{-1, 0, 0},
		{-1, 50, 50},
	} {
		if got := through(t, MaxBody(c.bytes), &Request{URL: "https://films.example/", MaxBody: c.own}); got.MaxBody != c.want {
			t.Errorf("MaxBody(%d) of %d: %d, want %d", c.bytes, c.own, got.MaxBody, c.want)
		}
	}
	for n, cut := range map[int]bool{10: false, 11: true} {
		whole := &Response{Body: []byte(strings.Repeat("x", n))}
		f := MaxBody(10)(FetcherFunc(func(context.Context, *Request) (*Response, error) { return whole, nil }))
		resp, err := f.Fetch(t.Context(), &Request{URL: "https://films.example/"})
		if err != nil || len(resp.Body) != 10 || resp.Truncated != cut || errors.Is(resp.BodyErr(), ErrBodyLimit) != cut || len(whole.Body) != n {
			t.Errorf("%d bytes: %d, %v, %v", n, len(resp.Body), resp.Truncated, err)
		}
	}
}
