package demosite

import (
	"fmt"
	"html/template"
	"net/http"
	"strings"
)

// torrentLine is a line of the torrent list.
type torrentLine struct {
	Film int
	Torrent
	SizeText string
	Href     template.URL
}

func (s *Site) catalogueHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /", s.notFound)
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		s.html(w, r, "home", view{Title: homeTitle, Data: s.listItems(window(s, s.listings[0].films, 1))})
	})
	for _, l := range s.listings {
		mux.HandleFunc("GET "+l.path, s.serveListing)
	}
	mux.HandleFunc("GET /genres", s.serveIndex("/genre/", genresTitle))
	mux.HandleFunc("GET /years", s.serveIndex("/year/", yearsTitle))
	mux.HandleFunc("GET /film/{id}", s.serveFilm("film"))
	mux.HandleFunc("GET /app/film/{id}", s.serveFilm("app"))
	mux.HandleFunc("GET /card/{id}", s.serveFilm("card"))
	mux.HandleFunc("GET /torrents", s.serveTorrents)

	s.routeLab(mux)
	s.routeRedirects(mux)
	s.routeErrors(mux)
	s.routeSlow(mux)
	s.routeCharsets(mux)
	s.routeMembers(mux)
	s.routeDiscovery(mux)
	mux.HandleFunc("GET /calendar/{year}/{month}", s.serveCalendar)
	return mux
}

const (
	homeTitle     = "Film catalogue"
	genresTitle   = "Genres"
	yearsTitle    = "Years"
	torrentsTitle = "Torrents"
	appTitle      = "Loading film"
)

// listItem is a film in a list.
type listItem struct {
	Path, Title string
	Year        int
}

// listItems describes films for a list. Every fifth link has a fragment: it is the same page.
func (s *Site) listItems(ids []int) []listItem {
	items := make([]listItem, len(ids))
	for i, id := range ids {
		f := s.films[id-1]
		items[i] = listItem{filmPath(id), f.Title, f.Year}
		if id%5 == 0 {
			items[i].Path += "#plot"
		}
	}
	return items
}

func (s *Site) serveListing(w http.ResponseWriter, r *http.Request) {
	l := s.byPath[r.URL.Path]
	query := r.URL.Query()
	page, ok := s.pageOf(query, len(l.films))
	if !ok {
		s.notFound(w, r)
		return
	}
	v := view{Title: pageTitle(l.title, page)}
	if page > 1 {
		v.Prev = pagePath(l.path, page-1)
	}
	if page < s.pages(len(l.films)) {
		v.Next = pagePath(l.path, page+1)
	}
	v.Data = struct {
		Path  string
		Films []listItem
	}{l.path, s.listItems(window(s, s.sorted(l.films, query.Get("sort")), page))}
	s.html(w, r, "list", v)
}

// serveIndex lists the listings under a path.
func (s *Site) serveIndex(prefix, title string) http.HandlerFunc {
	type line struct {
		Path, Title string
		Films       int
	}
	var lines []line
	for _, l := range s.listings {
		if strings.HasPrefix(l.path, prefix) {
			lines = append(lines, line{l.path, l.title, len(l.films)})
		}
	}
	return func(w http.ResponseWriter, r *http.Request) {
		s.html(w, r, "index", view{Title: title, Data: lines})
	}
}

// serveFilm serves one layout of films.
func (s *Site) serveFilm(layout string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		id, ok := idOf(r.PathValue("id"), len(s.films))
		if !ok {
			s.notFound(w, r)
			return
		}
		f := s.film(id)
		v := view{Title: f.Title, Canonical: f.URL, Data: s.filmData(f)}
		if layout == "app" {
			v.Title = appTitle
		}
		s.content(w, r, "text/html; charset=utf-8", changed(s.opts.Seed, id), s.render(layout, v))
	}
}

// filmData is what the templates of a film are given.
func (s *Site) filmData(f Film) any {
	type genre struct{ Name, URL string }
	var genres []genre
	for _, g := range f.Genres {
		genres = append(genres, genre{g, s.at(Catalogue, genrePath(g))})
	}
	return struct {
		Film
		GenreLinks       []genre
		YearURL          string
		App, Card, API   string
		Length           string
		Duration         string // ISO 8601
		State, Structure template.JS
	}{
		Film: f, GenreLinks: genres, YearURL: s.at(Catalogue, yearPath(f.Year)),
		App: s.at(Catalogue, "/app"+filmPath(f.ID)), Card: s.at(Catalogue, cardPath(f.ID)), API: s.at(API, apiFilmPath(f.ID)),
		Length: fmt.Sprintf("%d h %02d min", f.Runtime/60, f.Runtime%60), Duration: fmt.Sprintf("PT%dM", f.Runtime),
		State: template.JS(marshal(map[string]any{ // our own JSON, escaped for HTML
			"props": map[string]any{"pageProps": map[string]any{"film": f}},
			"page":  "/app/film/[id]", "query": map[string]string{"id": fmt.Sprint(f.ID)}, "buildId": "demo",
		})),
		Structure: template.JS(marshal(movie(f))),
	}
}

func cardPath(id int) string { return fmt.Sprintf("/card/%d", id) }

// movie is a film in the words of schema.org.
func movie(f Film) any {
	type object map[string]any
	var actors []object
	for _, c := range f.Cast {
		actors = append(actors, object{"@type": "Person", "name": c.Name, "url": c.URL})
	}
	return object{
		"@context": "https://schema.org", "@type": "Movie", "@id": f.URL, "url": f.URL,
		"name": f.Title, "datePublished": fmt.Sprint(f.Year), "description": f.Plot, "image": f.Poster,
		"genre": f.Genres, "duration": fmt.Sprintf("PT%dM", f.Runtime),
		"countryOfOrigin": object{"@type": "Country", "name": f.Country},
		"director":        object{"@type": "Person", "name": f.Director.Name, "url": f.Director.URL},
		"actor":           actors,
		"aggregateRating": object{"@type": "AggregateRating", "ratingValue": f.Rating, "bestRating": 10, "ratingCount": f.Votes},
	}
}

func (s *Site) serveTorrents(w http.ResponseWriter, r *http.Request) {
	page, ok := s.pageOf(r.URL.Query(), len(s.films))
	if !ok {
		s.notFound(w, r)
		return
	}
	v := view{Title: pageTitle(torrentsTitle, page)}
	if page > 1 {
		v.Prev = pagePath("/torrents", page-1)
	}
	if page < s.pages(len(s.films)) {
		v.Next = pagePath("/torrents", page+1)
	}
	var lines []torrentLine
	for _, f := range window(s, s.films, page) {
		for _, t := range f.Torrents {
			lines = append(lines, torrentLine{f.ID, t, fmt.Sprintf("%.1f GiB", float64(t.Size)/(1<<30)), template.URL(t.Magnet)}) // our own magnet link
		}
	}
	v.Data = lines
	s.html(w, r, "torrents", v)
}
