package fetch

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seine-go/seine/ratelimit"
)

// sinkSite answers with as many bytes as the path says, in the form that the query asks for.
func sinkSite(t *testing.T) *httptest.Server {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		size, err := strconv.Atoi(r.URL.Path[1:])
		data := bytes.Repeat([]byte("film "), size/5+1)[:size]
		switch {
		case err != nil:
			http.Error(w, "no", http.StatusNotFound)
		case r.URL.RawQuery == "hop":
			w.Header().Set("Location", r.URL.Path)
			w.WriteHeader(http.StatusFound)
			w.Write([]byte("a body that no sink sees"))
		case r.URL.RawQuery == "chunked":
			w.WriteHeader(http.StatusOK)
			w.(http.Flusher).Flush()
			w.Write(data)
		case r.URL.RawQuery == "gzip":
			w.Header().Set("Content-Encoding", "gzip")
			w.Write(encode(t, "gzip", data))
		case r.URL.RawQuery == "short":
			w.Header().Set("Content-Length", strconv.Itoa(size+1))
			w.Write(data)
		default:
			w.Header().Set("Content-Length", strconv.Itoa(size))
			w.Write(data)
		}
	}))
	t.Cleanup(srv.Close)
	return srv
}

func TestSink(t *testing.T) {
	t.Parallel()
	srv := sinkSite(t)
	tr := newTransport(t, &Transport{})
	for _, f := range []Fetcher{tr, FromRoundTripper(http.DefaultTransport)} {
		for _, c := range []struct {
			query string
			size  int
			limit int64
			want  int64
			cut   error
		}{
			{"", 0, 0, 0, nil},
			{"", 300_000, 0, 300_000, nil},
			{"", 1000, 1000, 1000, nil},
			{"", 1001, 1000, 1000, ErrBodyLimit},
			{"", 3 << 20, -1, 3 << 20, nil},
			{"chunked", 300_000, 0, 300_000, nil},
			{"chunked", 100_001, 100_000, 100_000, ErrBodyLimit},
			{"gzip", 300_000, 0, 300_000, nil},
			{"gzip", 300_000, 300_000, 300_000, nil},
			{"gzip", 300_001, 300_000, 300_000, ErrBodyLimit},
			{"short", 5000, 0, 5000, ErrTruncated},
		} {
			var got bytes.Buffer
			asked := 0
			resp, err := f.Fetch(t.Context(), &Request{
				URL: srv.URL + "/" + strconv.Itoa(c.size) + "?" + c.query, MaxBody: c.limit,
				Sink: func(head *Response) (io.Writer, error) {
					if asked++; head.Status != 200 || head.Body != nil || head.Request == nil {
						t.Errorf("the sink sees %+v", head)
					}
					return &got, nil
				},
			})
			if err != nil {
				t.Errorf("%T %+v: %v", f, c, err)
				continue
			}
			if asked != 1 || resp.Body != nil || resp.Size() != c.want || int64(got.Len()) != c.want || !errors.Is(resp.BodyErr(), c.cut) || resp.Truncated != (c.cut != nil) {
				t.Errorf("%T %+v: %d bytes of %d, asked %d times, %v", f, c, got.Len(), resp.Size(), asked, resp.BodyErr())
			}
			if want := strings.Repeat("film ", c.size/5+1)[:c.want]; got.String() != want {
				t.Errorf("%T %+v: other bytes", f, c)
			}
		}
	}
}

func TestSinkSeesTheLastAnswerOnly(t *testing.T) {
	t.Parallel()
	srv := sinkSite(t)
	tr := newTransport(t, &Transport{})
	var heads []int
	resp, err := tr.Fetch(t.Context(), &Request{URL: srv.URL + "/10?hop", Sink: func(head *Response) (io.Writer, error) {
		heads = append(heads, len(head.Redirects))
		return nil, nil // in memory, as usual
	}})
	if err != nil || string(resp.Body) != "film film " || resp.Size() != 10 || len(heads) != 1 || heads[0] != 1 {
		t.Errorf("%v, heads %v, %+v", err, heads, resp)
	}
	for name, req := range map[string]*Request{"HEAD": {URL: srv.URL + "/10", Method: "HEAD"}, "an error page": {URL: srv.URL + "/x"}} {
		var got bytes.Buffer
		req.Sink = func(*Response) (io.Writer, error) { return &got, nil }
		if resp, err := tr.Fetch(t.Context(), req); err != nil || resp.Size() != int64(got.Len()) || resp.Body != nil {
			t.Errorf("%s: %v %+v", name, err, resp)
		}
	}
}

