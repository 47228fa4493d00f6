package h2

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"
)

// TestTimes: each phase ends when its time is over, and not the connection with it.
func TestTimes(t *testing.T) {
	t.Parallel()
	begun := func(p *peer, id uint32) {
		p.head(id, false, ":status", "200")
		_ = p.WriteData(id, false, []byte("begun"))
	}
	drip := func(n int) func(p *peer, id uint32) {
		return func(p *peer, id uint32) {
			p.head(id, false, ":status", "200")
			for range 200 {
				_ = p.WriteData(id, false, make([]byte, n))
				<-time.After(time.Second)
			}
			_ = p.WriteData(id, true, nil)
		}
	}
	for _, c := range []struct {
		name   string
		conf   Timeouts
		req    Request
		cancel time.Duration
		script func(p *peer, id uint32)
		kind   Kind
		after  time.Duration
	}{
		{"head", Timeouts{}, Request{}, 0, func(*peer, uint32) {}, HeaderTimeout, defaultPhase},
		{"head, other", Timeouts{Header: 3 * time.Second}, Request{}, 0, func(*peer, uint32) {}, HeaderTimeout, 3 * time.Second},
		{"head, in the end", Timeouts{Header: 3 * time.Second}, Request{}, 0, func(p *peer, id uint32) {
			for range 2 {
				<-time.After(time.Second)
				p.head(id, false, ":status", "103")
			}
			p.ok(id, "good")
		}, 0, 2 * time.Second},
		{"head, 1xx do not put it off", Timeouts{Header: 3 * time.Second}, Request{}, 0, func(p *peer, id uint32) {
			for range 5 {
				<-time.After(time.Second)
				p.head(id, false, ":status", "103")
			}
		}, HeaderTimeout, 3 * time.Second},
		{"head, without end", Timeouts{Header: -1}, Request{}, 0, func(p *peer, id uint32) {
			<-time.After(20 * time.Second)
			_ = p.WritePing(false, [8]byte{})
			<-time.After(20 * time.Second)
			p.ok(id, "good")
		}, 0, 40 * time.Second},
		{"body", Timeouts{}, Request{}, 0, begun, IdleTimeout, defaultPhase},
		{"body, other", Timeouts{IdleRead: 4 * time.Second}, Request{}, 0, begun, IdleTimeout, 4 * time.Second},
		{"too slow", Timeouts{}, Request{}, 0, drip(63), TooSlow, defaultPhase},
		{"not too slow", Timeouts{}, Request{}, 0, drip(70), 0, 200 * time.Second},
		{"slow without a minimum", Timeouts{MinRate: -1}, Request{}, 0, drip(1), 0, 200 * time.Second},
		{"due in the head", Timeouts{}, Request{Due: time.Unix(5, 0)}, 0, func(*peer, uint32) {}, Overdue, 5 * time.Second},
		{"due in the body", Timeouts{}, Request{Due: time.Unix(50, 0)}, 0, drip(100), Overdue, 50 * time.Second},
		{"cancelled in the head", Timeouts{}, Request{}, 7 * time.Second, func(*peer, uint32) {}, Cancelled, 7 * time.Second},
		{"cancelled in the body", Timeouts{}, Request{}, 7 * time.Second, begun, Cancelled, 7 * time.Second},
		{"cancelled before", Timeouts{}, Request{}, -1, begun, Cancelled, 0},
		{"request not taken", Timeouts{}, Request{Body: make([]byte, 100_000)}, 0, func(*peer, uint32) {}, WriteTimeout, defaultPhase},
		{"request taken slowly", Timeouts{}, Request{Body: make([]byte, initialWindow+5)}, 0, func(p *peer, id uint32) {
			for range 5 {
				<-time.After(20 * time.Second)
				_ = p.WriteWindowUpdate(0, 1)
				_ = p.WriteWindowUpdate(id, 1)
			}
			p.ok(id, "good")
		}, 0, 100 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				conn, _ := withPeer(t, Config{Timeouts: c.conf}, []http2.Setting{}, func(p *peer) {
					if id := p.request(); id != 0 {
						go c.script(p.another(), id)
					}
					if id := p.request(); id != 0 {
						p.ok(id, "again")
					}
				})
				ctx := t.Context()
				if c.cancel != 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, c.cancel)
					defer cancel()
				}
				r := c.req
				r.Path = "/"
				start := time.Now()
				if !r.Due.IsZero() {
					r.Due = start.Add(time.Duration(r.Due.Unix()) * time.Second)
				}
				_, _, err := do(ctx, conn, &r)
				if took := time.Since(start); KindOf(err) != c.kind || took < c.after || took > c.after+2*time.Second {
					t.Errorf("%v after %v", err, took)
				}
				if e, ok := errors.AsType[*Error](err); ok && c.kind != Cancelled && (!e.Timeout() || !e.Written) {
					t.Errorf("%+v", e)
				}
				if c.kind == Cancelled && !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("%v is not of the context", err)
				}
				synctest.Wait()
				if c.cancel >= 0 {
					if _, body, err := do(t.Context(), conn, &Request{Path: "/"}); err != nil || string(body) != "again" {
						t.Errorf("afterwards: %v, %q", err, body)
					}
				}
				<-time.After(5 * time.Minute) // until the script has ended
			})
		})
	}
}

