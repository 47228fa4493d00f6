package fetch

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync/atomic"
	"testing"
)

func TestPublicAddr(t *testing.T) {
	t.Parallel()
	for text, public := range map[string]bool{
		"8.8.8.8": true, "1.1.1.1": true, "172.15.255.255": true, "172.32.0.0": true, "100.63.255.255": true, "100.128.0.0": true,
		"169.253.255.255": true, "169.255.0.0": true, "11.0.0.0": true, "9.255.255.255": true, "128.0.0.0": true, "223.255.255.255": true,
		"2606:4700::1111": true, "2001:4860:4860::8888": true, "2001:200::1": true, "::ffff:8.8.8.8": true, "64:ff9b::808:808": true,

		"0.0.0.0": false, "0.1.2.3": false, "10.0.0.1": false, "100.64.0.0": false, "100.100.100.200": false, "100.127.255.255": false,
		"127.0.0.1": false, "127.255.255.255": false, "169.254.169.254": false, "172.16.0.0": false, "172.31.255.255": false,
		"192.0.0.8": false, "192.0.2.1": false, "192.168.0.1": false, "198.18.0.1": false, "198.19.255.255": false, "198.51.100.1": false,
		"203.0.113.1": false, "224.0.0.1": false, "239.255.255.255": false, "240.0.0.1": false, "255.255.255.255": false, "168.63.129.16": false,
		"::": false, "::1": false, "::7f00:1": false, "::ffff:127.0.0.1": false, "::ffff:a00:1": false, "::ffff:169.254.169.254": false,
		"64:ff9b::7f00:1": false, "64:ff9b::a9fe:a9fe": false, "64:ff9b:1::7f00:1": false, "64:ff9b:1::808:808": false,
		"2002:7f00:1::": false, "2002:808:808::": false, "2001::1": false, "2001:0:4136:e378:8000:63bf:3fff:fdd2": false, "2001:db8::1": false,
		"2001:10::1": false, "2001:20::1": false, "3fff::1": false, "4000::1": false, "100::1": false, "fc00::1": false, "fd00:ec2::254": false,
		"fe80::1": false, "fe80::1%eth0": false, "fec0::1": false, "ff02::1": false, "5f00::1": false, "2606:4700::1111%1": false,
	} {
		if err := PublicAddr(netip.MustParseAddr(text)); (err == nil) != public {
			t.Errorf("%s: %v", text, err)
		}
	}
	if PublicAddr(netip.Addr{}) == nil {
		t.Error("the zero address is public")
	}
}

// fakeNet resolves names from a table and counts what is dialled; every address leads to one real listener.
type fakeNet struct {
	names  map[string][]string
	to     string
	dialed atomic.Int32
	asked  atomic.Int32
}

func (n *fakeNet) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	n.asked.Add(1)
	var addrs []netip.Addr
	for _, a := range n.names[host] {
		addrs = append(addrs, netip.MustParseAddr(a))
	}
	if addrs == nil {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	return addrs, nil
}

func (n *fakeNet) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	n.dialed.Add(1)
	if n.to == "" {
		return nil, errors.New("nobody is there")
	}
	return new(net.Dialer).DialContext(ctx, network, n.to)
}

func TestGuardOptions(t *testing.T) {
	t.Parallel()
	addr := serveRaw(t, func(conn net.Conn) {
		if _, err := readTarget(conn); err == nil {
			conn.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"))
		}
	})
	n := &fakeNet{to: addr, names: map[string][]string{
		"private.example": {"10.0.0.1"}, "mixed.example": {"10.0.0.1", "8.8.8.8", "::1", "2606:4700::1"}, "public.example": {"8.8.4.4"},
	}}
	refuse := errors.New("not this one")
	only8888 := func(a netip.Addr) error {
		if a != netip.MustParseAddr("8.8.8.8") {
			return refuse
		}
		return nil
	}
	for _, c := range []struct {
		name string
		tr   *Transport
		req  Request
		ok   bool
	}{
		{"private", &Transport{}, Request{URL: "http://private.example/"}, false},
		{"private allowed", &Transport{AllowPrivate: true}, Request{URL: "http://private.example/"}, true},
		{"mixed", &Transport{}, Request{URL: "http://mixed.example/"}, true},
		{"own guard", &Transport{Guard: only8888}, Request{URL: "http://public.example/"}, false},
		{"own guard stands beside AllowPrivate", &Transport{Guard: only8888, AllowPrivate: true}, Request{URL: "http://private.example/"}, false},
		{"own guard, one of many", &Transport{Guard: only8888}, Request{URL: "http://mixed.example/"}, true},
		{"dial override to a private name", &Transport{}, Request{URL: "http://public.example/", Route: Route{ServerName: ServerName{Dial: "private.example"}}}, false},
		{"dial override to a private address", &Transport{}, Request{URL: "http://public.example/", Route: Route{ServerName: ServerName{Dial: "[::1]:80"}}}, false},
		{"dial override to a public name", &Transport{}, Request{URL: "http://private.example/", Route: Route{ServerName: ServerName{Dial: "public.example:8080"}}}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := n.dialed.Load()
			tr := c.tr
			tr.Resolver, tr.Dial = n, n.dial
			defer tr.Close()
			resp, err := tr.Fetch(t.Context(), &c.req)
			if c.ok {
				if err != nil || string(resp.Body) != "ok" {
					t.Fatal(resp, err)
				}
				return
			}
			if !errors.Is(err, ErrRefused) || KindOf(err).Temporary() {
				t.Errorf("%v", err)
			}
			if n.dialed.Load() != before {
				t.Error("it was dialled")
			}
		})
	}
}
