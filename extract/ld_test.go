package extract_test

import (
	"fmt"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"github.com/seine-go/seine/extract"
)

func jsonLD(block string) string {
	return `<script type="application/ld+json">` + block + `</script>`
}

// names are the names that Each finds.
func names(t *testing.T, page, scope string) (found []string) {
	t.Helper()
	type thing struct {
		Name string `extract:"ld=name || ld=Movie.name || ld=Person.name"`
	}
	for v, report := range extract.MustCompile[thing](extract.Options{}).Each(t.Context(), document(page), scope) {
		if report.Err != nil {
			t.Error(report.Err)
		}
		found = append(found, v.Name)
	}
	return found
}

// Lists have all values of structured data, as they have all of what selectors find.
func TestStructuredDataGivesAllValues(t *testing.T) {
	t.Parallel()
	type person struct {
		Name string `extract:"ld=name"`
	}
	type film struct {
		Names     []string          `extract:"ld=Movie[*].name"`
		Directors []string          `extract:"ld=Movie.director.name"`
		People    []person          `extract:"ld=Movie.director"`
		Movies    []person          `extract:"ld=Movie"`
		Items     []person          `extract:"ld=ItemList.itemListElement.item"`
		Joined    string            `extract:"ld=Movie.director.name ; join=', '"`
		First     string            `extract:"ld=Movie.director.name"`
		Last      string            `extract:"ld=Movie.director.name ; last"`
		ByName    map[string]person `extract:"ld=Movie ; key=ld=name"`
		Anything  any               `extract:"ld=Movie.director"`
	}
	two := `{"@type":"Movie","name":"M","director":[{"@type":"Person","name":"A"},{"@type":"Person","name":"B"}]}`
	v, err := extract.From[film](document(jsonLD(two)))
	if err != nil || !reflect.DeepEqual(v.Directors, []string{"A", "B"}) || len(v.People) != 2 || v.Joined != "A, B" || v.First != "A" || v.Last != "B" || len(v.Anything.([]any)) != 2 {
		t.Errorf("%+v, %v", v, err)
	}
	apart := jsonLD(`{"@type":"Movie","name":"M"}`) + jsonLD(`[{"@type":"Movie","name":"N"},{"@graph":[{"@type":["Thing","Movie"],"name":"O"}]}]`)
	if v, err = extract.From[film](document(apart)); err != nil || !reflect.DeepEqual(v.Names, []string{"M", "N", "O"}) || len(v.Movies) != 3 || v.Movies[2].Name != "O" || len(v.ByName) != 3 {
		t.Errorf("%+v, %v", v, err)
	}
	list := jsonLD(`{"@type":"ItemList","itemListElement":[{"@type":"ListItem","item":{"@type":"Movie","name":"M"}},{"@type":"ListItem","item":{"@type":"Movie","name":"N"}}]}`)
	if v, err = extract.From[film](document(list)); err != nil || len(v.Items) != 2 || len(v.Movies) != 2 || v.Items[1].Name != "N" {
		t.Errorf("%+v, %v", v, err)
	}
	// What a film is like is not the film.
	alike := jsonLD(`{"@type":"Movie","name":"M","isRelatedTo":{"@type":"Movie","name":"N"}}`) + list
	if v, err = extract.From[film](document(alike)); err != nil || !reflect.DeepEqual(v.Names, []string{"M"}) {
		t.Errorf("%+v, %v", v, err)
	}
	micro := strings.Repeat(`<div itemscope itemtype="https://schema.org/Movie"><i itemprop=name>M</i></div>`, 3)
	if v, err = extract.From[film](document(micro)); err != nil || len(v.Names) != 3 || len(v.Movies) != 3 {
		t.Errorf("%+v, %v", v, err)
	}
	for _, page := range []string{apart, micro} {
		if got := names(t, page, "ld=Movie"); len(got) != 3 || got[0] != "M" {
			t.Errorf("%v", got)
		}
	}
}

