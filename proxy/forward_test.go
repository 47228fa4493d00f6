package proxy

import (
	"context"
	"crypto/x509"
	"errors"
	"net"
	"testing"
)

// TestForwards has the routes whose last proxy forwards requests, and what they go by.
func TestForwards(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		urls          []string
		forwards      bool
		authorization string
	}{
		{nil, false, ""},
		{[]string{"http://a"}, true, ""},
		{[]string{"https://u:p@a"}, true, "Basic dTpw"},
		{[]string{"socks5://u:p@a"}, false, ""},
		{[]string{"socks5://u:p@a", "http://v:q@b"}, true, "Basic djpx"},
		{[]string{"http://u:p@a", "socks5://b"}, false, ""},
	} {
		r, err := Parse(c.urls...)
		if err != nil || r.Forwards() != c.forwards || r.Authorization() != c.authorization {
			t.Errorf("%q: %v, %q, %v", c.urls, r.Forwards(), r.Authorization(), err)
		}
		tunnels := r.WithTunnels()
		if tunnels.Forwards() || tunnels.Authorization() != "" || (tunnels.Key() == r.Key()) != r.IsZero() || tunnels.String() != r.String() {
			t.Errorf("%q with tunnels: %q, %q", c.urls, tunnels.Key(), tunnels)
		}
		roots := x509.NewCertPool()
		if tunnels.WithRootCAs(roots).Key() != r.WithRootCAs(roots).WithTunnels().Key() || tunnels.WithRootCAs(roots).Forwards() {
			t.Errorf("%q: the key goes by the order of the calls", c.urls)
		}
		boom, dialled := errors.New("boom"), ""
		_, err = r.DialForward(t.Context(), func(_ context.Context, _, addr string) (net.Conn, error) {
			dialled = addr
			return nil, boom
		})
		if errors.Is(err, boom) != c.forwards || (dialled != "") != c.forwards {
			t.Errorf("%q: dialled %q, %v", c.urls, dialled, err)
		}
	}
}
