package fetch

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func newTransport(t testing.TB, tr *Transport) *Transport {
	t.Helper()
	tr.AllowPrivate = true
	t.Cleanup(func() {
		tr.Close()
		if s := tr.Stats(); s.Open != 0 {
			t.Errorf("%d connections are open after Close", s.Open)
		}
	})
	return tr
}

func TestFetch(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.HandleFunc("/page", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "hello") })
	mux.HandleFunc("/long", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, strings.Repeat("0123456789", 50_000)) })
	mux.HandleFunc("/gzip", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		io.WriteString(z, strings.Repeat("packed", 10_000))
		z.Close()
	})
	mux.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s %s %d", r.Proto, r.Method, b, r.ContentLength)
	})
	mux.HandleFunc("/away", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/page", http.StatusFound) })
	mux.HandleFunc("/headers", func(w http.ResponseWriter, r *http.Request) { r.Header.Write(w); fmt.Fprint(w, r.Host) })

	servers := map[string]*httptest.Server{"plain": httptest.NewServer(mux), "tls": httptest.NewTLSServer(mux), "h2": httptest.NewUnstartedServer(mux)}
	servers["h2"].EnableHTTP2 = true
	servers["h2"].StartTLS()
	for name, srv := range servers {
		t.Run(name, func(t *testing.T) {
			t.Cleanup(srv.Close)
			tr := newTransport(t, &Transport{})
			route := Route{}
			if srv.TLS != nil {
				route.ServerName.RootCAs = srv.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
			}
			get := func(req *Request) *Response {
				t.Helper()
				req.URL, req.Route = srv.URL+req.URL, route
				resp, err := tr.Fetch(t.Context(), req)
				if err != nil {
					t.Fatal(err)
				}
				return resp
			}
			for range 2 {
				if r := get(&Request{URL: "/page"}); string(r.Body) != "hello" || r.Status != 200 {
					t.Errorf("page: %+v", r)
				}
				if r := get(&Request{URL: "/long"}); len(r.Body) != 500_000 {
					t.Errorf("long: %d", len(r.Body))
				}
				if r := get(&Request{URL: "/gzip"}); len(r.Body) != 60_000 || r.Truncated {
					t.Errorf("gzip: %d %v", len(r.Body), r.BodyErr())
				}
				if r := get(&Request{URL: "/away"}); string(r.Body) != "hello" || len(r.Redirects) != 1 {
					t.Errorf("away: %+v", r)
				}
				if r := get(&Request{URL: "/echo", Method: "POST", Body: []byte("data")}); !strings.HasSuffix(string(r.Body), " POST data 4") {
					t.Errorf("echo: %s", r.Body)
				}
			}
			r := get(&Request{URL: "/headers"})
			t.Logf("%s\n%s\n%+v", r.Proto, r.Body, r.Trace)
			if s := tr.Stats(); s.Open != 1 || s.Opened != 1 {
				t.Errorf("stats: %+v", s)
			}
		})
	}
}
