package proxy_test

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/seine-go/seine/proxy"
)

func ExampleParse() {
	route, err := proxy.Parse("http://user:secret@127.0.0.1:3128", "socks5://10.0.0.7")
	fmt.Println(route, err)
	_, err = proxy.Parse("gopher://user:secret@127.0.0.1")
	fmt.Println(err)
	// Output:
	// http://127.0.0.1:3128 socks5://10.0.0.7:1080 <nil>
	// seine: proxy 0 (gopher): unknown kind of proxy; known are http, https, socks5 and socks5h
}

func ExampleRoute_Dial() {
	route, err := proxy.Parse("socks5://user:secret@proxy.example")
	if err != nil {
		panic(err)
	}
	dial := func(_ context.Context, _, addr string) (net.Conn, error) {
		fmt.Println("dialling", addr)
		return nil, errors.New("nobody is there")
	}
	_, err = route.Dial(context.Background(), dial, "films.example:443")
	fmt.Println(err)
	// Output:
	// dialling proxy.example:1080
	// seine: proxy 0 socks5://proxy.example:1080: dial: nobody is there
}

// A proxy that would change what it forwards: plain HTTP goes through tunnels too.
func ExampleRoute_WithTunnels() {
	route, err := proxy.Parse("http://127.0.0.1:3128")
	if err != nil {
		panic(err)
	}
	fmt.Println(route.Forwards(), route.WithTunnels().Forwards())
	// Output: true false
}
