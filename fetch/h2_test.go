package fetch

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seine-go/seine/internal/memhttp"
)

// h2Client returns a Transport and a host that speaks HTTP/2, in memory.
func h2Client(t *testing.T, tr *Transport, handler http.HandlerFunc) (*Transport, *memhttp.Network, Route) {
	t.Helper()
	ca := newAuthority(t)
	n := new(memhttp.Network)
	l, err := n.Listen("films.example:443")
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: handler, TLSConfig: &tls.Config{
		Certificates: []tls.Certificate{ca.issue(t, time.Now().Add(24*time.Hour), "films.example")}, NextProtos: []string{"h2"},
	}}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		srv.ServeTLS(l, "", "")
	}()
	t.Cleanup(func() {
		tr.Close()
		srv.Close()
		<-ended
	})
	return memTransport(n, tr), n, Route{ServerName: ServerName{RootCAs: ca.pool}}
}

func TestHTTP2Exchange(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tr, n, route := h2Client(t, &Transport{}, func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			w.Header().Set("Trailer", "X-End")
			fmt.Fprintf(w, "%s %s %s %q %v %s %s|", r.Method, r.Host, r.RequestURI, body, r.TLS != nil, r.UserAgent(), r.Header["X-A"])
			w.Header().Set("X-End", "yes")
		})
		for _, c := range []struct {
			req  Request
			want string
		}{
			{Request{URL: "https://films.example/a/../b?c=%zz&d=|#e", Header: http.Header{"X-A": {"1", "2"}}}, `GET films.example /b?c=%zz&d=| "" true ` + DefaultUserAgent + ` [1 2]|`},
			{Request{URL: "https://films.example//x//y", Header: http.Header{"user-agent": {"mine"}}}, `GET films.example //x//y "" true mine []|`},
			{Request{URL: "https://films.example/", Method: "POST", Body: []byte("data"), Header: http.Header{"Host": {"virtual.example"}, "User-Agent": nil, "Connection": {"close"}}}, `POST virtual.example / "data" true  []|`},
			{Request{URL: "https://films.example/", Method: "POST"}, `POST films.example / "" true ` + DefaultUserAgent + ` []|`},
		} {
			c.req.Route = route
			resp, err := tr.Fetch(t.Context(), &c.req)
			if err != nil {
				t.Errorf("%s: %v", c.req.URL, err)
				continue
			}
			if string(resp.Body) != c.want || resp.Proto != "HTTP/2.0" || resp.Trailer.Get("X-End") != "yes" || resp.RawHeader != nil {
				t.Errorf("%s: %s %q %v, want %q", c.req.URL, resp.Proto, resp.Body, resp.Trailer, c.want)
			}
			for _, f := range resp.Trace.Sent {
				if f.Name != strings.ToLower(f.Name) || f.Name == "connection" {
					t.Errorf("sent %v", f)
				}
			}
		}
		if n.Dialled() != 1 {
			t.Errorf("%d dials", n.Dialled())
		}
		if _, err := tr.Fetch(t.Context(), &Request{URL: "https://films.example/", Method: "HEAD", Route: route}); err != nil {
			t.Errorf("HEAD: %v", err)
		}
	})
}

