package fetch

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

func TestAuth(t *testing.T) {
	t.Parallel()
	m := Auth(map[string]Credential{
		"https://films.example":       {User: "ann", Password: "s:1"},
		"HTTPS://API.films.example:8": {User: "x", Token: "abc.def"},
		"https://key.films.example":   {User: "key"},
		"https://pass.films.example":  {Password: "key"},
	})
	for _, c := range []struct{ url, own, want string }{
		{"https://films.example/a", "", "Basic YW5uOnM6MQ=="},
		{"https://films.example:443/a", "", "Basic YW5uOnM6MQ=="},
		{"https://api.films.example:8/", "", "Bearer abc.def"},
		{"https://api.films.example/", "", ""},
		{"https://key.films.example/", "", "Basic a2V5Og=="},
		{"https://pass.films.example/", "", "Basic OmtleQ=="},
		{"http://films.example/", "", ""},
		{"https://www.films.example/", "", ""},
		{"https://films.example/", "Bearer own", "Bearer own"},
		{"https://bob:pw@films.example/", "", ""},
	} {
		req := &Request{URL: c.url}
		if c.own != "" {
			req.Header = http.Header{"authorization": {c.own}}
		}
		got, _ := headerValues(through(t, m, req).Header, "Authorization")
		if strings.Join(got, "|") != c.want {
			t.Errorf("%s: %q, want %q", c.url, got, c.want)
		}
	}
	for name, bad := range map[string]map[string]Credential{
		"empty":    {"https://films.example": {}},
		"path":     {"https://films.example/a": {User: "a"}},
		"no URL":   {"films.example": {User: "a"}},
		"scheme":   {"ftp://films.example": {User: "a"}},
		"userinfo": {"https://a:secret@films.example": {User: "a"}},
		"colon":    {"https://films.example": {User: "a:b", Password: "secret"}},
		"token":    {"https://films.example": {Token: "secret\r\nX: y"}},
		"blank":    {"https://films.example": {Token: "secret two"}},
	} {
		_, err := Auth(bad)(FetcherFunc(slow)).Fetch(t.Context(), &Request{URL: "https://films.example/"})
		if !errors.Is(err, ErrInvalid) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if s := fmt.Sprintf("%v %+v %#v", Credential{User: "ann", Password: "secret"}, Credential{Token: "secret"}, Credential{Token: "secret"}); strings.Contains(s, "secret") {
		t.Errorf("printed: %s", s)
	}
}
