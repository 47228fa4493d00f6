package crawler_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seine-go/seine/crawler"
	"github.com/seine-go/seine/fetch"
)

// odd is a Frontier, a Store, a Fetcher and a Site whose methods may be told to do something odd before they work, or in
// place of that.
type odd struct {
	*crawler.Memory
	store crawler.MemoryStore
	at    string // the method
	calls atomic.Int64
	after int64 // calls of it that go well
	do    func(ctx context.Context) error
	seeds []string
}

func (o *odd) oddly(ctx context.Context, method string) error {
	if method != o.at || o.calls.Add(1) <= o.after {
		return nil
	}
	return o.do(ctx)
}

func (o *odd) Add(ctx context.Context, reqs ...*crawler.Request) ([]crawler.AddStatus, error) {
	if err := o.oddly(ctx, "Frontier.Add"); err != nil {
		return nil, err
	}
	return o.Memory.Add(ctx, reqs...)
}

func (o *odd) Lease(ctx context.Context, want crawler.LeaseRequest) (crawler.LeaseBatch, error) {
	if err := o.oddly(ctx, "Frontier.Lease"); err != nil {
		return crawler.LeaseBatch{}, err
	}
	return o.Memory.Lease(ctx, want)
}

func (o *odd) Settle(ctx context.Context, s ...crawler.Settlement) error {
	if err := o.oddly(ctx, "Frontier.Settle"); err != nil {
		return err
	}
	return o.Memory.Settle(ctx, s...)
}

func (o *odd) Extend(ctx context.Context, ttl time.Duration, leases ...crawler.Lease) error {
	if err := o.oddly(ctx, "Frontier.Extend"); err != nil {
		return err
	}
	return o.Memory.Extend(ctx, ttl, leases...)
}

func (o *odd) Stats(ctx context.Context) (crawler.FrontierStats, error) {
	if err := o.oddly(ctx, "Frontier.Stats"); err != nil {
		return crawler.FrontierStats{}, err
	}
	return o.Memory.Stats(ctx)
}

func (o *odd) SetHost(ctx context.Context, host string, p crawler.HostPolicy) error {
	if err := o.oddly(ctx, "Frontier.SetHost"); err != nil {
		return err
	}
	return o.Memory.SetHost(ctx, host, p)
}

func (o *odd) Inspect(ctx context.Context, key, host string) (crawler.Inspection, error) {
	if err := o.oddly(ctx, "Frontier.Inspect"); err != nil {
		return crawler.Inspection{}, err
	}
	return o.Memory.Inspect(ctx, key, host)
}

type oddStore struct {
	crawler.Store
	o *odd
}

func (s oddStore) Get(ctx context.Context, key string) ([]byte, error) {
	if err := s.o.oddly(ctx, "Store.Get"); err != nil {
		return nil, err
	}
	return s.Store.Get(ctx, key)
}

func (s oddStore) Put(ctx context.Context, key string, value []byte) error {
	if err := s.o.oddly(ctx, "Store.Put"); err != nil {
		return err
	}
	return s.Store.Put(ctx, key, value)
}

