package robots

import (
	"context"
	"errors"
	"fmt"
	"net/http"
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
