package h2

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"
)

// TestStreamsAreBounded: no more streams than the server allows, as soon as it has said so, and a place for each.
func TestStreamsAreBounded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		settings []http2.Setting
		own      int
		want     int // places once the server has spoken
	}{
		{"server's", []http2.Setting{{ID: http2.SettingMaxConcurrentStreams, Val: 7}}, 0, 7},
		{"none", []http2.Setting{{ID: http2.SettingMaxConcurrentStreams, Val: 0}}, 0, 0},
		{"unsaid", []http2.Setting{}, 0, defaultStreams},
		{"own", []http2.Setting{{ID: http2.SettingMaxConcurrentStreams, Val: 50}}, 20, 20},
		{"no limit", []http2.Setting{{ID: http2.SettingMaxConcurrentStreams, Val: 5000}}, -1, 5000},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				conn, _ := withPeer(t, Config{Limits: Limits{Streams: c.own}}, c.settings, func(p *peer) {
					for id := p.request(); id != 0; id = p.request() {
						p.ok(id, "good")
					}
				})
				before := 0
				for conn.Reserve() {
					before++
				}
				want := unsaidStreams
				if c.own > 0 {
					want = min(want, c.own)
				}
				if before != want {
					t.Errorf("%d places at first, want %d", before, want)
				}
				// The first exchange brings the settings.
				s, err := conn.Do(t.Context(), &Request{Scheme: "https", Authority: "a", Path: "/"})
				if err != nil {
					t.Fatal(err)
				}
				_ = s.Close()
				n := before - 1
				for conn.Reserve() {
					n++
				}
				if want := max(c.want, before-1); n != want {
					t.Errorf("%d places, want %d", n, want)
				}
			})
		})
	}
}

// TestLoweredLimit: a request for which the server takes no stream any more is refused before it is written.
func TestLoweredLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		conn, _ := withPeer(t, Config{}, []http2.Setting{{ID: http2.SettingMaxConcurrentStreams, Val: 1}}, func(p *peer) { p.request() })
		conn.Reserve()
		conn.Reserve()
		go func() {
			_, err := conn.Do(t.Context(), &Request{Scheme: "https", Authority: "a", Path: "/"})
			if KindOf(err) != Cancelled {
				t.Errorf("the first: %v", err)
			}
		}()
		synctest.Wait()
		_, err := conn.Do(t.Context(), &Request{Scheme: "https", Authority: "a", Path: "/"})
		if e, ok := errors.AsType[*Error](err); !ok || e.Kind != Refused || e.Written {
			t.Errorf("%v", err)
		}
		_ = conn.Close()
		synctest.Wait()
	})
}

// TestGoAwayInFlight: of many streams those that the server has looked at come to their end, and the others are refused.
func TestGoAwayInFlight(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const n, looked = 90, 37
		ended := 0
		var conn *Conn
		changed := func() {
			if !conn.Usable() {
				ended++
			}
		}
		conn, _ = withPeer(t, Config{Changed: changed}, []http2.Setting{}, func(p *peer) {
			var ids []uint32
			for range n {
				ids = append(ids, p.request())
			}
			_ = p.WriteGoAway(1<<31-1, http2.ErrCodeNo, nil)
			_ = p.WriteGoAway(ids[looked-1], http2.ErrCodeNo, []byte("enough"))
			for _, id := range ids[:looked] {
				p.ok(id, "good")
			}
		})
		var good, refused atomic.Int32
		var all sync.WaitGroup
		for range n {
			all.Go(func() {
				_, body, err := do(t.Context(), conn, &Request{Method: "POST", Path: "/"})
				var away *GoAwayError
				switch {
				case err == nil && string(body) == "good":
					good.Add(1)
				case KindOf(err) == Refused && errors.As(err, &away) && away.Debug == "enough":
					refused.Add(1)
				default:
					t.Errorf("%v", err)
				}
			})
		}
		all.Wait()
		synctest.Wait()
		if good.Load() != looked || refused.Load() != n-looked || ended != 1 || conn.Usable() || conn.Reserve() {
			t.Errorf("%d good, %d refused, ended %d times", good.Load(), refused.Load(), ended)
		}
	})
}

// midFlight are the errors by which an exchange may end when a server misbehaves as misbehave does: it has refused, reset or
// cut the stream, has closed the connection, or the exchange's own time has passed. None is the client's doing.
var midFlight = []Kind{Refused, Reset, Closed, Truncated, Cancelled, Overdue, IdleTimeout, HeaderTimeout}

// TestFaultsMidFlight: whatever a server does to a connection with hundreds of streams, each exchange ends in a whole body
// or in an error that the server or the exchange's time explains, and nothing is left of it.
func TestFaultsMidFlight(t *testing.T) {
	t.Parallel()
	body := pattern(30_000)
	var whole atomic.Int32
	defer func() {
		if !t.Failed() {
			fmt.Printf("shown fetch.2: 3600 exchanges under GOAWAY, RST, PING, pauses and closed connections mid-flight: %d whole, each other in an error that is explained, nothing left\n", whole.Load())
		}
	}()
	for seed := range uint64(40) {
		synctest.Test(t, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 7))
			conn, _ := withPeer(t, Config{}, []http2.Setting{}, func(p *peer) { misbehave(p, rnd, body) })
			var good, bad atomic.Int32
			var all sync.WaitGroup
			for range 90 {
				if !conn.Reserve() { // all before the server has had 60 requests, and may end the connection
					t.Error(errPlace)
				}
			}
			for i := range 90 {
				all.Go(func() {
					ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+i%50)*time.Second)
					defer cancel()
					resp, got, err := doReserved(ctx, conn, &Request{Path: "/", Due: time.Now().Add(40 * time.Second)})
					switch {
					case err == nil && bytes.Equal(got, body):
						good.Add(1)
						whole.Add(1)
					case slices.Contains(midFlight, KindOf(err)) && (resp.Status == 0 || bytes.HasPrefix(body, got)):
						bad.Add(1)
					default:
						t.Errorf("seed %d: %v, %d bytes", seed, err, len(got))
					}
				})
			}
			all.Wait()
			if good.Load()+bad.Load() != 90 || conn.places != 0 {
				t.Errorf("seed %d: %d and %d, %d places", seed, good.Load(), bad.Load(), conn.places)
			}
		})
	}
}

