package crawler

import (
	"strings"
	"testing"
)

// A frontier holds the first crawl that it is told of, over deaths and ends in order.
func TestFrontierHoldsOneCrawl(t *testing.T) {
	j, _ := newHeld()
	films, books := CrawlID{Name: "films", Canonical: "strict"}, CrawlID{Name: "books", Canonical: "w3lib"}
	for life := range 5 {
		m := opened(t, j)
		for i, id := range []CrawlID{films, books} {
			if got, err := m.KeepCrawl(t.Context(), id); err != nil || got != films {
				t.Fatalf("life %d, %d: %+v, %v", life, i, got, err)
			}
		}
		if life%2 == 0 {
			_ = m.Close()
		}
	}
}

func TestCrawlIDIsBounded(t *testing.T) {
	for n, ok := range map[int]bool{0: false, 1: true, maxCrawlID: true, maxCrawlID + 1: false} {
		id := CrawlID{Canonical: strings.Repeat("x", n)}
		if got, err := NewMemory(MemoryOptions{}).KeepCrawl(t.Context(), id); (err == nil) != ok || ok && got != id {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}
