package fetch

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
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

func TestDecodedBytesAreBounded_K043(t *testing.T) {
	limit, size := 10<<20, 64<<20
	if raceEnabled {
		limit, size = 1<<20, 4<<20
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		coding, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		switch coding {
		case "none": // the type is left to net/http, which finds gzip
			w.Write(bomb(t, size, "gzip"))
		default:
			w.Header().Set("Content-Encoding", coding)
			w.Write(bomb(t, size, strings.Split(coding, ", ")...))
		}
	}))
	defer srv.Close()
	tr := newTransport(t, &Transport{MaxBody: int64(limit)})
	for _, path := range []string{"/none/s.xml.gz", "/gzip/", "/deflate/", "/br/", "/zstd/", "/gzip, gzip/"} {
		req := &Request{URL: srv.URL + path}
		tr.Fetch(t.Context(), req) // fills the pools
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		resp, err := tr.Fetch(t.Context(), req)
		runtime.GC()
		runtime.ReadMemStats(&after)
		if err != nil {
			t.Fatal(path, err)
		}
		if len(resp.Body) > limit+64<<10 || !resp.Truncated || !errors.Is(resp.BodyErr(), ErrBodyLimit) {
			t.Errorf("%s: %d bytes, %v", path, len(resp.Body), resp.BodyErr())
		}
		if live := int64(after.HeapAlloc) - int64(before.HeapAlloc); live > int64(limit)+1<<20 && !raceEnabled {
			t.Errorf("%s: %d bytes stay", path, live)
		}
		runtime.KeepAlive(resp)
	}
	// The host's share of a process cannot be told from ours, so that the allocation is measured in TestBombs.
}

func TestLongBodyIsWholeOrFlagged_K044(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var size int
		fmt.Sscanf(r.URL.Path, "/%d", &size)
		if r.URL.RawQuery == "length" {
			w.Header().Set("Content-Length", fmt.Sprint(size))
		}
		for block := make([]byte, 64<<10); size > 0; size -= len(block) {
			if _, err := w.Write(block[:min(len(block), size)]); err != nil {
				return
			}
		}
	}))
	defer srv.Close()
	tr := newTransport(t, &Transport{})
	for _, size := range []int{28_000_000, DefaultMaxBody, DefaultMaxBody + 1} {
		for _, query := range []string{"", "?length"} {
			resp, err := tr.Fetch(t.Context(), &Request{URL: fmt.Sprintf("%s/%d%s", srv.URL, size, query)})
			if err != nil {
				t.Fatal(err)
			}
			cut := size > DefaultMaxBody
			if len(resp.Body) != min(size, DefaultMaxBody) || resp.Truncated != cut || errors.Is(resp.BodyErr(), ErrBodyLimit) != cut {
				t.Errorf("%d%s: %d bytes, truncated %v, %v", size, query, len(resp.Body), resp.Truncated, resp.BodyErr())
			}
		}
	}
	if resp, err := tr.Fetch(t.Context(), &Request{URL: fmt.Sprintf("%s/%d", srv.URL, DefaultMaxBody+1), MaxBody: -1}); err != nil || resp.Truncated {
		t.Errorf("without a bound: %v", err)
	}
}

