package structured_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/seine-go/seine/extract/structured"
)

// References of JSON-LD are resolved as those of Microdata are; what is none, and what the page says itself, stays.
func TestURLsOfJSONLD(t *testing.T) {
	t.Parallel()
	block := `{"@type":"Movie","@id":"#m","name":"/a","url":"../x","sameAs":["/s","https://Other.example"],"schema:image":{"@type":"ImageObject","contentUrl":"i.jpg"},
		"thumbnailUrl":"","director":{"@id":"_:b0"},"actor":{"@id":"https://h/f/7#p"},"logo":{"@id":"/l.png"}}`
	want := map[string]string{
		"@id": "https://h/f/7#m", "name": "/a", "url": "https://h/x", "sameAs": "https://h/s", "image": "https://h/f/i.jpg", "thumbnailUrl": "",
		"director": "", "director.@id": "_:b0", "actor": "P", "logo": "https://h/l.png",
	}
	person := ld(`{"@id":"#p","name":"P"}`)
	d := parse(t, ld(block)+person, structured.Options{URL: "https://h/f/7"})
	for path, text := range want {
		if v, _ := d.Find("Movie." + path); structured.Text(v) != text {
			t.Errorf("%s: %v, want %s", path, v, text)
		}
	}
	if v, _ := d.Find("Movie.sameAs"); !reflect.DeepEqual(v, []any{"https://h/s", "https://Other.example"}) {
		t.Errorf("%v", v)
	}
	var m structured.Movie
	if err := d.Decode(&m); err != nil || m.URL.String() != "https://h/x" || !reflect.DeepEqual(m.Image, []string{"https://h/f/i.jpg"}) {
		t.Errorf("%+v, %v", m, err)
	}
	if text, _ := json.Marshal(d.JSONLD); !strings.Contains(string(text), `"url":"../x"`) {
		t.Errorf("what the page says is changed: %s", text)
	}
	for _, tt := range []struct {
		page, url, want string
	}{
		{`<base href="/b/">` + ld(block), "https://h/f/7", "https://h/x"},
		{`<base href="b/c/">` + ld(block), "https://h/f/7", "https://h/f/b/x"},
		{`<base href="https://o/b/">` + ld(block), "", "https://o/x"},
		{ld(block), "", "../x"},
	} {
		root, err := html.Parse(strings.NewReader(tt.page))
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range []*structured.Data{structured.Read(root, structured.Options{URL: tt.url}), structured.ReadWith(root, []string{block}, structured.Options{URL: tt.url})} {
			if v, _ := d.Find("Movie.url"); v != tt.want {
				t.Errorf("%s of %s: %v, want %s", tt.page[:20], tt.url, v, tt.want)
			}
		}
	}
}

// Value objects, lists and sets are what they hold; a reference to what the page has not says nothing.
func TestValueObjects(t *testing.T) {
	t.Parallel()
	d := parse(t, ld(`{"@type":"Movie","name":{"@value":"Alien","@language":"en"},"actor":{"@list":[{"name":"A"},{"@id":"#b"}]},"genre":{"@set":["x",{"@value":"y"},{"@id":"#g"}]},
		"director":{"@id":"#d"},"datePublished":{"@type":"Date","@value":"1979-05-25"},"duration":{"@value":null},"alternateName":{"@list":[]},"image":[{"@id":"i.jpg"},{"@list":["k.jpg"]}]}`),
		structured.Options{URL: "https://h/"})
	var m structured.Movie
	err := d.Decode(&m)
	if err != nil || m.Name != "Alien" || len(m.Actor) != 2 || m.Actor[0].Name != "A" || !reflect.DeepEqual(m.Genre, []string{"x", "y"}) || m.DatePublished.Year() != 1979 || m.AlternateName != nil || m.Image[0] != "https://h/i.jpg" {
		t.Errorf("%+v, %v", m, err)
	}
	for path, want := range map[string]string{"name": "Alien", "actor": "A", "genre": "x", "director": "", "duration": "", "actor.name": "A"} {
		if v, _ := d.Find("Movie." + path); structured.Text(v) != want {
			t.Errorf("%s: %v", path, v)
		}
	}
	if _, ok := d.Find("Movie.duration"); ok {
		t.Error("null is there")
	}
	var named struct {
		Director string `schema:"director"`
		Year     int    `schema:"director"`
	}
	named.Director = "as it was"
	if err := structured.DecodeObject(d.Objects("Movie")[0], &named); err != nil || named.Director != "as it was" {
		t.Errorf("%+v, %v", named, err)
	}
	if err := d.Decode(new(structured.TVSeries)); !errors.Is(err, structured.ErrNotFound) {
		t.Error(err)
	}
}
