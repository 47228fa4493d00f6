package fetch

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seine-go/seine/internal/memhttp"
	"github.com/seine-go/seine/proxy"
)

// The tests of this file are named after known failures of other crawlers.

// rawHost answers every request with the same bytes and closes the connection.
func rawHost(t testing.TB, raw string) string {
	return "http://" + serveRaw(t, func(conn net.Conn) {
		if _, err := readTarget(conn); err == nil {
			io.WriteString(conn, raw)
		}
	})
}

func TestOddHeadersAreDelivered_K052(t *testing.T) {
	t.Parallel()
	for name, fields := range map[string]string{
		"curly quotes in a name": "\xe2\x80\x9cX\xe2\x80\x9d: y\r\nContent-Length: 5\r\n\r\nhello",
		"0x94 in a value":        "X: a\x94b\r\nContent-Length: 5\r\n\r\nhello",
		"type is not UTF-8":      "Content-Type: text/html; charset=\xff\xfe\r\nContent-Length: 5\r\n\r\nhello",
		"chunked twice":          "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
		"a line without a colon": "nonsense\r\nContent-Length: 5\r\n\r\nhello",
	} {
		tr := newTransport(t, &Transport{})
		resp, err := tr.Fetch(t.Context(), &Request{URL: rawHost(t, "HTTP/1.1 200 OK\r\n"+fields)})
		if err != nil || string(resp.Body) != "hello" || resp.Truncated {
			t.Errorf("%s: %+v %v", name, resp, err)
			continue
		}
		head, _, _ := strings.Cut(fields, "\r\n\r\n")
		if want := "HTTP/1.1 200 OK\r\n" + head + "\r\n\r\n"; string(resp.RawHeader) != want {
			t.Errorf("%s: raw header %q", name, resp.RawHeader)
		}
	}
}

func TestHeadIsBounded_K053(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"100 MB of headers": "X: " + strings.Repeat("y", 8000) + "\r\n",
		"a million headers": "X: y\r\n",
		"a cookie of 10 MB": strings.Repeat("y", 8000),
		"10,000 times 103":  "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n",
	} {
		var sent int
		done := make(chan struct{})
		url := "http://" + serveRaw(t, func(conn net.Conn) {
			defer close(done)
			readTarget(conn)
			n := 0
			if name != "10,000 times 103" {
				n, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nSet-Cookie: ")
			}
			sent = n + drip(conn, text, 0)
		})
		tr := newTransport(t, &Transport{HeaderTimeout: -1}) // the bound is of bytes, on however slow a machine
		resp, err := tr.Fetch(t.Context(), &Request{URL: url})
		if resp != nil || !errors.Is(err, ErrHeaderLimit) {
			t.Errorf("%s: %v %v", name, resp, err)
		}
		<-done // the connection was closed
		if sent > 64<<20 {
			t.Errorf("%s: the host could send %d bytes", name, sent)
		}
		if s := tr.Stats(); s.Open != 0 {
			t.Errorf("%s: %+v", name, s)
		}
	}
	for _, over := range []int{0, 1} { // at the bound and one past it
		const limit = 10_000
		head := "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX: "
		head += strings.Repeat("y", limit+over-len(head)-4) + "\r\n\r\n"
		tr := newTransport(t, &Transport{MaxHeader: limit})
		_, err := tr.Fetch(t.Context(), &Request{URL: rawHost(t, head)})
		if (err != nil) != (over > 0) || err != nil && !errors.Is(err, ErrHeaderLimit) {
			t.Errorf("%d past the limit: %v", over, err)
		}
	}
	t.Run("a header line at one byte per second", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var n memhttp.Network
			serveMem(t, &n, "slow.example:80", func(conn net.Conn) {
				readTarget(conn)
				io.WriteString(conn, "HTTP/1.1 200 OK\r\nX: ")
				drip(conn, "y", time.Second)
			})
			tr := memTransport(&n, &Transport{})
			defer tr.Close()
			start := time.Now()
			_, err := tr.Fetch(t.Context(), &Request{URL: "http://slow.example/"})
			if !errors.Is(err, ErrTimeout) || time.Since(start) != defaultHeaderTimeout || n.Open() != 0 {
				t.Errorf("%v after %v", err, time.Since(start))
			}
		})
	})
}

