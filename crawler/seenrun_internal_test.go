package crawler

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/seine-go/seine/internal/hashtable"
)

// openHeld returns a frontier on a journal in memory, and that journal.
func openHeld(t *testing.T, o MemoryOptions) (*Memory, *heldJournal) {
	t.Helper()
	j := &heldJournal{now: func() time.Duration { return 0 }}
	m, err := OpenMemory(t.Context(), o, j)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.journal.join() })
	return m, j
}

// addNumbers adds requests for some numbers at a time, and checks the statuses.
func addNumbers(t *testing.T, m *Memory, from, to int, want AddStatus, each func()) {
	t.Helper()
	const batch = 500
	for n := from; n < to; n += batch {
		reqs := make([]*Request, 0, batch)
		for i := n; i < min(n+batch, to); i++ {
			reqs = append(reqs, &Request{URL: fmt.Sprintf("https://films.example/%d", i)})
		}
		statuses, err := m.Add(t.Context(), reqs...)
		if err != nil || slices.ContainsFunc(statuses, func(s AddStatus) bool { return s != want }) {
			t.Fatalf("from %d on: %v, %v", n, statuses, err)
		}
		each()
	}
}

// seenMemory is what the seen set has in memory.
func (m *Memory) seenMemory() (n int) {
	for _, shards := range [][]hashtable.Shard{m.keys.shards, m.keys.disk.old} {
		for i := range shards {
			n += shards[i].Bytes()
		}
	}
	return n + 8*len(m.keys.disk.filter) + 8*cap(m.keys.disk.dirty)
}

// The memory of the seen set stays within SeenBytes, also while keys are only read back and nothing changes.
func TestSeenBudgetHolds(t *testing.T) {
	t.Parallel()
	const budget, n = 512 << 10, 60_000
	m, _ := openHeld(t, MemoryOptions{SeenBytes: budget})
	most := 0
	look := func() { most = max(most, m.seenMemory()) }
	addNumbers(t, m, 0, n, Added, look)
	added := most
	for range 2 {
		addNumbers(t, m, 0, n, Duplicate, look)
	}
	if most > budget {
		t.Errorf("%d bytes while keys were added, %d while they were read back; the bound is %d", added, most, budget)
	}
	if most < budget/2 {
		t.Errorf("no more than %d of %d bytes were used", most, budget)
	}
	used := 0
	for i := range m.keys.shards {
		used += m.keys.shards[i].Bytes()
	}
	if used != m.keys.disk.size {
		t.Errorf("the tables have %d bytes, and %d are known", used, m.keys.disk.size)
	}
}

func saveNow(m *Memory) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.save(m.clock())
}

// unnamed lists the blocks that are kept though the state that is saved next does not name them.
func unnamed(m *Memory, j *heldJournal) (ids []uint64) {
	named := m.used()
	for _, id := range slices.Sorted(maps.Keys(j.blocks)) {
		if _, is := slices.BinarySearch(named, id); !is {
			ids = append(ids, id)
		}
	}
	return ids
}

// What a merge has written that failed, or that came too late, is given up with the next state.
func TestBlocksOfMergesThatFailedAreFreed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		fail func(m *Memory, nth int) error
	}{
		{"the first write fails", func(*Memory, int) error { return errors.New("no") }},
		{"the second write fails", func(_ *Memory, nth int) error {
			if nth == 2 {
				return errors.New("no")
			}
			return nil
		}},
		{"all is forgotten meanwhile", func(m *Memory, nth int) error {
			if nth == 1 {
				m.mu.Lock()
				defer m.mu.Unlock()
				for _, r := range m.keys.disk.runs {
					m.arena.freed = append(m.arena.freed, r.blocks()...)
				}
				m.keys.forget()
			}
			return nil
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m, j := openHeld(t, MemoryOptions{SeenBytes: 4 << 20})
			nth := 0
			j.failWrite = func() error {
				nth++
				return c.fail(m, nth)
			}
			for i := range fewRuns {
				m.keys.disk.merging = i < fewRuns-1 // none is begun before the last
				addNumbers(t, m, i*10_000, (i+1)*10_000, Added, func() {})
				saveNow(m)
			}
			m.journal.join()
			if nth == 0 {
				t.Fatal("nothing was merged")
			}
			if len(unnamed(m, j)) == 0 {
				t.Fatal("nothing was left behind")
			}
			m.keys.disk.merging = true // none is begun
			saveNow(m)
			if left := unnamed(m, j); len(left) > 0 {
				t.Errorf("%d blocks are left behind", len(left))
			}
		})
	}
}
