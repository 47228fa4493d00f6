package crawler

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// pending lists what is pending, in order.
func pending(t *testing.T, m *Memory) []string {
	t.Helper()
	all := []string{}
	for p, err := range m.Pending(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprintf("%s %+v %v %v %d %d %v", p.Key, *p.Request, p.State, p.Suspect, p.Attempts, p.Crashes, p.Due))
	}
	slices.Sort(all)
	return all
}

// without returns what is in one list and not in the other.
func without(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return slices.Contains(b, s) })
}

// In random histories as many are listed as are counted, each once, and the same by a frontier in memory, by a durable one,
// and by one that is read from the durable one's journal.
func TestListingsAgree(t *testing.T) {
	t.Parallel()
	seeds := uint64(8)
	if testing.Short() {
		seeds = 3
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			w := newTwins(t, seed)
			most := 0
			for i := range 2000 {
				w.step()
				if i%50 > 0 {
					continue
				}
				both(w, "Stats", func(m *Memory) (int64, error) { s, err := m.Stats(t.Context()); return s.Ready, err }) // to the same time
				want := pending(t, w.plain)
				if n := int64(len(slices.Compact(slices.Clone(want)))); n != w.plain.pending() || n != int64(len(want)) {
					t.Fatalf("%d are listed, %d of them others, and %d pending", len(want), n, w.plain.pending())
				}
				if got := pending(t, w.durable); !slices.Equal(got, want) {
					t.Fatalf("step %d: the durable frontier lists %q, not %q", i, without(got, want), without(want, got))
				}
				w.durable.journal.join() // it writes
				read, err := ReadMemory(t.Context(), w.opt, w.journal)
				if err != nil {
					t.Fatal(err)
				}
				if got := pending(t, read); !slices.Equal(got, want) {
					t.Fatalf("step %d: what is read lists %q, not %q", i, without(got, want), without(want, got))
				}
				most = max(most, len(want))
			}
			if most < 20 {
				t.Errorf("%d requests were pending at most", most)
			}
		})
	}
}

// A frontier that is read tells the same as the one that wrote, and changes nothing.
func TestReadMemoryChangesNothing(t *testing.T) {
	t.Parallel()
	w := newTwins(t, 1)
	for range 300 {
		w.step()
	}
	ctx := t.Context()
	w.durable.journal.join()
	_, _ = w.durable.Stats(ctx)
	parts, changes, ticket := len(w.journal.parts), len(w.journal.changes), w.journal.ticket
	m, err := ReadMemory(ctx, MemoryOptions{}, w.journal) // whatever its AgeStep
	if err != nil {
		t.Fatal(err)
	}
	w.now += time.Hour // leases expire, for those who may say so
	l := Lease{Key: "a", Owner: "b", Epoch: 1}
	for what, err := range map[string]error{
		"Add":          second(m.Add(ctx, &Request{URL: "https://a.example/"})),
		"Lease":        second(m.Lease(ctx, LeaseRequest{Owner: "a", Max: 1})),
		"Settle":       m.Settle(ctx, Settlement{Lease: l, Outcome: Done}),
		"Extend":       m.Extend(ctx, time.Second, l),
		"SetHost":      m.SetHost(ctx, "a.example", HostPolicy{Block: time.Second}),
		"ReserveHost":  second(m.ReserveHost(ctx, ReserveRequest{Host: "a.example"})),
		"ReleaseHost":  m.ReleaseHost(ctx, HostReservation{Host: "a.example", ID: 1}, HostReport{}),
		"OpenProducer": second(m.OpenProducer(ctx, "a", time.Second)),
		"Redrive":      second(m.Redrive(ctx, "a")),
		"Restart":      m.Restart(ctx),
	} {
		if err != ErrReadOnly {
			t.Errorf("%s: %v", what, err)
		}
	}
	got, err := m.Stats(ctx)
	want := w.durable.stats
	if err != nil || got.Ready != want.Ready || got.Delayed != want.Delayed || got.Leased != want.Leased || got.Done != want.Done || got.Failed != want.Failed {
		t.Errorf("%+v, %v, not %+v", got, err, want)
	}
	if _, err := m.Inspect(ctx, "a", "a.example"); err != nil {
		t.Error(err)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	if parts != len(w.journal.parts) || changes != len(w.journal.changes) || ticket != w.journal.ticket {
		t.Error("the journal was written")
	}
	for _, err := range m.Pending(ctx) {
		if err != ErrClosed {
			t.Errorf("after Close: %v", err)
		}
	}
}

func second[T any](_ T, err error) error { return err }
