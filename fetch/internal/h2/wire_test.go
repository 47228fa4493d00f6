package h2

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/seine-go/seine/internal/memhttp"
)

var errPlace = errors.New("no place")

// serve connects to a net/http server in memory.
func serve(t testing.TB, conf Config, handler http.HandlerFunc) *Conn {
	t.Helper()
	network := new(memhttp.Network)
	l, err := network.Listen("films.example:80")
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: handler, Protocols: new(http.Protocols), HTTP2: &http.HTTP2Config{MaxConcurrentStreams: 10_000}}
	srv.Protocols.SetUnencryptedHTTP2(true)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = srv.Serve(l)
	}()
	client, err := network.DialContext(t.Context(), "tcp", "films.example:80")
	if err != nil {
		t.Fatal(err)
	}
	c := NewConn(client, conf)
	t.Cleanup(func() {
		_ = c.Close()
		_ = srv.Close()
		<-ended
	})
	return c
}

// list makes fields of names and values.
func list(pairs ...string) (fields []Field) {
	for i := 0; i < len(pairs); i += 2 {
		fields = append(fields, Field{Name: pairs[i], Value: pairs[i+1]})
	}
	return fields
}

// do has a whole exchange.
func do(ctx context.Context, c *Conn, r *Request) (Response, []byte, error) {
	if !c.Reserve() {
		return Response{}, nil, errPlace
	}
	return doReserved(ctx, c, r)
}

// doReserved is do on a place that is reserved.
func doReserved(ctx context.Context, c *Conn, r *Request) (Response, []byte, error) {
	if r.Scheme == "" {
		r.Scheme, r.Authority = "https", "films.example"
	}
	s, err := c.Do(ctx, r)
	if err != nil {
		return Response{}, nil, err
	}
	body, err := io.ReadAll(s)
	resp := s.Response
	_ = s.Close()
	return resp, body, err
}

func TestExchange(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := serve(t, Config{}, func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			w.Header().Set("Trailer", "X-End")
			fmt.Fprintf(w, "%s %s %s %v %d %x", r.Method, r.Host, r.RequestURI, r.Header, len(body), sha256.Sum256(body))
			w.Header().Set("X-End", "yes")
		})
		big := bytes.Repeat([]byte("0123456789"), 100_000)
		for _, r := range []Request{
			{Path: "/a?b"},
			{Method: "POST", Path: "/", Body: big, Header: list("X-A", "1", "x-b", "2")},
		} {
			resp, body, err := do(t.Context(), c, &r)
			if err != nil || resp.Status != 200 || resp.Trailer.Get("X-End") != "yes" {
				t.Errorf("%v %v %q", err, resp, body)
			}
			want := fmt.Sprintf("%d %x", len(r.Body), sha256.Sum256(r.Body))
			if !bytes.HasSuffix(body, []byte(want)) {
				t.Errorf("%s, want %s", body, want)
			}
		}
		if c.places != 0 || len(c.streams) != 0 {
			t.Errorf("%d places, %d streams", c.places, len(c.streams))
		}
	})
}

func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	c := serve(t, Config{Limits: Limits{Streams: 5000}}, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(w, r.Body)
	})
	var all sync.WaitGroup
	if _, _, err := do(t.Context(), c, &Request{Path: "/"}); err != nil {
		t.Fatal(err)
	}
	for i := range 2000 {
		all.Go(func() {
			want := bytes.Repeat([]byte{byte(i)}, i*20)
			_, body, err := do(t.Context(), c, &Request{Method: "POST", Path: fmt.Sprint("/", i), Body: want})
			if err != nil || !bytes.Equal(body, want) {
				t.Errorf("%d: %v, %d bytes of %d", i, err, len(body), len(want))
			}
		})
	}
	all.Wait()
}