func TestHTTP2Limits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		tr      *Transport
		handler http.HandlerFunc
		kind    ErrorKind
		inBody  bool // the answer is delivered, cut
		after   time.Duration
		most    time.Duration
	}{
		{
			"body limit", &Transport{MaxBody: 1000},
			func(w http.ResponseWriter, r *http.Request) {
				for {
					if _, err := w.Write(make([]byte, 1<<16)); err != nil {
						return
					}
				}
			}, ErrBodyLimit, true, 0, 0,
		},
		{"no answer", &Transport{}, func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, ErrTimeout, false, defaultHeaderTimeout, defaultHeaderTimeout},
		{
			"no more body", &Transport{},
			func(w http.ResponseWriter, r *http.Request) {
				io.WriteString(w, "begun")
				w.(http.Flusher).Flush()
				<-r.Context().Done()
			}, ErrTimeout, true, idleReadTimeout, idleReadTimeout,
		},
		{
			"a byte a second", &Transport{},
			func(w http.ResponseWriter, r *http.Request) { dripH2(w, r, "x") }, ErrTooSlow, true, rateWindow, rateWindow + 2*time.Second,
		},
		{
			"for ever, within the rate", &Transport{},
			func(w http.ResponseWriter, r *http.Request) { dripH2(w, r, strings.Repeat("x", 100)) }, ErrTimeout, true, defaultTotal, defaultTotal,
		},
		{
			"reset", &Transport{},
			func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Length", "100")
				io.WriteString(w, "begun")
				w.(http.Flusher).Flush()
				panic(http.ErrAbortHandler)
			}, ErrTruncated, true, 0, 0,
		},
		{"reset before the head", &Transport{}, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, ErrClosed, false, 0, 0},
		{
			"head limit", &Transport{MaxHeader: 10_000},
			func(w http.ResponseWriter, r *http.Request) {
				for i := range 3 {
					w.Header().Set(fmt.Sprint("X", i), strings.Repeat("y", 4_000))
				}
			}, ErrHeaderLimit, false, 0, 0,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				tr, n, route := h2Client(t, c.tr, func(w http.ResponseWriter, r *http.Request) {
					if r.URL.Path == "/after" {
						okHandler(w, r)
						return
					}
					c.handler(w, r)
				})
				start := time.Now()
				resp, err := tr.Fetch(t.Context(), &Request{URL: "https://films.example/", Route: route})
				if d := time.Since(start); d < c.after || d > c.most {
					t.Errorf("after %v", d)
				}
				if c.inBody {
					if err != nil {
						t.Fatal(err)
					}
					err = resp.BodyErr()
					if !resp.Truncated || len(resp.Body) == 0 {
						t.Errorf("%d bytes, truncated %v", len(resp.Body), resp.Truncated)
					}
				}
				if !errors.Is(err, c.kind) {
					t.Errorf("%v", err)
				}
				// One stream's end is not the connection's.
				resp, err = tr.Fetch(t.Context(), &Request{URL: "https://films.example/after", Route: route})
				if err != nil || string(resp.Body) != "ok" || n.Dialled() != 1 {
					t.Errorf("afterwards: %v, %d dials", err, n.Dialled())
				}
			})
		})
	}
}

func dripH2(w http.ResponseWriter, r *http.Request, text string) {
	for {
		if _, err := io.WriteString(w, text); err != nil {
			return
		}
		w.(http.Flusher).Flush()
		select {
		case <-r.Context().Done():
			return
		case <-time.After(time.Second):
		}
	}
}

// TestHTTP2ConnectionsAreReplaced: a connection that the host ends does not cost a request.
func TestHTTP2ConnectionsAreReplaced(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tr, n, route := h2Client(t, &Transport{}, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/last" {
				w.Header().Set("Connection", "close") // GOAWAY
			}
			okHandler(w, r)
		})
		for i, path := range []string{"/", "/last", "/", "/"} {
			resp, err := tr.Fetch(t.Context(), &Request{URL: "https://films.example" + path, Route: route})
			if err != nil || string(resp.Body) != "ok" {
				t.Errorf("%d: %v %v", i, resp, err)
			}
			synctest.Wait()
		}
		if s := tr.Stats(); n.Dialled() != 2 || s.Open != 1 {
			t.Errorf("%d dials, %+v", n.Dialled(), s)
		}
		<-time.After(2 * defaultIdleTimeout)
		synctest.Wait()
		if n.Open() != 0 {
			t.Errorf("%d connections are open", n.Open())
		}
	})
}

func TestHTTP2CancelAndConcurrency(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tr, n, route := h2Client(t, &Transport{}, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/never" {
				<-r.Context().Done()
				return
			}
			io.Copy(w, r.Body)
		})
		var all sync.WaitGroup
		big := bytes.Repeat([]byte("0123456789"), 20_000)
		for i := range 300 {
			all.Go(func() {
				if i%3 == 0 {
					ctx, cancel := context.WithTimeout(t.Context(), time.Second)
					defer cancel()
					start := time.Now()
					_, err := tr.Fetch(ctx, &Request{URL: "https://films.example/never", Route: route})
					if !errors.Is(err, ErrTimeout) || !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second {
						t.Errorf("%v after %v", err, time.Since(start))
					}
					return
				}
				resp, err := tr.Fetch(t.Context(), &Request{URL: "https://films.example/", Method: "POST", Body: big, Route: route})
				if err != nil || !bytes.Equal(resp.Body, big) {
					t.Errorf("%v", err)
				}
			})
		}
		all.Wait()
		if n.Dialled() > 3 { // 100 streams a connection are allowed until the host has said more
			t.Errorf("%d dials", n.Dialled())
		}
	})
}
