package crawler

import (
	"context"
	"iter"
)

// Site is everything about crawling one site, as a plain value: its name, hosts, seeds and handler. It serves as
// Config.Handler; its seeds are offered at every Run, its hosts are the scope.
type Site interface {
	Handler
	Name() string
	Hosts() []string
	// Seeds yields where to begin. Pages are fetched from the first one on, beside it; it may take its time, or never come
	// to an end by itself. It should return soon after ctx ends, which it does when the run has no use for more. An error
	// ends the crawl.
	Seeds(ctx context.Context) iter.Seq2[*Request, error]
}

// SiteScope is a Site with a scope of its own in place of its hosts.
type SiteScope interface{ Scope() Scope }

// SiteLimits is a Site that says how its hosts are to be visited. Fields that are zero are left to the Config.
type SiteLimits interface{ Limits() Limits }

// Limits are the pace of a site's hosts. Depth and budgets are those of the Config.
type Limits struct{ HostPolicy }
