package crawler

import (
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
