package fetch

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/seine-go/seine/internal/memhttp"
)

// TestUserInfoOverRedirects: what a URL says of a user goes on to the same origin, however the redirect is written, and to no
// other; what the redirect itself says counts for more.
func TestUserInfoOverRedirects(t *testing.T) {
	t.Parallel()
	const user, other = "Basic dTpw", "Basic YTpi" // u:p, a:b
	for location, want := range map[string]string{
		"/x":                             user,
		"http://films.example/x":         user,
		"//films.example/x":              user,
		"http://a:b@films.example/x":     other,
		"http://other.example/x":         "",
		"http://a:b@other.example/x":     other,
		"http://films.example:81/x":      "",
		"http://other.example/back":      "", // and back again
		"http://films.example/twice":     user,
		"http://a:b@films.example/twice": other,
	} {
		synctest.Test(t, func(t *testing.T) {
			var n memhttp.Network
			var got string
			handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				got = r.Header.Get("Authorization")
				switch r.URL.Path {
				case "/":
					w.Header()["Location"] = []string{location}
				case "/back", "/twice":
					w.Header()["Location"] = []string{"http://films.example/x"}
				default:
					return
				}
				w.WriteHeader(http.StatusFound)
			})
			for _, addr := range []string{"films.example:80", "films.example:81", "other.example:80"} {
				n.Serve(t, addr, handler)
			}
			tr := memTransport(&n, &Transport{})
			defer tr.Close()
			resp, err := tr.Fetch(t.Context(), &Request{URL: "http://u:p@films.example/"})
			if err != nil || got != want || !strings.HasSuffix(resp.URL, "/x") {
				t.Errorf("%s: %q, want %q (%v)", location, got, want, err)
			}
		})
	}
}
