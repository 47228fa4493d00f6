package fetch

import (
	"bufio"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"slices"
	"strings"
	"testing"

	"github.com/seine-go/seine/proxy"
)

// forwarder is a proxy with Squid's usual rules: it forwards requests, and tunnels lead to port 443 alone.
type forwarder struct {
	t     *testing.T
	heads log[string] // first line, Host and Proxy-Authorization of what was asked
	user  string      // "user:password" that is wanted
	to    string      // where all hosts are
	limit string      // port that tunnels may lead to
}

func (p *forwarder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	auth := r.Header.Get("Proxy-Authorization")
	p.heads.add(strings.TrimSpace(fmt.Sprintf("%s %s %s %s", r.Method, r.RequestURI, r.Host, auth)))
	switch {
	case p.user != "" && auth != basicAuth2(p.user):
		w.Header().Set("Proxy-Authenticate", "Basic")
		w.WriteHeader(http.StatusProxyAuthRequired)
	case r.Method != http.MethodConnect:
		(&httputil.ReverseProxy{Rewrite: func(pr *httputil.ProxyRequest) {
			pr.Out.URL.Scheme, pr.Out.URL.Host, pr.Out.Host = "http", p.to, pr.In.Host
		}}).ServeHTTP(w, r)
	case !strings.HasSuffix(r.RequestURI, ":"+p.limit):
		w.WriteHeader(http.StatusForbidden)
	default:
		up, err := net.Dial("tcp", p.to)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			p.t.Error(err)
			return
		}
		defer conn.Close()
		io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n")
		go func() {
			io.Copy(up, conn)
			up.Close()
		}()
		io.Copy(conn, up)
	}
}

func basicAuth2(pair string) string {
	user, password, _ := strings.Cut(pair, ":")
	return basicAuth(user, password)
}

func (p *forwarder) serve(t *testing.T, secure bool) (url string, srv *httptest.Server) {
	t.Helper()
	p.t = t
	srv = httptest.NewUnstartedServer(p)
	if secure {
		srv.StartTLS()
	} else {
		srv.Start()
	}
	t.Cleanup(srv.Close)
	return srv.URL, srv
}

// parsed returns a route through proxies.
func parsed(t *testing.T, urls ...string) proxy.Route {
	t.Helper()
	r, err := proxy.Parse(urls...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestPlainHTTPIsForwarded asks for two hosts, a redirect between them and an https host through a proxy that opens no tunnels to port 80.
func TestPlainHTTPIsForwarded(t *testing.T) {
	t.Parallel()
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, name := range []string{"Proxy-Authorization", "Proxy-Connection"} {
			if r.Header.Get(name) != "" {
				t.Errorf("the host sees %s", name)
			}
		}
		if r.URL.Path == "/away" {
			w.Header().Set("Location", "http://b.example:8080/page?x=1")
			w.WriteHeader(http.StatusFound)
			return
		}
		fmt.Fprint(w, r.Method, " ", r.Host, r.URL.RequestURI(), " ", r.Header.Get("Authorization"))
	}))
	t.Cleanup(origin.Close)
	for _, secure := range []bool{false, true} {
		p := &forwarder{user: "ann:secret", to: strings.TrimPrefix(origin.URL, "http://"), limit: "443"}
		url, srv := p.serve(t, secure)
		tr := newTransport(t, &Transport{Resolver: &fakeNet{}, Guard: PublicAddr})
		route := parsed(t, strings.Replace(url, "://", "://ann:secret@", 1))
		if secure {
			roots := x509.NewCertPool()
			roots.AddCert(srv.Certificate())
			route = route.WithRootCAs(roots)
		}
		get := func(url string, header http.Header) (*Response, error) {
			return tr.Fetch(t.Context(), &Request{URL: url, Header: header, Route: Route{Proxy: route}})
		}
		resp, err := get("http://me:pw@a.example/away#part", http.Header{"Proxy-Authorization": {"mine"}})
		if err != nil || string(resp.Body) != "GET b.example:8080/page?x=1 " || resp.URL != "http://b.example:8080/page?x=1#part" {
			t.Fatalf("%+v, %v", resp, err)
		}
		for _, field := range resp.Trace.Sent {
			if strings.EqualFold(field.Name, "Proxy-Authorization") {
				t.Errorf("the trace tells %v", field)
			}
		}
		if resp, err = get("http://c.example/", nil); err != nil || !resp.Trace.Reused || tr.Stats().Opened != 1 {
			t.Errorf("another host over the same proxy: %+v, %v, %+v", resp, err, tr.Stats())
		}
		auth := basicAuth("ann", "secret")
		want := []string{
			"GET http://a.example/away a.example " + auth, "GET http://b.example:8080/page?x=1 b.example:8080 " + auth, "GET http://c.example/ c.example " + auth,
		}
		if got := p.heads.take(); !slices.Equal(got, want) {
			t.Errorf("the proxy was asked %q", got)
		}
		// Hosts that only the proxy's own network has are refused on a connection that is there, too.
		for _, url := range []string{"http://127.0.0.1/", "http://localhost/", "http://169.254.169.254/"} {
			if _, err := get(url, nil); !errors.Is(err, ErrRefused) {
				t.Errorf("%s: %v", url, err)
			}
		}
		// Tunnels: by choice, for TLS, and where the URL does not say where to go.
		for name, c := range map[string]struct {
			url, asked string
			route      Route
		}{
			"by choice": {"http://a.example/", "CONNECT a.example:80 a.example:80 " + auth, Route{Proxy: route.WithTunnels()}},
			"TLS":       {"https://a.example:8443/", "CONNECT a.example:8443 a.example:8443 " + auth, Route{Proxy: route}},
			"dial":      {"http://a.example/", "CONNECT d.example:80 d.example:80 " + auth, Route{Proxy: route, ServerName: ServerName{Dial: "d.example"}}},
		} {
			_, err := tr.Fetch(t.Context(), &Request{URL: c.url, Route: c.route})
			var known *Error
			if got := p.heads.take(); !errors.As(err, &known) || known.Kind != ErrProxy || known.Temporary() || !slices.Equal(got, []string{c.asked}) {
				t.Errorf("%s: %v, asked %q", name, err, got)
			}
		}
	}
}

