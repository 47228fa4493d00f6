package crawler_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/seine-go/seine/crawler"
)

// shy is a frontier that keeps what it knows to itself.
type shy struct{ crawler.Frontier }

// What becomes of a URL is told at each stage of its life, with the reasons; nothing is asked of the network.
func TestExplain(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		w.serve(t, "films.example", pages(map[string]string{
			"/robots.txt": "User-agent: *\nCrawl-delay: 10\nDisallow: /no\nAllow: /no/but",
			"/":           links("/gone", "/bad", "/last"), "/bad": "", "/last": "",
		}))
		const site = "http://films.example"
		var e *crawler.Engine
		explain := func(url, verdict string, others ...string) {
			t.Helper()
			x, err := e.Explain(t.Context(), url)
			if err != nil {
				t.Errorf("%s: %v", url, err)
				return
			}
			if !strings.HasPrefix(x.Verdict(), verdict) {
				t.Errorf("%s: %q, want %q", url, x.Verdict(), verdict)
			}
			for _, text := range others {
				if !strings.Contains(x.String(), text) {
					t.Errorf("no %q in\n%s", text, x)
				}
			}
		}
		e = pagesOf(t, w, crawler.Config{MaxAttempts: 2, Handler: crawler.HandlerFunc(func(_ context.Context, p *crawler.Page) error {
			p.FollowLinks()
			switch p.Request.URL {
			case site + "/":
				explain(site+"/", "being fetched, try 1", "crawl-delay: 10s")
				explain(site+"/gone", "not seen: a link to it would be queued; its host has 1 of 1 places taken")
			case site + "/bad":
				return errors.New("always")
			}
			return nil
		})})
		explain(site+"/", "not seen", "unknown: scope", "unknown: robots.txt: not asked for yet")
		time.AfterFunc(35*time.Second, func() {
			explain(site+"/", "done")
			explain(site+"/gone", "failed after 1 tries: seine: status 404")
			explain(site+"/last", "queued, among 2 of its host; its host may be visited in ")
			explain(site+"/last#part", "queued, among 2 of its host")
		})
		if stats, err := e.Run(t.Context(), site+"/"); err != nil || stats.Pages != 2 {
			t.Errorf("%v, %v", stats, err)
		}
		explain(site+"/bad", "failed after 2 tries: always")
		explain(site+"/last", "done")
		asked := len(w.visits)
		explain(site+"/no/1", "refused: disallowed by robots.txt: line 3: Disallow: /no", "against: disallowed", "robots.txt: line 3")
		explain(site+"/no/but/this", "not seen", "robots.txt: line 4: Allow: /no/but")
		explain("http://other.example/", "refused: out of scope: http://other.example/: its host is to be named in Scope.Hosts", "unknown: robots.txt")
		explain(site+"/a/a/a/a", "refused: trap")
		x, err := e.Explain(t.Context(), "http://other.example/no/a/a/a/a")
		var trap *crawler.TrapError
		if err != nil || len(x.Refusals) != 2 || !errors.Is(x.Refusals[0], crawler.ErrOutOfScope) || !errors.As(x.Refusals[1], &trap) {
			t.Errorf("%v, %v", x, err)
		}
		if len(w.visits) != asked {
			t.Error("the network was asked")
		}
		for _, url := range []string{"mailto:x", "films.example", "http://u:secret@films.example/"} {
			var bad *crawler.RequestError
			if _, err := e.Explain(t.Context(), url); !errors.As(err, &bad) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%s: %v", url, err)
			}
		}
	})
}

// Delayed retries, spent budgets and frontiers that do not tell.
func TestExplainMore(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, w *web) {
		w.serve(t, "films.example", pages(map[string]string{"/0": "", "/1": ""}))
		e := pagesOf(t, w, crawler.Config{IgnoreRobots: true, HostBudget: crawler.Budget{Pages: 2}, Handler: crawler.HandlerFunc(func(_ context.Context, p *crawler.Page) error {
			if p.Attempt == 1 {
				return crawler.RetryAfter(time.Minute, errors.New("later"))
			}
			return nil
		})})
		time.AfterFunc(30*time.Second, func() {
			x, err := e.Explain(t.Context(), "http://films.example/0")
			if err != nil || x.State != crawler.StateDelayed || x.Due != 30*time.Second || x.Verdict() != "queued, due in 30s" {
				t.Errorf("%v, %+v, %v", x, x, err)
			}
			x, err = e.Explain(t.Context(), "http://films.example/2")
			if err != nil || !errors.Is(errors.Join(x.Refusals...), crawler.ErrBudget) || !strings.HasPrefix(x.Verdict(), "refused: the budget is spent: films.example: HostBudget.Pages") {
				t.Errorf("%v, %v", x, err)
			}
		})
		if stats, err := e.Run(t.Context(), numbered("films.example", 2)...); err != nil || stats.Pages != 2 {
			t.Errorf("%v, %v", stats, err)
		}
		e, err := crawler.New(crawler.Config{Frontier: shy{crawler.NewMemory(crawler.MemoryOptions{})}, Scope: crawler.Scope{Domains: []string{"films.example"}}, Canonical: w3lib(t)})
		if err != nil {
			t.Fatal(err)
		}
		x, err := e.Explain(t.Context(), "http://films.example/?b=2&a=1")
		if err != nil || x.State != crawler.StateUnknown || x.Key != "http://films.example/?a=1&b=2" || !strings.Contains(x.String(), "unknown: frontier") || !strings.Contains(fmt.Sprint(x), "key: ") {
			t.Errorf("%v, %v", x, err)
		}
	})
}
