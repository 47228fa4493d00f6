package demosite

import (
	"fmt"
	"net/http"
	"strings"
)

const (
	redirectsTitle = "Redirects"
	landedTitle    = "Landed"
	chainLength    = 5
)

// hop is a redirect on the catalogue.
type hop struct {
	path   string
	status int
	to     string // Location as sent; see location for those that name another host
	host   Host   // the other host that to is a path of
	expect Expect
	linked bool // from /redirects; else only a hop leads there
}

// hops are the redirects. Each page where one ends is reached in this way only, so that a client that follows redirects by
// itself and one that treats their targets as links fetch the same pages equally often.
func hops() []hop {
	var all []hop
	for _, status := range []int{301, 302, 303, 307, 308} {
		all = append(all, hop{path: fmt.Sprintf("/redirect/%d", status), status: status, to: fmt.Sprintf("/landed/%d", status), linked: true})
	}
	for n := chainLength; n > 0; n-- {
		to := fmt.Sprintf("/redirect/chain/%d", n-1)
		if n == 1 {
			to = "/landed/chain"
		}
		all = append(all, hop{path: fmt.Sprintf("/redirect/chain/%d", n), status: 302, to: to, linked: n == chainLength})
	}
	return append(all,
		hop{path: "/redirect/loop/a", status: 302, to: "/redirect/loop/b", expect: AtLeastOnce, linked: true},
		hop{path: "/redirect/loop/b", status: 302, to: "/redirect/loop/a", expect: AtLeastOnce},
		hop{path: "/redirect/self", status: 302, to: "/redirect/self", expect: AtLeastOnce, linked: true},
		hop{path: "/redirect/relative/up", status: 302, to: "../../landed/relative", linked: true},
		hop{path: "/redirect/query", status: 302, to: "?to=landed", linked: true},
		hop{path: "/redirect/fragment", status: 302, to: "/landed/fragment#part", linked: true},
		hop{path: "/redirect/private", status: 302, to: "/private/notes.html", linked: true},
		hop{path: "/redirect/nowhere", status: 302, linked: true},
		hop{path: "/redirect/host", status: 302, to: "/landed", host: People, linked: true},
	)
}

// landings are the targets of the hops, but for those that other tables have.
func landings() []string {
	all := []string{"/redirect/query?to=landed"}
	for _, h := range hops() {
		if path, _, _ := strings.Cut(h.to, "#"); strings.HasPrefix(path, "/landed/") {
			all = append(all, path)
		}
	}
	return append(all, "/landed/relative")
}

// location is the value of the Location field; empty means none.
func (s *Site) location(h hop) string {
	if h.host != "" {
		return s.at(h.host, h.to)
	}
	return h.to
}

func (s *Site) routeRedirects(mux *http.ServeMux) {
	var linked []string
	for _, h := range hops() {
		if h.linked {
			linked = append(linked, h.path)
		}
		mux.HandleFunc("GET "+h.path, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Query().Get("to") == "landed" {
				s.serveText(landedTitle, "A redirect changed the query only.")(w, r)
				return
			}
			redirect(w, h.status, s.location(h))
		})
	}
	mux.HandleFunc("GET /redirects", func(w http.ResponseWriter, r *http.Request) {
		s.html(w, r, "paths", view{Title: redirectsTitle, Data: linked})
	})
	known := map[string]bool{}
	for _, path := range landings() {
		known[path] = true
	}
	mux.HandleFunc("GET /landed/{how}", func(w http.ResponseWriter, r *http.Request) {
		if !known[r.URL.Path] {
			s.notFound(w, r)
			return
		}
		s.serveText(landedTitle, "A redirect leads here, and nothing else.")(w, r)
	})
}

// redirect sends a Location as it is given, or none when it is empty.
func redirect(w http.ResponseWriter, status int, location string) {
	if location != "" {
		w.Header().Set("Location", location)
	}
	w.Header().Set("Content-Length", "0")
	w.WriteHeader(status)
}
