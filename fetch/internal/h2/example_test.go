package h2_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"

	"github.com/seine-go/seine/fetch/internal/h2"
)

func ExampleConn_Do() {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s %s", r.Method, r.URL)
	}))
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	server.Start()
	defer server.Close()

	nc, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		fmt.Println(err)
		return
	}
	c := h2.NewConn(nc, h2.Config{})
	defer c.Close()
	for _, path := range []string{"/a", "/b"} {
		if !c.Reserve() {
			fmt.Println("no place for another exchange")
			return
		}
		s, err := c.Do(context.Background(), &h2.Request{Scheme: "http", Authority: "films.example", Path: path})
		if err != nil {
			fmt.Println(err)
			return
		}
		body, err := io.ReadAll(s)
		fmt.Println(s.Response.Status, string(body), err)
		_ = s.Close()
	}
	// Output:
	// 200 GET /a <nil>
	// 200 GET /b <nil>
}
