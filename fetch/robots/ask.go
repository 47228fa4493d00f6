package robots

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/seine-go/seine/fetch"
	"github.com/seine-go/seine/internal/weburl"
)

// maxRedirects is how many hops are followed (RFC 9309 2.3.1.2).
const maxRedirects = 5

// answer is what came of asking an origin.
type answer struct {
	err     error // why nothing is known; only status and wait say more then
	status  int
	hasFile bool
	body    []byte
	cut     bool          // body is known not to be the whole
	ttl     time.Duration // how long the answer holds
	wait    time.Duration // how long the origin asks not to be asked; 0 when it does not
}

// refresh finds out what holds of an origin, of which something may be known from before.
func (c *Cache) refresh(ctx context.Context, origin string, before *state) *state {
	if before == nil {
		if before = c.load(ctx, origin); before != nil && time.Now().Before(before.due) {
			return before
		}
	}
	a := c.ask(ctx, origin)
	now := time.Now()
	if a.err == nil {
		c.save(ctx, origin, a, now)
		return c.known(a, now)
	}
	s := c.unknown(before, a, now)
	if s.tries == 1 && !errors.Is(ctx.Err(), context.Canceled) { // canceled: nobody waits, and s is dropped
		c.saveOutage(ctx, origin, now)
	}
	return s
}

// ask fetches the robots.txt of an origin. Hops are followed here, so that five are followed whatever the Fetcher does by
// itself, and each is an exchange of its own to the Gate.
func (c *Cache) ask(ctx context.Context, origin string) answer {
	url := origin + Path
	for hops := 0; ; hops++ {
		resp, err := c.Fetcher.Fetch(ctx, &fetch.Request{URL: url, MaxBody: MaxSize + 1, MaxRedirects: -1})
		switch {
		case errors.Is(err, fetch.ErrRedirect): // of a Fetcher that follows all the same
			return answer{ttl: c.set.maxAge}
		case err != nil:
			return answer{err: err}
		case resp == nil:
			return answer{err: errors.New("fetcher gave neither answer nor error")}
		}
		if !isRedirect(resp.Status) {
			return c.read(resp)
		}
		next, ok := location(resp, url)
		if !ok || hops == maxRedirects {
			return answer{status: resp.Status, ttl: c.ttl(resp.Header)}
		}
		url = next
	}
}

// read makes an answer of a response that is no redirect.
func (c *Cache) read(resp *fetch.Response) answer {
	a := answer{status: resp.Status, ttl: c.ttl(resp.Header)}
	a.wait, _ = fetch.RetryAfter(resp.Header, resp.Status, time.Now(), c.set.retryMax)
	switch {
	case resp.Status >= 200 && resp.Status < 300:
		if resp.Truncated && !errors.Is(resp.BodyErr(), fetch.ErrBodyLimit) {
			return answer{status: resp.Status, err: fmt.Errorf("seine: robots: body cut: %w", resp.BodyErr())}
		}
		a.hasFile, a.body, a.cut = true, resp.Body, resp.Truncated
	case resp.Status == http.StatusTooManyRequests:
		a.ttl = min(max(c.set.retryMin, a.wait), c.set.maxAge)
	case resp.Status < 300 || resp.Status >= 500:
		return answer{status: resp.Status, wait: a.wait, err: &fetch.StatusError{Status: resp.Status, URL: resp.URL}}
	}
	return a
}

func isRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// location returns where a redirect leads, if that can be followed. User info in it is not sent.
func location(resp *fetch.Response, asked string) (string, bool) {
	to := resp.Header.Get("Location")
	if to == "" {
		return "", false
	}
	base, err := weburl.Parse(asked)
	if err != nil {
		return "", false
	}
	u, err := base.Resolve(to)
	if err != nil || !u.IsHTTP() {
		return "", false
	}
	return u.WithoutFragment().WithoutUserInfo().Href(), true
}

// ttl returns how long an answer holds: MaxAge, or less when its max-age (RFC 9111 5.2.2.1) says so.
func (c *Cache) ttl(h http.Header) time.Duration {
	ttl := c.set.maxAge
	for _, line := range h.Values("Cache-Control") {
		for directive := range strings.SplitSeq(line, ",") {
			name, value, ok := strings.Cut(strings.Trim(directive, blanks), "=")
			if !ok || !strings.EqualFold(strings.TrimRight(name, blanks), "max-age") {
				continue
			}
			seconds, err := strconv.ParseUint(strings.Trim(value, blanks+`"`), 10, 64)
			if err != nil || seconds >= uint64(ttl/time.Second) {
				continue
			}
			ttl = time.Duration(seconds) * time.Second
		}
	}
	if ttl < c.set.maxAge {
		if age, err := strconv.ParseUint(strings.Trim(h.Get("Age"), blanks), 10, 31); err == nil {
			ttl = max(ttl-time.Duration(age)*time.Second, 0)
		}
	}
	return min(max(ttl, c.set.minAge), c.set.maxAge)
}
