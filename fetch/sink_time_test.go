package fetch

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seine-go/seine/internal/memhttp"
)

// writing is a writer that does as it is told at each Write.
type writing func() error

func (w writing) Write(p []byte) (int, error) { return len(p), w() }

// overBoth runs a test with a host that is spoken to in HTTP/1 and with one in HTTP/2.
func overBoth(t *testing.T, tr func() *Transport, handler http.HandlerFunc, test func(t *testing.T, tr *Transport, req Request)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var n memhttp.Network
		n.Serve(t, "films.example:80", handler)
		tr := memTransport(&n, tr())
		defer tr.Close()
		test(t, tr, Request{URL: "http://films.example/"})
	})
	synctest.Test(t, func(t *testing.T) {
		tr, _, route := h2Client(t, tr(), handler)
		test(t, tr, Request{URL: "https://films.example/", Route: route})
	})
}

// TestTimeOfTheSinkIsNotTheHosts: what the caller's own writer takes, as where it waits for a limiter, is no part of Total;
// what the host takes is.
func TestTimeOfTheSinkIsNotTheHosts(t *testing.T) {
	t.Parallel()
	body := bytes.Repeat([]byte("x"), 1<<20)
	for _, c := range []struct {
		name string
		host time.Duration // that it takes for each half
		own  time.Duration // that the writer takes for each piece
		kind ErrorKind
	}{
		{"a slow writer", 0, time.Minute, 0},
		{"both are slow", 4 * time.Second, time.Minute, 0},
		{"a slow host", 6 * time.Second, 0, ErrTimeout},
	} {
		overBoth(t, func() *Transport { return &Transport{Total: 10 * time.Second} }, func(w http.ResponseWriter, r *http.Request) {
			for _, half := range [][]byte{body[:len(body)/2], body[len(body)/2:]} {
				select {
				case <-time.After(c.host):
				case <-r.Context().Done():
					return
				}
				_, _ = w.Write(half)
				w.(http.Flusher).Flush()
			}
		}, func(t *testing.T, tr *Transport, req Request) {
			var got bytes.Buffer
			req.Sink = func(*Response) (io.Writer, error) {
				<-time.After(c.own)
				return io.MultiWriter(&got, writing(func() error {
					<-time.After(c.own)
					return nil
				})), nil
			}
			resp, err := tr.Fetch(t.Context(), &req)
			if err == nil {
				err = resp.BodyErr()
			}
			if KindOf(err) != c.kind || c.kind == 0 && (err != nil || !bytes.Equal(got.Bytes(), body)) {
				t.Errorf("%s, %s: %v, %d bytes", c.name, req.URL, err, got.Len())
			}
		})
	}
}

// TestEndOfTheContextInASink: a writer that fails since the context has ended is no failure of the writer.
func TestEndOfTheContextInASink(t *testing.T) {
	t.Parallel()
	for _, deadline := range []bool{true, false} {
		overBoth(t, func() *Transport { return &Transport{} }, okHandler, func(t *testing.T, tr *Transport, req Request) {
			ctx, cancel := context.WithCancel(t.Context())
			kind, want := ErrCanceled, context.Canceled
			if deadline {
				ctx, cancel = context.WithTimeout(t.Context(), time.Second)
				kind, want = ErrTimeout, context.DeadlineExceeded
			} else {
				time.AfterFunc(time.Second, cancel)
			}
			defer cancel()
			req.Sink = func(*Response) (io.Writer, error) {
				return writing(func() error {
					<-ctx.Done()
					return errors.New("the limiter: " + ctx.Err().Error())
				}), nil
			}
			if _, err := tr.Fetch(ctx, &req); !errors.Is(err, kind) || !errors.Is(err, want) {
				t.Errorf("%s: %v", req.URL, err)
			}
		})
	}
}

// TestTrailersOfACutBody: trailers that come as a body is cut are there whole or not at all. It is for the race detector.
func TestTrailersOfACutBody(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	host := newTLSHost(t, &tls.Config{Certificates: []tls.Certificate{ca.issue(t, time.Now().Add(time.Hour), "films.example")}}, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Trailer", "X-End")
		_, _ = w.Write(bytes.Repeat([]byte("x"), 1001))
		w.(http.Flusher).Flush()
		w.Header().Set("X-End", "yes")
	})
	tr := toHost(t, host.Listener.Addr().String(), &Transport{})
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				resp, err := tr.Fetch(t.Context(), &Request{URL: "https://films.example/", MaxBody: 1000, Route: Route{ServerName: ServerName{RootCAs: ca.pool}}})
				if err != nil || !errors.Is(resp.BodyErr(), ErrBodyLimit) || resp.Trailer != nil && resp.Trailer.Get("X-End") != "yes" {
					t.Errorf("%v, %v", err, resp)
					return
				}
			}
		})
	}
	all.Wait()
}
