package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seine-go/seine/internal/memhttp"
	"github.com/seine-go/seine/proxy"
)

// TestSlowAddressesDoNotHoldUp: of several addresses the next is tried when one fails or is slow; the first connection
// wins and the others are closed.
func TestSlowAddressesDoNotHoldUp(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		addrs []string
		slow  map[string]time.Duration // until the connection is there; negative: until it is refused
		want  string                   // that answers
		after time.Duration
		dials int
	}{
		{"the first", []string{"8.8.8.1", "8.8.8.2"}, nil, "8.8.8.1", 0, 1},
		{"the second, as the first is refused", []string{"8.8.8.1", "8.8.8.2"}, map[string]time.Duration{"8.8.8.1": -10 * time.Millisecond}, "8.8.8.2", 10 * time.Millisecond, 2},
		{"the second, as the first is slow", []string{"8.8.8.1", "8.8.8.2"}, map[string]time.Duration{"8.8.8.1": time.Hour}, "8.8.8.2", dialStagger, 2},
		{"the first, slow but there before the second", []string{"8.8.8.1", "8.8.8.2"}, map[string]time.Duration{"8.8.8.1": dialStagger + 50*time.Millisecond, "8.8.8.2": time.Second}, "8.8.8.1", dialStagger + 50*time.Millisecond, 2},
		{"families take turns", []string{"2606:4700::1", "2606:4700::2", "8.8.8.1"}, map[string]time.Duration{"2606:4700::1": time.Hour, "2606:4700::2": time.Hour}, "8.8.8.1", dialStagger, 2},
		{"none", []string{"8.8.8.1", "8.8.8.2"}, map[string]time.Duration{"8.8.8.1": -time.Second, "8.8.8.2": -time.Second}, "", time.Second + dialStagger, 2},
		{"none in time", []string{"8.8.8.1", "8.8.8.2"}, map[string]time.Duration{"8.8.8.1": time.Hour, "8.8.8.2": time.Hour}, "", defaultDialTimeout, 2},
		{"one, refused", []string{"8.8.8.1"}, map[string]time.Duration{"8.8.8.1": -time.Second}, "", time.Second, 1},
		{"one, never there", []string{"8.8.8.1"}, map[string]time.Duration{"8.8.8.1": time.Hour}, "", defaultDialTimeout, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var n memhttp.Network
				for _, addr := range c.addrs {
					n.Serve(t, net.JoinHostPort(addr, "80"), http.HandlerFunc(okHandler))
				}
				var dials log[string]
				tr := &Transport{
					Resolver: resolverFunc(func(string) ([]string, error) { return c.addrs, nil }),
					Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
						dials.add(addr)
						host, _, _ := net.SplitHostPort(addr)
						pause := c.slow[host]
						select {
						case <-ctx.Done():
							return nil, ctx.Err()
						case <-time.After(max(pause, -pause)):
						}
						if pause < 0 {
							return nil, syscall.ECONNREFUSED
						}
						return n.DialContext(ctx, network, addr)
					},
				}
				defer tr.Close()
				start := time.Now()
				resp, err := tr.Fetch(t.Context(), &Request{URL: "http://films.example/"})
				if d := time.Since(start); d != c.after {
					t.Errorf("after %v", d)
				}
				switch {
				case c.want != "" && (err != nil || resp.Trace.Addr.Addr().String() != c.want):
					t.Errorf("%v %v", resp, err)
				case c.want == "":
					kind := ErrConnect
					if c.after == defaultDialTimeout {
						kind = ErrTimeout
					}
					var e *Error
					if !errors.As(err, &e) || e.Kind != kind || !e.Temporary() || e.URL != "http://films.example/" {
						t.Errorf("%v", err)
					}
				}
				if got := dials.take(); len(got) != c.dials {
					t.Errorf("dialled %q", got)
				}
				<-time.After(time.Minute + time.Second)
				synctest.Wait()
				if n.Open() != 0 {
					t.Errorf("%d connections are open", n.Open())
				}
			})
		})
	}
}

