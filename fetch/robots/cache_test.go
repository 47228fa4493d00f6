package robots

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seine-go/seine/fetch"
)

const someRules = "User-agent: *\nDisallow: /private\nCrawl-delay: 2\n"

// check is Check of a URL that must not fail. Any goroutine may call it.
func check(t *testing.T, c *Cache, url string) Decision {
	t.Helper()
	d, err := c.Check(t.Context(), url)
	if err != nil {
		t.Errorf("%s: %v", url, err)
	}
	return d
}

func TestDisallowAllForbidsEveryPage_K073(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"User-agent: *\nDisallow: /", "User-agent: *\nDisallow: *", "User-agent: seine\nDisallow: /\n\nUser-agent: *\nDisallow:\n"} {
		w := &web{answer: always(200, body)}
		c := &Cache{Fetcher: w}
		for _, path := range []string{"", "/", "/a", "/a?b=c", "/robots.txt/", "/ROBOTS.TXT", "//robots.txt"} {
			if d := check(t, c, "http://h.test"+path); d.Allowed || d.Source != SourceRules || d.Rule.Line == 0 {
				t.Errorf("%q: %s: %+v", body, path, d)
			}
		}
		if d := check(t, c, "http://h.test/robots.txt"); !d.Allowed {
			t.Errorf("%q: /robots.txt is forbidden", body)
		}
	}
}

func TestUnreachableIsForbiddenForNow_K074(t *testing.T) {
	t.Parallel()
	cut := func(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
		resp, err := always(200, "User-agent: *\nAllow: /\n")(ctx, req)
		return resp.CutBody(&fetch.Error{URL: req.URL, Kind: fetch.ErrTruncated}), err
	}
	tests := []struct {
		name   string
		answer func(context.Context, *fetch.Request) (*fetch.Response, error)
		status int
	}{
		{"500", always(500, ""), 500},
		{"503", always(503, "User-agent: *\nAllow: /\n"), 503},
		{"599", always(599, ""), 599},
		{"status that is none", always(999, ""), 999},
		{"refused", fails(fetch.ErrConnect), 0},
		{"no such host", fails(fetch.ErrDNS), 0},
		{"timeout", fails(fetch.ErrTimeout), 0},
		{"broken handshake", fails(fetch.ErrTLS), 0},
		{"body breaks off", cut, 200},
		{"neither answer nor error", func(context.Context, *fetch.Request) (*fetch.Response, error) { return nil, nil }, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := &web{answer: tt.answer}
				c := &Cache{Fetcher: w}
				var d Decision
				for i := range 20 {
					d = check(t, c, fmt.Sprintf("http://h.test/%d", i))
					if d.Allowed || d.Source != SourceDisallowAll || d.Err == nil || d.RetryIn <= 0 || d.Status != tt.status {
						t.Fatalf("%+v", d)
					}
				}
				if w.count() != 1 {
					t.Errorf("asked %d times for 20 pages", w.count())
				}
				w.set(always(200, someRules))
				elapse(d.RetryIn)
				if d = check(t, c, "http://h.test/1"); !d.Allowed || d.Err != nil || d.RetryIn != 0 || w.count() != 2 {
					t.Errorf("asked again: %+v after %d requests", d, w.count())
				}
			})
		})
	}
}

func TestRetryAfterIsObeyed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for header, want := range map[string]time.Duration{"": time.Minute, "5": time.Minute, "600": 10 * time.Minute, "99999": time.Hour, "x": time.Minute} {
			c := &Cache{Fetcher: &web{answer: always(503, "", "Retry-After", header)}}
			if d := check(t, c, "http://h.test/"); d.RetryIn != want {
				t.Errorf("%q: again in %v, want %v", header, d.RetryIn, want)
			}
		}
	})
}

