package fetch

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/seine-go/seine/fetch/cookie"
	"github.com/seine-go/seine/fetch/identity"
	"github.com/seine-go/seine/internal/memhttp"
)

// refererHost answers every host in memory; each hop of a path "/a/b/c" leads to the host that the next part names, and what
// was told on the way is kept. The redirects name the policies that are given, one after the other.
func refererHost(t *testing.T, tr *Transport, policies ...[]string) (*Transport, *log[string]) {
	t.Helper()
	var network memhttp.Network
	told := new(log[string])
	for _, name := range []string{"films.example:80", "www.films.example:80", "other.example:80"} {
		network.Serve(t, name, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			told.add(strings.Join(r.Header["Referer"], "|"))
			if next, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/"); next != "" {
				switch {
				case len(policies) == 0:
				case rest != "":
					w.Header()["Referrer-Policy"] = policies[0]
				default:
					w.Header()["Referrer-Policy"] = policies[1]
				}
				http.Redirect(w, r, "http://"+next+"/"+rest, http.StatusFound)
			}
		}))
	}
	t.Cleanup(func() { tr.Close() })
	return memTransport(&network, tr), told
}

func TestRefererAtEachHop(t *testing.T) {
	t.Parallel()
	const page, secure = "http://films.example/list?page=2", "https://films.example/list?page=2"
	of := func(v ...string) http.Header { return http.Header{"referer": v} }
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			name string
			req  Request
			want []string
		}{
			{"an own field is trimmed for others", Request{Header: of(page)}, []string{page, "http://films.example/", page}},
			{"it is sent as it stands, to the host alone", Request{Header: of("anything")}, []string{"anything", "", ""}},
			{"without a value", Request{Header: of(), Initiator: page}, []string{"", "", ""}},
			{"the initiator", Request{Initiator: page}, []string{page, "http://films.example/", page}},
			{"an https page for http", Request{Initiator: secure}, []string{"", "", ""}},
			{"an own field of https", Request{Header: of(secure)}, []string{secure, "", ""}},
			{"the same origin", Request{Initiator: page, RefererPolicy: SameOrigin}, []string{page, "", page}},
			{"all of it", Request{Initiator: page, RefererPolicy: FullURL}, []string{page, page, page}},
			{"the origin", Request{Initiator: page, RefererPolicy: StrictOrigin}, []string{"http://films.example/", "http://films.example/", "http://films.example/"}},
			{"nothing", Request{Initiator: page, RefererPolicy: NoReferer}, []string{"", "", ""}},
			{"none", Request{}, []string{"", "", ""}},
			{"ordered", Request{Initiator: page, HeaderOrder: []string{"Referer", "Host"}}, []string{page, "http://films.example/", page}},
		} {
			for _, direct := range []bool{true, false} {
				tr, told := refererHost(t, &Transport{})
				c.req.URL = "http://films.example/other.example/films.example/"
				var f Fetcher = tr
				if !direct { // the middleware says the same as the Transport
					f = Referer(RefererOptions{Policy: c.req.RefererPolicy})(tr)
				}
				if resp := wantAnswer(t, f, &c.req); len(resp.Redirects) != 2 {
					t.Errorf("%s: %v", c.name, resp.Redirects)
				}
				got := told.take()
				if own, _ := headerValues(c.req.Header, "Referer"); !direct && len(own) > 0 {
					c.want[0] = c.req.RefererPolicy.Referer(own[0], c.req.URL)
				}
				if fmt.Sprint(got) != fmt.Sprint(c.want) {
					t.Errorf("%s, direct %v: told %q, want %q", c.name, direct, got, c.want)
				}
			}
		}
		tr, told := refererHost(t, &Transport{SecretHeaders: []string{"Referer"}})
		wantAnswer(t, tr, &Request{URL: "http://films.example/other.example/films.example/", Initiator: page})
		if got := told.take(); fmt.Sprint(got) != fmt.Sprint([]string{page, "", ""}) {
			t.Errorf("as a secret: %q", got)
		}
		if _, err := tr.Fetch(t.Context(), &Request{URL: "http://films.example/", RefererPolicy: OriginWhenCrossOrigin + 1}); KindOf(err) != ErrInvalid {
			t.Errorf("a policy that is none: %v", err)
		}
	})
}

