package crawler_test

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seine-go/seine/crawler"
)

// deaf is a Frontier that does not hear that a lease is to be made longer.
type deaf struct{ *crawler.Memory }

func (deaf) Extend(context.Context, time.Duration, ...crawler.Lease) error { return nil }

// A handler that takes three times as long as a lease lasts has its page handled once, while others ask for work all the
// time. Where leases are not made longer it is handled again, which shows that they would have ended.
func TestLongPagesKeepTheirLease_K029(t *testing.T) {
	t.Parallel()
	const leaseTTL, others = time.Minute, 400
	for _, c := range []struct {
		name string
		deaf bool
	}{
		{"a frontier that hears", false},
		{"a frontier that is deaf", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T, w *web) {
				w.serve(t, "long.example", func(http.ResponseWriter, *http.Request) {})
				w.serve(t, "busy.example", func(http.ResponseWriter, *http.Request) {})
				var handled atomic.Int64
				var frontier crawler.Frontier = crawler.NewMemory(crawler.MemoryOptions{})
				if c.deaf {
					frontier = deaf{frontier.(*crawler.Memory)}
				}
				stats, err := run(t, w, crawler.Config{
					IgnoreRobots: true, Spacing: 500 * time.Millisecond, Frontier: frontier,
					Handler: crawler.HandlerFunc(func(ctx context.Context, p *crawler.Page) error {
						if p.Request.Host() != "long.example" || handled.Add(1) > 1 {
							return nil
						}
						return crawler.Blocking(ctx, func() error {
							time.Sleep(3 * leaseTTL)
							return nil
						})
					}),
				}, append(numbered("busy.example", others), "http://long.example/")...)
				if err != nil || !stats.Finished || stats.Pages != others+1 {
					t.Errorf("%v, %v", stats, err)
				}
				if n := handled.Load(); (n == 1) == c.deaf {
					t.Errorf("the page was handled %d times", n)
				}
			})
		})
	}
}
