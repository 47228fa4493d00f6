package crawler_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seine-go/seine/crawler"
)

// randomSite is a web of three hosts with pages that link, redirect, fail once or for ever, or are forbidden.
type randomSite struct {
	rng   *rand.Rand
	pages map[string]randomPage // by URL
	mu    sync.Mutex
	tried map[string]int
	count int // requests, robots.txt too
}

type randomPage struct {
	links    []string
	redirect string
	fails    int // so many times with 503
}

const randomPages = 40

func newRandomSite(rng *rand.Rand) *randomSite {
	s := &randomSite{rng: rng, pages: map[string]randomPage{}, tried: map[string]int{}}
	url := func() string {
		n := rng.IntN(randomPages)
		return fmt.Sprintf("http://h%d.example/%d", n%3, n)
	}
	for n := range randomPages {
		var p randomPage
		for range rng.IntN(5) {
			p.links = append(p.links, url())
		}
		switch rng.IntN(8) {
		case 0:
			p.redirect = url()
		case 1:
			p.fails = 1 + rng.IntN(2)
		}
		s.pages[fmt.Sprintf("http://h%d.example/%d", n%3, n)] = p
	}
	return s
}

func (s *randomSite) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count++
	url := "http://" + r.Host + r.URL.Path
	if r.URL.Path == "/robots.txt" {
		fmt.Fprint(w, "User-agent: *\nDisallow: /13")
		return
	}
	p, ok := s.pages[url]
	s.tried[url]++
	w.Header().Set("Content-Type", "text/html")
	switch {
	case !ok:
		w.WriteHeader(404)
	case s.tried[url] <= p.fails:
		w.WriteHeader(503)
	case p.redirect != "":
		http.Redirect(w, r, p.redirect, http.StatusFound)
	default:
		fmt.Fprint(w, links(p.links...))
	}
}

// asks counts the pages that were asked for: each once, redirects as a part of the page that they come from.
type asks struct {
	mu   sync.Mutex
	urls map[string]bool
}

func (a *asks) hook(ctx context.Context, s crawler.Stage) (context.Context, func(crawler.StageEnd)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if s.Request.Hops == 0 {
		a.urls[s.Request.URL] = true
	}
	return ctx, nil
}

// randomCrawl crawls the site in one or more runs, and returns what was done.
func randomCrawl(t *testing.T, w *web, s *randomSite, cfg crawler.Config) (done []string) {
	t.Helper()
	var mu sync.Mutex
	frontier := crawler.NewMemory(crawler.MemoryOptions{})
	cfg.Frontier, cfg.Store = frontier, &crawler.MemoryStore{}
	cfg.Handler = crawler.HandlerFunc(func(_ context.Context, p *crawler.Page) error {
		p.FollowLinks()
		mu.Lock()
		defer mu.Unlock()
		if p.Attempt == 1 && len(done)%7 == 6 {
			done = append(done, "")
			return errors.New("not yet")
		}
		done = append(done, p.URL)
		return nil
	})
	seeds := []string{"http://h0.example/0", "http://h1.example/1", "http://h2.example/2"}
	var sum crawler.Stats
	for n := 0; ; n++ {
		a := asks{urls: map[string]bool{}}
		cfg.Hooks.Fetch = a.hook
		before := s.count
		stats, err := run(t, w, cfg, seeds...)
		if err != nil || stats.Finished == (stats.Spent != "") || n > 100 {
			t.Fatalf("run %d: %v, finished %v, %v", n, stats, stats.Finished, err)
		}
		if most := int(cfg.MaxPages); most > 0 && (len(a.urls) > most || stats.Spent == "MaxPages" && len(a.urls) != most) {
			t.Errorf("run %d of %d pages asked for %d", n, most, len(a.urls))
		}
		if stats.Requests != int64(s.count-before) {
			t.Errorf("%d requests, the hosts saw %d", stats.Requests, s.count-before)
		}
		sum.Pages, sum.Failed, sum.Refused, sum.Moved = sum.Pages+stats.Pages, sum.Failed+stats.Failed, sum.Refused+stats.Refused, sum.Moved+stats.Moved
		if stats.Finished {
			break
		}
	}
	f, err := frontier.Stats(t.Context())
	if ended := sum.Pages + sum.Failed + sum.Refused + sum.Moved; err != nil || f.Leased+f.Ready+f.Delayed != 0 || f.Done+f.Failed != ended {
		t.Errorf("%+v, though %d ended in %v, %v", f, ended, sum, err)
	}
	done = slices.DeleteFunc(done, func(url string) bool { return url == "" })
	slices.Sort(done)
	return slices.Compact(done)
}

// Whatever the budgets, the pace and the faults, in one run or in many: the same pages are done, none is lost, and the
// figures add up.
func TestRandomCrawlsAddUp(t *testing.T) {
	t.Parallel()
	crawls := 0
	for seed := range uint64(40) {
		var want []string
		for _, portion := range []int64{0, 1, 5} {
			bubble(t, func(t *testing.T, w *web) {
				rng := rand.New(rand.NewPCG(seed, 0))
				site := newRandomSite(rng)
				for h := range 3 {
					w.serve(t, fmt.Sprintf("h%d.example", h), site.ServeHTTP)
				}
				rng = rand.New(rand.NewPCG(seed, uint64(portion)))
				cfg := crawler.Config{
					MaxPages: portion, MaxAttempts: 4, PerHost: 1 + rng.IntN(3), Concurrency: rng.IntN(5), Spacing: time.Duration(1+rng.IntN(300)) * time.Millisecond,
				}
				got := randomCrawl(t, w, site, cfg)
				if crawls++; portion == 0 {
					want = got
				}
				if !slices.Equal(got, want) {
					t.Errorf("seed %d in portions of %d:\n%s\nwant\n%s", seed, portion, strings.Join(got, " "), strings.Join(want, " "))
				}
			})
		}
	}
	if !t.Failed() {
		fmt.Printf("shown engine.1: %d random crawls, whole and in portions: the same pages done, none lost, every figure adds up\n", crawls)
	}
}