// TestRetryInIsNeverZero asks at the very moment when the origin is due: what is forbidden for now must not seem final.
func TestRetryInIsNeverZero(t *testing.T) {
	t.Parallel()
	s := &state{source: SourceDisallowAll, since: time.Unix(0, 0), due: time.Unix(60, 0)}
	for _, now := range []time.Time{s.due.Add(-1), s.due, s.due.Add(time.Hour)} {
		if d := s.decide("/", now); d.RetryIn <= 0 || d.Allowed {
			t.Errorf("at %v: %+v", now, d)
		}
	}
}

// TestBackoff shows that an origin that stays away is asked less and less, however many pages wait.
func TestBackoff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var asked []time.Duration
		w := &web{answer: func(context.Context, *fetch.Request) (*fetch.Response, error) {
			asked = append(asked, time.Since(start))
			return nil, &fetch.Error{Kind: fetch.ErrConnect}
		}}
		c := &Cache{Fetcher: w, RetryMin: time.Minute, RetryMax: 5 * time.Minute}
		for range 20 * 60 {
			check(t, c, "http://h.test/")
			elapse(time.Second)
		}
		want := []time.Duration{0, time.Minute, 3 * time.Minute, 7 * time.Minute, 12 * time.Minute, 17 * time.Minute}
		if !slices.Equal(asked, want) {
			t.Errorf("asked at %v, want %v", asked, want)
		}
	})
}

func TestTargetsOfRedirectsAreChecked_K075(t *testing.T) {
	t.Parallel()
	w := &web{answer: always(200, "User-agent: *\nDisallow: /private\n")}
	c := &Cache{Fetcher: w}
	for url, want := range map[string]bool{
		"http://h.test/go": true, "http://h.test/private/x": false, "https://h.test/private": false, "http://h.test/%70rivate/x": false,
	} {
		if d := check(t, c, url); d.Allowed != want {
			t.Errorf("%s: allowed %v, want %v", url, d.Allowed, want)
		}
	}
}

func TestEachOriginHasItsFile_K078(t *testing.T) {
	t.Parallel()
	w := &web{answer: func(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
		return always(200, "User-agent: *\nDisallow: /"+strings.NewReplacer("/", "", ":", "").Replace(strings.TrimSuffix(req.URL, Path))+"$\n")(ctx, req)
	}}
	c := &Cache{Fetcher: w}
	origins := []string{"http://example.com", "http://www.example.com", "https://example.com", "http://example.com:8080", "http://[::1]:81", "http://127.0.0.1"}
	for _, origin := range origins {
		for _, other := range origins {
			path := "/" + strings.NewReplacer("/", "", ":", "").Replace(other)
			if d := check(t, c, origin+path); d.Allowed == (origin == other) {
				t.Errorf("%s%s: allowed %v", origin, path, d.Allowed)
			}
		}
	}
	for _, same := range []string{"HTTP://EXAMPLE.com:80/x", "http://user:secret@example.com/x#y", "https://example.com:443"} {
		check(t, c, same)
	}
	if w.count() != len(origins) {
		t.Errorf("%d requests for %d origins", w.count(), len(origins))
	}
	for _, req := range w.requests {
		if strings.Contains(req.URL, "secret") {
			t.Errorf("user info in %s", req.URL)
		}
	}
}

// TestStrayRuleIsCached shows that a file that begins with a rule is fetched once.
func TestStrayRuleIsCached_K080(t *testing.T) {
	t.Parallel()
	w := &web{answer: always(200, "Disallow: /\n"+someRules)}
	c := &Cache{Fetcher: w}
	for range 5 {
		if !check(t, c, "http://h.test/").Allowed || check(t, c, "http://h.test/private").Allowed {
			t.Error("the rules do not hold")
		}
	}
	if w.count() != 1 {
		t.Errorf("%d requests", w.count())
	}
}

