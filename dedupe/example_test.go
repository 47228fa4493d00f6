package dedupe_test

import (
	"errors"
	"fmt"

	"github.com/seine-go/seine/dedupe"
)

func Example() {
	var c dedupe.Canonicalizer // the Strict profile
	for _, url := range []string{"http://example.com/p", "HTTP://Example.com:80/%70#top", "http://example.com/p/"} {
		key, err := c.Key(url)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(key)
	}
	// Output:
	// http://example.com/p
	// http://example.com/p
	// http://example.com/p/
}

func ExampleNew() {
	c, err := dedupe.New(dedupe.CrawlerCommons, dedupe.Options{QueryParamsToRemove: []string{"sessionid"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	key, err := c.Key("http://example.com//films?year=1927&sessionid=42&director=lang")
	fmt.Println(key, err)

	_, err = dedupe.New(dedupe.Strict, dedupe.Options{KeepFragments: true})
	fmt.Println(err)
	// Output:
	// http://example.com/films?director=lang&year=1927 <nil>
	// seine: dedupe option KeepFragments: not an option of profile strict
}

func ExampleNew_surt() {
	c, err := dedupe.New(dedupe.SURT, dedupe.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, url := range []string{"http://example.org/", "http://films.example.org/1927"} {
		key, err := c.Key(url)
		fmt.Println(key, err)
	}
	// Output:
	// http://(org,example,)/ <nil>
	// http://(org,example,films,)/1927 <nil>
}

func ExampleParseProfile() {
	profile, err := dedupe.ParseProfile("w3lib")
	fmt.Println(profile, err)
	_, err = dedupe.ParseProfile("loose")
	fmt.Println(err)
	// Output:
	// w3lib <nil>
	// seine: dedupe option Profile: "loose": unknown, not one of strict, w3lib, crawler-commons, semantic_precise, SURT
}

func ExampleCanonicalizer_Key() {
	var c dedupe.Canonicalizer
	_, err := c.Key("http://user:password@example.com:port/")
	fmt.Println(err, errors.Is(err, dedupe.ErrInvalidURL))
	// Output:
	// seine: strict key of "http://…@example.com:port/": invalid port true
}

func ExampleCanonicalizer_AppendRequestKey() {
	var c dedupe.Canonicalizer
	for _, r := range []struct{ method, body string }{{"GET", ""}, {"POST", ""}, {"post", "q=lang"}} {
		key, err := c.AppendRequestKey(nil, r.method, "http://example.com/search#form", []byte(r.body))
		fmt.Println(string(key), err)
	}
	// Output:
	// http://example.com/search <nil>
	// POST - http://example.com/search <nil>
	// POST a9bd7c3c461f60be1552de04f76c087d7b22d73125b9803ff9a5e9b0abc2b6a3 http://example.com/search <nil>
}

// The links of a page at a time cost less than one by one.
func ExampleSeenSet_AddAll() {
	seen := dedupe.NewSeenSet(dedupe.SeenOptions{})
	seen.Add("https://films.example/title/1")
	links := []string{"https://films.example/title/1", "https://films.example/title/2", "https://films.example/title/2"}
	fresh := make([]bool, len(links))
	fmt.Println(seen.AddAll(links, fresh), fresh)
	// Output:
	// 1 [false true false]
}

func ExampleSeenSet() {
	seen := dedupe.NewSeenSet(dedupe.SeenOptions{})
	for _, url := range []string{"https://films.example/title/1", "https://films.example/title/2", "https://films.example/title/1"} {
		fmt.Println(seen.Add(url))
	}
	fmt.Println(seen.Len())
	// Output:
	// true
	// true
	// false
	// 2
}