func TestEveryStatusHasItsNumber_K054(t *testing.T) {
	t.Parallel()
	for _, status := range []int{100 + 99, 200, 203, 204, 206, 226, 299, 304, 404, 418, 451, 499, 520, 599, 600, 999} {
		tr := newTransport(t, &Transport{})
		resp, err := tr.Fetch(t.Context(), &Request{URL: rawHost(t, fmt.Sprintf("HTTP/1.1 %d\r\nContent-Length: 0\r\n\r\n", status))})
		if status < 200 { // only 1xx answers, and then nothing
			if !errors.Is(err, ErrClosed) {
				t.Errorf("%d: %v", status, err)
			}
			continue
		}
		if err != nil || resp.Status != status {
			t.Errorf("%d: %v %v", status, resp, err)
			continue
		}
		good := status >= 200 && status < 300 || status == 304
		err = resp.StatusErr()
		var se *StatusError
		if (err == nil) != good || err != nil && (!errors.As(err, &se) || se.Status != status || !strings.Contains(err.Error(), fmt.Sprint(status))) {
			t.Errorf("%d: %v", status, err)
		}
	}
}

func TestConnectionsStayNearTheWorkers_K056(t *testing.T) {
	t.Parallel()
	pages, workers := 8000, 64
	if raceEnabled {
		pages = 1000
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "page") }))
	defer srv.Close()
	tr := newTransport(t, &Transport{})
	work := make(chan int)
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for range work {
				if _, err := tr.Fetch(t.Context(), &Request{URL: srv.URL + "/"}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for i := range pages {
		work <- i
	}
	close(work)
	all.Wait()
	if s := tr.Stats(); s.Opened > int64(workers+workers/4) {
		t.Errorf("%d connections for %d workers", s.Opened, workers)
	}
}

func TestTransportAndProxyBothTakeEffect_K057(t *testing.T) {
	t.Parallel()
	route, err := proxy.Parse("http://proxy.example:3128")
	if err != nil {
		t.Fatal(err)
	}
	called := false
	rt := roundTripFunc(func(*http.Request) (*http.Response, error) { called = true; return nil, errors.New("called") })
	for name, r := range map[string]Route{
		"proxy": {Proxy: route}, "name": {ServerName: ServerName{SNI: "front.example"}}, "roots": {ServerName: ServerName{Insecure: true}},
	} {
		resp, err := FromRoundTripper(rt).Fetch(t.Context(), &Request{URL: "http://films.example/", Route: r})
		if resp != nil || !errors.Is(err, ErrInvalid) || called {
			t.Errorf("%s: %v %v", name, resp, err)
		}
	}
	if _, err := FromRoundTripper(rt).Fetch(t.Context(), &Request{URL: "http://films.example/", Route: Route{Session: "a"}}); !called || errors.Is(err, ErrInvalid) {
		t.Errorf("a session is no way: %v", err)
	}
	// A dial function of the caller and a proxy: the function leads to the proxy, and the proxy is asked.
	var dialled string
	asked := make(chan string, 1)
	addr := serveRaw(t, func(conn net.Conn) {
		line, _ := readTarget(conn)
		asked <- line
	})
	tr := newTransport(t, &Transport{
		Resolver: &fakeNet{names: map[string][]string{"proxy.example": {"10.1.1.1"}}},
		Dial: func(ctx context.Context, network, to string) (net.Conn, error) {
			dialled = to
			return new(net.Dialer).DialContext(ctx, network, addr)
		},
	})
	for _, c := range []struct {
		route proxy.Route
		asked string
		err   ErrorKind
	}{{route, "http://films.example/", ErrClosed}, {route.WithTunnels(), "films.example:80", ErrProxy}} {
		_, err = tr.Fetch(t.Context(), &Request{URL: "http://films.example/", Route: Route{Proxy: c.route}})
		if got := <-asked; dialled != "10.1.1.1:3128" || got != c.asked || !errors.Is(err, c.err) {
			t.Errorf("dialled %q, asked for %q, %v", dialled, got, err)
		}
	}
}

type roundTripFunc func(*http.Request) (*http.Response, error)

func (f roundTripFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestRelativeLocations_K061(t *testing.T) {
	t.Parallel()
	for location, want := range map[string]string{
		"/pkg/": "/pkg/", "?start=60": "/list/films?start=60", "next": "/list/next", "../up?a=b": "/up?a=b", "": "", "#frag": "",
		"/gb\xb5\xe7": "/gb%B5%E7", "/\xe7\x94\xb5": "/%E7%94%B5", "http://[::1%zz]/": "", "//": "", "http://exa mple/": "",
	} {
		addr := serveRaw(t, func(conn net.Conn) {
			for first := true; ; first = false {
				target, err := readTarget(conn)
				if err != nil {
					return
				}
				if first {
					fmt.Fprintf(conn, "HTTP/1.1 302 Found\r\nLocation: %s\r\nContent-Length: 4\r\n\r\nbody", location)
				} else {
					fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(target), target)
				}
			}
		})
		tr := newTransport(t, &Transport{})
		resp, err := tr.Fetch(t.Context(), &Request{URL: "http://" + addr + "/list/films?start=20"})
		switch {
		case location == "#frag": // the same URL: a circle
			if !errors.Is(err, ErrRedirect) {
				t.Errorf("%q: %v", location, err)
			}
		case err != nil:
			t.Errorf("%q: %v", location, err)
		case want == "" && (resp.Status != 302 || string(resp.Body) != "body"):
			t.Errorf("%q: %d %q", location, resp.Status, resp.Body)
		case want != "" && (resp.Status != 200 || string(resp.Body) != want):
			t.Errorf("%q: %d %q", location, resp.Status, resp.Body)
		}
	}
}

func TestRedirectLoopsEnd_K062(t *testing.T) {
	t.Parallel()
	var count atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests := count.Add(1)
		switch {
		case r.URL.Path == "/a":
			http.Redirect(w, r, "/b", http.StatusFound)
		case r.URL.Path == "/b":
			http.Redirect(w, r, "/a#"+fmt.Sprint(requests), http.StatusFound)
		default:
			http.Redirect(w, r, fmt.Sprintf("/new/%d", requests), http.StatusFound)
		}
	}))
	defer srv.Close()
	tr := newTransport(t, &Transport{})
	for path, most := range map[string]int{"/a": 2, "/new/": DefaultMaxRedirects + 1} {
		count.Store(0)
		resp, err := tr.Fetch(t.Context(), &Request{URL: srv.URL + path})
		requests := int(count.Load())
		var e *Error
		if resp != nil || !errors.As(err, &e) || e.Kind != ErrRedirect || e.Temporary() || requests != most {
			t.Errorf("%s: %v %v after %d requests", path, resp, err, requests)
		}
	}
}

