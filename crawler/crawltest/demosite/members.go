package demosite

import (
	"crypto/subtle"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

const (
	loginTitle   = "Sign in"
	membersTitle = "Members"
	memberNotes  = 3
	maxFormBytes = 4 << 10
	// SessionCookie is the name of the cookie that opens the members' pages.
	SessionCookie = "session"
	// The ids of the tokens of form and session, which no film has.
	formToken    = -1
	sessionToken = -2
)

// loginAgain is where the members' pages send those who are not signed in.
const loginAgain = "/login?next=%2Fmembers%2F"

func (s *Site) routeMembers(mux *http.ServeMux) {
	mux.HandleFunc("GET /login", func(w http.ResponseWriter, r *http.Request) {
		s.html(w, r, "login", view{Title: loginTitle, Data: s.loginForm(r.URL.Query().Get("next"))})
	})
	mux.HandleFunc("POST /login", s.login)
	mux.HandleFunc("POST /logout", func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: SessionCookie, Path: "/", MaxAge: -1})
		redirect(w, http.StatusSeeOther, "/")
	})
	mux.HandleFunc("GET /members/{$}", s.membersOnly(func(w http.ResponseWriter, r *http.Request) {
		var paths []string
		for n := 1; n <= memberNotes; n++ {
			paths = append(paths, fmt.Sprintf("/members/notes/%d", n))
		}
		s.html(w, r, "members", view{Title: membersTitle, Data: paths})
	}))
	mux.HandleFunc("GET /members/notes/{id}", s.membersOnly(func(w http.ResponseWriter, r *http.Request) {
		id, ok := idOf(r.PathValue("id"), memberNotes)
		if !ok {
			s.notFound(w, r)
			return
		}
		s.serveText(fmt.Sprintf("Note %d", id), "Only members read this.")(w, r)
	}))
}

type loginForm struct{ Token, Next string }

// loginForm is the form; after it, only a path of this host is gone to.
func (s *Site) loginForm(next string) loginForm {
	if u, err := url.Parse(next); err != nil || u.Scheme != "" || u.Host != "" ||
		!strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") || strings.ContainsAny(next, "\\\r\n\t") {
		next = "/members/"
	}
	return loginForm{token(s.opts.Seed, formToken), next}
}

func (s *Site) login(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxFormBytes)
	if err := r.ParseForm(); err != nil {
		s.answer(w, http.StatusBadRequest, view{Title: "Bad request", Data: "That was no form, or too long a one."})
		return
	}
	form := s.loginForm(r.PostForm.Get("next"))
	if r.PostForm.Get("token") != form.Token || r.PostForm.Get("user") != User || r.PostForm.Get("password") != Password {
		s.answer(w, http.StatusForbidden, view{Title: "Not signed in", Data: "User, password and token must be right."})
		return
	}
	http.SetCookie(w, &http.Cookie{
		Name: SessionCookie, Value: token(s.opts.Seed, sessionToken), Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
	redirect(w, http.StatusSeeOther, form.Next)
}

// membersOnly sends those without the session cookie to the login.
func (s *Site) membersOnly(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "private, no-store")
		want := token(s.opts.Seed, sessionToken)
		if c, err := r.Cookie(SessionCookie); err != nil || subtle.ConstantTimeCompare([]byte(c.Value), []byte(want)) != 1 {
			redirect(w, http.StatusFound, loginAgain)
			return
		}
		next(w, r)
	}
}
