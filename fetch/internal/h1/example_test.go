package h1_test

import (
	"context"
	"fmt"
	"io"

	"github.com/seine-go/seine/fetch/internal/h1"
	"github.com/seine-go/seine/internal/memhttp"
)

func Example() {
	conn, server := memhttp.Pipe()
	go func() {
		request := make([]byte, 1024)
		n, _ := server.Read(request)
		fmt.Printf("%q\n", request[:n])
		_, _ = io.WriteString(server, "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nTampopo")
	}()

	c := h1.NewConn(conn, h1.Limits{}, h1.Timeouts{})
	defer c.Close()
	var resp h1.Response
	req := &h1.Request{Target: "/title/42", Host: "films.example", Header: []h1.Field{{Name: "accept", Value: "text/html"}}}
	if err := c.Do(context.Background(), req, &resp); err != nil {
		fmt.Println(err)
		return
	}
	body, err := io.ReadAll(c.Body())
	fmt.Println(resp.Status, resp.ContentLength, string(body), err, c.Reusable())
	// Output:
	// "GET /title/42 HTTP/1.1\r\nHost: films.example\r\naccept: text/html\r\n\r\n"
	// 200 7 Tampopo <nil> true
}
