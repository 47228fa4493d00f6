package crawler

import (
	"fmt"
	"hash/crc32"
	"runtime/debug"
	"sync"
	"time"

	"github.com/seine-go/seine/ratelimit"
)

// A state is read by every version that has its schema. The changes after it are those of the version that saved it, since
// whoever opens a crawl saves its state first.

// VersionError says that a Journal was written by another version of the library, in a way that this one cannot go on
// from. Nothing is damaged, and nothing was changed.
type VersionError struct {
	Version string // of the library that wrote it, as its module is named; "" if that is not known
	Schema  uint64 // of its state, if that is what this version cannot read; 0: its last changes were not closed
}

// Error says what is to be done.
func (e *VersionError) Error() string {
	by := "another version of the library"
	if e.Version != "" {
		by += ", " + e.Version
	}
	if e.Schema != 0 {
		return fmt.Sprintf("seine: frontier: the crawl was written by %s: its state has schema %d, and this one reads %d: go on with that version", by, e.Schema, stateSchema)
	}
	return fmt.Sprintf("seine: frontier: the crawl was written by %s, and not closed: this one would not come to where it was: open it with that version once, and close it", by)
}

// libraryVersion is that of the module in the program that runs; "" if it was not built from a tagged one.
var libraryVersion = sync.OnceValue(func() string {
	const path = "github.com/seine-go/seine"
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, m := range append(info.Deps, &info.Main) {
		if m.Path == path && m.Version != "(devel)" && m.Replace == nil {
			return m.Version
		}
	}
	return ""
})

// semantics is a number for what changes do. A change says what was called, and is done again by the code of today: it leads
// to the same state only if that code is what it was. So a history that takes the pace of hosts up and down is gone through
// once, and the number stands for where that leads. Processors whose sums round in another way differ too.
var semantics = sync.OnceValue(func() uint64 {
	h := newHistory()
	h.run()
	return uint64(h.sum)
})

const historySteps = 4000

// history has a frontier in memory do what a crawl does, the same each time.
type history struct {
	m   *Memory
	now time.Duration
	rnd uint64
	sum uint32
}

func newHistory() *history {
	h := &history{m: NewMemory(MemoryOptions{HashKey: [2]uint64{1, 2}, AgeStep: time.Second, LeaseTTL: 20 * time.Second, MaxPending: 300})}
	h.m.clock = func() time.Duration { return h.now }
	return h
}

func (h *history) run() {
	for i := range historySteps {
		if h.step(); i%64 == 0 {
			h.look()
		}
	}
	h.look()
}

// pick returns a number below n.
func (h *history) pick(n int) int {
	h.rnd = h.rnd*6364136223846793005 + 1442695040888963407
	return int(h.rnd>>33) % n
}

func (h *history) note(all ...uint64) {
	h.sum = crc32.Update(h.sum, crc32.IEEETable, appendUints(nil, all...))
}

func (h *history) request() *Request {
	n := h.pick(20_000)
	return &Request{URL: fmt.Sprintf("https://h%d.example/%d", min(n%9, 4), n), Priority: h.pick(3)}
}

func (h *history) step() {
	h.now += time.Duration(h.pick(120)) * time.Millisecond
	switch h.pick(400) {
	case 0:
		h.now += time.Minute // whoever holds something is dead
	case 1, 2, 3:
		h.now += time.Duration(5000+h.pick(4000)) * time.Millisecond
	}
	m := h.m
	m.bring(h.now)
	switch h.pick(12) {
	case 0, 1:
		r := h.request()
		h.note(uint64(m.add(r, m.keys.hash(r.key()), h.now)))
	case 2, 3, 4, 5, 6:
		b, _ := m.lease(LeaseRequest{Owner: "a", Boot: 1, Max: h.pick(4), TTL: m.opt.LeaseTTL}, h.now)
		for _, l := range b.Leases {
			h.note(l.Epoch, uint64(l.Attempt), m.holds.byID[l.Epoch].hash)
		}
		h.note(uint64(b.Next))
	case 7, 8, 9, 10:
		h.settle()
	default:
		h.reserve()
	}
}

func (h *history) settle() {
	m := h.m
	if len(m.holds.ends) == 0 {
		return
	}
	l := m.holds.ends[h.pick(len(m.holds.ends))]
	report := h.report(l.host)
	if !l.lease {
		m.release(l, report, h.now)
		return
	}
	s := Settlement{Outcome: Done, Report: report, Links: []*Request{h.request(), h.request()}}
	switch h.pick(10) {
	case 0:
		s = Settlement{Outcome: Retry, Report: report, Delay: time.Duration(h.pick(3)) * time.Second}
	case 1:
		s = Settlement{Outcome: Released}
	case 2:
		s = Settlement{Outcome: Failed, Report: report}
	case 3:
		other := m.holds.ends[h.pick(len(m.holds.ends))] // leased, or none
		s.Seen, s.Revisit = []string{h.request().key(), other.key}, time.Minute
	}
	if links := m.hashes(nil, s.Links); m.fits(&s, links) {
		m.settle(l, &s, links, h.now)
	}
}

// report is that of a host whose latency grows with its load, and which at times complains.
func (h *history) report(host *memHost) HostReport {
	latency := time.Duration(20+h.pick(30)+40*host.inFlight*h.pick(2)) * time.Millisecond
	r := HostReport{Class: ratelimit.OK, Status: 200, Exchanges: 1, Latency: latency, Elapsed: 2 * latency, Sent: latency, Since: time.Duration(h.pick(5)) * time.Millisecond}
	switch trouble := int(h.now/time.Minute) % 4; {
	case trouble == 1 && h.pick(3) == 0:
		r.Class, r.Status, r.RetryAfter = ratelimit.Throttle, 429, time.Duration(h.pick(2))*time.Second
	case trouble == 2 && h.pick(3) == 0:
		r.Class, r.Status = ratelimit.ServerError, 500
	case trouble == 3 && h.pick(8) == 0:
		r.Class, r.Status, r.Proxy = ratelimit.Block, 403, fmt.Sprint(h.pick(5))
	}
	return r
}

func (h *history) reserve() {
	host := fmt.Sprintf("h%d.example", h.pick(5))
	switch h.pick(8) {
	case 0:
		_ = h.m.setHost(host, HostPolicy{MaxInFlight: 1 + h.pick(8), Spacing: time.Duration(h.pick(3)) * 20 * time.Millisecond}, h.now)
	case 1:
		_ = h.m.setHost(host, HostPolicy{Delay: time.Duration(h.pick(2)*50-1) * time.Millisecond}, h.now)
	default:
		got, err := h.m.reserve(ReserveRequest{Host: host, TTL: time.Second, Late: h.pick(2) == 0}, h.now)
		if err == nil {
			h.note(got.ID, uint64(got.Wait))
		}
	}
}

// look takes in what became of the hosts.
func (h *history) look() {
	for _, host := range h.m.hostsInOrder() {
		h.note(host.seq, uint64(host.next), uint64(host.blocked), uint64(host.at), uint64(host.inFlight), uint64(host.queue.n))
		learned, _ := host.learned().AppendBinary(nil) // never an error
		h.sum = crc32.Update(h.sum, crc32.IEEETable, learned)
	}
	s := &h.m.stats
	h.note(uint64(s.Ready), uint64(s.Delayed), uint64(s.Leased), uint64(s.Done), uint64(s.Failed), uint64(len(h.m.suspects)))
}
