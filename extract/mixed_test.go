package extract_test

import (
	"errors"
	"reflect"
	"testing"

	"github.com/seine-go/seine/extract"
)

type record struct {
	Name     string   `extract:"ld=Movie.name"`
	Director string   `extract:"ld=Movie.director.name"`
	Rating   float64  `extract:"ld=Movie.aggregateRating.ratingValue"`
	Plot     string   `extract:"ld=Movie.description || css=.plot"`
	Actors   []string `extract:"ld=Movie.actor.name"`
	All      []string `extract:"ld=Movie[*].name"`
}

const otherFilm = `{"@type":"Movie","name":"Titanic","aggregateRating":{"ratingValue":7.9},"description":"A ship sinks","actor":[{"name":"L"},{"name":"K"}]}`

// Fields of a struct are of one film, whatever other films a page has: what that film has not is missing.
func TestFieldsAreOfOneObject(t *testing.T) {
	t.Parallel()
	plot := `<p class=plot>A crew meets a creature</p>`
	alien := `{"@type":"Movie","name":"Alien","director":{"name":"R. Scott"}}`
	other := `<aside itemscope itemtype="https://schema.org/Movie"><b itemprop=name>Titanic</b><meta itemprop=description content=x><i itemprop=actor>L</i></aside>`
	want := record{Name: "Alien", Director: "R. Scott", Plot: "A crew meets a creature", All: []string{"Alien"}}
	both := want
	both.All = []string{"Alien", "Titanic"}
	bare := want
	bare.Director = ""
	bareBoth := both
	bareBoth.Director = ""
	for name, tt := range map[string]struct {
		page   string
		want   record
		status extract.Status
	}{
		"two blocks":          {jsonLD(alien) + jsonLD("["+otherFilm+"]") + plot, both, extract.Ambiguous},
		"one graph":           {jsonLD(`{"@graph":[`+alien+","+otherFilm+`]}`) + plot, both, extract.Ambiguous},
		"one film":            {jsonLD(alien) + plot, want, extract.OK},
		"what it is like":     {jsonLD(`{"@type":"Movie","name":"Alien","director":{"name":"R. Scott"},"isRelatedTo":`+otherFilm+`}`) + plot, want, extract.OK},
		"Microdata beside":    {jsonLD(alien) + other + plot, want, extract.OK},
		"a film in a page":    {jsonLD(`{"@type":"WebPage","mainEntity":{"@type":"Movie","name":"Alien"}}`) + other + plot, bare, extract.OK},
		"Microdata alone":     {`<div itemscope itemtype="https://schema.org/Movie"><h1 itemprop=name>Alien</h1></div>` + other + plot, bareBoth, extract.Ambiguous},
		"others in the block": {jsonLD(`[`+alien+`,{"@type":"ItemList","itemListElement":[{"item":`+otherFilm+`}]}]`) + plot, want, extract.OK},
	} {
		got, report, err := extract.MustCompile[record](extract.Options{}).Extract(t.Context(), document(tt.page))
		if err != nil || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		if f, _ := report.Field("Name"); f.Status != tt.status || (f.Err != nil) != (tt.status == extract.Ambiguous) {
			t.Errorf("%s: %v, %v", name, f.Status, f.Err)
		}
		if f, _ := report.Field("All"); f.Status != extract.OK {
			t.Errorf("%s: all: %v", name, f.Status)
		}
	}
}

// With the option one several objects are an error; sources that differ are told whether or not there are several.
func TestOneOfSeveralObjects(t *testing.T) {
	t.Parallel()
	page := jsonLD("["+otherFilm+`,{"@type":"Movie","name":"Alien"}]`) + "<h1>Else</h1><b>L</b>"
	var field *extract.FieldError
	_, err := extract.From[struct {
		Name string `extract:"ld=Movie.name ; one"`
	}](document(page))
	if !errors.As(err, &field) || field.Status != extract.Ambiguous {
		t.Errorf("%v", err)
	}
	_, report, err := extract.MustCompile[struct {
		Name   string   `extract:"ld=Movie.name || css=h1 ; prefer"`
		Actors []string `extract:"ld=Movie.actor.name || css=b ; prefer"`
		List   []string `extract:"ld=Movie.actor.name"`
	}](extract.Options{}).Extract(t.Context(), document(page))
	for path, want := range map[string]extract.Status{"Name": extract.Disagreed, "Actors": extract.Disagreed, "List": extract.Ambiguous} {
		if f, _ := report.Field(path); err != nil || f.Status != want {
			t.Errorf("%s: %v, %v", path, f.Status, err)
		}
	}
}
