package demosite

import (
	"fmt"
	"net/http"
	"strings"
)

const (
	mirrorTitle  = "Mirror of the film catalogue"
	sessionTitle = "A session"
	mirrorRobots = "/rules/robots.txt" // where its robots.txt redirects to
)

// mirrorHandler serves each film under its canonical URL and others. Its robots.txt is behind a redirect.
func (s *Site) mirrorHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /", s.notFound)
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		page, ok := s.pageOf(r.URL.Query(), len(s.films))
		if !ok {
			s.notFound(w, r)
			return
		}
		v := view{Title: pageTitle(mirrorTitle, page), Data: s.listItems(pageIDs(window(s, s.films, page)))}
		if page > 1 {
			v.Prev = pagePath("/", page-1)
		}
		if page < s.pages(len(s.films)) {
			v.Next = pagePath("/", page+1)
		}
		s.html(w, r, "mirror", v)
	})
	film := func(w http.ResponseWriter, r *http.Request) {
		id, _, _ := strings.Cut(r.PathValue("id"), ";") // a session may be told in a path parameter
		s.serveMirrored(w, r, id)
	}
	mux.HandleFunc("GET /film/{id}", film)
	mux.HandleFunc("GET /film/{id}/{$}", film)
	mux.HandleFunc("GET /watch", func(w http.ResponseWriter, r *http.Request) { s.serveMirrored(w, r, r.URL.Query().Get("film")) })
	mux.HandleFunc("GET /robots.txt", func(w http.ResponseWriter, r *http.Request) {
		redirect(w, http.StatusMovedPermanently, mirrorRobots)
	})
	mux.HandleFunc("GET "+mirrorRobots, s.serveRobots(func() string { return "User-agent: *\nDisallow: /session/\n" }))
	mux.HandleFunc("GET /session/{id}", s.serveText(sessionTitle, "No robot should be here."))
	return mux
}

func pageIDs(films []Film) []int {
	ids := make([]int, len(films))
	for i, f := range films {
		ids[i] = f.ID
	}
	return ids
}

// serveMirrored answers with the same bytes under every URL of a film.
func (s *Site) serveMirrored(w http.ResponseWriter, r *http.Request, number string) {
	id, ok := idOf(number, len(s.films))
	if !ok {
		s.notFound(w, r)
		return
	}
	f := s.film(id)
	data := struct {
		Film
		Others  []string
		Session string
	}{f, s.duplicates(id), sessionPath(s.opts.Seed, id)}
	body := s.render("mirrored", view{Title: f.Title, Canonical: s.at(Mirror, filmPath(id)), Data: data})
	s.content(w, r, "text/html; charset=utf-8", changed(s.opts.Seed, id), body)
}

func sessionPath(seed uint64, id int) string { return "/session/" + token(seed, id) }

// token is a number of a session or form, the same for the same id.
func token(seed uint64, id int) string {
	return fmt.Sprintf("%016x", roll(seed, streamToken, id).next())
}

// duplicates are further paths of a film on the mirror: three of the kinds there are, others for each film.
func (s *Site) duplicates(id int) []string {
	path, session := filmPath(id), strings.ToUpper(token(s.opts.Seed, id))
	all := []string{
		path + "?utm_source=newsletter&utm_medium=email",
		path + ";jsessionid=" + session,
		fmt.Sprintf("/%%66ilm/%d", id),
		path + "?PHPSESSID=" + session,
		fmt.Sprintf("/watch?film=%d&lang=en", id),
		fmt.Sprintf("/watch?lang=en&film=%d", id),
		path + "?fbclid=" + session,
		path + "/",
		path + "?",
	}
	var some []string
	for i := range 3 {
		some = append(some, all[(3*id+i)%len(all)])
	}
	return some
}
