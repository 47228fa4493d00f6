package fetch_test

import (
	"github.com/seine-go/seine/fetch"
)

func ExampleAuth() {
	f := fetch.Chain(echo("Authorization"), fetch.Auth(map[string]fetch.Credential{
		"https://films.example":     {User: "ann", Password: "secret"},
		"https://api.films.example": {Token: "abc"},
	}))
	show(f, &fetch.Request{URL: "https://api.films.example/v1"})
	show(f, &fetch.Request{URL: "https://other.example/"})
	// Output:
	// Bearer abc false
	//  false
}
