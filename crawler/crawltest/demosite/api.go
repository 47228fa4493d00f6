package demosite

import (
	"fmt"
	"net/http"
)

const apiTitle = "Film API"

func (s *Site) apiHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /", s.apiNotFound)
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		var paths []string
		for page := 1; page <= s.pages(len(s.films)); page++ {
			paths = append(paths, apiListPath(page))
		}
		s.html(w, r, "api", view{Title: apiTitle, Data: paths})
	})
	mux.HandleFunc("GET /api/films", s.serveAPIList)
	mux.HandleFunc("GET /api/film/{id}", func(w http.ResponseWriter, r *http.Request) {
		id, ok := idOf(r.PathValue("id"), len(s.films))
		if !ok {
			s.apiNotFound(w, r)
			return
		}
		s.sendJSON(w, r, changed(s.opts.Seed, id), s.film(id))
	})
	mux.HandleFunc("GET /robots.txt", s.serveRobots(func() string {
		return "User-agent: *\nDisallow: /api/internal/\n\nUser-agent: greedybot\nDisallow: /\n"
	}))
	return mux
}

// apiListPath is the path of a page of the list; here the first has its number, too.
func apiListPath(page int) string { return fmt.Sprintf("/api/films?page=%d", page) }

func apiFilmPath(id int) string { return fmt.Sprintf("/api/film/%d", id) }

func (s *Site) serveAPIList(w http.ResponseWriter, r *http.Request) {
	page, ok := s.pageOf(r.URL.Query(), len(s.films))
	if !ok {
		s.apiNotFound(w, r)
		return
	}
	type film struct {
		ID    int    `json:"id"`
		Title string `json:"title"`
		Year  int    `json:"year"`
		URL   string `json:"url"`
		API   string `json:"api"`
	}
	list := struct {
		Page  int     `json:"page"`
		Pages int     `json:"pages"`
		Total int     `json:"total"`
		Next  *string `json:"next"`
		Films []film  `json:"films"`
	}{Page: page, Pages: s.pages(len(s.films)), Total: len(s.films)}
	if page < list.Pages {
		next := s.at(API, apiListPath(page+1))
		list.Next = &next
	}
	for _, f := range window(s, s.films, page) {
		list.Films = append(list.Films, film{f.ID, f.Title, f.Year, s.at(Catalogue, filmPath(f.ID)), s.at(API, apiFilmPath(f.ID))})
	}
	s.sendJSON(w, r, changed(s.opts.Seed, 0), list)
}

func (s *Site) apiNotFound(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusNotFound)
	_, _ = w.Write(marshal(map[string]string{"error": "not found"}))
}