// TestCancelEndsEveryPhase: Fetch returns at once when its context ends, with the cause, and leaves no connection.
func TestCancelEndsEveryPhase(t *testing.T) {
	t.Parallel()
	never := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	for _, c := range []struct {
		name, url string
		change    func(tr *Transport)
		serve     func(net.Conn)
		route     string
	}{
		{"resolve", "http://films.example/", func(tr *Transport) { tr.Resolver = &scriptedResolver{delay: time.Hour} }, nil, ""},
		{"gate", "http://films.example/", func(tr *Transport) { tr.Gate = &gateLog{delay: time.Hour} }, nil, ""},
		{"dial", "http://films.example/", func(tr *Transport) {
			tr.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) { return nil, never(ctx) }
		}, nil, ""},
		{"proxy", "http://films.example/", func(*Transport) {}, func(conn net.Conn) { io.Copy(io.Discard, conn) }, "http://films.example"},
		{"handshake", "https://films.example:80/", func(*Transport) {}, func(conn net.Conn) { io.Copy(io.Discard, conn) }, ""},
		{"head", "http://films.example/", func(*Transport) {}, func(conn net.Conn) { io.Copy(io.Discard, conn) }, ""},
		{"body", "http://films.example/", func(*Transport) {}, func(conn net.Conn) {
			io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nbegun")
			io.Copy(io.Discard, conn)
		}, ""},
		{"redirect", "http://films.example/", func(tr *Transport) {
			tr.CheckHop = func(ctx context.Context, _ *Request, _ []Hop) error { return never(ctx) }
		}, func(conn net.Conn) {
			io.WriteString(conn, "HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n")
			io.Copy(io.Discard, conn)
		}, ""},
	} {
		for _, deadline := range []bool{true, false} {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					var n memhttp.Network
					if c.serve == nil {
						c.serve = func(conn net.Conn) { io.Copy(io.Discard, conn) }
					}
					serveMem(t, &n, "films.example:80", c.serve)
					tr := memTransport(&n, &Transport{})
					c.change(tr)
					defer tr.Close()
					var route Route
					if c.route != "" {
						var err error
						if route.Proxy, err = proxy.Parse(c.route); err != nil {
							t.Fatal(err)
						}
					}
					cause := errors.New("the caller has had enough")
					ctx, cancel := context.WithCancelCause(t.Context())
					defer cancel(nil)
					kind := ErrCanceled
					if deadline {
						var stop context.CancelFunc
						ctx, stop = context.WithTimeoutCause(t.Context(), 3*time.Second, cause)
						defer stop()
						kind = ErrTimeout
					} else {
						time.AfterFunc(3*time.Second, func() { cancel(cause) })
					}
					start := time.Now()
					resp, err := tr.Fetch(ctx, &Request{URL: c.url, Route: route})
					if resp != nil || !errors.Is(err, kind) || !errors.Is(err, cause) || time.Since(start) != 3*time.Second {
						t.Errorf("deadline %v: %v after %v", deadline, err, time.Since(start))
					}
					if c.name == "handshake" && deadline { // which goes on for others, in its own time
						<-time.After(defaultTLSTimeout)
					}
					synctest.Wait()
					if c.name != "redirect" && n.Open() != 0 || tr.Stats().Open != n.Open() {
						t.Errorf("%d connections are open", n.Open())
					}
				})
			})
		}
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	tr := newTransport(t, &Transport{})
	if _, err := tr.Fetch(done, &Request{URL: "http://films.example/"}); !errors.Is(err, ErrCanceled) || !errors.Is(err, context.Canceled) {
		t.Errorf("ended before it began: %v", err)
	}
}

