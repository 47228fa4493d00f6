package frontiertest

import (
	"fmt"
	"slices"

	"github.com/seine-go/seine/crawler"
)

var upgradeTests = []test{
	{"R7", "an Inspector tells the state of each request", inspectorTellsStates},
	{"R7", "a Lister lists what is pending, and the hosts", listerLists},
	{"R7", "a Lister lists suspects", listerListsSuspects},
	{"R1", "a Restarter forgets what is done", restarterForgets},
}

// inspectorTellsStates takes a request through its states.
func inspectorTellsStates(e *env) {
	e.open(Options{})
	in := upgrade[crawler.Inspector](e)
	key := page("a", 1)
	state := func(want crawler.RequestState, when string) crawler.Inspection {
		e.t.Helper()
		var i crawler.Inspection
		e.unchanged("Inspect", func() {
			var err error
			i, err = in.Inspect(e.ctx(), key, "a.example")
			e.must(err)
		})
		if i.State != want {
			e.failf("the state is %v %s, not %v", i.State, when, want)
		}
		return i
	}
	if i := state(crawler.StateUnknown, "before Add"); i.Queued != 0 || i.InFlight != 0 || i.Opens != 0 {
		e.failf("a host that was never heard of: %+v", i)
	}
	e.add(key, page("a", 2), page("b", 1))
	if i := state(crawler.StateReady, "after Add"); i.Queued != 2 {
		e.failf("%d are queued for the host, not 2", i.Queued)
	}
	retry := done(e.one("A"), crawler.Retry)
	if retry.Lease.Key != key {
		e.failf("%s was leased before %s", retry.Lease.Key, key)
	}
	if i := state(crawler.StateLeased, "after Lease"); i.Attempts != 1 || i.InFlight != 1 || i.Places != free.MaxInFlight {
		e.failf("a request that is leased: %+v", i)
	}
	retry.Delay = 10 * e.unit
	e.must(e.f.Settle(e.ctx(), retry))
	if i := state(crawler.StateDelayed, "after a retry"); i.Due <= 0 || i.Due > 10*e.unit {
		e.failf("it is due in %v, not in %v at the most", i.Due, 10*e.unit)
	}
	for _, l := range e.lease("A", 2) {
		e.settle(l, crawler.Done)
	}
	e.pass(10 * e.unit)
	failed := done(e.one("A"), crawler.Failed)
	failed.Reason = "because"
	e.must(e.f.Settle(e.ctx(), failed))
	if i := state(crawler.StateFailed, "after it was given up"); i.Attempts != 2 || i.Reason != "because" {
		e.failf("a request that failed: %+v", i)
	}
	key = page("b", 1)
	state(crawler.StateDone, "of one that is done")
}

// listed returns a line for each pending request, in order.
func (e *env) listed(in crawler.Lister) []string {
	e.t.Helper()
	var all []string
	e.unchanged("Pending", func() {
		for p, err := range in.Pending(e.ctx()) {
			e.must(err)
			if p.Key != p.Request.URL || (p.Due > 0) != (p.State == crawler.StateDelayed) {
				e.failf("odd: %+v", p)
			}
			all = append(all, fmt.Sprintf("%s %v %d %d %d %v", p.Key, p.State, p.Request.Priority, p.Attempts, p.Crashes, p.Suspect))
		}
	})
	slices.Sort(all)
	return all
}

