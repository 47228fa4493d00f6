package fetch

import (
	"fmt"
	"testing"
	"time"
)

func TestLatenciesAreBounded(t *testing.T) {
	t.Parallel()
	var l latencies
	for i := range latencyHosts + 1 {
		for range latencyLeast {
			l.add(fmt.Sprint(i), time.Second)
		}
		l.add("0", time.Second) // is used, and stays
	}
	_, first := l.quantile("0", 0.5)
	_, second := l.quantile("1", 0.5)
	if len(l.hosts) != latencyHosts || l.recent.len != latencyHosts || !first || second {
		t.Errorf("%d hosts, %v %v", len(l.hosts), first, second)
	}
	for i := range latencySamples {
		l.add("x", time.Duration(i+1))
	}
	for q, want := range map[float64]time.Duration{0: 1, 0.5: 64, 0.99: 127, 1: 128} {
		if got, _ := l.quantile("x", q); got != want {
			t.Errorf("%v: %d, want %d", q, got, want)
		}
	}
}
