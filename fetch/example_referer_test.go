package fetch_test

import (
	"github.com/seine-go/seine/fetch"
)

func ExampleReferer() {
	from := func(*fetch.Request) string { return "https://films.example/list?page=2" }
	f := fetch.Chain(echo("Referer"), fetch.Referer(fetch.RefererOptions{From: from}))
	show(f, &fetch.Request{URL: "https://films.example/film/7"})
	show(f, &fetch.Request{URL: "https://posters.example/7.jpg"})
	// Output:
	// https://films.example/list?page=2 false
	// https://films.example/ false
}