func TestShortBodyIsDeliveredWithReason_K045(t *testing.T) {
	t.Parallel()
	gz := string(encode(t, "gzip", page))
	bad := gz[:len(gz)-8] + "abcd" + gz[len(gz)-4:]
	for name, c := range map[string]struct {
		raw, want string
		kind      ErrorKind
	}{
		"short":              {"Content-Length: 500\r\n\r\nthese are 21 bytes...", "these are 21 bytes...", ErrTruncated},
		"nothing":            {"Content-Length: 500\r\n\r\n", "", ErrTruncated},
		"short gzip":         {fmt.Sprintf("Content-Length: %d\r\nContent-Encoding: gzip\r\n\r\n%s", len(gz), gz[:len(gz)-8]), string(page), ErrTruncated},
		"bad trailer":        {fmt.Sprintf("Content-Length: %d\r\nContent-Encoding: gzip\r\n\r\n%s", len(gz), bad), string(page), ErrEncoding},
		"whole gzip, longer": {fmt.Sprintf("Content-Length: %d\r\nContent-Encoding: gzip\r\n\r\n%s", len(gz)+9, gz), string(page), ErrTruncated},
		"chunked":            {"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n5\r\nwo", "hellowo", ErrTruncated},
	} {
		tr := newTransport(t, &Transport{})
		resp, err := tr.Fetch(t.Context(), &Request{URL: rawHost(t, "HTTP/1.1 200 OK\r\n"+c.raw)})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var e *Error
		if string(resp.Body) != c.want || !resp.Truncated || !errors.As(resp.BodyErr(), &e) || e.Kind != c.kind || e.URL != resp.URL {
			t.Errorf("%s: %d bytes, %v", name, len(resp.Body), resp.BodyErr())
		}
	}
}

func TestCodingsAreDecodedOrRefused_K046(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := strings.TrimPrefix(r.URL.Path, "/")
		body := page
		for _, c := range strings.Split(path, ", ") {
			body = encode(t, c, body)
		}
		w.Header().Set("Content-Encoding", strings.ReplaceAll(path, "raw", "deflate"))
		w.Write(body)
	}))
	defer srv.Close()
	tr := newTransport(t, &Transport{})
	for _, path := range []string{"br", "zstd", "deflate", "raw", "gzip, gzip", "deflate, br"} {
		resp, err := tr.Fetch(t.Context(), &Request{URL: srv.URL + "/" + path})
		if err != nil || !bytes.Equal(resp.Body, page) || resp.Truncated || resp.RawSize >= int64(len(page)) {
			t.Errorf("%s: %v", path, err)
		}
	}
	for _, path := range []string{"compress", "pack200-gzip", "aes128gcm", "gzip, compress"} {
		resp, err := tr.Fetch(t.Context(), &Request{URL: srv.URL + "/" + path})
		var coding *CodingError
		if resp != nil || !errors.Is(err, ErrEncoding) || !errors.As(err, &coding) || !strings.Contains(path, coding.Coding) {
			t.Errorf("%s: %v %v", path, resp, err)
		}
	}
}

