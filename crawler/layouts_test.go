package crawler_test

import (
	"fmt"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/seine-go/seine/crawler/crawltest/demosite"
	"github.com/seine-go/seine/extract"
	"github.com/seine-go/seine/torrent"
)

// laid is a film of the demo site in whatever layout: each field has two sources for the server's HTML, for the state of the
// application, for the JSON of the API, and for the card with structured data.
type laid struct {
	Title    string   `extract:"css=h1.title || xpath=//article[@data-id]//h1 || state=__NEXT_DATA__$.props.pageProps.film.title || state=$.props.pageProps.film['title','name'] || json=$.title || json=$['title','name'] || ld=Movie.name || og=title ; required"`
	Year     int      `extract:"css=span.year || xpath=//dt[.='Year']/following-sibling::dd[1] || state=__NEXT_DATA__$.props.pageProps.film.year || state=$.props.pageProps.film['year','y'] || json=$.year || json=$['year','y'] || ld=Movie.datePublished || css=time[itemprop=datePublished]@datetime ; required"`
	Rating   float64  `extract:"css=.rating || xpath=//dt[.='Rating']/following-sibling::dd[1]/span[1] || state=__NEXT_DATA__$.props.pageProps.film.rating || state=$.props.pageProps.film['rating','r'] || json=$.rating || json=$['rating','r'] || ld=Movie.aggregateRating.ratingValue || css=[itemprop=ratingValue] ; min=1 ; max=10"`
	Minutes  int      `extract:"css=.runtime@data-minutes || css=.runtime || state=__NEXT_DATA__$.props.pageProps.film.runtime || state=$.props.pageProps.film['runtime','r'] || json=$.runtime || json=$['runtime','r'] || ld=Movie.duration || css=time[itemprop=duration]@datetime ; unit=minutes"`
	Country  string   `extract:"css=.country || xpath=//dt[.='Country']/following-sibling::dd[1] || state=__NEXT_DATA__$.props.pageProps.film.country || state=$.props.pageProps.film['country','c'] || json=$.country || json=$['country','c'] || ld=Movie.countryOfOrigin || css=[itemprop=countryOfOrigin] [itemprop=name]"`
	Director string   `extract:"css=a.director || xpath=//dt[.='Director']/following-sibling::dd[1]/a || state=__NEXT_DATA__$.props.pageProps.film.director.name || state=$.props.pageProps.film.director['name','n'] || json=$.director.name || json=$.director['name','n'] || ld=Movie.director || css=[itemprop=director] [itemprop=name]"`
	Genres   []string `extract:"css=ul.genres a.genre || css=ul.genres li || state=__NEXT_DATA__$.props.pageProps.film.genres || state=$.props.pageProps.film['genres','g'] || json=$.genres || json=$['genres','g'] || ld=Movie.genre || css=[itemprop=genre]"`
	Plot     string   `extract:"css=p.plot || css=#plot || state=__NEXT_DATA__$.props.pageProps.film.plot || state=$.props.pageProps.film['plot','p'] || json=$.plot || json=$['plot','p'] || ld=Movie.description || css=[itemprop=description]"`
}

func recordOf(f demosite.Film) laid {
	return laid{f.Title, f.Year, f.Rating, f.Runtime, f.Country, f.Director.Name, f.Genres, f.Plot}
}

// gone is a source as it is after a site has changed: it finds nothing.
func gone(source string) string {
	switch kind, expr, _ := strings.Cut(source, "="); kind {
	case "css":
		return "css=.gone " + expr
	case "xpath":
		return "xpath=//gone" + expr
	case "state", "json":
		i := strings.Index(expr, "$")
		return kind + "=" + expr[:i+1] + ".gone" + expr[i+1:]
	default:
		return kind + "=Gone." + expr
	}
}

