package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"
)

// TestFewStreamsFailNothing: a host that allows few streams at a time has each request answered, and refuses none.
func TestFewStreamsFailNothing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		streams uint32
		total   int
	}{{1, 20}, {1, 200}, {1, 1000}, {5, 20}, {5, 200}, {5, 1000}, {10, 20}, {10, 200}, {10, 1000}, {100, 1000}} {
		t.Run(fmt.Sprint(c.streams, " of ", c.total), func(t *testing.T) {
			t.Parallel()
			if raceEnabled { // in which each handshake takes its time
				c.total = min(c.total, 50*int(c.streams))
			}
			synctest.Test(t, func(t *testing.T) {
				gate := &gateLog{}
				tr, n, route := rawH2(t, &Transport{Gate: gate}, []http2.Setting{{ID: http2.SettingMaxConcurrentStreams, Val: c.streams}}, func(f *frames) {
					var mu sync.Mutex // of the Framer, and of what is open
					open := uint32(0)
					for id := f.request(); id != 0; id = f.request() {
						mu.Lock()
						if open++; open > c.streams {
							t.Errorf("%d streams at once", open)
							_ = f.WriteRSTStream(id, http2.ErrCodeRefusedStream)
						}
						mu.Unlock()
						time.AfterFunc(50*time.Millisecond, func() {
							mu.Lock()
							defer mu.Unlock()
							open--
							f.ok(id, "ok")
						})
					}
				})
				var all sync.WaitGroup
				for range c.total {
					all.Go(func() {
						resp, err := tr.Fetch(t.Context(), &Request{URL: "https://films.example/", Method: "POST", Route: route})
						if err != nil || string(resp.Body) != "ok" {
							t.Errorf("%v", err)
						}
					})
				}
				all.Wait()
				if most := c.total/int(c.streams) + 1; n.Dialled() > most || len(gate.take()) != c.total {
					t.Errorf("%d dials, at most %d", n.Dialled(), most)
				}
			})
		})
	}
}

// TestFewStreamsOnSockets is the same with net/http's server.
func TestFewStreamsOnSockets(t *testing.T) {
	t.Parallel()
	for _, streams := range []int{1, 10} {
		srv := httptest.NewUnstartedServer(http.HandlerFunc(okHandler))
		srv.EnableHTTP2 = true
		srv.Config.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: streams}
		srv.StartTLS()
		tr := &Transport{AllowPrivate: true, TLS: trusting{newStdTLS()}}
		var all sync.WaitGroup
		for range 200 {
			all.Go(func() {
				if _, err := tr.Fetch(t.Context(), &Request{URL: srv.URL}); err != nil {
					t.Errorf("%d streams: %v", streams, err)
				}
			})
		}
		all.Wait()
		tr.Close()
		srv.Close()
	}
}

// TestConnectionOutlivesWhoBeganIt: requests that have less time than a handshake takes are served by a connection that an
// earlier one has begun to open.
func TestConnectionOutlivesWhoBeganIt(t *testing.T) {
	t.Parallel()
	for _, apart := range []time.Duration{20 * time.Millisecond, time.Second} { // others wait, or nobody does
		synctest.Test(t, func(t *testing.T) {
			tr, n, route := h2Client(t, &Transport{}, okHandler)
			tr.TLS = slowHandshake{newStdTLS(), 120 * time.Millisecond}
			var all sync.WaitGroup
			var good atomic.Int32
			for range 60 {
				all.Go(func() {
					ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
					defer cancel()
					if _, err := tr.Fetch(ctx, &Request{URL: "https://films.example/", Route: route}); err == nil {
						good.Add(1)
					} else if !errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("%v", err)
					}
				})
				<-time.After(apart)
			}
			all.Wait()
			if good.Load() < 57 || n.Dialled() != 1 {
				t.Errorf("%d of 60, %d dials", good.Load(), n.Dialled())
			}
		})
	}
}

type slowHandshake struct {
	Handshaker
	takes time.Duration
}

func (h slowHandshake) Handshake(ctx context.Context, conn net.Conn, to Target) (net.Conn, ConnInfo, error) {
	select {
	case <-time.After(h.takes):
		return h.Handshaker.Handshake(ctx, conn, to)
	case <-ctx.Done():
		return nil, ConnInfo{}, ctx.Err()
	}
}

// TestCloseEndsWhatNobodyWaitsFor: a dial that nobody waits for any more ends when the Transport is closed, when its kept
// connections are, and with its time at the latest; without a time-out at once.
func TestCloseEndsWhatNobodyWaitsFor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		tr   *Transport
		end  func(*Transport)
		took time.Duration
	}{
		{"close", &Transport{}, func(tr *Transport) { tr.Close() }, time.Second},
		{"close idle", &Transport{}, (*Transport).CloseIdleConnections, time.Second},
		{"its time", &Transport{DialTimeout: 5 * time.Second}, func(*Transport) {}, 5 * time.Second},
		{"no time-out", &Transport{DialTimeout: -1}, func(*Transport) {}, time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				var took time.Duration
				c.tr.AllowPrivate = true
				c.tr.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
					<-ctx.Done()
					took = time.Since(start)
					return nil, ctx.Err()
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				if _, err := c.tr.Fetch(ctx, &Request{URL: "https://192.0.2.1/"}); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("%v", err)
				}
				c.end(c.tr)
				<-time.After(time.Minute)
				synctest.Wait()
				if took != c.took || len(c.tr.pool.hosts) != 0 {
					t.Errorf("ended after %v, %d hosts are remembered", took, len(c.tr.pool.hosts))
				}
			})
		})
	}
}