// listerLists has requests in all states: those that are pending, and the record that counts, are listed.
func listerLists(e *env) {
	e.open(Options{})
	in := upgrade[crawler.Lister](e)
	if all := e.listed(in); len(all) > 0 {
		e.failf("nothing was added, and %q are listed", all)
	}
	e.add(page("a", 1), page("a", 2), page("a", 3), page("a", 4), page("b", 1), page("b", 2))
	leases := map[string]crawler.Lease{}
	for _, l := range e.lease("A", 6) {
		leases[l.Key] = l
	}
	e.settle(leases[page("a", 1)], crawler.Done)
	e.settle(leases[page("a", 2)], crawler.Failed)
	e.settle(leases[page("b", 1)], crawler.Released)
	retry := done(leases[page("a", 3)], crawler.Retry)
	retry.Delay = 100 * e.unit
	e.must(e.f.Settle(e.ctx(), retry))
	e.add(page("c", 1), page("c", 2))
	e.offer(&crawler.Request{URL: page("c", 2), Priority: 5}, crawler.Raised)
	s := done(leases[page("a", 4)], crawler.Done)
	s.Seen = []string{page("c", 1)}
	e.must(e.f.Settle(e.ctx(), s))
	want := []string{
		page("a", 3) + " delayed 0 1 0 false", page("b", 1) + " ready 0 0 0 false", page("b", 2) + " leased 0 1 0 false",
		page("c", 2) + " ready 5 0 0 false",
	}
	if all := e.listed(in); !slices.Equal(all, want) {
		e.failf("listed are\n%q\nnot\n%q", all, want)
	}
	for range in.Pending(e.ctx()) {
		break // that is allowed
	}
	queued := map[string]int{}
	var names []string
	e.unchanged("Hosts", func() {
		for h, err := range in.Hosts(e.ctx()) {
			e.must(err)
			names, queued[h.Host] = append(names, h.Host), h.Queued
		}
	})
	if !slices.IsSorted(names) || queued["b.example"] != 1 || queued["c.example"] != 1 {
		e.failf("hosts %q with %v in their queues", names, queued)
	}
}

// listerListsSuspects has holders die.
func listerListsSuspects(e *env) {
	e.open(Options{})
	in := upgrade[crawler.Lister](e)
	e.add(page("a", 1), page("a", 2))
	e.lease("A", 2)
	e.request(crawler.LeaseRequest{Owner: "A", Boot: 2}) // takes them back
	want := []string{page("a", 1) + " ready 0 0 0 true", page("a", 2) + " ready 0 0 0 true"}
	if all := e.listed(in); !slices.Equal(all, want) {
		e.failf("listed are %q, not %q", all, want)
	}
	e.request(crawler.LeaseRequest{Owner: "A", Boot: 2, Max: 2})
	want[0] = page("a", 1) + " leased 0 1 0 true"
	if all := e.listed(in); !slices.Equal(all, want) {
		e.failf("listed are %q, not %q", all, want)
	}
}

// restarterForgets checks that all of a finished crawl, and only of one, can be added again.
func restarterForgets(e *env) {
	e.open(Options{})
	again := upgrade[crawler.Restarter](e)
	refused := func(when string) {
		e.t.Helper()
		e.unchanged("Restart "+when, func() {
			if err := again.Restart(e.ctx()); err == nil {
				e.failf("Restart succeeds %s", when)
			}
		})
	}
	e.must(again.Restart(e.ctx())) // of nothing
	e.add(page("a", 1), page("a", 2), page("b", 1))
	e.offer(&crawler.Request{URL: page("b", 1), Priority: 5}, crawler.Raised) // leaves something behind, perhaps
	refused("with requests ready")
	leases := e.lease("A", 3)
	refused("with requests leased")
	for _, l := range leases {
		s := done(l, crawler.Done)
		switch l.Key {
		case page("b", 1):
			s.Seen = []string{page("c", 1)}
		case page("a", 1):
			s.Outcome, s.Delay = crawler.Retry, 10*e.unit
		case page("a", 2):
			s.Outcome = crawler.Failed
		}
		e.must(e.f.Settle(e.ctx(), s))
	}
	refused("with a request delayed")
	e.pass(10 * e.unit)
	e.settle(e.one("A"), crawler.Done)
	e.counts(0, 0, 0, 2, 1)
	e.must(again.Restart(e.ctx()))
	e.counts(0, 0, 0, 0, 0)
	e.add(page("a", 1), page("a", 2), page("b", 1), page("c", 1))
	for _, l := range e.lease("A", 4) {
		if l.Attempt != 1 {
			e.failf("%s was tried %d times already", l.Key, l.Attempt-1)
		}
		e.settle(l, crawler.Done)
	}
	e.none("A", "after a restart each was leased once")
	e.counts(0, 0, 0, 4, 0)
	if d, ok := e.f.(crawler.DeadLister); ok {
		for range d.Dead(e.ctx()) {
			e.failf("what had failed is listed after Restart")
		}
	}
}
