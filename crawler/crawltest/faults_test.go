package crawltest_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seine-go/seine/crawler"
	"github.com/seine-go/seine/crawler/crawltest"
	"github.com/seine-go/seine/fetch"
	"github.com/seine-go/seine/internal/memhttp"
)

// answering is a Fetcher that counts.
type answering struct {
	mu sync.Mutex
	n  int
}

func (a *answering) Fetch(_ context.Context, req *fetch.Request) (*fetch.Response, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.n++
	if strings.HasSuffix(req.URL, "/down") {
		return nil, &fetch.Error{Kind: fetch.ErrConnect}
	}
	body := []byte("0123456789")
	if strings.HasSuffix(req.URL, "/empty") {
		body = nil
	}
	return &fetch.Response{Request: req, URL: req.URL, Status: 200, Body: body}, nil
}

func TestFaults(t *testing.T) {
	t.Parallel()
	isB := func(r *fetch.Request) bool { return strings.HasSuffix(r.URL, "/b") }
	for _, tt := range []struct {
		name string
		list []crawltest.Fault
		path string
		want []string // outcomes of exchange after exchange
		sent int      // to the host
	}{
		{"none", nil, "/a", []string{"200", "200"}, 2},
		{"an error", []crawltest.Fault{{Kind: fetch.ErrClosed}}, "/a", []string{"connection closed", "connection closed"}, 0},
		{"the first two", []crawltest.Fault{{First: 2, Kind: fetch.ErrTimeout}}, "/a", []string{"timeout", "timeout", "200"}, 1},
		{"one after the other", []crawltest.Fault{{First: 1, Status: 503}, {First: 2, Kind: fetch.ErrDNS}}, "/a", []string{"503", "dns", "200"}, 1},
		{"matched", []crawltest.Fault{{Match: isB, Status: 404}}, "/b", []string{"404"}, 0},
		{"not matched", []crawltest.Fault{{Match: isB, Status: 404}}, "/a", []string{"200"}, 1},
		{"after it was sent", []crawltest.Fault{{Sent: true, Kind: fetch.ErrTruncated}}, "/a", []string{"truncated body"}, 1},
		{"a body cut", []crawltest.Fault{{Cut: fetch.ErrTooSlow}}, "/a", []string{"200, too slow"}, 1},
		{"an empty body", []crawltest.Fault{{Cut: fetch.ErrTooSlow}}, "/empty", []string{"200"}, 1},
		{"never", []crawltest.Fault{{Chance: -1, Status: 500}}, "/a", []string{"200"}, 1},
		{"always", []crawltest.Fault{{Chance: 1, Status: 500}}, "/a", []string{"500", "500"}, 0},
		{"the host's own error", []crawltest.Fault{{Sent: true, Status: 500}}, "/down", []string{"connect"}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			host, faults := &answering{}, &crawltest.Faults{List: tt.list}
			f := fetch.Chain(host, faults.Middleware())
			for i, want := range tt.want {
				resp, err := f.Fetch(t.Context(), &fetch.Request{URL: films + tt.path})
				if got := outcome(resp, err); got != want {
					t.Errorf("%d: %s, want %s", i, got, want)
				}
				if resp != nil && resp.Truncated != (len(resp.Body) < 10 && tt.path == "/a" && resp.Status == 200) {
					t.Errorf("%+v", resp)
				}
			}
			if host.n != tt.sent {
				t.Errorf("%d exchanges with the host, want %d", host.n, tt.sent)
			}
		})
	}
}

// Every kind of error can be had, says what it is, and keeps its cause.
func TestFaultsOfEveryKind(t *testing.T) {
	t.Parallel()
	for kind := fetch.ErrInvalid; kind <= fetch.ErrRedirect; kind++ {
		faults := &crawltest.Faults{List: []crawltest.Fault{{Kind: kind, Err: syscall.ECONNRESET, Final: true}}}
		_, err := fetch.Chain(&answering{}, faults.Middleware()).Fetch(t.Context(), &fetch.Request{URL: "https://user:secret@films.example/"})
		var failure *fetch.Error
		if !errors.As(err, &failure) || failure.Kind != kind || failure.Temporary() || !errors.Is(err, crawltest.ErrInjected) || !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("%v: %v", kind, err)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Error(err)
		}
	}
}

// The same seed does the same, in whatever order URLs come; another seed something else; chances are kept.
func TestFaultsAreOfTheirSeed(t *testing.T) {
	t.Parallel()
	const n = 10_000
	try := func(seed uint64, order func(i int) int) (outcomes []string, counts []int64) {
		faults := &crawltest.Faults{Seed: seed, List: []crawltest.Fault{{Chance: 0.1, Kind: fetch.ErrClosed}, {Chance: 0.5, Status: 503}, {Chance: 0.2, Cut: fetch.ErrTruncated}}}
		f := fetch.Chain(&answering{}, faults.Middleware())
		outcomes = make([]string, n)
		for i := range n {
			i = order(i)
			resp, err := f.Fetch(t.Context(), &fetch.Request{URL: fmt.Sprint(films, "/", i)})
			outcomes[i] = outcome(resp, err)
			if resp != nil {
				outcomes[i] += fmt.Sprint(len(resp.Body))
			}
		}
		return outcomes, faults.Counts()
	}
	forward := func(i int) int { return i }
	first, counts := try(1, forward)
	if again, _ := try(1, func(i int) int { return n - 1 - i }); !slices.Equal(first, again) {
		t.Error("another order did something else")
	}
	if other, _ := try(2, forward); slices.Equal(first, other) {
		t.Error("another seed did the same")
	}
	for i, want := range []float64{0.1 * n, 0.9 * 0.5 * n, 0.9 * 0.5 * 0.2 * n} {
		if got := float64(counts[i]); got < want*0.9 || got > want*1.1 {
			t.Errorf("fault %d was done %v times, want about %v", i, got, want)
		}
	}
}

