package crawler

import (
	"context"
	"fmt"
	"time"
)

// CrawlID is what makes the requests of a crawl its own: its name, and how it makes keys.
type CrawlID struct {
	Name      string // Config.Name
	Canonical string // Config.Canonical, as text
}

// CrawlKeeper is a Frontier that holds one crawl. The engine refuses to run another on it, with a *ManifestError: that one
// would take what the first had queued, and take for seen what the first has seen.
type CrawlKeeper interface {
	// KeepCrawl has the frontier hold a crawl from now on, unless it holds one already, in one atomic step. It answers
	// which it holds. An ID has at most 64 KiB.
	KeepCrawl(ctx context.Context, id CrawlID) (CrawlID, error)
}

var _ CrawlKeeper = (*Memory)(nil)

// maxCrawlID bounds what is kept of a crawl.
const maxCrawlID = 64 << 10

// KeepCrawl implements CrawlKeeper. With a Journal the crawl is held as long as that.
func (m *Memory) KeepCrawl(ctx context.Context, id CrawlID) (got CrawlID, err error) {
	if n := len(id.Name) + len(id.Canonical); n > maxCrawlID || id == (CrawlID{}) {
		return CrawlID{}, fmt.Errorf("seine: frontier: the ID of a crawl has %d bytes, not 1 to %d", n, maxCrawlID)
	}
	err = m.do(ctx, func(_ time.Duration) error {
		if m.crawl == (CrawlID{}) {
			m.crawl = id
			m.journal.kept(id)
		}
		got = m.crawl
		return nil
	})
	return got, err
}
