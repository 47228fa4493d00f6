package fetch

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/seine-go/seine/fetch/identity"
	"github.com/seine-go/seine/internal/memhttp"
)

// frames is the server's side of an HTTP/2 connection, frame by frame.
type frames struct {
	*http2.Framer
	conn   net.Conn
	number int32 // of the connection, from 1
	fields []hpack.HeaderField
	dec    *hpack.Decoder
}

// request waits for a request and returns its stream; 0 at the end of the connection.
func (f *frames) request() uint32 {
	for {
		frame, err := f.ReadFrame()
		if err != nil {
			return 0
		}
		if h, ok := frame.(*http2.HeadersFrame); ok {
			f.fields = nil
			_, _ = f.dec.Write(h.HeaderBlockFragment())
			_ = f.dec.Close()
			return h.StreamID
		}
	}
}

// ok answers with a body.
func (f *frames) ok(id uint32, body string) {
	var b bytes.Buffer
	_ = hpack.NewEncoder(&b).WriteField(hpack.HeaderField{Name: ":status", Value: "200"})
	_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: b.Bytes(), EndHeaders: true})
	_ = f.WriteData(id, true, []byte(body))
}

// rawH2 is a Transport and a host films.example that speaks HTTP/2 as the script says, once for each connection.
func rawH2(t *testing.T, tr *Transport, settings []http2.Setting, script func(f *frames)) (*Transport, *memhttp.Network, Route) {
	t.Helper()
	ca := newAuthority(t)
	cert := ca.issue(t, time.Now().Add(24*time.Hour), "films.example")
	n := new(memhttp.Network)
	var conns atomic.Int32
	serveMem(t, n, "films.example:443", func(conn net.Conn) {
		tc := tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{cert}, NextProtos: []string{"h2"}})
		defer tc.Close()
		if _, err := io.ReadFull(tc, make([]byte, len(http2.ClientPreface))); err != nil {
			return
		}
		f := &frames{Framer: http2.NewFramer(tc, tc), conn: tc, number: conns.Add(1)}
		f.dec = hpack.NewDecoder(4096, func(h hpack.HeaderField) { f.fields = append(f.fields, h) })
		_ = f.WriteSettings(settings...)
		script(f)
		for f.request() != 0 {
			continue
		}
	})
	t.Cleanup(func() { tr.Close() })
	return memTransport(n, tr), n, Route{ServerName: ServerName{RootCAs: ca.pool}}
}

// TestHeaderOrderOverHTTP2: the order that a request gives holds over HTTP/2 as it does over HTTP/1, less what HTTP/2 has no
// fields for, all names in lower case.
func TestHeaderOrderOverHTTP2(t *testing.T) {
	t.Parallel()
	const html = "accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
	for _, c := range []struct {
		name string
		req  Request
		want string
	}{
		{"defaults", Request{URL: "https://films.example/a?b#c"}, ":method: GET|:authority: films.example|:scheme: https|:path: /a?b|user-agent: ua|" + html + "|accept-encoding: gzip, deflate, br, zstd"},
		{
			"kind, body, others in alphabetical order",
			Request{URL: "https://films.example/", Method: "POST", Kind: identity.Fetch, Body: []byte("xy"), Header: http.Header{"x-b": {"1", "2"}, "X-A": {"3"}, "Content-Type": {"a/b"}}},
			":method: POST|:authority: films.example|:scheme: https|:path: /|user-agent: ua|accept: */*|accept-encoding: gzip, deflate, br, zstd|content-length: 2|content-type: a/b|x-a: 3|x-b: 1|x-b: 2",
		},
		{
			"the request wins",
			Request{URL: "https://films.example/", Header: http.Header{"user-agent": {"mine"}, "ACCEPT": {"a/b"}, "Accept-Encoding": nil, "host": {"virtual.example"}, "TE": {"trailers"}, "Upgrade": {"x"}}},
			":method: GET|:authority: virtual.example|:scheme: https|:path: /|user-agent: mine|accept: a/b|te: trailers",
		},
		{
			"order",
			Request{
				URL: "https://films.example/", Method: "PUT", Body: []byte{}, Header: http.Header{"X-Late": {"z"}, "Cookie": {"c=1"}, "X-Early": {"e"}},
				HeaderOrder: []string{"accept", "Host", "COOKIE", "content-length", "Missing", "accept"},
			},
			":method: PUT|:authority: films.example|:scheme: https|:path: /|" + html + "|cookie: c=1|content-length: 0|accept-encoding: gzip, deflate, br, zstd|user-agent: ua|x-early: e|x-late: z",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var got []string
				tr, _, route := rawH2(t, &Transport{UserAgent: "ua"}, nil, func(f *frames) {
					id := f.request()
					for _, field := range f.fields {
						got = append(got, field.Name+": "+field.Value)
					}
					f.ok(id, "")
				})
				c.req.Route = route
				resp, err := tr.Fetch(t.Context(), &c.req)
				if err != nil {
					t.Fatal(err)
				}
				if s := strings.Join(got, "|"); s != c.want {
					t.Errorf("\n got %s\nwant %s", s, c.want)
				}
				var sent []string
				for _, field := range resp.Trace.Sent {
					sent = append(sent, field.Name+": "+field.Value)
				}
				if !slices.Equal(sent, got[4:]) {
					t.Errorf("Sent has %q", sent)
				}
			})
		})
	}
}