func TestFaultsLatency(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		faults := &crawltest.Faults{List: []crawltest.Fault{{Latency: time.Second}, {Latency: time.Second, Jitter: time.Second, Status: 500}, {Latency: time.Hour, Status: 501}}}
		f := fetch.Chain(&answering{}, faults.Middleware())
		start := time.Now()
		resp, err := f.Fetch(t.Context(), &fetch.Request{URL: films})
		if took := time.Since(start); err != nil || resp.Status != 500 || took <= 2*time.Second || took >= 3*time.Second {
			t.Errorf("%v, %v after %v", resp, err, took)
		}
		cause := errors.New("enough")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second/2, cause)
		defer cancel()
		start = time.Now()
		_, err = f.Fetch(ctx, &fetch.Request{URL: films})
		if !errors.Is(err, cause) || fetch.KindOf(err) != fetch.ErrTimeout || time.Since(start) != time.Second/2 {
			t.Errorf("%v after %v", err, time.Since(start))
		}
	})
}

// A crawl gets through faults that pass, and stays polite.
func TestEngineGetsThroughFaults(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const pages = 200
		var network memhttp.Network
		var auditor crawltest.Auditor
		network.Serve(t, "films.example:80", auditor.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			switch r.URL.Path {
			case "/robots.txt":
				http.NotFound(w, r)
			case "/":
				for i := range pages {
					fmt.Fprintf(w, `<a href="/%d">page</a>`, i)
				}
			}
		})))
		page := func(r *fetch.Request) bool {
			return len(r.URL) > len(films+"/") && !strings.HasSuffix(r.URL, "/robots.txt")
		}
		faults := &crawltest.Faults{Seed: 3, List: []crawltest.Fault{
			{Match: page, Chance: 0.3, Jitter: time.Second},
			{Match: page, First: 2, Chance: 0.2, Kind: fetch.ErrClosed, Err: syscall.ECONNRESET},
			{Match: page, First: 2, Chance: 0.2, Kind: fetch.ErrTimeout, Sent: true},
			{Match: page, First: 2, Chance: 0.2, Status: 503, Header: http.Header{"Retry-After": {"2"}}},
			{Match: page, First: 2, Chance: 0.2, Status: 429, Sent: true},
		}}
		transport := &fetch.Transport{Dial: network.DialContext, Resolver: &network, AllowPrivate: true}
		defer transport.Close()
		cfg := crawler.Config{Fetcher: transport, Middleware: []fetch.Middleware{faults.Middleware()}, Delay: politeDelay}
		stats := crawl(t, cfg, films+"/")
		if stats.Pages != pages+1 || stats.Failed > 0 || stats.Retried == 0 {
			t.Errorf("%+v", stats)
		}
		if counts := faults.Counts(); slices.Contains(counts, 0) {
			t.Errorf("faults were done %v times", counts)
		}
		for _, v := range auditor.Audit().Check(crawltest.Policy{Delay: politeDelay, Tolerance: -1, AllowRepeats: true}) {
			t.Error(v)
		}
	})
}

func BenchmarkFaults(b *testing.B) {
	faults := &crawltest.Faults{List: []crawltest.Fault{{Chance: 0.5, Status: 503}}}
	f := fetch.Chain(&answering{}, faults.Middleware())
	req := &fetch.Request{URL: films}
	b.ReportAllocs()
	for b.Loop() {
		_, _ = f.Fetch(b.Context(), req)
	}
}

// The first answer of every page is a reset.
func ExampleFaults() {
	faults := &crawltest.Faults{List: []crawltest.Fault{{First: 1, Kind: fetch.ErrClosed, Err: syscall.ECONNRESET}}}
	host := fetch.FromRoundTripper(crawltest.Offline(site))
	client := fetch.Chain(host, faults.Middleware())
	for range 2 {
		resp, err := client.Fetch(context.Background(), &fetch.Request{URL: "https://films.example/film/7"})
		if err != nil {
			fmt.Println(errors.Is(err, fetch.ErrClosed), errors.Is(err, crawltest.ErrInjected))
			continue
		}
		fmt.Println(resp.Status, string(resp.Body))
	}
	// Output:
	// true true
	// 200 <title>Seven</title>
}

func TestFaultsRefuseNil(t *testing.T) {
	t.Parallel()
	f := fetch.Chain(&answering{}, (&crawltest.Faults{List: []crawltest.Fault{{Status: 503}}}).Middleware())
	if resp, err := f.Fetch(t.Context(), nil); resp != nil || !errors.Is(err, fetch.ErrInvalid) {
		t.Errorf("%v, %v", resp, err)
	}
}
