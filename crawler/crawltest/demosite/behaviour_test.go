package demosite_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/seine-go/seine/crawler/crawltest/demosite"
)

func TestValidatorsRangesAndGzip(t *testing.T) {
	t.Parallel()
	site := demosite.New(demosite.Options{})
	for _, u := range []string{site.URL(), site.Films()[0].URL, site.Films()[0].Poster, site.HostURL(demosite.API) + "api/film/1", site.URL() + "feed.atom", site.URL() + "robots.txt"} {
		plain := ask(site, "GET", u)
		etag := plain.Header().Get("ETag")
		if plain.Code != 200 || etag == "" {
			t.Fatalf("%s: %d, ETag %q", u, plain.Code, etag)
		}
		for _, condition := range []string{etag, "W/" + etag, `"other", ` + etag, "*"} {
			if w := ask(site, "GET", u, "If-None-Match", condition); w.Code != http.StatusNotModified || w.Body.Len() > 0 {
				t.Errorf("%s, If-None-Match %s: %d, %d bytes", u, condition, w.Code, w.Body.Len())
			}
		}
		if w := ask(site, "GET", u, "If-None-Match", `"other"`); w.Code != 200 {
			t.Errorf("%s, another ETag: %d", u, w.Code)
		}
		if modified := plain.Header().Get("Last-Modified"); modified != "" {
			if w := ask(site, "GET", u, "If-Modified-Since", modified); w.Code != http.StatusNotModified {
				t.Errorf("%s, If-Modified-Since: %d", u, w.Code)
			}
			at, err := http.ParseTime(modified)
			if err != nil {
				t.Error(err)
			}
			if w := ask(site, "GET", u, "If-Modified-Since", at.Add(-time.Second).Format(http.TimeFormat)); w.Code != 200 {
				t.Errorf("%s, a second before: %d", u, w.Code)
			}
		}
		if w := ask(site, "GET", u, "Range", "bytes=0-9"); w.Code != http.StatusPartialContent || w.Body.String() != plain.Body.String()[:10] {
			t.Errorf("%s, range: %d %q", u, w.Code, w.Body)
		}
		if w := ask(site, "HEAD", u); w.Code != 200 || w.Body.Len() != 0 || w.Header().Get("ETag") != etag {
			t.Errorf("%s, HEAD: %d, %d bytes", u, w.Code, w.Body.Len())
		}
		packed := ask(site, "GET", u, "Accept-Encoding", "br, gzip")
		if strings.HasPrefix(packed.Header().Get("Content-Type"), "image/") {
			if packed.Header().Get("Content-Encoding") != "" {
				t.Errorf("%s: an image in gzip", u)
			}
			continue
		}
		if packed.Header().Get("Content-Encoding") != "gzip" || packed.Header().Get("Vary") == "" || packed.Header().Get("ETag") == etag {
			t.Errorf("%s: in gzip the header is %v", u, packed.Header())
		}
		if got := unzip(t, packed.Body); got != plain.Body.String() {
			t.Errorf("%s: gzip holds something else", u)
		}
		if w := ask(site, "GET", u, "Accept-Encoding", "gzip", "If-None-Match", packed.Header().Get("ETag")); w.Code != http.StatusNotModified {
			t.Errorf("%s: the ETag of gzip: %d", u, w.Code)
		}
	}
	if w := ask(site, "POST", site.Films()[0].URL); w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") == "" {
		t.Errorf("POST: %d, Allow %q", w.Code, w.Header().Get("Allow"))
	}
}

