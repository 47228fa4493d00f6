package crawler_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/seine-go/seine/crawler"
)

// stream is a Site whose seeds are a function.
type stream struct {
	crawler.Handler
	seeds func(ctx context.Context, yield func(*crawler.Request, error) bool)
}

func (s stream) Name() string    { return "stream" }
func (s stream) Hosts() []string { return []string{"films.example"} }

func (s stream) Seeds(ctx context.Context) iter.Seq2[*crawler.Request, error] {
	if s.seeds == nil {
		return nil
	}
	return func(yield func(*crawler.Request, error) bool) { s.seeds(ctx, yield) }
}

func seedAt(n int) *crawler.Request {
	return &crawler.Request{URL: fmt.Sprintf("http://films.example/%d", n)}
}

// Pages are fetched from the first seed on: neither a slow nor an endless sequence keeps them waiting.
func TestSeedsStream(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) { // slow
		w.serve(t, "films.example", func(http.ResponseWriter, *http.Request) {})
		start, late := time.Now(), 0
		site := stream{seeds: func(_ context.Context, yield func(*crawler.Request, error) bool) {
			for n := 0; n < 10 && yield(seedAt(n), nil); n++ {
				time.Sleep(time.Minute)
			}
		}}
		site.Handler = crawler.HandlerFunc(func(_ context.Context, p *crawler.Page) error {
			var n int
			fmt.Sscanf(p.URL, "http://films.example/%d", &n)
			if time.Since(start) > time.Duration(n)*time.Minute+time.Second {
				late++
			}
			return nil
		})
		stats, err := run(t, w, crawler.Config{IgnoreRobots: true, Handler: site})
		if took := time.Since(start); err != nil || stats.Pages != 10 || late > 0 || took > 10*time.Minute+time.Second || !stats.Finished {
			t.Errorf("%v after %v, %d of them late, %v", stats, took, late, err)
		}
	})
	bubble(t, func(t *testing.T, w *web) { // endless, beyond what the frontier takes
		w.serve(t, "films.example", func(http.ResponseWriter, *http.Request) {})
		yielded := 0
		site := stream{Handler: done, seeds: func(_ context.Context, yield func(*crawler.Request, error) bool) {
			for yield(seedAt(yielded), nil) {
				yielded++
			}
		}}
		cfg := crawler.Config{IgnoreRobots: true, Handler: site, MaxPages: 50, Frontier: crawler.NewMemory(crawler.MemoryOptions{MaxPending: 100})}
		stats, err := run(t, w, cfg)
		if err != nil || stats.Pages != 50 || stats.Spent != "MaxPages" || yielded > 1500 {
			t.Errorf("%v, %d seeds were taken, %v", stats, yielded, err)
		}
	})
}

// The end of a budget ends the seeds: those that wait for their context, and, after Grace, those that ignore it.
func TestBudgetEndsSeeds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		cfg  crawler.Config
		n    int // seeds before it waits
		took time.Duration
	}{
		{"MaxPages", crawler.Config{MaxPages: 5}, 300, 2500 * time.Millisecond},
		{"MaxBytes", crawler.Config{MaxBytes: 5}, 300, 500 * time.Millisecond},
		{"MaxTime", crawler.Config{MaxTime: time.Minute}, 10, time.Minute},
		{"MaxTime before a seed", crawler.Config{MaxTime: time.Minute}, 0, time.Minute},
	} {
		for _, obeys := range []bool{true, false} {
			bubble(t, func(t *testing.T, w *web) {
				w.serve(t, "films.example", func(rw http.ResponseWriter, _ *http.Request) { fmt.Fprint(rw, "ten bytes.") })
				until := make(chan struct{})
				cfg := c.cfg
				cfg.IgnoreRobots, cfg.Grace = true, 7*time.Second
				cfg.Handler = stream{Handler: done, seeds: func(ctx context.Context, yield func(*crawler.Request, error) bool) {
					for n := range c.n {
						if !yield(seedAt(n), nil) {
							break
						}
					}
					if obeys {
						<-ctx.Done()
					} else {
						<-until
					}
				}}
				start := time.Now()
				stats, err := run(t, w, cfg)
				close(until)
				want, _, _ := strings.Cut(c.name, " ")
				var left *crawler.AbandonedError
				took := time.Since(start)
				if stats.Spent != want || stats.Finished || errors.As(err, &left) == obeys || (err == nil) != obeys || !obeys && len(left.Calls) == 0 {
					t.Errorf("%s, obeys %v: %v, %v", c.name, obeys, stats, err)
				}
				if most := c.took + 100*time.Millisecond; obeys && took > most || took > most+cfg.Grace+time.Second {
					t.Errorf("%s, obeys %v: it took %v", c.name, obeys, took)
				}
			})
		}
	}
}

