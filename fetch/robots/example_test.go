package robots_test

import (
	"context"
	"fmt"
	"net/http"

	"github.com/seine-go/seine/fetch"
	"github.com/seine-go/seine/fetch/robots"
)

func ExampleParse() {
	file := robots.Parse([]byte("User-agent: *\nDisallow: /private\nAllow: /private/press$\nSitemap: https://films.example/sitemap.xml\n"))
	rules := file.Agent("mybot")
	fmt.Println(rules.Allowed("/title/17"), rules.Allowed("/private/x"), rules.Allowed("/private/press"))
	fmt.Println(file.Sitemaps())
	// Output:
	// true false true
	// [https://films.example/sitemap.xml]
}

func ExampleRules_Match() {
	rules := robots.Parse([]byte("User-agent: mybot\nDisallow: /*?sort=\n")).Agent("mybot")
	rule, allowed := rules.Match("https://films.example/list?sort=year")
	fmt.Println(allowed, rule)
	// Output: false line 2: Disallow: /*?sort=
}

func ExampleRules_CrawlDelay() {
	rules := robots.Parse([]byte("User-agent: mybot\nCrawl-delay: 2.5\n")).Agent("mybot")
	fmt.Println(rules.CrawlDelay())
	// Output: 2.5s true
}

func ExampleCache() {
	site := fetch.FetcherFunc(func(_ context.Context, req *fetch.Request) (*fetch.Response, error) {
		fmt.Println("asked", req.URL)
		return &fetch.Response{Request: req, URL: req.URL, Status: http.StatusOK, Body: []byte("User-agent: *\nDisallow: /private\n")}, nil
	})
	rules := &robots.Cache{Fetcher: site, Agent: "mybot"}
	for _, url := range []string{"https://films.example/title/17", "https://films.example/private/x"} {
		d, err := rules.Check(context.Background(), url)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(url, d.Allowed, d.Rule)
	}
	// Output:
	// asked https://films.example/robots.txt
	// https://films.example/title/17 true no rule
	// https://films.example/private/x false line 2: Disallow: /private
}

func ExampleProductToken() {
	fmt.Println(robots.ProductToken("Mozilla/5.0 (compatible; mybot/1.2; +https://my.example/bot)"))
	// Output: mybot true
}

func ExampleValidAgent() {
	fmt.Println(robots.ValidAgent("mybot"))
	fmt.Println(robots.ValidAgent("mybot/1.2"))
	// Output:
	// <nil>
	// seine: robots agent "mybot/1.2" is no product token: letters, digits and _-. are, up to 128 of them (is "mybot" meant?)
}
