package fetch

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seine-go/seine/internal/memhttp"
	"github.com/seine-go/seine/proxy"
)

// tunnelTo is a proxy that notes whom it is asked for, and leads there.
func tunnelTo(n *memhttp.Network, asked *log[string]) func(net.Conn) {
	return func(conn net.Conn) {
		head, err := readHead(conn)
		if err != nil {
			return
		}
		line, _, _ := strings.Cut(head, "\r\n")
		asked.add(line)
		up, err := n.DialContext(context.Background(), "tcp", "films.example:443")
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
}

// TestEachProxyHasItsOwnHTTP2Connection_K091: requests to one HTTP/2 host leave through the proxy and with the user that each
// names, over one tunnel for each.
func TestEachProxyHasItsOwnHTTP2Connection_K091(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tr, n, route := h2Client(t, &Transport{}, okHandler)
		var asked [2]log[string]
		for i := range asked {
			serveMem(t, n, fmt.Sprintf("p%d.example:3128", i+1), tunnelTo(n, &asked[i]))
		}
		defer tr.Close()
		proxies := []string{"http://p1.example:3128", "http://p2.example:3128", "http://s1:x@p1.example:3128", "http://s2:x@p1.example:3128"}
		for round := range 3 {
			for _, p := range proxies {
				var err error
				if route.Proxy, err = proxy.Parse(p); err != nil {
					t.Fatal(err)
				}
				resp, err := tr.Fetch(t.Context(), &Request{URL: "https://films.example/", Route: route})
				if err != nil || resp.Proto != "HTTP/2.0" || resp.Trace.Reused != (round > 0) {
					t.Errorf("%s: %v %v", p, resp, err)
				}
			}
		}
		one, two := asked[0].take(), asked[1].take()
		if want := slices.Repeat([]string{"CONNECT films.example:443 HTTP/1.1"}, 3); !slices.Equal(one, want) || !slices.Equal(two, want[:1]) {
			t.Errorf("%q and %q", one, two)
		}
	})
}

// TestNoPrefaceWhereHTTP1IsChosen_K087: a host that is offered both and chooses HTTP/1.1, or neither, is spoken to in HTTP/1.1.
func TestNoPrefaceWhereHTTP1IsChosen_K087(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	for name, protos := range map[string][]string{"chosen": {"http/1.1"}, "none": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var offered, first log[string]
			cert := ca.issue(t, time.Now().Add(time.Hour), "films.example")
			addr := serveRaw(t, func(conn net.Conn) {
				tc := tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{cert}, NextProtos: protos, GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
					offered.add(strings.Join(hello.SupportedProtos, " "))
					return nil, nil
				}})
				head, _ := readHead(tc)
				line, _, _ := strings.Cut(head, "\r\n")
				first.add(line)
				io.WriteString(tc, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
				tc.Close()
			})
			tr := toHost(t, addr, &Transport{})
			resp, err := tr.Fetch(t.Context(), &Request{URL: "https://films.example/x", Route: Route{ServerName: ServerName{RootCAs: ca.pool}}})
			if err != nil || string(resp.Body) != "ok" || resp.Proto != "HTTP/1.1" || resp.Status != http.StatusOK {
				t.Errorf("%v %v", resp, err)
			}
			if o, f := offered.take(), first.take(); !slices.Equal(o, []string{"h2 http/1.1"}) || !slices.Equal(f, []string{"GET /x HTTP/1.1"}) {
				t.Errorf("%q, %q", o, f)
			}
		})
	}
}
