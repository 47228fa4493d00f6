package crawler

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"testing"
	"time"
)

// delayAll adds requests for some numbers and has each tried again after the delay that is told for it.
func delayAll(t *testing.T, m *Memory, from, to int, delay func(n int) time.Duration) {
	t.Helper()
	const batch = 500
	for n := from; n < to; n += batch {
		reqs := make([]*Request, min(batch, to-n))
		for i := range reqs {
			reqs[i] = &Request{URL: fmt.Sprintf("https://films-%d.example.org/catalogue/film/%d/overview", (n+i)%100, n+i), Depth: n + i}
		}
		if _, err := m.Add(t.Context(), reqs...); err != nil {
			t.Fatal(err)
		}
		leases := m.mustLease(t, len(reqs))
		s := make([]Settlement, len(leases))
		for i, l := range leases {
			s[i] = Settlement{Lease: l, Outcome: Retry, Delay: delay(l.Request.Depth)}
		}
		m.mustSettle(t, s...)
	}
}

func unpaced(t *testing.T, m *Memory) {
	t.Helper()
	if err := m.SetHost(t.Context(), "", HostPolicy{Spacing: -1, MaxInFlight: -1, Adapt: SwitchOff}); err != nil {
		t.Fatal(err)
	}
}

// The memory of requests that wait for their time does not grow with their number, but for the seen set and where they are.
// It measures the heap, so no other test runs beside it.
func TestDelayedSpill(t *testing.T) {
	const n = 25_000
	m := NewMemory(MemoryOptions{SpillDir: t.TempDir(), SpillBytes: 4 << 20})
	defer m.Close()
	heap := func() int64 { // beside what SpillBytes allow
		runtime.GC()
		var s runtime.MemStats
		runtime.ReadMemStats(&s)
		if m.arena.bytes > m.opt.SpillBytes {
			t.Fatalf("%d bytes are in memory", m.arena.bytes)
		}
		return int64(s.HeapAlloc) - m.arena.bytes
	}
	unpaced(t, m)
	r := rand.New(rand.NewPCG(7, 7))
	delay := func(int) time.Duration { return time.Hour + time.Duration(r.IntN(1000))*time.Second }
	delayAll(t, m, 0, n, delay)
	before := heap()
	delayAll(t, m, n, 4*n, delay)
	cost := float64(heap()-before) / (3 * n)
	if len(m.delayed.runs) == 0 || cost > 16 {
		t.Fatalf("%d runs; a delayed request costs %.1f bytes beyond the spill mark", len(m.delayed.runs), cost)
	}
	fmt.Printf("shown durable.5: beyond the spill mark a delayed request costs %.1f bytes of memory, the seen set included (bar 16)\n", cost)
}

// Delayed requests come back in the order of their time whatever became of them meanwhile, and files are given up then.
func TestDelayedComeBackInOrder(t *testing.T) {
	t.Parallel()
	const n = 5000
	now := time.Duration(0)
	m := NewMemory(MemoryOptions{SpillDir: t.TempDir(), SpillBytes: 64 << 10})
	defer m.Close()
	m.clock = func() time.Duration { return now }
	unpaced(t, m)
	r := rand.New(rand.NewPCG(1, 2))
	due := make([]time.Duration, n)
	delayAll(t, m, 0, n, func(i int) time.Duration {
		due[i] = time.Duration(1+r.IntN(1000)) * time.Second
		return due[i]
	})
	if len(m.delayed.runs) < 3 {
		t.Fatalf("%d runs", len(m.delayed.runs))
	}
	if i, err := m.Inspect(t.Context(), "https://films-77.example.org/catalogue/film/77/overview", ""); err != nil || i.Due != due[77] {
		t.Errorf("%+v, %v; it is due in %v", i, err, due[77])
	}
	listed := 0
	for p, err := range m.Pending(t.Context()) {
		if err != nil || p.State != StateDelayed || p.Due != due[p.Request.Depth] {
			t.Fatalf("%+v, %v; it is due in %v", p, err, due[p.Request.Depth])
		}
		listed++
	}
	if listed != n {
		t.Errorf("%d of %d are listed", listed, n)
	}
	var order []int
	for len(order) < n {
		b, err := m.Lease(t.Context(), LeaseRequest{Owner: "A", Boot: 1, Max: n})
		if err != nil {
			t.Fatal(err)
		}
		var some []int
		for _, l := range b.Leases {
			if some = append(some, l.Request.Depth); due[l.Request.Depth] > now {
				t.Fatalf("%d came at %v, not at %v", l.Request.Depth, now, due[l.Request.Depth])
			}
			m.mustSettle(t, Settlement{Lease: l, Outcome: Done})
		}
		slices.SortFunc(some, func(a, b int) int { return cmp.Compare(due[a], due[b]) }) // hosts take turns
		order = append(order, some...)
		if m.delayed.heads > m.mostDelayed() {
			t.Fatalf("%d bytes were read back and are kept", m.delayed.heads)
		}
		next, ok := m.delayed.next()
		if ok {
			now = next
		}
	}
	if !slices.IsSortedFunc(order, func(a, b int) int { return cmp.Compare(due[a], due[b]) }) {
		t.Error("they did not come in order")
	}
	if len(m.delayed.runs) > 0 || m.delayed.bytes != 0 || m.delayed.heads != 0 || len(m.arena.files.open) > 0 {
		t.Errorf("%+v, %d files are left", m.delayed, len(m.arena.files.open))
	}
}

