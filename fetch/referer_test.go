package fetch

import (
	"net/http"
	"strings"
	"testing"
)

func TestReferer(t *testing.T) {
	t.Parallel()
	const page = "https://user:pw@films.example/list?page=2#top"
	for _, c := range []struct {
		name     string
		o        RefererOptions
		page, to string
		want     string
	}{
		{"within the origin", RefererOptions{}, page, "https://films.example/7", "https://films.example/list?page=2"},
		{"to another origin", RefererOptions{}, page, "https://other.example/", "https://films.example/"},
		{"to another port", RefererOptions{}, page, "https://films.example:8443/", "https://films.example/"},
		{"to http", RefererOptions{}, page, "http://films.example/", ""},
		{"from http to https", RefererOptions{}, "http://films.example/a", "https://films.example/", "http://films.example/"},
		{"same origin", RefererOptions{Policy: SameOrigin}, page, "https://other.example/", ""},
		{"same origin, within", RefererOptions{Policy: SameOrigin}, page, "https://films.example/", "https://films.example/list?page=2"},
		{"origin", RefererOptions{Policy: StrictOrigin}, page, "https://films.example/", "https://films.example/"},
		{"origin to http", RefererOptions{Policy: StrictOrigin}, page, "http://films.example/", ""},
		{"all of it", RefererOptions{Policy: FullURL}, page, "http://other.example/", "https://films.example/list?page=2"},
		{"nothing", RefererOptions{Policy: NoReferer}, page, "https://films.example/", ""},
		{"no URL", RefererOptions{}, "nonsense", "https://films.example/", ""},
		{"a file", RefererOptions{}, "file:///etc/passwd", "https://films.example/", ""},
		{"none", RefererOptions{}, "", "https://films.example/", ""},
		{"from elsewhere", RefererOptions{From: func(*Request) string { return page }}, "", "https://films.example/", "https://films.example/list?page=2"},
		{"the request counts for more", RefererOptions{From: func(*Request) string { return page }}, "https://films.example/own", "https://films.example/", "https://films.example/own"},
	} {
		req := &Request{URL: c.to}
		if c.page != "" {
			req.Header = http.Header{"referer": {c.page}}
		}
		got, _ := headerValues(through(t, Referer(c.o), req).Header, "Referer")
		if strings.Join(got, "|") != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
