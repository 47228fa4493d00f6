package crawler

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/seine-go/seine/ratelimit"
)

func freeMemory(t testing.TB, o MemoryOptions) *Memory {
	t.Helper()
	m := NewMemory(o)
	if err := m.SetHost(t.Context(), "", HostPolicy{Spacing: -1, MaxInFlight: -1}); err != nil {
		t.Fatal(err)
	}
	return m
}

func (m *Memory) mustAdd(t testing.TB, reqs ...*Request) {
	t.Helper()
	if _, err := m.Add(t.Context(), reqs...); err != nil {
		t.Fatal(err)
	}
}

func (m *Memory) mustLease(t testing.TB, n int) []Lease {
	t.Helper()
	b, err := m.Lease(t.Context(), LeaseRequest{Owner: "A", Boot: 1, Max: n})
	if err != nil || len(b.Leases) != n {
		t.Fatalf("%d leases of %d, %v", len(b.Leases), n, err)
	}
	return b.Leases
}

func (m *Memory) mustSettle(t testing.TB, s ...Settlement) {
	t.Helper()
	if err := m.Settle(t.Context(), s...); err != nil {
		t.Fatal(err)
	}
}

// records counts what the queues and the delayed hold, stale records included.
func (m *Memory) records() (n int) {
	for _, h := range m.hosts {
		n += h.queue.n
	}
	if err := m.delayed.each(&m.arena, func(*delayedEntry) { n++ }); err != nil {
		panic(err)
	}
	return n
}

// Requests that redirects pass for ever leave no records behind, whether their keys tell their hosts or not.
func TestDroppedRecordsAreBounded(t *testing.T) {
	t.Parallel()
	for name, key := range map[string]string{"keys that are URLs": "https://films.example/%d", "other keys": "example,films)/%d"} {
		for _, delay := range []time.Duration{0, time.Hour} {
			t.Run(fmt.Sprint(name, ", delay ", delay), func(t *testing.T) {
				t.Parallel()
				m := freeMemory(t, MemoryOptions{})
				m.mustAdd(t, &Request{URL: "https://films.example/", Priority: 1000})
				const rounds, each = 200, 100
				for round := range rounds {
					root := m.mustLease(t, 1)[0]
					s := Settlement{Lease: root, Outcome: Released}
					for i := range each {
						k := fmt.Sprintf(key, round*each+i)
						m.mustAdd(t, &Request{URL: fmt.Sprintf("https://films.example/%d", round*each+i), Key: k, Priority: 2000})
						s.Seen = append(s.Seen, k)
					}
					if delay > 0 {
						for _, l := range m.mustLease(t, each) {
							m.mustSettle(t, Settlement{Lease: l, Outcome: Retry, Delay: delay})
						}
					}
					s.Outcome, s.Revisit = Done, time.Nanosecond
					m.mustSettle(t, s)
				}
				if st, err := m.Stats(t.Context()); err != nil || st.Ready+st.Delayed != 1 {
					t.Fatalf("%+v, %v", st, err)
				}
				if n := m.records(); n > rounds*each/2 {
					t.Fatalf("%d records for one request", n)
				}
				m.mustLease(t, 1)
			})
		}
	}
}

// Raising one request again and again leaves no pile of records.
func TestRaisedRecordsAreBounded(t *testing.T) {
	t.Parallel()
	m := freeMemory(t, MemoryOptions{AgeStep: time.Minute})
	m.mustAdd(t, &Request{URL: "https://films.example/other"})
	for p := range 10_000 {
		m.mustAdd(t, &Request{URL: "https://films.example/", Priority: p})
	}
	if n := m.records(); n > 200 {
		t.Fatalf("%d records for 2 requests", n)
	}
	if l := m.mustLease(t, 2); l[0].Request.Priority != 9999 {
		t.Fatalf("%+v came first", l[0].Request)
	}
	if len(m.keys.far) != 0 {
		t.Fatalf("%d priorities are kept of requests that are leased", len(m.keys.far))
	}
}

// A frontier lists the requests that failed last, at the bound and one past it, also when some failed twice.
func TestDeadListIsBounded(t *testing.T) {
	t.Parallel()
	const bound = 5
	m := freeMemory(t, MemoryOptions{MaxDead: bound})
	fail := func(i int) {
		t.Helper()
		m.mustSettle(t, Settlement{Lease: m.mustLease(t, 1)[0], Outcome: Failed, Reason: fmt.Sprint(i)})
	}
	list := func() (keys []string) {
		t.Helper()
		for d, err := range m.Dead(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			keys = append(keys, strings.TrimPrefix(d.Key, "https://films.example/"))
		}
		return keys
	}
	for i := range bound {
		m.mustAdd(t, &Request{URL: fmt.Sprintf("https://films.example/%d", i)})
		fail(i)
	}
	if got := list(); !slices.Equal(got, []string{"0", "1", "2", "3", "4"}) {
		t.Fatalf("%q", got)
	}
	if n, err := m.Redrive(t.Context(), "https://films.example/0"); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	fail(0)
	m.mustAdd(t, &Request{URL: "https://films.example/5"})
	fail(5)
	if got := list(); !slices.Equal(got, []string{"2", "3", "4", "0", "5"}) {
		t.Fatalf("%q", got)
	}
	if n, err := m.Redrive(t.Context(), "https://films.example/1"); n != 0 || err != nil {
		t.Fatalf("one that is only counted: %d, %v", n, err)
	}
	for range 500 {
		if n, err := m.Redrive(t.Context(), "https://films.example/5"); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		fail(5)
	}
	if n := len(m.dead.order); n > 100 {
		t.Fatalf("%d marks for %d requests", n, bound)
	}
	if s, err := m.Stats(t.Context()); err != nil || s.Failed != bound+1 {
		t.Fatalf("%d failed, %v", s.Failed, err)
	}
}

