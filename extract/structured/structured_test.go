package structured_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/seine-go/seine/extract/literal"
	"github.com/seine-go/seine/extract/structured"
)

func parse(t testing.TB, page string, o structured.Options) *structured.Data {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	return structured.Read(root, o)
}

func ld(block string) string { return `<script type="application/ld+json">` + block + `</script>` }

// A block that is broken is told, with its place, and costs no other block; nor does what stands before the fault get lost.
func TestBrokenBlockLosesNoOther_K137(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, page string
		movies     int
		broken     []int
	}{
		{"first", ld(`{"@type":`) + ld(`{"@type":"Movie"}`), 1, []int{0}},
		{"middle", ld(`{"@type":"Movie"}`) + ld(`{"@type":"Movie","name":"a" "b"}`) + ld(`{"@type":"Movie"}`), 3, []int{1}},
		{"the second of a list", ld(`[{"@type":"Movie"},{"@type":"Movie" "x":1}]`), 1, []int{0}},
		{"no closing brace", ld(`{"@type":"Movie","name":"A"`), 1, []int{0}},
		{"in the middle of a text", ld(`{"@graph":[{"@type":"Movie"},{"@type":"Movie","name":"A`), 2, []int{0}},
		{"no value", ld(`{"aggregateRating":{"ratingValue":,"n":},"@type":"Movie"}`), 1, []int{0}},
		{"all", ld(`}`) + ld(`<x/>`), 0, []int{0, 1}},
		{"none", ld(`{"@type":"Movie"}`) + ld(``), 1, nil},
		{"half a block", ld(`{"@type":"Movie"} {"@type":`), 1, []int{0}},
		{"entities", ld(`{&quot;@type&quot;:&quot;Movie&quot;}`), 1, nil},
		{"broken markup around", `<div><p><script type="application/ld+json">{"@type":"Movie"}</script></table></div></p><unknown`, 1, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := parse(t, tt.page, structured.Options{})
			var broken []int
			for _, err := range d.Errors {
				var block *structured.BlockError
				var syntax *literal.SyntaxError
				if !errors.As(err, &block) || !errors.As(err, &syntax) {
					t.Fatal(err)
				}
				broken = append(broken, block.Block)
			}
			if n := len(d.Objects("Movie")); n != tt.movies || !reflect.DeepEqual(broken, tt.broken) {
				t.Errorf("%d movies, blocks %v broken; want %d, %v", n, broken, tt.movies, tt.broken)
			}
		})
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	d := parse(t, ld(`{"@context":"https://schema.org","@graph":[{"@type":"Movie","name":"A","director":{"@id":"#d"},"actor":[{"@id":"#d"},"Eve"]},
		{"@type":"Person","@id":"#d","name":"Dee","birthPlace":{"@id":"#x"}},{"@id":"#x","@type":"Place","name":"X","film":{"@id":"#d"}}]}`)+
		ld(`{"@type":["http://schema.org/WebPage"],"mainEntity":{"@type":"schema:Book","schema:isbn":12}}`)+
		`<div itemscope itemtype="https://schema.org/Movie"><i itemprop=name>B</i><i itemprop=genre>x</i><i itemprop=genre>y</i></div>`+
		`<div vocab="https://schema.org/" typeof="Game"><i property=name>G</i></div>`, structured.Options{URL: "https://h/"})
	for path, want := range map[string]string{
		"Movie.name": "A", "Movie.director": "Dee", "Movie.director.birthPlace": "X", "Movie.director.birthPlace.film": "Dee", "Movie.actor.name": "Dee", "Movie.genre": "",
		"Book.isbn": "12", "WebPage.mainEntity.isbn": "12", "Game.name": "G", "*.isbn": "12", "Movie.none": "", "None.name": "",
	} {
		if v, ok := d.Find(path); structured.Text(v) != want || ok != (want != "") {
			t.Errorf("%s: %v, %t; want %s", path, v, ok, want)
		}
	}
	if _, err := json.Marshal(d.JSONLD); err != nil {
		t.Errorf("what the page says leads in circles: %v", err)
	}
}