// TestSilentServerIsAsked: a server that says nothing gets a PING, and is given up when it does not answer.
func TestSilentServerIsAsked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		answers bool
		kind    Kind
		after   time.Duration
	}{
		{"dead", false, Closed, defaultPhase + defaultPingReply},
		{"alive", true, HeaderTimeout, 10 * time.Minute},
	} {
		synctest.Test(t, func(t *testing.T) {
			conn, _ := withPeer(t, Config{Timeouts: Timeouts{Header: 10 * time.Minute}}, []http2.Setting{}, func(p *peer) {
				for f := p.next(); f != nil; f = p.next() {
					if ping, ok := f.(*http2.PingFrame); ok && c.answers {
						_ = p.WritePing(true, ping.Data)
					}
				}
			})
			start := time.Now()
			_, _, err := do(t.Context(), conn, &Request{Path: "/"})
			if KindOf(err) != c.kind || time.Since(start) != c.after {
				t.Errorf("%s: %v after %v", c.name, err, time.Since(start))
			}
			if c.kind == Closed && !errors.Is(err, errSilence) {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestForgottenConnectionIsFoundSoon: a kept connection whose path has gone costs less than a missing head.
func TestForgottenConnectionIsFoundSoon(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		conn, _ := withPeer(t, Config{}, []http2.Setting{}, func(p *peer) { p.ok(p.request(), "good") })
		if _, _, err := do(t.Context(), conn, &Request{Path: "/"}); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Minute)
		start := time.Now()
		_, _, err := do(t.Context(), conn, &Request{Path: "/"})
		if KindOf(err) != Closed || time.Since(start) != defaultPingReply {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		if conn.Usable() {
			t.Error("it is still of use")
		}
	})
}

// stuck is a connection that takes nothing after some bytes.
type stuck struct {
	net.Conn
	room int
	wake chan struct{}
}

func (s *stuck) Write(p []byte) (int, error) {
	if s.room -= len(p); s.room < 0 {
		<-s.wake
		return 0, context.DeadlineExceeded
	}
	return s.Conn.Write(p)
}

func (s *stuck) SetWriteDeadline(time.Time) error { return nil }

// TestStuckWriteHoldsNobody: a request can be cancelled while the server takes nothing.
func TestStuckWriteHoldsNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client, server := net.Pipe()
		go func() { _, _ = io.Copy(io.Discard, server) }()
		s := &stuck{Conn: client, room: inlineBytes, wake: make(chan struct{})}
		c := NewConn(s, Config{})
		for i := range 20 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			start := time.Now()
			_, _, err := do(ctx, c, &Request{Path: "/", Header: list("x-long", strings.Repeat("~", 1000))})
			if KindOf(err) != Cancelled || time.Since(start) != time.Second {
				t.Errorf("%d: %v after %v", i, err, time.Since(start))
			}
			cancel()
		}
		close(s.wake)
		_ = c.Close()
		_ = server.Close()
	})
}

