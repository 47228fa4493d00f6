package fetch

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seine-go/seine/internal/memhttp"
)

// authority issues certificates for tests.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pool *x509.CertPool
}

func newAuthority(t testing.TB) *authority {
	t.Helper()
	a := &authority{pool: x509.NewCertPool()}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Unix(0, 0), NotAfter: time.Now().Add(24 * time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	var err error
	if a.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &a.key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	a.pool.AddCert(a.cert)
	return a
}

// issue returns a certificate for names that is good until end.
func (a *authority) issue(t testing.TB, end time.Time, names ...string) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(2), DNSNames: names, NotBefore: time.Unix(0, 0), NotAfter: end}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// tlsHost is a TLS server on loopback that remembers the names of the hellos.
type tlsHost struct {
	*httptest.Server
	log[string]
}

func newTLSHost(t testing.TB, cfg *tls.Config, handler http.HandlerFunc) *tlsHost {
	h := &tlsHost{}
	h.Server = httptest.NewUnstartedServer(handler)
	h.TLS = cfg
	h.TLS.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		h.add(hello.ServerName)
		return nil, nil
	}
	h.EnableHTTP2 = true
	h.Config.ErrorLog = nil
	h.StartTLS()
	t.Cleanup(h.Close)
	return h
}

func sayProto(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.Proto+" "+r.Host) }

// toHost makes a Transport of which every name leads to one listener.
func toHost(t testing.TB, addr string, tr *Transport) *Transport {
	n := &fakeNet{to: addr, names: map[string][]string{}}
	tr.Dial = n.dial
	tr.Resolver = resolverFunc(func(string) ([]string, error) { return []string{"8.8.8.8"}, nil })
	return newTransport(t, tr)
}

// TestServerNames: dialled host, name in the hello and name of the certificate are independent.
func TestServerNames(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	host := newTLSHost(t, &tls.Config{Certificates: []tls.Certificate{ca.issue(t, time.Now().Add(time.Hour), "films.example")}}, sayProto)
	for _, c := range []struct {
		name string
		url  string
		sn   ServerName
		sni  string
		ok   bool
	}{
		{"plain", "https://films.example/", ServerName{}, "films.example", true},
		{"wrong name", "https://books.example/", ServerName{}, "books.example", false},
		{"front", "https://films.example/", ServerName{SNI: "front.invalid"}, "front.invalid", true},
		{"verify", "https://books.example/", ServerName{Verify: "films.example"}, "books.example", true},
		{"verify the wrong name", "https://films.example/", ServerName{Verify: "books.example"}, "films.example", false},
		{"both", "https://books.example/", ServerName{SNI: "front.invalid", Verify: "films.example"}, "front.invalid", true},
		{"no name", "https://films.example/", ServerName{OmitSNI: true}, "", true},
		{"no name, wrong", "https://books.example/", ServerName{OmitSNI: true}, "", false},
		{"insecure", "https://books.example/", ServerName{Insecure: true}, "books.example", true},
		{"dial", "https://films.example/", ServerName{Dial: "1.1.1.1:1234"}, "films.example", true},
		{"address", "https://9.9.9.9/", ServerName{Verify: "films.example"}, "", true},
	} {
		tr := toHost(t, host.Listener.Addr().String(), &Transport{})
		c.sn.RootCAs = ca.pool
		resp, err := tr.Fetch(t.Context(), &Request{URL: c.url, Route: Route{ServerName: c.sn}})
		if c.ok && (err != nil || resp.Proto != "HTTP/2.0" || resp.Trace.ServerName != c.sni) {
			t.Errorf("%s: %+v, %v", c.name, resp, err)
		}
		var failure *Error
		if !c.ok && (!errors.As(err, &failure) || failure.Kind != ErrTLS || failure.Temporary()) {
			t.Errorf("%s: %v", c.name, err)
		}
		if names := host.take(); len(names) != 1 || names[0] != c.sni {
			t.Errorf("%s: names %q", c.name, names)
		}
	}
	tr := toHost(t, host.Listener.Addr().String(), &Transport{})
	if _, err := tr.Fetch(t.Context(), &Request{URL: "https://films.example/"}); !errors.Is(err, ErrTLS) {
		t.Errorf("an authority that is not known: %v", err)
	}
}

