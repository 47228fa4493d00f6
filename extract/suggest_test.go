package extract_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/seine-go/seine/extract"
	"github.com/seine-go/seine/internal/growthtest"
)

// From what a kept page gave, sources for the page as it is now are found, and they work.
func TestSuggest(t *testing.T) {
	t.Parallel()
	kept := document(`<h1 class=title>The Matrix</h1><span class=year>1999</span><img class=poster src=/p/1.jpg>`)
	now := document(`<header><a>The Matrix</a></header><div id=main class="css-1x2y3z4"><h2 class="film-name">The
		Matrix</h2><dl><dt>Year</dt><dd>1999</dd></dl><img data-src="/p/1.jpg" class=cover></div><script>x = "1999"</script>`)
	type film struct {
		Title  string `extract:"css=h1.title"`
		Year   string `extract:"css=.year"`
		Poster string `extract:"css=.poster@src"`
	}
	_, report, err := extract.MustCompile[film](extract.Options{}).Extract(t.Context(), kept)
	if err != nil {
		t.Fatal(err)
	}
	rules := extract.Rules{}
	for _, f := range report.Fields {
		list, err := extract.Suggest(now, f.Raw)
		if err != nil || len(list) == 0 || list[0].Matched != 1 {
			t.Fatalf("%s: %v, %v", f.Path, list, err)
		}
		for _, s := range list {
			if strings.Contains(s.Source, "1x2y3z4") {
				t.Errorf("a generated class: %v", s)
			}
		}
		rules[f.Path] = extract.Rule{Tag: list[0].Source + " ; trim"}
	}
	got, _, err := extract.MustCompile[film](extract.Options{Rules: rules}).Extract(t.Context(), now)
	if err != nil || got != (film{"The Matrix", "1999", "/p/1.jpg"}) {
		t.Errorf("%+v, %v, by %v", got, err, rules)
	}
	for _, text := range []string{"", " ", "nowhere"} {
		if list, err := extract.Suggest(now, text); len(list) > 0 || err != nil {
			t.Errorf("%q: %v, %v", text, list, err)
		}
	}
	if _, err := extract.Suggest(document(strings.Repeat("<div><p>x</p>", 20_000)), "x"); err != nil {
		t.Error(err)
	}
}

// Whatever has a text is found, by what says most about it.
func TestSuggestKindsOfSources(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ page, text, want string }{
		{`<meta property="og:title" content="Ran">`, "Ran", "og=title"},
		{`<meta name=year content=1985>`, "1985", "meta=year"},
		{`<script type="application/ld+json">{"@type":"Movie","name":"x","director":{"@type":"Person","name":"Kurosawa"}}</script>`, "Kurosawa", "ld=Person.name"},
		{`<script type="application/ld+json">{"@type":"Movie","name":"x","director":{"@type":"Person","name":"Kurosawa"}}</script>`, "Kurosawa", "ld=Movie.director.name"},
		{`<script>S={film:{"a b":[{t:"Ran"}]}}</script>`, "Ran", `state=S$.film['a b'][0].t`},
		{`{"data":{"title":"Ran"}}`, "Ran", "json=$.data.title"},
		{`<table><tr><th>Film<td>x<tr><th>Year<td>1985</table>`, "1985", `css=th:contains("Year") + td@own`},
		{`<table><tr><th>Film<td>x<tr><th>Year<td>1985</table>`, "1985", `xpath=//th[normalize-space()='Year']/following-sibling::td[1]`},
		{`<ul class=genres><li>Crime<li>Drama</ul>`, "Drama", "css=ul.genres > li:nth-of-type(2)@own"},
		{`<div><h1 class=t>The <b>hidden</b> road</h1></div>`, "The hidden road", "css=h1.t"},
	} {
		list, err := extract.Suggest(document(c.page), c.text)
		if err != nil || !slices.ContainsFunc(list, func(s extract.Suggestion) bool { return s.Source == c.want }) {
			t.Errorf("%s: %v, %v, want %s", c.page, list, err, c.want)
		}
		for _, s := range list {
			type value struct{ V string }
			got, _, err := extract.MustCompile[value](extract.Options{Rules: extract.Rules{"V": {Tag: s.Source + " ; trim"}}}).Extract(t.Context(), document(c.page))
			if err != nil || got.V != c.text {
				t.Errorf("%s: %q, %v", s.Source, got.V, err)
			}
		}
	}
}

