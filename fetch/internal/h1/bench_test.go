package h1

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
)

// benchServer answers every request on loopback with a fixed body, in one write and at little cost, so that a benchmark
// shows the client.
func benchServer(b *testing.B, size int) string {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = l.Close() })
	answer := fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nServer: bench\r\nDate: Mon, 02 Jan 2006 15:04:05 GMT\r\nContent-Type: text/html; charset=utf-8\r\n"+
		"Cache-Control: max-age=60\r\nEtag: \"abc\"\r\nContent-Length: %d\r\n\r\n%s", size, bytes.Repeat([]byte{'x'}, size))
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				buf := make([]byte, 4096)
				for n := 0; ; {
					m, err := c.Read(buf[n:])
					if err != nil {
						return
					}
					if n += m; bytes.HasSuffix(buf[:n], []byte("\r\n\r\n")) {
						n = 0
						if _, err := c.Write(answer); err != nil {
							return
						}
					}
				}
			}()
		}
	}()
	return l.Addr().String()
}

func BenchmarkExchange(b *testing.B) {
	for _, size := range []int{2 << 10, 20 << 10} {
		b.Run(fmt.Sprintf("h1/%d", size), func(b *testing.B) { benchH1(b, size, context.Background()) })
		b.Run(fmt.Sprintf("h1-cancellable/%d", size), func(b *testing.B) {
			ctx, cancel := context.WithCancel(b.Context())
			defer cancel()
			benchH1(b, size, ctx)
		})
		b.Run(fmt.Sprintf("nethttp/%d", size), func(b *testing.B) { benchNetHTTP(b, size) })
	}
}

func benchH1(b *testing.B, size int, ctx context.Context) {
	addr := benchServer(b, size)
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		b.Fatal(err)
	}
	c := NewConn(nc, Limits{}, Timeouts{})
	defer c.Close()
	req := &Request{Target: "/film/1", Host: addr, Header: []Field{{"User-Agent", "bench"}, {"Accept", "*/*"}, {"Accept-Encoding", "gzip"}}}
	body := make([]byte, size)
	var resp Response
	b.ReportAllocs()
	for b.Loop() {
		if err := c.Do(ctx, req, &resp); err != nil {
			b.Fatal(err)
		}
		n, err := 0, error(nil)
		for err == nil {
			var m int
			m, err = c.Body().Read(body[n:])
			n += m
		}
		if err != io.EOF || n != size || !c.Reusable() {
			b.Fatal(n, err, c.Reusable())
		}
	}
}

func benchNetHTTP(b *testing.B, size int) {
	url := "http://" + benchServer(b, size) + "/film/1"
	client := &http.Client{Transport: &http.Transport{DisableCompression: true, ReadBufferSize: bufferSize}}
	defer client.CloseIdleConnections()
	body := make([]byte, size)
	b.ReportAllocs()
	for b.Loop() {
		resp, err := client.Get(url)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := io.ReadFull(resp.Body, body); err != nil {
			b.Fatal(err)
		}
		_ = resp.Body.Close()
	}
}
