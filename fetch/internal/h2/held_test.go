package h2

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"
)

// TestPausingReadersStopNobody: others go on while many readers pause on the same connection, whose window is smaller than
// what waits for them.
func TestPausingReadersStopNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const readers = 30
		body := pattern(2 << 20)
		c := serve(t, Config{Params: Params{ConnWindow: 1 << 20}}, func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write(body) })
		var slow []*Stream
		for range readers {
			for !c.Reserve() {
				synctest.Wait()
			}
			s, err := c.Do(t.Context(), &Request{Scheme: "https", Authority: "a", Path: "/"})
			if err != nil {
				t.Fatal(err)
			}
			slow = append(slow, s)
		}
		for range 3 {
			if _, got, err := do(t.Context(), c, &Request{Path: "/"}); err != nil || !bytes.Equal(got, body) {
				t.Fatalf("%v, %d bytes", err, len(got))
			}
			<-time.After(time.Hour)
		}
		for _, s := range slow {
			if got, err := io.ReadAll(s); err != nil || !bytes.Equal(got, body) {
				t.Errorf("%v, %d bytes", err, len(got))
			}
			_ = s.Close()
		}
		if c.held != 0 || c.withheld != 0 {
			t.Errorf("%d bytes held, %d withheld", c.held, c.withheld)
		}
	})
}

// TestHeldIsBounded: what waits for all readers together is bounded. Beyond that the connection takes no more exchanges, and
// no server is blamed for a body that it has no credit for; when somebody reads, all goes on.
func TestHeldIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const limit, window = 3 << 20, 1 << 20
		body := pattern(2 << 20)
		changed := make(chan struct{}, 100)
		conf := Config{Limits: Limits{Held: limit}, Params: Params{ConnWindow: window}, Changed: func() { changed <- struct{}{} }}
		c := serve(t, conf, func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write(body) })
		open := func() *Stream {
			c.Reserve()
			s, err := c.Do(t.Context(), &Request{Scheme: "https", Authority: "a", Path: "/"})
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		slow := []*Stream{open()}
		synctest.Wait()
		for range 4 {
			slow = append(slow, open())
		}
		starving := open()
		synctest.Wait()
		c.mu.Lock()
		if c.held <= limit || c.held > limit+window || !c.starved() {
			t.Errorf("%d bytes are held", c.held)
		}
		c.mu.Unlock()
		if c.Reserve() {
			t.Error("there is a place")
		}
		var all sync.WaitGroup
		all.Go(func() {
			if got, err := io.ReadAll(starving); err != nil || !bytes.Equal(got, body) {
				t.Errorf("the one that starved: %v, %d bytes", err, len(got))
			}
		})
		<-time.After(time.Hour)
		for len(changed) > 0 {
			<-changed
		}
		for _, s := range slow {
			all.Go(func() {
				if got, err := io.ReadAll(s); err != nil || !bytes.Equal(got, body) {
					t.Errorf("%v, %d bytes", err, len(got))
				}
			})
		}
		all.Wait()
		if len(changed) == 0 || !c.Reserve() {
			t.Errorf("told %d times that there is room", len(changed))
		}
		for _, s := range append(slow, starving) {
			_ = s.Close()
		}
	})
}

// TestLateFramesAreNoFlood: what a server has under way on a stream that the client ends, within the credit that it was
// given, costs nobody else the connection; what comes beyond that does.
func TestLateFramesAreNoFlood(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		bytes  int // that the server sends after the reset, a few in each frame
		others bool
	}{
		{"within the window", defaultWindow, true},
		{"beyond the window", 3 * defaultWindow, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				const size = 50
				conn, _ := withPeer(t, Config{}, []http2.Setting{}, func(p *peer) {
					id := p.request()
					p.head(id, false, ":status", "200")
					other := p.request()
					for p.said() == "" {
						p.next()
					}
					for n := 0; n+size <= c.bytes; n += size {
						if p.WriteData(id, false, make([]byte, size)) != nil {
							return
						}
					}
					p.head(id, true, "x-end", "yes")
					p.ok(other, "good")
				})
				conn.Reserve()
				s, err := conn.Do(t.Context(), &Request{Scheme: "https", Authority: "a", Path: "/"})
				if err != nil {
					t.Fatal(err)
				}
				var all sync.WaitGroup
				all.Go(func() {
					_, body, err := do(t.Context(), conn, &Request{Path: "/"})
					if c.others != (err == nil && string(body) == "good") {
						t.Errorf("%v, %q", err, body)
					}
				})
				synctest.Wait()
				_ = s.Close()
				all.Wait()
			})
		})
	}
}

// TestManyCancelledRequestsAreNoFlood: answers that come late to any number of requests that were cancelled are not the
// server's fault.
func TestManyCancelledRequestsAreNoFlood(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		conn, _ := withPeer(t, Config{}, []http2.Setting{}, func(p *peer) {
			for {
				id := p.request()
				if id == 0 {
					return
				}
				for n := len(p.told); n == len(p.told); {
					if p.next() == nil {
						return
					}
				}
				p.ok(id, "late")
			}
		})
		for range maxUseless {
			ctx, cancel := context.WithCancel(t.Context())
			cancelled := make(chan struct{})
			go func() {
				defer close(cancelled)
				if _, _, err := do(ctx, conn, &Request{Path: "/"}); !errors.Is(err, context.Canceled) {
					t.Errorf("%v", err)
				}
			}()
			synctest.Wait()
			cancel()
			<-cancelled
		}
		synctest.Wait()
		if !conn.Usable() {
			t.Error("the connection is lost")
		}
	})
}

// TestWindowFlood: a server that opens windows by next to nothing while a body waits to be sent is stopped; one that takes a
// body in small pieces is not.
func TestWindowFlood(t *testing.T) {
	t.Parallel()
	const size, piece = 1 << 20, 100
	for _, both := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			conn, _ := withPeer(t, Config{}, []http2.Setting{}, func(p *peer) {
				id := p.request()
				q := p.another()
				var reading sync.WaitGroup
				defer reading.Wait()
				reading.Go(func() {
					for p.next() != nil {
						continue
					}
				})
				for q.WriteWindowUpdate(0, 1) == nil && (!both || q.WriteWindowUpdate(id, 1) == nil) {
					continue
				}
			})
			if _, _, err := do(t.Context(), conn, &Request{Path: "/", Body: make([]byte, size)}); KindOf(err) != Protocol {
				t.Errorf("both %v: %v", both, err)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		conn, _ := withPeer(t, Config{}, []http2.Setting{}, func(p *peer) {
			id := p.request()
			for got := 0; got < size; {
				f := p.next()
				data, ok := f.(*http2.DataFrame)
				if !ok {
					continue
				}
				got += len(data.Data())
				for n := 0; n < len(data.Data()); n += piece {
					_ = p.WriteWindowUpdate(0, piece)
					_ = p.WriteWindowUpdate(id, piece)
				}
			}
			p.ok(id, "good")
		})
		if _, body, err := do(t.Context(), conn, &Request{Path: "/", Body: make([]byte, size)}); err != nil || string(body) != "good" {
			t.Errorf("in small pieces: %v, %q", err, body)
		}
	})
}