// From a page that was kept, sources are found for what the page as it is now has not.
func TestSchemaSuggest(t *testing.T) {
	t.Parallel()
	type film struct {
		Title  string   `extract:"css=h1.title"`
		Year   string   `extract:"css=.year"`
		Poster string   `extract:"css=.poster@src"`
		Genres []string `extract:"css=.genre"`
		Note   string   `extract:"css=.note"`
	}
	kept := document(`<h1 class=title>Ran</h1><span class=year>1985</span><img class=poster src=/1.jpg><i class=genre>War</i><i class=genre>Drama</i>`)
	now := document(`<h2 class=name>Ran</h2><span class=year>1985</span><img id=p src=/1.jpg><ul class=tags><li>War<li>Drama</ul>`)
	got, err := extract.MustCompile[film](extract.Options{}).Suggest(t.Context(), kept, now)
	if err != nil || len(got) != 3 || got["Title"][0].Source != "css=h2.name@own" || got["Poster"][0].Source != "css=#p@src" || got["Genres"][0].Matched < 1 {
		t.Errorf("%v, %v", got, err)
	}
	if again, err := extract.MustCompile[film](extract.Options{}).Suggest(t.Context(), kept, kept); err != nil || len(again) != 0 {
		t.Errorf("%v, %v", again, err)
	}
}

// Of a large page with the text all over no more is tried than a bound allows.
func TestSuggestIsBounded(t *testing.T) {
	t.Parallel()
	growthtest.Linear(t, "suggest", func(size int) string {
		return strings.Repeat("<div class='a b c d e'><p class='f g h' title=x>x</p><b>y</b></div>", size/64) + "<script>S=[" + strings.Repeat(`"y",`, size/8) + "]</script>"
	}, func(page string) {
		if list, err := extract.Suggest(document(page), "x"); err != nil || len(list) == 0 {
			t.Errorf("%v, %v", list, err)
		}
	})
}

// Counts are by field, source and status, whatever the page and the place in a list, and are bounded.
func TestDrift(t *testing.T) {
	t.Parallel()
	type film struct {
		Title string `extract:"css=h1 || css=h2"`
		Cast  []struct {
			Name string `extract:"css=a"`
		} `extract:"css=li"`
	}
	s := extract.MustCompile[film](extract.Options{})
	var drift extract.Drift
	var wait sync.WaitGroup
	for i := range 10 {
		wait.Go(func() {
			_, report, _ := s.Extract(t.Context(), document(fmt.Sprintf("<h%d>T</h%d><li><a>A</a><li>B", i%2+1, i%2+1)))
			drift.Add(report)
		})
	}
	wait.Wait()
	counts := drift.Counts()
	for key, want := range map[extract.DriftKey]int64{
		{"Title", 0, extract.OK}: 5, {"Title", 1, extract.OK}: 5, {"Cast", 0, extract.OK}: 10, {"Cast.Name", 0, extract.OK}: 10, {"Cast.Name", -1, extract.Missing}: 10,
	} {
		if counts[key] != want {
			t.Errorf("%+v: %d, want %d", key, counts[key], want)
		}
	}
	for i := range 10_100 {
		drift.Add(&extract.Report{Fields: []extract.FieldReport{{Path: fmt.Sprint("F", i)}}})
	}
	if n := len(drift.Counts()); n > 10_001 {
		t.Errorf("%d keys", n)
	}
}

func ExampleSuggest() {
	page := extract.NewDocument([]byte(`<main><h2 class="film-name">Alien</h2><p>A film</p></main>`), extract.DocumentOptions{})
	list, err := extract.Suggest(page, "Alien") // what the page gave before the site changed
	fmt.Println(list[0].Source, err)
	// Output: css=h2.film-name@own <nil>
}
