package crawler

import (
	"fmt"
	"sync/atomic"
	"time"
)

// Stats is what a run did.
type Stats struct {
	Pages     int64 // delivered to the handler and done
	Failed    int64 // given up
	Retried   int64 // tries that were put off
	Refused   int64 // not asked for: robots.txt, scope, depth, the budget of their host
	Trapped   int64 // links that a rule against traps left out
	Moved     int64 // answered by a redirect to what became, or was already, a request of its own
	Links     int64 // that handlers followed
	LinksCut  int64 // links beyond MaxLinks, which were left out
	Cut       int64 // pages that were done with less than their whole body or with more links than MaxLinks
	Flattened int64 // pages that were done with a tree that lacks elements, which were nested too deep
	Items     int64 // that pages left in the Store
	Requests  int64 // that were sent: pages, each try and each hop of them, robots.txt
	Bytes     int64 // of all bodies, those of redirects and robots.txt too, as they came over the wire
	Panics    int64 // of handlers, middlewares and whatever else the application brings

	Abandoned int64 // handlers that went on after their time, or after the end, and were left behind

	Elapsed  time.Duration
	Finished bool   // nothing was left to do
	Spent    string // the budget that ended the run: MaxPages, MaxBytes or MaxTime; "" for none
}

// String returns the stats in one line.
func (s *Stats) String() string {
	line := fmt.Sprintf("%d pages, %d failed, %d refused", s.Pages, s.Failed, s.Refused)
	for _, left := range [...]struct {
		n    int64
		what string
	}{{s.Cut, "cut"}, {s.Trapped, "links trapped"}, {s.LinksCut, "links cut"}, {s.Flattened, "flattened"}, {s.Panics, "panics"}, {s.Abandoned, "abandoned"}} {
		if left.n > 0 {
			line += fmt.Sprintf(", %d %s", left.n, left.what)
		}
	}
	line += fmt.Sprintf(", %d bytes in %v", s.Bytes, s.Elapsed.Round(time.Millisecond))
	if s.Spent != "" {
		line += ", " + s.Spent + " spent"
	}
	return line
}

// counters are the stats while the engine runs.
type counters struct {
	pages, failed, retried, refused, moved, trapped, links, linksCut, cut, flattened, items, requests, bytes, panics, abandoned atomic.Int64
}

func (c *counters) snapshot() *Stats {
	return &Stats{
		Pages: c.pages.Load(), Failed: c.failed.Load(), Retried: c.retried.Load(), Refused: c.refused.Load(), Moved: c.moved.Load(),
		Trapped: c.trapped.Load(), Links: c.links.Load(), LinksCut: c.linksCut.Load(), Cut: c.cut.Load(), Flattened: c.flattened.Load(),
		Items: c.items.Load(), Requests: c.requests.Load(), Bytes: c.bytes.Load(), Panics: c.panics.Load(), Abandoned: c.abandoned.Load(),
	}
}

// less returns the difference to an earlier snapshot.
func (s *Stats) less(b *Stats) *Stats {
	return &Stats{
		Pages: s.Pages - b.Pages, Failed: s.Failed - b.Failed, Retried: s.Retried - b.Retried, Refused: s.Refused - b.Refused,
		Moved: s.Moved - b.Moved, Trapped: s.Trapped - b.Trapped, Links: s.Links - b.Links, LinksCut: s.LinksCut - b.LinksCut, Cut: s.Cut - b.Cut, Flattened: s.Flattened - b.Flattened,
		Items: s.Items - b.Items, Requests: s.Requests - b.Requests, Bytes: s.Bytes - b.Bytes, Panics: s.Panics - b.Panics, Abandoned: s.Abandoned - b.Abandoned,
	}
}