func TestEndlessFileIsBounded_K081(t *testing.T) {
	t.Parallel()
	endless := strings.Repeat("# "+strings.Repeat("x", 61)+"\n", 100_000)
	for name, limit := range map[string]int64{"its own bound": 0, "a smaller one of the fetcher": 100_001} {
		w := &web{answer: func(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
			if req.MaxBody != MaxSize+1 {
				t.Errorf("%s: bound of the body is %d", name, req.MaxBody)
			}
			bounded := *req
			if limit > 0 {
				bounded.MaxBody = limit
			}
			return always(200, someRules+endless+"Disallow: /\n")(ctx, &bounded)
		}}
		c := &Cache{Fetcher: w}
		if d := check(t, c, "http://h.test/private"); d.Allowed || d.Err != nil || d.Source != SourceRules {
			t.Errorf("%s: before the cut: %+v", name, d)
		}
		if d := check(t, c, "http://h.test/"); !d.Allowed {
			t.Errorf("%s: behind the cut: %+v", name, d)
		}
	}
}

func TestHowLongAnswersHold(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		cache  Cache
		answer func(context.Context, *fetch.Request) (*fetch.Response, error)
		want   time.Duration
	}{
		{"a day", Cache{}, always(200, someRules), 24 * time.Hour},
		{"404 too", Cache{}, always(404, ""), 24 * time.Hour},
		{"never more than a day", Cache{MaxAge: 48 * time.Hour}, always(200, someRules), 24 * time.Hour},
		{"less if told", Cache{MaxAge: time.Hour}, always(200, someRules), time.Hour},
		{"longer max-age", Cache{}, always(200, "", "Cache-Control", "max-age=604800"), 24 * time.Hour},
		{"absurd max-age", Cache{}, always(200, "", "Cache-Control", "max-age=99999999999999999999"), 24 * time.Hour},
		{"shorter max-age", Cache{}, always(200, "", "Cache-Control", "public, Max-Age=\"3600\" , s-maxage=60"), time.Hour},
		{"max-age less age", Cache{}, always(404, "", "Cache-Control", "max-age=3600", "Age", "600"), 50 * time.Minute},
		{"max-age with a senseless age", Cache{}, always(200, "", "Cache-Control", "max-age=3600", "Age", "-5"), time.Hour},
		{"max-age of zero", Cache{}, always(200, "", "Cache-Control", "max-age=0, no-cache"), time.Minute},
		{"senseless max-age", Cache{}, always(200, "", "Cache-Control", "max-age=-1, max-age=, max-age=x"), 24 * time.Hour},
		{"own floor", Cache{MinAge: 10 * time.Minute}, always(200, "", "Cache-Control", "max-age=60"), 10 * time.Minute},
		{"no floor", Cache{MinAge: -1}, always(200, "", "Cache-Control", "max-age=5"), 5 * time.Second},
		{"429 as long as told", Cache{}, always(429, "", "Retry-After", "300"), 5 * time.Minute},
		{"429 for a while", Cache{RetryMin: 2 * time.Minute}, always(429, someRules), 2 * time.Minute},
	}
	for i := range tests {
		tt := &tests[i]
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := &web{answer: tt.answer}
				c := &tt.cache
				c.Fetcher = w
				if d := check(t, c, "http://h.test/"); !d.Allowed || d.Err != nil {
					t.Errorf("%+v", d)
				}
				elapse(tt.want - time.Millisecond)
				check(t, c, "http://h.test/")
				if w.count() != 1 {
					t.Error("asked again too early")
				}
				elapse(time.Millisecond)
				check(t, c, "http://h.test/")
				if w.count() != 2 {
					t.Error("not asked again")
				}
			})
		})
	}
}