// In an element only what lies in it counts.
func TestStructuredDataOfAnElement(t *testing.T) {
	t.Parallel()
	movie := func(name string) string {
		return `<li itemscope itemtype="https://schema.org/Movie"><b itemprop=name>` + name + `</b><i itemprop=director itemscope itemtype="https://schema.org/Person"><u itemprop=name>D` + name + `</u></i></li>`
	}
	for _, tt := range []struct{ page, scope, want string }{
		{`<ul>` + movie("A") + movie("B") + `</ul>`, "css=li", "A B"},
		{`<ul>` + movie("A") + movie("B") + `</ul>`, "css=[itemprop=director]", "DA DB"},
		{`<ul>` + movie("A") + `<li>none</li></ul>`, "css=li", "A "},
		{`<ul vocab="https://schema.org/"><li typeof=Movie><b property=name>A</b></li><li typeof=Movie><b property=name>B</b></li></ul>`, "css=li", "A B"},
		{`<ul prefix="x: https://schema.org/"><li typeof=x:Movie><b property=x:name>A</b></li></ul>`, "css=li", "A"},
		{`<p>` + jsonLD(`{"@type":"Movie","name":"A"}`) + `</p><p>` + jsonLD(`{"@type":"Movie","name":"B"}`) + `</p>`, "css=p", "A B"},
		{jsonLD(`{"@type":"Movie","name":"A"}`) + `<p></p>`, "css=html || css=p", "A"},
	} {
		if got := strings.Join(names(t, tt.page, tt.scope), " "); got != tt.want {
			t.Errorf("%s of %s: %q, want %q", tt.scope, tt.page, got, tt.want)
		}
	}
}

// Faults in the data of elements are told as those of the page are.
func TestFaultsOfElementsAreTold(t *testing.T) {
	t.Parallel()
	type thing struct {
		Name string `extract:"ld=Movie.name"`
	}
	for _, report := range extract.MustCompile[thing](extract.Options{}).Each(t.Context(), document(`<p>`+jsonLD(`{"@type":`)+`</p>`), "css=p") {
		if len(report.Faults) != 1 {
			t.Errorf("%v", report.Faults)
		}
	}
}

// References of JSON-LD are resolved against the page and its base, with and without a tree.
func TestURLsOfJSONLDAreResolved(t *testing.T) {
	t.Parallel()
	type film struct {
		URL    string   `extract:"ld=Movie.url"`
		Typed  *url.URL `extract:"ld=Movie.url"`
		Images []string `extract:"ld=Movie.image ; url"`
		ID     string   `extract:"ld=Movie.@id"`
	}
	block := jsonLD(`{"@type":"Movie","@id":"#m","url":"/f/7","image":["a.jpg",{"@type":"ImageObject","url":"b.jpg"}]}`)
	for _, tt := range []struct{ page, want string }{
		{block, "https://h/f/7 https://h/f/7 [https://h/list/a.jpg https://h/list/b.jpg] https://h/list/x#m"},
		{`<BASE href="//cdn/x/">` + block, "https://cdn/f/7 https://cdn/f/7 [https://cdn/x/a.jpg https://cdn/x/b.jpg] https://cdn/x/#m"},
		{`<div itemscope><base href="/x/y">` + block, "https://h/f/7 https://h/f/7 [https://h/x/a.jpg https://h/x/b.jpg] https://h/x/y#m"},
	} {
		for _, schema := range []string{"", "css=html"} {
			var got []film
			var err error
			if schema == "" {
				var v film
				v, err = extract.From[film](document(tt.page))
				got = append(got, v)
			} else {
				for v, report := range extract.MustCompile[film](extract.Options{}).Each(t.Context(), document(tt.page), schema) {
					got, err = append(got, v), report.Err
				}
			}
			if v := got[0]; err != nil || fmt.Sprint(v.URL, " ", v.Typed, " ", v.Images, " ", v.ID) != tt.want {
				t.Errorf("%s: %+v, %v", tt.page, v, err)
			}
		}
	}
}

// Lists and values of JSON-LD are what they hold, and what a page only refers to has no name.
func TestValueObjectsOfJSONLD(t *testing.T) {
	t.Parallel()
	type film struct {
		Name      string   `extract:"ld=Movie.name"`
		Actors    []string `extract:"ld=Movie.actor"`
		Director  string   `extract:"ld=Movie.director || css=b"`
		Directors []string `extract:"ld=Movie.director"`
	}
	v, report, err := extract.MustCompile[film](extract.Options{}).Extract(t.Context(), document(`<b>D</b>`+
		jsonLD(`{"@type":"Movie","name":{"@value":"Alien","@language":"en"},"actor":{"@list":[{"name":"A"},{"@id":"#b"},"C"]},"director":{"@id":"#d"}}`)))
	if err != nil || v.Name != "Alien" || !reflect.DeepEqual(v.Actors, []string{"A", "C"}) || v.Director != "D" || v.Directors != nil {
		t.Errorf("%+v, %v", v, err)
	}
	if f, _ := report.Field("Directors"); f.Status != extract.Missing {
		t.Errorf("%v", f)
	}
}