func TestForbiddenAddressesAreNeverDialled_K064(t *testing.T) {
	t.Parallel()
	var location atomic.Value
	addr := serveRaw(t, func(conn net.Conn) {
		if _, err := readTarget(conn); err == nil {
			fmt.Fprintf(conn, "HTTP/1.1 302 Found\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n", location.Load())
		}
	})
	forbidden := []string{
		"http://127.0.0.1/", "http://127.1/", "http://2130706433/", "http://0x7f.0.0.1/", "http://0177.0.0.1/", "http://0/", "http://localhost/",
		"http://films.localhost/", "http://[::1]/", "http://[::ffff:127.0.0.1]/", "http://[::ffff:a9fe:a9fe]/", "http://[64:ff9b::a9fe:a9fe]/",
		"http://[2002:7f00:1::]/", "http://[fd00:ec2::254]/", "http://169.254.169.254/latest/meta-data/", "http://10.0.0.1/", "http://100.100.100.200/",
		"https://192.168.1.1/", "http://rebound.example/", "http://mapped.example/", "http://１２７.０.０.１/",
		"file:///etc/passwd", "gopher://public.example/", "ftp://public.example/", "data:text/html,x", "javascript:alert(1)", "unix:///run/x.sock",
	}
	names := map[string][]string{"public.example": {"8.8.8.8"}, "rebound.example": {"127.0.0.1"}, "mapped.example": {"::ffff:10.0.0.1"}, "localhost": {"127.0.0.1"}, "films.localhost": {"::1"}}
	for _, url := range forbidden {
		n := &fakeNet{to: addr, names: names}
		tr := &Transport{Resolver: n, Dial: n.dial}
		if _, err := tr.Fetch(t.Context(), &Request{URL: url}); !errors.Is(err, ErrRefused) || n.dialed.Load() != 0 {
			t.Errorf("%s: %v, %d dials", url, err, n.dialed.Load())
		}
		location.Store(url)
		_, err := tr.Fetch(t.Context(), &Request{URL: "http://public.example/"})
		if !errors.Is(err, ErrRefused) || n.dialed.Load() != 1 {
			t.Errorf("redirect to %s: %v, %d dials", url, err, n.dialed.Load())
		}
		tr.Close()
	}
}

