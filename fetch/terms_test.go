package fetch

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seine-go/seine/ratelimit"
)

type countingGate struct{ n atomic.Int64 }

func (g *countingGate) Enter(context.Context, string, netip.Addr) (func(ratelimit.Report), error) {
	g.n.Add(1)
	return func(ratelimit.Report) {}, nil
}

// Two users of one Transport share its connections, and nothing else: not even what it was used for before.
func TestTermsShareNothingButConnections(t *testing.T) {
	t.Parallel()
	var agents []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		agents = append(agents, r.UserAgent())
		if r.URL.Path == "/from" {
			http.Redirect(w, r, "/to", http.StatusFound)
		}
	}))
	defer srv.Close()
	own, given := new(countingGate), new(countingGate)
	tr := newTransport(t, &Transport{Gate: own})
	no := errors.New("no")
	under := tr.Under(Terms{Gate: given, UserAgent: "two/1", CheckHop: func(context.Context, *Request, []Hop) error { return no }})
	for _, f := range []Fetcher{tr, under} {
		if _, err := f.Fetch(t.Context(), &Request{URL: srv.URL}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := under.Fetch(t.Context(), &Request{URL: srv.URL + "/from"}); !errors.Is(err, no) {
		t.Errorf("%v", err)
	}
	if _, err := tr.Fetch(t.Context(), &Request{URL: srv.URL + "/from"}); err != nil {
		t.Error(err)
	}
	if want := []string{DefaultUserAgent, "two/1", "two/1", DefaultUserAgent, DefaultUserAgent}; !slices.Equal(agents, want) {
		t.Errorf("%q", agents)
	}
	if own.n.Load() != 3 || given.n.Load() != 2 || tr.Stats().Opened != 1 || tr.CheckHop != nil || tr.UserAgent != "" {
		t.Errorf("%d and %d exchanges, %+v", own.n.Load(), given.n.Load(), tr.Stats())
	}
}

// What the Transport would send of itself is checked like what a request brings.
func TestUserAgentOfTheTransportIsChecked(t *testing.T) {
	t.Parallel()
	asked := false
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	defer srv.Close()
	for _, agent := range []string{"x\x01y", "x\r\nEvil: y", "x\x7fy", "x\ny"} {
		tr := newTransport(t, &Transport{UserAgent: agent})
		for _, f := range []Fetcher{tr, tr.Under(Terms{}), newTransport(t, &Transport{}).Under(Terms{UserAgent: agent})} {
			_, err := f.Fetch(t.Context(), &Request{URL: srv.URL})
			var h *HeaderError
			if !errors.Is(err, ErrInvalid) || !errors.As(err, &h) || h.Name != "User-Agent" {
				t.Errorf("%q: %v", agent, err)
			}
		}
	}
	if asked {
		t.Error("something was sent")
	}
}

// The redirects that were followed stand in the error too, so that whoever goes on from there knows with what method.
func TestErrorsTellTheRedirects(t *testing.T) {
	t.Parallel()
	s := newHopServer(t, map[string]string{"/a": "303 /b", "/b": "302 /c"})
	tr := newTransport(t, &Transport{CheckHop: func(_ context.Context, _ *Request, hops []Hop) error {
		if strings.HasSuffix(hops[len(hops)-1].To, "/c") {
			return errors.New("no")
		}
		return nil
	}})
	_, err := tr.Fetch(t.Context(), &Request{URL: s.URL + "/a", Method: "POST", Body: []byte("x")})
	var e *Error
	if !errors.As(err, &e) || len(e.Redirects) != 2 || e.Redirects[0].Status != 303 || e.Redirects[1].To != s.URL+"/c" {
		t.Errorf("%+v", err)
	}
}

func TestRedirectMethod(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status     int
		from, want string
	}{
		{301, "", "GET"},
		{301, "POST", "GET"},
		{302, "POST", "GET"},
		{303, "POST", "GET"},
		{303, "PUT", "GET"},
		{303, "HEAD", "HEAD"},
		{301, "HEAD", "HEAD"},
		{302, "PUT", "PUT"},
		{307, "POST", "POST"},
		{308, "DELETE", "DELETE"},
	} {
		if got := RedirectMethod(c.status, c.from); got != c.want {
			t.Errorf("%d of %q: %q, want %q", c.status, c.from, got, c.want)
		}
	}
}

func TestResponseTarget(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		url      string
		status   int
		location string
		want     string
	}{
		{"http://films.example/a/b#f", 302, "../c", "http://films.example/c#f"},
		{"http://films.example/", 308, " //other.example/x#y ", "http://other.example/x#y"},
		{"http://films.example/", 301, "/\xe9", "http://films.example/%E9"},
		{"http://films.example/", 300, "/x", ""},
		{"http://films.example/", 302, "", ""},
		{"http://films.example/", 302, "http://[", ""},
		{"", 302, "/x", ""},
	} {
		r := &Response{URL: c.url, Status: c.status, Header: http.Header{"Location": {c.location}}}
		if got, ok := r.Target(); got != c.want || ok != (c.want != "") {
			t.Errorf("%+v: %q, %v", c, got, ok)
		}
	}
}

// What cannot be asked at all is an error that says so.
func TestNothingIsAnError(t *testing.T) {
	t.Parallel()
	tr := newTransport(t, &Transport{})
	none := FetcherFunc(func(context.Context, *Request) (*Response, error) { return nil, nil })
	empty := roundTripperFunc(func(*http.Request) (*http.Response, error) { return nil, nil })
	bodiless := roundTripperFunc(func(*http.Request) (*http.Response, error) { return &http.Response{StatusCode: 200}, nil })
	req := &Request{URL: "http://films.example/"}
	for name, f := range map[string]func() error{
		"nil request":              func() error { _, err := tr.Fetch(t.Context(), nil); return err },
		"nil request to a bridge":  func() error { _, err := FromRoundTripper(empty).Fetch(t.Context(), nil); return err },
		"nil RoundTripper":         func() error { _, err := FromRoundTripper(nil).Fetch(t.Context(), req); return err },
		"no response":              func() error { _, err := FromRoundTripper(empty).Fetch(t.Context(), req); return err },
		"no body":                  func() error { _, err := FromRoundTripper(bodiless).Fetch(t.Context(), req); return err },
		"nil http.Request":         func() error { _, err := RoundTripper(tr).RoundTrip(nil); return err },
		"http.Request without URL": func() error { _, err := RoundTripper(tr).RoundTrip(&http.Request{}); return err },
		"nil Fetcher": func() error {
			_, err := RoundTripper(nil).RoundTrip(httptest.NewRequest("GET", "/", nil))
			return err
		},
		"Fetcher that returns nothing": func() error {
			_, err := RoundTripper(none).RoundTrip(httptest.NewRequest("GET", "/", nil))
			return err
		},
	} {
		var e *Error
		if err := f(); !errors.As(err, &e) || e.Kind == ErrUnknown {
			t.Errorf("%s: %v", name, err)
		}
	}
}

type roundTripperFunc func(*http.Request) (*http.Response, error)

func (f roundTripperFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
