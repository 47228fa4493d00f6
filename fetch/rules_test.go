package fetch

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/seine-go/seine/ratelimit"
)

// answer writes a head of pairs, of which the first is the status.
func (f *frames) answer(id uint32, end bool, pairs ...string) {
	var b bytes.Buffer
	enc := hpack.NewEncoder(&b)
	enc.SetMaxDynamicTableSize(0)
	for i := 0; i < len(pairs); i += 2 {
		_ = enc.WriteField(hpack.HeaderField{Name: pairs[i], Value: pairs[i+1]})
	}
	_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: b.Bytes(), EndHeaders: true, EndStream: end})
}

// What has no body has none over either protocol, whatever its head tells and whatever comes behind it; the next exchange
// is not disturbed.
func TestAnswersWithoutBody(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"GET", "HEAD"} {
		for _, status := range []string{"200", "204", "304"} {
			if method == "GET" && status == "200" {
				continue
			}
			for _, behind := range []string{"", "hi", "late"} {
				t.Run(method+" "+status+" "+behind, func(t *testing.T) {
					t.Parallel()
					synctest.Test(t, func(t *testing.T) {
						tr, _, route := rawH2(t, &Transport{}, nil, func(f *frames) {
							id := f.request()
							f.answer(id, false, ":status", status, "content-length", "100", "content-encoding", "gzip")
							switch behind {
							case "hi":
								_ = f.WriteData(id, true, []byte("hi"))
							case "":
								_ = f.WriteData(id, true, nil)
							}
							f.ok(f.request(), "next")
						})
						expectNone(t, tr, &Request{URL: "https://films.example/", Method: method, Route: route}, status)
					})
					synctest.Test(t, func(t *testing.T) {
						tr, n, _ := rawH2(t, &Transport{}, nil, func(*frames) {})
						serveMem(t, n, "films.example:80", func(conn net.Conn) {
							defer conn.Close()
							r := bufio.NewReader(conn)
							for {
								req, err := http.ReadRequest(r)
								if err != nil {
									return
								}
								if req.URL.Path == "/next" {
									io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnext")
									continue
								}
								fmt.Fprintf(conn, "HTTP/1.1 %s X\r\nContent-Length: 100\r\nContent-Encoding: gzip\r\n\r\n", status)
								if behind == "hi" {
									io.WriteString(conn, "hi")
								}
							}
						})
						expectNone(t, tr, &Request{URL: "http://films.example/", Method: method}, status)
					})
				})
			}
		}
	}
}

func expectNone(t *testing.T, tr *Transport, req *Request, status string) {
	t.Helper()
	defer tr.Close()
	start := time.Now()
	resp, err := tr.Fetch(t.Context(), req)
	if err != nil || fmt.Sprint(resp.Status) != status || len(resp.Body) != 0 || resp.Truncated || resp.RawSize != 0 || time.Since(start) > 2*time.Second {
		t.Errorf("%s: %+v, %v after %v", req.URL, resp, err, time.Since(start))
	}
	next := &Request{URL: req.URL + "next", Route: req.Route}
	if resp, err := tr.Fetch(t.Context(), next); err != nil || string(resp.Body) != "next" {
		t.Errorf("%s: %v, %v", next.URL, resp, err)
	}
}

// A request that a connection was the wrong one for is sent once more, over another (RFC 9110 15.5.20); what it was for is
// not looked at.
func TestMisdirectedRequestIsSentOnceMore(t *testing.T) {
	t.Parallel()
	for _, wrong := range []int{1, 2} { // connections
		for _, proto := range []string{"http", "https"} {
			t.Run(fmt.Sprint(proto, wrong), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					gate := new(countingGate)
					tr, n, route := rawH2(t, &Transport{Gate: gate}, nil, func(f *frames) {
						id := f.request()
						if int(f.number) <= wrong {
							f.answer(id, false, ":status", "421")
							_ = f.WriteData(id, true, []byte("wrong"))
						} else {
							f.ok(id, "right")
						}
					})
					conns := 0
					serveMem(t, n, "films.example:80", func(conn net.Conn) {
						conns++
						if _, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
							if conns <= wrong {
								io.WriteString(conn, "HTTP/1.1 421 X\r\nContent-Length: 5\r\n\r\nwrong")
							} else {
								io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nright")
							}
							conn.Read(make([]byte, 1))
						}
					})
					var sunk bytes.Buffer
					sinks := 0
					resp, err := tr.Fetch(t.Context(), &Request{
						URL: proto + "://films.example/", Route: route, Method: "POST", Body: []byte("x"),
						Sink: func(*Response) (io.Writer, error) { sinks++; return &sunk, nil },
					})
					want, status := "right", 200
					if wrong == 2 {
						want, status = "wrong", 421
					}
					if err != nil || resp.Status != status || sunk.String() != want || sinks != 1 || n.Dialled() != 2 || !resp.Trace.Retried || gate.n.Load() != 2 {
						t.Errorf("%+v, %v, %q, %d dials, %d exchanges", resp, err, sunk.String(), n.Dialled(), gate.n.Load())
					}
				})
			})
		}
	}
}

