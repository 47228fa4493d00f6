package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"unicode/utf8"

	"github.com/seine-go/seine/internal/weburl"
)

// hopServer answers with the headers and the status that the target asks for and records what it was asked.
type hopServer struct {
	*httptest.Server
	log[string]
}

func newHopServer(t *testing.T, answers map[string]string) *hopServer {
	s := &hopServer{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.add(strings.TrimSpace(fmt.Sprintf("%s %s %s %s", r.Method, r.RequestURI, r.Header.Get("Content-Type"), body)))
		answer := answers[r.RequestURI]
		var status int
		var location, cookie string
		fmt.Sscanf(answer, "%d %s %s", &status, &location, &cookie)
		if location != "" {
			w.Header().Set("Location", strings.ReplaceAll(location, "BASE", s.URL))
		}
		if cookie != "" {
			w.Header().Set("Set-Cookie", cookie)
		}
		if status != 0 {
			w.WriteHeader(status)
		}
		io.WriteString(w, "body of "+r.RequestURI)
	}))
	t.Cleanup(s.Close)
	return s
}

func TestRedirectMethods(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status       int
		method, want string
	}{
		{301, "GET", "GET /to"},
		{302, "GET", "GET /to"},
		{303, "GET", "GET /to"},
		{307, "GET", "GET /to"},
		{308, "GET", "GET /to"},
		{301, "HEAD", "HEAD /to"},
		{303, "HEAD", "HEAD /to"},
		{301, "POST", "GET /to"},
		{302, "POST", "GET /to"},
		{303, "POST", "GET /to"},
		{307, "POST", "POST /to text/plain data"},
		{308, "POST", "POST /to text/plain data"},
		{301, "PUT", "PUT /to text/plain data"},
		{302, "PUT", "PUT /to text/plain data"},
		{303, "PUT", "GET /to"},
		{303, "DELETE", "GET /to"},
	} {
		s := newHopServer(t, map[string]string{"/from": fmt.Sprintf("%d /to", c.status)})
		tr := newTransport(t, &Transport{})
		req := &Request{URL: s.URL + "/from", Method: c.method}
		if c.method == "POST" || c.method == "PUT" || c.method == "DELETE" {
			req.Body, req.Header = []byte("data"), http.Header{"Content-Type": {"text/plain"}}
		}
		resp, err := tr.Fetch(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		if asked := s.take(); len(asked) != 2 || asked[1] != c.want || resp.URL != s.URL+"/to" {
			t.Errorf("%d %s: %q, want %q", c.status, c.method, asked, c.want)
		}
		if want := (Hop{s.URL + "/from", c.status, s.URL + "/to"}); len(resp.Redirects) != 1 || resp.Redirects[0] != want {
			t.Errorf("%d %s: %v", c.status, c.method, resp.Redirects)
		}
	}
}

func TestRedirectsThatAreDelivered(t *testing.T) {
	t.Parallel()
	s := newHopServer(t, map[string]string{
		"/300": "300 /to", "/304": "304 /to", "/305": "305 /to", "/306": "306 /to", "/309": "309 /to", "/201": "201 /to",
		"/none": "302", "/bad": "302 http://[::1%zz]/", "/port": "302 http://a:99999/", "/host": "302 https://",
	})
	tr := newTransport(t, &Transport{})
	for _, path := range []string{"/300", "/304", "/305", "/306", "/309", "/201", "/none", "/bad", "/port", "/host"} {
		resp, err := tr.Fetch(t.Context(), &Request{URL: s.URL + path})
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if want := "body of " + path; string(resp.Body) != want && path != "/304" || resp.URL != s.URL+path || len(resp.Redirects) != 0 {
			t.Errorf("%s: %d %q %v", path, resp.Status, resp.Body, resp.Redirects)
		}
	}
	if n := len(s.take()); n != 10 {
		t.Errorf("%d requests", n)
	}
}

