package fetch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"
)

// TestHostThatStopsReading: requests on a connection on which the host takes nothing more are sent over another soon, whatever
// their method, since nothing of them has gone out; later ones do not meet the first.
func TestHostThatStopsReading(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const soon = 5 * time.Second
		tr, n, route := rawH2(t, &Transport{}, []http2.Setting{{ID: http2.SettingMaxConcurrentStreams, Val: 100}}, func(f *frames) {
			if f.number == 1 {
				f.ok(f.request(), "first")
				<-time.After(time.Hour)
				return
			}
			for id := f.request(); id != 0; id = f.request() {
				f.ok(id, "ok")
			}
		})
		if _, err := tr.Fetch(t.Context(), &Request{URL: "https://films.example/", Route: route}); err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		all.Go(func() { // fills what the network takes
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			header := map[string][]string{"X-Long": {strings.Repeat("~", 200_000)}}
			_, err := tr.Fetch(ctx, &Request{URL: "https://films.example/full", Method: "POST", Header: header, Route: route})
			if !errors.Is(err, ErrTimeout) {
				t.Errorf("%v", err)
			}
		})
		synctest.Wait()
		for i := range 50 {
			all.Go(func() {
				<-time.After(time.Duration(i) * 200 * time.Millisecond)
				start := time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), soon)
				defer cancel()
				resp, err := tr.Fetch(ctx, &Request{URL: fmt.Sprint("https://films.example/", i), Method: "POST", Route: route})
				if err != nil || string(resp.Body) != "ok" {
					t.Errorf("%d: %v", i, err)
				} else if took := time.Since(start); i > 25 && took > 0 {
					t.Errorf("%d took %v", i, took)
				}
			})
		}
		all.Wait()
		synctest.Wait()
		if s := tr.Stats(); n.Dialled() != 2 || s.Open != 1 {
			t.Errorf("%d dials, %+v", n.Dialled(), s)
		}
	})
}

// TestPauseAfterRefusals: a request that the host refuses is sent again at once, and then after pauses that double; one on
// connections that go away, without pauses. A pause ends with the context of the request.
func TestPauseAfterRefusals(t *testing.T) {
	t.Parallel()
	pauses := []time.Duration{0, 0}
	for n := range maxRefused - 1 {
		pauses = append(pauses, refusedPause<<n)
	}
	for _, c := range []struct {
		name    string
		refuse  func(f *frames, id uint32)
		cancel  time.Duration // zero: never
		kind    ErrorKind
		arrived []time.Duration // each after the one before
		took    time.Duration
	}{
		{"refused for ever", refuse, 0, ErrClosed, pauses, 1500 * time.Millisecond},
		{"cancelled in a pause", refuse, 250 * time.Millisecond, ErrCanceled, pauses[:3], 250 * time.Millisecond},
		{"goes away", func(f *frames, id uint32) {
			_ = f.WriteGoAway(id-1, http2.ErrCodeNo, nil)
			f.conn.Close()
		}, 0, ErrClosed, make([]time.Duration, maxGoneAway+1), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				last := time.Now()
				var arrived log[time.Duration]
				tr, _, route := rawH2(t, &Transport{}, nil, func(f *frames) {
					for id := f.request(); id != 0; id = f.request() {
						now := time.Now()
						arrived.add(now.Sub(last))
						last = now
						c.refuse(f, id)
					}
				})
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if c.cancel > 0 {
					time.AfterFunc(c.cancel, cancel)
				}
				start := time.Now()
				_, err := tr.Fetch(ctx, &Request{URL: "https://films.example/", Method: "POST", Route: route})
				if KindOf(err) != c.kind || time.Since(start) != c.took {
					t.Errorf("%v after %v", err, time.Since(start))
				}
				if got := arrived.take(); !slices.Equal(got, c.arrived) {
					t.Errorf("it arrived after %v, want %v", got, c.arrived)
				}
			})
		})
	}
}

func refuse(f *frames, id uint32) { _ = f.WriteRSTStream(id, http2.ErrCodeRefusedStream) }
