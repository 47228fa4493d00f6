package crawler_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seine-go/seine/crawler"
	"github.com/seine-go/seine/fetch"
)

type spanKey struct{}

// tracer notes the stages of each request, and which span each is within.
type tracer struct {
	mu    sync.Mutex
	lines map[string][]string
}

func (tr *tracer) note(url, format string, args ...any) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	if tr.lines == nil {
		tr.lines = map[string][]string{}
	}
	tr.lines[url] = append(tr.lines[url], fmt.Sprintf(format, args...))
}

func (tr *tracer) stage(name string) crawler.StageHook {
	return func(ctx context.Context, s crawler.Stage) (context.Context, func(crawler.StageEnd)) {
		parent, _ := ctx.Value(spanKey{}).(string)
		tr.note(s.Request.URL, "%s>%s %d %v", parent, name, s.Attempt, s.Response != nil)
		return context.WithValue(ctx, spanKey{}, name), func(e crawler.StageEnd) {
			tr.note(s.Request.URL, "%s< %v %v %d %d %v", name, e.Outcome, e.Response != nil, e.Links, e.Items, e.Err != nil)
		}
	}
}

func (tr *tracer) hooks() crawler.Hooks {
	return crawler.Hooks{
		Visit: tr.stage("visit"), Fetch: tr.stage("fetch"), Handle: tr.stage("handle"), Settle: tr.stage("settle"),
		Retry: func(ctx context.Context, err *crawler.PageError, in time.Duration) {
			tr.note(err.Request.URL, "%v: retry of %v in %v", ctx.Value(spanKey{}), err.Class(), in)
		},
		Failed: func(ctx context.Context, err *crawler.PageError) {
			tr.note(err.Request.URL, "%v: failed, refused %v", ctx.Value(spanKey{}), err.Refused)
		},
	}
}

// The order of the stages, what they are told, and where their contexts go.
func TestHooksInOrder(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		n := 0
		w.serve(t, "films.example", func(rw http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/flaky" {
				if n++; n == 1 {
					rw.WriteHeader(503)
					return
				}
			}
			pages(map[string]string{"/robots.txt": "User-agent: *\nDisallow: /no", "/": links("/flaky", "/no", "/gone", "/panic"), "/flaky": "", "/panic": ""})(rw, r)
		})
		var tr tracer
		inside := func(next fetch.Fetcher) fetch.Fetcher {
			return fetch.FetcherFunc(func(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
				if !strings.HasSuffix(req.URL, "/robots.txt") {
					tr.note(req.URL, "chain in %v", ctx.Value(spanKey{}))
				}
				if strings.HasSuffix(req.URL, "/panic") {
					panic("here")
				}
				return next.Fetch(ctx, req)
			})
		}
		policy := crawler.RetryPolicy{Rules: map[crawler.RetryClass]crawler.RetryRule{crawler.RetryStatus: {Wait: 1, MaxWait: 1}}}
		cfg := crawler.Config{Hooks: tr.hooks(), Middleware: []fetch.Middleware{inside}, Retry: policy, Handler: crawler.HandlerFunc(func(ctx context.Context, p *crawler.Page) error {
			tr.note(p.Request.URL, "handler in %v", ctx.Value(spanKey{}))
			p.FollowLinks()
			return p.Save("k"+p.URL, 1)
		})}
		if _, err := run(t, w, cfg, "http://films.example/"); err != nil {
			t.Fatal(err)
		}
		for path, want := range map[string][]string{
			"": {
				">visit 1 false", "visit>fetch 1 false", "chain in fetch", "fetch< unknown true 0 0 false", "visit>handle 1 true", "handler in handle",
				"handle< unknown true 0 0 false", "visit>settle 1 true", "settle< done true 4 1 false", "visit< done true 4 1 false",
			},
			"flaky": {
				">visit 1 false", "visit>fetch 1 false", "chain in fetch", "fetch< unknown true 0 0 false", "visit>settle 1 true", "settle< retry true 0 0 true",
				"visit: retry of status in 0s", "visit< retry true 0 0 true",
				">visit 2 false", "visit>fetch 2 false", "chain in fetch", "fetch< unknown true 0 0 false", "visit>handle 2 true", "handler in handle",
				"handle< unknown true 0 0 false", "visit>settle 2 true", "settle< done true 0 1 false", "visit< done true 0 1 false",
			},
			"no": {
				">visit 1 false", "visit>settle 1 false", "settle< done false 0 0 true", "visit: failed, refused true", "visit< done false 0 0 true",
			},
			"gone": {
				">visit 1 false", "visit>fetch 1 false", "chain in fetch", "fetch< unknown true 0 0 false", "visit>settle 1 true", "settle< failed true 0 0 true",
				"visit: failed, refused false", "visit< failed true 0 0 true",
			},
			"panic": {
				">visit 1 false", "visit>fetch 1 false", "chain in fetch", "fetch< unknown false 0 0 true", "visit>settle 1 false", "settle< failed false 0 0 true",
				"visit: failed, refused false", "visit< failed false 0 0 true",
			},
		} {
			if got := tr.lines["http://films.example/"+path]; !slices.Equal(got, want) {
				t.Errorf("/%s:\n%s\nwant\n%s", path, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
	})
}