func (o *odd) Fetch(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
	if err := o.oddly(ctx, "Fetcher.Fetch"); err != nil {
		return nil, err
	}
	select {
	case <-time.After(time.Second):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	resp := &fetch.Response{Request: req, URL: req.URL, Status: 200, Header: http.Header{"Content-Type": {"text/html"}}}
	if strings.HasSuffix(req.URL, "/fails") {
		resp.Status = 503
	}
	return resp, nil
}

func (o *odd) Name() string { return "odd" }

func (o *odd) Hosts() []string {
	if err := o.oddly(context.Background(), "Site.Hosts"); err != nil {
		return nil
	}
	return []string{"films.example"}
}

func (o *odd) Limits() (l crawler.Limits) {
	_ = o.oddly(context.Background(), "Site.Limits")
	return l
}

func (o *odd) Seeds(ctx context.Context) iter.Seq2[*crawler.Request, error] {
	return func(yield func(*crawler.Request, error) bool) {
		for _, url := range o.seeds {
			if err := o.oddly(ctx, "Site.Seeds"); err != nil {
				yield(nil, err)
				return
			}
			if !yield(&crawler.Request{URL: url}, nil) {
				return
			}
		}
	}
}

func (o *odd) HandlePage(ctx context.Context, p *crawler.Page) error {
	if strings.HasSuffix(p.URL, "/long") {
		select {
		case <-time.After(2 * time.Minute):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return errors.Join(o.oddly(ctx, "Handler"), p.Save(p.URL, 1))
}

// config puts an odd one everywhere.
func (o *odd) config() crawler.Config {
	o.Memory = crawler.NewMemory(crawler.MemoryOptions{})
	o.seeds = []string{"http://films.example/long", "http://films.example/fails"}
	o.seeds = append(o.seeds, numbered("films.example", 6)...)
	told := func(name string) func(context.Context, *crawler.PageError) {
		return func(ctx context.Context, _ *crawler.PageError) { _ = o.oddly(ctx, name) }
	}
	stage := func(name string) crawler.StageHook {
		return func(ctx context.Context, _ crawler.Stage) (context.Context, func(crawler.StageEnd)) {
			_ = o.oddly(ctx, name)
			return ctx, func(crawler.StageEnd) { _ = o.oddly(ctx, name+" end") }
		}
	}
	return crawler.Config{
		IgnoreRobots: true, Spacing: -1, PerHost: 4, FixedPace: true, Concurrency: 2, Grace: 5 * time.Second,
		Handler: o, Frontier: o, Store: oddStore{&o.store, o}, Fetcher: o,
		Hooks: crawler.Hooks{
			Visit: stage("Hooks.Visit"), Fetch: stage("Hooks.Fetch"), Handle: stage("Hooks.Handle"), Settle: stage("Hooks.Settle"),
			Failed: told("Hooks.Failed"),
			Retry:  func(ctx context.Context, err *crawler.PageError, _ time.Duration) { told("Hooks.Retry")(ctx, err) },
		},
	}
}

var oddMethods = []string{
	"Frontier.Add", "Frontier.Lease", "Frontier.Settle", "Frontier.Extend", "Frontier.Stats", "Frontier.SetHost", "Frontier.Inspect", "Store.Get", "Store.Put",
	"Fetcher.Fetch", "Site.Hosts", "Site.Limits", "Site.Seeds", "Handler", "Hooks.Visit", "Hooks.Visit end", "Hooks.Fetch", "Hooks.Fetch end", "Hooks.Handle",
	"Hooks.Handle end", "Hooks.Settle", "Hooks.Settle end", "Hooks.Failed", "Hooks.Retry",
}

// costsPages are the methods whose panic costs the page; that of any other ends the run.
var costsPages = []string{"Fetcher.Fetch", "Handler", "Store.Put", "Hooks.Visit", "Hooks.Fetch", "Hooks.Fetch end", "Hooks.Handle", "Hooks.Handle end"}

// Whatever of the application's own panics or ends its goroutine, the process lives, the run ends, and in time; no lease
// stays behind where the frontier works again, and the next run does the rest.
func TestWhateverUnwinds(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	for _, method := range oddMethods {
		for _, after := range []int64{0, 3} {
			for _, how := range []string{"panic", "Goexit"} {
				synctest.Test(t, func(t *testing.T) {
					o := &odd{at: method, after: after, do: func(context.Context) error {
						if how == "panic" {
							panic(boom)
						}
						runtime.Goexit()
						return nil
					}}
					e, err := crawler.New(o.config())
					if err != nil {
						t.Fatal(err)
					}
					start := time.Now()
					stats, err := e.Run(t.Context())
					name := fmt.Sprintf("%s: %s after %d calls", method, how, after)
					if o.calls.Load() <= after { // it is not called so often
						return
					}
					if took := time.Since(start); took > 10*time.Minute || stats == nil {
						t.Errorf("%s: %v after %v, %v", name, stats, took, err)
					}
					page := slices.Contains(costsPages, method) && (how == "panic" && (after > 0 || method != "Store.Put") || method != "Store.Put")
					if (err == nil) != page || how == "panic" && err != nil && !errors.Is(err, boom) {
						t.Errorf("%s: %v, %v", name, stats, err)
					}
					if err == nil && (stats.Failed == 0 || !stats.Finished) {
						t.Errorf("%s: %v", name, stats)
					}
					o.at = ""
					s, err := o.Memory.Stats(t.Context())
					if err != nil || s.Leased != 0 && !strings.HasPrefix(method, "Frontier.") {
						t.Errorf("%s: left %+v, %v", name, s, err)
					}
					if _, err := e.Run(t.Context()); err != nil && !errors.Is(err, crawler.ErrFinished) {
						t.Errorf("%s: the next run: %v", name, err)
					}
					if s, err := o.Memory.Stats(t.Context()); err != nil || !s.Finished || s.Done+s.Failed != 8 {
						t.Errorf("%s: in the end %+v, %v", name, s, err)
					}
				})
			}
		}
	}
}

// Whatever blocks and ignores its context, a cancelled run is back after Grace and names what it has left behind; what
// obeys its context does not hold it so long.
func TestWhateverBlocks(t *testing.T) {
	t.Parallel()
	for _, method := range oddMethods {
		for _, obeys := range []bool{false, true} {
			if obeys && (method == "Site.Hosts" || method == "Site.Limits") {
				continue // which have none
			}
			synctest.Test(t, func(t *testing.T) {
				until := make(chan struct{})
				o := &odd{at: method}
				o.do = func(ctx context.Context) error {
					if !obeys {
						<-until
						return nil
					}
					select {
					case <-until:
					case <-ctx.Done():
					}
					return ctx.Err()
				}
				e, err := crawler.New(o.config())
				if err != nil {
					t.Fatal(err)
				}
				const cancelled = 90 * time.Second
				ctx, cancel := context.WithTimeout(t.Context(), cancelled)
				defer cancel()
				start := time.Now()
				stats, err := e.Run(ctx)
				took := time.Since(start)
				if o.calls.Load() == 0 {
					close(until)
					return // one without which the run ends
				}
				var left *crawler.AbandonedError
				if !errors.Is(err, context.DeadlineExceeded) || took > cancelled+5*time.Second+200*time.Millisecond {
					t.Errorf("%s: %v after %v, %v", method, stats, took, err)
				}
				if errors.As(err, &left) == obeys {
					t.Errorf("%s, obeys %v: %v", method, obeys, err)
				} else if !obeys {
					named := append(left.Pages, left.Calls...)
					if len(named) == 0 || strings.Contains(method, "Frontier.Lease") && !slices.Contains(left.Calls, method) {
						t.Errorf("%s: %v", method, err)
					}
				}
				close(until)
				synctest.Wait()
			})
		}
	}
}
