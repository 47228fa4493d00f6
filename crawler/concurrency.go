package crawler

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"time"
)

// How an engine finds its own concurrency: what is in flight doubles with each look until the first sign of load, then
// grows by a quarter, as long as hosts wait for a place; a sign of overload takes three tenths back.
const (
	startInFlight = 16
	mostInFlight  = 4096
	lookEvery     = 500 * time.Millisecond

	calmWait = 2 * time.Millisecond  // that nine in ten goroutines wait less than for a CPU: more may start
	longWait = 10 * time.Millisecond // and more than: too many have
	calmHeap = 0.8                   // share of the memory limit
	fullHeap = 0.9
	badShare = 0.2 // of exchanges without an answer
)

// load is what a look at the process sees.
type load struct {
	wait   time.Duration // ninth decile of the wait for a CPU
	memory float64       // share of the limit that is in use
	bad    float64       // share of exchanges that got no answer
	hungry bool          // hosts wait for a place
}

// grower decides how much may be in flight. It is a pure state machine, so that time and the process stay outside.
type grower struct {
	limit int
	calm  bool // no sign of load yet
}

func newGrower() grower { return grower{limit: startInFlight, calm: true} }

// step takes a look into account.
func (g *grower) step(l load) {
	switch {
	case l.wait > longWait || l.memory > fullHeap || l.bad > badShare:
		g.calm = false
		g.limit = max(startInFlight, int(0.7*float64(g.limit)))
	case l.wait > calmWait || l.memory > calmHeap:
		g.calm = false
	case !l.hungry:
	case g.calm:
		g.limit = min(2*g.limit, mostInFlight)
	default:
		g.limit = min(g.limit+g.limit/4, mostInFlight)
	}
}

// watch raises and lowers what may be in flight until stop is closed.
func (r *run) watch(stop <-chan struct{}) {
	g, look := newGrower(), r.e.look
	if look == nil {
		look = newLookout().load
	}
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
		}
		l := look()
		r.mu.Lock()
		l.hungry = r.hungry
		if done := r.answered + r.unanswered; done > 0 {
			l.bad = float64(r.unanswered) / float64(done)
		}
		r.hungry, r.answered, r.unanswered = false, 0, 0
		g.step(l)
		r.limit = g.limit
		if r.idle == 0 && !r.ended { // all are busy, perhaps for long: none would look for more
			r.spawn(1)
		}
		r.cond.Signal()
		r.mu.Unlock()
	}
}

// cgroups is where Linux mounts control groups.
const cgroups = "/sys/fs/cgroup"

// lookout reads what the process tells about its load.
type lookout struct {
	samples []metrics.Sample
	counts  []uint64 // of the waits, at the last look
	limit   float64  // of memory in bytes
}

func newLookout() *lookout {
	l := &lookout{samples: []metrics.Sample{
		{Name: "/sched/latencies:seconds"}, {Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"},
	}, limit: memoryLimit(cgroups)}
	l.load()
	return l
}

func (l *lookout) load() load {
	metrics.Read(l.samples)
	var now load
	if h := l.samples[0].Value; h.Kind() == metrics.KindFloat64Histogram {
		now.wait = l.decile(h.Float64Histogram())
	}
	if a, b := l.samples[1].Value, l.samples[2].Value; a.Kind() == metrics.KindUint64 && b.Kind() == metrics.KindUint64 {
		now.memory = float64(a.Uint64()-b.Uint64()) / l.limit
	}
	return now
}

// decile returns the ninth decile of what was added to the histogram since the last look.
func (l *lookout) decile(h *metrics.Float64Histogram) time.Duration {
	if len(l.counts) != len(h.Counts) {
		l.counts = make([]uint64, len(h.Counts))
	}
	total := uint64(0)
	for i, c := range h.Counts {
		total += c - l.counts[i]
	}
	below, at := uint64(0), 0.0
	for i, c := range h.Counts {
		below += c - l.counts[i]
		if total > 0 && 10*below >= 9*total {
			at = h.Buckets[i]
			break
		}
	}
	copy(l.counts, h.Counts)
	if math.IsInf(at, 0) || at < 0 {
		return 0
	}
	return time.Duration(at * float64(time.Second))
}

// memoryLimit is the least of what the runtime and the control group allow, in bytes; infinite if neither says. root is
// where control groups are mounted.
func memoryLimit(root string) float64 {
	limit := math.Inf(1)
	if n := debug.SetMemoryLimit(-1); n < math.MaxInt64 {
		limit = float64(n)
	}
	for _, file := range [...]string{"memory.max", "memory/memory.limit_in_bytes"} { // version 2, then 1
		if b, err := os.ReadFile(filepath.Join(root, file)); err == nil {
			if n, err := strconv.ParseUint(string(bytes.TrimSpace(b)), 10, 63); err == nil && n > 0 {
				limit = min(limit, float64(n))
			}
		}
	}
	return limit
}