// Items that refer to each other end; what would be exponential is refused.
func TestItemrefEnds(t *testing.T) {
	t.Parallel()
	d := parse(t, `<div itemscope itemref=b id=a itemprop=x></div><div itemscope itemref="c"></div><div id=c><b itemprop=y itemscope itemref=c></b></div>`, structured.Options{})
	text, err := json.Marshal(d.Microdata)
	if err != nil || !strings.Contains(string(text), "ERROR") {
		t.Errorf("%s, %v", text, err)
	}
	var page strings.Builder
	page.WriteString(`<div itemscope itemref="a0 b0"></div>`)
	for i := range 60 {
		fmt.Fprintf(&page, `<div id=a%d><p itemprop=x itemscope itemref="a%d b%d"></p></div><div id=b%d><p itemprop=x itemscope itemref="a%d b%d"></p></div>`, i, i+1, i+1, i, i+1, i+1)
	}
	var limit *structured.LimitError
	if d = parse(t, page.String(), structured.Options{}); !errors.As(errors.Join(d.Errors...), &limit) {
		t.Errorf("no bound: %v", d.Errors)
	}
}

func TestBounds(t *testing.T) {
	t.Parallel()
	d := parse(t, ld(`[[1]]`)+ld(`[1]`), structured.Options{Limits: structured.Limits{Depth: 1}})
	var limit *structured.LimitError
	if len(d.JSONLD) != 1 || !errors.As(errors.Join(d.Errors...), &limit) || limit.What != "depth" {
		t.Errorf("%v, %v", d.JSONLD, d.Errors)
	}
	many := `<div itemscope>` + strings.Repeat(`<i itemprop=a>x</i>`, 100) + `</div>`
	if d = parse(t, many, structured.Options{Limits: structured.Limits{Nodes: 50}}); !errors.As(errors.Join(d.Errors...), &limit) || limit.What != "nodes" {
		t.Errorf("%v", d.Errors)
	}
	if d = parse(t, many, structured.Options{}); len(d.Errors) > 0 || len(d.Microdata[0].Properties["a"]) != 100 {
		t.Errorf("%v", d.Errors)
	}
	island := `{"@type":"Movie","x":[` + strings.Repeat(`"0123456789",`, 4<<20) + `1]}`
	if _, err := structured.Block([]byte(island), structured.Limits{}); !errors.As(err, &limit) || limit.What != "bytes" {
		t.Errorf("%v", err)
	}
}

func TestDecodeAndMarshal(t *testing.T) {
	t.Parallel()
	d := parse(t, ld(`{"@type":"Movie","name":"The Matrix","datePublished":"1999-03-31","duration":"PT2H16M","genre":"Action","director":[{"@type":"Person","name":"L"},"W"],
		"image":{"@type":"ImageObject","url":"https://h/p.jpg"},"aggregateRating":{"ratingValue":"8.7","ratingCount":"1,900,000"},"url":"https://h/1","countryOfOrigin":{"@type":"Country","name":"USA"}}`), structured.Options{})
	var m structured.Movie
	if err := d.Decode(&m); err != nil {
		t.Fatal(err)
	}
	if m.Name != "The Matrix" || m.Duration != 136*time.Minute || m.DatePublished.Year() != 1999 || len(m.Director) != 2 || m.Director[1].Name != "W" ||
		m.Rating.Value != 8.7 || m.Rating.Count != 1900000 || m.URL.Host != "h" || m.Genre[0] != "Action" || m.Image[0] != "https://h/p.jpg" || m.Country[0] != "USA" {
		t.Errorf("%+v", m)
	}
	text, err := structured.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var again structured.Movie
	if err := parse(t, ld(string(text)), structured.Options{}).Decode(&again); err != nil || !reflect.DeepEqual(m, again) {
		t.Errorf("%s\n%+v, %v", text, again, err)
	}
	var series structured.TVSeries
	if err := d.Decode(&series); !errors.Is(err, structured.ErrNotFound) {
		t.Errorf("%v", err)
	}
	var field *structured.FieldError
	err = structured.DecodeObject(map[string]any{"name": "S", "numberOfSeasons": "many", "actor": []any{map[string]any{"birthDate": "?", "name": "A"}}}, &series)
	if !errors.As(err, &field) || series.Name != "S" || series.Actor[0].Name != "A" || !strings.Contains(err.Error(), "Actor[0].BirthDate") {
		t.Errorf("%v, %+v", err, series)
	}
	if err := structured.DecodeObject(nil, series); err == nil {
		t.Error("no pointer, no error")
	}
}