func TestRedirectLimits(t *testing.T) {
	t.Parallel()
	answers := map[string]string{}
	for i := range 30 {
		answers[fmt.Sprintf("/%d", i)] = fmt.Sprintf("302 /%d", i+1)
	}
	s := newHopServer(t, answers)
	for _, c := range []struct {
		transport, request int
		want               int // redirects followed; -1: the error
	}{
		{0, 0, -1}, {0, 30, 30}, {0, 29, -1}, {0, -1, 0}, {-1, 0, 0}, {-1, 30, 30}, {30, 0, 30}, {30, -1, 0}, {29, 0, -1},
	} {
		tr := newTransport(t, &Transport{MaxRedirects: c.transport})
		resp, err := tr.Fetch(t.Context(), &Request{URL: s.URL + "/0", MaxRedirects: c.request})
		asked := len(s.take())
		if c.want < 0 {
			most := max(c.transport, c.request)
			if most == 0 {
				most = DefaultMaxRedirects
			}
			if !errors.Is(err, ErrRedirect) || KindOf(err).Temporary() || asked != most+1 {
				t.Errorf("%+v: %v after %d requests", c, err, asked)
			}
			continue
		}
		if err != nil || len(resp.Redirects) != c.want {
			t.Errorf("%+v: %v %v", c, resp, err)
		}
	}
}

func TestRedirectToItselfWithCookie(t *testing.T) {
	t.Parallel()
	s := newHopServer(t, map[string]string{"/always": "302 /always a=1", "/plain": "302 /plain", "/frag": "302 /frag#x"})
	tr := newTransport(t, &Transport{})
	for path, want := range map[string]int{"/always": DefaultMaxRedirects + 1, "/plain": 1, "/frag": 1} {
		_, err := tr.Fetch(t.Context(), &Request{URL: s.URL + path})
		if asked := len(s.take()); !errors.Is(err, ErrRedirect) || asked != want {
			t.Errorf("%s: %v after %d requests, want %d", path, err, asked, want)
		}
	}
	// It is followed, and comes to its end where the host lets it.
	var visits atomic.Int32
	once := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if visits.Add(1) < 3 {
			w.Header().Set("Set-Cookie", "a=1")
			http.Redirect(w, r, r.RequestURI, http.StatusFound)
			return
		}
		io.WriteString(w, "in")
	}))
	defer once.Close()
	resp, err := tr.Fetch(t.Context(), &Request{URL: once.URL + "/"})
	if err != nil || string(resp.Body) != "in" || len(resp.Redirects) != 2 {
		t.Errorf("%v %v", resp, err)
	}
}

// TestSecretsStayWithTheirOrigin_K058 sends secrets over redirects within the origin, to another port or host, and back.
func TestSecretsStayWithTheirOrigin_K058(t *testing.T) {
	t.Parallel()
	for _, host := range []string{"127.0.0.1", "localhost"} {
		t.Run(host, func(t *testing.T) { secretsStay(t, host) })
	}
}

