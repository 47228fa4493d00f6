package crawler_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/seine-go/seine/crawler"
	"github.com/seine-go/seine/fetch"
)

// nonsense is a Frontier whose leases are changed on their way.
type nonsense struct {
	*crawler.Memory
	change func(*crawler.LeaseBatch)
}

func (n nonsense) Lease(ctx context.Context, want crawler.LeaseRequest) (crawler.LeaseBatch, error) {
	b, err := n.Memory.Lease(ctx, want)
	if err == nil && len(b.Leases) > 0 {
		n.change(&b)
	}
	return b, err
}

// Leases that mean nothing harm nobody but themselves: the run ends in time, with an error where it cannot go on.
func TestFrontierTellsNonsense(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(*crawler.LeaseBatch)
		is     error
		pages  int64
	}{
		{"no request", func(b *crawler.LeaseBatch) { b.Leases[0].Request = nil }, crawler.ErrFrontier, 0},
		{"a request of nothing", func(b *crawler.LeaseBatch) { b.Leases[0].Request = new(crawler.Request) }, nil, 0},
		{"a strange epoch", func(b *crawler.LeaseBatch) { b.Leases[0].Epoch += 1000 }, context.DeadlineExceeded, 0},
		{"a strange key", func(b *crawler.LeaseBatch) { b.Leases[0].Key = "x" }, context.DeadlineExceeded, 0},
		{"twice", func(b *crawler.LeaseBatch) { b.Leases = append(b.Leases, b.Leases[0]) }, nil, 5},
		{"finished", func(b *crawler.LeaseBatch) { b.Finished = true }, nil, 5},
		{"a wait of the past", func(b *crawler.LeaseBatch) { b.Next = -time.Hour }, nil, 5},
	} {
		bubble(t, func(t *testing.T, w *web) {
			w.serve(t, "films.example", func(http.ResponseWriter, *http.Request) {})
			memory := crawler.NewMemory(crawler.MemoryOptions{})
			e := pagesOf(t, w, crawler.Config{IgnoreRobots: true, Handler: done, Frontier: nonsense{memory, c.change}, PerHost: 2, Spacing: -1})
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			stats, err := e.Run(ctx, numbered("films.example", 5)...)
			if !errors.Is(err, c.is) || stats.Pages < c.pages {
				t.Errorf("%s: %v, %v", c.name, stats, err)
			}
		})
	}
}

// How often a page is tried says the rule of its class, also where the host or the handler says when to come again: that
// says how long to wait.
func TestAttemptsBesideRetryAfter(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		rules    map[crawler.RetryClass]crawler.RetryRule
		max      int
		byHost   bool
		attempts int
	}{
		{"of the host, by default", nil, 0, true, 3},
		{"of the host, Config.MaxAttempts", nil, 5, true, 5},
		{"of the host, more for the class", map[crawler.RetryClass]crawler.RetryRule{crawler.RetryStatus: {Attempts: 7}}, 0, true, 7},
		{"of the host, fewer for the class", map[crawler.RetryClass]crawler.RetryRule{crawler.RetryStatus: {Attempts: 2}}, 5, true, 2},
		{"of the handler, by default", nil, 0, false, 3},
		{"of the handler, more for the class", map[crawler.RetryClass]crawler.RetryRule{crawler.RetryHandler: {Attempts: 7}}, 0, false, 7},
		{"of the handler, fewer for the class", map[crawler.RetryClass]crawler.RetryRule{crawler.RetryHandler: {Attempts: -1}}, 5, false, 1},
	} {
		bubble(t, func(t *testing.T, w *web) {
			w.serve(t, "films.example", func(rw http.ResponseWriter, _ *http.Request) {
				if c.byHost {
					rw.Header().Set("Retry-After", "100")
					rw.WriteHeader(http.StatusServiceUnavailable)
				}
			})
			start := time.Now()
			cfg := crawler.Config{IgnoreRobots: true, MaxAttempts: c.max, Retry: crawler.RetryPolicy{Rules: c.rules}, Handler: crawler.HandlerFunc(func(context.Context, *crawler.Page) error {
				return crawler.RetryAfter(100*time.Second, errors.New("later"))
			})}
			stats, err := run(t, w, cfg, "http://films.example/")
			waits := time.Duration(c.attempts-1) * 100 * time.Second
			if took := time.Since(start); err != nil || len(w.urls()) != c.attempts || stats.Failed != 1 || took < waits || took > waits+time.Minute {
				t.Errorf("%s: %d tries in %v, %v, %v", c.name, len(w.urls()), took, stats, err)
			}
		})
	}
}

// What rules against traps, and the bound of links, leave out is counted, and told once a page.
func TestTrappedLinksAreTold(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		w.serve(t, "films.example", pages(map[string]string{"/": links("/x/x/x/x", "/y/y/y/y", "/1", "/2", "/3"), "/1": "", "/2": ""}))
		var log strings.Builder
		cfg := crawler.Config{IgnoreRobots: true, MaxLinks: 4, Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
		stats, err := run(t, w, cfg, "http://films.example/")
		if err != nil || stats.Trapped != 2 || stats.LinksCut != 1 || stats.Cut != 1 {
			t.Errorf("%+v, %v", stats, err)
		}
		if got := stats.String(); !strings.Contains(got, "2 links trapped") || !strings.Contains(got, "1 links cut") {
			t.Error(got)
		}
		if got := log.String(); strings.Count(got, "links trapped") != 1 || !strings.Contains(got, "x/x/x/x") || strings.Count(got, "links cut") != 1 {
			t.Error(got)
		}
		if got := new(crawler.Stats).String(); strings.Contains(got, "links") {
			t.Error(got)
		}
	})
}

// Which faults of a body have the page tried again, and which are kept as a cut page: what may be whole the next time, of
// a request that may be sent again.
func TestCutBodiesByKind(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"GET", "POST"} {
		for kind, again := range map[fetch.ErrorKind]bool{
			fetch.ErrBodyLimit: false, fetch.ErrEncoding: false, fetch.ErrHeaderLimit: false,
			fetch.ErrTruncated: true, fetch.ErrTooSlow: true, fetch.ErrTimeout: true, fetch.ErrClosed: true, fetch.ErrProtocol: true,
		} {
			again = again && method == "GET"
			bubble(t, func(t *testing.T, w *web) {
				tries := 0
				fetcher := fetch.FetcherFunc(func(_ context.Context, req *fetch.Request) (*fetch.Response, error) {
					resp := &fetch.Response{Request: req, URL: req.URL, Status: 200, Header: http.Header{}, Body: []byte("some")}
					if tries++; tries < 3 {
						resp = resp.CutBody(&fetch.Error{Op: "read body", Kind: kind})
					}
					return resp, nil
				})
				site := stream{Handler: done, seeds: func(_ context.Context, yield func(*crawler.Request, error) bool) {
					yield(&crawler.Request{URL: "http://films.example/", Method: method}, nil)
				}}
				e, err := crawler.New(crawler.Config{IgnoreRobots: true, Fetcher: fetcher, Handler: site})
				if err != nil {
					t.Fatal(err)
				}
				stats, err := e.Run(t.Context())
				if err != nil || stats.Pages != 1 || (stats.Cut == 0) != again || (tries == 3) != again {
					t.Errorf("%s, %v: %v, %d tries, %v", method, kind, fmt.Sprint(stats), tries, err)
				}
			})
		}
	}
}
