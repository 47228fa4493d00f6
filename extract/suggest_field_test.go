package extract_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seine-go/seine/extract"
)

// What is suggested for a field finds its whole value by the options of the field, however the page as it is now writes it.
func TestSuggestByValue(t *testing.T) {
	t.Parallel()
	type common struct {
		Title string `extract:"css=h1.title"`
	}
	type film struct {
		common
		Year    int           `extract:"css=p.year ; re=/(\\d{4})/"`
		Votes   string        `extract:"css=p.votes ; re=/(\\d+)/"`
		Genres  []string      `extract:"css=ul.genres a"`
		Cast    []*string     `extract:"css=ul.cast a"`
		Years   []int         `extract:"css=i.y"`
		Joined  string        `extract:"css=ul.genres a ; join=', '"`
		Poster  url.URL       `extract:"css=img.poster@src"`
		Thumb   string        `extract:"css=img.thumb@src"`
		Links   []string      `extract:"css=a.more@href ; url"`
		Rating  float64       `extract:"css=b.rating"`
		Runtime time.Duration `extract:"css=i.runtime"`
		Where   struct {
			Country *string `extract:"css=i.country"`
		}
	}
	const (
		old = `<h1 class=title>Alien</h1><p class=year>Released 1979 in USA</p><p class=votes>900 votes</p><ul class=genres><li><a>Horror</a><li><a>SF</a></ul>
			<ul class=cast><li><a>S. Weaver</a><li><a>T. Skerritt</a></ul><i class=y>1,979</i><i class=y>2003</i><img class=poster src=/i/7.jpg><img class=thumb src=t/7.jpg>
			<a class=more href=/1>1</a><a class=more href=/2>2</a><b class=rating>8.5</b><i class=runtime>117 min</i><i class=country>UK</i>`
		now = `<header><h2 class="film-name">Alien</h2></header><dl><dt>Year</dt><dd>1979</dd><dt>Votes<dd>by <b>all</b>: 900</dd><dt>Genre<dd><a>Horror</a>, <a>SF</a></dl>
			<div class=people><a>S. Weaver</a><a>T. Skerritt</a></div><u class=years>1979</u><u class=years>2003</u><img id=p src=https://films.example/i/7.jpg><img id=t src=//films.example/film/t/7.jpg>
			<nav><a href=../1>1</a><a href=https://films.example/2>2</a></nav><b class=score>8.50</b><i class=len>1 h 57 min</i><em class=land>UK</em>`
	)
	doc := func(text string) *extract.Document {
		return extract.NewDocument([]byte(text), extract.DocumentOptions{URL: "https://films.example/film/7"})
	}
	s := extract.MustCompile[film](extract.Options{})
	got, err := s.Suggest(t.Context(), doc(old), doc(now))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"common.Title": "css=h2.film-name@own", "Year": `css=dt:contains("Year") + dd@own`, "Votes": `css=dt:contains("Votes") + dd@own`, "Genres": `css=dt:contains("Genre") + dd a@own`,
		"Joined": `css=dt:contains("Genre") + dd a@own`, "Cast": "css=div.people a@own", "Years": "css=u.years@own", "Poster": "css=#p@src", "Thumb": "css=#t@src", "Links": "css=a@href",
		"Rating": "css=b.score@own", "Runtime": "css=i.len@own", "Where.Country": "css=em.land@own",
	} {
		if !slices.ContainsFunc(got[path], func(s extract.Suggestion) bool { return s.Source == want }) {
			t.Errorf("%s: %v, want %s", path, got[path], want)
		}
		for _, s := range got[path] {
			if isList := slices.Contains([]string{"Genres", "Joined", "Cast", "Years", "Links"}, path); isList && (s.Matched != 2 || strings.Contains(s.Source, ":nth-")) {
				t.Errorf("%s: %+v", path, s)
			}
		}
	}
	if again, err := s.Suggest(t.Context(), doc(old), doc(strings.ReplaceAll(old, "8.5", "8.50"))); err != nil || len(again) > 0 {
		t.Errorf("%v, %v", again, err)
	}
}

// Paths of data are found for lists too, in whichever list the values stand.
func TestSuggestListsOfData(t *testing.T) {
	t.Parallel()
	type film struct {
		Cast []string `extract:"css=li"`
	}
	s := extract.MustCompile[film](extract.Options{})
	kept := document("<li>A<li>B<li>C")
	for _, c := range []struct{ page, want string }{
		{`{"cast":["A","B","C"]}`, "json=$.cast[*]"},
		{`{"films":[{"cast":[{"n":"A"},{"n":"B"},{"n":"C"}]}]}`, "json=$.films[0].cast[*].n"},
		{`{"rows":[["A"],["B"],["C"]]}`, "json=$.rows[*][*]"},
		{`<script>S={cast:["A","B","C"]}</script>`, "state=S$.cast[*]"},
		{jsonLD(`{"@type":"Movie","genre":["A","B","C"]}`), "ld=Movie.genre"},
		{jsonLD(`{"@type":"Movie","actor":[{"name":"A"},{"name":"B"},{"name":"C"}]}`), "ld=Movie.actor.name"},
		{`<div class=x><p>A<p>B<p>C</div>`, "css=div.x p@own"},
		{`<div class=x><p>A<p>B</div><div class=x><p>C</div>`, "css=div.x p@own"},
		{`<div class=x><p>A<p>C<p>B</div>`, ""},
		{`<div class=x><p>A<p>B</div>`, ""},
		{`<div class=x><p>A<p>B<p>C<p>D</div>`, ""},
	} {
		got, err := s.Suggest(t.Context(), kept, document(c.page))
		list := got["Cast"]
		if err != nil || (c.want == "") != (len(list) == 0) || c.want != "" && !slices.ContainsFunc(list, func(s extract.Suggestion) bool { return s.Source == c.want && s.Matched == 3 }) {
			t.Errorf("%s: %v, %v, want %s", c.page, list, err, c.want)
		}
	}
}
