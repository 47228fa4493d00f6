package crawler

import (
	"context"
	"net/http"
	"net/netip"
	"time"

	"github.com/seine-go/seine/fetch"
	"github.com/seine-go/seine/internal/weburl"
	"github.com/seine-go/seine/ratelimit"
)

// foreign is a Fetcher that knows of no gate: the engine gates each fetch as one exchange, and makes requests of its
// redirects.
type foreign struct {
	e *Engine
	fetch.Fetcher
}

// Fetch implements fetch.Fetcher.
func (f foreign) Fetch(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
	u, ok := weburl.Split(req.URL)
	if !ok {
		return nil, &fetch.Error{Op: "parse", URL: req.URL, Kind: fetch.ErrInvalid}
	}
	leave, err := gate{f.e}.Enter(ctx, u.Host(), netip.Addr{})
	if err != nil {
		return nil, err
	}
	start := time.Now()
	r := ratelimit.Report{Class: ratelimit.NetError, Exchanges: 1}
	defer func() {
		r.Elapsed = time.Since(start)
		r.Sent = r.Elapsed // at the most: when the request was written only the Fetcher knows
		leave(r)
	}()
	resp, err := f.Fetcher.Fetch(ctx, f.named(req))
	if err == nil && resp != nil {
		r.Class, r.Status, r.Bytes = statusClass(resp), resp.Status, resp.RawSize
		r.RetryAfter, _ = fetch.RetryAfter(resp.Header, resp.Status, time.Now(), 0)
	}
	return resp, err
}

// named gives a request what the Config says and a Transport would have seen to: who asks, and how much it takes.
func (f foreign) named(req *fetch.Request) *fetch.Request {
	c := req.Clone()
	if c.Header == nil {
		c.Header = http.Header{}
	}
	if len(c.Header["User-Agent"]) == 0 {
		c.Header.Set("User-Agent", f.e.cfg.UserAgent)
	}
	if c.MaxBody == 0 {
		c.MaxBody = f.e.cfg.MaxBody
	}
	return c
}

// statusClass is what a status tells about the host's load.
func statusClass(resp *fetch.Response) ratelimit.Class {
	switch {
	case resp.Status == http.StatusTooManyRequests, resp.Status == http.StatusServiceUnavailable && resp.Header.Get("Retry-After") != "":
		return ratelimit.Throttle
	case resp.Status == http.StatusForbidden:
		return ratelimit.Block
	case resp.Status >= 500:
		return ratelimit.ServerError
	}
	return ratelimit.OK
}
