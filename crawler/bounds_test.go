package crawler_test

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/seine-go/seine/crawler"
	"github.com/seine-go/seine/fetch"
)

// A Delay that is as long as one can be is no pause of nothing.
func TestLongestDelayIsKept(t *testing.T) {
	t.Parallel()
	for name, cfg := range map[string]crawler.Config{"delay": {Delay: math.MaxInt64}, "spacing": {Spacing: math.MaxInt64}} {
		bubble(t, func(t *testing.T, w *web) {
			w.serve(t, "films.example", func(http.ResponseWriter, *http.Request) {})
			cfg.IgnoreRobots, cfg.MaxTime, cfg.FixedPace = true, time.Hour, true
			stats, err := run(t, w, cfg, numbered("films.example", 4)...)
			if err != nil || stats.Pages != 1 || stats.Spent != "MaxTime" {
				t.Errorf("%s: %v, %v", name, stats, err)
			}
		})
	}
}

// Faults of a Mux inside of a Mux keep a crawl from starting; one that holds itself is looked at once.
func TestMuxTellsOfInnerFaults(t *testing.T) {
	t.Parallel()
	for _, where := range []string{"route", "label", "default"} {
		var inner, outer crawler.Mux
		inner.HandleFunc("GET /x", func(context.Context, *crawler.Page) error { return nil })
		switch where {
		case "route":
			outer.Handle("films.example/", &inner)
		case "label":
			outer.HandleLabel("film", &inner)
		case "default":
			outer.Default = &inner
		}
		inner.Default = &outer
		if err := outer.Check(); err == nil || !strings.Contains(err.Error(), "GET /x") {
			t.Errorf("%s: %v", where, err)
		}
		if _, err := crawler.New(crawler.Config{Handler: &outer}); err == nil {
			t.Errorf("%s: New took it", where)
		}
	}
}

// What Add refuses is named.
func TestAddNamesTheFault(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		w.serve(t, "films.example", func(http.ResponseWriter, *http.Request) {})
		_, err := run(t, w, crawler.Config{IgnoreRobots: true, Handler: crawler.HandlerFunc(func(_ context.Context, p *crawler.Page) error {
			var fault *crawler.RequestError
			if err := p.Add(nil); !errors.As(err, &fault) {
				t.Errorf("nil: %v", err)
			}
			if err := p.Add(&crawler.Request{URL: "/a", Method: "G T"}); !errors.As(err, &fault) || fault.Field != "Method" {
				t.Errorf("method: %v", err)
			}
			return nil
		})}, "http://films.example/")
		if err != nil {
			t.Error(err)
		}
	})
}

// Rules for tries again that mean nothing are refused.
func TestRetryPoliciesThatCannotBe(t *testing.T) {
	t.Parallel()
	for _, p := range []crawler.RetryPolicy{
		{HostShare: math.NaN()}, {Rules: map[crawler.RetryClass]crawler.RetryRule{crawler.RetryRobots: {}}}, {Rules: map[crawler.RetryClass]crawler.RetryRule{99: {}}},
	} {
		var fault *crawler.ConfigError
		if _, err := crawler.New(crawler.Config{Retry: p}); !errors.As(err, &fault) || !strings.HasPrefix(fault.Field, "Retry.") {
			t.Errorf("%+v: %v", p, err)
		}
	}
}

// What a page is, the last media type says that is one.
func TestMediaTypeOfAPage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		types []string
		body  string
		html  bool
	}{
		{[]string{"text/plain", "text/html"}, "x", true},
		{[]string{"text/html", "text/plain"}, "<html>", false},
		{[]string{"text/html, text/plain"}, "<html>", false},
		{[]string{"text/plain, TEXT/HTML ; charset=utf-8"}, "x", true},
		{[]string{"text/html", "*/*", "junk", ""}, "x", true},
		{[]string{"junk"}, "<!doctype html>", true},
		{[]string{"junk"}, "x", false},
		{nil, "<html>", true},
		{[]string{"application/xhtml+xml"}, "x", true},
		{[]string{"application/json"}, "<html>", false},
	} {
		p := &crawler.Page{Response: &fetch.Response{Header: http.Header{"Content-Type": c.types}, Body: []byte(c.body)}}
		if got := p.IsHTML(); got != c.html {
			t.Errorf("%q: %v", c.types, got)
		}
	}
}

// A page whose item is too large fails alone, with an error that says so; the others are done.
func TestItemThatIsTooLarge(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		w.serve(t, "films.example", pages(map[string]string{"/": links("/large", "/small"), "/large": "", "/small": ""}))
		value := make([]byte, crawler.MaxValueBytes+1)
		stats, err := run(t, w, crawler.Config{Store: &crawler.MemoryStore{}, IgnoreRobots: true, Handler: crawler.HandlerFunc(func(_ context.Context, p *crawler.Page) error {
			p.FollowLinks()
			if err := p.Save("large", value[:crawler.MaxValueBytes]); err != nil {
				t.Error(err)
			}
			if !strings.HasSuffix(p.URL, "large") {
				return nil
			}
			err := p.Save("larger", value)
			var refused *crawler.ItemError
			if !errors.As(err, &refused) || refused.Size != len(value) || refused.Key != "larger" {
				t.Error(err)
			}
			return crawler.Permanent(err)
		})}, "http://films.example/")
		if err != nil || stats.Pages != 2 || stats.Failed != 1 {
			t.Errorf("%+v, %v", stats, err)
		}
	})
}