// TestSecondConnectionThatCannotBeHad: where a second connection hangs or fails, requests take turns on the first.
func TestSecondConnectionThatCannotBeHad(t *testing.T) {
	t.Parallel()
	for _, hangs := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			tr, n, route := rawH2(t, &Transport{}, []http2.Setting{{ID: http2.SettingMaxConcurrentStreams, Val: 4}}, func(f *frames) {
				for id := f.request(); id != 0; id = f.request() {
					<-time.After(20 * time.Millisecond)
					f.ok(id, "ok")
				}
			})
			dials := atomic.Int32{}
			tr.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
				if dials.Add(1) > 1 {
					if hangs {
						<-ctx.Done()
					}
					return nil, errors.New("no more")
				}
				return n.DialContext(ctx, network, addr)
			}
			start := time.Now()
			var all sync.WaitGroup
			for range 40 {
				all.Go(func() {
					if _, err := tr.Fetch(t.Context(), &Request{URL: "https://films.example/", Route: route}); err != nil {
						t.Errorf("hangs %v: %v", hangs, err)
					}
				})
			}
			all.Wait()
			if took := time.Since(start); took != 40*20*time.Millisecond || n.Dialled() != 1 || dials.Load() > 2*40+1 {
				t.Errorf("hangs %v: took %v, %d dials", hangs, took, dials.Load())
			}
		})
	}
}

// TestHostThatSaysNothing: where the host never speaks HTTP/2, all who wait for its connection fail when the first does,
// and not one after the other.
func TestHostThatSaysNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tr, n, route := h2Client(t, &Transport{HeaderTimeout: 5 * time.Second}, okHandler)
		tr.TLS = deafTLS{newStdTLS()}
		start := time.Now()
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				_, err := tr.Fetch(t.Context(), &Request{URL: "https://films.example/", Route: route})
				if !errors.Is(err, ErrTimeout) && !errors.Is(err, errEarlyEnd) || time.Since(start) != 5*time.Second {
					t.Errorf("%v after %v", err, time.Since(start))
				}
			})
		}
		all.Wait()
		synctest.Wait()
		if n.Dialled() != 1 || n.Open() != 0 {
			t.Errorf("%d dials, %d open", n.Dialled(), n.Open())
		}
	})
}

// deafTLS has hosts that never say anything after the handshake.
type deafTLS struct{ Handshaker }

func (h deafTLS) Handshake(ctx context.Context, conn net.Conn, to Target) (net.Conn, ConnInfo, error) {
	nc, info, err := h.Handshaker.Handshake(ctx, conn, to)
	if err == nil {
		nc = deafConn{nc}
	}
	return nc, info, err
}

type deafConn struct{ net.Conn }

func (c deafConn) Write(p []byte) (int, error) { return len(p), nil }

func (c deafConn) Read(p []byte) (int, error) {
	for {
		if _, err := c.Conn.Read(p); err != nil {
			return 0, err
		}
	}
}

// TestEndOfADialsGoroutineIsAnError: code of the caller that ends its goroutine leaves nobody waiting.
func TestEndOfADialsGoroutineIsAnError(t *testing.T) {
	t.Parallel()
	tr := &Transport{AllowPrivate: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		runtime.Goexit()
		return nil, io.EOF
	}}
	defer tr.Close()
	if _, err := tr.Fetch(t.Context(), &Request{URL: "https://192.0.2.1/"}); !errors.Is(err, errPanicked) {
		t.Errorf("%v", err)
	}
}

// TestResetBeforeTheHeadMayBeAskedAgain: whatever the code is, as with a connection that is closed before the head.
func TestResetBeforeTheHeadMayBeAskedAgain(t *testing.T) {
	t.Parallel()
	for code := http2.ErrCodeNo; code <= http2.ErrCodeInadequateSecurity; code++ {
		synctest.Test(t, func(t *testing.T) {
			tr, _, route := rawH2(t, &Transport{}, nil, func(f *frames) {
				for id := f.request(); id != 0; id = f.request() {
					_ = f.WriteRSTStream(id, code)
				}
			})
			_, err := tr.Fetch(t.Context(), &Request{URL: "https://films.example/", Route: route})
			var e *Error
			if !errors.As(err, &e) || e.Kind != ErrClosed || !e.Temporary() || e.Kind.Fault() != FaultHost {
				t.Errorf("%v: %v", code, err)
			}
		})
	}
}
