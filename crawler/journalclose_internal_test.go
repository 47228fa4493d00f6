package crawler

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"
)

// opened returns what the journal has kept.
func opened(t *testing.T, j *heldJournal) *Memory {
	t.Helper()
	m, err := OpenMemory(t.Context(), MemoryOptions{MaxCrashes: 2}, j)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// leaseOf leases the only request there is.
func leaseOf(t *testing.T, m *Memory) Lease {
	t.Helper()
	b, err := m.Lease(t.Context(), LeaseRequest{Owner: "a", Boot: 1, Max: 1})
	if err != nil || len(b.Leases) != 1 {
		t.Fatalf("%+v, %v", b, err)
	}
	return b.Leases[0]
}

func newHeld() (j *heldJournal, now *time.Duration) {
	now = new(time.Duration)
	return &heldJournal{now: func() time.Duration { return *now }}, now
}

// A frontier that is closed in order takes nobody for dead, however often its holders have not come to an end, and leaves
// nothing to be done again; also when only the last change finds room.
func TestClosedInOrder(t *testing.T) {
	for _, full := range []bool{false, true} {
		t.Run(fmt.Sprint("full disk ", full), func(t *testing.T) {
			j, now := newHeld()
			if _, err := opened(t, j).Add(t.Context(), &Request{URL: "https://films.example/"}); err != nil {
				t.Fatal(err)
			}
			for life := range 6 {
				m := opened(t, j)
				if l := leaseOf(t, m); l.Suspect || l.Attempt != 1 {
					t.Fatalf("life %d: %+v", life, l)
				}
				if careful := m.journal.careful(*now); careful != (life == 0) { // the first was not closed
					t.Fatalf("life %d: careful %v", life, careful)
				}
				parts, changes, blocks := j.parts, slices.Clone(j.changes), maps.Clone(j.blocks)
				if err := m.Close(); err != nil || len(j.changes) != 0 || j.last == nil {
					t.Fatalf("%v, %d changes", err, len(j.changes))
				}
				if full { // what was leased is durable, and the state is not
					j.parts, j.changes, j.blocks = parts, append(changes, j.last), blocks
				}
				*now += time.Hour
			}
		})
	}
}

// A frontier that cannot trust its memory leaves what is kept, with nobody holding anything.
func TestClosedAfterAFault(t *testing.T) {
	j, _ := newHeld()
	m := opened(t, j)
	if _, err := m.Add(t.Context(), &Request{URL: "https://films.example/"}); err != nil {
		t.Fatal(err)
	}
	leaseOf(t, m)
	m.journal.broken(ErrJournal)
	m.stats.Ready = 1000
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	m = opened(t, j)
	if s, err := m.Stats(t.Context()); err != nil || s.Ready != 1 || len(m.suspects) > 0 {
		t.Errorf("%+v, %v", s, err)
	}
}

// rewriteHead has a state written by another version.
func rewriteHead(t *testing.T, j *heldJournal, schema, does uint64) {
	t.Helper()
	d := decoder{rest: j.parts[0]}
	if kind, was := d.byte(), d.uvarint(); kind != recHead || was != stateSchema {
		t.Fatal("the head is not where it was")
	}
	_, _ = d.text(), d.uvarint()
	head := appendText(appendUints([]byte{recHead}, schema), "v0.9.9")
	j.parts = slices.Clone(j.parts)
	j.parts[0] = append(appendUints(head, does), d.rest...)
}

// What another version has written is no damage: it is gone on with where that can be right, else the version is named.
func TestOtherVersions(t *testing.T) {
	for _, c := range []struct {
		name         string
		schema, does uint64
		closed       bool
		ok           bool
	}{
		{"the same, killed", stateSchema, semantics(), false, true},
		{"others do something else, closed", stateSchema, semantics() + 1, true, true},
		{"others do something else, killed", stateSchema, semantics() + 1, false, false},
		{"a later schema, closed", stateSchema + 1, semantics(), true, false},
		{"an earlier schema, killed", stateSchema - 1, semantics(), false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			j, _ := newHeld()
			m := opened(t, j)
			if _, err := m.Add(t.Context(), &Request{URL: "https://films.example/"}); err != nil {
				t.Fatal(err)
			}
			if c.closed {
				_ = m.Close()
			}
			rewriteHead(t, j, c.schema, c.does)
			if !c.closed && c.schema == stateSchema && len(j.changes) == 0 {
				t.Fatal("there is nothing to do again")
			}
			saves := j.saves
			_, err := OpenMemory(t.Context(), MemoryOptions{}, j)
			_, viewed := ReadMemory(t.Context(), MemoryOptions{}, j)
			if c.ok {
				if err != nil || viewed != nil {
					t.Fatal(err, viewed)
				}
				return
			}
			var v *VersionError
			if !errors.As(err, &v) || errors.Is(err, ErrJournal) || fmt.Sprint(viewed) != fmt.Sprint(err) || j.saves != saves {
				t.Fatal(err, viewed)
			}
			if wrong := v.Schema != 0 && v.Schema != c.schema; wrong || v.Version == "" && c.schema >= stateSchema {
				t.Errorf("%+v", v)
			}
		})
	}
}

// The number of what changes do stands for hosts that were slowed, blocked, forgiven and probed, and is the same each time.
func TestSemantics(t *testing.T) {
	h := newHistory()
	h.run()
	if uint64(h.sum) != semantics() {
		t.Errorf("%d, then %d", semantics(), h.sum)
	}
	cuts, epochs := uint32(0), uint32(0)
	for _, host := range h.m.hosts {
		cuts, epochs = cuts+host.learned().Cuts(), epochs+host.learned().Epoch()
	}
	if s := h.m.stats; cuts < 10 || epochs < 100 || s.Done < 100 || s.Failed < 10 {
		t.Errorf("%d cuts in %d epochs of %v; %+v", cuts, epochs, h.now, s)
	}
}