// A hook that returns nothing changes nothing; one that returns a strange context, or panics, does no more harm than it
// must: no lease stays behind.
func TestOddHooks(t *testing.T) {
	t.Parallel()
	nothing := func(context.Context, crawler.Stage) (context.Context, func(crawler.StageEnd)) { return nil, nil }
	strange := func(context.Context, crawler.Stage) (context.Context, func(crawler.StageEnd)) {
		return context.Background(), nil
	}
	panics := func(context.Context, crawler.Stage) (context.Context, func(crawler.StageEnd)) { panic("hook") }
	late := func(ctx context.Context, _ crawler.Stage) (context.Context, func(crawler.StageEnd)) {
		return ctx, func(crawler.StageEnd) { panic("hook") }
	}
	for _, c := range []struct {
		name   string
		hooks  crawler.Hooks
		pages  int64
		failed int64
		ends   bool
	}{
		{"nothing", crawler.Hooks{Visit: nothing, Fetch: nothing, Handle: nothing, Settle: nothing}, 3, 0, false},
		{"strange visit", crawler.Hooks{Visit: strange}, 0, 3, false},
		{"strange fetch", crawler.Hooks{Fetch: strange}, 0, 3, false},
		{"strange handle", crawler.Hooks{Handle: strange}, 0, 3, false},
		{"strange settle", crawler.Hooks{Settle: strange}, 0, 3, false},
		{"visit panics", crawler.Hooks{Visit: panics}, 0, 3, false},
		{"fetch panics", crawler.Hooks{Fetch: panics}, 0, 3, false},
		{"fetch panics at its end", crawler.Hooks{Fetch: late}, 0, 3, false},
		{"handle panics at its end", crawler.Hooks{Handle: late}, 0, 3, false},
		{"visit panics at its end", crawler.Hooks{Visit: late}, 1, 0, true},
		{"settle panics", crawler.Hooks{Settle: panics}, 0, 0, true},
		{"failed panics", crawler.Hooks{Fetch: panics, Failed: func(context.Context, *crawler.PageError) { panic("hook") }}, 0, 1, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T, w *web) {
				w.serve(t, "films.example", func(http.ResponseWriter, *http.Request) {})
				frontier := crawler.NewMemory(crawler.MemoryOptions{})
				stats, err := run(t, w, crawler.Config{IgnoreRobots: true, Handler: done, Hooks: c.hooks, Frontier: frontier, Concurrency: 1}, numbered("films.example", 3)...)
				var p *crawler.PanicError
				if (err != nil) != c.ends || c.ends && !errors.As(err, &p) || stats.Pages != c.pages || stats.Failed != c.failed {
					t.Errorf("%v, %v", stats, err)
				}
				if s, err := frontier.Stats(t.Context()); err != nil || s.Leased != 0 {
					t.Errorf("%+v, %v", s, err)
				}
			})
		})
	}
}
