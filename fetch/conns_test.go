package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"

	"github.com/seine-go/seine/internal/memhttp"
)

// takesASecond answers each request of a connection after a second, of which it bears one at a time.
func takesASecond(f *frames) {
	for id := f.request(); id != 0; id = f.request() {
		<-time.After(time.Second)
		f.ok(id, "ok")
	}
}

var oneStream = []http2.Setting{{ID: http2.SettingMaxConcurrentStreams, Val: 1}}

// TestConnectionsOfAHostAreBounded: requests beyond the bound wait for connections of their host, over both protocols, and all
// are answered.
func TestConnectionsOfAHostAreBounded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		tr       *Transport
		h1       bool
		requests int
		dials    int
		took     time.Duration
	}{
		{"HTTP/1.1, at the bound", &Transport{MaxConnsPerHost: 3}, true, 3, 3, time.Second},
		{"HTTP/1.1, one more", &Transport{MaxConnsPerHost: 3}, true, 4, 3, 2 * time.Second},
		{"HTTP/1.1, in turn", &Transport{MaxConnsPerHost: 1}, true, 10, 1, 10 * time.Second},
		{"HTTP/1.1, zero", &Transport{}, true, defaultMaxConnsH1, defaultMaxConnsH1, time.Second},
		{"HTTP/1.1, zero, one more", &Transport{}, true, defaultMaxConnsH1 + 1, defaultMaxConnsH1, 2 * time.Second},
		{"HTTP/1.1, none", &Transport{MaxConnsPerHost: -1}, true, defaultMaxConnsH1 + 1, defaultMaxConnsH1 + 1, time.Second},
		{"HTTP/1.1, as many as are kept", &Transport{MaxIdlePerHost: 300}, true, 300, 300, time.Second},
		{"HTTP/2, at the bound", &Transport{MaxConnsPerHost: 3}, false, 3, 3, time.Second},
		{"HTTP/2, one more", &Transport{MaxConnsPerHost: 3}, false, 4, 3, 2 * time.Second},
		{"HTTP/2, in turn", &Transport{MaxConnsPerHost: 1}, false, 10, 1, 10 * time.Second},
		{"HTTP/2, zero", &Transport{}, false, defaultMaxConnsH2, defaultMaxConnsH2, time.Second},
		{"HTTP/2, zero, one more", &Transport{}, false, defaultMaxConnsH2 + 1, defaultMaxConnsH2, 2 * time.Second},
		{"HTTP/2, many", &Transport{}, false, 1000, defaultMaxConnsH2, 63 * time.Second},
		{"HTTP/2, none", &Transport{MaxConnsPerHost: -1}, false, defaultMaxConnsH2 + 1, defaultMaxConnsH2 + 1, time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				tr, n, route := rawH2(t, c.tr, oneStream, takesASecond)
				n.Serve(t, "films.example:80", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					<-time.After(time.Second)
					okHandler(w, r)
				}))
				url := "https://films.example/"
				if c.h1 {
					url = "http://films.example/"
				}
				start := time.Now()
				var all sync.WaitGroup
				for range c.requests {
					all.Go(func() {
						resp, err := tr.Fetch(t.Context(), &Request{URL: url, Method: "POST", Route: route})
						if err != nil || string(resp.Body) != "ok" {
							t.Errorf("%v", err)
						}
					})
				}
				all.Wait()
				if s := tr.Stats(); n.Dialled() != c.dials || time.Since(start) != c.took || s.Open != min(c.dials, max(256, c.tr.MaxIdlePerHost)) {
					t.Errorf("%d dials, want %d; took %v, want %v; %+v", n.Dialled(), c.dials, time.Since(start), c.took, s)
				}
				tr.Close()
				synctest.Wait()
				if len(tr.pool.hosts) != 0 || n.Open() != 0 {
					t.Errorf("%d hosts are remembered, %d connections are open", len(tr.pool.hosts), n.Open())
				}
			})
		})
	}
}

