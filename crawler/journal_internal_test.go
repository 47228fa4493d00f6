package crawler

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/seine-go/seine/ratelimit"
)

// twins are a frontier in memory and one with a journal, which get the same calls at the same times.
type twins struct {
	t       *testing.T
	opt     MemoryOptions
	r       *rand.Rand
	now     time.Duration
	journal *heldJournal
	plain   *Memory
	durable *Memory
	leases  []Lease
	booked  []HostReservation
	boot    uint64
	pages   int
	crashes int
}

func newTwins(t *testing.T, seed uint64) *twins {
	w := &twins{t: t, r: rand.New(rand.NewPCG(seed, 0)), boot: 1, pages: 40 + 400*int(seed%3)}
	w.opt = MemoryOptions{HashKey: [2]uint64{seed, 1}, SpillBytes: 1 << 10, SeenBytes: 1, MaxPending: 500, MaxDead: 20, LeaseTTL: time.Second}
	if seed%4 == 1 {
		w.opt.AgeStep = 200 * time.Millisecond
	}
	if seed%5 == 2 {
		w.opt.MaxCrashes = -1
	}
	w.opt.CrashPause = []time.Duration{-1, 100 * time.Millisecond, 5 * time.Second}[seed%3]
	if seed%12 == 2 {
		w.opt.MaxPending = 20_000
	}
	clock := func() time.Duration { return w.now }
	w.journal = &heldJournal{now: clock}
	w.plain = NewMemory(w.opt)
	w.plain.clock = clock
	w.open()
	return w
}

func (w *twins) open() {
	w.t.Helper()
	m, err := OpenMemory(w.t.Context(), w.opt, w.journal)
	if err != nil {
		w.t.Fatal(err)
	}
	w.durable = m
}

// both makes one call of both and compares the answers.
func both[T any](w *twins, what string, call func(m *Memory) (T, error)) T {
	w.t.Helper()
	a, errA := call(w.plain)
	b, errB := call(w.durable)
	if fmt.Sprint(errA) != fmt.Sprint(errB) || !reflect.DeepEqual(a, b) {
		w.t.Fatalf("%s at %v: in memory %+v, %v; durable %+v, %v", what, w.now, a, errA, b, errB)
	}
	return a
}

func (w *twins) request() *Request {
	n := w.r.IntN(w.pages)
	r := &Request{URL: fmt.Sprintf("https://h%d.example/page/%d/of/a/site", n%7, n), Priority: w.r.IntN(3), Depth: n % 5}
	switch w.r.IntN(12) {
	case 0:
		r.Priority = 1000 - 2000*w.r.IntN(2)
	case 1:
		r.Key = fmt.Sprint("key of ", n)
	case 2:
		r.Data, r.Label = []byte(`{"a":1}`), "labelled"
	}
	return r
}

func (w *twins) requests(most int) (all []*Request) {
	for range w.r.IntN(most + 1) {
		all = append(all, w.request())
	}
	return all
}

func (w *twins) report() HostReport {
	if w.r.IntN(4) == 0 {
		return HostReport{}
	}
	r := HostReport{Class: ratelimit.OK, Status: 200, Exchanges: 1, Latency: time.Duration(w.r.IntN(50)) * time.Millisecond}
	if w.r.IntN(5) == 0 {
		r.Class, r.Status, r.RetryAfter = ratelimit.Throttle, 429, time.Duration(w.r.IntN(3))*time.Second
	}
	r.Elapsed, r.Sent = 2*r.Latency, r.Latency
	return r
}