func TestReasonIsBounded(t *testing.T) {
	t.Parallel()
	m := freeMemory(t, MemoryOptions{})
	for i, n := range []int{MaxReasonBytes, MaxReasonBytes + 1} {
		m.mustAdd(t, &Request{URL: fmt.Sprintf("https://films.example/%d", i)})
		m.mustSettle(t, Settlement{Lease: m.mustLease(t, 1)[0], Outcome: Failed, Reason: strings.Repeat("ä", n)[:n]})
	}
	var got []string
	for d, err := range m.Dead(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, d.Reason)
	}
	if len(got[0]) != MaxReasonBytes || len(got[1]) > MaxReasonBytes || len(got[1]) < MaxReasonBytes-4 || !strings.HasSuffix(got[1], "…") || !utf8.ValidString(got[1]) {
		t.Fatalf("reasons of %d and %d bytes", len(got[0]), len(got[1]))
	}
}

// Producers, reservations and policies have their bounds, at them and one past.
func TestBoundsOfMemory(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	m := freeMemory(t, MemoryOptions{})
	for i := range maxProducers + 1 {
		if _, err := m.OpenProducer(ctx, fmt.Sprint(i), time.Hour); errors.Is(err, ErrFull) != (i == maxProducers) {
			t.Fatalf("producer %d: %v", i, err)
		}
	}
	if _, err := m.OpenProducer(ctx, "0", time.Hour); err != nil {
		t.Fatal("one that is open:", err)
	}
	m.mustAdd(t, &Request{URL: "https://films.example/"})
	l := m.mustLease(t, 1)[0]
	var last HostReservation
	for i := range maxReservations + 1 {
		r, err := m.ReserveHost(ctx, ReserveRequest{Host: "series.example", Under: l})
		if errors.Is(err, ErrBusy) != (i == maxReservations) {
			t.Fatalf("reservation %d: %v", i, err)
		}
		if err == nil {
			last = r
		}
	}
	if err := m.ReleaseHost(ctx, last, HostReport{}); err != nil {
		t.Fatal(err)
	}
	if _, err := m.ReserveHost(ctx, ReserveRequest{Host: "series.example", Under: l}); err != nil {
		t.Fatal("after one was released:", err)
	}
	for i := range maxPolicies { // as SetHost leaves them
		m.policies[fmt.Sprint(i)] = HostPolicy{Delay: 1}
	}
	if err := m.SetHost(ctx, "one more", HostPolicy{Delay: 1}); !errors.Is(err, ErrFull) {
		t.Fatal("one past the bound:", err)
	}
	if err := m.SetHost(ctx, "1", HostPolicy{Delay: 2}); err != nil {
		t.Fatal("one that is known:", err)
	}
	if err := m.SetHost(ctx, "one more", HostPolicy{Block: time.Hour}); err != nil {
		t.Fatal("a block alone is no policy:", err)
	}
}

// A policy outlives what else is known of a host; a block holds while there is nothing to do.
func TestColdHostKeepsItsPolicy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := freeMemory(t, MemoryOptions{})
		if err := m.SetHost(t.Context(), "films.example", HostPolicy{Delay: time.Second, Block: time.Minute}); err != nil {
			t.Fatal(err)
		}
		if len(m.hosts) != 1 {
			t.Fatalf("%d hosts are known while one is blocked", len(m.hosts))
		}
		m.mustAdd(t, &Request{URL: "https://films.example/1"}, &Request{URL: "https://films.example/2"}, &Request{URL: "https://films.example/3"})
		m.mustLease(t, 0)
		if b, err := m.Lease(t.Context(), LeaseRequest{Owner: "A", Boot: 1, Max: 1}); err != nil || len(b.Leases) != 0 || b.Next != time.Minute {
			t.Fatalf("%+v, %v", b, err)
		}
		time.Sleep(time.Minute)
		for range 3 {
			m.mustSettle(t, Settlement{Lease: m.mustLease(t, 1)[0], Outcome: Done, Report: HostReport{Exchanges: 1}})
			time.Sleep(time.Second)
		}
		m.mustLease(t, 0)
		if len(m.hosts) != 0 {
			t.Fatalf("%d hosts are remembered", len(m.hosts))
		}
		m.mustAdd(t, &Request{URL: "https://films.example/4"}, &Request{URL: "https://films.example/5"})
		m.mustLease(t, 1)
		if b, err := m.Lease(t.Context(), LeaseRequest{Owner: "A", Boot: 1, Max: 1}); err != nil || len(b.Leases) != 0 {
			t.Fatalf("a host with a delay has 2 in flight: %v", err)
		}
	})
}