func TestRulesGoOnWhileUnreachable(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &web{answer: always(200, someRules)}
		c := &Cache{Fetcher: w}
		first := check(t, c, "http://h.test/")
		w.set(always(503, ""))
		for range 100 { // three months and more
			elapse(25 * time.Hour)
			d := check(t, c, "http://h.test/private")
			if d.Allowed || d.Source != SourceRules || !d.Stale || d.RetryIn != 0 || d.Err == nil || !d.FetchedAt.Equal(first.FetchedAt) {
				t.Fatalf("%+v", d)
			}
			if !check(t, c, "http://h.test/").Allowed {
				t.Fatal("more is forbidden than the rules forbid")
			}
		}
		if w.count() != 101 {
			t.Errorf("%d requests", w.count())
		}
		w.set(always(404, ""))
		elapse(time.Hour)
		if d := check(t, c, "http://h.test/private"); !d.Allowed || d.Stale || d.Err != nil {
			t.Errorf("%+v", d)
		}
		w.set(fails(fetch.ErrConnect))
		elapse(25 * time.Hour)
		if d := check(t, c, "http://h.test/"); d.Allowed || d.Source != SourceDisallowAll {
			t.Errorf("a 404 is no copy that goes on: %+v", d)
		}
	})
}

func TestLongOutage(t *testing.T) {
	t.Parallel()
	for outage, want := range map[time.Duration]bool{0: true, 40 * 24 * time.Hour: false, -1: false} {
		synctest.Test(t, func(t *testing.T) {
			w := &web{answer: fails(fetch.ErrTimeout)}
			c := &Cache{Fetcher: w, Outage: outage}
			check(t, c, "http://h.test/")
			elapse(30*24*time.Hour - time.Second)
			if check(t, c, "http://h.test/").Allowed {
				t.Errorf("outage %v: allowed too early", outage)
			}
			elapse(2 * time.Hour)
			d := check(t, c, "http://h.test/")
			if d.Allowed != want || d.Err == nil || d.RetryIn > 0 == want {
				t.Errorf("outage %v: %+v", outage, d)
			}
		})
	}
}

func TestRedirects(t *testing.T) {
	t.Parallel()
	chain := func(hops int) func(context.Context, *fetch.Request) (*fetch.Response, error) {
		return func(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
			n := strings.Count(req.URL, "y")
			if n == hops {
				return always(200, someRules)(ctx, req)
			}
			return always(302, someRules, "Location", "/"+strings.Repeat("y", n+1))(ctx, req)
		}
	}
	to := func(status int, location string) func(context.Context, *fetch.Request) (*fetch.Response, error) {
		return func(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
			if strings.HasPrefix(req.URL, "http://h.test/robots.txt") {
				return always(status, "User-agent: *\nDisallow: /\n", "Location", location)(ctx, req)
			}
			if req.URL != "http://u.test/r" {
				t.Errorf("asked %s", req.URL)
			}
			return always(200, someRules)(ctx, req)
		}
	}
	tests := []struct {
		name     string
		answer   func(context.Context, *fetch.Request) (*fetch.Response, error)
		requests int
		rules    bool
	}{
		{"five hops", chain(5), 6, true},
		{"six hops", chain(6), 6, false},
		{"303", to(303, "//u.test/r#f"), 2, true},
		{"user info is not sent", to(308, "http://a:b@u.test/r"), 2, true},
		{"no location", to(301, ""), 1, false},
		{"no http", to(301, "ftp://u.test/r"), 1, false},
		{"no url", to(301, "http://[x/"), 1, false},
		{"not modified", to(304, "http://u.test/r"), 1, false},
		{"choices", to(300, "http://u.test/r"), 1, false},
		{"fetcher follows by itself and gives up", fails(fetch.ErrRedirect), 1, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := &web{answer: tt.answer}
			c := &Cache{Fetcher: w}
			d := check(t, c, "http://h.test/private")
			if d.Allowed == tt.rules || d.Err != nil || d.Source == SourceDisallowAll || w.count() != tt.requests {
				t.Errorf("%+v after %d requests, want %d", d, w.count(), tt.requests)
			}
		})
	}
}