// TestRefusedIsSentAgain: what a host says that it has not looked at is sent again, whatever the method; what it may have
// looked at is not, unless it is idempotent. Each time the Gate is asked, and told.
func TestRefusedIsSentAgain(t *testing.T) {
	t.Parallel()
	goAway := func(last uint32) func(f *frames, id uint32) {
		return func(f *frames, id uint32) {
			_ = f.WriteGoAway(last, http2.ErrCodeNo, nil)
			f.conn.Close()
		}
	}
	reset := func(code http2.ErrCode) func(f *frames, id uint32) {
		return func(f *frames, id uint32) { _ = f.WriteRSTStream(id, code) }
	}
	for _, c := range []struct {
		name   string
		method string
		fault  func(f *frames, id uint32)
		faults int32 // how often
		reused bool  // the connection has served before
		kind   ErrorKind
		gate   int
	}{
		{"refused", "POST", reset(http2.ErrCodeRefusedStream), 1, false, 0, 2},
		{"refused often", "POST", reset(http2.ErrCodeRefusedStream), maxRefused, false, 0, maxRefused + 1},
		{"refused too often", "POST", reset(http2.ErrCodeRefusedStream), maxRefused + 1, false, ErrClosed, maxRefused + 1},
		{"goes away", "POST", goAway(0), 1, false, 0, 2},
		{"goes away too often", "POST", goAway(0), maxGoneAway + 1, false, ErrClosed, maxGoneAway + 1},
		{"goes away after an exchange", "POST", goAway(1), 1, true, 0, 3},
		{"goes away with the request", "POST", goAway(3), 1, true, ErrClosed, 2},
		{"goes away with the request, idempotent", "GET", goAway(3), 1, true, 0, 3},
		{"goes away with the first request", "GET", goAway(1), 1, false, ErrClosed, 1},
		{"closes", "POST", func(f *frames, _ uint32) { f.conn.Close() }, 1, true, ErrClosed, 2},
		{"closes, idempotent", "PUT", func(f *frames, _ uint32) { f.conn.Close() }, 1, true, 0, 3},
		{"reset", "GET", reset(http2.ErrCodeInternal), 1, true, ErrClosed, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var faults atomic.Int32
				warm := c.reused
				gate := &gateLog{}
				tr, _, route := rawH2(t, &Transport{Gate: gate}, nil, func(f *frames) {
					for id := f.request(); id != 0; id = f.request() {
						switch {
						case warm:
							warm = false
							f.ok(id, "warm")
						case faults.Add(1) <= c.faults:
							c.fault(f, id)
						default:
							f.ok(id, "good")
						}
					}
				})
				if c.reused {
					if _, err := tr.Fetch(t.Context(), &Request{URL: "https://films.example/", Route: route}); err != nil {
						t.Fatal(err)
					}
				}
				resp, err := tr.Fetch(t.Context(), &Request{URL: "https://films.example/", Method: c.method, Body: []byte("x"), Route: route})
				if KindOf(err) != c.kind || err == nil && string(resp.Body) != "good" {
					t.Errorf("%v", err)
				}
				reports := gate.reports.take()
				if n := len(gate.take()); n != c.gate || gate.inside.Load() != 0 || len(reports) != n {
					t.Errorf("the Gate was entered %d times, want %d, and told %d times", n, c.gate, len(reports))
				}
				for _, r := range reports {
					if r.Exchanges != 1 {
						t.Errorf("%+v", r)
					}
				}
			})
		})
	}
}

// TestGoAwayLosesNothing: a host that goes away again and again under load is asked again for what it has not looked at.
func TestGoAwayLosesNothing(t *testing.T) {
	t.Parallel()
	const total = 400
	synctest.Test(t, func(t *testing.T) {
		tr, n, route := rawH2(t, &Transport{}, []http2.Setting{{ID: http2.SettingMaxConcurrentStreams, Val: 50}}, func(f *frames) {
			for i := range 60 {
				id := f.request()
				if id == 0 {
					return
				}
				if i == 40 { // those up to here are answered, later ones are not looked at
					_ = f.WriteGoAway(id, http2.ErrCodeNo, nil)
				}
				if i <= 40 {
					f.ok(id, "good")
				}
			}
		})
		var all sync.WaitGroup
		for i := range total {
			all.Go(func() {
				<-time.After(time.Duration(i) * 10 * time.Millisecond)
				resp, err := tr.Fetch(t.Context(), &Request{URL: fmt.Sprint("https://films.example/", i), Method: "POST", Route: route})
				if err != nil || string(resp.Body) != "good" {
					t.Errorf("%d: %v", i, err)
				}
			})
		}
		all.Wait()
		synctest.Wait()
		if s := tr.Stats(); n.Dialled() < total/60 || s.Open > 1 {
			t.Errorf("%d dials, %+v", n.Dialled(), s)
		}
	})
}