func unzip(t *testing.T, r io.Reader) string {
	t.Helper()
	z, err := gzip.NewReader(r)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestErrorsGetWellAfterAWhile(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		path  string
		after time.Duration
		want  []int
		retry string // Retry-After of the first answer
	}{
		{path: "errors/404", want: []int{404, 404}},
		{path: "errors/410", want: []int{410, 410}},
		{path: "errors/500", want: []int{500, 500, 500, 500, 500}},
		{path: "errors/503", want: []int{503, 200, 200}, retry: "1"},
		{path: "errors/429", after: 1500 * time.Millisecond, want: []int{429, 200}, retry: "2"},
		{path: "errors/429", after: -1, want: []int{429, 200}, retry: "0"},
		{path: "errors/flaky/1", want: []int{500, 200}},
		{path: "errors/flaky/2", want: []int{502, 502, 200}},
		{path: "errors/flaky/3", want: []int{504, 504, 504, 200, 200}},
		{path: "errors/flaky/4", want: []int{404}},
	} {
		site := demosite.New(demosite.Options{RetryAfter: tt.after})
		for round := range 2 {
			for i, want := range tt.want {
				w := ask(site, "GET", site.URL()+tt.path)
				retry := ""
				if want != 200 {
					retry = tt.retry
				}
				if w.Code != want || w.Header().Get("Retry-After") != retry {
					t.Errorf("%s, round %d, request %d: %d, Retry-After %q; want %d, %q", tt.path, round, i+1, w.Code, w.Header().Get("Retry-After"), want, retry)
				}
			}
			site.Reset()
		}
	}
}

func TestMembersSignIn(t *testing.T) {
	t.Parallel()
	site := start(t, demosite.Options{})
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Jar: jar, Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	get := func(path string) (*http.Response, *html.Node) {
		resp, err := client.Get(site.URL() + path)
		if err != nil {
			t.Fatal(err)
		}
		return resp, parse(t, readAll(t, resp))
	}
	resp, page := get("members/notes/1")
	if resp.Request.URL.Path != "/login" {
		t.Fatalf("a stranger got to %s", resp.Request.URL)
	}
	form := url.Values{"user": {demosite.User}, "password": {demosite.Password}}
	for _, input := range find(page, "input", "") {
		if attr(input, "type") == "hidden" {
			form.Set(attr(input, "name"), attr(input, "value"))
		}
	}
	post := func(change map[string]string) *http.Response {
		values := url.Values{}
		for key := range form {
			values.Set(key, form.Get(key))
		}
		for key, value := range change {
			values.Set(key, value)
		}
		resp, err := client.PostForm(site.URL()+"login", values)
		if err != nil {
			t.Fatal(err)
		}
		readAll(t, resp)
		return resp
	}
	for field, wrong := range map[string]string{"user": "nobody", "password": "chips", "token": ""} {
		if resp := post(map[string]string{field: wrong}); resp.StatusCode != http.StatusForbidden {
			t.Errorf("wrong %s: %d", field, resp.StatusCode)
		}
	}
	if resp := post(map[string]string{"user": strings.Repeat("x", 5000)}); resp.StatusCode != http.StatusBadRequest {
		t.Errorf("a form of 5000 bytes: %d", resp.StatusCode)
	}
	for _, next := range []string{"https://evil.test/", "//evil.test/", `/\evil.test/`, "/a\n", "x", ""} {
		if resp := post(map[string]string{"next": next}); resp.Request.URL.Path != "/members/" || resp.StatusCode != 200 {
			t.Errorf("next %q led to %s", next, resp.Request.URL)
		}
	}
	if resp := post(map[string]string{"next": "/about"}); resp.Request.URL.Path != "/about" {
		t.Errorf("next /about led to %s", resp.Request.URL)
	}
	_, page = get("members/")
	notes := find(find(page, "ul", "notes")[0], "a", "")
	if len(notes) != 3 {
		t.Fatalf("%d notes", len(notes))
	}
	for _, a := range notes {
		if resp, _ := get(attr(a, "href")[1:]); resp.StatusCode != 200 || resp.Request.URL.Path != attr(a, "href") {
			t.Errorf("%s: %d at %s", attr(a, "href"), resp.StatusCode, resp.Request.URL)
		}
	}
	if resp, _ := get("members/notes/4"); resp.StatusCode != http.StatusNotFound {
		t.Errorf("a note too many: %d", resp.StatusCode)
	}
	out, err := client.PostForm(site.URL()+"logout", nil)
	if err != nil {
		t.Fatal(err)
	}
	readAll(t, out)
	if resp, _ := get("members/"); resp.Request.URL.Path != "/login" {
		t.Errorf("after signing out still at %s", resp.Request.URL)
	}
}
