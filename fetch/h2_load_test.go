package fetch

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestHTTP2OnSockets has thousands of exchanges of all kinds at once with a host that breaks connections: each ends in the
// whole answer or in an error that is explained, and nothing is left behind. It is not parallel: it counts goroutines.
func TestHTTP2OnSockets(t *testing.T) {
	const workers, each = 40, 60
	before := runtime.NumGoroutine()
	var good, cancelled, broken atomic.Int32
	var stats PoolStats
	t.Run("exchanges", func(t *testing.T) {
		ca := newAuthority(t)
		host := newTLSHost(t, &tls.Config{Certificates: []tls.Certificate{ca.issue(t, time.Now().Add(time.Hour), "films.example")}}, func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/echo":
				_, _ = io.Copy(w, r.Body)
			case "/never":
				<-r.Context().Done()
			case "/last":
				w.Header().Set("Connection", "close") // GOAWAY
				_, _ = io.WriteString(w, "ok")
			default:
				_, _ = w.Write(bytes.Repeat([]byte("x"), 20_000))
			}
		})
		tr := toHost(t, host.Listener.Addr().String(), &Transport{})
		route := Route{ServerName: ServerName{RootCAs: ca.pool}}
		var all sync.WaitGroup
		for i := range workers {
			all.Go(func() {
				rnd := rand.New(rand.NewPCG(uint64(i), 3))
				for n := range each {
					size := 4_000
					if n%8 == 0 { // more than a frame, and than the first window; under the race detector each byte counts
						size = 100_000
					}
					body := bytes.Repeat([]byte{byte(n)}, rnd.IntN(size))
					req := &Request{URL: "https://films.example/echo", Method: "PUT", Body: body, Route: route}
					ctx, cancel := t.Context(), context.CancelFunc(func() {})
					switch rnd.IntN(16) {
					case 0, 1:
						req.URL = "https://films.example/never"
						ctx, cancel = context.WithTimeout(ctx, time.Duration(rnd.IntN(20))*time.Millisecond)
					case 2, 3:
						ctx, cancel = context.WithTimeout(ctx, time.Duration(rnd.IntN(3000))*time.Microsecond)
					case 4, 5:
						*req = Request{URL: "https://films.example/large", MaxBody: 1000, Route: route}
					case 6:
						*req = Request{URL: "https://films.example/last", Route: route}
					}
					if i == 0 && n%20 == 10 {
						host.CloseClientConnections()
					}
					resp, err := tr.Fetch(ctx, req)
					cancel()
					switch {
					case err == nil && resp.BodyErr() == nil && (string(resp.Body) == "ok" || bytes.Equal(resp.Body, body)):
						good.Add(1)
					case err == nil && len(resp.Body) == 1000 && errors.Is(resp.BodyErr(), ErrBodyLimit):
						good.Add(1)
					case err == nil && errors.Is(resp.BodyErr(), ErrTruncated), errors.Is(err, ErrClosed), errors.Is(err, ErrTLS), errors.Is(err, ErrConnect):
						broken.Add(1) // only by CloseClientConnections, which may meet all that is under way
					case errors.Is(err, context.DeadlineExceeded):
						cancelled.Add(1)
					default:
						t.Errorf("%s: %v, %v", req.URL, resp, err)
					}
				}
			})
		}
		all.Wait()
		tr.Close()
		stats = tr.Stats()
	})
	if most := int32(3 * 2 * workers); broken.Load() > most || good.Load() < workers*each/2 || stats.Open != 0 {
		t.Errorf("%d good, %d cancelled, %d broken, %+v", good.Load(), cancelled.Load(), broken.Load(), stats)
	}
	for range 500 {
		if runtime.NumGoroutine() <= before {
			break
		}
		<-time.After(10 * time.Millisecond)
	}
	if n := runtime.NumGoroutine(); n > before {
		t.Errorf("%d goroutines, before %d", n, before)
	}
	if !t.Failed() {
		fmt.Printf("shown fetch.2: %d exchanges over HTTP/2 on sockets, %d at a time, with connections closed in between: %d whole, %d cancelled, %d broken off and told so; no goroutine or connection left\n",
			workers*each, workers, good.Load(), cancelled.Load(), broken.Load())
	}
}