func TestTicketsStayInTheirScope(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	host := newTLSHost(t, &tls.Config{Certificates: []tls.Certificate{ca.issue(t, time.Now().Add(time.Hour), "films.example", "books.example")}},
		func(w http.ResponseWriter, r *http.Request) { w.Header().Set("Connection", "close"); sayProto(w, r) })
	tr := toHost(t, host.Listener.Addr().String(), &Transport{DisableHTTP2: true})
	resumed := func(url string, sn ServerName) bool {
		sn.RootCAs = ca.pool
		resp, err := tr.Fetch(t.Context(), &Request{URL: url, Route: Route{ServerName: sn}})
		if err != nil {
			t.Fatal(err)
		}
		return resp.Trace.Resumed
	}
	front := ServerName{SNI: "front.invalid", Verify: "films.example"}
	if resumed("https://films.example/", ServerName{}) || !resumed("https://films.example/", ServerName{}) {
		t.Error("the second connection of one scope is not resumed")
	}
	if resumed("https://films.example/", front) || !resumed("https://films.example/", front) {
		t.Error("scopes of other names share tickets, or have none")
	}
	if resumed("https://books.example/", ServerName{SNI: "films.example"}) {
		t.Error("a ticket was shown for another host")
	}
}

// TestHandshakesShareOneConnection: fifty requests to a host that nobody knows dial once if it speaks HTTP/2, and of two
// hosts a slow one does not hold up the other.
func TestHandshakesShareOneConnection(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	cert := ca.issue(t, time.Now().Add(time.Hour), "films.example")
	for _, h2 := range []bool{true, false} {
		cfg := &tls.Config{Certificates: []tls.Certificate{cert}}
		release := make(chan struct{})
		var inside sync.WaitGroup
		inside.Add(50)
		host := newTLSHost(t, cfg, func(w http.ResponseWriter, r *http.Request) {
			inside.Done()
			<-release
			sayProto(w, r)
		})
		tr := toHost(t, host.Listener.Addr().String(), &Transport{DisableHTTP2: !h2})
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				resp, err := tr.Fetch(t.Context(), &Request{URL: "https://films.example/", Route: Route{ServerName: ServerName{RootCAs: ca.pool}}})
				if err != nil || h2 != (resp.Proto == "HTTP/2.0") {
					t.Errorf("%v %v", resp, err)
				}
			})
		}
		inside.Wait()
		close(release)
		all.Wait()
		want := int64(50)
		if h2 {
			want = 1
		}
		if s := tr.Stats(); s.Opened != want || s.Open != s.Idle {
			t.Errorf("http/2 %v: %+v", h2, s)
		}
	}
}

// TestFailedHandshakeIsShared: those who wait for a handshake get its error and do not try one after the other; one
// whose own context ends fails alone, also the one that began it.
func TestFailedHandshakeIsShared(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var network memhttp.Network
		l, err := network.Listen("stalled.example:443")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		tr := &Transport{Dial: network.DialContext, Resolver: &network, AllowPrivate: true}
		defer tr.Close()
		var all sync.WaitGroup
		start := time.Now()
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		all.Go(func() {
			if _, err := tr.Fetch(short, &Request{URL: "https://stalled.example/"}); !errors.Is(err, ErrTimeout) || time.Since(start) != time.Second {
				t.Errorf("first: %v after %v", err, time.Since(start))
			}
		})
		synctest.Wait()
		for range 20 {
			all.Go(func() {
				_, err := tr.Fetch(t.Context(), &Request{URL: "https://stalled.example/"})
				var e *Error
				if !errors.As(err, &e) || e.Kind != ErrTLS || !e.Timeout() {
					t.Errorf("%v", err)
				}
				if d := time.Since(start); d != defaultTLSTimeout {
					t.Errorf("after %v", d)
				}
			})
		}
		all.Wait()
		if n := network.Dialled(); n != 1 {
			t.Errorf("%d dials", n)
		}
	})
}

