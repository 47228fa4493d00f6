package demosite

import (
	"fmt"
	"net/http"
	"strconv"
	"time"
)

const errorsTitle = "Errors"

// illness is a page that answers with an error, for ever or a number of times.
type illness struct {
	path    string
	status  int
	times   int  // then it is well; zero means never
	backoff bool // with Retry-After
}

var illnesses = []illness{
	{path: "/errors/404", status: http.StatusNotFound},
	{path: "/errors/410", status: http.StatusGone},
	{path: "/errors/500", status: http.StatusInternalServerError},
	{path: "/errors/503", status: http.StatusServiceUnavailable, times: 1, backoff: true},
	{path: "/errors/429", status: http.StatusTooManyRequests, times: 1, backoff: true},
	{path: "/errors/flaky/1", status: http.StatusInternalServerError, times: 1},
	{path: "/errors/flaky/2", status: http.StatusBadGateway, times: 2},
	{path: "/errors/flaky/3", status: http.StatusGatewayTimeout, times: 3},
}

// transient reports whether a client may well ask again.
func (i illness) transient() bool { return i.status >= 500 || i.times > 0 }

func (i illness) title() string {
	if i.times > 0 {
		return wellTitle
	}
	return http.StatusText(i.status)
}

const wellTitle = "Well again"

func (s *Site) routeErrors(mux *http.ServeMux) {
	var paths []string
	for _, ill := range illnesses {
		paths = append(paths, ill.path)
		mux.HandleFunc("GET "+ill.path, func(w http.ResponseWriter, r *http.Request) {
			if ill.times > 0 && s.attempt(ill.path) > ill.times {
				s.serveText(wellTitle, fmt.Sprintf("The first answers had status %d.", ill.status))(w, r)
				return
			}
			if ill.backoff {
				w.Header().Set("Retry-After", s.retryAfter())
			}
			s.answer(w, ill.status, view{Title: http.StatusText(ill.status), Data: "This page is ill."})
		})
	}
	mux.HandleFunc("GET /errors", func(w http.ResponseWriter, r *http.Request) {
		s.html(w, r, "paths", view{Title: errorsTitle, Data: paths})
	})
}

// attempt counts the requests of a page.
func (s *Site) attempt(path string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.attempts[path]++
	return s.attempts[path]
}

func (s *Site) retryAfter() string {
	d := max(s.opts.RetryAfter, 0)
	return strconv.FormatInt(int64((d+time.Second-1)/time.Second), 10)
}