// TestQueueIsBounded: where the server takes nothing, requests are refused when much waits to be written, and no place is given.
func TestQueueIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		wake := make(chan struct{})
		var told atomic.Int32
		c, _ := withPeer(t, Config{Timeouts: Timeouts{Write: -1}, Changed: func() { told.Add(1) }}, []http2.Setting{}, func(*peer) { <-wake })
		const each = 1_000_000
		head := list("x-long", strings.Repeat("~", each))
		for range 10 {
			if !c.Reserve() {
				t.Fatal("no place")
			}
		}
		for i := range 10 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			_, err := c.Do(ctx, &Request{Scheme: "https", Authority: "a", Path: "/", Header: head})
			cancel()
			want := Cancelled
			if i > 1+maxQueued/each { // the first lies in the write that is stuck
				want = Refused
			}
			if KindOf(err) != want {
				t.Errorf("%d: %v", i, err)
			}
		}
		if n := len(c.out.b); n <= maxQueued || n > maxQueued+maxRequestHead+1000 {
			t.Errorf("%d bytes wait", n)
		}
		if c.Reserve() || told.Load() != 1 { // of the settings
			t.Errorf("there is a place; told %d times", told.Load())
		}
		close(wake)
		synctest.Wait()
		if !c.Reserve() || told.Load() != 2 {
			t.Errorf("no place when all is written: %v; told %d times", c.down, told.Load())
		}
	})
}

// TestStalledServerHoldsOnlyWhatItHasSeen: where the server takes nothing, requests that have not gone out are refused soon, as
// nothing of them was written, and none begins; when it goes on, the others come to their ends, as do those of which it had
// but a part.
func TestStalledServerHoldsOnlyWhatItHasSeen(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		conf  Timeouts
		after time.Duration // for a refusal; zero: there is none
	}{
		{"usual", Timeouts{}, defaultPhase / stallShare},
		{"other", Timeouts{Write: time.Minute, PingAfter: -1}, time.Minute / stallShare},
		{"not asked for", Timeouts{Write: -1}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				const stalled, late = 20 * time.Second, 10
				var changed atomic.Bool
				conn, _ := withPeer(t, Config{Timeouts: c.conf, Changed: func() { changed.Store(true) }}, []http2.Setting{}, func(p *peer) {
					<-time.After(stalled)
					for id := p.request(); id != 0; id = p.request() {
						p.ok(id, fmt.Sprint(id))
					}
				})
				var all sync.WaitGroup
				fetch := func(header []Field, body []byte, refused bool) {
					all.Go(func() {
						start := time.Now()
						_, _, err := do(t.Context(), conn, &Request{Method: "POST", Path: "/", Header: header, Body: body})
						took := time.Since(start)
						if !refused && (err != nil || took != stalled) {
							t.Errorf("%v after %v", err, took)
						}
						e, _ := errors.AsType[*Error](err)
						if refused && (e == nil || e.Kind != Refused || e.Written || took < c.after || took > c.after*3/2) {
							t.Errorf("want a refusal: %v after %v", err, took)
						}
					})
					synctest.Wait()
				}
				fetch(nil, []byte("first"), false)                         // it is in the peer's window
				fetch(list("x", strings.Repeat("~", 100_000)), nil, false) // it is partly
				for i := range late {
					fetch(list("y", fmt.Sprint(i)), make([]byte, 100*i), c.after > 0)
				}
				changed.Store(false)
				<-time.After(stalled / 2)
				if conn.Reserve() != (c.after == 0) || conn.Usable() != (c.after == 0) || changed.Load() != (c.after > 0) {
					t.Errorf("usable %v, told %v", conn.Usable(), changed.Load())
				}
				all.Wait()
				conn.mu.Lock()
				defer conn.mu.Unlock()
				if left := int64(initialWindow - len("first")); c.after > 0 && conn.send != left {
					t.Errorf("%d bytes may be sent, want %d: what was taken back was not sent", conn.send, left)
				}
			})
		})
	}
}