// MaxTime is counted from the start of Run, whatever that waits for.
func TestTimeBudgetFromTheStart(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		w.serve(t, "films.example", func(http.ResponseWriter, *http.Request) {})
		o := &odd{at: "Store.Get", do: func(ctx context.Context) error {
			<-ctx.Done()
			return context.Cause(ctx)
		}}
		cfg := o.config()
		cfg.MaxTime, cfg.Handler = time.Minute, done
		e := pagesOf(t, w, cfg)
		start := time.Now()
		stats, err := e.Run(t.Context(), "http://films.example/")
		if took := time.Since(start); err != nil || stats.Spent != "MaxTime" || took != time.Minute || e.Stats().Elapsed != took {
			t.Errorf("%v after %v, %v, %v", stats, took, err, e.Stats())
		}
		o.at = ""
		stats, err = e.Run(t.Context(), "http://films.example/")
		if err != nil || !stats.Finished || e.Stats().Elapsed != time.Minute+stats.Elapsed {
			t.Errorf("%v, %v, %v", stats, err, e.Stats())
		}
	})
}

// What is no seed ends the run with an error that names it.
func TestOddSeeds(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	yields := func(req *crawler.Request, err error) stream {
		return stream{Handler: done, seeds: func(_ context.Context, yield func(*crawler.Request, error) bool) {
			if yield(seedAt(1), nil) && yield(req, err) {
				panic("the loop goes on")
			}
		}}
	}
	for _, c := range []struct {
		name string
		site stream
		want string
		is   error
	}{
		{"nil", yields(nil, nil), "neither a request nor an error", nil},
		{"an error", yields(nil, boom), "boom", boom},
		{"both", yields(seedAt(2), boom), "boom", boom},
		{"no URL", yields(&crawler.Request{URL: "films.example/x"}, nil), `perhaps "https://films.example/x"`, nil},
		{"no sequence", stream{Handler: done}, "Seeds returned nil", nil},
		{"a panic", stream{Handler: done, seeds: func(context.Context, func(*crawler.Request, error) bool) { panic(boom) }}, "Site.Seeds: seine: panic: boom", boom},
		{"Goexit", stream{Handler: done, seeds: func(context.Context, func(*crawler.Request, error) bool) { runtime.Goexit() }}, "Site.Seeds: seine: it ended its goroutine", nil},
	} {
		bubble(t, func(t *testing.T, w *web) {
			w.serve(t, "films.example", func(http.ResponseWriter, *http.Request) { time.Sleep(time.Hour) })
			_, err := run(t, w, crawler.Config{IgnoreRobots: true, Handler: c.site})
			if err == nil || !strings.Contains(err.Error(), c.want) || c.is != nil && !errors.Is(err, c.is) {
				t.Errorf("%s: %v", c.name, err)
			}
			var last error
			for _, last = range pagesOf(t, w, crawler.Config{IgnoreRobots: true, Handler: c.site}).Pages(t.Context()) {
			}
			if last == nil || !strings.Contains(last.Error(), c.want) {
				t.Errorf("%s, of Pages: %v", c.name, last)
			}
		})
	}
	for seed, want := range map[string]string{
		"films.example":            `perhaps "https://films.example/" was meant`,
		"//films.example/x":        `perhaps "https://films.example/x" was meant`,
		"films.example:8080/x?a=b": `perhaps "https://films.example:8080/x?a=b" was meant`,
		"localhost:80":             `perhaps "https://localhost:80/" was meant`,
		"ftp://films.example/":     "is neither http nor https",
		"mailto:a@films.example":   "is neither http nor https",
		"films":                    "without a base",
		"":                         "without a base",
	} {
		var bad *crawler.RequestError
		for _, err := range crawler.Crawl(t.Context(), seed) {
			if !errors.As(err, &bad) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "perhaps") != strings.Contains(want, "perhaps") {
				t.Errorf("%q: %v", seed, err)
			}
		}
	}
}