// TestHopsAreNotAskedOfRobots has two hosts redirect to each other, and a fetcher that asks robots about everything else.
// TestFetchEndsWithTheLastWaiter shows that a fetch nobody waits for is given up, leaves nothing behind, and does not
// stand in the way of the next.
func TestPeek(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &web{answer: always(200, someRules)}
		c := &Cache{Fetcher: w}
		for _, url := range []string{"http://h.test/", "mailto:x", "", "http://[/"} {
			if d, ok := c.Peek(url); ok {
				t.Errorf("%q: %+v", url, d)
			}
		}
		check(t, c, "http://h.test/")
		elapse(1000 * time.Hour)
		if d, ok := c.Peek("http://h.test/private"); !ok || d.Allowed || d.Rule.Line != 2 || w.count() != 1 {
			t.Errorf("%+v %v", d, ok)
		}
	})
}

func TestCacheRefusesBadInput(t *testing.T) {
	t.Parallel()
	w := &web{answer: always(200, "")}
	c := &Cache{Fetcher: w}
	for _, url := range []string{"", "/x", "h.test/", "ftp://h.test/", "http://", "http://user:secret@[::z]/", "mailto:a@b"} {
		_, err := c.Check(t.Context(), url)
		if !errors.Is(err, fetch.ErrInvalid) || strings.Contains(err.Error(), "secret") || !strings.HasPrefix(err.Error(), "seine: ") {
			t.Errorf("%q: %v", url, err)
		}
		if _, err := c.Sitemaps(t.Context(), url); !errors.Is(err, fetch.ErrInvalid) {
			t.Errorf("%q: %v", url, err)
		}
	}
	var typed *AgentError
	if _, err := (&Cache{Fetcher: w, Agent: "my bot"}).Check(t.Context(), "http://h.test/"); !errors.As(err, &typed) {
		t.Error(err)
	}
	if _, err := new(Cache).Check(t.Context(), "http://h.test/"); !errors.Is(err, ErrNoFetcher) {
		t.Error(err)
	}
	if w.count() != 0 {
		t.Errorf("%d requests", w.count())
	}
}

func TestStatuses(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]Source{
		100: SourceDisallowAll, 200: SourceRules, 201: SourceRules, 206: SourceRules, 299: SourceRules,
		400: SourceAllowAll, 401: SourceAllowAll, 403: SourceAllowAll, 404: SourceAllowAll, 410: SourceAllowAll,
		418: SourceAllowAll, 429: SourceAllowAll, 451: SourceAllowAll, 499: SourceAllowAll,
		500: SourceDisallowAll, 501: SourceDisallowAll, 504: SourceDisallowAll, 600: SourceDisallowAll, 0: SourceDisallowAll,
	} {
		c := &Cache{Fetcher: &web{answer: always(status, someRules)}}
		d := check(t, c, "http://h.test/private")
		if d.Source != want || d.Allowed != (want == SourceAllowAll) || d.Status != status {
			t.Errorf("%d (%s): %+v", status, http.StatusText(status), d)
		}
	}
	for body, want := range map[string]Source{
		"": SourceAllowAll, "<html>\n" + someRules: SourceAllowAll, "Sitemap: http://h/s\n": SourceAllowAll, "Disallow: /\n": SourceAllowAll,
		"User-agent: other\nDisallow: /\n": SourceRules, "User-agent: *\nDisallow:\n": SourceRules,
	} {
		if d := check(t, &Cache{Fetcher: &web{answer: always(200, body)}}, "http://h.test/"); d.Source != want || !d.Allowed {
			t.Errorf("%q: %+v", body, d)
		}
	}
}

func FuzzMaxAge(f *testing.F) {
	f.Add("public, max-age=3600", "600")
	f.Add("max-age=\"5\",max-age=99999999999999999999", "-1")
	f.Fuzz(func(t *testing.T, cacheControl, age string) {
		c := &Cache{Fetcher: &web{}}
		c.configure()
		ttl := c.ttl(http.Header{"Cache-Control": {cacheControl}, "Age": {age}})
		if ttl < DefaultMinAge || ttl > DefaultMaxAge {
			t.Errorf("%v", ttl)
		}
	})
}
