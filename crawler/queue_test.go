package crawler

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"
)

func newArena() *arena { return &arena{most: mostChunk} }

// A queue gives back what was pushed, in order, however pushes and pops are mixed, and knows what it holds.
func TestQueueKeepsOrder(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	var q queue
	a := newArena()
	var model [][]byte
	for range 100_000 {
		if r.IntN(5) < 2 && len(model) > 0 {
			if got, err := q.pop(a); err != nil || !bytes.Equal(got, model[0]) {
				t.Fatalf("popped %q, %v, want %q", got, err, model[0])
			}
			model = model[1:]
			continue
		}
		size := 1 + r.IntN(60)
		if r.IntN(1000) == 0 {
			size = r.IntN(100_000)
		}
		record := bytes.Repeat([]byte{byte(r.IntN(256))}, size)
		q.push(a, record)
		model = append(model, record)
		if len(model) > 2000 {
			for _, want := range model {
				if got, err := q.pop(a); err != nil || !bytes.Equal(got, want) {
					t.Fatalf("popped %d bytes, %v, want %d", len(got), err, len(want))
				}
			}
			model = nil
			if got, _ := q.pop(a); got != nil || len(q.chunks) > 1 || a.bytes > 2*firstChunk {
				t.Fatalf("an empty queue holds %d chunks, %d bytes", len(q.chunks), a.bytes)
			}
		}
	}
	q.free(a)
	if a.bytes != 0 {
		t.Fatalf("%d bytes are held by nothing", a.bytes)
	}
}

func drain(t *testing.T, q *hostQueue, a *arena) (all []string) {
	t.Helper()
	for {
		record, _, err := q.pop(a)
		if err != nil {
			t.Fatal(err)
		}
		if record == nil {
			return all
		}
		all = append(all, string(record))
	}
}

func TestHostQueueOrdersByPriorityThenArrival(t *testing.T) {
	t.Parallel()
	a := newArena()
	var q hostQueue
	for _, r := range []struct {
		priority int
		record   string
	}{{0, "a"}, {5, "urgent"}, {0, "b"}, {-1, "last"}, {math.MaxInt, "first"}, {math.MinInt, "never"}, {0, "c"}} {
		q.push(a, r.priority, 0, []byte(r.record))
	}
	if got, want := drain(t, &q, a), []string{"first", "urgent", "a", "b", "c", "last", "never"}; !slices.Equal(got, want) {
		t.Fatalf("%q, want %q", got, want)
	}
}

// Of many priorities the order is right, and none is looked for in a long list.
func TestHostQueueTakesManyPriorities(t *testing.T) {
	t.Parallel()
	a := newArena()
	var q hostQueue
	r := rand.New(rand.NewPCG(3, 4))
	var want []int
	for range 20_000 {
		p := r.IntN(1_000_000) - 500_000
		want = append(want, p)
		q.push(a, p, 0, []byte(strconv.Itoa(p)))
	}
	slices.SortStableFunc(want, func(a, b int) int { return b - a })
	for i, got := range drain(t, &q, a) {
		if got != strconv.Itoa(want[i]) {
			t.Fatalf("place %d has %s, not %d", i, got, want[i])
		}
	}
	q.free(a)
	if q.n != 0 || a.bytes != 0 {
		t.Fatalf("%d records, %d bytes are left", q.n, a.bytes)
	}
}

// A level of priority is worth the step of waiting, no more and no less, and no priority overflows.
func TestHostQueueAges(t *testing.T) {
	t.Parallel()
	a := newArena()
	a.age = time.Minute
	record := func(due time.Duration, name string) []byte {
		return appendEntry(nil, &entry{due: due, req: Request{URL: name}}, "")
	}
	var q hostQueue
	for _, r := range []struct {
		priority int
		due      time.Duration
		name     string
	}{
		{0, time.Second, "0 at 1 s"},
		{0, 2 * time.Second, "0 at 2 s"},
		{1, 61 * time.Second, "1 at 61 s"},
		{1, 61*time.Second + 500*time.Millisecond, "1 at 61.5 s"},
		{2, 119 * time.Second, "2 at 119 s"},
		{math.MaxInt, time.Hour, "most"},
		{math.MinInt, time.Second, "least"},
		{-60, time.Second, "-60 at 1 s"},
		{0, time.Hour + 2*time.Second, "0 at an hour and 2 s"},
	} {
		q.push(a, r.priority, r.due, record(r.due, r.name))
	}
	var got []string
	for {
		record, p, err := q.pop(a)
		if record == nil || err != nil {
			break
		}
		e, err := decodeEntry(record, "", p)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, e.req.URL)
	}
	want := []string{"most", "2 at 119 s", "1 at 61 s", "0 at 1 s", "1 at 61.5 s", "0 at 2 s", "-60 at 1 s", "0 at an hour and 2 s", "least"}
	if !slices.Equal(got, want) {
		t.Fatalf("%q\nwant %q", got, want)
	}
}

// A filtered queue has what is to be kept, in order.
func TestHostQueueFilters(t *testing.T) {
	t.Parallel()
	a := newArena()
	var q hostQueue
	for i := range 1000 {
		q.push(a, i%20, 0, []byte(strconv.Itoa(i)))
	}
	q.filter(a, func(record []byte, priority int) bool {
		return priority == 3 && len(record) == 2 || priority == 4 && len(record) == 1
	})
	if got, want := drain(t, &q, a), []string{"4", "23", "43", "63", "83"}; !slices.Equal(got, want) {
		t.Fatalf("%q, want %q", got, want)
	}
}
