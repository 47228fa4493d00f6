package fetch

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// bridgeServer answers in the ways that the bridges must carry over.
func bridgeServer(t *testing.T) *httptest.Server {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/gzip":
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			z.Write(page)
			z.Close()
		case "/br":
			w.Header().Set("Content-Encoding", "br")
			w.Write(encode(t, "br", page))
		case "/compress":
			w.Header().Set("Content-Encoding", "compress")
			w.Write([]byte("\x1f\x9d\x90<html>"))
		case "/away":
			http.Redirect(w, r, "/page", http.StatusFound)
		case "/long":
			w.Write(bytes.Repeat([]byte("x"), 100_000))
		case "/cut":
			w.Header().Set("Content-Length", "100")
			io.WriteString(w, "begun")
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		case "/trailer":
			w.Header().Set("Trailer", "X-End")
			io.WriteString(w, "body")
			w.Header().Set("X-End", "yes")
		case "/wait":
			<-r.Context().Done()
		default:
			body, _ := io.ReadAll(r.Body)
			user, password, _ := r.BasicAuth()
			fmt.Fprintf(w, "%s %s %s %s %s%s", r.Method, r.RequestURI, r.Host, body, user, password)
		}
	}))
	srv.Config.ErrorLog = nil
	t.Cleanup(srv.Close)
	return srv
}