// TestHTTP2HostWithoutStreams: a host that allows no stream at all costs no loop.
func TestHTTP2HostWithoutStreams(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tr, n, route := rawH2(t, &Transport{}, []http2.Setting{{ID: http2.SettingMaxConcurrentStreams, Val: 0}}, func(f *frames) {
			for id := f.request(); id != 0; id = f.request() {
				_ = f.WriteRSTStream(id, http2.ErrCodeRefusedStream)
			}
		})
		_, err := tr.Fetch(t.Context(), &Request{URL: "https://films.example/", Route: route})
		if !errors.Is(err, ErrClosed) || n.Dialled() > maxRefused+1 {
			t.Errorf("%v after %d dials", err, n.Dialled())
		}
		tr.CloseIdleConnections()
		synctest.Wait()
		if n.Open() != 0 {
			t.Errorf("%d connections", n.Open())
		}
	})
}

// TestHostThatWantsHTTP1: a host that resets a stream because it wants HTTP/1.1 is spoken to in it, at once and from then on.
func TestHostThatWantsHTTP1(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ca := newAuthority(t)
		cert := ca.issue(t, time.Now().Add(24*time.Hour), "films.example")
		n := new(memhttp.Network)
		var spoken log[string]
		serveMem(t, n, "films.example:443", func(conn net.Conn) {
			tc := tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{cert}, NextProtos: []string{"h2", "http/1.1"}})
			defer tc.Close()
			if tc.Handshake() != nil {
				return
			}
			spoken.add(tc.ConnectionState().NegotiatedProtocol)
			if tc.ConnectionState().NegotiatedProtocol == "h2" {
				_, _ = io.ReadFull(tc, make([]byte, len(http2.ClientPreface)))
				f := &frames{Framer: http2.NewFramer(tc, tc), conn: tc}
				f.dec = hpack.NewDecoder(4096, func(hpack.HeaderField) {})
				_ = f.WriteSettings()
				for id := f.request(); id != 0; id = f.request() {
					_ = f.WriteRSTStream(id, http2.ErrCodeHTTP11Required)
				}
				return
			}
			for {
				if _, err := readHead(tc); err != nil {
					return
				}
				io.WriteString(tc, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
			}
		})
		gate := &gateLog{}
		tr := memTransport(n, &Transport{Gate: gate})
		defer tr.Close()
		for range 3 {
			resp, err := tr.Fetch(t.Context(), &Request{URL: "https://films.example/", Method: "POST", Route: Route{ServerName: ServerName{RootCAs: ca.pool}}})
			if err != nil || string(resp.Body) != "ok" || resp.Proto != "HTTP/1.1" {
				t.Errorf("%v %v", resp, err)
			}
		}
		if got := spoken.take(); !slices.Equal(got, []string{"h2", "http/1.1"}) || len(gate.take()) != 4 {
			t.Errorf("%q", got)
		}
	})
}

// TestRedirectIsNotReset: the body of a redirect is read to its end when it is small and comes at once; else the stream is
// reset, and the connection goes on.
func TestRedirectIsNotReset(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		body   func(f *frames, id uint32)
		resets int
		took   time.Duration
	}{
		{"at once", func(f *frames, id uint32) { _ = f.WriteData(id, true, []byte("moved")) }, 0, 0},
		{"soon", func(f *frames, id uint32) {
			<-time.After(hopDrainTime / 2)
			_ = f.WriteData(id, true, []byte("moved"))
		}, 0, hopDrainTime / 2},
		{"never", func(*frames, uint32) {}, 1, hopDrainTime},
		{"large", func(f *frames, id uint32) {
			for range 2 * maxHopBody / (16 << 10) {
				_ = f.WriteData(id, false, make([]byte, 16<<10))
			}
		}, 1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				resets := 0
				tr, n, route := rawH2(t, &Transport{}, nil, func(f *frames) {
					id := f.request()
					var b bytes.Buffer
					enc := hpack.NewEncoder(&b)
					_ = enc.WriteField(hpack.HeaderField{Name: ":status", Value: "302", Sensitive: true})
					_ = enc.WriteField(hpack.HeaderField{Name: "location", Value: "/there", Sensitive: true})
					_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: b.Bytes(), EndHeaders: true})
					c.body(f, id)
					for {
						frame, err := f.ReadFrame()
						if err != nil {
							return
						}
						switch frame := frame.(type) {
						case *http2.RSTStreamFrame:
							resets++
						case *http2.HeadersFrame:
							f.ok(frame.StreamID, "there")
						}
					}
				})
				start := time.Now()
				resp, err := tr.Fetch(t.Context(), &Request{URL: "https://films.example/", Route: route})
				if err != nil || string(resp.Body) != "there" || n.Dialled() != 1 || time.Since(start) != c.took {
					t.Errorf("%v %v after %v, %d dials", resp, err, time.Since(start), n.Dialled())
				}
				synctest.Wait()
				if resets != c.resets {
					t.Errorf("%d resets", resets)
				}
			})
		})
	}
}
