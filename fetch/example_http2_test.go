package fetch_test

import (
	"context"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/seine-go/seine/fetch"
	"github.com/seine-go/seine/fetch/identity"
)

func ExampleHTTP2() {
	host := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Proto) }))
	host.EnableHTTP2 = true
	host.StartTLS()
	defer host.Close()

	t := &fetch.Transport{AllowPrivate: true, MaxConnsPerHost: 2, HTTP2: &fetch.HTTP2{
		Settings:   []fetch.HTTP2Setting{{ID: 1, Value: 65536}, {ID: 2, Value: 0}, {ID: 4, Value: 6 << 20}}, // table, no push, windows
		ConnWindow: 15 << 20,
		Held:       32 << 20,
		Pseudo:     "masp",
		Priority: func(k fetch.Kind) fetch.HTTP2Priority {
			if k == identity.Image {
				return fetch.HTTP2Priority{Exclusive: true, Weight: 182}
			}
			return fetch.HTTP2Priority{Exclusive: true, Weight: 255}
		},
	}}
	defer t.Close()
	trusted := x509.NewCertPool()
	trusted.AddCert(host.Certificate())
	resp, err := t.Fetch(context.Background(), &fetch.Request{
		URL: host.URL, Kind: identity.Image, Route: fetch.Route{ServerName: fetch.ServerName{RootCAs: trusted}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s %s\n", resp.Proto, resp.Body)
	// Output: HTTP/2.0 HTTP/2.0
}
