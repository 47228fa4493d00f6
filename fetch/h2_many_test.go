package fetch

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestTenThousandRequestsAtOnce has all of them at a host before it answers the first, over the few connections that it takes
// for its streams. It is not parallel: it measures memory, of both sides.
func TestTenThousandRequestsAtOnce(t *testing.T) {
	total, streams, most := 10_000, 1000, uint64(64<<10)
	if raceEnabled {
		total, streams, most = 1000, 100, 128<<10
	}
	var arrived atomic.Int32
	var full runtime.MemStats
	all, settled := make(chan struct{}), memory()
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if int(arrived.Add(1)) == total {
			runtime.ReadMemStats(&full)
			close(all)
		}
		select {
		case <-all:
			fmt.Fprint(w, r.URL.Path)
		case <-r.Context().Done():
		}
	}))
	srv.EnableHTTP2 = true
	srv.Config.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: streams}
	srv.StartTLS()
	defer srv.Close()
	tr := &Transport{AllowPrivate: true, TLS: trusting{newStdTLS()}, HeaderTimeout: time.Minute}
	defer tr.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	start := time.Now()
	var failed atomic.Int32
	var group sync.WaitGroup
	for i := range total {
		group.Go(func() {
			path := fmt.Sprint("/", i)
			resp, err := tr.Fetch(ctx, &Request{URL: srv.URL + path})
			if (err != nil || string(resp.Body) != path) && failed.Add(1) == 1 {
				t.Errorf("%s: %v", path, err)
				cancel()
			}
		})
	}
	group.Wait()
	took, each := time.Since(start), (memoryOf(&full)-settled)/uint64(total)
	if s := tr.Stats(); failed.Load() > 0 || s.Opened > int64(total/streams+1) || s.Opened > defaultMaxConnsH2 || each > most {
		t.Fatalf("%d failed, %+v, %d bytes for each", failed.Load(), s, each)
	}
	fmt.Printf("shown fetch.2: %d requests through a Transport, all at the host at once over %d connections of HTTP/2, in %v: each answered with its own; %d KiB for each, the host's side included\n",
		total, tr.Stats().Opened, took.Round(10*time.Millisecond), each>>10)
}

// memory is what is in use, after a collection.
func memory() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return memoryOf(&m)
}

func memoryOf(m *runtime.MemStats) uint64 { return m.HeapAlloc + m.StackInuse }
