package demosite_test

import (
	"bytes"
	"encoding/base32"
	"encoding/hex"
	"encoding/json"
	"image"
	_ "image/jpeg"
	_ "image/png"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/seine-go/seine/crawler/crawltest/demosite"
)

func readAll(t *testing.T, resp *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func parse(t *testing.T, body string) *html.Node {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// find lists the elements of a tag ("" for any) and class ("" for any).
func find(n *html.Node, tag, class string) (all []*html.Node) {
	for d := range n.Descendants() {
		if d.Type == html.ElementNode && (tag == "" || d.Data == tag) &&
			(class == "" || slices.Contains(strings.Fields(attr(d, "class")), class)) {
			all = append(all, d)
		}
	}
	return all
}

func text(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return strings.TrimSpace(b.String())
}

func texts(nodes []*html.Node) (all []string) {
	for _, n := range nodes {
		all = append(all, text(n))
	}
	return all
}

var voidElements = strings.Fields("area base br col embed hr img input link meta source track wbr")

// TestEveryPageIsValidHTML holds more than a parser asks: every element is closed in its turn, ids are single, one title, one h1.
func TestEveryPageIsValidHTML(t *testing.T) {
	t.Parallel()
	site := demosite.New(demosite.Options{Slow: -1, Trap: true, Films: 20})
	pages := 0
	for _, p := range site.Pages(demosite.Hosts()...) {
		w := ask(site, "GET", p.URL)
		if !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") {
			continue
		}
		pages++
		body := string(decoded(t, p.URL, w.Body.Bytes()))
		if problem := invalid(body); problem != "" {
			t.Errorf("%s: %s", p.URL, problem)
		}
		doc := parse(t, body)
		h1, loading := find(doc, "h1", ""), strings.Contains(p.URL, "/app/")
		if len(h1) != 1 != loading || len(find(doc, "title", "")) != 1 || !strings.HasPrefix(body, "<!DOCTYPE html>") {
			t.Errorf("%s: %d h1, %d titles", p.URL, len(h1), len(find(doc, "title", "")))
		}
		if strings.Contains(body, "ZgotmplZ") || strings.Contains(body, "<no value>") {
			t.Errorf("%s: a template went wrong", p.URL)
		}
		if p.Title != "" && w.Code == p.Status && texts(find(doc, "title", ""))[0] != p.Title {
			t.Errorf("%s: title %q, want %q", p.URL, texts(find(doc, "title", "")), p.Title)
		}
	}
	if pages < 200 {
		t.Errorf("only %d pages looked at", pages)
	}
}

// invalid says what is wrong with a document's tags.
func invalid(body string) string {
	z := html.NewTokenizer(strings.NewReader(body))
	var open []string
	ids := map[string]bool{}
	for {
		switch z.Next() {
		case html.ErrorToken:
			if len(open) > 0 {
				return "not closed: " + strings.Join(open, " ")
			}
			return ""
		case html.StartTagToken:
			token := z.Token()
			for _, a := range token.Attr {
				if a.Key == "id" && ids[a.Val] {
					return "id twice: " + a.Val
				} else if a.Key == "id" {
					ids[a.Val] = true
				}
			}
			if !slices.Contains(voidElements, token.Data) {
				open = append(open, token.Data)
			}
		case html.EndTagToken:
			name := z.Token().Data
			if len(open) == 0 || open[len(open)-1] != name {
				return "closed out of turn: " + name + " in " + strings.Join(open, " ")
			}
			open = open[:len(open)-1]
		}
	}
}

func TestFilmsHaveThreeLayoutsAndJSON(t *testing.T) {
	t.Parallel()
	site := demosite.New(demosite.Options{Seed: 3})
	foreign := 0
	for _, f := range site.Films() {
		doc := parse(t, ask(site, "GET", f.URL).Body.String())
		article := find(doc, "article", "film")[0]
		one := func(tag, class string) *html.Node {
			all := find(article, tag, class)
			if len(all) != 1 {
				t.Fatalf("%s: %d of %s.%s", f.URL, len(all), tag, class)
			}
			return all[0]
		}
		var cast []demosite.Credit
		for i, a := range find(article, "a", "actor") {
			id, _ := strconv.Atoi(attr(a, "href")[strings.LastIndexByte(attr(a, "href"), '/')+1:])
			cast = append(cast, demosite.Credit{ID: id, Name: text(a), URL: attr(a, "href"), Role: texts(find(article, "span", "role"))[i]})
		}
		atoi := func(s string) int {
			n, err := strconv.Atoi(s)
			if err != nil {
				t.Errorf("%s: %v", f.URL, err)
			}
			return n
		}
		rating, _ := strconv.ParseFloat(text(one("span", "rating")), 64)
		got := demosite.Film{
			ID: atoi(attr(article, "data-id")), Title: text(one("h1", "title")), Year: atoi(text(one("span", "year"))),
			Rating: rating, Votes: atoi(attr(one("span", "rating"), "data-votes")), Runtime: atoi(attr(one("span", "runtime"), "data-minutes")),
			Country: text(one("span", "country")), Genres: texts(find(doc, "a", "genre")), Plot: text(one("p", "plot")),
			Director: f.Director, Cast: cast, Poster: attr(one("img", "poster"), "src"), URL: f.URL, Torrents: f.Torrents,
		}
		if d := one("a", "director"); text(d) != f.Director.Name || attr(d, "href") != f.Director.URL {
			t.Errorf("%s: director %s", f.URL, text(d))
		}
		if original := find(article, "p", "original-title"); len(original) == 1 {
			foreign++
			got.OriginalTitle = text(original[0])
		}
		if !reflect.DeepEqual(got, f) {
			t.Errorf("%s: HTML says\n%+v, not\n%+v", f.URL, got, f)
		}
		checkOtherLayouts(t, site, f)
	}
	if foreign == 0 {
		t.Error("no film has an original title")
	}
}

func checkOtherLayouts(t *testing.T, site *demosite.Site, f demosite.Film) {
	t.Helper()
	id := strconv.Itoa(f.ID)
	var fromAPI demosite.Film
	api := ask(site, "GET", site.HostURL(demosite.API)+"api/film/"+id)
	if err := json.Unmarshal(api.Body.Bytes(), &fromAPI); err != nil || !reflect.DeepEqual(fromAPI, f) {
		t.Errorf("film %d: API says %+v (%v)", f.ID, fromAPI, err)
	}
	app := parse(t, ask(site, "GET", site.URL()+"app/film/"+id).Body.String())
	var state struct {
		Props struct{ PageProps struct{ Film demosite.Film } }
	}
	for _, script := range find(app, "script", "") {
		if attr(script, "id") == "__NEXT_DATA__" {
			if err := json.Unmarshal([]byte(script.FirstChild.Data), &state); err != nil {
				t.Error(err)
			}
		}
	}
	if !reflect.DeepEqual(state.Props.PageProps.Film, f) {
		t.Errorf("film %d: state says %+v", f.ID, state)
	}
	if links := find(app, "a", ""); len(links) > 0 {
		t.Errorf("film %d: the empty layout has %d links", f.ID, len(links))
	}
	card := parse(t, ask(site, "GET", site.URL()+"card/"+id).Body.String())
	var movie struct {
		Type     string `json:"@type"`
		Name     string
		Duration string
		Genre    []string
		Director struct{ Name string }
		Actor    []struct{ Name string }
		Rating   struct {
			Value float64 `json:"ratingValue"`
		} `json:"aggregateRating"`
	}
	for _, script := range find(card, "script", "") {
		if err := json.Unmarshal([]byte(script.FirstChild.Data), &movie); err != nil {
			t.Error(err)
		}
	}
	if movie.Type != "Movie" || movie.Name != f.Title || movie.Rating.Value != f.Rating || movie.Director.Name != f.Director.Name ||
		len(movie.Actor) != len(f.Cast) || !slices.Equal(movie.Genre, f.Genres) || movie.Duration != "PT"+strconv.Itoa(f.Runtime)+"M" {
		t.Errorf("film %d: JSON-LD says %+v", f.ID, movie)
	}
	properties := map[string][]string{}
	for n := range card.Descendants() {
		if has(n, "itemprop") {
			properties[attr(n, "itemprop")] = append(properties[attr(n, "itemprop")], text(n))
		}
	}
	if properties["name"][0] != f.Title || properties["description"][0] != f.Plot || !slices.Equal(properties["genre"], f.Genres) ||
		len(properties["actor"]) != len(f.Cast) {
		t.Errorf("film %d: microdata says %v", f.ID, properties)
	}
}

func TestAPIListsLeadFromPageToPage(t *testing.T) {
	t.Parallel()
	site := demosite.New(demosite.Options{Films: 25, PerPage: 10})
	var titles []string
	pages := 0
	for next := site.HostURL(demosite.API) + "api/films"; next != ""; pages++ {
		var list struct {
			Page, Pages, Total int
			Next               *string
			Films              []demosite.Film
		}
		if err := json.Unmarshal(ask(site, "GET", next).Body.Bytes(), &list); err != nil {
			t.Fatal(err)
		}
		for _, f := range list.Films {
			titles = append(titles, f.Title)
		}
		if next = ""; list.Next != nil {
			next = *list.Next
		}
		if list.Page != pages+1 || list.Pages != 3 || list.Total != 25 {
			t.Errorf("page %d says %d of %d, %d in all", pages+1, list.Page, list.Pages, list.Total)
		}
	}
	var want []string
	for _, f := range site.Films() {
		want = append(want, f.Title)
	}
	if pages != 3 || !slices.Equal(titles, want) {
		t.Errorf("%d pages list %q", pages, titles)
	}
	for _, path := range []string{"api/films?page=0", "api/films?page=4", "api/films?page=x", "api/film/0", "api/film/26", "api/film/01", "api/nothing"} {
		w := ask(site, "GET", site.HostURL(demosite.API)+path)
		if w.Code != http.StatusNotFound || !json.Valid(w.Body.Bytes()) {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}

func TestTorrentsMatchTheirMagnets(t *testing.T) {
	t.Parallel()
	site := demosite.New(demosite.Options{Films: 20, PerPage: 20})
	doc := parse(t, ask(site, "GET", site.URL()+"torrents").Body.String())
	links, names := find(doc, "a", "magnet"), texts(find(doc, "td", "name"))
	i, inBase32 := 0, 0
	for _, f := range site.Films() {
		for _, torrent := range f.Torrents {
			magnet, err := url.Parse(attr(links[i], "href"))
			if err != nil || attr(links[i], "href") != torrent.Magnet {
				t.Fatalf("%v: %s is not %s", err, attr(links[i], "href"), torrent.Magnet)
			}
			hash := strings.TrimPrefix(magnet.Query().Get("xt"), "urn:btih:")
			if len(hash) == 32 {
				inBase32++
				b, err := base32.StdEncoding.DecodeString(hash)
				if err != nil {
					t.Error(err)
				}
				hash = hex.EncodeToString(b)
			}
			if hash != torrent.InfoHash || magnet.Query().Get("dn") != torrent.Name || names[i] != torrent.Name ||
				magnet.Query().Get("xl") != strconv.FormatInt(torrent.Size, 10) {
				t.Errorf("%s does not fit %+v", magnet, torrent)
			}
			i++
		}
	}
	if i != len(links) || inBase32 == 0 || inBase32 == i {
		t.Errorf("%d torrents, %d links, %d in base32", i, len(links), inBase32)
	}
}

func TestPostersAreImages(t *testing.T) {
	t.Parallel()
	site := demosite.New(demosite.Options{})
	kinds, seen := map[string]int{}, map[string]bool{}
	for _, f := range site.Films() {
		w := ask(site, "GET", f.Poster)
		img, kind, err := image.Decode(bytes.NewReader(w.Body.Bytes()))
		if err != nil || w.Header().Get("Content-Type") != "image/"+kind || img.Bounds().Dx() != 48 || img.Bounds().Dy() != 72 {
			t.Errorf("%s: %v, a %s as %s", f.Poster, err, kind, w.Header().Get("Content-Type"))
		}
		kinds[kind]++
		if seen[w.Body.String()] {
			t.Errorf("%s is another film's, too", f.Poster)
		}
		seen[w.Body.String()] = true
	}
	if kinds["png"] == 0 || kinds["jpeg"] == 0 {
		t.Errorf("kinds: %v", kinds)
	}
	if w := ask(site, "GET", site.HostURL(demosite.Images)+"poster/1.gif"); w.Code != http.StatusNotFound {
		t.Errorf("a GIF: %d", w.Code)
	}
}

func TestCharsetsAreTheStandards(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		site := demosite.New(demosite.Options{Seed: seed, PerPage: 200, Films: 200})
		for _, p := range site.Pages() {
			if !strings.Contains(p.URL, "/charset/") {
				continue
			}
			w := ask(site, "GET", p.URL)
			body := string(decoded(t, p.URL, w.Body.Bytes()))
			inHeader := strings.Contains(w.Header().Get("Content-Type"), "charset=")
			inMeta := strings.Contains(body, "<meta charset=")
			if inHeader != strings.HasSuffix(p.URL, "/header") || inMeta != strings.HasSuffix(p.URL, "/meta") {
				t.Errorf("%s: declared in header %v, in meta %v", p.URL, inHeader, inMeta)
			}
			country := map[bool]string{true: "China", false: "Russia"}[strings.Contains(p.URL, "/gbk/")]
			var want []string
			for _, f := range site.Films() {
				if f.Country == country {
					want = append(want, f.OriginalTitle)
				}
			}
			if got := texts(find(parse(t, body), "a", "title")); !slices.Equal(got, want) || len(want) == 0 {
				t.Fatalf("%s: %d films %q, want %d %q", p.URL, len(got), got, len(want), want)
			}
		}
	}
}
