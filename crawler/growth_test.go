package crawler_test

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seine-go/seine/crawler"
)

// What may be in flight grows also while nothing comes back: hosts that are slow to answer do not keep others waiting.
func TestConcurrencyGrowsWhileAllWait(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		const hosts = 60
		var flight atomic.Int64
		all := make(chan struct{})
		var seeds []string
		for i := range hosts {
			host := fmt.Sprintf("h%d.example", i)
			w.serve(t, host, func(http.ResponseWriter, *http.Request) {
				if flight.Add(1) == hosts {
					close(all)
				}
				<-all
			})
			seeds = append(seeds, "http://"+host+"/")
		}
		e := pagesOf(t, w, crawler.Config{IgnoreRobots: true, Handler: done})
		crawler.Calm(e)
		start := time.Now()
		stats, err := e.Run(t.Context(), seeds...)
		if took := time.Since(start); err != nil || stats.Pages != hosts || took > 3*time.Second {
			t.Errorf("%v in %v, %v", stats, took, err)
		}
	})
}
