package crawler

import (
	"net/http"
	"testing"
)

// TestMovedRequestsTellTheRefererOfAHop has requests that a redirect made: the host is told what its origin may know, and the
// page that led there stays known.
func TestMovedRequestsTellTheRefererOfAHop(t *testing.T) {
	t.Parallel()
	const page = "https://films.example/list?page=2"
	for _, c := range []struct {
		url  string
		hops int
		want string
	}{
		{"https://other.example/", 0, page},
		{"https://other.example/", 1, "https://films.example/"},
		{"https://films.example/x", 1, page},
		{"http://other.example/", 1, ""},
	} {
		header := http.Header{"Referer": {page}, "X": {"1"}}
		req := (&Request{URL: c.url, Hops: c.hops, Header: header}).fetchRequest(10, false)
		told := req.Header.Get("Referer")
		if told != c.want || c.hops > 0 && req.Initiator != page || header.Get("Referer") != page || req.Header["X"] == nil {
			t.Errorf("%s after %d hops: told %q, initiator %q", c.url, c.hops, told, req.Initiator)
		}
	}
}