// TestSlowHandshakeHoldsNobodyUp_K067: the handshake of one host takes 4 s while others are asked.
func TestSlowHandshakeHoldsNobodyUp_K067(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tr, n, route := h2Client(t, &Transport{}, sayProto)
		for i := range 10 {
			n.Serve(t, fmt.Sprintf("host%d.example:80", i), http.HandlerFunc(okHandler))
		}
		serveMem(t, n, "slow.example:443", func(conn net.Conn) { <-time.After(4 * time.Second) })
		start := time.Now()
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() {
				if _, err := tr.Fetch(t.Context(), &Request{URL: "https://slow.example/"}); !errors.Is(err, ErrTLS) || time.Since(start) != 4*time.Second {
					t.Errorf("the slow one: %v after %v", err, time.Since(start))
				}
			})
		}
		synctest.Wait()
		for i := range 10 {
			mustFetch(t, tr, fmt.Sprintf("http://host%d.example/", i))
		}
		if _, err := tr.Fetch(t.Context(), &Request{URL: "https://films.example/", Route: route}); err != nil {
			t.Error(err)
		}
		if d := time.Since(start); d != 0 {
			t.Errorf("the others took %v", d)
		}
		all.Wait()
	})
}

// TestCustomDialKeepsHTTP2_K055: a dial function of the caller does not turn HTTP/2 off.
func TestCustomDialKeepsHTTP2_K055(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	host := newTLSHost(t, &tls.Config{Certificates: []tls.Certificate{ca.issue(t, time.Now().Add(time.Hour), "films.example")}}, sayProto)
	for _, disable := range []bool{false, true} {
		tr := toHost(t, host.Listener.Addr().String(), &Transport{DisableHTTP2: disable})
		resp, err := tr.Fetch(t.Context(), &Request{URL: "https://films.example/", Route: Route{ServerName: ServerName{RootCAs: ca.pool}}})
		if err != nil || (resp.Proto == "HTTP/2.0") == disable || !strings.HasPrefix(string(resp.Body), resp.Proto) {
			t.Errorf("disabled %v: %v %v", disable, resp, err)
		}
	}
}

// TestPoolKeys: routes that differ in one name only share no connection; sessions do.
func TestPoolKeys(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	host := newTLSHost(t, &tls.Config{Certificates: []tls.Certificate{ca.issue(t, time.Now().Add(time.Hour), "films.example")}}, sayProto)
	tr := toHost(t, host.Listener.Addr().String(), &Transport{})
	routes := []ServerName{
		{},
		{Dial: "1.1.1.1"},
		{Dial: "1.1.1.1:444"},
		{SNI: "a.invalid"},
		{SNI: "b.invalid"},
		{OmitSNI: true},
		{Insecure: true},
		{Verify: "films.example"},
		{SNI: "a.invalid\",\"", Verify: "films.example"},
	}
	for round := range 2 {
		for i, sn := range routes {
			sn.RootCAs = ca.pool
			resp, err := tr.Fetch(t.Context(), &Request{URL: "https://films.example/", Route: Route{ServerName: sn, Session: fmt.Sprint(i, round)}})
			if err != nil {
				t.Fatal(err)
			}
			if resp.Trace.Reused != (round == 1) {
				t.Errorf("round %d, %+v: reused %v", round, sn, resp.Trace.Reused)
			}
		}
	}
	if s := tr.Stats(); s.Opened != int64(len(routes)) {
		t.Errorf("%+v", s)
	}
}

// resolverFunc is a Resolver.
type resolverFunc func(host string) ([]string, error)

// TestPoolKeyIsFree: names cost no memory to be compared.
func TestPoolKeyIsFree(t *testing.T) {
	r := Route{ServerName: ServerName{SNI: "front.example", Verify: "x", Dial: "1.2.3.4:443"}}
	if n := testing.AllocsPerRun(100, func() { poolSink = r.key("https", "films.example", "443") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

var poolSink poolKey

func (f resolverFunc) LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error) {
	texts, err := f(host)
	var addrs []netip.Addr
	for _, a := range texts {
		addrs = append(addrs, netip.MustParseAddr(a))
	}
	return addrs, err
}
