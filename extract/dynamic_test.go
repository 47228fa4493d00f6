package extract_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/seine-go/seine/extract"
)

const filmRules = `
title: {from: css=h1@own, required: true}
votes: {from: css=.votes, type: int}
rating: {from: ld=Movie.aggregateRating.ratingValue, type: float}
length: {from: ld=Movie.duration, type: duration}
released: {from: ld=Movie.datePublished, type: time}
zero: {from: css=.zero, type: int}
none: {from: css=h7, type: int}
empty: css=.empty
fallback: {from: css=h7, type: bool, default: true}
names: {from: css=ul.cast a, each: true}
missing: {from: css=h7, each: true}
facts: {from: css=dl dt, key: css=, value: 'xpath=following-sibling::dd[1]'}
tags: {from: state=__STATE__$.film.tags, type: any}
cast:
  from: css=ul.cast li
  each: true
  fields: {name: css=a, role: css=i}
first: {from: css=ul.cast li, fields: {name: css=a, "the role": css=i}}
nobody: {from: css=h7, fields: {name: css=a}}
`

// Rules need no Go type: they fill a map, in which what is missing is not there.
func TestRulesFillAMap(t *testing.T) {
	t.Parallel()
	s, err := extract.Compile[map[string]any](extract.Options{Rules: parsed(t, extract.ParseRulesYAML, filmRules)})
	if err != nil {
		t.Fatal(err)
	}
	got, report, err := s.Extract(t.Context(), document(filmPage))
	want := map[string]any{
		"title": "The   Matrix", "votes": int64(1_900_000), "rating": 8.7, "length": 2*time.Hour + 16*time.Minute, "zero": int64(0), "empty": "", "fallback": true,
		"released": time.Date(1999, 3, 31, 0, 0, 0, 0, time.UTC), "names": []any{"Keanu Reeves", "Carrie-Anne Moss"}, "facts": map[string]any{"Country": "USA", "Language": "English"},
		"tags":  []any{"a", "b"},
		"cast":  []any{map[string]any{"name": "Keanu Reeves", "role": "Neo"}, map[string]any{"name": "Carrie-Anne Moss"}},
		"first": map[string]any{"name": "Keanu Reeves", "the role": "Neo"},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v\n%#v\nwant\n%#v", err, got, want)
	}
	for _, f := range report.Fields {
		if f.Path == "none" && f.Status != extract.Missing || f.Path == "fallback" && f.Status != extract.Default || strings.HasPrefix(f.Path, "F") {
			t.Errorf("%+v", f)
		}
	}
	var into map[string]any
	if _, err := s.ExtractInto(t.Context(), document(filmPage), &into); err != nil || !reflect.DeepEqual(into, want) {
		t.Errorf("%v, %v", into, err)
	}
	people, err := extract.Compile[map[string]any](extract.Options{Rules: extract.Rules{"name": {Tag: "css=a ; required"}, "role": {Tag: "css=i ; required"}}})
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for v, report := range people.Each(t.Context(), document(filmPage), "css=ul.cast li") {
		all = append(all, fmt.Sprint(v, report.Err != nil))
	}
	if got := fmt.Sprint(all); got != "[map[name:Keanu Reeves role:Neo] false map[name:Carrie-Anne Moss] true]" {
		t.Error(got)
	}
}

func TestBadRulesOfAMap(t *testing.T) {
	t.Parallel()
	for yaml, says := range map[string]string{
		"a: {from: css=a, type: number}":               `line 1, column 24: no type is called "number"`,
		"a: {from: css=a, type: int, fields: {b: c=}}": "what has fields has no other type",
		"a: css=a ; type=":                             `no type is called ""`,
		"a: {from: css=a, each: true, join: x}":        "option join does not go",
		"a: {from: css=a, fields: {b: css=b >}}":       "a.b, line 1",
		"{}":                                           "by Options.Rules alone",
	} {
		_, err := extract.Compile[map[string]any](extract.Options{Rules: parsed(t, extract.ParseRulesYAML, yaml)})
		if !errors.As(err, new(*extract.TagError)) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", yaml, err)
		}
	}
	if _, err := extract.SchemaOf[map[string]any](); !errors.As(err, new(*extract.TagError)) {
		t.Error(err)
	}
	if _, err := extract.Compile[struct{ A int }](extract.Options{Rules: extract.Rules{"A": {Tag: "css=a ; type=int"}}}); err == nil {
		t.Error("a type beside a Go type")
	}
	deep := extract.Rule{Tag: "css=a"}
	for range 65 {
		deep = extract.Rule{Tag: "css=a", Fields: extract.Rules{"a": deep}}
	}
	if _, err := extract.Compile[map[string]any](extract.Options{Rules: extract.Rules{"a": deep}}); !errors.As(err, new(*extract.TagError)) {
		t.Errorf("deeper than the bound: %v", err)
	}
	if _, err := extract.Compile[map[string]any](extract.Options{Rules: extract.Rules{"a": deep.Fields["a"].Fields["a"]}}); err != nil {
		t.Errorf("at the bound: %v", err)
	}
}

type person struct {
	Name string `extract:"css=a"`
	Role string `extract:"css=i"`
}

// A pointer without a tag is filled like a struct without one; nothing is passed over in silence.
func TestPointersWithoutATag(t *testing.T) {
	t.Parallel()
	type names struct {
		Given string `extract:"css=b.given"`
	}
	type film struct {
		Title string `extract:"css=h1@own"`
		*person
		Person *person
		Names  *names
		Other  *extract.Document // declares nothing
		Kept   *person           `extract:"-"`
	}
	v, err := extract.From[film](document(filmPage))
	if err != nil || v.Person == nil || v.Person.Role != "Neo" || v.Names != nil || v.Other != nil || v.Kept != nil || v.person != nil {
		t.Errorf("%+v, %v", v, err)
	}
	type node struct {
		Title string `extract:"css=h1"`
		Next  *struct{ Person *person }
	}
	if v, err := extract.From[node](document(filmPage)); err != nil || v.Next == nil || v.Next.Person.Name != "Keanu Reeves" {
		t.Errorf("%+v, %v", v, err)
	}
	if _, err := extract.From[endless](document(filmPage)); !errors.As(err, new(*extract.TagError)) || !strings.Contains(err.Error(), "Other.Again") {
		t.Errorf("a type that holds itself at one place: %v", err)
	}
}

type endless struct {
	Title string `extract:"css=h1"`
	Other *struct{ Again *endless }
}

func ExampleCompile_map() {
	rules, err := extract.ParseRulesYAML([]byte(`
title: css=h1
year: {from: css=.year, type: int}
cast: {from: css=li, each: true, fields: {name: css=a, role: css=i}}
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	films, err := extract.Compile[map[string]any](extract.Options{Rules: rules})
	if err != nil {
		fmt.Println(err)
		return
	}
	page := `<h1>Alien</h1><b class=year>1979</b><li><a>Sigourney Weaver</a> <i>Ripley</i><li><a>Tom Skerritt</a>`
	film, _, err := films.Extract(context.Background(), extract.NewDocument([]byte(page), extract.DocumentOptions{}))
	text, _ := json.Marshal(film)
	fmt.Println(string(text), err)
	// Output: {"cast":[{"name":"Sigourney Weaver","role":"Ripley"},{"name":"Tom Skerritt"}],"title":"Alien","year":1979} <nil>
}
