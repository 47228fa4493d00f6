package crawler

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// killed returns what a crawl has left that goes on from what lived returns, and dies: a state with changes of all kinds.
func killed(t testing.TB) *heldJournal {
	t.Helper()
	j := lived(t)
	m, err := OpenMemory(t.Context(), MemoryOptions{MaxCrashes: 2, SpillBytes: 1 << 10, SeenBytes: 1}, j)
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	for n := range 12 {
		_, addErr := m.Add(ctx, &Request{URL: fmt.Sprintf("https://h%d.example/b/%d", n%3, n)})
		b, err := m.Lease(ctx, LeaseRequest{Owner: "a", Boot: 20, Max: 3})
		if err = errors.Join(addErr, err); err != nil {
			t.Fatal(err)
		}
		for i, l := range b.Leases {
			s := Settlement{Lease: l, Outcome: Outcome(1 + n%4), Report: HostReport{Class: 1, Status: 200, Exchanges: 1}}
			if s.Outcome == Done {
				s.Links, s.Seen = []*Request{{URL: fmt.Sprintf("https://h1.example/c/%d", n)}}, []string{"https://h0.example/a/page/99"}
			}
			if i == 0 {
				err = m.Settle(ctx, s)
			} else if i == 1 {
				err = m.Extend(ctx, time.Minute, l)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		_, keepErr := m.KeepCrawl(ctx, CrawlID{Name: "films"})
		_, driveErr := m.Redrive(ctx, fmt.Sprintf("https://h0.example/a/page/%d", 2*n))
		got, _ := m.ReserveHost(ctx, ReserveRequest{Host: "h2.example"})
		if err := errors.Join(keepErr, driveErr, m.SetHost(ctx, "h1.example", HostPolicy{MaxInFlight: 3}), m.ReleaseHost(ctx, got, HostReport{})); err != nil {
			t.Fatal(err)
		}
	}
	m.journal.join()
	if len(j.changes) < 40 {
		t.Fatalf("%d changes", len(j.changes))
	}
	return j
}

// spliced changes a journal in some places: bytes, numbers, pieces that are cut out or are there twice, another order.
func spliced(j *heldJournal, r *rand.Rand) *heldJournal {
	c := j.copied()
	for range 1 + r.IntN(3) {
		p := &c.parts[r.IntN(len(c.parts))]
		if r.IntN(2) == 0 {
			p = &c.changes[r.IntN(len(c.changes))]
		}
		if len(*p) == 0 {
			continue
		}
		at := r.IntN(len(*p))
		switch r.IntN(6) {
		case 0:
			(*p)[at] = byte(r.IntN(256))
		case 1:
			(*p)[at] += byte(r.IntN(5)) - 2
		case 2:
			*p = slices.Insert(*p, at, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f)
		case 3:
			*p = slices.Delete(*p, at, min(len(*p), at+1+r.IntN(12)))
		case 4:
			*p = slices.Insert(*p, r.IntN(len(*p)), slices.Clone((*p)[at:min(len(*p), at+r.IntN(40))])...)
		case 5:
			i, k := r.IntN(len(c.changes)), r.IntN(len(c.changes))
			c.changes[i], c.changes[k] = c.changes[k], c.changes[i]
		}
	}
	return c
}

// workedOff opens a crawl and works until it is finished, waiting where it says so. It is an error of no type when it never
// would be, or when more was done than there was.
func workedOff(t testing.TB, j *heldJournal) error {
	now := j.now()
	j.now = func() time.Duration { return now }
	m, err := OpenMemory(t.Context(), MemoryOptions{SpillBytes: 1 << 10, SeenBytes: 1}, j)
	if err != nil {
		return err
	}
	defer m.Close()
	for range 3000 {
		b, err := m.Lease(t.Context(), LeaseRequest{Owner: "b", Boot: 9, Max: 8})
		for _, l := range b.Leases {
			if err == nil {
				err = m.Settle(t.Context(), Settlement{Lease: l, Outcome: Done})
			}
		}
		if err != nil {
			return err
		}
		s, err := m.Stats(t.Context())
		switch {
		case err != nil:
			return err
		case min(s.Ready, s.Delayed, s.Leased) < 0:
			return fmt.Errorf("less than nothing is left: %+v", s)
		case b.Finished || b.Next > 100*365*24*time.Hour: // it says that it is due in a hundred years
			return nil
		case len(b.Leases) == 0 && b.Next == 0:
			return fmt.Errorf("it waits for ever: %+v", s)
		}
		if len(b.Leases) == 0 {
			now += b.Next
		}
	}
	return errors.New("it does not end")
}

// typed reports whether an error says what is wrong with a journal.
func typed(err error) bool {
	var v *VersionError
	return errors.Is(err, ErrJournal) || errors.As(err, &v) || errors.Is(err, ErrFull) || err != nil && strings.Contains(err.Error(), "AgeStep")
}

// However a state and the changes after it lie, the frontier says so or goes on to the end of the crawl.
func TestSplicedJournals(t *testing.T) {
	j := killed(t)
	if err := workedOff(t, j.copied()); err != nil {
		t.Fatal(err)
	}
	const n = 1500
	r, went := rand.New(rand.NewPCG(4, 0)), 0
	for i := range n {
		switch err := workedOff(t, spliced(j, r)); {
		case err == nil:
			went++
		case !typed(err):
			t.Fatalf("journal %d: %v", i, err)
		}
	}
	if went < n/50 || went > n/2 {
		t.Errorf("%d of %d went on", went, n)
	}
}

// What a head may not say.
func TestLyingHead(t *testing.T) {
	for name, lie := range map[string]func(m *Memory){
		"no dead are kept":   func(m *Memory) { m.opt.MaxDead = -1 },
		"nothing is taken":   func(m *Memory) { m.opt.MaxPending = 0 },
		"no crash is one":    func(m *Memory) { m.opt.MaxCrashes = -5 },
		"less than no stray": func(m *Memory) { m.stray = -1 },
		"more is delayed":    func(m *Memory) { m.stats.Delayed += 3 },
		"less is ready":      func(m *Memory) { m.stats.Ready = 1 },
	} {
		j := lived(t)
		m, err := OpenMemory(t.Context(), MemoryOptions{MaxCrashes: 2, SpillBytes: 1 << 10, SeenBytes: 1}, j)
		if err != nil {
			t.Fatal(err)
		}
		m.mu.Lock()
		lie(m)
		m.save(m.clock())
		m.mu.Unlock()
		m.journal.join()
		if err := workedOff(t, j.copied()); !errors.Is(err, ErrJournal) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A change that settles in no way there is was never made.
func TestLyingSettlement(t *testing.T) {
	for _, s := range []*Settlement{{Outcome: 0}, {Outcome: Released + 1}, {Outcome: Retry, Links: []*Request{{URL: "https://a.example/"}}}} {
		j := killed(t)
		m, err := ReadMemory(t.Context(), MemoryOptions{SeenBytes: 1}, j.copied())
		if err != nil {
			t.Fatal(err)
		}
		w := &recorder{}
		for _, r := range s.Links {
			w.fresh(r)
		}
		for id, l := range m.holds.byID {
			if l.lease {
				w.settled(id, s)
				break
			}
		}
		j.changes = append(j.changes, slices.Concat(appendUints(nil, uint64(m.clock())), w.ops))
		if err := workedOff(t, j); !errors.Is(err, ErrJournal) || len(w.ops) == 0 {
			t.Errorf("%v with %d links: %v", s.Outcome, len(s.Links), err)
		}
	}
}

// FuzzJournalChange has a change say anything.
func FuzzJournalChange(f *testing.F) {
	j := killed(f)
	for i, c := range j.changes {
		f.Add(i, c)
	}
	f.Fuzz(func(t *testing.T, at int, change []byte) {
		c := j.copied()
		if at < 0 || at >= len(c.changes) {
			return
		}
		c.changes[at] = change
		if err := workedOff(t, c); err != nil && !typed(err) {
			t.Fatal(err)
		}
	})
}
