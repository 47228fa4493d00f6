package h2

import (
	"fmt"
	"net/http"
	"runtime"
	"testing"
)

// TestIdleConnectionCost: what a kept connection holds, its goroutine and what ends of the server's side with it included.
func TestIdleConnectionCost(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector takes memory of its own")
	}
	const n, bar = 200, 48 << 10
	handler := func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.URL.Path) }
	var conns []*Conn
	for range n {
		conns = append(conns, serve(t, Config{}, handler))
	}
	memory := func() int64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapInuse + m.StackInuse)
	}
	for _, c := range conns {
		if _, _, err := do(t.Context(), c, &Request{Path: "/"}); err != nil {
			t.Fatal(err)
		}
	}
	before := memory()
	for _, c := range conns {
		_ = c.Close()
	}
	clear(conns)
	each := (before - memory()) / n
	t.Logf("about %d bytes", each)
	if each > bar {
		t.Errorf("%d bytes, want at most %d", each, bar)
	}
}
