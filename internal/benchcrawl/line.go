package main

import (
	"encoding/json"
	"math"
	"os"
	"runtime"
	"runtime/metrics"
	"time"
)

// line is what the program prints at its end.
type line struct {
	Peer      string   `json:"peer"`
	Pages     int64    `json:"pages"`
	Links     int64    `json:"links,omitempty"`
	Errors    int64    `json:"errors"`
	Fields    *int64   `json:"fields,omitempty"`
	FieldsCRC *uint32  `json:"fields_crc,omitempty"`
	Seconds   float64  `json:"seconds"`
	PagesPerS float64  `json:"pages_per_s"`
	MaxRSSKB  int64    `json:"max_rss_kb"`
	CPUS      float64  `json:"cpu_s"`
	Allocs    uint64   `json:"allocs_per_page"`
	AllocB    uint64   `json:"alloc_b_per_page"`
	GCs       uint32   `json:"gcs"`
	GCPause   *float64 `json:"gc_pause_p99_us,omitempty"`
}

// print completes and writes the line.
func (l *line) print(start time.Time) error {
	l.Peer = "seine"
	l.Seconds = time.Since(start).Seconds()
	l.PagesPerS = float64(l.Pages) / l.Seconds
	l.MaxRSSKB, l.CPUS = usage()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if l.Pages > 0 {
		l.Allocs, l.AllocB = m.Mallocs/uint64(l.Pages), m.TotalAlloc/uint64(l.Pages)
	}
	l.GCs, l.GCPause = m.NumGC, pauseP99()
	return json.NewEncoder(os.Stdout).Encode(l)
}

// pauseP99 is the 99th percentile of the collector's pauses in microseconds: the upper end of its bucket, or the lower
// one where the upper is infinite.
func pauseP99() *float64 {
	s := []metrics.Sample{{Name: "/sched/pauses/total/gc:seconds"}}
	metrics.Read(s)
	if s[0].Value.Kind() != metrics.KindFloat64Histogram {
		return nil
	}
	h := s[0].Value.Float64Histogram()
	total, below := uint64(0), uint64(0)
	for _, n := range h.Counts {
		total += n
	}
	for i, n := range h.Counts {
		if below += n; total > 0 && float64(below) >= 0.99*float64(total) {
			end := h.Buckets[i+1]
			if math.IsInf(end, 0) {
				end = h.Buckets[i]
			}
			us := math.Round(end*1e7) / 10
			return &us
		}
	}
	return nil
}
