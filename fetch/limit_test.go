package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seine-go/seine/internal/memhttp"
	"github.com/seine-go/seine/ratelimit"
)

func newBuckets(t testing.TB, rules ...ratelimit.Rule) *ratelimit.TokenBucket {
	t.Helper()
	l, err := ratelimit.NewTokenBucket(ratelimit.BucketConfig{Rules: rules})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// limited runs test in a bubble with a fetcher under a limit of a server that answers /N with N bytes, and the times at
// which it was asked by host.
func limited(t *testing.T, l ratelimit.Limiter, test func(f Fetcher, asked map[string][]time.Duration)) {
	var network memhttp.Network
	start, asked := time.Now(), map[string][]time.Duration{}
	for _, addr := range []string{"a.example:80", "a.example:8080", "b.example:80"} {
		network.Serve(t, addr, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked[r.Host] = append(asked[r.Host], time.Since(start))
			var n int
			fmt.Sscanf(r.URL.Path, "/%d", &n)
			io.WriteString(w, strings.Repeat("x", n))
		}))
	}
	tr := memTransport(&network, &Transport{})
	defer tr.Close()
	test(Chain(tr, Limit(l)), asked)
}

func TestLimitWaitsPerHost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newBuckets(t, ratelimit.Rule{Match: "*", Rate: ratelimit.Every(100 * time.Millisecond)})
		limited(t, l, func(f Fetcher, asked map[string][]time.Duration) {
			start := time.Now()
			for range 3 {
				for _, url := range []string{"http://a.example/", "http://A.example:80/x", "http://a.example:8080/", "http://b.example/"} {
					if _, err := f.Fetch(t.Context(), &Request{URL: url}); err != nil {
						t.Fatal(err)
					}
				}
			}
			if d := time.Since(start); d != 500*time.Millisecond {
				t.Errorf("all took %v, want 500 ms: hosts do not wait for each other", d)
			}
			for host, n := range map[string]int{"a.example": 6, "a.example:8080": 3, "b.example": 3} {
				at := asked[host]
				if len(at) != n {
					t.Errorf("%s was asked %d times, want %d", host, len(at), n)
				}
				for i := 1; i < len(at); i++ {
					if at[i]-at[i-1] < 100*time.Millisecond {
						t.Errorf("%s was asked at %v", host, at)
					}
				}
			}
		})
	})
}

func TestLimitBooksBytes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := ratelimit.Traffic{Bytes: newBuckets(t, ratelimit.Rule{Match: "*", Rate: ratelimit.PerSecond(1000), Burst: 1000})}
		limited(t, l, func(f Fetcher, asked map[string][]time.Duration) {
			for _, n := range []int{500, 3500, 0, 1} {
				resp, err := f.Fetch(t.Context(), &Request{URL: fmt.Sprintf("http://a.example/%d", n)})
				if err != nil || len(resp.Body) != n {
					t.Fatalf("%d: %v", n, err)
				}
			}
			if want := []time.Duration{0, 0, 3 * time.Second, 3 * time.Second}; !slices.Equal(asked["a.example"], want) {
				t.Errorf("asked at %v, want %v", asked["a.example"], want)
			}
		})
	})
}

func TestLimitErrors(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newBuckets(t, ratelimit.Rule{Match: "*", Rate: ratelimit.Every(10 * time.Second), MaxWait: 15 * time.Second})
		limited(t, l, func(f Fetcher, asked map[string][]time.Duration) {
			const url = "http://user:secret@a.example/"
			if _, err := f.Fetch(t.Context(), &Request{URL: url}); err != nil {
				t.Fatal(err)
			}
			reason := errors.New("enough")
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(time.Second, func() { cancel(reason) })
			if _, err := f.Fetch(ctx, &Request{URL: url}); KindOf(err) != ErrCanceled || !errors.Is(err, reason) {
				t.Errorf("cancelled: %v", err)
			}
			soon, stop := context.WithTimeout(t.Context(), time.Second)
			defer stop()
			if _, err := f.Fetch(soon, &Request{URL: url}); KindOf(err) != ErrTimeout || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("deadline: %v", err)
			}
			if _, err := l.Reserve(t.Context(), "a.example", 1); err != nil {
				t.Fatal(err)
			}
			_, err := f.Fetch(t.Context(), &Request{URL: url})
			var late *ratelimit.WaitError
			if KindOf(err) != ErrTimeout || !errors.As(err, &late) || strings.Contains(err.Error(), "secret") {
				t.Errorf("too long a wait: %v", err)
			}
			if _, err := f.Fetch(t.Context(), &Request{URL: "http://"}); KindOf(err) != ErrInvalid {
				t.Errorf("no host: %v", err)
			}
			if n := len(asked["a.example"]); n != 1 {
				t.Errorf("the host was asked %d times", n)
			}
		})
	})
}

// An answer is delivered, and an error too, whatever becomes of its bytes.
func TestLimitDeliversAsItIs(t *testing.T) {
	t.Parallel()
	full, err := ratelimit.NewTokenBucket(ratelimit.BucketConfig{MaxKeys: -1})
	if err != nil {
		t.Fatal(err)
	}
	want, broken := &Response{Status: 200, RawSize: 1 << 40}, errors.New("broken")
	f := Chain(FetcherFunc(func(_ context.Context, r *Request) (*Response, error) {
		if strings.HasSuffix(r.URL, "broken") {
			return nil, broken
		}
		return want, nil
	}), Limit(ratelimit.Traffic{Bytes: full}))
	if got, err := f.Fetch(t.Context(), &Request{URL: "http://a.example/"}); got != want || err != nil {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := f.Fetch(t.Context(), &Request{URL: "http://a.example/broken"}); got != nil || err != broken {
		t.Errorf("%v, %v", got, err)
	}
}

func ExampleLimit() {
	limits, err := ratelimit.NewTokenBucket(ratelimit.BucketConfig{Rules: []ratelimit.Rule{
		{Match: "*", Rate: ratelimit.PerSecond(2), MaxWait: 10 * time.Millisecond},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	answer := FetcherFunc(func(_ context.Context, r *Request) (*Response, error) {
		return &Response{Request: r, Status: 200}, nil
	})
	f := Chain(answer, Limit(limits)) // in an engine: Config.Middleware, the last of the list
	for _, url := range []string{"https://films.example/1", "https://films.example/2", "https://other.example/"} {
		resp, err := f.Fetch(context.Background(), &Request{URL: url})
		fmt.Println(url, resp != nil, errors.Is(err, ErrTimeout))
	}
	// Output:
	// https://films.example/1 true false
	// https://films.example/2 false true
	// https://other.example/ true false
}

// The largest MaxBody is a bound like any other.
func TestLargestMaxBody(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for range 10 {
			io.WriteString(w, strings.Repeat("x", 10_000))
			w.(http.Flusher).Flush()
		}
	}))
	defer srv.Close()
	tr := newTransport(t, &Transport{AllowPrivate: true})
	for _, most := range []int64{math.MaxInt64, math.MaxInt64 - 1, -1} {
		resp, err := tr.Fetch(t.Context(), &Request{URL: srv.URL, MaxBody: most})
		if err != nil || len(resp.Body) != 100_000 || resp.BodyErr() != nil {
			t.Errorf("%d: %v", most, err)
		}
	}
}
