package fetch

import (
	"math"
	"slices"
	"sync"
	"time"
)

const (
	latencySamples = 128  // that are kept of each host
	latencyHosts   = 1024 // of which samples are kept; the one that was asked least recently is forgotten
	latencyLeast   = 20   // samples from which on a quantile is told
)

// latencies remembers how long the latest answers of hosts took. It is safe for concurrent use.
type latencies struct {
	mu     sync.Mutex
	hosts  map[string]*latencyHost
	recent list[*latencyHost]
}

type latencyHost struct {
	name    string
	node    node[*latencyHost]
	samples [latencySamples]time.Duration // a ring
	next    int
	full    bool
}

// add notes how long an answer took.
func (l *latencies) add(host string, took time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.hosts[host]
	if h == nil {
		if len(l.hosts) >= latencyHosts {
			oldest := l.recent.front()
			l.recent.remove(&oldest.node)
			delete(l.hosts, oldest.name)
		}
		if l.hosts == nil {
			l.hosts = map[string]*latencyHost{}
		}
		h = &latencyHost{name: host}
		h.node.value = h
		l.hosts[host] = h
		l.recent.pushBack(&h.node)
	}
	l.recent.moveToBack(&h.node)
	h.samples[h.next] = took
	if h.next++; h.next == latencySamples {
		h.next, h.full = 0, true
	}
}

// quantile returns how long a share q of the latest answers of a host took at most; false while there are too few.
func (l *latencies) quantile(host string, q float64) (time.Duration, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.hosts[host]
	if h == nil {
		return 0, false
	}
	n := h.next
	if h.full {
		n = latencySamples
	}
	if n < latencyLeast {
		return 0, false
	}
	sorted := h.samples
	slices.Sort(sorted[:n])
	return sorted[max(int(math.Ceil(q*float64(n)))-1, 0)], true
}
