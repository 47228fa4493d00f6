package crawler

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

// lived returns what a crawl has left that had a bit of everything: queues in memory and in blocks, what is delayed, leased,
// suspected and given up.
func lived(t testing.TB) *heldJournal {
	t.Helper()
	j, now := newHeld()
	o := MemoryOptions{MaxCrashes: 2, SpillBytes: 1 << 10, SeenBytes: 1}
	m, err := OpenMemory(t.Context(), o, j)
	if err != nil {
		t.Fatal(err)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(m.SetHost(t.Context(), "", HostPolicy{Spacing: -1, MaxInFlight: 4}))
	for n := range 120 {
		_, err := m.Add(t.Context(), &Request{URL: fmt.Sprintf("https://h%d.example/a/page/%d", n%3*(n%2), n), Priority: n % 2})
		must(err)
	}
	for n := range 16 {
		b, err := m.Lease(t.Context(), LeaseRequest{Owner: "a", Boot: uint64(1 + n/6), Max: 3})
		must(err)
		for i, l := range b.Leases {
			s := Settlement{Lease: l, Outcome: Outcome(1 + (n+i)%3), Delay: time.Hour, Report: HostReport{Class: 1, Status: 200, Exchanges: 1, Latency: time.Millisecond}}
			if i < 2 {
				must(m.Settle(t.Context(), s))
			}
		}
		*now += time.Second
	}
	m.mu.Lock()
	m.save(*now)
	m.mu.Unlock()
	m.journal.join()
	return j
}

// use opens a frontier and has it do something; nothing of it may panic.
func use(t testing.TB, j *heldJournal) (leases int, err error) {
	t.Helper()
	m, err := OpenMemory(t.Context(), MemoryOptions{SpillBytes: 1 << 10, SeenBytes: 1}, j)
	if err != nil {
		return 0, err
	}
	defer m.Close()
	for n := range 40 {
		b, err := m.Lease(t.Context(), LeaseRequest{Owner: "a", Boot: 9, Max: 8})
		if err != nil {
			return leases, err
		}
		leases += len(b.Leases)
		for i, l := range b.Leases {
			if err := m.Settle(t.Context(), Settlement{Lease: l, Outcome: Outcome(1 + (n+i)%4)}); err != nil {
				return leases, err
			}
		}
		if _, err := m.Redrive(t.Context(), fmt.Sprintf("https://h0.example/a/page/%d", n)); err != nil {
			return leases, err
		}
	}
	return leases, nil
}

// copied returns a journal that can be written to without a change of the first.
func (j *heldJournal) copied() *heldJournal {
	c := &heldJournal{now: j.now, blocks: maps.Clone(j.blocks), lying: true}
	for _, p := range j.parts {
		c.parts = append(c.parts, slices.Clone(p))
	}
	for _, p := range j.changes {
		c.changes = append(c.changes, slices.Clone(p))
	}
	for id, b := range c.blocks {
		c.blocks[id] = slices.Clone(b)
	}
	return c
}

// Whichever byte of a state or of a block lies, the frontier says so or goes on. What it says is typed.
func TestLyingStates(t *testing.T) {
	j := lived(t)
	if n, err := use(t, j.copied()); err != nil || n < 60 {
		t.Fatal(n, err)
	}
	refused, all := 0, 0
	lie := func(name string, p func(*heldJournal) *byte, to byte) {
		t.Helper()
		c := j.copied()
		b := p(c)
		if *b == to {
			return
		}
		*b = to
		all++
		var v *VersionError
		_, err := use(t, c)
		if err != nil {
			refused++
		}
		if err != nil && !errors.Is(err, ErrJournal) && !errors.As(err, &v) && !errors.Is(err, ErrFull) && !strings.Contains(err.Error(), "AgeStep") {
			t.Fatalf("%s is %#x: %v", name, to, err)
		}
	}
	for i, part := range j.parts {
		for at := range part {
			few := []byte{0, 1, 0x7f, 0x80, 0xff, part[at] + 1, part[at] - 1}
			for _, to := range []byte{few[at%7], few[(at+3)%7]} {
				lie(fmt.Sprintf("byte %d of part %d", at, i), func(j *heldJournal) *byte { return &j.parts[i][at] }, to)
			}
		}
	}
	for id, block := range j.blocks {
		for at := 0; at < len(block); at += 61 {
			for _, to := range []byte{0, 0x7f, 0xff} {
				lie(fmt.Sprintf("byte %d of block %d", at, id), func(j *heldJournal) *byte { return &j.blocks[id][at] }, to)
			}
		}
	}
	if refused < all/10 {
		t.Errorf("%d of %d lies were refused", refused, all)
	}
}

// FuzzJournalState has a state say anything.
func FuzzJournalState(f *testing.F) {
	j := lived(f)
	for i, p := range j.parts {
		f.Add(i, 0, p)
	}
	f.Add(0, 40, []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f})
	f.Fuzz(func(t *testing.T, part, at int, p []byte) {
		c := j.copied()
		if part < 0 || part >= len(c.parts) || at < 0 || at > len(c.parts[part]) {
			return
		}
		whole := c.parts[part]
		c.parts[part] = slices.Concat(whole[:at], p, whole[min(at+len(p), len(whole)):])
		_, _ = use(t, c)
	})
}