// misbehave answers streams in pieces and in any order, with resets, pings, pauses, and in the end a farewell or none.
func misbehave(p *peer, rnd *rand.Rand, body []byte) {
	sent := map[uint32]int{}
	var ids []uint32
	for range 60 {
		if id := p.request(); id != 0 {
			ids = append(ids, id)
			sent[id] = -1
		}
	}
	for len(ids) > 0 {
		i := rnd.IntN(len(ids))
		id := ids[i]
		drop := false
		switch k := rnd.IntN(100); {
		case k < 2:
			_ = p.WriteRSTStream(id, http2.ErrCode(rnd.IntN(14)))
			drop = true
		case k < 6:
			_ = p.WritePing(k < 3, [8]byte{byte(k)})
		case k < 8:
			<-time.After(time.Duration(rnd.IntN(3000)) * time.Millisecond)
		case k == 8 && rnd.IntN(10) == 0:
			_ = p.WriteGoAway(ids[rnd.IntN(len(ids))], http2.ErrCode(rnd.IntN(14)), nil)
		case k == 9 && rnd.IntN(40) == 0:
			_ = p.conn.Close()
			return
		case k == 10:
			_ = p.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: uint32(rnd.IntN(100_000))})
		case sent[id] < 0:
			p.head(id, false, ":status", "200")
			sent[id] = 0
		default:
			n := min(rnd.IntN(16<<10)+1, len(body)-sent[id])
			drop = sent[id]+n == len(body)
			_ = p.WriteData(id, drop, body[sent[id]:sent[id]+n])
			sent[id] += n
		}
		if drop {
			ids = append(ids[:i], ids[i+1:]...)
		}
	}
}

// TestCloseLeavesNothing: Close ends exchanges in every phase, and the goroutines.
func TestCloseLeavesNothing(t *testing.T) {
	before := runtime.NumGoroutine()
	synctest.Test(t, func(t *testing.T) { // which fails when a goroutine is left in it
		conn, _ := withPeer(t, Config{}, []http2.Setting{}, func(p *peer) {
			for i := 0; ; i++ {
				id := p.request()
				if id == 0 {
					return
				}
				if i%2 == 0 {
					p.head(id, false, ":status", "200")
					_ = p.WriteData(id, false, []byte("begun"))
				}
			}
		})
		var all sync.WaitGroup
		for i := range 50 {
			all.Go(func() {
				r := &Request{Path: "/"}
				if i%3 == 0 {
					r.Body = make([]byte, 100_000)
				}
				if _, _, err := do(t.Context(), conn, r); KindOf(err) != Cancelled {
					t.Errorf("%v", err)
				}
			})
		}
		synctest.Wait()
		_ = conn.Close()
		all.Wait()
		_ = conn.Close()
		if _, _, err := do(t.Context(), conn, &Request{Path: "/"}); !errors.Is(err, errPlace) {
			t.Errorf("afterwards: %v", err)
		}
	})
	if n := runtime.NumGoroutine(); n > before {
		t.Errorf("%d goroutines, before %d", n, before)
	}
}

// TestTenThousandAtOnce has 10,000 requests at the same time on a few connections.
func TestTenThousandAtOnce(t *testing.T) {
	const total, conns = 10_000, 4
	var list []*Conn
	var inside, most atomic.Int64
	for range conns {
		c := serve(t, Config{Limits: Limits{Streams: total/conns + 1}}, func(w http.ResponseWriter, r *http.Request) {
			n := inside.Add(1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
				continue
			}
			defer inside.Add(-1)
			if len(r.URL.Path) > 1 {
				for inside.Load() < total/2 && most.Load() < total/2 { // until many are there
					runtime.Gosched()
				}
			}
			fmt.Fprint(w, r.URL.Path)
		})
		if _, _, err := do(t.Context(), c, &Request{Path: "/"}); err != nil {
			t.Fatal(err)
		}
		list = append(list, c)
	}
	var all sync.WaitGroup
	for i := range total {
		all.Go(func() {
			path := fmt.Sprint("/", i)
			_, body, err := do(t.Context(), list[i%conns], &Request{Path: path, Due: time.Now().Add(2 * time.Minute)})
			if err != nil || string(body) != path {
				t.Errorf("%d: %v, %q", i, err, body)
			}
		})
	}
	all.Wait()
	for _, c := range list {
		if c.places != 0 || len(c.streams) != 0 || len(c.free) > freeStreams {
			t.Errorf("%d places, %d streams, %d kept", c.places, len(c.streams), len(c.free))
		}
	}
	if !t.Failed() {
		fmt.Printf("shown fetch.2: %d concurrent requests on %d connections of HTTP/2, %d at the server at once: each answered with its own\n", total, conns, most.Load())
	}
}