// faulty fails, or panics, at the n-th write.
type faulty struct {
	n     int
	panic bool
	short bool
}

var errDisk = errors.New("the disk is full")

func (f *faulty) Write(p []byte) (int, error) {
	f.n--
	switch {
	case f.n > 0:
		return len(p), nil
	case f.panic:
		panic(errDisk)
	case f.short:
		return len(p) - 1, nil
	}
	return 0, errDisk
}

// left counts who is inside the gate.
type left struct{ inside atomic.Int64 }

func (g *left) Enter(context.Context, string, netip.Addr) (func(ratelimit.Report), error) {
	g.inside.Add(1)
	return func(r ratelimit.Report) {
		if r.Class == ratelimit.NetError {
			panic("the host is blamed for it")
		}
		g.inside.Add(-1)
	}, nil
}

func TestSinkFails(t *testing.T) {
	t.Parallel()
	srv := sinkSite(t)
	g := &left{}
	tr := newTransport(t, &Transport{Gate: g})
	fetch := func(sink Sink) (err error) {
		defer func() {
			if v := recover(); v != nil {
				err = v.(error)
			}
		}()
		_, err = tr.Fetch(t.Context(), &Request{URL: srv.URL + "/300000", Sink: sink})
		return err
	}
	to := func(w io.Writer) Sink { return func(*Response) (io.Writer, error) { return w, nil } }
	for name, c := range map[string]struct {
		sink Sink
		want []error
	}{
		"the sink":         {func(*Response) (io.Writer, error) { return nil, errDisk }, []error{ErrSink, errDisk}},
		"the sink panics":  {func(*Response) (io.Writer, error) { panic(errDisk) }, []error{errDisk}},
		"the first write":  {to(&faulty{n: 1}), []error{ErrSink, errDisk}},
		"a later write":    {to(&faulty{n: 3}), []error{ErrSink, errDisk}},
		"a short write":    {to(&faulty{n: 2, short: true}), []error{ErrSink, io.ErrShortWrite}},
		"the write panics": {to(&faulty{n: 2, panic: true}), []error{errDisk}},
	} {
		err := fetch(c.sink)
		for _, want := range c.want {
			if !errors.Is(err, want) {
				t.Errorf("%s: %v, want %v", name, err, want)
			}
		}
		var failure *Error
		if errors.As(err, &failure) && (failure.Temporary() || failure.URL == "") {
			t.Errorf("%s: %+v", name, failure)
		}
		if n := g.inside.Load(); n != 0 {
			t.Fatalf("%s: %d inside the gate", name, n)
		}
		if err := fetch(nil); err != nil {
			t.Errorf("after %s: %v", name, err)
		}
	}
}

func TestSinkOverHTTP2(t *testing.T) {
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write(make([]byte, 200_000)) }))
	srv.EnableHTTP2 = true
	srv.StartTLS()
	defer srv.Close()
	tr := newTransport(t, &Transport{})
	var got bytes.Buffer
	req := &Request{URL: srv.URL, Route: Route{ServerName: ServerName{Insecure: true}}, Sink: func(*Response) (io.Writer, error) { return &got, nil }}
	resp, err := tr.Fetch(t.Context(), req)
	if err != nil || resp.Proto != "HTTP/2.0" || resp.Size() != 200_000 || got.Len() != 200_000 {
		t.Errorf("%v, %d bytes, %+v", err, got.Len(), resp)
	}
	req.Sink = func(*Response) (io.Writer, error) { return &faulty{n: 2}, nil }
	if _, err := tr.Fetch(t.Context(), req); !errors.Is(err, ErrSink) {
		t.Error(err)
	}
}
