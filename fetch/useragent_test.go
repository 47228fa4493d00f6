package fetch

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

func TestUserAgent(t *testing.T) {
	t.Parallel()
	if got := through(t, UserAgent(nil), &Request{URL: "https://films.example/"}); got.Header != nil {
		t.Errorf("%v", got.Header)
	}
	m := UserAgent(func(req *Request) string { return strings.TrimPrefix(req.URL, "https://films.example/") })
	for _, c := range []struct {
		url    string
		header http.Header
		want   string
	}{
		{"https://films.example/mine/1.0", nil, "[mine/1.0] true"},
		{"https://films.example/", nil, "[] false"},
		{"https://films.example/mine", http.Header{"user-agent": {"own"}}, "[own] true"},
		{"https://films.example/mine", http.Header{"User-Agent": nil}, "[] true"},
	} {
		values, there := headerValues(through(t, m, &Request{URL: c.url, Header: c.header}).Header, "User-Agent")
		if got := fmt.Sprint(values, there); got != c.want {
			t.Errorf("%s %v: %s, want %s", c.url, c.header, got, c.want)
		}
	}
}