func FuzzRead(f *testing.F) {
	f.Add(ld(`{"@graph":[{"@id":"a","x":{"@id":"a"}}]}`) + `<div itemscope itemref="a b"><p id=a itemprop="x y" itemscope itemref=a>`)
	f.Add(`<body vocab=v: prefix="a: b c: d"><p typeof="T a:U" property="x a:y" resource=[a:b]><base href=//x><meta property=og:image content=/a>`)
	f.Fuzz(func(t *testing.T, page string) {
		root, err := html.Parse(strings.NewReader(page))
		if err != nil {
			return
		}
		d := structured.Read(root, structured.Options{URL: "https://h/", Limits: structured.Limits{Nodes: 10_000}})
		for _, o := range d.Objects("") {
			_ = structured.Text(o)
		}
		_, _ = d.Find("*.name")
		var m structured.Movie
		_ = d.Decode(&m)
		if _, err := json.Marshal([]any{d.JSONLD, d.Microdata, d.RDFa}); err != nil {
			t.Fatal(err)
		}
	})
}

func ExampleRead() {
	root, _ := html.Parse(strings.NewReader(`<meta property="og:title" content="The Matrix (1999)">
		<script type="application/ld+json">{"@type": "Movie", "name": "The Matrix", "director": {"name": "Lana Wachowski"},}</script>`))
	data := structured.Read(root, structured.Options{URL: "https://films.example/7"})
	director, _ := data.Find("Movie.director")
	fmt.Println(structured.Text(director), data.Content("og:title"))
	// Output: Lana Wachowski [The Matrix (1999)]
}

func ExampleData_Decode() {
	root, _ := html.Parse(strings.NewReader(`<div itemscope itemtype="https://schema.org/Movie"><h1 itemprop="name">Alien</h1>
		<time itemprop="duration" datetime="PT1H57M">117 minutes</time></div>`))
	var film structured.Movie
	err := structured.Read(root, structured.Options{}).Decode(&film)
	fmt.Println(film.Name, film.Duration, err)
	// Output: Alien 1h57m0s <nil>
}

func ExampleMarshal() {
	text, err := structured.Marshal(structured.Movie{Name: "Alien", Duration: 117 * time.Minute, Genre: []string{"Horror"}})
	fmt.Println(string(text), err)
	// Output: {"@context":"https://schema.org","@type":"Movie","name":"Alien","duration":"PT1H57M","genre":["Horror"]} <nil>
}

// Types and names of schema.org are known however pages write them.
func TestNamesOfSchemaOrg(t *testing.T) {
	t.Parallel()
	for _, block := range []string{
		`{"@type":"http://www.schema.org/Movie","name":"A"}`,
		`{"@type":"movie","name":"A"}`,
		`{"@context":{"s":"https://schema.org/"},"@type":"s:Movie","s:name":"A"}`,
		`{"@context":["https://schema.org",{"type":"@type","title":"https://schema.org/name"}],"type":"Movie","title":"A"}`,
		`{"@context":{"s":"http://schema.org/","k":{"@id":"s:name"},"n":{"@id":"schema:name"}},"@graph":[{"@type":["x:y","s:Movie"],"n":"A"}]}`,
		`{"@context":"https://schema.org","@id":"x","@type":"WebPage","@graph":[{"@type":"Movie","name":"A"},{"@type":"Movie","name":"B"}]}`,
	} {
		d := parse(t, ld(block), structured.Options{})
		if v, ok := d.Find("Movie.name"); !ok || v != "A" {
			t.Errorf("%s: %v, %v", block, v, d.Errors)
		}
		if _, ok := d.Find("Book.name"); ok || len(d.JSONLD) != 1 {
			t.Errorf("%s: a book", block)
		}
	}
}

// Lists of references to each other have no more values than there are objects.
func TestLookupOfReferencesInCircles(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 100 {
		fmt.Fprintf(&b, `{"@type":"Movie","@id":"%d","name":"M","like":[`, i)
		for k := range 100 {
			fmt.Fprintf(&b, `{"@id":"%d"},`, k)
		}
		b.WriteString(`]},`)
	}
	d := parse(t, ld(`{"@graph":[`+b.String()+`]}`), structured.Options{})
	if n := len(d.FindAll("Movie.like.like.like.like.like.like.like.like.name")); n != 100 {
		t.Errorf("%d names", n)
	}
}