func secretsStay(t *testing.T, otherHost string) {
	var seen log[http.Header]
	var first, second *httptest.Server
	handler := func(w http.ResponseWriter, r *http.Request) {
		h := r.Header.Clone()
		h.Set("Host", r.Host)
		seen.add(h)
		switch r.URL.Path {
		case "/a":
			http.Redirect(w, r, "/b", http.StatusFound)
		case "/b":
			http.Redirect(w, r, strings.Replace(second.URL, "127.0.0.1", otherHost, 1)+"/c", http.StatusFound)
		case "/c":
			http.Redirect(w, r, first.URL+"/d", http.StatusFound)
		}
	}
	first, second = httptest.NewServer(http.HandlerFunc(handler)), httptest.NewServer(http.HandlerFunc(handler))
	defer first.Close()
	defer second.Close()
	tr := newTransport(t, &Transport{SecretHeaders: []string{"x-api-key"}})
	header := http.Header{
		"authorization": {"Bearer s"}, "Cookie": {"s=1"}, "Proxy-Authorization": {"Basic s"}, "X-Api-Key": {"s"}, "X-Other": {"o"},
		"Host": {"virtual.example"},
	}
	before := header.Clone()
	if _, err := tr.Fetch(t.Context(), &Request{URL: first.URL + "/a", Header: header, HeaderOrder: []string{"Cookie", "Authorization"}}); err != nil {
		t.Fatal(err)
	}
	requests := seen.take()
	for i, h := range requests {
		want := "s"
		if i >= 2 {
			want = ""
		}
		for _, name := range []string{"Authorization", "Cookie", "Proxy-Authorization", "X-Api-Key"} {
			if has := h.Get(name) != ""; has != (want != "") {
				t.Errorf("request %d: %s: %q", i, name, h.Get(name))
			}
		}
		if h.Get("X-Other") != "o" || (h.Get("Host") == "virtual.example") != (i < 2) {
			t.Errorf("request %d: %v", i, h)
		}
	}
	if len(requests) != 4 || fmt.Sprint(before) != fmt.Sprint(header) {
		t.Errorf("%d requests; header %v", len(requests), header)
	}
}

func TestUserInfoOfTheURL(t *testing.T) {
	t.Parallel()
	var seen log[string]
	var second *httptest.Server
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		seen.add(r.URL.Path + " " + user + ":" + password)
		switch r.URL.Path {
		case "/a":
			http.Redirect(w, r, second.URL+"/c", http.StatusFound)
		case "/c":
			http.Redirect(w, r, strings.Replace(second.URL, "//", "//other:x%40y@", 1)+"/d", http.StatusFound)
		}
	})
	first := httptest.NewServer(handler)
	second = httptest.NewServer(handler)
	defer first.Close()
	defer second.Close()
	tr := newTransport(t, &Transport{})
	url := strings.Replace(first.URL, "//", "//user:p%3Ass@", 1) + "/a"
	if _, err := tr.Fetch(t.Context(), &Request{URL: url}); err != nil {
		t.Fatal(err)
	}
	if want := []string{"/a user:p:ss", "/c :", "/d other:x@y"}; !slices.Equal(seen.take(), want) {
		t.Errorf("not %q", want)
	}
	_, err := tr.Fetch(t.Context(), &Request{URL: "http://user:secret@127.0.0.1:1/"})
	if err == nil || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "user") {
		t.Errorf("%v", err)
	}
}

func TestCheckHop(t *testing.T) {
	t.Parallel()
	s := newHopServer(t, map[string]string{"/a": "302 /b#part", "/b": "302 /c", "/c": "302 /d"})
	stop := errors.New("robots.txt says no")
	var asked []string
	tr := newTransport(t, &Transport{CheckHop: func(_ context.Context, first *Request, hops []Hop) error {
		next := hops[len(hops)-1].To
		asked = append(asked, strings.TrimPrefix(first.URL, s.URL)+" "+strings.TrimPrefix(next, s.URL))
		if strings.HasPrefix(next, s.URL+"/d") {
			return stop
		}
		return nil
	}})
	_, err := tr.Fetch(t.Context(), &Request{URL: s.URL + "/a"})
	var e *Error
	if !errors.As(err, &e) || e.Kind != ErrHopRefused || !errors.Is(err, stop) || e.URL != s.URL+"/d#part" || e.Temporary() {
		t.Errorf("%v", err)
	}
	if want := []string{"/a /b#part", "/a /c#part", "/a /d#part"}; !slices.Equal(asked, want) || len(s.take()) != 3 {
		t.Errorf("%q", asked)
	}
}