// A producer offers a million URLs to a queue of ten: each that is refused is an error, and memory does not grow.
func TestProducerIsRefusedAtTheBound_K022(t *testing.T) {
	t.Parallel()
	m := freeMemory(t, MemoryOptions{MaxPending: 10})
	const offers = 1_000_000
	added := 0
	reqs := make([]*Request, 100)
	for i := 0; i < offers; {
		for j := range reqs {
			reqs[j] = &Request{URL: fmt.Sprintf("https://films.example/%d", i)}
			i++
		}
		s, err := m.Add(t.Context(), reqs...)
		n := 0
		for _, status := range s {
			if status == Added {
				n++
			}
		}
		if added += n; n < len(reqs) && !errors.Is(err, ErrFull) {
			t.Fatalf("%d of %d were added, %v", n, len(reqs), err)
		}
	}
	known := 0
	for i := range m.keys.shards {
		known += m.keys.shards[i].Len()
	}
	if added != 10 || known != 10 || m.records() != 10 {
		t.Fatalf("%d were added; %d keys and %d records are kept", added, known, m.records())
	}
}

// Owners, producers and readers at once: each page is done once, whatever meets.
func TestMemoryUnderConcurrency(t *testing.T) {
	t.Parallel()
	const pages, owners = 3000, 6
	m := freeMemory(t, MemoryOptions{SpillDir: t.TempDir(), SpillBytes: 4096, MaxCrashes: -1})
	defer m.Close()
	ctx := t.Context()
	url := func(i int) string { return fmt.Sprintf("https://films-%d.example/%d", i%17, i) }
	var done [pages]atomic.Int32
	var group sync.WaitGroup
	m.mustAdd(t, &Request{URL: url(0)})
	for o := range owners {
		group.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(o)))
			for boot := uint64(1); ; {
				b, err := m.Lease(ctx, LeaseRequest{Owner: fmt.Sprint(o), Boot: boot, Max: 1 + r.IntN(8)})
				if err != nil {
					t.Error(err)
					return
				}
				if b.Finished {
					return
				}
				if r.IntN(20) == 0 { // it dies, and comes back
					boot++
					continue
				}
				for _, l := range b.Leases {
					var host, i int
					if _, err := fmt.Sscanf(l.Key, "https://films-%d.example/%d", &host, &i); err != nil {
						t.Error(err)
						return
					}
					s := Settlement{Lease: l, Outcome: Outcome(1 + r.IntN(2)*3*r.IntN(2))}
					for k := 1; k <= 4 && s.Outcome == Done; k++ {
						if n := 3*i + k; n < pages {
							s.Links = append(s.Links, &Request{URL: url(n), Priority: n % 5})
						}
					}
					switch err := m.Settle(ctx, s); {
					case err != nil:
						t.Error(err)
					case s.Outcome == Done:
						done[i].Add(1)
					}
				}
				if _, err := m.Stats(ctx); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	for i := range done {
		if n := done[i].Load(); n != 1 {
			t.Fatalf("page %d was done %d times", i, n)
		}
	}
	if s, err := m.Stats(ctx); err != nil || !s.Finished || s.Done != pages {
		t.Fatalf("%+v, %v", s, err)
	}
}

// Hosts without work are remembered for what they answered up to a bound, and one past it is forgotten at once.
func TestRememberedHostsAreBounded(t *testing.T) {
	t.Parallel()
	m := NewMemory(MemoryOptions{})
	if err := m.SetHost(t.Context(), "", HostPolicy{Spacing: -1}); err != nil {
		t.Fatal(err)
	}
	for i := range maxRemembered + 1 {
		if _, err := m.Add(t.Context(), &Request{URL: fmt.Sprintf("https://h%d.example/", i)}); err != nil {
			t.Fatal(err)
		}
		b, err := m.Lease(t.Context(), LeaseRequest{Owner: "A", Boot: 1, Max: 1})
		if err != nil || len(b.Leases) != 1 {
			t.Fatal(len(b.Leases), err)
		}
		if err := m.Settle(t.Context(), Settlement{Lease: b.Leases[0], Outcome: Failed, Report: HostReport{Class: ratelimit.NetError, Exchanges: 1, Elapsed: time.Second}}); err != nil {
			t.Fatal(err)
		}
		if s, err := m.Stats(t.Context()); err != nil || s.Hosts != min(i+1, maxRemembered) {
			t.Fatalf("after %d hosts: %d are remembered, %v", i+1, s.Hosts, err)
		}
	}
}
