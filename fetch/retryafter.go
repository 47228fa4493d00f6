package fetch

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// DefaultMaxRetryAfter caps what RetryAfter returns where no other cap is given.
const DefaultMaxRetryAfter = time.Hour

// RetryAfter returns how long the host asks to wait before the next request, and whether it does. It reads Retry-After
// (RFC 9110 10.2.3) of answers from 300 on, and of a 429 that has none X-RateLimit-Reset and the RateLimit fields of the
// IETF drafts. A date counts from the Date of the answer, without one from now. Of several values the longest wait counts;
// those that mean nothing are passed over. The result is from 0 to most; most zero means DefaultMaxRetryAfter, negative
// no cap.
func RetryAfter(h http.Header, status int, now time.Time, most time.Duration) (time.Duration, bool) {
	if status < 300 {
		return 0, false
	}
	if date, ok := parseDate(h.Get("Date")); ok {
		now = date
	}
	wait, found := longest(h["Retry-After"], func(v string) (time.Duration, bool) { return retryAfter(v, now) })
	if !found && status == http.StatusTooManyRequests {
		wait, found = rateLimitReset(h, now)
	}
	if most == 0 {
		most = DefaultMaxRetryAfter
	}
	if most > 0 && wait > most {
		wait = most
	}
	return wait, found
}

func longest(values []string, read func(string) (time.Duration, bool)) (wait time.Duration, found bool) {
	for _, v := range values {
		if d, ok := read(strings.TrimSpace(v)); ok {
			wait, found = max(wait, d), true
		}
	}
	return wait, found
}

// retryAfter reads seconds or a date.
func retryAfter(v string, now time.Time) (time.Duration, bool) {
	if isDigits(v) {
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil {
			n = math.MaxInt64
		}
		return seconds(float64(n)), true
	}
	if date, ok := parseDate(v); ok {
		return max(date.Sub(now), 0), true
	}
	return 0, false
}

func isDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// seconds converts without overflow, and rounds up to milliseconds.
func seconds(s float64) time.Duration {
	if s >= math.MaxInt64/float64(time.Second) {
		return math.MaxInt64
	}
	return time.Duration(math.Ceil(s*1e3)) * time.Millisecond
}

// dateForms are those that RFC 9110 5.6.7 has and those that are met beside them.
var dateForms = [...]string{
	http.TimeFormat, time.RFC850, time.ANSIC, time.RFC1123Z, time.RFC1123,
	"Mon, 02 Jan 2006 15:04:05", "Monday, 02-Jan-06 15:04:05", "Mon, 02-Jan-2006 15:04:05 MST", "02 Jan 2006 15:04:05 MST",
}

// parseDate reads a date. A zone that is missing or only a name is read as GMT.
func parseDate(v string) (time.Time, bool) {
	if len(v) < len("02 Jan 2006 15:04:05") || len(v) > 64 {
		return time.Time{}, false
	}
	for _, form := range dateForms {
		if t, err := time.Parse(form, v); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// rateLimitReset reads when a quota that is used up is filled again.
func rateLimitReset(h http.Header, now time.Time) (time.Duration, bool) {
	for _, prefix := range [...]string{"X-Ratelimit-", "X-Rate-Limit-", "Ratelimit-"} {
		if left := strings.TrimSpace(h.Get(prefix + "Remaining")); left != "" && left != "0" {
			continue
		}
		if d, ok := longest(h[prefix+"Reset"], func(v string) (time.Duration, bool) { return reset(v, now) }); ok {
			return d, true
		}
	}
	return longest(h["Ratelimit"], func(v string) (time.Duration, bool) { return draftReset(v, now) })
}

// Above these a number is a time since 1970, not from now: 2001-09-09 in seconds and in milliseconds.
const (
	epochSeconds = 1e9
	epochMillis  = 1e12
)

// reset reads seconds from now or since 1970, or milliseconds since 1970.
func reset(v string, now time.Time) (time.Duration, bool) {
	n, err := strconv.ParseFloat(v, 64)
	if err != nil || math.IsNaN(n) || n < 0 || !isDigits(strings.Replace(v, ".", "", 1)) {
		return 0, false
	}
	if n >= epochMillis {
		n /= 1e3
	}
	if n >= epochSeconds {
		n = max(n-float64(now.UnixNano())/1e9, 0)
		return seconds(math.Round(n*1e3) / 1e3), true
	}
	return seconds(n), true
}

// draftReset reads the RateLimit field: "limit=100, remaining=0, reset=90" of the older drafts, `"name";r=0;t=90` of the newer.
func draftReset(v string, now time.Time) (time.Duration, bool) {
	var wait time.Duration
	found := false
	for _, item := range strings.Split(v, ",") {
		for _, part := range strings.Split(item, ";") {
			name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
			name, value = strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(value)
			switch {
			case (name == "remaining" || name == "r") && value != "0":
				return 0, false
			case name == "reset" || name == "t":
				if d, ok := reset(value, now); ok {
					wait, found = max(wait, d), true
				}
			}
		}
	}
	return wait, found
}