func TestFromRoundTripper(t *testing.T) {
	t.Parallel()
	srv := bridgeServer(t)
	host := strings.TrimPrefix(srv.URL, "http://")
	rt := &http.Transport{}
	t.Cleanup(rt.CloseIdleConnections)
	f := FromRoundTripper(rt)
	for _, c := range []struct {
		req       Request
		status    int
		body      string
		truncated ErrorKind
	}{
		{Request{URL: "/page?a=b#c"}, 200, "GET /page?a=b " + host + "  ", 0},
		{Request{URL: "/a|b?q=|%zz"}, 200, "GET /a|b?q=|%zz " + host + "  ", 0},
		{Request{URL: "//x/y"}, 200, "GET //x/y " + host + "  ", 0},
		{Request{URL: "/", Method: "POST", Body: []byte("data"), Header: http.Header{"host": {"virtual.example"}}}, 200, "POST / virtual.example data ", 0},
		{Request{URL: "/gzip"}, 200, string(page), 0},
		{Request{URL: "/gzip", Header: http.Header{"Accept-Encoding": {"gzip"}}}, 200, string(page), 0},
		{Request{URL: "/br"}, 200, string(page), 0},
		{Request{URL: "/away"}, 302, "<a href=\"/page\">Found</a>.\n\n", 0},
		{Request{URL: "/long", MaxBody: 1000}, 200, strings.Repeat("x", 1000), ErrBodyLimit},
		{Request{URL: "/cut"}, 200, "begun", ErrTruncated},
		{Request{URL: "/trailer"}, 200, "body", 0},
		{Request{URL: "/compress"}, 200, "", ErrEncoding},
	} {
		c.req.URL = srv.URL + c.req.URL
		resp, err := f.Fetch(t.Context(), &c.req)
		if err != nil {
			t.Errorf("%s: %v", c.req.URL, err)
			continue
		}
		if resp.Status != c.status || string(resp.Body) != c.body || resp.Truncated != (c.truncated != 0) || c.truncated != 0 && !errors.Is(resp.BodyErr(), c.truncated) {
			t.Errorf("%s: %d %.60q %v", c.req.URL, resp.Status, resp.Body, resp.BodyErr())
		}
		if resp.Request != &c.req || resp.Trace != nil || c.req.URL == srv.URL+"/trailer" && resp.Trailer.Get("X-End") != "yes" {
			t.Errorf("%s: %+v", c.req.URL, resp)
		}
	}
	userInfo := strings.Replace(srv.URL, "//", "//user:p%40ss@", 1) + "/"
	if resp, err := f.Fetch(t.Context(), &Request{URL: userInfo}); err != nil || string(resp.Body) != "GET / "+host+"  userp@ss" {
		t.Errorf("%v %v", resp, err)
	}
	for url, kind := range map[string]ErrorKind{"ftp://a/": ErrInvalid, "nonsense": ErrInvalid} {
		if resp, err := f.Fetch(t.Context(), &Request{URL: url}); resp != nil || !errors.Is(err, kind) {
			t.Errorf("%s: %v %v", url, resp, err)
		}
	}
	if _, err := f.Fetch(t.Context(), &Request{URL: srv.URL, Header: http.Header{"X": {"a\r\nb"}}}); !errors.Is(err, ErrInvalid) {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := f.Fetch(ctx, &Request{URL: srv.URL + "/wait"}); !errors.Is(err, ErrTimeout) {
		t.Errorf("%v", err)
	}
	srv.Close()
	if _, err := f.Fetch(t.Context(), &Request{URL: srv.URL + "/"}); !errors.Is(err, ErrConnect) {
		t.Errorf("nobody listens: %v", err)
	}
}

func TestRoundTripper(t *testing.T) {
	t.Parallel()
	srv := bridgeServer(t)
	host := strings.TrimPrefix(srv.URL, "http://")
	tr := newTransport(t, &Transport{MaxBody: 50_000})
	client := &http.Client{Transport: RoundTripper(tr)}
	for path, want := range map[string]string{
		"/page?a=b": "GET /page?a=b " + host + "  ", "/away": "GET /page " + host + "  ", "/gzip": string(page), "/br": string(page), "/trailer": "body",
	} {
		resp, err := client.Get(srv.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		coded := path == "/gzip" || path == "/br"
		if err != nil || string(body) != want || resp.StatusCode != 200 || resp.Status != "200 OK" || resp.ProtoMajor != 1 ||
			resp.Uncompressed != coded || resp.Header.Get("Content-Encoding") != "" || resp.ContentLength != int64(len(body)) {
			t.Errorf("%s: %+v %.50q %v", path, resp, body, err)
		}
	}
	for path, kind := range map[string]ErrorKind{"/long": ErrBodyLimit, "/cut": ErrTruncated} {
		resp, err := client.Get(srv.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		if !errors.Is(err, kind) || len(body) == 0 || resp.ContentLength != -1 {
			t.Errorf("%s: %d bytes, %v", path, len(body), err)
		}
	}
	resp, err := client.Post(srv.URL+"/", "text/plain", strings.NewReader("data"))
	if err != nil {
		t.Fatal(err)
	}
	if body, _ := io.ReadAll(resp.Body); string(body) != "POST / "+host+" data " {
		t.Errorf("%q", body)
	}
	if resp, err = client.Head(srv.URL + "/gzip"); err != nil || resp.Header.Get("Content-Encoding") != "gzip" {
		t.Errorf("HEAD: %v %v", resp, err)
	}
	req, _ := http.NewRequestWithContext(t.Context(), "GET", srv.URL+"/", nil)
	req.Host = "virtual.example"
	if resp, err = client.Do(req); err != nil {
		t.Fatal(err)
	}
	if body, _ := io.ReadAll(resp.Body); string(body) != "GET / virtual.example  " {
		t.Errorf("%q", body)
	}
	if _, err := client.Get("ftp://a/"); !errors.Is(err, ErrRefused) {
		t.Errorf("%v", err)
	}
	if client.CloseIdleConnections(); tr.Stats().Open != 0 {
		t.Errorf("%+v after CloseIdleConnections", tr.Stats())
	}
}

func TestRoundTripperBodyIsBounded(t *testing.T) {
	t.Parallel()
	var got int
	rt := RoundTripper(FetcherFunc(func(_ context.Context, r *Request) (*Response, error) {
		got = len(r.Body)
		return &Response{Status: 200, Proto: "HTTP/1.1"}, nil
	}))
	for _, over := range []int64{0, 1} {
		body := &closing{Reader: io.LimitReader(&repeat{data: make([]byte, 1<<16)}, MaxBridgeBody+over)}
		req, err := http.NewRequestWithContext(t.Context(), "POST", "http://films.example/", body)
		if err != nil {
			t.Fatal(err)
		}
		_, err = rt.RoundTrip(req)
		if (err != nil) != (over > 0) || err != nil && !errors.Is(err, ErrInvalid) || got != MaxBridgeBody || !body.closed {
			t.Errorf("%d past the bound: %v, %d bytes, closed %v", over, err, got, body.closed)
		}
	}
	broken := errors.New("broken")
	req, _ := http.NewRequestWithContext(t.Context(), "POST", "http://films.example/", io.MultiReader(strings.NewReader("x"), failing{broken}))
	if _, err := rt.RoundTrip(req); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}

// TestRoundTripperBodyEndsWithTheContext has bodies that bring nothing any more.
func TestRoundTripperBodyEndsWithTheContext(t *testing.T) {
	t.Parallel()
	rt := RoundTripper(FetcherFunc(func(_ context.Context, r *Request) (*Response, error) {
		t.Errorf("asked with %q", r.Body)
		return nil, errors.New("asked")
	}))
	post := func(ctx context.Context, body io.Reader) (panics any, err error) {
		defer func() { panics = recover() }()
		req, err := http.NewRequestWithContext(ctx, "POST", "http://films.example/", body)
		if err != nil {
			return nil, err
		}
		_, err = rt.RoundTrip(req)
		return nil, err
	}
	own := errors.New("enough")
	synctest.Test(t, func(t *testing.T) {
		stuck := make(chan struct{})
		pipe, end := io.Pipe()
		for name, body := range map[string]io.Reader{
			"one that Close ends":     pipe,
			"one that nothing ends":   readFunc(func([]byte) (int, error) { <-stuck; return 0, io.EOF }),
			"nothing again and again": readFunc(func([]byte) (int, error) { time.Sleep(time.Millisecond); return 0, nil }),
			"a byte again and again":  readFunc(func([]byte) (int, error) { time.Sleep(time.Millisecond); return 1, nil }),
			"one that fails later":    readFunc(func([]byte) (int, error) { time.Sleep(2 * time.Second); return 0, errors.New("other") }),
		} {
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(time.Second, func() { cancel(own) })
			start := time.Now()
			_, err := post(ctx, body)
			if !errors.Is(err, own) || KindOf(err) != ErrCanceled || time.Since(start) != time.Second {
				t.Errorf("%s: %v after %v", name, err, time.Since(start))
			}
		}
		if _, err := end.Write([]byte("x")); err == nil {
			t.Error("the body is still open")
		}
		close(stuck)
		time.Sleep(2 * time.Second) // what was left behind ends
	})
	if panics, _ := post(t.Context(), readFunc(func([]byte) (int, error) { panic(own) })); panics != own {
		t.Errorf("panicked with %v", panics)
	}
	if _, err := post(t.Context(), readFunc(func([]byte) (int, error) { runtime.Goexit(); return 0, nil })); !errors.Is(err, ErrInvalid) {
		t.Errorf("a reader that ends its goroutine: %v", err)
	}
}

// readFunc is a Reader of one function.
type readFunc func([]byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

type closing struct {
	io.Reader
	closed bool
}

func (c *closing) Close() error { c.closed = true; return nil }
