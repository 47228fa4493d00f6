package extract_test

import (
	"context"
	"fmt"

	"github.com/seine-go/seine/extract"
)

func ExampleFrom() {
	type Film struct {
		Title string   `extract:"ld=Movie.name || css=h1@own ; required"`
		Year  int      `extract:"css=.year || og=title ; re=/(19|20)\\d\\d/0"`
		Cast  []string `extract:"css=ul.cast a"`
	}
	film, err := extract.From[Film](extract.NewDocument([]byte(`<meta property=og:title content="Alien (1979)">
		<h1>Alien</h1><ul class=cast><li><a>Sigourney Weaver</a><li><a>Tom Skerritt</a></ul>`), extract.DocumentOptions{}))
	fmt.Printf("%+v %v\n", film, err)
	// Output: {Title:Alien Year:1979 Cast:[Sigourney Weaver Tom Skerritt]} <nil>
}

func ExampleSchema_Extract() {
	type Film struct {
		Title string `extract:"css=h1.title || css=h1"`
		Votes int    `extract:"css=.votes ; default=0"`
	}
	films := extract.MustCompile[Film](extract.Options{})
	doc := extract.NewDocument([]byte(`<h1>Alien</h1>`), extract.DocumentOptions{})
	film, report, err := films.Extract(context.Background(), doc)
	fmt.Println(film, err)
	for _, f := range report.Fields {
		fmt.Println(f.Path, f.Status, f.SourceIndex, f.Source)
	}
	// Output:
	// {Alien 0} <nil>
	// Title ok 1 css=h1
	// Votes default -1
}

func ExampleSchema_Each() {
	type Item struct {
		Name string `extract:"css=a"`
		URL  string `extract:"css=a@href ; url"`
	}
	doc := extract.NewDocument([]byte(`<ul><li><a href="/1">One</a><li><a href="/2">Two</a></ul>`), extract.DocumentOptions{URL: "https://h/"})
	for item := range extract.MustCompile[Item](extract.Options{}).Each(context.Background(), doc, "css=li") {
		fmt.Println(item.Name, item.URL)
	}
	// Output:
	// One https://h/1
	// Two https://h/2
}