func (w *twins) settle() {
	if len(w.leases) == 0 {
		return
	}
	i := w.r.IntN(len(w.leases))
	s := Settlement{Lease: w.leases[i], Outcome: Outcome(1 + w.r.IntN(4)), Report: w.report()}
	if w.r.IntN(3) > 0 {
		s.Outcome = Done
	}
	switch s.Outcome {
	case Done:
		s.Links = w.requests(12)
		for range w.r.IntN(3) {
			s.Seen = append(s.Seen, w.request().key())
		}
		if w.r.IntN(8) == 0 {
			s.Revisit = time.Second
		}
	case Failed:
		s.Reason = "it failed"
	case Retry, Released:
		s.Delay = time.Duration(w.r.IntN(2)) * time.Second
	}
	both(w, "Settle", func(m *Memory) (int, error) { return 0, m.Settle(w.t.Context(), s) })
	if w.r.IntN(10) > 0 { // else it is told again
		w.leases = slices.Delete(w.leases, i, i+1)
	}
}

// strays adds so many requests whose keys do not tell their host, and has a redirect pass them all, that queues are looked
// through for them.
func (w *twins) strays() {
	i := slices.IndexFunc(w.leases, func(l Lease) bool { return w.plain.holds.valid(l) != nil })
	if i < 0 || w.opt.MaxPending < 20_000 {
		return
	}
	ctx, s := w.t.Context(), Settlement{Lease: w.leases[i], Outcome: Done, Report: w.report()}
	var reqs []*Request
	for n := range 4200 {
		r := w.request()
		r.Key = fmt.Sprint("stray ", w.now, n)
		reqs, s.Seen = append(reqs, r), append(s.Seen, r.Key)
	}
	both(w, "Add", func(m *Memory) ([]AddStatus, error) { return m.Add(ctx, reqs...) })
	both(w, "Settle", func(m *Memory) (int, error) { return 0, m.Settle(ctx, s) })
	w.leases = slices.Delete(w.leases, i, i+1)
}

func (w *twins) step() {
	ctx := w.t.Context()
	w.now += time.Duration(w.r.IntN(40)) * time.Millisecond
	switch w.r.IntN(24) {
	case 0, 1, 2:
		reqs := w.requests(20)
		both(w, "Add", func(m *Memory) ([]AddStatus, error) { return m.Add(ctx, reqs...) })
	case 3, 4, 5, 6, 7, 8, 9:
		want := LeaseRequest{Owner: fmt.Sprint("owner", w.r.IntN(3)), Boot: w.boot, Max: w.r.IntN(5)}
		if w.r.IntN(60) == 0 {
			w.boot++
		}
		w.leases = append(w.leases, both(w, "Lease", func(m *Memory) (LeaseBatch, error) { return m.Lease(ctx, want) }).Leases...)
	case 10, 11, 12, 13, 14, 15:
		w.settle()
	case 16:
		if n := len(w.leases); n > 0 {
			some := w.leases[:w.r.IntN(n)]
			both(w, "Extend", func(m *Memory) (int, error) { return 0, m.Extend(ctx, 2*time.Second, some...) })
		}
	case 17:
		host := ""
		if w.r.IntN(3) > 0 {
			host = fmt.Sprintf("h%d.example", w.r.IntN(7))
		}
		p := HostPolicy{MaxInFlight: w.r.IntN(4), Spacing: time.Duration(w.r.IntN(3)-1) * 50 * time.Millisecond, Adapt: Switch(w.r.IntN(3) - 1)}
		if host != "" && w.r.IntN(3) == 0 {
			p.Block = time.Second
		}
		both(w, "SetHost", func(m *Memory) (int, error) { return 0, m.SetHost(ctx, host, p) })
	case 18:
		r := ReserveRequest{Host: fmt.Sprintf("h%d.example", w.r.IntN(7)), Late: w.r.IntN(2) == 0, Since: time.Millisecond}
		if n := len(w.leases); n > 0 && w.r.IntN(2) == 0 {
			r.Under = w.leases[w.r.IntN(n)]
		}
		if n := len(w.booked); n > 0 && w.r.IntN(3) == 0 {
			r.Held = w.booked[w.r.IntN(n)]
		}
		got, err := w.plain.ReserveHost(ctx, r)
		same, errToo := w.durable.ReserveHost(ctx, r)
		if got != same || !errors.Is(errToo, err) {
			w.t.Fatalf("ReserveHost: %+v, %v; %+v, %v", got, err, same, errToo)
		}
		w.booked = append(w.booked, got)
	case 19:
		if n := len(w.booked); n > 0 {
			i, report := w.r.IntN(n), w.report()
			both(w, "ReleaseHost", func(m *Memory) (int, error) { return 0, m.ReleaseHost(ctx, w.booked[i], report) })
			w.booked = slices.Delete(w.booked, i, i+1)
		}
	case 20:
		key := w.request().key()
		both(w, "Redrive", func(m *Memory) (int, error) { return m.Redrive(ctx, key) })
		both(w, "Inspect", func(m *Memory) (Inspection, error) {
			i, err := m.Inspect(ctx, key, "h1.example")
			i.Queued = 0 // stale records of redirects count until they are met
			return i, err
		})
	case 21:
		stats := func(m *Memory) (FrontierStats, error) {
			s, err := m.Stats(ctx)
			s.Changes = 0
			return s, err
		}
		both(w, "Stats", stats)
	case 22:
		if w.r.IntN(3) == 0 {
			both(w, "Restart", func(m *Memory) (bool, error) {
				s, err := m.Stats(ctx)
				return s.Finished && m.Restart(ctx) == nil, err
			})
		}
		w.save()
	case 23:
		switch w.r.IntN(8) {
		case 0, 1:
			w.crash()
		case 2:
			w.strays()
		case 3:
			w.leave()
		}
	}
}