// RawSize is of the body alone, over either protocol: also what a Gate is told of a redirect that is followed.
func TestRawSizeIsOfTheBody(t *testing.T) {
	t.Parallel()
	for _, proto := range []string{"http", "https"} {
		synctest.Test(t, func(t *testing.T) {
			gate := new(reports)
			tr, n, route := rawH2(t, &Transport{Gate: gate}, nil, func(f *frames) {
				id := f.request()
				f.answer(id, false, ":status", "302", "location", "/to")
				_ = f.WriteData(id, true, []byte("moved"))
				f.ok(f.request(), "here")
			})
			serveMem(t, n, "films.example:80", func(conn net.Conn) {
				r := bufio.NewReader(conn)
				for _, s := range []string{"HTTP/1.1 302 X\r\nLocation: /to\r\nContent-Length: 5\r\n\r\nmoved", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhere"} {
					if _, err := http.ReadRequest(r); err == nil {
						io.WriteString(conn, s)
					}
				}
			})
			resp, err := tr.Fetch(t.Context(), &Request{URL: proto + "://films.example/", Route: route})
			if err != nil || resp.RawSize != 4 || len(gate.seen) != 2 || gate.seen[0].Bytes != 5 || gate.seen[1].Bytes != 4 {
				t.Errorf("%s: %v, %v, %+v", proto, resp, err, gate.seen)
			}
			tr.Close()
		})
	}
}

// A host that takes nothing holds nobody whose context has ended, nor the end of the Transport.
func TestCancelWhileWriteBlocks(t *testing.T) {
	t.Parallel()
	for _, proto := range []string{"h2", "http/1.1"} {
		for _, body := range []int{0, 1 << 20} {
			t.Run(fmt.Sprint(proto, body), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) { cancelWhileWriteBlocks(t, proto, body) })
			})
		}
	}
}

func cancelWhileWriteBlocks(t *testing.T, proto string, body int) {
	ca := newAuthority(t)
	cert := ca.issue(t, time.Now().Add(24*time.Hour), "films.example")
	tr := newTransport(t, &Transport{
		Resolver: resolverFunc(func(string) ([]string, error) { return []string{"8.8.8.8"}, nil }),
		Dial: func(context.Context, string, string) (net.Conn, error) {
			a, b := net.Pipe()
			go func() {
				c := tls.Server(b, &tls.Config{Certificates: []tls.Certificate{cert}, NextProtos: []string{proto}, SessionTicketsDisabled: true})
				_ = c.Handshake() // then it reads nothing
			}()
			return a, nil
		},
	})
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err := tr.Fetch(ctx, &Request{
		URL: "https://films.example/", Method: "POST", Body: make([]byte, body), Route: Route{ServerName: ServerName{RootCAs: ca.pool}},
	})
	tr.Close()
	if took := time.Since(start) - 300*time.Millisecond; !errors.Is(err, context.DeadlineExceeded) || took > 100*time.Millisecond {
		t.Errorf("%v, and closed %v after the end of the context", err, took)
	}
}

// reports is a Gate that keeps what it is told.
type reports struct{ seen []ratelimit.Report }

func (r *reports) Enter(context.Context, string, netip.Addr) (func(ratelimit.Report), error) {
	return func(report ratelimit.Report) { r.seen = append(r.seen, report) }, nil
}
