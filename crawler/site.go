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
	// Seeds yields where to begin. An error ends the crawl before anything is fetched.
	Seeds(ctx context.Context) iter.Seq2[*Request, error]
}

// SiteScope is a Site with a scope of its own in place of its hosts.
type SiteScope interface{ Scope() Scope }

// SiteLimits is a Site that says how its hosts are to be visited. Fields that are zero are left to the Config.
type SiteLimits interface{ Limits() Limits }

// Limits bound a crawl, or the part of it that concerns a site.
type Limits struct {
	HostPolicy
	MaxDepth int   // links from a seed; zero and negative mean no limit
	MaxPages int64 // pages asked for; zero and negative mean no limit
	MaxBytes int64 // body bytes received; zero and negative mean no limit
}