// TestProxyRoutes: the proxy resolves names and the local resolver is not asked; addresses are still looked at.
func TestProxyRoutes(t *testing.T) {
	t.Parallel()
	origin := serveRaw(t, func(conn net.Conn) {
		for {
			if _, err := readTarget(conn); err != nil {
				return
			}
			io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
		}
	})
	var asked log[string]
	tunnel := func(conn net.Conn) {
		target, err := readTarget(conn)
		if err != nil {
			return
		}
		asked.add(target)
		up, err := net.Dial("tcp", origin)
		if err != nil {
			return
		}
		defer up.Close()
		io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n")
		go func() {
			io.Copy(up, conn)
			up.Close()
		}()
		io.Copy(conn, up)
	}
	resolver := &fakeNet{}
	tr := newTransport(t, &Transport{Resolver: resolver, Guard: PublicAddr})
	p1, p2 := serveRaw(t, tunnel), serveRaw(t, tunnel)
	fetch := func(url string, proxies ...string) (*Response, error) {
		route, err := proxy.Parse(proxies...)
		if err != nil {
			t.Fatal(err)
		}
		return tr.Fetch(t.Context(), &Request{URL: url, Route: Route{Proxy: route.WithTunnels()}})
	}
	// Proxies and their users take turns: each has a connection of its own, and keeps it.
	for round := range 2 {
		for _, p := range []string{"http://" + p1, "http://" + p2, "http://a:x@" + p1, "http://b:x@" + p1, "http://a:y@" + p1} {
			resp, err := fetch("http://films.example/", p)
			if err != nil || string(resp.Body) != "ok" || resp.Trace.Reused != (round == 1) {
				t.Errorf("%s: %v %v", p, resp, err)
			}
		}
	}
	if got, want := asked.take(), slices.Repeat([]string{"films.example:80"}, 5); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	for _, url := range []string{"http://127.0.0.1/", "http://[::1]/", "http://169.254.169.254/", "http://localhost/", "http://x.localhost/"} {
		if _, err := fetch(url, "http://"+p1); !errors.Is(err, ErrRefused) {
			t.Errorf("%s: %v", url, err)
		}
	}
	if n := resolver.asked.Load(); n != 0 || len(asked.take()) != 0 {
		t.Errorf("%d names were resolved here", n)
	}
	_, err := fetch("http://films.example/", "http://user:secret@127.0.0.1:1")
	var pe *proxy.Error
	if !errors.Is(err, ErrProxy) || KindOf(err).Fault() != FaultProxy || !errors.As(err, &pe) {
		t.Errorf("a dead proxy: %v", err)
	}
}

func TestDialOverridesAreChecked(t *testing.T) {
	t.Parallel()
	n := &fakeNet{names: map[string][]string{"origin.example": {"8.8.8.8"}}}
	for dial, ok := range map[string]bool{
		"origin.example": true, "origin.example:8080": true, "8.8.8.8": true, "8.8.8.8:80": true, "[2606:4700::1]:80": true, "2606:4700::1": true, "[2606:4700::1]": true,
		"origin.example:http": false, "origin.example:0": false, "origin.example:65536": false, "a:b:c": false, ":80": false, "http://a": false, "a b": false,
	} {
		tr := &Transport{Resolver: n, Dial: n.dial}
		_, err := tr.Fetch(t.Context(), &Request{URL: "http://films.example/", Route: Route{ServerName: ServerName{Dial: dial}}})
		if want := map[bool]ErrorKind{true: ErrConnect, false: ErrInvalid}[ok]; !errors.Is(err, want) {
			t.Errorf("%q: %v", dial, err)
		}
		tr.Close()
	}
}

func TestManyAddressesAreBounded(t *testing.T) {
	t.Parallel()
	for _, count := range []int{maxDialAddrs, maxDialAddrs + 1} {
		var addrs []string
		for i := range count {
			addrs = append(addrs, fmt.Sprintf("8.8.8.%d", i))
		}
		n := &fakeNet{names: map[string][]string{"films.example": addrs}}
		tr := &Transport{Resolver: n, Dial: n.dial}
		if _, err := tr.Fetch(t.Context(), &Request{URL: "http://films.example/"}); !errors.Is(err, ErrConnect) || n.dialed.Load() != maxDialAddrs {
			t.Errorf("%d addresses: %v, %d dials", count, err, n.dialed.Load())
		}
		tr.Close()
	}
}
