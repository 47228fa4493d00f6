package crawler

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"
)

// lives is a crawl whose process dies again and again.
type lives struct {
	*testing.T
	j   *heldJournal
	now *time.Duration
	m   *Memory
	n   int

	poison map[string]bool // whose end is that of the process
	tries  int
	done   int
	lost   []string // given up
}

func newLives(t *testing.T, pages int) *lives {
	l := &lives{T: t}
	l.j, l.now = newHeld()
	l.open()
	if err := l.m.SetHost(t.Context(), "", HostPolicy{Spacing: -1, MaxInFlight: 1000}); err != nil {
		t.Fatal(err)
	}
	for n := range pages {
		if _, err := l.m.Add(t.Context(), &Request{URL: fmt.Sprintf("https://films.example/%d", n)}); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

func (l *lives) open() {
	l.Helper()
	if l.m != nil {
		l.m.journal.join()
	}
	m, err := OpenMemory(l.Context(), MemoryOptions{}, l.j)
	if err != nil {
		l.Fatal(err)
	}
	l.m = m
	l.n++
}

// flying is a lease, and when it ends by itself.
type flying struct {
	Lease
	end time.Duration
}

// live has a process work for a while, with so many in flight, each of which takes a time. It reports whether it came to the
// end of the crawl. As an engine does it asks whenever something has ended, and each second.
func (l *lives) live(life time.Duration, flight int, takes func() time.Duration) (finished bool) {
	l.Helper()
	var held []flying
	for end := *l.now + life; ; {
		b, err := l.m.Lease(l.Context(), LeaseRequest{Owner: "a", Boot: uint64(l.n), Max: flight - len(held), TTL: 48 * time.Hour})
		if err != nil {
			l.Fatal(err)
		}
		next := min(end, *l.now+max(1, min(time.Second, cmp.Or(b.Next, time.Second))))
		for _, got := range b.Leases {
			l.tries++
			f := flying{got, *l.now + takes()}
			if got.GivenUp {
				l.lost, f.end = append(l.lost, got.Key), *l.now
			}
			held = append(held, f)
		}
		for _, f := range held {
			next = min(next, f.end)
		}
		*l.now = max(*l.now, next)
		if b.Finished || *l.now >= end {
			return b.Finished
		}
		for i := len(held) - 1; i >= 0; i-- {
			f := held[i]
			if f.end > *l.now {
				continue
			}
			s := Settlement{Lease: f.Lease, Outcome: Done}
			if f.GivenUp {
				s.Outcome = Failed
			} else if l.poison[f.Key] {
				return false
			}
			if err := l.m.Settle(l.Context(), s); err != nil {
				l.Fatal(err)
			}
			l.done++
			held = slices.Delete(held, i, i+1)
		}
	}
}

// A page that takes longer than processes live is never given up, however often they die: they die without it too.
func TestSlowPageOutlivesItsProcesses(t *testing.T) {
	t.Parallel()
	slow := func() time.Duration { return 20 * time.Minute }
	for _, life := range []time.Duration{50 * time.Millisecond, 3 * time.Second, 15 * time.Second, time.Minute, 10 * time.Minute} {
		for _, pages := range []int{1, 3, 12} {
			l := newLives(t, pages)
			for range 60 {
				l.live(life, 16, slow)
				*l.now += time.Second
				l.open()
			}
			if len(l.lost) > 0 || l.tries < 20 {
				t.Errorf("%d pages, processes that live for %v: %d tries, and %q are given up", pages, life, l.tries, l.lost)
			}
			if !l.live(24*time.Hour, 16, slow) || l.done != pages || len(l.lost) > 0 {
				t.Errorf("%d pages, a process that does not die: %d are done, %q given up", pages, l.done, l.lost)
			}
		}
	}
}

// Processes that are killed at any moment cost no page, and one that kills each time is found among them once that ends.
func TestRandomKillsCostNoPage(t *testing.T) {
	t.Parallel()
	kills := 150
	if os.Getenv("SEINE_LONG") == "1" {
		kills = 1000
	}
	for i, takes := range []time.Duration{20 * time.Millisecond, 300 * time.Millisecond, 2 * time.Second} {
		r := rand.New(rand.NewPCG(8, uint64(i)))
		took := func() time.Duration { return takes/2 + time.Duration(r.Int64N(int64(takes))) }
		l := newLives(t, 5000)
		for range kills {
			life := time.Duration(r.ExpFloat64() * float64(1100*time.Millisecond))
			if l.live(life, 16, took) {
				break
			}
			*l.now += 300 * time.Millisecond
			l.open()
		}
		killed := l.done
		if !l.live(24*time.Hour, 16, took) || len(l.lost) > 0 || l.done != 5000 {
			t.Errorf("pages of %v: %d are done, and %q are given up after %d kills", takes, l.done, l.lost, l.n-1)
		}
		if !t.Failed() {
			fmt.Printf("shown durable.2: %d deaths at any moment, each 1.1 s on average, 16 pages of %v in flight: %d pages done meanwhile, none of 5,000 given up\n", l.n-1, takes, killed)
		}
	}
}

// However many pages kill their process, each of them and none other is given up, in few lives.
func TestSeveralPoisonPages(t *testing.T) {
	t.Parallel()
	for _, poisons := range []int{1, 3, 12} {
		l := newLives(t, 2000)
		l.poison = map[string]bool{}
		for n := range poisons {
			l.poison[fmt.Sprintf("https://films.example/%d", 13*n*n)] = true
		}
		for !l.live(24*time.Hour, 32, func() time.Duration { return 10 * time.Millisecond }) {
			if *l.now += time.Second; l.n > 100*poisons {
				t.Fatalf("%d pages that kill: %d are given up after %d lives", poisons, len(l.lost), l.n)
			}
			l.open()
		}
		for _, key := range l.lost {
			if !l.poison[key] {
				t.Errorf("%s is given up, and kills nobody", key)
			}
		}
		if len(l.lost) != poisons || l.done != 2000 {
			t.Errorf("%d pages that kill: %q are given up, %d settled", poisons, l.lost, l.done)
		}
		if !t.Failed() {
			fmt.Printf("shown durable.2: %d of 2,000 pages kill their process: these are given up after %d deaths, the others are done\n", poisons, l.n-1)
		}
	}
}
