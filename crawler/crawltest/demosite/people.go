package demosite

import (
	"fmt"
	"net/http"
	"time"
)

const (
	peopleTitle  = "People"
	landingTitle = "Landed on another host"
)

func (s *Site) peopleHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /", s.notFound)
	mux.HandleFunc("GET /{$}", s.servePeople)
	mux.HandleFunc("GET /person/{id}", s.servePerson)
	mux.HandleFunc("GET /landed", s.serveText(landingTitle, "You came here from the catalogue."))
	mux.HandleFunc("GET /robots.txt", s.serveRobots(func() string {
		rules := "User-agent: *\nDisallow: /private/\n"
		if s.opts.CrawlDelay > 0 {
			rules += fmt.Sprintf("Crawl-delay: %g\n", s.opts.CrawlDelay.Seconds())
		}
		return rules
	}))
	return mux
}

// serveText serves a page of one sentence.
func (s *Site) serveText(title, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.html(w, r, "text", view{Title: title, Data: text})
	}
}

func (s *Site) servePeople(w http.ResponseWriter, r *http.Request) {
	page, ok := s.pageOf(r.URL.Query(), len(s.people))
	if !ok {
		s.notFound(w, r)
		return
	}
	v := view{Title: pageTitle(peopleTitle, page), Data: window(s, s.people, page)}
	if page > 1 {
		v.Prev = pagePath("/", page-1)
	}
	if page < s.pages(len(s.people)) {
		v.Next = pagePath("/", page+1)
	}
	s.html(w, r, "people", v)
}

func (s *Site) servePerson(w http.ResponseWriter, r *http.Request) {
	id, ok := idOf(r.PathValue("id"), len(s.people))
	if !ok {
		s.notFound(w, r)
		return
	}
	p := s.person(id)
	titles := func(ids []int) []Film {
		films := make([]Film, len(ids))
		for i, id := range ids {
			films[i] = s.film(id)
		}
		return films
	}
	data := struct {
		Person
		DirectedFilms, ActedFilms []Film
	}{p, titles(p.Directed), titles(p.Acted)}
	body := s.render("person", view{Title: p.Name, Canonical: p.URL, Data: data})
	s.content(w, r, "text/html; charset=utf-8", changed(s.opts.Seed, -id), body)
}

// serveRobots serves a robots.txt, made anew for each request since URLs change at Start.
func (s *Site) serveRobots(rules func() string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.content(w, r, "text/plain; charset=utf-8", time.Time{}, []byte(rules()))
	}
}
