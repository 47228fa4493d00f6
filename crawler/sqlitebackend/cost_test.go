package sqlitebackend

import (
	"testing"

	"github.com/seine-go/seine/crawler/frontiertest"
)

func BenchmarkFrontier(b *testing.B) {
	frontiertest.Benchmark(b, func(b *testing.B) frontiertest.Harness {
		h := harness(b)
		h.Advance, h.Reopen, h.CutTail, h.Dump = nil, nil, nil, nil
		return h
	})
}