func TestBodyLimitHoldsOnEveryHop_K047(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	sent := map[string]int{}
	addr := serveRaw(t, func(conn net.Conn) {
		for {
			target, err := readTarget(conn)
			if err != nil {
				return
			}
			switch target {
			case "/known":
				io.WriteString(conn, "HTTP/1.1 302 Found\r\nLocation: /end\r\nContent-Length: 1073741824\r\n\r\n")
			case "/unknown":
				io.WriteString(conn, "HTTP/1.1 302 Found\r\nLocation: /end\r\n\r\n")
			case "/small":
				io.WriteString(conn, "HTTP/1.1 302 Found\r\nLocation: /end\r\nContent-Length: 5\r\n\r\nsmall")
				continue
			default:
				io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nend")
				continue
			}
			block := make([]byte, 64<<10)
			for range (1 << 30) / len(block) {
				n, err := conn.Write(block)
				mu.Lock()
				sent[target] += n
				mu.Unlock()
				if err != nil {
					return
				}
			}
		}
	})
	for path, opened := range map[string]int64{"/known": 2, "/unknown": 2, "/small": 1} {
		tr := newTransport(t, &Transport{MaxBody: 1000})
		resp, err := tr.Fetch(t.Context(), &Request{URL: "http://" + addr + path})
		if err != nil || string(resp.Body) != "end" {
			t.Errorf("%s: %v %v", path, resp, err)
			continue
		}
		if s := tr.Stats(); s.Opened != opened || int64(resp.Trace.Connections) != opened {
			t.Errorf("%s: %+v", path, s)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	for path, n := range sent {
		if n > 16<<20 { // what fits into the sockets' buffers
			t.Errorf("%s: the host sent %d bytes", path, n)
		}
	}
}

// memTransport returns a Transport over a network in memory.
func memTransport(n *memhttp.Network, tr *Transport) *Transport {
	tr.Dial, tr.Resolver, tr.AllowPrivate = n.DialContext, n, true
	return tr
}

// serveMem answers each request of the first connection to addr with handle.
func serveMem(t *testing.T, n *memhttp.Network, addr string, handle func(net.Conn)) {
	t.Helper()
	l, err := n.Listen(addr)
	if err != nil {
		t.Fatal(err)
	}
	serveOn(t, l, handle)
}

// drip writes text again and again with pauses between, until the other side has gone.
func drip(conn net.Conn, text string, pause time.Duration) (n int) {
	for {
		m, err := io.WriteString(conn, text)
		if n += m; err != nil {
			return n
		}
		if pause > 0 {
			<-time.After(pause)
		}
	}
}

func TestEndlessBodiesEnd_K048(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		head, text string
		pause      time.Duration
		tr         *Transport
		kind       ErrorKind
		after      time.Duration // least and most
		most       time.Duration
	}{
		"a byte a second":           {"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n", "x", time.Second, &Transport{}, ErrTooSlow, 25 * time.Second, 35 * time.Second},
		"a byte a second, chunked":  {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n", time.Second, &Transport{}, ErrTooSlow, 25 * time.Second, 35 * time.Second},
		"a chunk of gzip a second":  {"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + string(encode(t, "gzip", page)[:60]), "\x00", time.Second, &Transport{}, 0, 0, 35 * time.Second},
		"fast, HTTP/1.0, no length": {"HTTP/1.0 200 OK\r\n\r\n", strings.Repeat("x", 4096), 0, &Transport{MaxBody: 1 << 20}, ErrBodyLimit, 0, time.Second},
		"within the rate, for ever": {"HTTP/1.0 200 OK\r\n\r\n", strings.Repeat("x", 100), time.Second, &Transport{}, ErrTimeout, defaultTotal, defaultTotal},
		"rate switched off":         {"HTTP/1.0 200 OK\r\n\r\n", "x", time.Second, &Transport{MinRate: -1, Total: time.Hour}, ErrTimeout, time.Hour, time.Hour},
		"the first byte, then none": {"HTTP/1.0 200 OK\r\n\r\n", "x", time.Hour, &Transport{MinRate: -1}, ErrTimeout, idleReadTimeout, idleReadTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var n memhttp.Network
				serveMem(t, &n, "slow.example:80", func(conn net.Conn) {
					readTarget(conn)
					io.WriteString(conn, c.head)
					drip(conn, c.text, c.pause)
				})
				tr := memTransport(&n, c.tr)
				defer tr.Close()
				start := time.Now()
				resp, err := tr.Fetch(t.Context(), &Request{URL: "http://slow.example/"})
				if err != nil {
					t.Fatal(err)
				}
				if d := time.Since(start); d < c.after || d > c.most {
					t.Errorf("after %v", d)
				}
				if !resp.Truncated || c.kind != 0 && !errors.Is(resp.BodyErr(), c.kind) || len(resp.Body) == 0 {
					t.Errorf("%d bytes, %v", len(resp.Body), resp.BodyErr())
				}
				if n.Open() != 0 {
					t.Error("the connection is open")
				}
			})
		})
	}
}

func TestSteadyBodyIsNotCut_K049(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var n memhttp.Network
		serveMem(t, &n, "steady.example:80", func(conn net.Conn) {
			readTarget(conn)
			io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 30000\r\n\r\n")
			for range 300 {
				io.WriteString(conn, strings.Repeat("x", 100))
				<-time.After(time.Second)
			}
		})
		tr := memTransport(&n, &Transport{DialTimeout: time.Second, HeaderTimeout: 5 * time.Second, IdleReadTimeout: 2 * time.Second})
		defer tr.Close()
		start := time.Now()
		resp, err := tr.Fetch(t.Context(), &Request{URL: "http://steady.example/"})
		if err != nil || resp.Truncated || len(resp.Body) != 30000 {
			t.Fatal(resp, err)
		}
		if d := time.Since(start); d < 299*time.Second {
			t.Errorf("after %v", d)
		}
	})
}