// TestRedirectsNameThePolicy: what a redirect says of the Referer holds for the hops after it, until another says otherwise.
func TestRedirectsNameThePolicy(t *testing.T) {
	t.Parallel()
	const page, origin = "http://films.example/list?page=2", "http://films.example/"
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			policy        RefererPolicy // of the request
			first, second []string      // of the redirects
			want          []string      // that the three hosts are told
		}{
			{0, nil, nil, []string{page, origin, page}},
			{0, []string{"no-referrer"}, nil, []string{page, "", ""}},
			{0, []string{"no-referrer"}, []string{"unsafe-url"}, []string{page, "", page}},
			{0, []string{"unsafe-url"}, nil, []string{page, page, page}},
			{NoReferer, []string{"unsafe-url"}, []string{"origin"}, []string{"", page, origin}},
			{0, []string{"same-origin"}, nil, []string{page, "", page}},
			{FullURL, []string{"strict-origin"}, nil, []string{page, origin, origin}},
			{FullURL, []string{"strict-origin-when-cross-origin"}, nil, []string{page, origin, page}},
			{NoReferer, []string{"no-referrer-when-downgrade"}, []string{"origin-when-cross-origin"}, []string{"", page, page}},
			{0, []string{" No-Referrer , what-is-not-known,"}, nil, []string{page, "", ""}},
			{0, []string{"no-referrer, unsafe-url"}, nil, []string{page, page, page}},
			{0, []string{"unsafe-url", "no-referrer"}, nil, []string{page, "", ""}},
			{0, []string{"", "always", "no referrer"}, nil, []string{page, origin, page}},
		} {
			tr, told := refererHost(t, &Transport{}, c.first, c.second)
			req := &Request{URL: "http://films.example/other.example/films.example/", Initiator: page, RefererPolicy: c.policy}
			for range 2 { // nothing of one request is left for the next
				wantAnswer(t, tr, req)
				if got := told.take(); fmt.Sprint(got) != fmt.Sprint(c.want) {
					t.Errorf("%q, then %q: told %q, want %q", c.first, c.second, got, c.want)
				}
			}
		}
	})
}

// TestPoliciesOfTheReferer tells targets as much as Referrer Policy 3 has it.
func TestPoliciesOfTheReferer(t *testing.T) {
	t.Parallel()
	const page, origin = "https://films.example/list?page=2", "https://films.example/"
	for policy, want := range map[RefererPolicy][3]string{ // the origin itself, another of https, one of http
		StrictOriginWhenCrossOrigin: {page, origin, ""},
		SameOrigin:                  {page, "", ""},
		StrictOrigin:                {origin, origin, ""},
		FullURL:                     {page, page, page},
		NoReferer:                   {"", "", ""},
		NoRefererWhenDowngrade:      {page, page, ""},
		OriginOnly:                  {origin, origin, origin},
		OriginWhenCrossOrigin:       {page, origin, origin},
	} {
		for i, url := range []string{"https://films.example/x", "https://other.example/", "http://films.example/x"} {
			if got := policy.Referer(page+"#part", url); got != want[i] {
				t.Errorf("policy %d for %s: %q, want %q", policy, url, got, want[i])
			}
		}
	}
}

// TestSameSiteGoesByTheTrueInitiator trims the Referer, or leaves it out: the page that led to the request is the same.
func TestSameSiteGoesByTheTrueInitiator(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		jar := new(cookie.Jar)
		jar.Set(cookie.Exchange{URL: "https://films.example/"}, "lax=1; SameSite=Lax", "strict=1; SameSite=Strict")
		tr, h := cookieSite(t, &Transport{Cookies: func(context.Context, string) (*cookie.Jar, error) { return jar, nil }})
		for _, c := range []struct {
			name, page string
			policy     RefererPolicy
			kind       Kind
			want       string
		}{
			{"another site, told nothing", "http://other.example/x", NoReferer, identity.Navigate, " lax=1"},
			{"another site, told nothing of an image", "http://other.example/x", SameOrigin, identity.Image, ""},
			{"from https to http", "https://other.example/x", StrictOriginWhenCrossOrigin, identity.Navigate, " lax=1"},
			{"the site itself, told nothing", "http://films.example/x", NoReferer, identity.Fetch, " lax=1; strict=1"},
			{"no page of the web", "about:blank", StrictOriginWhenCrossOrigin, identity.Navigate, " lax=1"},
		} {
			for name, f := range map[string]Fetcher{"From": Referer(RefererOptions{Policy: c.policy, From: func(*Request) string { return c.page }})(tr), "header": Referer(RefererOptions{Policy: c.policy})(tr), "initiator": tr} {
				req := &Request{URL: "http://films.example/p", Kind: c.kind}
				switch name {
				case "header":
					req.Header = http.Header{"Referer": {c.page}}
				case "initiator":
					req.Initiator, req.RefererPolicy = c.page, c.policy
				}
				wantAnswer(t, f, req)
				wantAsked(t, h, c.name+", by "+name, "films.example/p"+c.want)
			}
		}
	})
}

func TestBridgeTellsTheInitiator(t *testing.T) {
	t.Parallel()
	var got []string
	f := FromRoundTripper(tripper(func(r *http.Request) (*http.Response, error) {
		got = r.Header["Referer"]
		return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader(""))}, nil
	}))
	for _, c := range []struct {
		header http.Header
		want   string
	}{{nil, "[https://films.example/]"}, {http.Header{"Referer": {"own"}}, "[own]"}, {http.Header{"Referer": nil}, "[]"}} {
		wantAnswer(t, f, &Request{URL: "https://other.example/", Initiator: "https://films.example/x#y", Header: c.header})
		if fmt.Sprint(got) != c.want {
			t.Errorf("%v: %q", c.header, got)
		}
	}
}
