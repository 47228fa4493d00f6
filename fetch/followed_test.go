package fetch

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// follower is a RoundTripper that follows redirects.
type follower struct{ client *http.Client }

func (f follower) RoundTrip(r *http.Request) (*http.Response, error) { return f.client.Do(r) }

// tripper is a RoundTripper of one function.
type tripper func(*http.Request) (*http.Response, error)

func (f tripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Where a RoundTripper has come to by itself, the answer tells as a Transport's does.
func TestFromRoundTripperTellsWhereItCame(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		to := map[string]string{
			"/plain": "/dir/end", "/two": "one", "/one": "/dir/end", "/own": "/dir/end#own", "/odd": "/dir/a|b", "/nowhere": "",
		}[r.URL.Path]
		if to != "" {
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusFound)
		}
	}))
	defer srv.Close()
	direct := &Transport{AllowPrivate: true}
	defer direct.Close()
	bridge := FromRoundTripper(follower{srv.Client()})
	for _, path := range []string{"/end", "/end#f", "/plain", "/plain#f", "/two", "/two#f", "/own", "/own#f", "/nowhere", "/a|b"} {
		want, err := direct.Fetch(t.Context(), &Request{URL: srv.URL + path})
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		got, err := bridge.Fetch(t.Context(), &Request{URL: srv.URL + path})
		if err != nil || got.URL != want.URL || !slices.Equal(got.Redirects, want.Redirects) {
			t.Errorf("%s: %v\n%q %v, want\n%q %v", path, err, got.URL, got.Redirects, want.URL, want.Redirects)
		}
	}
	// The standard library asks for another URL than what the redirect says, and that is the one which answered.
	if odd, err := bridge.Fetch(t.Context(), &Request{URL: srv.URL + "/odd"}); err != nil || odd.URL != srv.URL+"/dir/a%7Cb" || odd.Redirects[0].To != odd.URL {
		t.Errorf("%+v, %v", odd, err)
	}
	cut, err := bridge.Fetch(t.Context(), &Request{URL: strings.Replace(srv.URL, "//", "//me:secret@", 1) + "/plain"})
	if err != nil || cut.URL != srv.URL+"/dir/end" {
		t.Errorf("%q, %v", cut.URL, err)
	}
}

// A RoundTripper that tells no chain is believed where it came to; one that tells of itself for ever, or of no URL, does no harm.
func TestFromRoundTripperOddRequests(t *testing.T) {
	t.Parallel()
	at := func(s string) *http.Request { u, _ := url.Parse(s); return &http.Request{URL: u} }
	round := at("http://a.example/")
	round.Response = &http.Response{StatusCode: 302, Header: http.Header{"Location": {"/"}}, Request: round}
	for _, c := range []struct {
		name string
		req  *http.Request
		want string
		hops int
	}{
		{"none", nil, "http://a.example/#f", 0},
		{"no URL", &http.Request{}, "http://a.example/#f", 0},
		{"a copy", at("http://a.example/"), "http://a.example/#f", 0},
		{"no chain", at("http://b.example/x"), "http://b.example/x#f", 0},
		{"no chain, a fragment", at("http://b.example/x#g"), "http://b.example/x#g", 0},
		{"a circle", round, "http://a.example/#f", maxFollowed},
		{"a chain of one that leads nowhere", &http.Request{URL: at("http://b.example/").URL, Response: &http.Response{}}, "http://b.example/#f", 0},
		{"no URL to us", at("http://[::1%25x]/"), "", 0},
	} {
		f := FromRoundTripper(tripper(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Request: c.req, Body: io.NopCloser(strings.NewReader(""))}, nil
		}))
		resp, err := f.Fetch(t.Context(), &Request{URL: "http://a.example/#f"})
		if c.want == "" {
			if KindOf(err) != ErrProtocol {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if err != nil || resp.URL != c.want || len(resp.Redirects) != c.hops {
			t.Errorf("%s: %+v, %v", c.name, resp, err)
		}
	}
}

// A bound that is passed is told with its field, and too many codings as what they are.
func TestBoundsAreNamed(t *testing.T) {
	t.Parallel()
	f := FromRoundTripper(tripper(func(r *http.Request) (*http.Response, error) {
		h := http.Header{}
		if r.URL.Path == "/coded" {
			h.Set("Content-Encoding", strings.Repeat("gzip,", maxCodings)+"gzip")
		}
		return &http.Response{StatusCode: 200, Header: h, ContentLength: -1, Body: io.NopCloser(strings.NewReader(strings.Repeat("\x00", 100)))}, nil
	}))
	resp, err := f.Fetch(t.Context(), &Request{URL: "http://a.example/", MaxBody: 10})
	if err != nil || KindOf(resp.BodyErr()) != ErrBodyLimit || !strings.Contains(resp.BodyErr().Error(), "more than the 10 bytes that MaxBody allows") {
		t.Errorf("%v, %v", err, resp.BodyErr())
	}
	if resp, err = f.Fetch(t.Context(), &Request{URL: "http://a.example/coded"}); err != nil {
		t.Fatal(err)
	}
	if err := resp.BodyErr(); KindOf(err) != ErrEncoding || !strings.Contains(err.Error(), "content codings") || strings.Contains(err.Error(), "not known") {
		t.Errorf("%v", err)
	}
}
