package crawler_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/seine-go/seine/crawler"
)

// As many handlers run at a time as there are CPUs; those inside Blocking do not count.
func TestHandlersShareTheCPUs(t *testing.T) {
	t.Parallel()
	for _, blocking := range []bool{false, true} {
		bubble(t, func(t *testing.T, w *web) {
			w.serve(t, "films.example", func(http.ResponseWriter, *http.Request) {})
			var mu sync.Mutex
			running, most := 0, 0
			work := func() error {
				mu.Lock()
				running++
				most = max(most, running)
				mu.Unlock()
				time.Sleep(time.Second)
				mu.Lock()
				running--
				mu.Unlock()
				return nil
			}
			var seeds []string
			for i := range 40 {
				seeds = append(seeds, fmt.Sprint("http://films.example/", i))
			}
			_, err := run(t, w, crawler.Config{IgnoreRobots: true, Spacing: -1, PerHost: -1, Concurrency: 40, Handler: crawler.HandlerFunc(func(ctx context.Context, _ *crawler.Page) error {
				if blocking {
					return crawler.Blocking(ctx, work)
				}
				return work()
			})}, seeds...)
			want := runtime.GOMAXPROCS(0)
			if blocking {
				want = 40
			}
			if err != nil || most != want {
				t.Errorf("blocking %v: %d at a time, want %d, %v", blocking, most, want, err)
			}
		})
	}
	failed := errors.New("f")
	if err := crawler.Blocking(t.Context(), func() error { return failed }); !errors.Is(err, failed) {
		t.Errorf("outside a handler: %v", err)
	}
}

// What is fetched is the URL as it was linked, whatever the key is.
func TestTheLinkedURLIsFetched_K161(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		w.serve(t, "films.example", pages(map[string]string{"/": links("/s?b=2&a=1#x", "/s?a=1&b=2")}))
		if _, err := run(t, w, crawler.Config{Canonical: w3lib(t), AllStatuses: true}, "http://films.example/"); err != nil {
			t.Fatal(err)
		}
		if got := w.urls(); len(got) != 2 || got[1] != "http://films.example/s?b=2&a=1" {
			t.Errorf("%q", got)
		}
	})
}
