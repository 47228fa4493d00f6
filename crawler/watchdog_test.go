package crawler_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seine-go/seine/crawler"
)

// hang is a handler that takes its time over one page, and what becomes of it.
type hang struct {
	name      string
	handle    func(ctx context.Context, until chan struct{}) error
	tries     int64
	abandoned int64
}

const hangTimeout, hangGrace = time.Minute, 5 * time.Second

var hangs = []hang{
	{"obeys", func(ctx context.Context, _ chan struct{}) error {
		<-ctx.Done()
		return ctx.Err()
	}, 3, 0},
	{"obeys late", func(ctx context.Context, _ chan struct{}) error {
		<-ctx.Done()
		time.Sleep(hangGrace - time.Second)
		return ctx.Err()
	}, 3, 0},
	{"goes on", func(_ context.Context, until chan struct{}) error {
		<-until
		return nil
	}, 3, 3},
	{"goes on while it blocks", func(ctx context.Context, until chan struct{}) error {
		return crawler.Blocking(ctx, func() error {
			<-until
			return nil
		})
	}, 3, 3},
	{"ends in time", func(context.Context, chan struct{}) error {
		time.Sleep(hangTimeout - time.Second)
		return nil
	}, 1, 0},
}

// A handler that hangs does not hold its page for ever: its context ends, and if it goes on it is left behind. The
// others are done, with all workers and all CPUs.
func TestHandlerThatHangs(t *testing.T) {
	t.Parallel()
	for _, c := range hangs {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T, w *web) { c.check(t, w) })
		})
	}
}

func (c hang) check(t *testing.T, w *web) {
	w.serve(t, "films.example", func(http.ResponseWriter, *http.Request) {})
	w.serve(t, "hang.example", func(http.ResponseWriter, *http.Request) {})
	until := make(chan struct{})
	var f failures
	var tries atomic.Int64
	store, frontier := &crawler.MemoryStore{}, crawler.NewMemory(crawler.MemoryOptions{})
	cfg := crawler.Config{
		IgnoreRobots: true, HandlerTimeout: hangTimeout, Grace: hangGrace, Concurrency: 2, Hooks: f.hook(), Frontier: frontier, Store: store,
		Handler: crawler.HandlerFunc(func(ctx context.Context, p *crawler.Page) error {
			if strings.Contains(p.URL, "films") {
				return nil
			}
			tries.Add(1)
			err := c.handle(ctx, until)
			return errors.Join(err, p.Save("k", 1)) // without effect for one that was left behind
		}),
	}
	seeds := append([]string{"http://hang.example/"}, numbered("films.example", 700)...) // for 350 s
	stats, err := run(t, w, cfg, seeds...)
	close(until)
	synctest.Wait()
	fails := c.tries == 3
	if err != nil || !stats.Finished || tries.Load() != c.tries || stats.Abandoned != c.abandoned || stats.Pages+stats.Failed != 701 || (stats.Failed == 1) != fails {
		t.Errorf("%v, %d tries, %d abandoned, %v", stats, tries.Load(), stats.Abandoned, err)
	}
	if err := f.errs["http://hang.example/"]; fails && !errors.Is(err, crawler.ErrHandlerTimeout) {
		t.Errorf("it failed of %v", err)
	}
	if s, err := frontier.Stats(t.Context()); err != nil || s.Leased != 0 {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err := store.Get(t.Context(), "k"); (err == nil) == fails {
		t.Errorf("what the handler saved: %v", err)
	}
	if fails && stats.Elapsed > 10*time.Minute {
		t.Errorf("it took %v", stats.Elapsed)
	}
}

// The loop over Pages may take its time over a page.
func TestLoopMayTakeItsTime(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		w.serve(t, "films.example", func(http.ResponseWriter, *http.Request) {})
		e := pagesOf(t, w, crawler.Config{IgnoreRobots: true, HandlerTimeout: time.Second, Grace: time.Second})
		n := 0
		for _, err := range e.Pages(t.Context(), numbered("films.example", 3)...) {
			if n++; err != nil {
				t.Error(err)
			}
			time.Sleep(time.Hour)
		}
		if n != 3 {
			t.Errorf("%d pages", n)
		}
	})
}

// What is left behind at the end is named, the first few.
func TestLeftBehindIsNamed(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 3, 4} {
		bubble(t, func(t *testing.T, w *web) {
			w.serve(t, "films.example", func(http.ResponseWriter, *http.Request) {})
			until := make(chan struct{})
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			e := pagesOf(t, w, crawler.Config{IgnoreRobots: true, Spacing: -1, PerHost: -1, Handler: crawler.HandlerFunc(func(ctx context.Context, _ *crawler.Page) error {
				return crawler.Blocking(ctx, func() error {
					<-until
					return nil
				})
			})})
			stats, err := e.Run(ctx, numbered("films.example", n)...)
			close(until)
			want := fmt.Sprintf("did not end within 5s and was left behind: the work on %d pages (http://films.example/0", n)
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "…") != (n > 3) || !errors.Is(err, context.DeadlineExceeded) || stats.Abandoned != int64(n) {
				t.Errorf("%v, %v", stats, err)
			}
		})
	}
}
