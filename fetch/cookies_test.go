package fetch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seine-go/seine/fetch/cookie"
	"github.com/seine-go/seine/fetch/identity"
	"github.com/seine-go/seine/internal/memhttp"
)

// cookieHost answers by what the query asks for (set: Set-Cookie lines, to: a redirect, status) and keeps what it was asked:
// the path and the Cookie fields.
type cookieHost struct{ log[string] }

func (h *cookieHost) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	host, _, _ := strings.Cut(r.Host, ":")
	h.add(strings.TrimSpace(host + r.URL.Path + " " + strings.Join(r.Header["Cookie"], " | ")))
	q := r.URL.Query()
	for _, line := range q["set"] {
		w.Header().Add("Set-Cookie", line)
	}
	if to := q.Get("to"); to != "" {
		w.Header().Set("Location", to)
	}
	if status, _ := strconv.Atoi(q.Get("status")); status > 0 {
		w.WriteHeader(status)
	}
}

// cookieSite serves a cookieHost in memory, at films.example and other.example.
func cookieSite(t *testing.T, tr *Transport) (*Transport, *cookieHost) {
	t.Helper()
	n, h := new(memhttp.Network), new(cookieHost)
	for _, name := range []string{"films.example:80", "www.films.example:80", "other.example:80"} {
		l, err := n.Listen(name)
		if err != nil {
			t.Fatal(err)
		}
		srv := &http.Server{Handler: h}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			srv.Serve(l)
		}()
		t.Cleanup(func() {
			srv.Close()
			<-ended
		})
	}
	t.Cleanup(func() { tr.Close() })
	return memTransport(n, tr), h
}

func wantAnswer(t *testing.T, f Fetcher, req *Request) *Response {
	t.Helper()
	resp, err := f.Fetch(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

func wantAsked(t *testing.T, h *cookieHost, name string, want ...string) {
	t.Helper()
	if got := h.take(); !slices.Equal(got, want) {
		t.Errorf("%s:\n got %q\nwant %q", name, got, want)
	}
}

func TestSessionsHaveTheirCookies(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		jars := new(cookie.Jars)
		tr, h := cookieSite(t, &Transport{Cookies: jars.Open})
		at := func(session, url string) *Request { return &Request{URL: url, Route: Route{Session: session}} }
		wantAnswer(t, tr, at("one", "http://films.example/a?set=id=1&set=dom=1%3BDomain=films.example"))
		wantAnswer(t, tr, at("one", "http://films.example/b?set=late=1&status=500"))
		wantAnswer(t, tr, at("one", "http://films.example/c?set=away=1&status=302&to=http://other.example/d?set=o=1"))
		wantAnswer(t, tr, at("one", "http://other.example/e"))
		wantAnswer(t, tr, at("one", "http://www.films.example/f"))
		wantAnswer(t, tr, at("two", "http://films.example/g"))
		wantAnswer(t, tr, at("", "http://films.example/h?set=none=1"))
		wantAnswer(t, tr, at("", "http://films.example/i"))
		wantAsked(t, h, "sessions", "films.example/a", "films.example/b id=1; dom=1", "films.example/c id=1; dom=1; late=1",
			"other.example/d", "other.example/e o=1", "www.films.example/f dom=1", "films.example/g", "films.example/h", "films.example/i none=1")
	})
}

func TestCookiesOverHTTP2(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, jars := new(cookieHost), new(cookie.Jars)
		tr, _, route := h2Client(t, &Transport{Cookies: jars.Open}, h.ServeHTTP)
		for _, url := range []string{"https://films.example/a?set=id=%E4%B8%AD&set=s=1%3BSecure&status=404", "https://films.example/b?status=302&to=/c&set=n=1", "https://films.example/d"} {
			if resp := wantAnswer(t, tr, &Request{URL: url, Route: route}); resp.Proto != "HTTP/2.0" {
				t.Error(resp.Proto)
			}
		}
		wantAsked(t, h, "h2", "films.example/a", "films.example/b id=中; s=1", "films.example/c id=中; s=1; n=1", "films.example/d id=中; s=1; n=1")
	})
}

func TestCookiesOfTheRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			name, url string
			header    http.Header
			order     []string
			want      []string
		}{
			{"beside the jar", "/p", http.Header{"Cookie": {"own=a b; x"}}, nil, []string{"films.example/p own=a b; x; jar=1; both=1"}},
			{"before the jar", "/p", http.Header{"cookie": {"both=mine;;", "and=more"}}, nil, []string{"films.example/p both=mine; and=more; jar=1"}},
			{"none", "/p", http.Header{"Cookie": nil}, nil, []string{"films.example/p"}},
			{"ordered", "/p", http.Header{"Cookie": {"own=1"}}, []string{"cookie"}, []string{"films.example/p own=1; jar=1; both=1"}},
			{
				"left behind by a redirect to another origin", "/p?status=302&to=//other.example/q",
				http.Header{"Cookie": {"own=1"}},
				nil,
				[]string{"films.example/p own=1; jar=1; both=1", "other.example/q theirs=1"},
			},
			{
				"not taken up again", "/p?status=302&to=//other.example/q%3Fstatus=302%26to=//films.example/r",
				http.Header{"Cookie": {"own=1"}},
				nil,
				[]string{"films.example/p own=1; jar=1; both=1", "other.example/q theirs=1", "films.example/r jar=1; both=1"},
			},
			{
				"deleted on the way", "/p?status=302&to=/q&set=own=%3BMax-Age=0",
				http.Header{"Cookie": {"own=1; other=2"}},
				nil,
				[]string{"films.example/p own=1; other=2; jar=1; both=1", "films.example/q other=2; jar=1; both=1"},
			},
			{
				"set anew for elsewhere", "/p?status=302&to=/q&set=own=2%3BPath=/z",
				http.Header{"Cookie": {"own=1"}},
				nil,
				[]string{"films.example/p own=1; jar=1; both=1", "films.example/q own=1; jar=1; both=1"},
			},
		} {
			jar := new(cookie.Jar)
			jar.Set(cookie.Exchange{URL: "http://films.example/"}, "jar=1", "both=1")
			jar.Set(cookie.Exchange{URL: "http://other.example/"}, "theirs=1")
			tr, h := cookieSite(t, &Transport{Cookies: func(context.Context, string) (*cookie.Jar, error) { return jar, nil }})
			before := c.header.Clone()
			wantAnswer(t, tr, &Request{URL: "http://films.example" + c.url, Header: c.header, HeaderOrder: c.order})
			wantAsked(t, h, c.name, c.want...)
			if fmt.Sprint(before) != fmt.Sprint(c.header) {
				t.Errorf("%s: the header of the request has changed: %v", c.name, c.header)
			}
		}
	})
}

func TestSameSiteGoesByKindAndReferer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		jar := new(cookie.Jar)
		jar.Set(cookie.Exchange{URL: "https://films.example/"}, "lax=1; SameSite=Lax", "strict=1; SameSite=Strict")
		tr, h := cookieSite(t, &Transport{Cookies: func(context.Context, string) (*cookie.Jar, error) { return jar, nil }})
		for _, c := range []struct {
			name, referer string
			kind          Kind
			method, want  string
		}{
			{"typed", "", identity.Navigate, "", " lax=1; strict=1"},
			{"link of another site", "http://other.example/x", identity.Navigate, "", " lax=1"},
			{"link of the site", "http://www.films.example/x", identity.Navigate, "", " lax=1; strict=1"},
			{"form of another site", "http://other.example/x", identity.Form, "POST", ""},
			{"image in another site", "http://other.example/x", identity.Image, "", ""},
			{"fetch of the site", "http://films.example/x", identity.Fetch, "", " lax=1; strict=1"},
		} {
			req := &Request{URL: "http://films.example/p", Kind: c.kind, Method: c.method, Header: http.Header{}}
			if c.referer != "" {
				req.Header["referer"] = []string{c.referer}
			}
			wantAnswer(t, tr, req)
			wantAsked(t, h, c.name, "films.example/p"+c.want)
		}
	})
}

func TestJarThatCannotBeOpened(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		own := errors.New("disk")
		tr, h := cookieSite(t, &Transport{Cookies: func(_ context.Context, session string) (*cookie.Jar, error) {
			if session == "bad" {
				return nil, own
			}
			return nil, nil
		}})
		_, err := tr.Fetch(t.Context(), &Request{URL: "http://films.example/", Route: Route{Session: "bad"}})
		var e *Error
		if !errors.Is(err, own) || !errors.As(err, &e) || e.Kind != ErrCookies || e.Kind.Fault() != FaultNone || !e.Temporary() || e.URL == "" {
			t.Errorf("%v", err)
		}
		wantAnswer(t, tr, &Request{URL: "http://films.example/?set=x=1"}) // a nil jar keeps none
		wantAnswer(t, tr, &Request{URL: "http://films.example/"})
		wantAsked(t, h, "no jar", "films.example/", "films.example/")
		under := tr.Under(Terms{Cookies: func(context.Context, string) (*cookie.Jar, error) { return nil, errors.New("not asked") }})
		wantAnswer(t, under, &Request{URL: "http://films.example/"})
	})
}

