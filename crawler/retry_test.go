package crawler_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/seine-go/seine/crawler"
)

// A host that answers everything with errors is not asked for each page several times; what was not tried again says so.
func TestHostThatIsDownIsSpared(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		policy  crawler.RetryPolicy
		retries int
	}{
		{"by default", crawler.RetryPolicy{}, 100},
		{"few", crawler.RetryPolicy{HostMin: 7}, 7},
		{"no bound", crawler.RetryPolicy{HostShare: -1}, 240},
		{"none", crawler.RetryPolicy{HostMin: -1, HostShare: 1e-9}, 0},
		{"a rule", crawler.RetryPolicy{HostShare: -1, Rules: map[crawler.RetryClass]crawler.RetryRule{crawler.RetryStatus: {Attempts: 2}}}, 120},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T, w *web) {
				w.serve(t, "films.example", func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(503) })
				w.serve(t, "other.example", func(rw http.ResponseWriter, _ *http.Request) {})
				var f failures
				cfg := crawler.Config{IgnoreRobots: true, Handler: done, Hooks: f.hook(), Retry: c.policy}
				stats, err := run(t, w, cfg, append(numbered("films.example", 120), numbered("other.example", 5)...)...)
				retries := len(w.urls()) - 125
				if err != nil || stats.Pages != 5 || stats.Failed != 120 || int(stats.Retried) != retries || retries != c.retries {
					t.Errorf("%v, %d retries, want %d, %v", stats, retries, c.retries, err)
				}
				spared := 0
				for _, err := range f.errs {
					if strings.Contains(err.Error(), "not tried again") {
						spared++
					}
				}
				if (spared > 0) != (c.retries < 120) {
					t.Errorf("%d were not tried again", spared)
				}
			})
		})
	}
}

// One that is flaky loses nothing.
func TestHostThatIsFlakyLosesNothing(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		tried := map[string]int{}
		w.serve(t, "films.example", func(rw http.ResponseWriter, r *http.Request) {
			if tried[r.URL.Path]++; tried[r.URL.Path] < 5-len(r.URL.Path) { // once, ten of them twice
				rw.WriteHeader(503)
			}
		})
		stats, err := run(t, w, crawler.Config{IgnoreRobots: true, Handler: done}, numbered("films.example", 90)...)
		if err != nil || stats.Pages != 90 || stats.Failed != 0 {
			t.Errorf("%v, %v", stats, err)
		}
	})
}

// How long a class waits can be said; RetryAfter of a handler is kept as it is and not counted.
func TestRetryRules(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		w.serve(t, "films.example", func(http.ResponseWriter, *http.Request) {})
		policy := crawler.RetryPolicy{HostMin: 1, HostShare: 1e-9, Rules: map[crawler.RetryClass]crawler.RetryRule{crawler.RetryHandler: {Wait: time.Hour, MaxWait: time.Hour, Attempts: 3}}}
		start := time.Now()
		stats, err := run(t, w, crawler.Config{IgnoreRobots: true, Retry: policy, Handler: crawler.HandlerFunc(func(_ context.Context, p *crawler.Page) error {
			switch {
			case p.URL == "http://films.example/0" && p.Attempt == 1:
				return errors.New("later")
			case p.URL != "http://films.example/0" && p.Attempt < 3:
				return crawler.RetryAfter(time.Minute, errors.New("later"))
			}
			return nil
		})}, numbered("films.example", 4)...)
		if took := time.Since(start); err != nil || stats.Pages != 4 || stats.Retried != 7 || took < time.Hour/2 || took > 2*time.Hour {
			t.Errorf("%v after %v, %v", stats, took, err)
		}
	})
	for class, want := range map[crawler.RetryClass]string{crawler.RetryOther: "other", crawler.RetryRobots: "robots", 99: "unknown"} {
		if got := fmt.Sprint(class); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