// TestWaitForAConnectionEnds: who waits for a connection leaves with its context, and takes no place with it; the others are
// served in the order in which they came.
func TestWaitForAConnectionEnds(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"http://films.example/", "https://films.example/"} {
		synctest.Test(t, func(t *testing.T) {
			tr, n, route := rawH2(t, &Transport{MaxConnsPerHost: 1}, oneStream, takesASecond)
			n.Serve(t, "films.example:80", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				<-time.After(time.Second)
				okHandler(w, r)
			}))
			start := time.Now()
			var order log[int]
			var all sync.WaitGroup
			for i := range 6 {
				all.Go(func() {
					ctx, cancel := t.Context(), context.CancelFunc(func() {})
					if i == 1 || i == 3 {
						ctx, cancel = context.WithTimeout(ctx, 500*time.Millisecond)
					}
					defer cancel()
					_, err := tr.Fetch(ctx, &Request{URL: url, Route: route})
					switch {
					case i != 1 && i != 3:
						order.add(i)
						if err != nil {
							t.Errorf("%s, %d: %v", url, i, err)
						}
					case !errors.Is(err, ErrTimeout) || time.Since(start) != 500*time.Millisecond:
						t.Errorf("%s, %d: %v after %v", url, i, err, time.Since(start))
					}
				})
				synctest.Wait()
			}
			all.Wait()
			if got := order.take(); !slices.Equal(got, []int{0, 2, 4, 5}) || time.Since(start) != 4*time.Second || n.Dialled() != 1 {
				t.Errorf("%s: %v after %v, %d dials", url, got, time.Since(start), n.Dialled())
			}
		})
	}
}

// TestNextOpensWhereOneFailed: a connection that cannot be had, or that ends, leaves its place to the next who waits.
func TestNextOpensWhereOneFailed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := new(memhttp.Network)
		serveMem(t, n, "films.example:80", func(conn net.Conn) {
			if _, err := readHead(conn); err == nil {
				<-time.After(time.Second)
				io.WriteString(conn, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok")
			}
		})
		tr := memTransport(n, &Transport{MaxConnsPerHost: 2})
		defer tr.Close()
		var dials, failed, most, open atomic.Int32
		tr.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
			now := open.Add(1)
			defer open.Add(-1)
			for old := most.Load(); now > old && !most.CompareAndSwap(old, now); old = most.Load() {
			}
			<-time.After(time.Second)
			if dials.Add(1)%3 == 0 {
				return nil, errors.New("no route")
			}
			return n.DialContext(ctx, network, addr)
		}
		var all sync.WaitGroup
		for range 12 {
			all.Go(func() {
				if _, err := tr.Fetch(t.Context(), &Request{URL: "http://films.example/"}); errors.Is(err, ErrConnect) {
					failed.Add(1)
				} else if err != nil {
					t.Errorf("%v", err)
				}
			})
		}
		all.Wait()
		if s := tr.Stats(); failed.Load() != 4 || dials.Load() != 12 || most.Load() != 2 || s.Open != 0 || len(tr.pool.hosts) != 0 {
			t.Errorf("%d failed of %d dials, %d at once, %+v", failed.Load(), dials.Load(), most.Load(), s)
		}
	})
}

// TestKeptConnectionMakesRoom: a request that wants a connection of its own has one in place of one that is kept.
func TestKeptConnectionMakesRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var n memhttp.Network
		var misdirected atomic.Bool
		n.Serve(t, "films.example:80", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !misdirected.Swap(true) {
				w.WriteHeader(http.StatusMisdirectedRequest)
			}
			okHandler(w, r)
		}))
		tr := memTransport(&n, &Transport{MaxConnsPerHost: 1})
		defer tr.Close()
		if resp := mustFetch(t, tr, "http://films.example/"); resp.Status != http.StatusOK || n.Dialled() != 2 {
			t.Errorf("%d, %d dials", resp.Status, n.Dialled())
		}
		if s := tr.Stats(); s.Open != 1 || s.Idle != 1 || n.Open() != 1 || !mustFetch(t, tr, "http://films.example/").Trace.Reused {
			t.Errorf("%+v, %d open", s, n.Open())
		}
	})
}

// TestConnectionThatGoesAwayCounts: one that the host gives up is within the bound until its last exchange has ended.
func TestConnectionThatGoesAwayCounts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tr, n, route := rawH2(t, &Transport{MaxConnsPerHost: 2}, nil, func(f *frames) {
			id := f.request()
			_ = f.WriteGoAway(id, http2.ErrCodeNo, nil)
			<-time.After(time.Second)
			f.ok(id, "ok")
		})
		start := time.Now()
		var all sync.WaitGroup
		for i := range 10 {
			all.Go(func() {
				_, err := tr.Fetch(t.Context(), &Request{URL: fmt.Sprint("https://films.example/", i), Method: "POST", Route: route})
				if err != nil {
					t.Errorf("%v", err)
				}
			})
		}
		all.Wait()
		if n.Dialled() != 10 || time.Since(start) != 5*time.Second {
			t.Errorf("%d dials, took %v", n.Dialled(), time.Since(start))
		}
	})
}
