package robots

import (
	"context"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seine-go/seine/fetch"
)

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
