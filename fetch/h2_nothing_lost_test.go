package fetch

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// TestNothingIsLostMidFlight: under refusals, resets, farewells and closed connections, a request that may be repeated ends
// with its own whole answer, by the Transport's own repetitions or one of the caller's for an error that says it may help.
func TestNothingIsLostMidFlight(t *testing.T) {
	t.Parallel()
	const total, most = 300, 12
	var faults, again atomic.Int32
	for seed := range uint64(6) {
		synctest.Test(t, func(t *testing.T) {
			tr, _, route := rawH2(t, &Transport{}, []http2.Setting{{ID: http2.SettingMaxConcurrentStreams, Val: 20}}, func(f *frames) {
				rnd := rand.New(rand.NewPCG(seed, uint64(f.number)))
				for id := f.request(); id != 0; id = f.request() {
					path := ""
					for _, field := range f.fields {
						if field.Name == ":path" {
							path = field.Value
						}
					}
					fault := rnd.IntN(40)
					if fault < 6 {
						faults.Add(1)
					}
					switch fault {
					case 0:
						_ = f.WriteRSTStream(id, http2.ErrCodeRefusedStream)
					case 1:
						_ = f.WriteRSTStream(id, http2.ErrCodeInternal)
					case 2:
						_ = f.WriteGoAway(id-1, http2.ErrCodeNo, nil)
						return
					case 3:
						f.conn.Close()
						return
					case 4:
						f.begin(id, path)
						_ = f.WriteRSTStream(id, http2.ErrCodeCancel)
					case 5:
						f.begin(id, path)
						f.conn.Close()
						return
					default:
						f.ok(id, path)
					}
				}
			})
			var all sync.WaitGroup
			for i := range total {
				all.Go(func() {
					<-time.After(time.Duration(i%30) * time.Millisecond)
					path := fmt.Sprint("/", i)
					for try := 1; ; try++ {
						resp, err := tr.Fetch(t.Context(), &Request{URL: "https://films.example" + path, Route: route})
						if err == nil {
							err = resp.BodyErr()
						}
						var e *Error
						switch {
						case err == nil && bytes.Equal(resp.Body, []byte(path)):
							return
						case errors.As(err, &e) && e.Temporary() && (e.Kind == ErrClosed || e.Kind == ErrTruncated) && try < most:
							again.Add(1)
						default:
							t.Errorf("seed %d, %s, try %d: %v", seed, path, try, err)
							return
						}
					}
				})
			}
			all.Wait()
		})
	}
	if !t.Failed() {
		fmt.Printf("shown fetch.2: %d requests over HTTP/2 under %d refusals, resets, farewells and closed connections: all answered whole, %d tries of the caller's among them; nothing lost\n",
			6*total, faults.Load(), again.Load())
	}
}

// begin sends the head and the first byte of a body.
func (f *frames) begin(id uint32, body string) {
	var b bytes.Buffer
	_ = hpack.NewEncoder(&b).WriteField(hpack.HeaderField{Name: ":status", Value: "200"})
	_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: b.Bytes(), EndHeaders: true})
	_ = f.WriteData(id, false, []byte(body[:1]))
}
