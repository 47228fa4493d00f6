package fetch

import (
	"context"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seine-go/seine/internal/memhttp"
)

type panicOnce struct {
	n    atomic.Int64
	then Resolver
}

func (p *panicOnce) LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error) {
	if p.n.Add(1) == 1 {
		time.Sleep(time.Second) // virtual: others come to wait
		panic("the resolver")
	}
	return p.then.LookupNetIP(ctx, network, host)
}

type handshakePanics struct{}

func (handshakePanics) Handshake(context.Context, net.Conn, Target) (net.Conn, ConnInfo, error) {
	time.Sleep(time.Second) // virtual
	panic("the handshake")
}

// A panic in the caller's own Resolver or Handshaker is that request's; those who waited for its outcome go on.
func TestPanicLeavesNobodyWaiting(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		url string
		tls Handshaker
		ok  bool // for those who waited
	}{
		"resolver":  {url: "http://films.example/", ok: true},
		"handshake": {url: "https://films.example/", tls: handshakePanics{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var network memhttp.Network
				for _, port := range []string{":80", ":443"} {
					network.Serve(t, "films.example"+port, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
				}
				tr := &Transport{Dial: network.DialContext, Resolver: &network, AllowPrivate: true, TLS: c.tls}
				if c.tls == nil {
					tr.Resolver = &panicOnce{then: &network}
				}
				defer tr.Close()
				start := time.Now()
				outcomes := make(chan error, 3)
				for range 3 {
					go func() {
						defer func() {
							if recover() != nil {
								outcomes <- nil
							}
						}()
						_, err := tr.Fetch(t.Context(), &Request{URL: c.url})
						if c.ok != (err == nil) {
							t.Errorf("one who waited: %v", err)
						}
						outcomes <- err
					}()
				}
				for range 3 {
					<-outcomes
				}
				if took := time.Since(start); took > 10*time.Second {
					t.Errorf("took %v", took)
				}
				if s := tr.Stats(); s.Open != s.Idle {
					t.Errorf("%+v", s)
				}
			})
		})
	}
}

// Without a time-out for the head a request with a body has none either.
func TestNoHeaderTimeoutOverHTTP2(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		tick := time.NewTimer(1500 * time.Millisecond) // beyond what the body's size once added to "none"
		defer tick.Stop()
		<-tick.C
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	tr := &Transport{AllowPrivate: true, HeaderTimeout: -1}
	defer tr.Close()
	resp, err := tr.Fetch(t.Context(), &Request{Method: "POST", URL: server.URL, Body: make([]byte, 2048), Route: Route{ServerName: ServerName{RootCAs: roots}}})
	if err != nil || resp.Status != 200 || resp.Proto != "HTTP/2.0" {
		t.Errorf("%v, %v", resp, err)
	}
}

// What the caller's own functions return or do against the rules is an error of the request.
func TestBrokenDialAndHandshakeAreErrors(t *testing.T) {
	t.Parallel()
	closed := make(chan struct{}, 4)
	open := func() (net.Conn, error) {
		a, b := net.Pipe()
		go func() {
			_, _ = io.Copy(io.Discard, b)
			closed <- struct{}{}
		}()
		return a, nil
	}
	two := resolverFunc(func(string) ([]string, error) { return []string{"8.8.8.8", "9.9.9.9"}, nil })
	for name, c := range map[string]struct {
		url    string
		dial   func() (net.Conn, error)
		tls    Handshaker
		panics bool // of the request itself
		closes bool
	}{
		"no connection":              {url: "http://8.8.8.8/", dial: func() (net.Conn, error) { return nil, nil }},
		"no connection to many":      {url: "http://films.example/", dial: func() (net.Conn, error) { return nil, nil }},
		"a panic for each of many":   {url: "http://films.example/", dial: func() (net.Conn, error) { panic("dial") }},
		"a panic of the handshake":   {url: "https://8.8.8.8/", dial: open, tls: handshaker(func() net.Conn { panic("shake") }), panics: true, closes: true},
		"no connection of handshake": {url: "https://8.8.8.8/", dial: open, tls: handshaker(func() net.Conn { return nil }), closes: true},
	} {
		tr := newTransport(t, &Transport{
			Resolver: two, TLS: c.tls,
			Dial: func(context.Context, string, string) (net.Conn, error) { return c.dial() },
		})
		func() {
			defer func() {
				if value := recover(); (value != nil) != c.panics {
					t.Errorf("%s: panic %v", name, value)
				}
			}()
			if _, err := tr.Fetch(t.Context(), &Request{URL: c.url}); KindOf(err) != ErrConnect && KindOf(err) != ErrTLS {
				t.Errorf("%s: %v", name, err)
			}
		}()
		if c.closes {
			<-closed
		}
	}
}

type handshaker func() net.Conn

func (h handshaker) Handshake(context.Context, net.Conn, Target) (net.Conn, ConnInfo, error) {
	return h(), ConnInfo{}, nil
}

func TestLimitOfNothing(t *testing.T) {
	t.Parallel()
	none := FetcherFunc(func(context.Context, *Request) (*Response, error) { return nil, nil })
	if _, err := Limit(nil)(none).Fetch(t.Context(), &Request{URL: "http://films.example/"}); KindOf(err) != ErrInvalid {
		t.Errorf("%v", err)
	}
	if _, err := Limit(nil)(none).Fetch(t.Context(), nil); KindOf(err) != ErrInvalid {
		t.Errorf("%v", err)
	}
}
