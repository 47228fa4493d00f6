package fetch

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seine-go/seine/internal/memhttp"
)

// The tests of this file are named after known failures of other crawlers with bodies.

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
			packed := encode(t, c, body)
			if bytes.Equal(packed, body) { // a coding that we do not know
				packed = append([]byte("\x1f\x9d\x90\x00"), body...)
			}
			body = packed
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
		var why *Error
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if err := resp.BodyErr(); resp.Status != 200 || len(resp.Body) > 0 || !resp.Truncated || !errors.Is(err, ErrEncoding) ||
			!errors.As(err, &why) || why.Temporary() || why.URL == "" || !errors.As(err, &coding) || !strings.Contains(path, coding.Coding) {
			t.Errorf("%s: %d %q %v", path, resp.Status, resp.Body, err)
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

// TestUnpackedByItsBytesAlone_K128 is about names that say gzip, or do not, of bodies that are it or not.
func TestUnpackedByItsBytesAlone_K128(t *testing.T) {
	t.Parallel()
	const page, doc = "<html>not here</html>", "<urlset><url/></urlset>"
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	io.WriteString(z, doc)
	z.Close()
	for _, c := range []struct {
		name, path, contentType, body string
		status                        int
		want                          string
	}{
		{"a page where a file was", "/s.xml.gz", "text/html", page, 404, page},
		{"without a type", "/s.xml.gz", "", page, 404, page},
		{"with the type of the file", "/s.xml.gz", "application/gzip", page, 200, page},
		{"two bytes of gzip", "/s.xml.gz", "application/gzip", "\x1f\x8b", 200, "\x1f\x8b"},
		{"nothing", "/s.xml.gz", "application/gzip", "", 200, ""},
		{"with a query", "/s.xml.gz?x", "application/x-gzip", packed.String(), 200, doc},
		{"with a query, no type", "/s.xml.gz?x", "", packed.String(), 200, doc},
		{"with another name", "/sitemap?file=1", "text/xml; charset=utf-8", packed.String(), 200, doc},
		{"with no name that says it", "/s.xml", "application/xml", packed.String(), 200, doc},
		{"of an error", "/s.xml", "application/xml", packed.String(), 500, doc},
		{"a download", "/backup.tar.gz", "application/gzip", packed.String(), 200, packed.String()},
	} {
		url := rawHost(t, fmt.Sprintf("HTTP/1.1 %d X\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s", c.status, c.contentType, len(c.body), c.body))
		tr := newTransport(t, &Transport{})
		resp, err := tr.Fetch(t.Context(), &Request{URL: url + c.path})
		if err != nil || string(resp.Body) != c.want || resp.Status != c.status || resp.Truncated {
			t.Errorf("%s: %q %v", c.name, resp.Body, err)
		}
	}
}