func TestTermsOpenJarsWhereTheTransportDoesNot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tr, h := cookieSite(t, &Transport{})
		under := tr.Under(Terms{Cookies: new(cookie.Jars).Open})
		wantAnswer(t, under, &Request{URL: "http://films.example/?set=x=1"})
		wantAnswer(t, under, &Request{URL: "http://films.example/"})
		wantAnswer(t, tr, &Request{URL: "http://films.example/"})
		wantAsked(t, h, "terms", "films.example/", "films.example/ x=1", "films.example/")
	})
}

// TestCookieOfARedirectIsSent_K059 is about cookies that redirects set, with a jar and without.
func TestCookieOfARedirectIsSent_K059(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for name, cookies := range map[string]func(context.Context, string) (*cookie.Jar, error){"no jar": nil, "jar": new(cookie.Jars).Open} {
			tr, h := cookieSite(t, &Transport{Cookies: cookies})
			wantAnswer(t, tr, &Request{
				URL:    "http://films.example/a?status=302&set=new=1&set=old=2&to=/b?status=302%26set=more=1%26to=/c",
				Header: http.Header{"Cookie": {"old=1; kept=1"}},
			})
			wantAsked(t, h, name, "films.example/a old=1; kept=1", "films.example/b kept=1; new=1; old=2", "films.example/c kept=1; new=1; old=2; more=1")

			// To the same URL until a cookie is there, over another host, and with what a POST was redirected to.
			wantAnswer(t, tr, &Request{URL: "http://films.example/x?status=302&set=hop=1%3BDomain=films.example&to=//other.example/y?status=303%26set=o=1%26to=//www.films.example/z", Method: "POST"})
			got := h.take()
			if len(got) != 3 || strings.Contains(got[1], "hop=1") || !strings.HasSuffix(got[2], "hop=1") {
				t.Errorf("%s: %q", name, got)
			}
			wantAnswer(t, tr, &Request{URL: "http://films.example/last"})
			if last := h.take()[0]; strings.Contains(last, "new=1") != (cookies != nil) {
				t.Errorf("%s: afterwards %q", name, last)
			}
		}
	})
}

// TestEachTrySendsTheSameCookies_K060 tries a request five times whose answers set cookies each time.
func TestEachTrySendsTheSameCookies_K060(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tr, h := cookieSite(t, &Transport{Cookies: new(cookie.Jars).Open})
		wantAnswer(t, tr, &Request{URL: "http://films.example/?set=id=1"})
		h.take()
		retry := Middleware(func(next Fetcher) Fetcher {
			return FetcherFunc(func(ctx context.Context, req *Request) (resp *Response, err error) {
				for range 5 {
					if resp, err = next.Fetch(ctx, req); err != nil || resp.Status < 500 {
						break
					}
				}
				return resp, err
			})
		})
		for name, header := range map[string]http.Header{"jar": nil, "jar and header": {"Cookie": {"own=1"}}} {
			req := &Request{URL: "http://films.example/p?status=503&set=id=1", Header: header}
			resp := wantAnswer(t, Chain(tr, retry), req)
			asked := h.take()
			if len(asked) != 5 || len(slices.Compact(asked)) != 1 || len(resp.Request.Header["Cookie"]) != len(header["Cookie"]) {
				t.Errorf("%s: %q, header %v", name, asked, resp.Request.Header)
			}
		}
		// The Transport's own second try, over a fresh connection, is one more.
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() { wantAnswer(t, tr, &Request{URL: "http://films.example/q"}) })
		}
		wg.Wait()
		time.Sleep(time.Second)
		if asked := slices.Compact(h.take()); len(asked) != 1 || asked[0] != "films.example/q id=1" {
			t.Errorf("%q", asked)
		}
	})
}

