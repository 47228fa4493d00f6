package crawler_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/seine-go/seine/crawler"
)

// slowFrontier takes its time to lease, as one on a disk does.
type slowFrontier struct{ *crawler.Memory }

func (f slowFrontier) Lease(ctx context.Context, want crawler.LeaseRequest) (crawler.LeaseBatch, error) {
	b, err := f.Memory.Lease(ctx, want)
	time.Sleep(2 * time.Millisecond)
	return b, err
}

// What is settled while another worker asks the frontier is not overlooked until the next poll.
func TestNoWakeUpIsLost(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		site := map[string]string{}
		for i := range 31 {
			site[fmt.Sprint("/", i)] = links(fmt.Sprint("/", 2*i+1), fmt.Sprint("/", 2*i+2))
		}
		w.serve(t, "films.example", pages(site))
		for _, c := range []int{0, 8} {
			start := time.Now()
			stats, err := run(t, w, crawler.Config{Frontier: slowFrontier{crawler.NewMemory(crawler.MemoryOptions{})}, IgnoreRobots: true, AllStatuses: true, Spacing: -1, PerHost: -1, Concurrency: c}, "http://films.example/0")
			if took := time.Since(start); err != nil || stats.Pages != 63 || took > 400*time.Millisecond {
				t.Errorf("%d at a time: %v, %v in %v", c, stats, err, took)
			}
		}
	})
}

// A handler that hands on the error of Add has failed; the request was sent and is no refusal.
func TestHandlersErrorIsNoRefusal(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		w.serve(t, "films.example", pages(map[string]string{"/": ""}))
		var f failures
		stats, err := run(t, w, crawler.Config{IgnoreRobots: true, Hooks: f.hook(), Handler: crawler.HandlerFunc(func(_ context.Context, p *crawler.Page) error {
			return p.Add(&crawler.Request{URL: "http://other.example/"})
		})}, "http://films.example/")
		if err != nil || stats.Failed != 1 || stats.Refused != 0 || len(w.urls()) != 3 {
			t.Errorf("%v, %v, %d fetches", stats, err, len(w.urls()))
		}
	})
}

// User info in a link is a credential: it is neither kept nor sent.
func TestUserInfoOfLinksIsDropped(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		w.serve(t, "films.example", pages(map[string]string{"/": links("http://u:secret@films.example/in"), "/in": ""}))
		var got []string
		_, err := run(t, w, crawler.Config{IgnoreRobots: true, Handler: crawler.HandlerFunc(func(_ context.Context, p *crawler.Page) error {
			p.FollowLinks()
			got = append(got, p.Request.URL, p.URL)
			return nil
		})}, "http://films.example/")
		if err != nil || len(got) != 4 || strings.Contains(strings.Join(got, " "), "secret") {
			t.Errorf("%q, %v", got, err)
		}
	})
}

// A run without seeds goes on with what the last one left, in the same scope.
func TestRunWithoutSeedsGoesOn(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		w.serve(t, "films.example", pages(map[string]string{"/": links("/1", "/2", "/3"), "/1": links("/4"), "/2": "", "/3": "", "/4": ""}))
		e := pagesOf(t, w, crawler.Config{IgnoreRobots: true, Handler: crawler.HandlerFunc(func(_ context.Context, p *crawler.Page) error {
			p.FollowLinks()
			return nil
		})})
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		if stats, err := e.Run(ctx, "http://films.example/"); err == nil || stats.Pages != 1 {
			t.Fatalf("%v, %v", stats, err)
		}
		if stats, err := e.Run(t.Context()); err != nil || stats.Pages != 4 || !stats.Finished {
			t.Errorf("%v, %v", stats, err)
		}
	})
}
