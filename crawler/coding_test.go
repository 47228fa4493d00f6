package crawler_test

import (
	"errors"
	"io"
	"net/http"
	"testing"

	"github.com/seine-go/seine/crawler"
	"github.com/seine-go/seine/fetch"
)

// Pages whose content coding is not known are handled if they are text, and fail as what they are otherwise.
func TestPagesOfUnknownCodings(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		w.serve(t, "films.example", func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("Content-Encoding", "lzma")
			rw.Header().Set("Content-Type", "text/html")
			switch r.URL.Path {
			case "/text":
				io.WriteString(rw, "<a href=/next>next</a>")
				return
			case "/gone":
				rw.WriteHeader(http.StatusNotFound)
			}
			io.WriteString(rw, "\x5d\x00\x00\x80\x00")
		})
		const site = "http://films.example"
		var failed failures
		stats, _ := run(t, w, crawler.Config{IgnoreRobots: true, Hooks: failed.hook(), Spacing: -1}, site+"/text", site+"/gone", site+"/packed")
		var status *fetch.StatusError
		var coding *fetch.CodingError
		if stats.Pages != 1 || stats.Failed != 3 || stats.Retried != 0 || stats.Cut != 0 || w.count(site+"/next") != 1 {
			t.Errorf("%v, %v", stats, failed.errs)
		}
		if !errors.As(failed.errs[site+"/gone"], &status) || status.Status != http.StatusNotFound {
			t.Errorf("%v", failed.errs[site+"/gone"])
		}
		if !errors.As(failed.errs[site+"/packed"], &coding) || coding.Coding != "lzma" {
			t.Errorf("%v", failed.errs[site+"/packed"])
		}
	})
}