func TestCertificateFaultsAreFinal_K066(t *testing.T) {
	t.Parallel()
	ca, other := newAuthority(t), newAuthority(t)
	good := ca.issue(t, time.Now().Add(time.Hour), "films.example")
	for name, c := range map[string]struct {
		cfg   *tls.Config
		final bool
	}{
		"expired":      {&tls.Config{Certificates: []tls.Certificate{ca.issue(t, time.Now().Add(-time.Hour), "films.example")}}, true},
		"wrong name":   {&tls.Config{Certificates: []tls.Certificate{ca.issue(t, time.Now().Add(time.Hour), "books.example")}}, true},
		"self-signed":  {&tls.Config{Certificates: []tls.Certificate{other.issue(t, time.Now().Add(time.Hour), "films.example")}}, true},
		"TLS 1.0 only": {&tls.Config{Certificates: []tls.Certificate{good}, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS10}, true},
		"TLS 1.1 only": {&tls.Config{Certificates: []tls.Certificate{good}, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}, true},
		"no TLS":       {nil, true},
		"reset":        {nil, false},
		"closed":       {nil, false},
	} {
		var asked atomic.Int32
		addr := serveRaw(t, func(conn net.Conn) {
			asked.Add(1)
			switch name {
			case "reset":
				io.ReadFull(conn, make([]byte, 5))
				conn.(*net.TCPConn).SetLinger(0)
			case "closed":
				io.ReadFull(conn, make([]byte, 5))
				conn.(*net.TCPConn).CloseWrite()
				io.Copy(io.Discard, conn)
			case "no TLS":
				io.WriteString(conn, "HTTP/1.1 400 Bad Request\r\n\r\n")
				io.ReadFull(conn, make([]byte, 5))
			default:
				tc := tls.Server(conn, c.cfg)
				tc.HandshakeContext(context.Background())
			}
		})
		tr := toHost(t, addr, &Transport{})
		resp, err := tr.Fetch(t.Context(), &Request{URL: "https://films.example/", Route: Route{ServerName: ServerName{RootCAs: ca.pool}}})
		var e *Error
		if resp != nil || !errors.As(err, &e) || e.Kind != ErrTLS || e.Final != c.final || e.Temporary() == c.final || asked.Load() != 1 {
			t.Errorf("%s: %v %v, %d tries", name, resp, err, asked.Load())
		}
	}
}