// One declaration gives the same records in three layouts, and a card besides, whichever source of a field breaks; the
// report names the one that stood in.
func TestOneDeclarationForAllLayouts(t *testing.T) {
	t.Parallel()
	site := demosite.New(demosite.Options{Films: 24})
	defer site.Close()
	get := func(url string) *extract.Document {
		w := httptest.NewRecorder()
		r := httptest.NewRequest("GET", url, nil)
		site.Handler().ServeHTTP(w, r)
		return extract.NewDocument(w.Body.Bytes(), extract.DocumentOptions{URL: url, Header: w.Header()})
	}
	intact := extract.MustCompile[laid](extract.Options{})
	typ := reflect.TypeFor[laid]()
	layouts := []struct{ name, path string }{
		{"server", site.HostURL(demosite.Catalogue) + "film/%d"},
		{"application", site.HostURL(demosite.Catalogue) + "app/film/%d"},
		{"api", site.HostURL(demosite.API) + "api/film/%d"},
		{"card", site.HostURL(demosite.Catalogue) + "card/%d"},
	}
	records, breaks := 0, 0
	for _, layout := range layouts {
		schemas := map[string]*extract.Schema[laid]{} // by the field that is broken
		for _, film := range site.Films() {
			doc := get(fmt.Sprintf(layout.path, film.ID))
			got, report, err := intact.Extract(t.Context(), doc)
			if want := recordOf(film); err != nil || !reflect.DeepEqual(got, want) {
				t.Fatalf("%s %d: %+v, want %+v: %v", layout.name, film.ID, got, want, err)
			}
			records++
			for i := range typ.NumField() {
				f := typ.Field(i)
				hit, _ := report.Field(f.Name)
				key := fmt.Sprint(f.Name, hit.Source)
				if schemas[key] == nil {
					tag := strings.Replace(f.Tag.Get("extract"), hit.Source, gone(hit.Source), 1)
					schemas[key] = extract.MustCompile[laid](extract.Options{Rules: extract.Rules{f.Name: {Tag: tag}}})
				}
				again, after, err := schemas[key].Extract(t.Context(), doc)
				fallback, _ := after.Field(f.Name)
				if err != nil || !reflect.DeepEqual(again, got) || fallback.SourceIndex <= hit.SourceIndex || fallback.Status != extract.OK {
					t.Errorf("%s %d, %s broken: %+v, %+v, %v", layout.name, film.ID, hit.Source, again, fallback, err)
				}
				breaks++
			}
		}
	}
	if !t.Failed() {
		fmt.Printf("shown extraction.2: %d records of %d layouts by one declaration, each as the site knows it; the first source of a field broken %d times, a fallback named each time\n", records, len(layouts), breaks)
	}
}

// Magnet links become torrent.Magnet by their UnmarshalText.
func TestMagnetsOfATorrentList(t *testing.T) {
	t.Parallel()
	site := demosite.New(demosite.Options{Films: 6})
	defer site.Close()
	url := site.HostURL(demosite.Catalogue) + "torrents"
	w := httptest.NewRecorder()
	site.Handler().ServeHTTP(w, httptest.NewRequest("GET", url, nil))
	type page struct {
		Magnets []torrent.Magnet `extract:"magnet=magnet ; required"`
		Rows    []struct {
			Name   string          `extract:"css=td.name"`
			Size   int64           `extract:"css=td.size@data-bytes"`
			Magnet *torrent.Magnet `extract:"magnet="`
		} `extract:"css=tr.torrent"`
	}
	got, err := extract.From[page](extract.NewDocument(w.Body.Bytes(), extract.DocumentOptions{URL: url, Header: w.Header()}))
	if err != nil || len(got.Magnets) == 0 || len(got.Rows) != len(got.Magnets) {
		t.Fatalf("%d, %d, %v", len(got.Magnets), len(got.Rows), err)
	}
	for i, row := range got.Rows {
		if row.Name == "" || row.Size == 0 || row.Magnet == nil || row.Magnet.String() != got.Magnets[i].String() {
			t.Errorf("%+v", row)
		}
	}
}