// TestSmallHopBodiesKeepTheConnection: at the bound of what is read of a redirect's body, and one past it.
func TestSmallHopBodiesKeepTheConnection(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 1, maxHopBody, maxHopBody + 1} {
		for _, chunked := range []bool{false, true} {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/to" {
					return
				}
				w.Header().Set("Location", "/to")
				if !chunked {
					w.Header().Set("Content-Length", fmt.Sprint(size))
				}
				w.WriteHeader(http.StatusFound)
				w.Write(make([]byte, size))
			}))
			tr := newTransport(t, &Transport{})
			resp, err := tr.Fetch(t.Context(), &Request{URL: srv.URL + "/from"})
			if err != nil {
				t.Fatal(err)
			}
			if kept := resp.Trace.Connections == 1; kept != (size <= maxHopBody) {
				t.Errorf("%d bytes, chunked %v: kept %v", size, chunked, kept)
			}
			tr.CloseIdleConnections()
			srv.Close()
		}
	}
}

func TestServerNamesStayWithTheirHost(t *testing.T) {
	t.Parallel()
	addr := serveRaw(t, func(conn net.Conn) {
		for {
			head, err := readHead(conn)
			switch {
			case err != nil:
				return
			case strings.HasPrefix(head, "GET /a "):
				io.WriteString(conn, "HTTP/1.1 302 Found\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n")
			case strings.HasPrefix(head, "GET /b "):
				io.WriteString(conn, "HTTP/1.1 302 Found\r\nLocation: http://other.example/c\r\nContent-Length: 0\r\n\r\n")
			default:
				io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
			}
		}
	})
	var dialled []string
	tr := newTransport(t, &Transport{
		Resolver: &fakeNet{names: map[string][]string{"other.example": {"8.8.8.8"}, "origin.example": {"1.1.1.1"}}},
		Dial: func(ctx context.Context, network, to string) (net.Conn, error) {
			dialled = append(dialled, to)
			return new(net.Dialer).DialContext(ctx, network, addr)
		},
	})
	req := &Request{URL: "http://films.example/a", Route: Route{ServerName: ServerName{Dial: "origin.example:8080"}}}
	if _, err := tr.Fetch(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if want := []string{"1.1.1.1:8080", "8.8.8.8:80"}; !slices.Equal(dialled, want) {
		t.Errorf("%q", dialled)
	}
}

// FuzzRedirectLocation: any Location is followed, delivered or refused; what is followed is an http URL of printable ASCII.
func FuzzRedirectLocation(f *testing.F) {
	for _, s := range []string{"/ok", "  /ok page ", "?start=60", "//other/x", "http://[::1%zz]/", "/\xe7\x94\xb5", "/\xb5\xe7", "file:///etc/passwd", "#f", "", "http:ok", "\\\\x\\y", "http://a:b@c/", "javascript:1"} {
		f.Add("http://films.example/list?start=20#top", s)
	}
	tr := &Transport{AllowPrivate: true}
	tr.once.Do(tr.setup)
	f.Fuzz(func(t *testing.T, base, location string) {
		u, err := weburl.Parse(base)
		if err != nil || !u.IsHTTP() {
			return
		}
		fl := flight{t: tr, ctx: t.Context(), req: &Request{}, url: u, method: "GET", hopsLeft: 3}
		a := &answer{}
		a.Status, a.Header = 302, http.Header{"Location": {location}}
		fl.lead(a)
		if !a.follow {
			return
		}
		rerr := fl.redirect(a)
		if rerr != nil {
			if rerr.Kind != ErrRefused && rerr.Kind != ErrRedirect {
				t.Fatalf("%q: %v", location, rerr)
			}
			return
		}
		href := fl.url.Href()
		again, err := weburl.Parse(href)
		if err != nil || again.Href() != href || !again.IsHTTP() || !utf8.ValidString(href) {
			t.Fatalf("%q leads to %q: %v", location, href, err)
		}
		for i := range len(fl.url.RequestTarget()) {
			if c := fl.url.RequestTarget()[i]; c <= ' ' || c >= 0x7f {
				t.Fatalf("%q leads to %q", location, href)
			}
		}
	})
}
