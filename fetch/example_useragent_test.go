package fetch_test

import (
	"github.com/seine-go/seine/fetch"
)

func ExampleUserAgent() {
	f := fetch.Chain(echo("User-Agent"), fetch.UserAgent(func(*fetch.Request) string { return "mybot/1.2 (+https://films.example/bot)" }))
	show(f, &fetch.Request{URL: "https://films.example/"})
	// Output: mybot/1.2 (+https://films.example/bot) false
}
