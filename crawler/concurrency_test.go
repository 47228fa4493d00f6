package crawler

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"
	"time"
)

func TestGrower(t *testing.T) {
	t.Parallel()
	calm, busy := load{hungry: true}, load{hungry: true, wait: 5 * time.Millisecond}
	over := load{hungry: true, wait: 20 * time.Millisecond}
	for _, c := range []struct {
		name  string
		looks []load
		want  int
	}{
		{"doubles while nothing speaks against it", []load{calm, calm, calm}, 128},
		{"nothing to do", []load{{}, {}}, startInFlight},
		{"a first sign holds it", []load{calm, calm, busy}, 64},
		{"then it grows by a quarter", []load{calm, calm, busy, calm, calm}, 100},
		{"overload takes three tenths", []load{calm, calm, calm, over}, 89},
		{"never below the start", []load{over, over, over}, startInFlight},
		{"memory holds it", []load{calm, {hungry: true, memory: 0.85}}, 32},
		{"and takes it back", []load{calm, calm, {hungry: true, memory: 0.95}}, 44},
		{"no answers take it back", []load{calm, calm, {hungry: true, bad: 0.5}}, 44},
		{"bounded", []load{calm, calm, calm, calm, calm, calm, calm, calm, calm, calm, calm, calm}, mostInFlight},
	} {
		g := newGrower()
		for _, l := range c.looks {
			g.step(l)
		}
		if g.limit != c.want {
			t.Errorf("%s: %d, want %d", c.name, g.limit, c.want)
		}
	}
}

func TestLookoutSeesTheProcess(t *testing.T) {
	t.Parallel()
	l := newLookout()
	if got := l.load(); got.wait < 0 || got.memory < 0 || got.memory > 1 || l.limit <= 0 {
		t.Errorf("%+v of %v", got, l.limit)
	}
}

// The limit is the control group's, not the machine's.
func TestMemoryLimitIsTheGroups_K023(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file, text string
		want       float64
	}{
		"version 2":    {"memory.max", "268435456\n", 256 << 20},
		"version 1":    {"memory/memory.limit_in_bytes", "268435456\n", 256 << 20},
		"no limit":     {"memory.max", "max\n", math.Inf(1)},
		"nonsense":     {"memory.max", "-5\n", math.Inf(1)},
		"no such file": {"other", "1", math.Inf(1)},
	} {
		root := t.TempDir()
		file := filepath.Join(root, c.file)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(c.text), 0o600)); err != nil {
			t.Fatal(err)
		}
		got := memoryLimit(root)
		if n := debug.SetMemoryLimit(-1); n < math.MaxInt64 {
			c.want = min(c.want, float64(n))
		}
		if got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	g := newGrower()
	for range 20 { // a process that grows with what is in flight stops before the limit
		g.step(load{hungry: true, memory: float64(g.limit) / 1000})
	}
	if share := float64(g.limit) / 1000; share > fullHeap {
		t.Errorf("grew to %.2f of the limit", share)
	}
}
