package demosite

import (
	"fmt"
	"net/http"
)

const (
	calendarPrefix = "/calendar/"
	lastCalendar   = 9999
)

// serveCalendar serves a month of a calendar that goes on for some hundred thousand of them: a trap for crawlers.
func (s *Site) serveCalendar(w http.ResponseWriter, r *http.Request) {
	year, okYear := idOf(r.PathValue("year"), lastCalendar)
	month, okMonth := idOf(r.PathValue("month"), 12)
	if !okYear || !okMonth {
		s.notFound(w, r)
		return
	}
	v := view{Title: fmt.Sprintf("Screenings in %d-%02d", year, month)}
	at := year*12 + month - 1
	if before := at - 1; before >= 12 {
		v.Prev = fmt.Sprintf("/calendar/%d/%d", before/12, before%12+1)
	}
	if after := at + 1; after/12 <= lastCalendar {
		v.Next = fmt.Sprintf("/calendar/%d/%d", after/12, after%12+1)
	}
	v.Data = "No screenings in this month."
	s.html(w, r, "calendar", v)
}