func TestSurplusBytesNeverReachTheNextAnswer_K050(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]string{
		"length too small":      "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhelloHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil",
		"after chunks":          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil",
		"length beside chunked": "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
	} {
		addr := serveRaw(t, func(conn net.Conn) {
			for {
				target, err := readTarget(conn)
				if err != nil {
					return
				}
				if target == "/first" {
					io.WriteString(conn, first)
				} else {
					io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood")
				}
			}
		})
		tr := newTransport(t, &Transport{})
		for _, c := range [][2]string{{"/first", "hello"}, {"/second", "good"}} {
			resp, err := tr.Fetch(t.Context(), &Request{URL: "http://" + addr + c[0]})
			if err != nil || string(resp.Body) != c[1] || resp.Truncated {
				t.Errorf("%s: %s: %v %v", name, c[0], resp, err)
			}
		}
		if s := tr.Stats(); s.Opened != 2 {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

func TestBrokenChunksKeepWhatCame_K051(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		chunks string
		cut    bool
	}{
		"no final chunk": {"5\r\nhello\r\n", true}, "size zz": {"5\r\nhello\r\nzz\r\n", true}, "negative size": {"5\r\nhello\r\n-1\r\n", true},
		"size of 20 digits": {"5\r\nhello\r\nfffffffffffffffffff\r\n", true}, "cut trailer": {"5\r\nhello\r\n0\r\nX: y", true},
		"trailing blank": {"5 \r\nhello\r\n0 \r\n\r\n", false}, "extension": {"5;a=\"b\"\r\nhello\r\n0\r\n\r\n", false}, "leading zeros": {"0005\r\nhello\r\n000\r\n\r\n", false},
	} {
		tr := newTransport(t, &Transport{})
		resp, err := tr.Fetch(t.Context(), &Request{URL: rawHost(t, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"+c.chunks)})
		if err != nil || string(resp.Body) != "hello" || resp.Truncated != c.cut || c.cut && !errors.Is(resp.BodyErr(), ErrTruncated) {
			t.Errorf("%s: %+v %v", name, resp, err)
		}
	}
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
		tr := newTransport(t, &Transport{})
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
	_, err = tr.Fetch(t.Context(), &Request{URL: "http://films.example/", Route: Route{Proxy: route}})
	if got := <-asked; dialled != "10.1.1.1:3128" || got != "films.example:80" || !errors.Is(err, ErrProxy) {
		t.Errorf("dialled %q, asked for %q, %v", dialled, got, err)
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
			http.Redirect(w, r, "/b", 302)
		case r.URL.Path == "/b":
			http.Redirect(w, r, "/a#"+fmt.Sprint(requests), 302)
		default:
			http.Redirect(w, r, fmt.Sprintf("/new/%d", requests), 302)
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
		"TLS 1.0 only": {&tls.Config{Certificates: []tls.Certificate{good}, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS10}, false},
		"TLS 1.1 only": {&tls.Config{Certificates: []tls.Certificate{good}, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}, false},
		"reset":        {nil, false},
		"no TLS":       {nil, false},
	} {
		var asked atomic.Int32
		addr := serveRaw(t, func(conn net.Conn) {
			asked.Add(1)
			switch name {
			case "reset":
				io.ReadFull(conn, make([]byte, 5))
				conn.(*net.TCPConn).SetLinger(0)
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
		if resp != nil || !errors.As(err, &e) || e.Kind != ErrTLS || e.Final != c.final || e.Temporary() || asked.Load() != 1 {
			t.Errorf("%s: %v %v, %d tries", name, resp, err, asked.Load())
		}
	}
}
