package crawltest_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/seine-go/seine/crawler/crawltest"
)

// A client that neither asks for robots.txt nor waits.
func ExampleAuditor() {
	var auditor crawltest.Auditor
	server := httptest.NewServer(auditor.Handler(http.NotFoundHandler()))
	defer server.Close()

	for _, path := range []string{"/film/1", "/private/2"} {
		resp, err := server.Client().Get(server.URL + path)
		if err != nil {
			fmt.Println(err)
			return
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
	}

	policy := crawltest.Policy{Delay: time.Second, Robots: map[string]string{"": "User-agent: *\nDisallow: /private/"}}
	for _, v := range auditor.Audit().Check(policy) {
		fmt.Println(v.Rule)
	}
	// Output:
	// delay
	// robots.txt first
	// disallowed
}