// save has a state saved earlier than usual.
func (w *twins) save() {
	if w.r.IntN(2) == 0 {
		w.durable.mu.Lock()
		defer w.durable.mu.Unlock()
		w.durable.save(w.now)
	}
}

// crash ends the durable frontier and opens it again. The other is told that all holders are dead.
func (w *twins) crash() {
	w.durable.journal.join()
	w.open()
	m := w.plain
	m.mu.Lock()
	m.ripen(w.now)
	m.die(w.now)
	m.holds.settled = nil // a repeat is known no longer
	m.mu.Unlock()
	w.durable.mu.Lock()
	w.durable.holds.settled = nil
	w.durable.mu.Unlock()
	w.crashes++
}

// leave closes the durable frontier and opens it again. The other is told that all holders end.
func (w *twins) leave() {
	if err := w.durable.Close(); err != nil || len(w.journal.changes) > 0 {
		w.t.Fatalf("%v, and %d changes are left", err, len(w.journal.changes))
	}
	m := w.plain
	m.mu.Lock()
	m.letAllGo(w.now)
	m.holds.settled = nil
	m.mu.Unlock()
	w.open()
}

// A frontier with a journal, killed again and again, does what one in memory does that never dies.
func TestDurableEqualsMemory(t *testing.T) {
	t.Parallel()
	seeds, steps := uint64(24), 3000
	if testing.Short() {
		seeds, steps = 4, 2000
	}
	var mu sync.Mutex
	crashes, saves := 0, 0
	t.Run("seeds", func(t *testing.T) {
		for seed := range seeds {
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				t.Parallel()
				w := newTwins(t, seed)
				for range steps {
					w.step()
				}
				w.crash()
				if w.journal.saves < 5 || w.crashes < 5 {
					t.Fatalf("%d states were saved, %d deaths", w.journal.saves, w.crashes)
				}
				mu.Lock()
				defer mu.Unlock()
				crashes, saves = crashes+w.crashes, saves+w.journal.saves
			})
		}
	})
	if !t.Failed() {
		fmt.Printf("shown durable.1: %d random histories of %d calls with %d deaths and %d saved states: each answer of the durable frontier equals that of one in memory that never died\n", seeds, steps, crashes, saves)
	}
}