// A disk that fails loses no delayed request: what it does not take makes the frontier full, what it does not give comes later.
func TestDelayedSurviveFaultsOfTheDisk(t *testing.T) {
	t.Parallel()
	now := time.Duration(0)
	m := NewMemory(MemoryOptions{SpillDir: t.TempDir(), SpillBytes: 32 << 10})
	defer m.Close()
	m.clock = func() time.Duration { return now }
	unpaced(t, m)
	var failRead, failWrite, damage bool
	create := m.arena.files.create
	m.arena.files.create = func() (spillFile, error) {
		f, err := create()
		return faultyFile{f, &failRead, &failWrite, &damage}, err
	}
	failWrite = true
	delayAll(t, m, 0, 300, func(i int) time.Duration { return time.Duration(i+1) * time.Second })
	if _, err := m.Add(t.Context(), &Request{URL: "https://films.example/"}); !errors.Is(err, ErrFull) || !errors.Is(err, errDisk) {
		t.Fatalf("a disk that is full: %v", err)
	}
	failWrite = false
	delayAll(t, m, 300, 600, func(i int) time.Duration { return time.Duration(i+1) * time.Second })
	now, failRead = time.Hour, true
	leased := 0
	take := func() error {
		for {
			b, err := m.Lease(t.Context(), LeaseRequest{Owner: "A", Max: 10, TTL: time.Hour})
			if leased += len(b.Leases); err != nil || len(b.Leases) == 0 {
				return err
			}
		}
	}
	if err := take(); !errors.Is(err, errDisk) {
		t.Errorf("a disk that cannot be read: %v", err)
	}
	failRead, damage = false, true
	if err := take(); !errors.Is(err, errSpillDamaged) {
		t.Errorf("a file that is damaged: %v", err)
	}
	damage = false
	if err := take(); err != nil || leased != 600 {
		t.Errorf("%d of 600 came back, %v", leased, err)
	}
}

// A run that is not what was written is not taken for one.
func TestDamagedDelayRunIsKnown(t *testing.T) {
	t.Parallel()
	now := time.Duration(0)
	j := &heldJournal{now: func() time.Duration { return now }}
	m, err := OpenMemory(t.Context(), MemoryOptions{SpillBytes: 1 << 10}, j)
	if err != nil {
		t.Fatal(err)
	}
	unpaced(t, m)
	delayAll(t, m, 0, 200, func(int) time.Duration { return time.Second })
	saveNow(m)
	if len(m.delayed.runs) == 0 {
		t.Fatal("there are no runs")
	}
	for _, r := range m.delayed.runs {
		for _, p := range r.parts {
			j.blocks[p.block][0] ^= 1
		}
	}
	now = time.Hour
	if _, err := m.Lease(t.Context(), LeaseRequest{Owner: "A", Max: 10}); !errors.Is(err, ErrJournal) {
		t.Error(err)
	}
}

// Whatever is read back of delayed requests, it is a fault or what can be written again.
func FuzzDecodeDelayed(f *testing.F) {
	e := &delayedEntry{delayMark: delayMark{time.Hour, 7}, hash: 1 << 60, host: "films.example", then: again, priority: -3, record: []byte("record")}
	f.Add(appendDelayed(nil, e))
	f.Add(appendDelayed(appendDelayed(nil, e), &delayedEntry{}))
	f.Add(appendDelayRun(nil, &delayRun{off: 3, first: e.delayMark, parts: []partOfRun{{first: e.delayMark, block: 9}, {block: 10}}}))
	f.Fuzz(func(t *testing.T, p []byte) {
		a := newArena()
		if all, err := a.entries(p, 0); err == nil {
			var q []byte
			for _, e := range all {
				q = appendDelayed(q, e)
			}
			if same, err := a.entries(q, 0); err != nil || !reflect.DeepEqual(all, same) {
				t.Errorf("%+v, then %+v, %v", all, same, err)
			}
		}
		d := decoder{rest: p}
		if r := d.delayRun(); r != nil {
			again := decoder{rest: appendDelayRun(nil, r)}
			if same := again.delayRun(); !reflect.DeepEqual(r, same) {
				t.Errorf("%+v, then %+v", r, same)
			}
		}
	})
}