// TestCookieBytesSurvive_K063 is about values that net/http cannot carry, over the wire and through both forms of files.
func TestCookieBytesSurvive_K063(t *testing.T) {
	t.Parallel()
	lines := []string{
		"zh=中文 值; Path=/; Max-Age=3600", "gbk=\xd6\xd0\xce\xc4; Path=/films", `q=a"b"; Path=/films`, `"all"="say ""hi"""; Path=/`, "c=a,b c; Path=/; HttpOnly",
	}
	const want = "gbk=\xd6\xd0\xce\xc4; q=a\"b\"; zh=中文 值; \"all\"=\"say \"\"hi\"\"\"; c=a,b c"
	var got log[string]
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/films/login" {
			w.Header()["Set-Cookie"] = lines
			return
		}
		got.add(strings.Join(r.Header["Cookie"], " | "))
	}))
	defer srv.Close()
	jar := new(cookie.Jar)
	tr := newTransport(t, &Transport{Cookies: func(context.Context, string) (*cookie.Jar, error) { return jar, nil }})
	wantAnswer(t, tr, &Request{URL: srv.URL + "/films/login"})
	check := func(name string) {
		t.Helper()
		wantAnswer(t, tr, &Request{URL: srv.URL + "/films/7"})
		wantAnswer(t, tr, &Request{URL: srv.URL + "/else"})
		if sent := got.take(); sent[0] != want || strings.Contains(sent[1], "gbk") {
			t.Errorf("%s: sent %q", name, sent)
		}
	}
	check("at once")

	kept := jar.All()
	data, err := json.Marshal(jar)
	if jar = new(cookie.Jar); err != nil || json.Unmarshal(data, jar) != nil {
		t.Fatalf("%v %s", err, data)
	}
	check("after JSON")
	var file bytes.Buffer
	err = jar.WriteNetscape(&file)
	if jar = new(cookie.Jar); err != nil || jar.ReadNetscape(&file) != nil {
		t.Fatal(err)
	}
	check("after cookies.txt")
	for i, c := range jar.All() {
		k := kept[i]
		if c.Domain != k.Domain || c.HostOnly != k.HostOnly || c.Path != k.Path || c.Secure != k.Secure || c.HTTPOnly != k.HTTPOnly || c.Expires.Unix() != k.Expires.Unix() {
			t.Errorf("%+v was %+v", c, k)
		}
	}
}

// TestSetCookieInAnySpelling has field names as hosts write them, odd bytes, and a body that breaks off.
func TestSetCookieInAnySpelling(t *testing.T) {
	t.Parallel()
	url := rawHost(t, "HTTP/1.1 503 Busy\r\nset-cookie: a=1\r\nSET-COOKIE:b=\"2\r\nSet-Cookie: \xd6\xd0=\xce\xc4; Path=/\r\nSet-Cookie2: no=1\r\nSet-Cookie: x=\x01\r\nContent-Length: 50\r\n\r\nshort")
	jar := new(cookie.Jar)
	tr := newTransport(t, &Transport{Cookies: func(context.Context, string) (*cookie.Jar, error) { return jar, nil }})
	resp := wantAnswer(t, tr, &Request{URL: url + "/"})
	if got := jar.Header(cookie.Exchange{URL: url + "/"}); got != "a=1; b=\"2; \xd6\xd0=\xce\xc4" || !resp.Truncated {
		t.Errorf("kept %q, truncated %v", got, resp.Truncated)
	}
	wantAnswer(t, tr, &Request{URL: url + "/"})
	last := wantAnswer(t, tr, &Request{URL: url + "/"})
	for _, field := range last.Trace.Sent {
		if field.Name == "Cookie" && field.Value != "a=1; b=\"2; \xd6\xd0=\xce\xc4" {
			t.Errorf("sent %q", field.Value)
		}
	}
}

// TestManyCookiesAreSent fills a jar for one host to its bound.
func TestManyCookiesAreSent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tr, h := cookieSite(t, &Transport{Cookies: new(cookie.Jars).Open})
		for i := range cookie.DefaultMaxPerDomain + 20 {
			wantAnswer(t, tr, &Request{URL: fmt.Sprintf("http://films.example/?set=c%d=1", i)})
		}
		h.take()
		wantAnswer(t, tr, &Request{URL: "http://films.example/"})
		if got := strings.Count(h.take()[0], "="); got != cookie.DefaultMaxPerDomain {
			t.Errorf("%d cookies sent", got)
		}
	})
}
