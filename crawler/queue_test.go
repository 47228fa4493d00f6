package crawler

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/seine-go/seine/internal/siphash"
)

// A queue gives back what was pushed, in order, however pushes and pops are mixed.
func TestQueueKeepsOrder(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	var q queue
	var model [][]byte
	for range 100_000 {
		if r.IntN(5) < 2 && len(model) > 0 {
			got, ok := q.pop()
			if !ok || !bytes.Equal(got, model[0]) {
				t.Fatalf("popped %q, want %q", got, model[0])
			}
			model = model[1:]
			continue
		}
		size := r.IntN(60)
		if r.IntN(1000) == 0 {
			size = r.IntN(100_000)
		}
		record := bytes.Repeat([]byte{byte(r.IntN(256))}, size)
		q.push(record)
		model = append(model, record)
		if len(model) > 2000 {
			for _, want := range model {
				if got, ok := q.pop(); !ok || !bytes.Equal(got, want) {
					t.Fatalf("popped %d bytes, want %d", len(got), len(want))
				}
			}
			model = nil
			if _, ok := q.pop(); ok || len(q.chunks) > 1 {
				t.Fatalf("an empty queue holds %d chunks", len(q.chunks))
			}
		}
	}
}

func TestHostQueueOrdersByPriorityThenDueThenArrival(t *testing.T) {
	t.Parallel()
	var q hostQueue
	now := time.Unix(1000, 0)
	q.pushReady(0, []byte("a"))
	q.pushReady(5, []byte("urgent"))
	q.pushReady(0, []byte("b"))
	q.pushReady(-1, []byte("last"))
	q.pushDelayed(delayedEntry{due: now.Add(2), seq: 1, record: []byte("d2")})
	q.pushDelayed(delayedEntry{due: now.Add(1), seq: 2, record: []byte("d1")})
	q.pushDelayed(delayedEntry{due: now.Add(1), seq: 3, record: []byte("d1 too")})
	q.pushDelayed(delayedEntry{due: now.Add(99), seq: 4, record: []byte("later")})
	q.ripen(now.Add(5))
	var got []string
	for record, ok := q.popReady(); ok; record, ok = q.popReady() {
		got = append(got, string(record))
	}
	if want := []string{"urgent", "a", "b", "d1", "d1 too", "d2", "last"}; !slices.Equal(got, want) {
		t.Fatalf("%q, want %q", got, want)
	}
	if len(q.delayed) != 1 || q.nReady != 0 {
		t.Fatalf("%d delayed, %d ready", len(q.delayed), q.nReady)
	}
}

// The table is a map, and a key costs what its comment says.
func TestSeenTable(t *testing.T) {
	t.Parallel()
	table := seenTable{key: siphash.Key{1, 2}}
	const n = 200_000
	worst := 0.0
	for i := range n {
		h := table.hash(fmt.Sprint("https://films.example/title/", i))
		if s := table.get(h); s != unseen {
			t.Fatalf("key %d is %v before it was set", i, s)
		}
		table.set(h, keyState(1+i%4))
		if i > 10*seenStart {
			worst = max(worst, 9*float64(len(table.slots))/float64(table.count))
		}
	}
	for i := range n {
		if s := table.get(table.hash(fmt.Sprint("https://films.example/title/", i))); s != keyState(1+i%4) {
			t.Fatalf("key %d is %v", i, s)
		}
	}
	if table.count != n || worst > 17.1 {
		t.Fatalf("%d keys, %.1f bytes a key", table.count, worst)
	}
}
