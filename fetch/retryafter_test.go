package fetch

import (
	"net/http"
	"testing"
	"time"
)

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2027, 12, 31, 23, 58, 0, 0, time.UTC)
	const none = -1
	for _, c := range []struct {
		name   string
		status int
		header http.Header
		most   time.Duration
		want   time.Duration // none: nothing is asked for
	}{
		{"seconds", 503, http.Header{"Retry-After": {"7"}}, 0, 7 * time.Second},
		{"the longest of several", 429, http.Header{"Retry-After": {"7", "soon", "9", "8"}}, 0, 9 * time.Second},
		{"at the cap", 429, http.Header{"Retry-After": {"3600"}}, 0, time.Hour},
		{"past the cap", 429, http.Header{"Retry-After": {"3601"}}, 0, time.Hour},
		{"no cap", 429, http.Header{"Retry-After": {"7200"}}, -1, 2 * time.Hour},
		{"more than a duration holds", 429, http.Header{"Retry-After": {"99999999999999999999"}}, -1, 1<<63 - 1},
		{"zero", 429, http.Header{"Retry-After": {"0"}}, 0, 0},
		{"negative", 429, http.Header{"Retry-After": {"-5"}}, 0, none},
		{"signed", 429, http.Header{"Retry-After": {"+5"}}, 0, none},
		{"fraction", 429, http.Header{"Retry-After": {"1.5"}}, 0, none},
		{"garbage", 429, http.Header{"Retry-After": {"1e9"}}, 0, none},
		{"an answer that is no refusal", 200, http.Header{"Retry-After": {"7"}}, 0, none},
		{"asctime", 503, http.Header{"Retry-After": {"Fri Dec 31 23:59:00 2027"}}, 0, time.Minute},
		{"numeric zone", 503, http.Header{"Retry-After": {"Sat, 01 Jan 2028 00:59:00 +0100"}}, 0, time.Minute},
		{"the answer's own clock", 503, http.Header{"Retry-After": {"Sat, 01 Jan 2028 00:59:00 GMT"}, "Date": {"Sat, 01 Jan 2028 00:58:30 GMT"}}, 0, 30 * time.Second},
		{"a bad Date", 503, http.Header{"Retry-After": {"Fri, 31 Dec 2027 23:59:00 GMT"}, "Date": {"yesterday"}}, 0, time.Minute},
		{"Retry-After beats the quota", 429, http.Header{"Retry-After": {"3"}, "X-Ratelimit-Reset": {"90"}}, 0, 3 * time.Second},
		{"quota left", 429, http.Header{"X-Ratelimit-Remaining": {"4"}, "X-Ratelimit-Reset": {"90"}}, 0, none},
		{"quota on another status", 200, http.Header{"X-Ratelimit-Remaining": {"0"}, "X-Ratelimit-Reset": {"90"}}, 0, none},
		{"quota in milliseconds since 1970", 429, http.Header{"X-Rate-Limit-Reset": {"1830297540000"}}, 0, time.Minute},
		{"quota with a fraction", 429, http.Header{"X-Ratelimit-Reset": {"1.25"}}, 0, 1250 * time.Millisecond},
		{"quota in the past", 429, http.Header{"X-Ratelimit-Reset": {"1500000000"}}, 0, 0},
		{"quota not a number", 429, http.Header{"X-Ratelimit-Reset": {"NaN"}}, 0, none},
		{"separate draft field", 429, http.Header{"Ratelimit-Reset": {"12"}}, 0, 12 * time.Second},
		{"structured draft", 429, http.Header{"Ratelimit": {`"burst";r=0;t=12`}}, 0, 12 * time.Second},
		{"structured draft, left", 429, http.Header{"Ratelimit": {`"burst";r=3;t=12`}}, 0, none},
	} {
		got, ok := RetryAfter(c.header, c.status, now, c.most)
		if ok != (c.want != none) || ok && got != c.want {
			t.Errorf("%s: %v %v, want %v", c.name, got, ok, c.want)
		}
	}
}

func FuzzRetryAfter(f *testing.F) {
	for _, v := range []string{"120", "-5", "1e9", "Fri, 31 Dec 2027 23:59:59 GMT", "Friday, 31-Dec-27 23:59:59 GMT", "limit=1, remaining=0, reset=9", "9999999999999999999999"} {
		f.Add(v, "Fri, 31 Dec 2027 23:58:00 GMT", int64(1830297480))
	}
	f.Fuzz(func(t *testing.T, value, date string, unix int64) {
		const most = time.Hour
		for _, name := range []string{"Retry-After", "X-Ratelimit-Reset", "Ratelimit"} {
			h := http.Header{name: {value}, "Date": {date}}
			for _, limit := range []time.Duration{most, -1} {
				d, ok := RetryAfter(h, 429, time.Unix(unix, 0), limit)
				if d < 0 || !ok && d != 0 || limit > 0 && d > limit {
					t.Fatalf("%s %q: %v %v", name, value, d, ok)
				}
			}
		}
	})
}