// TestForwardingOverChains: the last proxy forwards, the others lead to it.
func TestForwardingOverChains(t *testing.T) {
	t.Parallel()
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Host) }))
	t.Cleanup(origin.Close)
	last := &forwarder{to: strings.TrimPrefix(origin.URL, "http://")}
	lastURL, _ := last.serve(t, false)
	addr := strings.TrimPrefix(lastURL, "http://")
	_, port, _ := net.SplitHostPort(addr)
	first := &forwarder{to: addr, limit: port}
	firstURL, _ := first.serve(t, false)
	tr := newTransport(t, &Transport{Resolver: &fakeNet{}})
	resp, err := tr.Fetch(t.Context(), &Request{URL: "http://a.example/", Route: Route{Proxy: parsed(t, firstURL, lastURL)}})
	if err != nil || string(resp.Body) != "a.example" {
		t.Fatalf("%+v, %v", resp, err)
	}
	if a, b := first.heads.take(), last.heads.take(); !slices.Equal(a, []string{"CONNECT " + addr + " " + addr}) || !slices.Equal(b, []string{"GET http://a.example/ a.example"}) {
		t.Errorf("%q, %q", a, b)
	}
}

// TestProxiesAndHostsAreToldApart has what proxies say when they refuse, and when they cannot reach a host.
func TestProxiesAndHostsAreToldApart(t *testing.T) {
	t.Parallel()
	http1 := func(status int) func(net.Conn) {
		return func(conn net.Conn) {
			http.ReadRequest(bufio.NewReader(conn))
			fmt.Fprintf(conn, "HTTP/1.1 %d X\r\nContent-Length: 0\r\n\r\n", status)
		}
	}
	socks := func(method, login, reply byte) func(net.Conn) {
		return func(conn net.Conn) {
			buf := make([]byte, 300)
			for _, answer := range [][]byte{{5, method}, {1, login}, {5, reply, 0, 1, 0, 0, 0, 0, 0, 0}} {
				if answer[0] == 1 && method == 0 {
					continue
				}
				conn.Read(buf)
				conn.Write(answer)
			}
			conn.Read(buf)
		}
	}
	for _, c := range []struct {
		name, scheme, url string
		serve             func(net.Conn)
		kind              ErrorKind
		fault             Fault
		temporary         bool
	}{
		{"502", "http", "https://a.example/", http1(502), ErrConnect, FaultHost, true},
		{"503", "http", "https://a.example/", http1(503), ErrConnect, FaultHost, true},
		{"504", "http", "https://a.example/", http1(504), ErrConnect, FaultHost, true},
		{"500", "http", "https://a.example/", http1(500), ErrProxy, FaultProxy, true},
		{"403", "http", "https://a.example/", http1(403), ErrProxy, FaultProxy, false},
		{"407", "http", "https://a.example/", http1(407), ErrProxy, FaultProxy, false},
		{"407 to a request", "http", "http://a.example/", http1(407), ErrProxy, FaultProxy, false},
		{"general failure", "socks5", "http://a.example/", socks(0, 0, 1), ErrProxy, FaultProxy, true},
		{"rules", "socks5", "http://a.example/", socks(0, 0, 2), ErrProxy, FaultProxy, false},
		{"network", "socks5", "http://a.example/", socks(0, 0, 3), ErrConnect, FaultHost, true},
		{"host", "socks5", "http://a.example/", socks(0, 0, 4), ErrConnect, FaultHost, true},
		{"connection", "socks5", "http://a.example/", socks(0, 0, 5), ErrConnect, FaultHost, true},
		{"no method", "socks5", "http://a.example/", socks(0xff, 0, 0), ErrProxy, FaultProxy, false},
		{"login", "socks5", "http://a.example/", socks(2, 1, 0), ErrProxy, FaultProxy, false},
	} {
		tr := newTransport(t, &Transport{})
		addr := serveRaw(t, c.serve)
		_, err := tr.Fetch(t.Context(), &Request{URL: c.url, Route: Route{Proxy: parsed(t, c.scheme+"://ann:secret@"+addr)}})
		var known *Error
		if !errors.As(err, &known) || known.Kind != c.kind || known.Kind.Fault() != c.fault || known.Temporary() != c.temporary {
			t.Errorf("%s: %v", c.name, err)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error tells the password: %v", c.name, err)
		}
	}
	// The first of two proxies cannot reach the second: no host is to blame for that.
	addr := serveRaw(t, http1(502))
	_, err := newTransport(t, &Transport{}).Fetch(t.Context(), &Request{URL: "https://a.example/", Route: Route{Proxy: parsed(t, "http://"+addr, "http://b.example:3128")}})
	if KindOf(err) != ErrProxy {
		t.Errorf("between proxies: %v", err)
	}
}
